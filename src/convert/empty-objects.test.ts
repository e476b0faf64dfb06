/** Streamlines without vertices are not lost on the way to a store or a file, nor are their attributes; what has no place for them says so. */
import { describe, expect, it } from "vitest";
import { openBytes, paths, written } from "../../test/interchange.js";
import { kinds } from "../format/interchange/kinds.js";
import { openInterchange } from "../format/interchange/open.js";
import { file } from "../format/interchange/trx.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import type { Query, VectorDataset } from "../model/vectors.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { feedOf } from "./feed.js";
import { writeFeed } from "./feed-store.js";
import { convertToFile } from "./files.js";
import { convertVectors } from "./vectors.js";

const info = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
const lines = [[], [90, 2, 3], [], [4, 5, 6, 7, 8, 9], []];
const w = [10, 11, 12, 13, 14];

async function example() {
  const data = paths(lines, { object: [{ info, values: Float32Array.from(w) }] });
  return openBytes(file, "a.trx", (await written(file, data)).bytes);
}

it("objects without vertices are in the store, with their attributes", async () => {
  const dataset = await example();
  expect([...(await dataset.objectIds())]).toEqual([1n, 3n]);
  expect([...(await dataset.select().read()).ids]).toEqual([1n, 3n]);
  const named = await dataset.select({ object: [2] }).read();
  expect([[...named.ids], [...named.objectColumns.get("w")!.values]]).toEqual([[2n], [12]]);
  const store = memoryStore();
  const report = await convertVectors(dataset, store, Prefix.root);
  expect(report).toMatchObject({ vertices: 3, losses: [] });
  const stored = await openZarrVectors(store, Prefix.root);
  const { ids, objectColumns } = await stored.select({ object: [0, 1, 2, 3, 4] }).read();
  expect(new Map(Array.from(ids, (id, row) => [id, objectColumns.get("w")!.values[row]]))).toEqual(
    new Map(w.map((value, id) => [BigInt(id), value])),
  );
});

async function inFile(id: string, dataset: VectorDataset, query: Query = {}) {
  const kind = kinds.find((own) => own.id === id)!;
  const store = memoryStore();
  const name = `b.${kind.extensions[0]}`;
  const report = await convertToFile(await feedOf(dataset, query), kind, await store.write(Key.of(name)));
  return { report, back: await openInterchange(kind, store, Key.of(name)) };
}

describe("objects without vertices", () => {
  it.each(["trk", "tck", "trx", "vtk", "vtp"])("are at their place in %s, from files and from stores", async (id) => {
    const store = memoryStore();
    await convertVectors(await example(), store, Prefix.root, { chunkShape: [10, 10, 10] });
    for (const from of [await example(), await openZarrVectors(store, Prefix.root)]) {
      const { report, back } = await inFile(id, from);
      expect(report).toMatchObject({ objects: 5, vertices: 3 });
      expect(report.losses.filter((loss) => /ids|without/.test(loss))).toEqual([]);
      const feed = await feedOf(back, {});
      const found: [bigint, number, unknown][] = [];
      for await (const { ids, parts, objects, objectColumns } of feed.batches())
        for (const [part, row] of objects.entries())
          found.push([ids[row]!, parts[part + 1]! - parts[part]!, objectColumns.get("w")?.values[row]]);
      const values = id === "tck" ? w.map(() => undefined) : w;
      expect(found).toEqual(lines.map((line, i) => [BigInt(i), line.length / 3, values[i]]));
    }
  });

  it.each(["ply", "obj", "gltf", "csv", "graphml", "parquet"])(
    "are told where %s has no place for them",
    async (id) => {
      const { report } = await inFile(id, await example());
      expect(report).toMatchObject({ objects: 2, vertices: 3 });
      expect(report.losses).toContain("memory:/a.trx: 3 objects without vertices");
    },
  );
});

describe("objects that were thinned away from a coarser level", () => {
  /** Ten lines with vertices and two without; a coarser level keeps five of the ten. */
  async function thinned() {
    const many = Array.from({ length: 12 }, (_, i) => (i % 6 === 5 ? [] : [i, 0, 0, i, 5, 0, i, 9, 0]));
    const dataset = await openBytes(
      file,
      "a.trx",
      (await written(file, paths(many, { groups: [BigInt64Array.from(many, (_, i) => BigInt(i))] }))).bytes,
    );
    const store = memoryStore();
    await convertVectors(dataset, store, Prefix.root, {}, { levels: 1, keep: 0.5 });
    return openZarrVectors(store, Prefix.root);
  }

  it.each(["trk", "tck", "trx", "vtk"])("are not in a %s of it, and those without any vertices are", async (id) => {
    const dataset = await thinned();
    const { objects } = await dataset.select({ level: 1 }).count({ exact: true });
    expect(objects).toBe(5);
    const { report, back } = await inFile(id, dataset, { level: 1 });
    expect(report).toMatchObject({ objects: 7 });
    expect(await back.select().count({ exact: true })).toMatchObject({ objects: 5 });
  });

  it("are neither in a store of it, nor in its groups", async () => {
    const dataset = await thinned();
    const kept = new Set((await dataset.select({ level: 1 }).read()).ids);
    const store = memoryStore();
    expect(await writeFeed(await feedOf(dataset, { level: 1 }), store, Prefix.root)).toMatchObject({ objects: 7 });
    const back = await openZarrVectors(store, Prefix.root);
    expect(new Set(await (await back.source(0)).objects!.ids())).toEqual(new Set([...kept, 5n, 11n]));
    expect(new Set(await back.groupMembers(0, 0))).toEqual(kept);
  });
});
