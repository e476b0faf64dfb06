/** `octavo publish`, as a user runs it. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-test-publish-"));
const golden = (path: string): string => join(fixtures("zarr-vectors"), path, "store.zarrvectors");
beforeAll(build, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

const json = async (...args: string[]) => JSON.parse((await octavo([...args, "--json"])).stdout);
const told = async (store: string) => (await octavo(["get", store, "--json"])).stdout;

test("a store is published, and says the same", { timeout: 120_000 }, async () => {
  const [from, out] = [golden("v0.6.0/pyramid_streamlines"), join(folder, "paths.zv")];
  expect(await json("publish", from, out, "--dry-run")).toMatchObject({ copiedFrom: "0.6.0", replaces: null });
  expect(existsSync(out)).toBe(false);
  const report = await json("publish", from, out);
  expect(report).toMatchObject({ copiedFrom: "0.6.0", losses: [] });
  const names = ["0", "1", "2", expect.stringMatching(/^octavo-[0-9a-f]{16}\.pack$/), "zarr.json"];
  expect(readdirSync(out).sort()).toEqual(names);
  expect(await told(out)).toBe(await told(from));
  expect((await octavo(["publish", from, out])).code).toBe(2);
  expect((await octavo(["publish", from, out, "--dry-run"])).code).toBe(2);
  expect((await octavo(["publish", from, out, "--overwrite"])).stdout).toMatch(/^\d+ values of [\d.]+ kB published\n$/);
  expect((await octavo(["validate", out])).code).toBe(0);
  const edit = await octavo(["delete", out, "--object", "0"]);
  expect([edit.code, edit.stderr]).toEqual([3, expect.stringMatching(/is for readers/)]);
});

test("into a zip file, and what is no geometry is refused", { timeout: 120_000 }, async () => {
  const [from, zip] = [golden("v0.9.2/graph_2d"), join(folder, "graph.zip")];
  expect((await octavo(["publish", from, zip])).code).toBe(0);
  expect(await told(zip)).toBe(await told(from));
  const array = join(fixtures("zarr"), readdirSync(fixtures("zarr"))[0]!);
  expect((await octavo(["publish", array, join(folder, "no")])).code).not.toBe(0);
  expect(existsSync(join(folder, "no"))).toBe(false);
});
