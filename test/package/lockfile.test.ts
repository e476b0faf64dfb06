/** `npm ci` must work everywhere: the lockfile names every platform's packages, and no host. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
// @ts-expect-error: a script without types
import { missingEntries } from "../../scripts/lock.mjs";

const text = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");

test("every package that some platform needs has an entry (else: node scripts/lock.mjs)", () => {
  const missing = missingEntries(JSON.parse(text)) as { name: string }[];
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test("no host is named", () => {
  expect(text).not.toMatch(/"resolved"/);
});

test("nor is one by the lockfile of the Neuroglancer client, which needs packages of no platform", () => {
  const client = readFileSync(new URL("../neuroglancer/client/package-lock.json", import.meta.url), "utf8");
  expect(client.match(/"resolved": "(?!nothing")/g)).toBeNull();
  expect(client).not.toMatch(/"(os|cpu)":/);
  expect(missingEntries(JSON.parse(client))).toEqual([]);
});
