import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { Corrupt, InvalidInput, NotFound } from "../../../errors.js";
import type { Finding } from "../../../model/format.js";
import { fileStore } from "../../../store/file.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { precomputed } from "../index.js";
import type { AnnotationDataset } from "./dataset.js";
import { openAnnotations } from "./read.js";

const root = join(fixtures("precomputed"), "annotations");
const expected = JSON.parse(readFileSync(join(root, "expected.json"), "utf8"));
const FOLDERS = [
  "point_unsharded",
  "point_portable_unsharded",
  "point_portable_sharded",
  "line_sharded",
  "line_portable_sharded",
  "axis_aligned_bounding_box_sharded",
  "ellipsoid_unsharded",
  "polyline_unsharded",
  "polyline_sharded",
  "polyline_portable_sharded",
];

const open = async (store: Store): Promise<AnnotationDataset> =>
  (await precomputed.open(store, Prefix.root)) as AnnotationDataset;
const findings = async (store: Store): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
};
const copied = async (folder: string): Promise<Store> => {
  const [from, to] = [fileStore(folder), memoryStore()];
  for await (const { key } of from.list(Prefix.root)) await to.set(key, (await from.get(key))!);
  return to;
};

for (const folder of FOLDERS)
  test(`golden ${folder}: every annotation, its objects, and all of them as a dataset`, async () => {
    const store = fileStore(join(root, folder));
    const collection = await openAnnotations(store);
    const { records } = expected.stores[folder.replace(/(_portable)?_sharded/, "_unsharded")];
    for (const { id, geometry, props, relationships } of records) {
      const one = (await collection.get(BigInt(id)))!;
      expect([...one.points]).toEqual(geometry.flat());
      for (const [name, value] of Object.entries(props)) expect([...one.properties.get(name)!]).toEqual([value].flat());
      for (const [name, ids] of Object.entries<string[]>(relationships)) {
        expect([...one.related!.get(name)!.ids].map(String)).toEqual(ids);
        for (const object of ids) expect((await collection.related(name, BigInt(object)))!.ids).toContain(BigInt(id));
      }
    }
    expect(await collection.get(3n)).toBeUndefined();
    expect(await collection.related("seg", 3n)).toBeUndefined();
    await expect(collection.related("none", 3n)).rejects.toThrow(InvalidInput);

    const dataset = await open(store);
    expect([...(await dataset.objectIds())].map(String).sort()).toEqual(
      records.map(({ id }: { id: string }) => id).sort(),
    );
    const all = await dataset.select().read();
    const ids = collection.info.type === "point" ? all.vertexColumns.get("id")!.values : all.ids;
    expect([...(ids as BigUint64Array)].map(String).sort()).toEqual(records.map(({ id }: { id: string }) => id).sort());
    const [first] = records;
    const one = await dataset.select({ object: [BigInt(first.id)] }).read();
    expect([...one.ids].map(String)).toEqual([first.id]);
    await expect(dataset.select({ object: [3n] }).read()).rejects.toThrow(NotFound);
  });

test("a coarser level is what the coarser levels of the index have", async () => {
  const dataset = await open(fileStore(join(root, "point_portable_sharded")));
  expect(dataset.levels.map(({ level }) => level)).toEqual([0, 1]);
  const coarse = await dataset.select({ level: 1 }).read();
  const fine = await dataset.select().read();
  expect([coarse.positions.length / 3, fine.positions.length / 3]).toEqual([8, 24]);
});

test("the stores of Neuroglancer's Python writer: what others do not read is said", async () => {
  const rules = async (folder: string) => (await findings(fileStore(join(root, folder)))).map(({ rule }) => rule);
  expect(await rules("point_unsharded")).toEqual(["precomputed/portable", "precomputed/portable"]);
  expect(await rules("point_portable_unsharded")).toEqual([]);
  expect(await rules("polyline_portable_unsharded")).toEqual([]);
  // Its bounds take the radii for a corner.
  expect(await rules("ellipsoid_unsharded")).toContain("precomputed/bounds");
});

test("sharded stores of several levels are sound", async () => {
  for (const folder of ["point_portable_sharded", "line_portable_sharded", "polyline_portable_sharded"])
    expect(await findings(fileStore(join(root, folder))), folder).toEqual([]);
});

test("records that the Python writer has misplaced are read as they were meant, found and repaired", async () => {
  const bug = join(root, "../annotations_bug/point_unsharded_ng_python_2_41_2");
  const store = await copied(bug);
  const meant = (await openAnnotations(fileStore(join(root, "point_unsharded"))))!;
  const same = async (): Promise<boolean> => {
    const collection = await openAnnotations(store);
    for (const { id } of expected.stores.point_unsharded.records) {
      const [one, other] = [(await collection.get(BigInt(id)))!, (await meant.get(BigInt(id)))!];
      expect(one.points).toEqual(other.points);
      for (const [name, values] of other.properties) expect(one.properties.get(name), name).toEqual(values);
    }
    return collection.flawed;
  };
  expect(await same()).toBe(true);
  expect((await open(store)).notes[0]).toMatch(/Python writer/);
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/portable", "precomputed/alignment"]);

  const dry = await precomputed.repair!(store, Prefix.root, { dryRun: true });
  expect(dry.fixed.map(({ rule }) => rule)).toEqual(["precomputed/portable", "precomputed/alignment"]);
  expect(await same()).toBe(true);
  const report = await precomputed.repair!(store, Prefix.root);
  expect(report.left).toEqual([]);
  expect(await same()).toBe(false);
  expect(await findings(store)).toEqual([]);
  // Byte for byte what the repaired writer writes for the same input, except for the order of the 4-byte properties.
  expect((await store.get(Key.of("by_id/1111")))!.length).toBe(48);
  expect(await precomputed.repair!(store, Prefix.root)).toEqual({ fixed: [], left: [] });
});

test("damage is found, and is an error to readers", async () => {
  const store = await copied(join(root, "point_portable_unsharded"));
  const key = Key.of("by_id/1111");
  const bytes = (await store.get(key))!;
  await store.set(key, bytes.subarray(0, 20));
  expect((await findings(store)).map(({ rule }) => rule)).toEqual([
    "precomputed/value-decodes",
    "precomputed/index-differs",
  ]);
  await expect((await openAnnotations(store)).get(1111n)).rejects.toThrow(Corrupt);
  const moved = bytes.slice();
  moved[2]! ^= 1; // another x than in the spatial index
  await store.set(key, moved);
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/index-differs"]);
  await store.delete(key);
  expect((await findings(store)).map(({ rule }) => rule)).toContain("precomputed/index-differs");
  await store.set(key, bytes);
  await store.delete(Key.of("spatial0/0_0_0"));
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/cell-missing"]);
});
