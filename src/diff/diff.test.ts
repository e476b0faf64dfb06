/** What differs is found and named, and what is the same is the same: whatever the chunks, the order of vertices, and the types. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../test/properties.js";
import { columnsOf, info, KINDS, random, scene } from "../../test/zarr-vectors-scenes.js";
import type { DataType } from "../bytes/dtype.js";
import { convertVectors } from "../convert/vectors.js";
import { createArray, writeRegion } from "../format/zarr/index.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import { type BatchParts, createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { ArrayDataset } from "../model/dataset.js";
import { ndarray } from "../model/elements.js";
import type { Columns, Geometry, VectorDataset } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { diffDatasets } from "./datasets.js";
import type { DifferenceKind, DiffOptions } from "./index.js";

const at = Prefix.of("a.zv");
const float = { kind: "float", size: 4, endian: "little" } as const;

interface Written {
  readonly chunkShape?: number;
  readonly groups?: readonly (readonly bigint[])[];
  readonly objects?: boolean;
  readonly unit?: string;
  readonly groupColumns?: Columns | undefined;
}

async function stored(
  geometry: Geometry,
  batch: BatchParts,
  { chunkShape = 10, groups, objects = true, unit, groupColumns = new Map() }: Written = {},
) {
  const store = memoryStore();
  const axes = ["x", "y", "z"].map((name) => ({ name, type: "space", ...(unit && { unit }) }));
  const width = batch.links?.width;
  const writer = await createZarrVectors(store, at, {
    geometry,
    axes,
    chunkShape: [chunkShape, chunkShape, chunkShape],
    objects,
    ids: "sparse",
    links: width === undefined ? undefined : { width },
  });
  await writer.add(batch);
  if (groups !== undefined) writer.groups(groups, groupColumns);
  await writer.commit();
  return openZarrVectors(store, at);
}

async function found(a: VectorDataset, b: VectorDataset, options?: DiffOptions): Promise<DifferenceKind[]> {
  const { equal, counts, differences } = await diffDatasets(a, b, options);
  const kinds = Object.keys(counts) as DifferenceKind[];
  expect(equal).toBe(kinds.length === 0);
  expect(new Set(differences.map(({ kind }) => kind))).toEqual(new Set(kinds));
  return kinds;
}

describe.each(KINDS)("%s", (geometry) => {
  it("are the same in other chunks", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), async (seed) => {
        const source = await stored(geometry, scene(geometry, seed));
        const store = memoryStore();
        await convertVectors(source, store, at, { chunkShape: 7 });
        expect(await diffDatasets(source, await openZarrVectors(store, at))).toMatchObject({
          equal: true,
          differences: [],
        });
      }),
      { numRuns: 4 },
    );
  });

  it("differ where a coordinate, a value, an object or a link does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), async (seed) => {
        const batch = scene(geometry, seed);
        const next = random(seed);
        const source = await stored(geometry, batch);
        const positions = batch.positions.slice();
        positions[Math.floor(positions.length * next())]! += 0.25;
        const moved = await stored(geometry, { ...batch, positions });
        expect(await found(source, moved)).toEqual(["positions"]);
        expect(await found(source, moved, { tolerance: 0.26 })).toEqual([]);
        expect(await found(source, moved, { tolerance: 0.24 })).toEqual(["positions"]);
        const [name, column] = [...batch.vertexColumns!][0]!;
        const values = (column.values as Float32Array).slice();
        values[Math.floor(values.length * next())]! += 1;
        const changed = { ...batch, vertexColumns: new Map([...batch.vertexColumns!, [name, { ...column, values }]]) };
        expect(await found(source, await stored(geometry, changed))).toEqual(["values"]);
        expect(await found(source, await stored(geometry, changed), { ignore: ["attributes"] })).toEqual([]);
        const ids = batch.ids!.slice() as BigInt64Array;
        ids[5] = 77n;
        const renamed = await stored(geometry, { ...batch, ids });
        expect(await found(source, renamed)).toEqual(["objects"]);
        expect(await found(source, renamed, { ignore: ["ids"] })).toEqual([]);
        const { links } = batch;
        if (links === undefined || links.ends.length === 0) return;
        const ends = links.ends.slice();
        [ends[0], ends[1]] = [ends[1]!, ends[0]!];
        expect(await found(source, await stored(geometry, { ...batch, links: { ...links, ends } }))).toEqual(["links"]);
      }),
      { numRuns: 3 },
    );
  });
});

describe("the order of vertices", () => {
  const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
  const mesh = (order: readonly number[], faces: readonly number[], ids = 1): BatchParts => ({
    positions: Float32Array.from(order.flatMap((v) => [...positions.subarray(3 * v, 3 * v + 3)])),
    parts: Uint32Array.of(0, order.length),
    objects: Int32Array.of(0),
    ids: BigInt64Array.of(BigInt(ids)),
    links: { width: 3, ends: Uint32Array.from(faces, (v) => order.indexOf(v)), columns: new Map() },
  });
  it("of a mesh means nothing, its winding does", async () => {
    const one = await stored("mesh", mesh([0, 1, 2, 3], [0, 1, 2, 1, 3, 2]));
    expect(await found(one, await stored("mesh", mesh([3, 1, 0, 2], [3, 2, 1, 1, 2, 0])))).toEqual([]);
    expect(await found(one, await stored("mesh", mesh([3, 1, 0, 2], [3, 1, 2, 1, 2, 0])))).toEqual(["links"]);
    expect(await found(one, await stored("mesh", mesh([0, 1, 2, 3], [0, 1, 2])))).toEqual(["links"]);
  });
  it("of a path is the path", async () => {
    const path = (order: readonly number[]): BatchParts => {
      const { links: _, ...batch } = mesh(order, []);
      return batch;
    };
    const one = await stored("polylines", path([0, 1, 2, 3]));
    expect(await found(one, await stored("streamlines", path([0, 1, 2, 3])))).toEqual([]);
    expect(await found(one, await stored("polylines", path([0, 2, 1, 3])))).toEqual(["positions"]);
    expect(await found(one, await stored("polylines", path([0, 1, 2])))).toEqual(["vertices"]);
  });
  it("of vertices at the same place is told by what they are linked with", async () => {
    // Two triangles that share two places, not two vertices: once with one seam, once with the other.
    const seam = (faces: readonly number[]): BatchParts => ({
      ...mesh([0, 1, 1, 2, 3], []),
      links: { width: 3, ends: Uint32Array.from(faces), columns: new Map() },
    });
    const one = await stored("mesh", seam([0, 1, 3, 2, 4, 3]));
    expect(await found(one, await stored("mesh", seam([0, 2, 3, 1, 4, 3])))).toEqual([]);
    expect(await found(one, await stored("mesh", seam([0, 1, 3, 1, 4, 3])))).toEqual(["links"]);
  });
});

describe("points with ids", () => {
  const wide = { kind: "int", size: 8, endian: "little" } as const;
  const places = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9);
  const weight = (...values: number[]) => [info("w", float), Float32Array.from(values)] as const;
  const objects = (ids: readonly bigint[], parts = [0, 1, 2, 3]) =>
    stored("points", {
      positions: places,
      parts: Uint32Array.from(parts),
      objects: Int32Array.from(ids, (_, row) => row),
      ids: BigInt64Array.from(ids),
      objectColumns: columnsOf(weight(...ids.map(Number))),
    });
  const rows = (ids: readonly bigint[]) =>
    stored(
      "points",
      {
        positions: Float32Array.of(7, 8, 9, 1, 2, 3, 4, 5, 6),
        parts: Uint32Array.of(0, 3),
        objects: Int32Array.of(-1),
        vertexColumns: columnsOf([info("id", wide), BigInt64Array.from(ids)], weight(...ids.map(Number))),
      },
      { objects: false },
    );

  it("are the same as objects of one point each and as an attribute", async () => {
    const [one, two] = [await objects([7n, 8n, 9n]), await rows([9n, 7n, 8n])];
    expect([await found(one, two), await found(two, one)]).toEqual([[], []]);
    expect(await found(one, await rows([9n, 8n, 7n]))).toEqual(["values"]);
    expect(await found(one, await rows([9n, 8n, 7n]), { ignore: ["attributes"] })).toEqual(["values"]);
    expect(await found(one, await rows([9n, 8n, 7n]), { ignore: ["ids", "attributes"] })).toEqual([]);
  });

  it("are not, where an object has several", async () => {
    expect(await found(await objects([7n, 8n], [0, 2, 3]), await rows([9n, 7n, 8n]))).toContain("objects");
  });
});

describe("points without objects", () => {
  const cloud = (count: number, seed: number, shift = 0): BatchParts => {
    const next = random(seed);
    const rows = Array.from({ length: count }, () => [Math.floor(8 * next()), Math.floor(8 * next()), next(), next()]);
    const turned = rows.map((_, i) => rows[(i + shift) % count]!);
    return {
      positions: Float32Array.from(turned.flatMap((row) => row.slice(0, 3))),
      vertexColumns: columnsOf([info("w", float), Float32Array.from(turned, (row) => row[3]!)]),
    };
  };
  it.each([256 << 20, 4096])("are the same in any order, within %i bytes", async (maxMemory) => {
    const one = await stored("points", cloud(300, 1), { objects: false });
    const turned = await stored("points", cloud(300, 1, 100), { objects: false, chunkShape: 3 });
    expect(await diffDatasets(one, turned, { maxMemory })).toMatchObject({ equal: true, compared: { vertices: 300 } });
    const batch = cloud(300, 1, 100);
    batch.positions[50] = 9;
    const { counts } = await diffDatasets(one, await stored("points", batch, { objects: false }), { maxMemory });
    expect(counts).toEqual({ positions: 2 });
    const more = await stored("points", cloud(301, 1), { objects: false });
    expect(await found(one, more, { maxMemory })).toContain("positions");
  });
});

describe("besides", () => {
  it("groups, types and units are compared by what they mean", async () => {
    const batch = scene("streamlines", 5);
    const one = await stored("streamlines", batch, { groups: [[0n, 1n], [2n]], unit: "micrometer" });
    expect(
      await found(one, await stored("streamlines", batch, { groups: [[0n, 1n], [2n]], unit: "micrometer" })),
    ).toEqual([]);
    expect(await found(one, await stored("streamlines", batch, { groups: [[0n], [2n]], unit: "micrometer" }))).toEqual([
      "groups",
    ]);
    expect(
      await found(one, await stored("streamlines", batch, { unit: "micrometer" }), { ignore: ["groups"] }),
    ).toEqual([]);
    const positions = Float64Array.from(batch.positions, (value) => value * 1000);
    const nano = await stored(
      "streamlines",
      { ...batch, positions },
      { groups: [[0n, 1n], [2n]], unit: "nanometer", chunkShape: 10_000 },
    );
    expect(await found(one, nano, { tolerance: 1e-4 })).toEqual([]);
    expect(await found(one, nano, { tolerance: 0 })).not.toContain("space");
    const doubles = new Map([...batch.objectColumns!].map(([name, own]) => [name, { ...own }]));
    expect(
      await found(
        one,
        await stored(
          "streamlines",
          { ...batch, objectColumns: doubles },
          { groups: [[0n, 1n], [2n]], unit: "micrometer" },
        ),
      ),
    ).toEqual([]);
  });
  it("a time is no length, whatever the numbers are", async () => {
    const batch = scene("skeletons", 3);
    const values = new Float32Array(batch.positions.length / 3);
    const withUnit = (unit?: string) =>
      stored("skeletons", { ...batch, vertexColumns: columnsOf([{ ...info("delay", float), unit }, values]) });
    const [time, length, none] = [await withUnit("ms"), await withUnit("nm"), await withUnit()];
    const report = await diffDatasets(time, length);
    expect(report.equal).toBe(false);
    expect(report.differences.map(({ kind, message }) => [kind, message])).toEqual([
      ["attributes", "vertex attribute delay has the unit ms in the first, nm in the second"],
    ]);
    const one = await diffDatasets(time, none);
    expect(one).toMatchObject({ equal: true });
    expect(one.notes).toEqual([
      "vertex attribute delay is float32 in ms in the first, float32 without a unit in the second",
    ]);
    expect((await diffDatasets(time, await withUnit("millisecond"))).notes).toEqual([]);
  });

  it("lengths in other units are compared as lengths", async () => {
    const batch = scene("skeletons", 3);
    const count = batch.positions.length / 3;
    const double = { ...float, size: 8 } as const;
    const um = Float64Array.from({ length: count }, (_, v) => (v + 1) / 7);
    const nm = um.map((value) => 1000 * value);
    const withLengths = (values: Float32Array | Float64Array, unit: string, more: Columns = new Map()) => {
      const dtype = values instanceof Float32Array ? float : double;
      return stored("skeletons", {
        ...batch,
        vertexColumns: new Map([...columnsOf([{ ...info("reach", dtype), unit }, values]), ...more]),
      });
    };
    const exact = await withLengths(um, "um");
    const single = await withLengths(Float32Array.from(um), "micron");
    const other = await withLengths(Float32Array.from(nm), "nanometer");
    for (const [a, b] of [
      [exact, other],
      [other, exact],
      [single, other],
      [other, single],
    ] as const) {
      expect(await found(a, b)).toEqual([]);
      expect((await diffDatasets(a, b)).notes.join()).toContain("the same but for the rounding of float32");
    }
    // In one unit nothing is rounded, and nothing may be.
    expect(await found(exact, single)).toEqual(["values"]);
    expect(
      await found(
        exact,
        await withLengths(
          Float64Array.from(um, (value) => (1000 * value) / 1000),
          "um",
        ),
      ),
    ).toEqual([]);
    const thousands = await withLengths(
      Float64Array.from({ length: count }, (_, v) => 100 * v),
      "nm",
    );
    const tenths = Float64Array.from({ length: count }, (_, v) => v / 10);
    expect((await diffDatasets(await withLengths(tenths, "um"), thousands)).notes).toHaveLength(1);
    tenths[1]! += 1e-12;
    expect(await found(await withLengths(tenths, "um"), thousands)).toEqual(["values"]); // float64 has room for it
    expect(await found(await withLengths(Float32Array.from(um), "nm"), other)).toEqual(["values"]);
    const off = await withLengths(
      Float32Array.from(nm, (value) => value * (1 + 2 ** -21)),
      "nm",
    );
    expect(await found(exact, off)).toEqual(["values"]);
  });

  it("texts of a fixed length are told in words", async () => {
    const batch = scene("skeletons", 3);
    const texts = (size: number) =>
      stored("skeletons", {
        ...batch,
        objectColumns: columnsOf([
          info("label", { kind: "utf32", size, endian: "little" }),
          Array.from(batch.ids as BigInt64Array, String),
        ]),
      });
    const { notes } = await diffDatasets(await texts(80), await texts(320));
    expect(notes).toEqual([
      "object attribute label is 20 characters of text in the first, 80 characters of text in the second",
    ]);
  });

  it("another kind is another kind", async () => {
    const one = await stored("points", scene("points", 1));
    expect(await found(one, await stored("graph", scene("graph", 1)))).toEqual(["geometry"]);
  });

  it("are not the same because no place is told", async () => {
    const [a, b] = [scene("lines", 3), scene("lines", 4)];
    const report = await diffDatasets(await stored("lines", a), await stored("lines", b), { places: 0 });
    expect(report).toMatchObject({ equal: false, differences: [] });
  });

  it("attributes of groups, groups of the same name and links that are there twice are told", async () => {
    const batch = scene("lines", 5);
    const named = (...names: string[]) => columnsOf([info("name", { kind: "string" }), names]);
    const of = (groups: readonly (readonly bigint[])[], groupColumns?: Columns) =>
      stored("lines", batch, { groups, groupColumns });
    const mean = columnsOf([info("mean", float), Float32Array.of(0.5)]);
    expect(await found(await of([[1n]], mean), await of([[1n]]))).toEqual(["attributes"]);
    expect(await found(await of([[1n]]), await of([[1n]], mean))).toEqual(["attributes"]);
    expect(await found(await of([[1n]], mean), await of([[1n]]), { ignore: ["groups"] })).toEqual([]);
    expect(await found(await of([[1n]], named("a")), await of([[1n], [2n]], named("a", "a")))).toEqual(["groups"]);
    const joined = (...ends: number[]) =>
      stored("graph", {
        positions: Float32Array.of(0, 0, 0, 1, 1, 1),
        parts: Uint32Array.of(0, 1, 2),
        objects: Int32Array.of(0, 1),
        ids: BigInt64Array.of(1n, 2n),
        links: { width: 2, ends: Uint32Array.from(ends), columns: new Map() },
      });
    expect(await found(await joined(0, 1), await joined(0, 1))).toEqual([]);
    expect(await found(await joined(0, 1), await joined(0, 1, 0, 1))).toEqual(["links"]);
  });

  it("links between objects are the same within a tolerance, and in other units", async () => {
    const joined = (x: number, unit: string | undefined, ...values: number[]) =>
      stored("graph", {
        positions: Float64Array.of(x, 0, 0, 1, 1, 1, 2, 2, 2),
        parts: Uint32Array.of(0, 1, 2, 3),
        objects: Int32Array.of(0, 1, 2),
        ids: BigInt64Array.of(1n, 2n, 3n),
        links: {
          width: 2,
          ends: Uint32Array.of(0, 1, 0, 2, 0, 2),
          columns: columnsOf([{ ...info("length", float), unit }, Float32Array.from(values)]),
        },
      });
    const one = await joined(0, "nm", 1100, 2200, 3300);
    expect(await found(one, await joined(0, "nm", 1100, 3300, 2200))).toEqual([]);
    expect(await found(one, await joined(0, "nm", 1100, 2200, 2200))).toEqual(["links"]);
    expect(await found(one, await joined(0.25, "nm", 1100, 2200, 3300), { tolerance: 0.3 })).toEqual([]);
    expect(await found(one, await joined(0.25, "nm", 1100, 2200, 2200), { tolerance: 0.3 })).toEqual(["links"]);
    expect(await found(one, await joined(0, "um", 1.1, 3.3, 2.2))).toEqual([]);
    expect(await found(one, await joined(0, "um", 1.1, 3.3, 2.3))).toEqual(["links"]);
    expect(await found(one, await joined(0.25, "nm", 1100, 2200, 3300), { tolerance: 0.2 })).toContain("positions");
  });

  it("numbers in elements are compared as such, and times by what they count", async () => {
    const of = async (dtype: DataType, values: Float64Array | BigInt64Array): Promise<ArrayDataset> => {
      const shape = [1];
      const array = await createArray(memoryStore(), at, { shape, dtype, chunkShape: shape });
      await writeRegion(array, undefined, ndarray(shape, values, dtype));
      return array;
    };
    const equal = async (a: ArrayDataset, b: ArrayDataset): Promise<boolean> => (await diffDatasets(a, b)).equal;
    const complex: DataType = { kind: "complex", size: 16, endian: "little" };
    const [one, two] = [await of(complex, Float64Array.of(1, NaN)), await of(complex, Float64Array.of(1, Infinity))];
    expect(await equal(one, two)).toBe(false);
    expect([await equal(one, one), await equal(two, two)]).toEqual([true, true]);
    const time = (unit: string): DataType => ({ kind: "datetime", size: 8, endian: "little", unit, scale: 1 });
    const [seconds, days] = [await of(time("s"), BigInt64Array.of(7n)), await of(time("D"), BigInt64Array.of(7n))];
    expect(await equal(seconds, days)).toBe(false);
    expect(await equal(days, days)).toBe(true);
  });
});
