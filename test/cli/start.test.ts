/** The command starts from what V8 kept of an earlier run, and all the same where that is missing, damaged or not to be trusted. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { build, octavo } from "./run.js";

const home = mkdtempSync(join(tmpdir(), "octavo-start-"));
const folder = join(home, "octavo");
const env = { XDG_CACHE_HOME: home };
const start = (more: Record<string, string> = {}) => octavo(["completion", "bash"], { env: { ...env, ...more } });
const kept = (): string[] => readdirSync(folder).map((name) => join(folder, name));
const written = (): number => statSync(kept()[0]!).mtimeMs;
const longAgo = 1_000_000;
let text = "";

beforeAll(async () => {
  build();
  text = (await start()).stdout;
  expect(text).toContain("complete");
});
beforeEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect((await start()).code).toBe(0);
  utimesSync(kept()[0]!, longAgo, longAgo);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("one file for the verb, for this user alone, used again as it is", async () => {
  expect(await start()).toEqual({ code: 0, stdout: text, stderr: "" });
  expect(kept()).toHaveLength(1);
  expect(kept()[0]).toMatch(/[0-9a-f]{16}-v[\d.]+-\w+-completion$/);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(kept()[0]!).mode & 0o777).toBe(0o600);
  expect(written()).toBe(longAgo * 1000);
});

test.each([
  ["a flipped bit", (bytes: Buffer) => bytes.fill(bytes[90_000]! ^ 0x55, 90_000, 90_001)],
  ["a cut", (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ["nothing left", () => Buffer.alloc(0)],
])("%s: the text is read, and the file made anew", async (_, damage) => {
  const [path] = kept();
  writeFileSync(path!, damage(readFileSync(path!)));
  utimesSync(path!, longAgo, longAgo);
  expect(await start()).toEqual({ code: 0, stdout: text, stderr: "" });
  expect(written()).toBeGreaterThan(longAgo * 1000);
});

test("a file that others may write is not run", async () => {
  chmodSync(kept()[0]!, 0o666);
  expect(await start()).toEqual({ code: 0, stdout: text, stderr: "" });
  expect(written()).toBeGreaterThan(longAgo * 1000);
  expect(statSync(kept()[0]!).mode & 0o777).toBe(0o600);
});

test("a failed command keeps nothing, a name that is no verb neither", async () => {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  expect((await octavo(["info", "/nowhere"], { env })).code).not.toBe(0);
  expect((await octavo(["../../escape"], { env })).code).toBe(2);
  expect(kept()).toEqual([]);
});

test("switched off, or without a place for it, the command runs", async () => {
  rmSync(folder, { recursive: true });
  expect(await start({ NODE_DISABLE_COMPILE_CACHE: "1" })).toEqual({ code: 0, stdout: text, stderr: "" });
  expect(readdirSync(home)).toEqual([]);
  writeFileSync(folder, "a file where the folder belongs");
  expect(await start()).toEqual({ code: 0, stdout: text, stderr: "" });
  rmSync(folder);
});

test("files older than a month are taken away", async () => {
  const old = join(folder, "0123456789abcdef-v20.0.0-x64-info");
  writeFileSync(old, "");
  utimesSync(old, longAgo, longAgo);
  writeFileSync(kept().find((path) => path.endsWith("completion"))!, "");
  await start();
  expect(kept().filter((path) => path === old)).toEqual([]);
});
