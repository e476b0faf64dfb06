/** The verbs on precomputed skeletons, annotations and segment properties, as a user runs them. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-precomputed-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const golden = (path: string): string => join(fixtures("precomputed"), path);
const skeletons = golden("skeletons/sharded_ts_mm3/skeletons");
const lines = golden("annotations/line_portable_sharded");
const points = golden("annotations/point_portable_sharded");

async function json(...args: string[]) {
  const { code, stdout, stderr } = await octavo([...args, "--json"]);
  expect([code, stderr.replace(/^note: .*\n/gm, "")]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("info says what it is, and what Neuroglancer does not draw", async () => {
  const about = await json("info", skeletons);
  expect(about).toMatchObject({ kind: "vectors", format: "precomputed", geometries: ["skeletons"] });
  expect(about.notes[0]).toMatch(/draws no skeleton with attributes other than float32/);
  const annotations = await json("info", lines);
  expect(annotations).toMatchObject({ geometries: ["lines"], bounds: { min: [36.5, 7.25, 97.375] } });
  expect(annotations.levels.map(({ objects }: { objects: number }) => objects)).toEqual([24, 8]);
});

test("ls and get: objects by their ids, and regions", async () => {
  const listed = await octavo(["ls", skeletons, "--objects"]);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toContain("18446744073709551615");
  const one = await json("get", skeletons, "--object", "9007199254740993");
  expect(one.items.map(({ id }: { id: unknown }) => id)).toEqual(["9007199254740993"]);
  const some = await json("get", points, "--box", "0,0,0,300,300,900");
  expect(some.items.length).toBe(2);
  const missing = await octavo(["get", skeletons, "--object", "5"]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("no object 5")]);
});

test("validate and repair: values that the Python writer has misplaced", async () => {
  const store = join(folder, "misplaced");
  cpSync(golden("annotations_bug/point_unsharded_ng_python_2_41_2"), store, { recursive: true });
  const found = await octavo(["validate", store]);
  expect([found.code, found.stdout]).toEqual([1, expect.stringContaining("precomputed/alignment")]);
  expect((await octavo(["repair", store, "--dry-run"])).stdout).toContain("2 could be repaired, 0 errors left");
  expect((await octavo(["repair", store])).code).toBe(0);
  expect((await octavo(["validate", store])).code).toBe(0);
});

test("segment properties are arrays", async () => {
  const store = join(folder, "properties");
  mkdirSync(store);
  const properties = [{ id: "size", type: "number", data_type: "uint16", values: [3, 4] }];
  const info = {
    "@type": "neuroglancer_segment_properties",
    inline: { ids: ["5", "18446744073709551615"], properties },
  };
  writeFileSync(join(store, "info"), JSON.stringify(info));
  const listed = await octavo(["ls", store]);
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining("size")]);
  expect((await octavo(["validate", store])).code).toBe(0);
});
