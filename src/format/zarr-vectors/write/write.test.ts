/** What is written comes back: every kind, number of axes, type of attribute, codec and way of cutting, whatever the memory. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../../test/properties.js";
import type { DataType } from "../../../bytes/dtype.js";
import type { NumericArray } from "../../../codec/types.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import { typed } from "../../../model/elements.js";
import type { Batch, Columns, Geometry } from "../../../model/vectors.js";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import type { VectorDescription } from "./description.js";
import { type BatchParts, createZarrVectors, type VectorWriteOptions } from "./write.js";

const at = Prefix.of("a.zarrvectors");
const KINDS: readonly Geometry[] = ["points", "lines", "polylines", "streamlines", "graph", "skeletons", "mesh"];
const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];
const DTYPES: readonly DataType[] = [
  { kind: "bool", size: 1 },
  ...([1, 2, 4, 8] as const).flatMap((size) => [
    { kind: "int", size, endian: "little" } as const,
    { kind: "uint", size, endian: "little" } as const,
  ]),
  ...([2, 4, 8] as const).map((size) => ({ kind: "float", size, endian: "little" }) as const),
];

/** One object as it was thought of; its vertices are told apart by a number that goes along as an attribute. */
interface Thing {
  readonly id: bigint;
  readonly positions: readonly (readonly number[])[];
  /** Between its own vertices. */
  readonly links: readonly (readonly number[])[];
}
interface Scene {
  readonly geometry: Geometry;
  readonly dims: number;
  readonly things: readonly Thing[];
  readonly withIds: boolean;
}

const info = (name: string, dtype: DataType, channels = 1): AttributeInfo => ({ name, dtype, channels });
const int32: DataType = { kind: "int", size: 4, endian: "little" };

/** Numbers of which many lie on the borders of chunks. */
const coordinate = fc.oneof(
  fc.integer({ min: -4, max: 4 }).map((n) => n * 10),
  fc.double({ min: -45, max: 45, noNaN: true }).map(Math.fround),
  fc.constantFrom(-0, 10 - 2 ** -20, -1e-30, 9.999999),
);
const anyId = fc.oneof(fc.bigInt(0n, 40n), fc.constantFrom(2n ** 53n + 1n, 2n ** 62n, 2n ** 40n));

const scene = (geometry: Geometry): fc.Arbitrary<Scene> =>
  fc.integer({ min: 1, max: 5 }).chain((dims) => {
    const position = fc.array(coordinate, { minLength: dims, maxLength: dims });
    const line = geometry === "lines";
    const vertices = fc.array(position, { minLength: line ? 2 : 1, maxLength: line ? 2 : 12 });
    const width = geometry === "mesh" ? 3 : geometry === "graph" || geometry === "skeletons" ? 2 : 0;
    const thing = fc.record({ id: anyId, positions: vertices }).chain(({ id, positions }) => {
      const end = fc.nat(positions.length - 1);
      const links =
        width === 0
          ? fc.constant([])
          : geometry === "skeletons"
            ? // Every vertex has a parent among those before it, or none: a forest.
              fc
                .tuple(...positions.map((_, v) => fc.option(fc.nat(Math.max(0, v - 1)), { freq: 5 })))
                .map((parents) => parents.flatMap((p, v) => (p === null || v === 0 ? [] : [[v, Math.min(p, v - 1)]])))
            : fc.array(fc.array(end, { minLength: width, maxLength: width }), { maxLength: 8 });
      return links.map((own): Thing => ({ id, positions, links: own }));
    });
    return fc.record({
      geometry: fc.constant(geometry),
      dims: fc.constant(dims),
      things: fc.uniqueArray(thing, { selector: ({ id }) => id, maxLength: 8 }),
      withIds: fc.boolean(),
    });
  });

/** The things as one batch; vertex v of thing t has the attribute 1000 t + v. */
function batchOf(scene: Scene, from = 0, to = scene.things.length): BatchParts {
  const { dims, geometry } = scene;
  const things = scene.things.slice(from, to);
  const parts = [0];
  for (const { positions } of things) parts.push(parts.at(-1)! + positions.length);
  const width = geometry === "mesh" ? 3 : 2;
  const linked = geometry === "graph" || geometry === "skeletons" || geometry === "mesh";
  const ends = things.flatMap(({ links }, t) => links.flat().map((end) => parts[t]! + end));
  const uid = things.flatMap(({ positions }, t) => positions.map((_, v) => 1000 * (from + t) + v));
  const id = things.map((thing) => BigInt.asIntN(32, thing.id));
  return {
    positions: Float32Array.from(things.flatMap(({ positions }) => positions.flat())),
    parts: Uint32Array.from(parts),
    ...(scene.withIds
      ? {
          objects: Int32Array.from(things.keys()),
          ids: BigInt64Array.from(things, (thing) => thing.id),
          objectColumns: columnsOf([info("low", int32), Int32Array.from(id, Number)]),
        }
      : {}),
    links: linked ? { width, ends: Uint32Array.from(ends), columns: new Map() } : undefined,
    vertexColumns: columnsOf([info("uid", int32), Int32Array.from(uid)]),
    dims,
  } as BatchParts;
}

const columnsOf = (...list: readonly (readonly [AttributeInfo, Column["values"]])[]): Columns =>
  new Map(list.map(([own, values]) => [own.name, { info: own, values }]));

/** What a batch says, in an order of its own: by object the vertices by number, and the links between them. */
function told({ positions, dims, parts, objects, ids, links, vertexColumns }: Batch) {
  const uid = vertexColumns.get("uid")?.values as Int32Array | undefined;
  const of = new Map<string, { path: number[]; places: [number, number[]][] }>();
  for (let p = 0; p < objects.length; p++) {
    const id = objects[p]! < 0 ? "nobody" : `${ids[objects[p]!]}`;
    const own = of.get(id) ?? { path: [], places: [] };
    of.set(id, own);
    for (let v = parts[p]!; v < parts[p + 1]!; v++) {
      own.path.push(uid?.[v] ?? 0);
      own.places.push([uid?.[v] ?? 0, [...positions.subarray(v * dims, (v + 1) * dims)]]);
    }
  }
  const list: string[] = [];
  for (let l = 0; links !== undefined && l < links.ends.length; l += links.width)
    list.push([...links.ends.subarray(l, l + links.width)].map((end) => uid![end]).join());
  return { of, links: list.sort() };
}

/** The same, in an order that does not depend on chunks. */
function sortedTold(batch: Batch) {
  const { of, links } = told(batch);
  const path = PATHS.includes(batch.geometry);
  return {
    links,
    of: new Map([...of].map(([id, own]) => [id, path ? own.places : own.places.sort(([a], [b]) => a - b)])),
  };
}

async function write(
  description: VectorDescription,
  batches: readonly BatchParts[],
  options?: VectorWriteOptions,
  store: Store = memoryStore(),
) {
  const writer = await createZarrVectors(store, at, description, options);
  for (const batch of batches) await writer.add(batch);
  return { store, writer, dataset: await writer.commit() };
}

/** Every key and its bytes. */
async function content(store: Store): Promise<Map<string, string>> {
  const out = new Map<string, string>();
  for await (const { key } of store.list(at)) out.set(key, Buffer.from((await store.get(key))!).toString("base64"));
  return new Map([...out].sort());
}

describe("what is written comes back", () => {
  it.each(KINDS)("%s, in 1 to 5 dimensions", async (geometry) => {
    const settings = fc.record({
      chunkShape: fc.constantFrom<number | "auto">(10, "auto", 7.5),
      codecs: fc.constantFrom("zstd", "none", "gzip", "blosc"),
      sharding: fc.constantFrom<number | "auto">("auto", 2, 3),
      cut: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(scene(geometry), settings, async (given, { cut, ...layout }) => {
        const batches = [];
        for (let from = 0; from < given.things.length; from += cut) batches.push(batchOf(given, from, from + cut));
        const objects = given.withIds;
        const description = { geometry, dims: given.dims, ...layout, ...(geometry === "points" ? { objects } : {}) };
        const { dataset } = await write(description as VectorDescription, batches);
        const found = told(await dataset.select().read());

        // Without ids every path is an object of its own, and everything else is one.
        const ids = given.things.map((thing, t) =>
          given.withIds ? `${thing.id}` : PATHS.includes(geometry) ? `${t}` : geometry === "points" ? "nobody" : "0",
        );
        const expected = new Map<string, [number, number[]][]>();
        for (const [t, { positions }] of given.things.entries()) {
          const own = expected.get(ids[t]!) ?? [];
          own.push(...positions.map((place, v): [number, number[]] => [1000 * t + v, place.map(Math.fround)]));
          expected.set(ids[t]!, own);
        }
        expect(new Set(found.of.keys())).toEqual(new Set(expected.keys()));
        for (const [id, { path, places }] of found.of) {
          if (PATHS.includes(geometry)) expect(path).toEqual(expected.get(id)!.map(([uid]) => uid));
          expect(places.sort(([a], [b]) => a - b)).toEqual(expected.get(id));
        }
        const links = given.things.flatMap((thing, t) =>
          thing.links.map((ends) => ends.map((v) => 1000 * t + v).join()),
        );
        expect(found.links).toEqual(links.sort());
        expect(dataset.levels[0]!.vertices).toBe(
          given.things.reduce((sum, { positions }) => sum + positions.length, 0),
        );
      }),
      { numRuns: 15 },
    );
  });

  it.each(KINDS)("%s: the same bytes, however little memory there is", async (geometry) => {
    await fc.assert(
      fc.asyncProperty(scene(geometry), fc.constantFrom(10, "auto" as const), async (given, chunkShape) => {
        const batches = given.things.map((_, t) => batchOf(given, t, t + 1));
        const description: VectorDescription = { geometry, dims: given.dims, chunkShape, sharding: 2 };
        const plenty = await write(description, batches);
        const little = await write(description, batches, { maxMemory: 64 });
        expect(await content(little.store)).toEqual(await content(plenty.store));
      }),
      { numRuns: 6 },
    );
  });

  it.each(KINDS)("%s, piped from a store into another in small batches", async (geometry) => {
    await fc.assert(
      fc.asyncProperty(scene(geometry), fc.constantFrom(13, "auto" as const), async (given, chunkShape) => {
        const from = await write({ geometry, dims: given.dims, chunkShape: 10 }, [
          batchOf({ ...given, withIds: true }),
        ]);
        const attributes = await from.dataset.schema();
        const writer = await createZarrVectors(memoryStore(), at, {
          geometry,
          dims: given.dims,
          chunkShape,
          attributes,
        });
        for await (const batch of from.dataset.select().batches({ batchVertices: 1 })) await writer.add(batch);
        const [before, after] = [await from.dataset.select().read(), await (await writer.commit()).select().read()];
        expect(sortedTold(after)).toEqual(sortedTold(before));
        expect(after.objectColumns).toEqual(before.objectColumns);
      }),
      { numRuns: 6 },
    );
  });

  it.each([10, "auto"] as const)("links between objects of different batches, in chunks of %s", async (chunkShape) => {
    const given: Scene = {
      geometry: "graph",
      dims: 1,
      withIds: true,
      things: [3n, 9n, 4n].map((id, t) => ({ id, positions: [[t], [t + 10], [t + 20]], links: [[0, 1]] })),
    };
    const whole = batchOf(given);
    const links = { width: 2, ends: Uint32Array.of(0, 1, 8, 0, 4, 7, 5, 2), columns: new Map() };
    const from = await write({ geometry: "graph", dims: 1, chunkShape: 10 }, [{ ...whole, links }]);
    const batches: Batch[] = [];
    for await (const batch of from.dataset.select().batches({ batchVertices: 1 })) batches.push(batch);
    expect(batches.some(({ repeats }) => repeats === true)).toBe(true);
    const { dataset } = await write({ geometry: "graph", dims: 1, chunkShape }, batches, { maxMemory: 64 });
    expect(told(await dataset.select().read()).links).toEqual(["0,1", "1001,2001", "1002,2", "2002,0"]);
    expect(dataset.levels[0]!.vertices).toBe(9);
    const unknown = batches.filter(({ repeats }) => repeats === true);
    await expect(write({ geometry: "graph", dims: 1, chunkShape: 10 }, unknown)).rejects.toThrow(/no earlier batch/);
  });

  it.each(DTYPES.map((dtype) => [`${dtype.kind}${"size" in dtype ? 8 * dtype.size : ""}`, dtype] as const))(
    "attributes of %s on vertices, links, objects and groups",
    async (_, dtype) => {
      const values = (count: number): NumericArray => {
        const bytes = new Uint8Array(count * (dtype as { size: number }).size);
        const out = typed({ shape: [count], dtype, data: bytes });
        const big = out instanceof BigInt64Array || out instanceof BigUint64Array;
        for (let i = 0; i < count; i++) {
          const value = dtype.kind === "bool" ? i % 2 : 3 * i + 1;
          (out as unknown as unknown[])[i] = big ? BigInt(value) : value;
        }
        return out;
      };
      const columns = (count: number): Columns =>
        columnsOf([info("one", dtype), values(count)], [info("three", dtype, 3), values(3 * count)]);
      const writer = await createZarrVectors(memoryStore(), at, { geometry: "graph", dims: 2, chunkShape: 10 });
      await writer.add({
        positions: Float64Array.of(1, 1, 12, 3, 2, 2, 25, 25),
        parts: Uint32Array.of(0, 2, 4),
        objects: Int32Array.of(0, 1),
        ids: BigInt64Array.of(9n, 3n),
        links: { width: 2, ends: Uint32Array.of(0, 1, 3, 2, 1, 3), columns: columns(3) },
        vertexColumns: columns(4),
        objectColumns: columns(2),
      });
      writer.groups([[9, 3n], { start: 3, stop: 4 }], columns(2));
      const dataset = await writer.commit();
      const batch = await dataset.select().read();
      const rows = (found: Columns, order: readonly number[], channels: (own: Column) => number) =>
        [...found].map(([name, own]) => [
          name,
          order.map((row) => [...(own.values as Uint8Array)].slice(row * channels(own), (row + 1) * channels(own))),
        ]);
      const wanted = (count: number, order: readonly number[]) =>
        rows(columns(count), order, (own) => own.info.channels);
      // Rows are found by their position, by the first end of their link, by id.
      const place = (x: number): number => [...batch.positions].findIndex((value, i) => i % 2 === 0 && value === x) / 2;
      const vertices = [1, 12, 2, 25].map(place);
      const find = (a: number, b: number): number => {
        for (let l = 0; l < 3; l++)
          if (batch.links!.ends[2 * l] === vertices[a] && batch.links!.ends[2 * l + 1] === vertices[b]) return l;
        return -1;
      };
      const channels = (own: Column): number => own.info.channels;
      expect(rows(batch.vertexColumns, vertices, channels)).toEqual(wanted(4, [0, 1, 2, 3]));
      expect(rows(batch.links!.columns, [find(0, 1), find(3, 2), find(1, 3)], channels)).toEqual(wanted(3, [0, 1, 2]));
      expect([...batch.ids]).toEqual([3n, 9n]);
      expect(rows(batch.objectColumns, [1, 0], channels)).toEqual(wanted(2, [0, 1]));
      expect(rows(await dataset.groupColumns(), [0, 1], channels)).toEqual(wanted(2, [0, 1]));
      expect([...(await dataset.groupMembers(0))]).toEqual([9n, 3n]);
      expect([...(await dataset.groupMembers(1))]).toEqual([3n]);
      const { vertex, object } = await dataset.schema();
      expect(vertex.map(({ dtype: own, channels: n }) => [own, n])).toEqual([
        [dtype, 1],
        [dtype, 3],
      ]);
      expect(object.map(({ dtype: own }) => own)).toEqual([dtype, dtype]);
    },
  );
});
