/** What happens to bad input, to what is there already, and to what is given up: each as stated, nothing silent. */
import { describe, expect, it } from "vitest";
import { Conflict, InvalidInput, LimitExceeded, Unsupported } from "../../../errors.js";
import type { Batch, Columns } from "../../../model/vectors.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { wrap } from "../../../store/wrap.js";
import type { VectorDescription } from "./description.js";
import { type BatchParts, createZarrVectors, type VectorWriteOptions } from "./write.js";
import { shardFor } from "./write-layout.js";

const at = Prefix.of("a");
const points: VectorDescription = { geometry: "points", dims: 2, chunkShape: 10 };

async function write(
  description: VectorDescription,
  batches: readonly BatchParts[],
  options: VectorWriteOptions = {},
  store: Store = memoryStore(),
) {
  const writer = await createZarrVectors(store, at, description, options);
  for (const batch of batches) await writer.add(batch);
  const dataset = await writer.commit();
  return { store, writer, dataset, batch: await dataset.select().read() };
}

const keysOf = async (store: Store): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  return keys.sort();
};
const cloud = (...values: number[]): BatchParts => ({ positions: Float64Array.from(values) });
const sorted = ({ positions }: Batch): number[] => [...positions].sort((a, b) => a - b);
const path = (id: bigint, ...values: number[]): BatchParts => ({ ...cloud(...values), ids: BigInt64Array.of(id) });
const numbers = (name: string, values: Float32Array): Columns =>
  new Map([[name, { info: { name, dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 }, values }]]);

describe("bad coordinates", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])("%s is refused, and the batch with it", async (bad) => {
    const writer = await createZarrVectors(memoryStore(), at, { ...points, dtype: "float32" });
    await writer.add(cloud(1, 2));
    await expect(writer.add(cloud(3, 4, bad, 5))).rejects.toThrow(InvalidInput);
    await writer.add(cloud(6, 7));
    const dataset = await writer.commit();
    expect(sorted(await dataset.select().read())).toEqual([1, 2, 6, 7]);
    expect(dataset.bounds).toEqual({ min: [1, 2], max: [6, 7] });
  });

  it("drops points, and of everything else the object", async () => {
    const some = await write({ ...points, nonFinite: "drop" }, [cloud(1, 2, Number.NaN, 3, 4, 5)]);
    expect(sorted(some.batch)).toEqual([1, 2, 4, 5]);
    expect(some.writer.dropped).toEqual({ vertices: 1, objects: 0 });

    const graph = await write({ geometry: "graph", dims: 1, chunkShape: 10, nonFinite: "drop" }, [
      {
        positions: Float32Array.of(1, Number.NaN, 3, 14),
        parts: Uint32Array.of(0, 2, 4),
        objects: Int32Array.of(0, 1),
        ids: BigInt64Array.of(8n, 9n),
        links: { width: 2, ends: Uint32Array.of(0, 1, 3, 2, 0, 3), columns: numbers("w", Float32Array.of(1, 2, 3)) },
        objectColumns: numbers("s", Float32Array.of(80, 90)),
      },
    ]);
    expect(sorted(graph.batch)).toEqual([3, 14]);
    expect([...graph.batch.ids]).toEqual([9n]);
    expect([...graph.batch.links!.columns.get("w")!.values]).toEqual([2]);
    expect([...graph.batch.objectColumns.get("s")!.values]).toEqual([90]);
    expect(graph.writer.dropped).toEqual({ vertices: 2, objects: 1 });
  });

  it("outside the bounds: refused, moved, let in or left out", async () => {
    const bounds = { min: [0, 0], max: [20, 20] };
    const batch = cloud(5, 5, 25, -1);
    await expect(write({ ...points, bounds }, [batch])).rejects.toThrow(/along x/);
    const clamped = await write({ ...points, bounds, outside: "clamp" }, [batch]);
    expect(sorted(clamped.batch)).toEqual([0, 5, 5, 20]);
    const expanded = await write({ ...points, bounds, outside: "expand" }, [batch]);
    expect(sorted(expanded.batch)).toEqual([-1, 5, 5, 25]);
    expect(expanded.dataset.bounds).toEqual({ min: [0, -1], max: [25, 20] });
    const dropped = await write({ ...points, bounds, outside: "drop" }, [batch]);
    expect(sorted(dropped.batch)).toEqual([5, 5]);
    expect(dropped.dataset.bounds).toEqual(bounds);
  });

  it("chunks that could not be counted are refused", async () => {
    await expect(write({ ...points, chunkShape: 1e-9 }, [cloud(5, 5)])).rejects.toThrow(/2\^31/);
  });
});

describe("objects", () => {
  const two: BatchParts = {
    positions: Float32Array.of(1, 1, 2, 2),
    parts: Uint32Array.of(0, 2, 2),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(2n ** 53n + 1n, 2n ** 53n),
  };

  it("without vertices are kept, dropped or refused", async () => {
    const kept = await write(points, [two]);
    expect(await kept.dataset.opened.nodes(0).then((nodes) => nodes.attributes("object_index"))).toMatchObject({
      num_objects: 2,
      num_present: 1,
    });
    expect([...(await kept.dataset.objectIds())]).toEqual([2n ** 53n + 1n]);
    const dropped = await write({ ...points, emptyObjects: "drop" }, [two]);
    expect(await dropped.dataset.opened.nodes(0).then((nodes) => nodes.attributes("object_index"))).toMatchObject({
      num_objects: 1,
    });
    await expect(write({ ...points, emptyObjects: "raise" }, [two])).rejects.toThrow(
      /9007199254740992 has no vertices/,
    );
  });

  it("have the ids that they had, new ones, or all up to the largest", async () => {
    const batches = [path(7n, 1, 1, 12, 12), path(3n, 5, 5, 6, 6)];
    const lines: VectorDescription = { geometry: "lines", dims: 2, chunkShape: 10 };
    expect([...(await write(lines, batches)).batch.ids]).toEqual([3n, 7n]);
    expect([...(await write({ ...lines, ids: "dense" }, batches)).batch.ids]).toEqual([0n, 1n]);
    const preserved = await write({ ...lines, ids: "preserve" }, batches);
    expect([...(await preserved.dataset.objectIds())]).toEqual([3n, 7n]);
    expect(await preserved.dataset.opened.nodes(0).then((nodes) => nodes.attributes("object_index"))).toMatchObject({
      num_objects: 8,
      num_present: 2,
    });
    await expect(write({ ...lines, ids: "preserve" }, [path(2n ** 40n, 1, 1, 2, 2)])).rejects.toThrow(LimitExceeded);
    const unsigned = { ...path(0n, 1, 1, 2, 2), ids: BigUint64Array.of(2n ** 64n - 1n) };
    await expect(write(lines, [unsigned])).rejects.toThrow(/18446744073709551615 does not fit/);
    expect([...(await write({ ...lines, ids: "dense" }, [unsigned])).batch.ids]).toEqual([0n]);
  });

  it("that come again go on, where paths may", async () => {
    const streamlines: VectorDescription = { geometry: "streamlines", dims: 1, chunkShape: 10 };
    const batches = [path(4n, 1, 2), path(5n, 30, 8), path(4n, 3, 14)];
    const apart = write(streamlines, batches);
    await expect(apart).rejects.toThrow(/the path 4 has several pieces/);
    await expect(apart).rejects.toMatchObject({
      hint: expect.stringMatching(/^Give each .*; in programs, pieces "join"/),
    });
    const { batch } = await write({ ...streamlines, pieces: "join" }, batches);
    expect([...batch.positions]).toEqual([1, 2, 3, 14, 30, 8]);
    const cloud = await write({ ...streamlines, geometry: "points" }, batches);
    expect([...cloud.batch.parts]).toEqual([0, 4, 6]);
  });

  it("of which none is named: paths are counted, everything else is the object 0", async () => {
    const line = { ...cloud(1, 1, 12, 12), parts: Uint32Array.of(0, 2) };
    expect([...(await write({ ...points, geometry: "lines" }, [line, line])).batch.ids]).toEqual([0n, 1n]);
    expect([...(await write({ ...points, geometry: "mesh" }, [cloud(1, 1, 12, 12)])).batch.ids]).toEqual([0n]);
  });

  it("in the first batch of points decide for all", async () => {
    const writer = await createZarrVectors(memoryStore(), at, points);
    await writer.add(cloud(1, 1));
    await expect(writer.add(path(1n, 2, 2))).rejects.toThrow(/the first had none/);
    const declared = await write({ ...points, objects: true }, [cloud(1, 1), path(1n, 2, 2)]);
    expect([...declared.batch.objects].sort()).toEqual([-1, 0]);
  });
});

describe("layout", () => {
  it("shared fragments are stored once, and each object has them", async () => {
    const description: VectorDescription = { geometry: "streamlines", dims: 1, chunkShape: 10, sharedFragments: true };
    const { dataset, batch } = await write(description, [path(1n, 1, 2, 12), path(2n, 1, 2, 33), path(3n, 1, 3, 12)]);
    expect([...batch.positions]).toEqual([1, 2, 12, 1, 2, 33, 1, 3, 12]);
    expect(dataset.levels[0]!.vertices).toBe(6);
    expect(dataset.opened.root.capabilities).toEqual(["shared_fragments"]);
    expect((await dataset.opened.level(0)).sharedFragments).toBe(true);
    expect([...(await dataset.select({ object: [2] }).read()).positions]).toEqual([1, 2, 33]);
    await expect(write({ ...description, geometry: "graph" }, [])).rejects.toThrow(Unsupported);
  });

  it("bins order the points of a chunk, with a fragment for each, also the empty ones", async () => {
    const { dataset } = await write({ ...points, binShape: [5, 5] }, [cloud(9, 9, 1, 1, 6, 2, 2, 6, 1, 2)]);
    const nodes = await dataset.opened.nodes(0);
    const cells = (await nodes.cells("vertices"))!;
    const [bytes] = await cells.read(Int32Array.of(0, 0));
    expect([...new Float64Array(bytes!.slice().buffer)]).toEqual([1, 1, 1, 2, 2, 6, 6, 2, 9, 9]);
    expect(dataset.levels[0]!.binShape).toEqual([5, 5]);
    await expect(write({ ...points, binShape: [3, 5] }, [])).rejects.toThrow(/whole number of bins/);
  });

  it("chooses chunks of about 64k vertices, and more than one", async () => {
    const few = await write({ geometry: "points", dims: 2 }, [cloud(0, 0, 100, 10)]);
    expect(few.dataset.levels[0]!.chunkShape).toEqual([50, 10]);
    const many = Float32Array.from({ length: 600_000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 14);
    const { dataset } = await write({ geometry: "points", dims: 3 }, [{ positions: many }]);
    const sides = dataset.levels[0]!.chunkShape!;
    expect(Math.max(...sides) / Math.min(...sides)).toBeLessThan(2.5);
    const directory = await (await dataset.opened.nodes(0)).cells("vertices").then((cells) => cells!.directory());
    expect(directory.count).toBeGreaterThan(2);
    expect(directory.count).toBeLessThan(30);
  });

  it("shards what would be too many files", () => {
    expect(shardFor("auto", [100, 100, 100], 250, 100)).toBeUndefined();
    expect(shardFor("auto", [100, 100, 100], 2000, 1 << 21)).toBeUndefined(); // cells that are large enough by themselves
    expect(shardFor("auto", [100, 100, 100], 2000, 1 << 18)).toEqual([2, 2, 2]);
    expect(shardFor("auto", [100, 1, 3], 2000, 1 << 10)).toEqual([100, 1, 3]); // no wider than the grid
    expect(shardFor(undefined, [100, 100, 100], 100_000, 1 << 21)).toEqual([2, 2, 1]);
    expect(shardFor("auto", [100, 100, 100], 5_000_000, 1 << 21)).toEqual([8, 8, 4]);
    expect(shardFor("none", [100, 100, 100], 5_000_000, 1)).toBeUndefined();
    expect(shardFor(3, [9, 9], 1, 1)).toEqual([3, 3]);
    expect(() => shardFor([2, 2], [9, 9, 9], 1, 1)).toThrow(InvalidInput);
  });

  it("has everything about the store in its documents", async () => {
    const { dataset, store } = await write(
      {
        geometry: "points",
        axes: [
          { name: "t", type: "time", unit: "second" },
          { name: "x", type: "space" },
        ],
        chunkShape: [1, 10],
        crs: { name: "RAS" },
        userMetadata: { lab: { n: 1 } },
        headers: { trk: { dims: [1, 2] } },
      },
      [cloud(0.5, 2)],
    );
    expect(dataset.axes).toMatchObject([
      { name: "t", type: "time", unit: "second" },
      { name: "x", type: "space" },
    ]);
    expect(dataset.crs).toEqual({ name: "RAS" });
    expect(dataset.attributes).toEqual({ lab: { n: 1 } });
    expect(JSON.parse(new TextDecoder().decode(await store.get(Key.of("a/headers/trk/zarr.json"))))).toMatchObject({
      attributes: { dims: [1, 2] },
    });
    expect(await keysOf(store)).toContain("a/headers/zarr.json");
  });

  it("an empty store is one, unless that is refused", async () => {
    const { dataset, batch } = await write(points, []);
    expect(batch.positions.length).toBe(0);
    expect(dataset.levels[0]!.vertices).toBe(0);
    await expect(write({ ...points, empty: "raise" }, [])).rejects.toThrow(/nothing to write/);
  });
});

describe("one store, whole or not at all", () => {
  it("is not there before the commit, and its root comes last", async () => {
    const inner = memoryStore();
    const written: string[] = [];
    const store = wrap(inner, {
      set(key, value, options) {
        written.push(key);
        return inner.set(key, value, options);
      },
    });
    await write(points, [cloud(1, 1, 22, 22)], { maxMemory: 8 }, store);
    expect(written.indexOf("a/zarr.json")).toBe(written.length - 1);
    expect(written.some((key) => key.startsWith("a/.octavo/spill-"))).toBe(true);
    expect((await keysOf(store)).filter((key) => key.includes(".octavo"))).toEqual([]);
  });

  it("abort leaves nothing, also when writing has failed", async () => {
    const inner = memoryStore();
    let left = 3;
    const store = wrap(inner, {
      async set(key, value, options) {
        if (!key.includes(".octavo") && left-- === 0) throw new LimitExceeded("the disk is full");
        return inner.set(key, value, options);
      },
    });
    const writer = await createZarrVectors(store, at, points, { maxMemory: 8 });
    await writer.add(cloud(1, 1, 22, 22));
    await expect(writer.commit()).rejects.toThrow("the disk is full");
    await expect(writer.add(cloud(1, 1))).rejects.toThrow(/abort/);
    await writer.abort();
    await writer.abort();
    expect(await keysOf(inner)).toEqual([]);
    await expect(writer.commit()).rejects.toThrow(/already been committed or aborted/);
  });

  it("does not write over what is there", async () => {
    const { store } = await write(points, [cloud(1, 1, 35, 35)]);
    await expect(write(points, [cloud(2, 2)], {}, store)).rejects.toThrow(Conflict);
    const again = await write(points, [cloud(2, 2)], { overwrite: true }, store);
    expect([...again.batch.positions]).toEqual([2, 2]);
    expect((await keysOf(store)).filter((key) => key.startsWith("a/0/vertices/c"))).toEqual(["a/0/vertices/c/0/0"]);
    await store.delete(Key.of("a/zarr.json"));
    await expect(write(points, [cloud(2, 2)], {}, store)).rejects.toThrow(/already holds something/);
    await write(points, [cloud(2, 2)], { overwrite: true }, store);
  });

  it("puts aside where it is told to", async () => {
    const aside = memoryStore("memory:aside");
    const keys: string[] = [];
    const scratch = wrap(aside, {
      set(key, value, options) {
        keys.push(key);
        return aside.set(key, value, options);
      },
    });
    await write(points, [cloud(1, 1, 2, 3), cloud(22, 22, 23, 24)], { maxMemory: 8, scratch: { store: scratch } });
    expect(keys.length).toBeGreaterThan(1);
    expect(await keysOf(aside)).toEqual([]);
  });
});

describe("batches that contradict", () => {
  const graph: VectorDescription = { geometry: "graph", dims: 2, chunkShape: 10 };
  const ends = (...list: number[]) => ({ width: 2, ends: Uint32Array.from(list), columns: new Map() });
  it.each<[string, VectorDescription, BatchParts]>([
    ["half a vertex", points, cloud(1, 2, 3)],
    ["parts that do not end", points, { ...cloud(1, 2), parts: Uint32Array.of(0, 2) }],
    ["an object that is none", points, { ...cloud(1, 2), objects: Int32Array.of(3) }],
    ["a line of three", { ...points, geometry: "lines" }, cloud(1, 1, 2, 2, 3, 3)],
    ["a link to nowhere", graph, { ...cloud(1, 1, 2, 2), links: ends(0, 2) }],
    ["links of points", points, { ...cloud(1, 1, 2, 2), links: ends(0, 1) }],
    ["triangles in a graph", graph, { ...cloud(1, 1), links: { ...ends(0, 0, 0), width: 3 } }],
    ["a column that is too short", points, { ...cloud(1, 1), vertexColumns: numbers("w", new Float32Array(2)) }],
  ])("%s", async (_, description, batch) => {
    await expect(write(description, [batch])).rejects.toThrow(InvalidInput);
  });

  it("attributes that come later, or not again, or as others", async () => {
    const writer = await createZarrVectors(memoryStore(), at, points);
    await writer.add({ ...cloud(1, 1), vertexColumns: numbers("w", Float32Array.of(1)) });
    await expect(writer.add(cloud(1, 1))).rejects.toThrow(/should have the vertex attribute w/);
    const other = new Map([...numbers("w", Float32Array.of(1)), ...numbers("v", Float32Array.of(1))]);
    await expect(writer.add({ ...cloud(1, 1), vertexColumns: other })).rejects.toThrow(
      /attribute v, which the store has not/,
    );
    const whole = numbers("w", Float32Array.of(1)).get("w")!;
    const dtype = { kind: "float", size: 8, endian: "little" } as const;
    const wide = new Map([["w", { info: { ...whole.info, dtype }, values: Float64Array.of(1) }]]);
    await expect(writer.add({ ...cloud(1, 1), vertexColumns: wide })).rejects.toThrow(
      /should be float32 × 1, found float64/,
    );
    expect((await (await writer.commit()).select().read()).positions.length).toBe(2);
  });

  it.each<[string, Partial<VectorDescription>]>([
    ["parametric", { geometry: "parametric" }],
    ["no axes", { dims: undefined }],
    ["a chunk of nothing", { chunkShape: [10, 0] }],
    ["bounds the wrong way", { bounds: { min: [1, 1], max: [0, 0] } }],
    ["a policy without bounds", { outside: "clamp" }],
  ])("a description with %s", async (_, part) => {
    await expect(createZarrVectors(memoryStore(), at, { ...points, ...part } as VectorDescription)).rejects.toThrow();
  });
});
