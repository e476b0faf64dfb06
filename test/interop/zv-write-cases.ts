/** What is written for the reference to read: each kind of geometry, with ids, attributes, levels and layouts of its own. */
import type { DataType } from "../../src/bytes/dtype.js";
import type { VectorDescription } from "../../src/format/zarr-vectors/write/description.js";
import type { BatchParts, VectorWriter } from "../../src/format/zarr-vectors/write/write.js";
import type { Parametric } from "../../src/model/vectors.js";
import { columnsOf, info, random } from "../zarr-vectors-scenes.js";

const f4: DataType = { kind: "float", size: 4, endian: "little" };
const i4: DataType = { kind: "int", size: 4, endian: "little" };
const cloud = (next: () => number, count: number, dims: number, low = 0, high = 100): Float32Array =>
  Float32Array.from({ length: count * dims }, () => low + (high - low) * next());
const numbered = (count: number): Int32Array => Int32Array.from({ length: count }, (_, i) => i);

/** A store: what it is, and what goes into it. */
export interface Case {
  readonly name: string;
  readonly description: VectorDescription;
  readonly batches: readonly BatchParts[];
  readonly more?: (writer: VectorWriter) => void | Promise<void>;
}

/** Paths that wander from chunk to chunk and come back. */
export function walks(seed: number, count: number, dims: number, ids: readonly bigint[] | undefined): BatchParts {
  const next = random(seed);
  const positions: number[] = [];
  const parts = [0];
  for (let k = 0; k < count; k++) {
    const size = k < 2 ? k + 1 : 3 + Math.floor(30 * next());
    const place = Array.from({ length: dims }, () => 10 + 80 * next());
    for (let v = 0; v < size; v++) {
      for (let d = 0; d < dims; d++) place[d] = Math.min(99.5, Math.max(0.5, place[d]! + 16 * (next() - 0.5)));
      positions.push(...place);
    }
    parts.push(positions.length / dims);
  }
  const vertices = positions.length / dims;
  return {
    positions: Float32Array.from(positions),
    parts: Uint32Array.from(parts),
    ...(ids === undefined ? {} : { ids: BigInt64Array.from(ids), objects: Int32Array.from(ids.keys()) }),
    vertexColumns: columnsOf([info("uid", i4), numbered(vertices)], [info("dir", f4, 3), cloud(next, vertices, 3)]),
    ...(ids === undefined ? {} : { objectColumns: columnsOf([info("length", f4), cloud(next, count, 1)]) }),
  };
}

/** Vertices of some objects, with links within each. */
function linked(seed: number, sizes: readonly number[], width: number, tree: boolean): BatchParts {
  const next = random(seed);
  const parts = [0];
  for (const size of sizes) parts.push(parts.at(-1)! + size);
  const ends: number[] = [];
  const known = new Set<string>(); // no link twice: they are told apart by their ends
  for (const [o, size] of sizes.entries()) {
    const from = parts[o]!;
    if (tree)
      for (let v = 1; v < size; v++) ends.push(from + v, from + v - 1 - Math.floor(Math.min(v, 4) * next() ** 3));
    else if (size >= width)
      for (let l = 0; l < 2 * size; l++) {
        const own = new Set<number>();
        while (own.size < width) own.add(from + Math.floor(size * next()));
        if (!known.has(`${[...own]}`)) ends.push(...own);
        known.add(`${[...own]}`);
      }
  }
  const vertices = parts.at(-1)!;
  const links = ends.length / width;
  return {
    positions: cloud(next, vertices, 3),
    parts: Uint32Array.from(parts),
    objects: Int32Array.from(sizes.keys()),
    ids: BigInt64Array.from(sizes, (_, o) => BigInt(3 * o + 1)),
    links: {
      width,
      ends: Uint32Array.from(ends),
      columns: tree || width > 2 ? new Map() : columnsOf([info("w", f4), cloud(next, links, 1)]),
    },
    vertexColumns: columnsOf([info("uid", i4), numbered(vertices)]),
    objectColumns: columnsOf([info("score", f4), cloud(next, sizes.length, 1)]),
  };
}

export const fewIds = Array.from({ length: 8 }, (_, i) => BigInt(5 * i + 1));
const PARAMETRIC: Parametric = {
  objects: [
    { type: "plane", name: "p", coefficients: [1, 2, 3, 4], coefficientNames: ["A", "B", "C", "D"] },
    { type: "sphere", name: "s", coefficients: [5, 6, 7, 2.5], coefficientNames: ["cx", "cy", "cz", "r"] },
  ],
  columns: columnsOf([info("w", f4), Float32Array.of(1, 2)]),
  groups: [[1n]],
};
/** With an attribute for every five vertices. */
export function marked(batch: BatchParts): BatchParts {
  const count = batch.positions.length / 3;
  const ends = Array.from({ length: Math.ceil(count / 5) }, (_, f) => Math.min(count, 5 * f + 5));
  return {
    ...batch,
    fragments: { offsets: Uint32Array.of(0, ...ends), columns: columnsOf([info("mark", i4), Int32Array.from(ends)]) },
  };
}
export const names = [5n, 42n, 2n ** 40n + 1n, 2n ** 53n + 1n, 2n ** 62n + 3n];
const points = (seed: number, dims: number, low = 0): BatchParts => {
  const next = random(seed);
  return {
    positions: cloud(next, 150, dims, low, 100),
    vertexColumns: columnsOf([info("uid", i4), numbered(150)], [info("w", f4), cloud(next, 150, 1)]),
  };
};
const space = (...axes: readonly string[]) => axes.map((name) => ({ name, type: name === "t" ? "time" : "space" }));

export const cases: readonly Case[] = [
  {
    name: "points",
    description: { geometry: "points", dims: 3, chunkShape: 40 },
    batches: [points(1, 3), points(2, 3)],
  },
  { name: "points-auto", description: { geometry: "points", dims: 3 }, batches: [points(1, 3)] },
  {
    name: "points-2d",
    description: { geometry: "points", dims: 2, chunkShape: [20, 40], binShape: [10, 20] },
    batches: [points(3, 2, -70)],
  },
  { name: "points-4d", description: { geometry: "points", dims: 4, chunkShape: 50 }, batches: [points(4, 4)] },
  {
    name: "points-5d",
    description: { geometry: "points", axes: space("t", "w", "z", "y", "x"), chunkShape: 50, dtype: "float64" },
    batches: [points(5, 5)],
  },
  {
    name: "points-half",
    description: { geometry: "points", dims: 3, chunkShape: 40, dtype: "float16" },
    batches: [points(6, 3)],
  },
  ...(["none", "gzip", "blosc"] as const).map(
    (codecs): Case => ({
      name: `points-${codecs}`,
      description: { geometry: "points", dims: 3, chunkShape: 20, codecs, sharding: codecs === "gzip" ? 2 : "none" },
      batches: [points(7, 3)],
    }),
  ),
  {
    name: "points-objects",
    description: {
      geometry: "points",
      chunkShape: 40,
      axes: ["z", "y", "x"].map((name) => ({ name, type: "space", unit: "micrometer" })),
      crs: { name: "EPSG:4978" },
      userMetadata: { lab: { who: "us" } },
      headers: { trk: { voxel_order: "RAS", dims: [1, 2, 3] } },
    },
    batches: [
      {
        ...points(8, 3),
        parts: Uint32Array.of(0, 20, 50, 51, 150, 150),
        objects: Int32Array.of(0, 1, 2, 3, 4),
        ids: BigInt64Array.from(names).reverse(),
        vertexColumns: columnsOf(
          [info("uid", i4), numbered(150)],
          [info("kind", { kind: "string" }), Array.from({ length: 150 }, (_, i) => ["soma", "axon", "é世"][i % 3]!)],
        ),
        objectColumns: columnsOf(
          [info("score", f4), Float32Array.of(1, 2, 3, 4, 5)],
          [info("label", { kind: "string" }), ["a", "bb", "", "世", "e"]],
        ),
      },
    ],
    more: (writer) =>
      writer.groups(
        [[5, 2n ** 53n + 1n], [], { start: 42, stop: 43 }],
        columnsOf([info("size", i4), Int32Array.of(2, 0, 1)]),
      ),
  },
  {
    name: "points-preserve",
    description: { geometry: "points", dims: 3, chunkShape: 40, ids: "preserve" },
    batches: [
      {
        ...points(8, 3),
        parts: Uint32Array.of(0, 100, 150),
        objects: Int32Array.of(0, 1),
        ids: BigInt64Array.of(6n, 2n),
      },
    ],
  },
  {
    name: "lines",
    description: { geometry: "lines", dims: 3, chunkShape: 40 },
    batches: [
      {
        positions: cloud(random(9), 80, 3),
        parts: Uint32Array.from({ length: 41 }, (_, i) => 2 * i),
        vertexColumns: columnsOf([info("uid", i4), numbered(80)]),
      },
    ],
  },
  {
    name: "polylines",
    description: { geometry: "polylines", dims: 2, chunkShape: 40 },
    batches: [walks(10, 15, 2, undefined)],
  },
  {
    name: "streamlines",
    description: { geometry: "streamlines", dims: 3, chunkShape: 40 },
    batches: [
      walks(
        11,
        20,
        3,
        Array.from({ length: 20 }, (_, i) => BigInt(2 * i)),
      ),
      walks(12, 5, 3, names),
    ],
    more: (writer) => writer.groups([[0, 2, 4], [2n ** 62n + 3n]]),
  },
  {
    name: "streamlines-shards",
    description: { geometry: "streamlines", dims: 3, chunkShape: 10, sharding: [4, 2, 2], sharedFragments: true },
    batches: [walks(13, 20, 3, undefined), { ...walks(13, 20, 3, undefined) }],
  },
  ...([{}, { renumber: true }] as const).map(
    (coarse): Case => ({
      name: "renumber" in coarse ? "pyramid-renumbered" : "pyramid",
      description: { geometry: "streamlines", dims: 3, chunkShape: 20, parametric: PARAMETRIC },
      batches: [walks(21, 8, 3, fewIds)],
      async more(writer) {
        const { vertexColumns: _, ...level } = walks(22, 4, 3, fewIds.slice(4));
        await writer.level(1, { scale: 2, chunkScale: 2, sparsity: 0.5, ...coarse }).add(level);
        await writer.level(2, { scale: 4, chunkScale: 2, parent: 1, ...coarse }).add(level);
      },
    }),
  ),
  {
    name: "fragments",
    description: { geometry: "streamlines", dims: 3, chunkShape: 40 },
    batches: [marked(walks(23, 6, 3, undefined))],
  },
  {
    name: "graph",
    description: { geometry: "graph", dims: 3, chunkShape: 50 },
    batches: [linked(14, [20, 40, 2], 2, false)],
  },
  {
    name: "graph-directed",
    description: { geometry: "graph", dims: 3, chunkShape: 50, links: { directed: true } },
    batches: [linked(15, [30], 2, false)],
  },
  {
    name: "graph-duplicate",
    description: { geometry: "graph", dims: 3, chunkShape: 50, links: { store: "duplicate" } },
    batches: [linked(16, [30], 2, false)],
  },
  {
    name: "skeletons",
    description: { geometry: "skeletons", dims: 3, chunkShape: 50 },
    batches: [linked(17, [40, 30], 2, true)],
  },
  {
    name: "mesh",
    description: { geometry: "mesh", dims: 3, chunkShape: 50 },
    batches: [linked(18, [40, 20], 3, false)],
  },
  {
    name: "mesh-quads",
    description: { geometry: "mesh", dims: 3, chunkShape: 40, links: { width: 4 } },
    batches: [linked(19, [30], 4, false)],
  },
  {
    name: "empty",
    description: { geometry: "points", dims: 3, chunkShape: 10, bounds: { min: [0, 0, 0], max: [9, 9, 9] } },
    batches: [],
  },
];
