/** What a conversion would write is told beforehand, and is about what it writes. */
import { beforeAll, describe, expect, it } from "vitest";
import { columnsOf, info } from "../../test/zarr-vectors-scenes.js";
import { createArray, writeRegion } from "../format/zarr/index.js";
import type { BatchParts } from "../format/zarr-vectors/write/write.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { Dataset } from "../model/dataset.js";
import { ndarray } from "../model/elements.js";
import type { Geometry, VectorDataset } from "../model/vectors.js";
import { convert, open, openLocation } from "../node.js";
import { elementCount } from "../space/shape.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { type Estimate, estimateWritten } from "./estimate.js";
import { estimateArray, estimateVolume, npyBytes } from "./estimate-arrays.js";
import type { Input } from "./inputs.js";
import type { ConvertToOptions } from "./options.js";
import { arrayOptions, volumeOptions } from "./options.js";

/** As docs/cookbook.md says: of data that are alike everywhere, within this factor. */
const FACTOR = 1.5;

let seed = 1;
const random = (): number => {
  seed = (seed * 1103515245 + 12345) % 2 ** 31;
  return seed / 2 ** 31;
};

const float = { kind: "float", size: 4, endian: "little" } as const;

/** Objects that wander through a cube, so many vertices each. */
function wandering(objects: number, each: number): BatchParts {
  const positions = new Float32Array(objects * each * 3);
  for (let object = 0; object < objects; object++) {
    const at = [random(), random(), random()].map((part) => part * 100);
    for (let v = 0; v < each; v++)
      for (let axis = 0; axis < 3; axis++) {
        at[axis]! += random() - 0.5;
        positions[(object * each + v) * 3 + axis] = at[axis]!;
      }
  }
  return {
    positions,
    parts: Uint32Array.from({ length: objects + 1 }, (_, i) => i * each),
    objects: Int32Array.from({ length: objects }, (_, i) => i),
    ids: BigInt64Array.from({ length: objects }, (_, i) => BigInt(i + 1)),
    vertexColumns: columnsOf([info("fa", float), Float32Array.from({ length: objects * each }, random)]),
    objectColumns: columnsOf([info("weight", float), Float32Array.from({ length: objects }, random)]),
  };
}

const skeletons = (objects: number, each: number): BatchParts => ({
  ...wandering(objects, each),
  links: {
    width: 2,
    ends: Uint32Array.from({ length: objects * (each - 1) * 2 }, (_, i) => {
      const edge = i >> 1;
      const child = Math.floor(edge / (each - 1)) * each + (edge % (each - 1)) + 1;
      return i % 2 === 0 ? child : child - 1;
    }),
    columns: new Map(),
  },
});

/** One surface over a square grid. */
function surface(side: number): BatchParts {
  const positions = new Float32Array(side * side * 3);
  for (let v = 0; v < side * side; v++) positions.set([v % side, Math.floor(v / side), random()], 3 * v);
  const ends = new Uint32Array((side - 1) ** 2 * 6);
  for (let y = 0, at = 0; y + 1 < side; y++)
    for (let x = 0; x + 1 < side; x++, at += 6) {
      const v = y * side + x;
      ends.set([v, v + 1, v + side, v + 1, v + side + 1, v + side], at);
    }
  const parts = Uint32Array.of(0, side * side);
  const links = { width: 3, ends, columns: new Map() };
  return { positions, parts, objects: Int32Array.of(0), ids: BigInt64Array.of(7n), links };
}

function points(count: number): BatchParts {
  const { positions, vertexColumns } = wandering(1, count);
  const spread = positions.map(() => random() * 100);
  return {
    positions: spread,
    parts: Uint32Array.of(0, count),
    objects: Int32Array.of(-1),
    vertexColumns: vertexColumns!,
  };
}

const DATA: { readonly [name: string]: readonly [Geometry, BatchParts] } = {
  streamlines: ["streamlines", wandering(2000, 100)],
  skeletons: ["skeletons", skeletons(1500, 120)],
  mesh: ["mesh", surface(420)],
  points: ["points", points(140_000)],
  few: ["streamlines", wandering(50, 40)],
};
const at = (name: string): string => `memory:estimate/${name}`;

beforeAll(async () => {
  for (const [name, [geometry, batch]] of Object.entries(DATA)) {
    const { store, at: place } = await openLocation(at(name), { create: true });
    const axes = ["x", "y", "z"].map((axis) => ({ name: axis, type: "space", unit: "micrometer" }));
    const links = batch.links && { width: batch.links.width };
    const writer = await createZarrVectors(store, place, {
      geometry,
      axes,
      ids: "sparse",
      objects: batch.ids !== undefined,
      links,
    });
    await writer.add(batch);
    await writer.commit();
  }
});

const bytesAt = async (target: string): Promise<number> => {
  const { store, at: place } = await openLocation(target);
  let bytes = 0;
  for await (const { size = 0 } of store.list(place)) bytes += size;
  return bytes;
};

interface Case {
  readonly from: string;
  readonly to: string;
  readonly options?: ConvertToOptions;
}

let targets = 0;

/** What is told, and what is there when it is done. */
async function both({ from, to, options = {} }: Case): Promise<{ told: Estimate; bytes: number }> {
  const source = (await open(at(from))) as VectorDataset;
  const whole = await source.select({ level: 0 }).count();
  const told = await estimateWritten(source, to, whole, { query: { level: 0 }, ...options });
  if ("untold" in told) throw new Error(told.untold);
  const folder = at(`out-${targets++}`);
  await convert(source, `${folder}/${to}`, options);
  return { told, bytes: await bytesAt(folder) };
}

const CASES: readonly Case[] = [
  { from: "streamlines", to: "a.zv" },
  { from: "streamlines", to: "a.zv", options: { chunkShape: [10, 10, 10], codecs: "zstd" } },
  { from: "streamlines", to: "a.zv", options: { pyramid: true } },
  { from: "streamlines", to: "a", options: { to: "precomputed" } },
  { from: "streamlines", to: "a.trk" },
  { from: "streamlines", to: "a.tck.gz" },
  { from: "streamlines", to: "a.trx" },
  { from: "skeletons", to: "a.zv", options: { pyramid: true } },
  { from: "skeletons", to: "a", options: { to: "precomputed" } },
  { from: "skeletons", to: "a.parquet" },
  { from: "mesh", to: "a.zv", options: { pyramid: true } },
  { from: "mesh", to: "a", options: { to: "precomputed" } },
  { from: "mesh", to: "a.obj" },
  { from: "mesh", to: "a.ply" },
  { from: "points", to: "a.zv", options: { pyramid: { crossLinks: true } } },
  { from: "points", to: "a", options: { to: "precomputed" } },
  { from: "points", to: "a.ptree" },
  { from: "points", to: "a.csv" },
];

it.each(CASES)(
  "of $from to $to it is near: $options",
  async (one) => {
    const { told, bytes } = await both(one);
    expect(told.exact).toBe(false);
    expect(told.bytes / bytes).toBeLessThan(FACTOR);
    expect(bytes / told.bytes).toBeLessThan(FACTOR);
  },
  60_000,
);

const SMALL: readonly Case[] = [
  { from: "few", to: "a.zv" },
  { from: "few", to: "a.zv", options: { chunkShape: [20, 20, 20] } },
  { from: "few", to: "a.zv", options: { pyramid: { levels: 2 } } },
  { from: "few", to: "a", options: { to: "precomputed" } },
];

it.each(SMALL)("of $from to $to it is next to it: $options", async (one) => {
  const { told, bytes } = await both(one);
  expect(Math.abs(told.bytes / bytes - 1)).toBeLessThan(0.01);
});

it.each(["a.tck.gz", "a.csv", "a.trk", "a.ptree"])("of a small dataset to %s it is exact", async (to) => {
  const { told, bytes } = await both({ from: "few", to });
  expect(told).toEqual({ bytes, exact: true });
});

it("of many files some are looked at", async () => {
  const source = (await open(at("skeletons"))) as VectorDataset;
  const opened = new Set<string>();
  const inputs = Array.from(
    { length: 500 },
    (_, i): Input => ({
      name: `${i}.swc`,
      origin: { url: `memory:${i}.swc`, store: memoryStore() },
      open: async () => {
        opened.add(`${i}`);
        return source;
      },
    }),
  );
  const { objects, vertices } = await source.select({}).count();
  const whole = { objects: 500 * objects, vertices: 500 * vertices };
  const told = await estimateWritten(inputs, "a.csv", whole, {});
  expect(told).toMatchObject({ exact: false });
  expect(opened.size).toBeLessThan(3);
});

it("what a part is refused for is told", async () => {
  const source = (await open(at("mesh"))) as VectorDataset;
  const whole = await source.select({}).count();
  expect(await estimateWritten(source, "a.trk", whole, {})).toEqual({ untold: expect.stringContaining("mesh") });
});

describe("of arrays", () => {
  const array = async (shape: readonly number[], chunkShape: readonly number[]) => {
    const made = await createArray(memoryStore(), Prefix.root, { shape, chunkShape, dtype: "uint16" });
    const values = Uint16Array.from({ length: elementCount(shape) }, (_, i) => (i % 64) + random() * 8);
    await writeRegion(made, undefined, ndarray(shape, values));
    return made;
  };
  const target = async (source: Dataset, options: ConvertToOptions = {}) => {
    const folder = at(`array-${targets++}`);
    await convert(source, folder, options);
    return bytesAt(folder);
  };

  it.each([{}, { chunkShape: [50, 50, 50], codecs: "zstd" as const }, { shardShape: [128, 128, 128] }])(
    "what is copied and what fits is exact: %j",
    async (options) => {
      const source = await array([150, 130, 140], [64, 64, 64]);
      const told = await estimateArray(source, arrayOptions(source, options));
      expect(told).toEqual({ bytes: await target(source, options), exact: true });
    },
  );

  it("of a large one chunks from all over tell", async () => {
    const source = await array([200, 160, 160], [64, 64, 64]);
    const told = await estimateArray(source, { chunkShape: [25, 25, 25], codecs: "zstd" });
    const bytes = await target(source, { chunkShape: [25, 25, 25], codecs: "zstd" });
    expect(told.exact).toBe(false);
    expect(Math.abs(told.bytes / bytes - 1)).toBeLessThan(0.1);
  });

  it("of a volume with its scales", async () => {
    for (const [length, factor] of [
      [100, 1],
      [300, FACTOR],
    ] as const) {
      const source = await array([length, 250, 250], [64, 64, 64]);
      const options = { to: "precomputed", scales: 2 };
      const told = await estimateVolume(source, volumeOptions(source, options));
      const bytes = await target(source, options);
      expect(told.exact).toBe(factor === 1);
      expect(Math.max(told.bytes / bytes, bytes / told.bytes)).toBeLessThanOrEqual(factor);
    }
  });

  it("of an .npy file", async () => {
    const source = await array([20, 30, 5], [10, 10, 5]);
    const folder = at(`npy-${targets++}`);
    await convert(source, `${folder}/a.npy`);
    expect(npyBytes(source)).toBe(await bytesAt(folder));
  });
});
