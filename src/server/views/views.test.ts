/** Views of every kind of geometry, judged by Octavo's own reader and validator, and against what conversion gives. */
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { KINDS, scene } from "../../../test/zarr-vectors-scenes.js";
import { convertVectors } from "../../convert/vectors.js";
import { file as csv } from "../../format/interchange/csv.js";
import { openAnnotations, openSegmentProperties, openSkeletons, precomputed } from "../../format/precomputed/index.js";
import { openZarrVectors } from "../../format/zarr-vectors/index.js";
import { type BatchParts, createZarrVectors } from "../../format/zarr-vectors/write/write.js";
import type { Geometry, VectorDataset } from "../../model/vectors.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { recordingStore } from "../../testing/observe.js";
import { valueCache } from "./cache.js";
import { type Computation, computedStore } from "./computed.js";
import { viewsOf } from "./index.js";

const at = Prefix.of("a.zv");

async function stored(
  geometry: Geometry,
  batch: BatchParts,
  { groups, objects = true, in: store = memoryStore() }: { groups?: bigint[][]; objects?: boolean; in?: Store } = {},
): Promise<VectorDataset> {
  const width = batch.links?.width;
  const writer = await createZarrVectors(store, at, {
    geometry,
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "micrometer" })),
    chunkShape: [10, 10, 10],
    objects,
    ids: "sparse",
    links: width === undefined ? undefined : { width },
  });
  await writer.add(batch);
  if (groups !== undefined) writer.groups(groups, new Map());
  await writer.commit();
  return openZarrVectors(store, at);
}

async function findings(store: Store): Promise<string[]> {
  const all: string[] = [];
  for await (const { severity, rule, where, message } of precomputed.validate(store, Prefix.root))
    if (severity !== "info") all.push(`${severity} ${rule} ${where} ${message}`);
  return all;
}

const EXPECTED: Partial<Record<Geometry, readonly string[]>> = {
  points: ["annotations"],
  lines: ["annotations"],
  polylines: ["skeletons", "annotations"],
  streamlines: ["skeletons", "annotations"],
  graph: ["skeletons"],
  skeletons: ["skeletons"],
  mesh: ["meshes"],
};

describe.each(KINDS)("%s", (geometry) => {
  it("are valid precomputed data", { timeout: 120_000 }, async () => {
    const source = await stored(geometry, scene(geometry, 5, 10));
    const { views } = await viewsOf(source, { cellLimit: 10 });
    expect(views.map(({ name }) => name)).toEqual(EXPECTED[geometry]);
    for (const { store } of views)
      expect((await findings(store)).filter((text) => !text.includes("cell-limit"))).toEqual([]);
  });
});

const idsIn = async (store: Store): Promise<bigint[]> =>
  Array.from((await ((await precomputed.open(store, Prefix.root)) as VectorDataset).objectIds()) as BigUint64Array);

describe("streamlines", () => {
  it("are lines: every segment once, whole paths in the overview", async () => {
    const batch = scene("streamlines", 9, 30);
    const source = await stored("streamlines", batch);
    const { views } = await viewsOf(source, { cellLimit: 20 });
    const { store } = views.find(({ name }) => name === "annotations")!;
    const opened = (await precomputed.open(store, Prefix.root)) as VectorDataset;
    const lines = await opened.select().read();
    let segments = 0;
    const wanted = new Map<string, number>();
    const text = (from: ArrayLike<number>, v: number) =>
      Array.from({ length: 6 }, (_, k) => Math.fround(from[3 * v + k]!)).join();
    for (let p = 0; p + 1 < batch.parts!.length; p++)
      for (let v = batch.parts![p]!; v + 1 < batch.parts![p + 1]!; v++, segments++)
        wanted.set(text(batch.positions, v), (wanted.get(text(batch.positions, v)) ?? 0) + 1);
    expect(lines.ids.length).toBe(segments);
    expect(new Set(lines.ids as BigUint64Array).size).toBe(segments);
    expect((lines.ids as BigUint64Array).every((id) => id >= 1n)).toBe(true);
    for (let i = 0; i < segments; i++) expect(wanted.has(text(lines.positions, 2 * i))).toBe(true);
    const overview = new DataView((await store.get(Key.of("spatial0/0_0_0")))!.buffer).getUint32(0, true);
    expect(overview).toBeGreaterThan(0);
    expect(overview).toBeLessThan(segments / 2);
    expect(await store.get(Key.of("spatial0/1_0_0"))).toBeUndefined();
    expect(await store.get(Key.of("by_id/5"))).toBeUndefined();
  });

  it("are few skeletons: one for each group, or subset", async () => {
    const groups = [[0n, 2n, 4n], [1n], [5n, 6n]];
    const batch = scene("streamlines", 9, 12);
    const { views } = await viewsOf(await stored("streamlines", batch, { groups }));
    const grouped = await openSkeletons(views[0]!.store, Prefix.root);
    expect(await idsIn(views[0]!.store)).toEqual([1n, 2n, 3n]);
    const sizeOf = (p: bigint): number => batch.parts![Number(p) + 1]! - batch.parts![Number(p)]!;
    for (const [g, members] of groups.entries()) {
      const { vertices, edges } = (await grouped.get(BigInt(g + 1)))!;
      expect(vertices.length / 3).toBe(members.reduce((sum, p) => sum + sizeOf(p), 0));
      expect(edges.length / 2).toBe(members.reduce((sum, p) => sum + sizeOf(p) - 1, 0));
    }
    const all = (await viewsOf(await stored("streamlines", batch))).views[0]!.store;
    const subsets = await openSkeletons(all, Prefix.root);
    expect((await subsets.get(1n))!.vertices.length / 3).toBe(batch.parts!.at(-1));
    const { properties } = await openSegmentProperties(all, Prefix.of("segment_properties"));
    expect(properties[0]).toMatchObject({ type: "label", values: ["subset 1 of 1, about 12 of 12"] });
  });
});

it("paths without objects are lines, each by the number of its first vertex", async () => {
  // As other software writes them: parts in chunks, and nobody says whose they are.
  const whole = await stored("polylines", scene("polylines", 3, 20));
  const level = new Proxy(await whole.source(0), {
    get: (own, name) => (name === "objects" ? undefined : Reflect.get(own, name, own)),
  });
  const source = new Proxy(whole, {
    get: (own, name) => (name === "source" ? async () => level : Reflect.get(own, name, own)),
  });
  const { views } = await viewsOf(source, { cellLimit: 25 });
  expect(views.map(({ name }) => name)).toEqual(["annotations"]);
  const { store } = views[0]!;
  expect((await findings(store)).filter((text) => !text.includes("cell-limit"))).toEqual([]);
  const wanted: string[] = [];
  const all = Array.from({ length: (await level.chunks()).count }, (_, chunk) => chunk);
  for await (const { positions, parts } of level.tiles(all, { positions: true, vertex: [], fragment: [] }))
    for (let part = 0; part + 1 < parts.length; part++)
      for (let v = parts[part]!; v + 1 < parts[part + 1]!; v++)
        wanted.push(Float32Array.from(positions.subarray(3 * v, 3 * v + 6)).join());
  const opened = (await precomputed.open(store, Prefix.root)) as VectorDataset;
  const { positions } = await opened.select().read();
  const found = Array.from({ length: positions.length / 6 }, (_, i) => positions.subarray(6 * i, 6 * i + 6).join());
  expect(wanted.length).toBeGreaterThan(20);
  expect(found.sort()).toEqual(wanted.sort());
});

describe("synapses", () => {
  const table = [
    "id,pre,post,size,x,y,z",
    "9007199254740993,864691135000000001,864691135000000002,10,4,5,6",
    "12,864691135000000001,,200,10,11,12",
    "13,5,864691135000000002,7,20,21,22",
  ].join("\n");

  it("are related to what their table says, 64 bits exact, as conversion has it", async () => {
    const dataset = await openBytes(csv, "s.csv", new TextEncoder().encode(table), {
      table: { relationships: { pre: "pre", post: "post" } },
    });
    const made = memoryStore();
    await convertVectors(dataset, made, at);
    const source = await openZarrVectors(made, at);
    const { views } = await viewsOf(source);
    const { store } = views[0]!;
    expect((await findings(store)).filter((text) => !text.includes("cell-limit"))).toEqual([]);
    const view = await openAnnotations(store, Prefix.root);
    expect(view.info.relationships.map(({ id }) => id).sort()).toEqual(["post", "pre"]);
    const idsOf = async (name: string, id: bigint) => [...((await view.related(name, id))?.ids ?? [])].sort();
    expect(await idsOf("pre", 864691135000000001n)).toEqual([12n, 9007199254740993n]);
    expect(await idsOf("post", 864691135000000002n)).toEqual([13n, 9007199254740993n]);
    expect(await idsOf("pre", 6n)).toEqual([]);
    const one = (await view.get(9007199254740993n))!;
    expect([...one.related!.get("pre")!.ids, ...one.related!.get("post")!.ids]).toEqual([
      864691135000000001n,
      864691135000000002n,
    ]);
    expect((await view.get(12n))!.related!.get("post")!.ids.length).toBe(0);
  });
});

describe("points", () => {
  it("without objects are named by their number, with their attributes", async () => {
    const { objects: _objects, ids: _ids, objectColumns: _columns, ...batch } = scene("points", 3, 40);
    const count = batch.positions.length / 3;
    const bare = {
      ...batch,
      parts: Uint32Array.of(0, count),
      objects: Int32Array.of(-1),
      ids: new BigInt64Array(),
      objectColumns: new Map(),
    };
    const source = await stored("points", bare, { objects: false });
    const { views } = await viewsOf(source, { cellLimit: 25 });
    const opened = (await precomputed.open(views[0]!.store, Prefix.root)) as VectorDataset;
    const read = await opened.select().read();
    expect(read.positions.length).toBe(batch.positions.length);
    const place = new Map(
      Array.from({ length: count }, (_, v) => [batch.positions.subarray(3 * v, 3 * v + 3).join(), v]),
    );
    for (let i = 0; i < count; i++) {
      const v = place.get(read.positions.subarray(3 * i, 3 * i + 3).join())!;
      expect(read.vertexColumns.get("uid")!.values[i]).toBe(batch.vertexColumns!.get("uid")!.values[v]);
    }
  });
});

it("the radius of skeletons is served in nanometres", async () => {
  const batch = scene("skeletons", 2, 5);
  const info = {
    name: "radius",
    dtype: { kind: "float", size: 4, endian: "little" },
    channels: 1,
    unit: "um",
  } as const;
  const values = new Float32Array(batch.positions.length / 3).fill(0.5);
  const source = await stored("skeletons", { ...batch, vertexColumns: new Map([["radius", { info, values }]]) });
  const { attributes } = (await (await openSkeletons((await viewsOf(source)).views[0]!.store)).get(1n))!;
  expect(new Set(attributes.get("radius") as Float32Array)).toEqual(new Set([500]));
});

describe("ids", () => {
  it("start at 1 where one is 0, and stay where none is", async () => {
    const batch = scene("skeletons", 2, 5);
    expect(await idsIn((await viewsOf(await stored("skeletons", batch))).views[0]!.store)).toEqual([
      1n,
      2n,
      3n,
      4n,
      5n,
    ]);
    const ids = BigInt64Array.from(batch.ids as BigInt64Array, (id) => 70n + 2n * id);
    const { store } = (await viewsOf(await stored("skeletons", { ...batch, ids }))).views[0]!;
    expect(await idsIn(store)).toEqual([...ids]);
    expect(await store.get(Key.of("71"))).toBeUndefined();
  });

  it("of meshes are both of their files", async () => {
    const { store } = (await viewsOf(await stored("mesh", scene("mesh", 4, 6)))).views[0]!;
    expect((await idsIn(store)).length).toBe(6);
    for (const name of ["0", "7", "1.index.index", "x", "-1", "01"])
      expect(await store.get(Key.of(name))).toBeUndefined();
  });
});

describe("what is made", () => {
  const counting = (): Computation & { made: string[] } => {
    const made: string[] = [];
    return {
      made,
      async compute(name, { signal }) {
        made.push(name);
        await new Promise((done, fail) => {
          setTimeout(done, 20);
          signal?.addEventListener("abort", () => fail(signal.reason));
        });
        return name === "none" ? undefined : new Map([[name, new Uint8Array(10)]]);
      },
      async *names() {},
    };
  };

  it("is made once for all who ask, and kept", async () => {
    const own = counting();
    const store = computedStore("x:", own, valueCache(100).part("a"));
    await Promise.all(Array.from({ length: 5 }, () => store.get(Key.of("k"))));
    expect((await store.get(Key.of("k"), { range: { offset: 2, length: 3 } }))!.length).toBe(3);
    expect(own.made).toEqual(["k"]);
    expect(await store.get(Key.of("none"))).toBeUndefined();
  });

  it("is made again once it had to go", async () => {
    const own = counting();
    const kept = memoryStore();
    const store = computedStore("x:", own, valueCache(25, kept).part("a"));
    for (const name of ["a", "b", "a", "c", "a", "b"]) await store.get(Key.of(name));
    expect(own.made).toEqual(["a", "b", "c", "b"]);
    const names: string[] = [];
    for await (const { key } of kept.list(Prefix.root)) names.push(key);
    expect(names.length).toBe(2);
  });

  it("goes on while anybody waits, and ends when nobody does", async () => {
    const own = counting();
    const store = computedStore("x:", own, valueCache(100).part("a"));
    const [first, second] = [new AbortController(), new AbortController()];
    const asked = [first, second].map(({ signal }) => store.get(Key.of("k"), { signal }));
    const outcomes = Promise.allSettled(asked);
    first.abort();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    const third = new AbortController();
    const left = store.get(Key.of("l"), { signal: third.signal });
    third.abort();
    await expect(left).rejects.toThrow();
    expect((await store.get(Key.of("l")))!.length).toBe(10);
  });
});

it("a cell of few paths does not read all of the data", async () => {
  const store = recordingStore(memoryStore());
  await stored("streamlines", scene("streamlines", 11, 200), { in: store });
  const source = await openZarrVectors(store, at, { limits: { keptBytes: 1 } });
  const { views } = await viewsOf(source, { cellLimit: 8 });
  const bytesOf = async (work: () => Promise<unknown>): Promise<number> => {
    store.log.length = 0;
    await work();
    const read = store.log.filter(({ kind, at: key }) => kind === "get" && key.includes("/vertices/"));
    return read.reduce((sum, { range }) => sum + (range !== undefined && "length" in range ? range.length : 0), 0);
  };
  const cell = await bytesOf(() => views[1]!.store.get(Key.of("spatial0/0_0_0")));
  const all = await bytesOf(() => source.select().read());
  expect(cell).toBeGreaterThan(0);
  expect(cell).toBeLessThan(all / 3);
});
