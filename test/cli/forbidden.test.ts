/** 403 for a key: an error that says what to do, absence where the user says so, and then part of the result. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { serveStore, type TestServer } from "../../src/testing/http-server.js";
import { build, octavo } from "./run.js";

let server: TestServer;
beforeAll(async () => {
  build();
  const store = memoryStore();
  const array = await createArray(store, Prefix.root, { shape: [4], chunkShape: [2], dtype: "int32", fill: 7 });
  await writeRegion(array, [], ndarray([4], Int32Array.of(1, 2, 3, 4)));
  await store.delete(Key.of("c/1"));
  server = await serveStore(store);
  server.on = ({ url }, response) => {
    if (url === "/c/1") response.writeHead(403).end();
    return url === "/c/1";
  };
});
afterAll(() => server?.close());

test("is an error that names the way out", async () => {
  const { code, stdout, stderr } = await octavo(["get", server.url, "--slice", ":"]);
  expect(code).toBe(3);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/c\/1 is forbidden: 403/);
  expect(stderr).toContain("--forbidden-is-missing");
});

test("is absence where the user says so, and the result says how often", async () => {
  const got = await octavo(["get", server.url, "--slice", ":", "--forbidden-is-missing"]);
  expect(got.code).toBe(0);
  expect(got.stdout.trim().split(/\s+/)).toEqual(["1", "2", "7", "7"]);
  expect(got.stderr).toContain('note: 1 answers "forbidden" were taken for absence');
  const validated = await octavo(["validate", server.url, "--json", "--forbidden-is-missing"]);
  expect(JSON.parse(validated.stdout)).toMatchObject({ valid: true, forbiddenTakenForMissing: 1 });
});
