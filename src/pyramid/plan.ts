/**
 * What the levels of a pyramid shall be, from a look at the finest. Each level is twice as coarse as the one before:
 *
 * | kind              | what doubles from level to level                   | what it begins with                                 |
 * |-------------------|----------------------------------------------------|-----------------------------------------------------|
 * | points            | the side of the bins of which one point stays       | bins of about eight points, a power of two in a chunk |
 * | everything else   | how far vertices that go may be from what stays     | half of a segment, or of the side of a face         |
 */
import { InvalidInput } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Geometry, VectorDataset } from "../model/vectors.js";
import type { Pool } from "../worker/pool.js";
import { areSingle } from "./single.js";

/** What a pyramid shall be. */
export interface PyramidOptions extends ReadOptions {
  /** How many coarser levels; as many as leave about 65,000 vertices, unless told. */
  readonly levels?: number | undefined;
  /** How much coarser each is than the one before: 2 unless told. */
  readonly factor?: number | undefined;
  /** How far vertices of level 1 may be from what stays, in units of the data; of points the side of its bins. */
  readonly error?: number | undefined;
  /** The share of objects that each level keeps of those of the one before: 1 unless told; of streamlines a half. */
  readonly keep?: number | undefined;
  /** Which objects stay: see choose.ts. "even" unless told. */
  readonly by?: Choice | undefined;
  /** Of points: the attributes of the one that stays, or the mean of all that it stands for, where they are floats. */
  readonly attributes?: "pick" | "mean" | undefined;
  /** Links from every vertex to the one that stands for it on the next level, and back. */
  readonly crossLinks?: boolean | undefined;
  /** Bytes that may be held at once, roughly; 512 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** Workers that thin; without any, this thread does it, with the same result. */
  readonly pool?: Pool | undefined;
}

/** By what objects are chosen. */
export type Choice = "even" | "length" | "coverage" | "group" | { readonly weight: string };

/** A level that is to be made. */
export interface LevelPlan {
  /** How far vertices may be from what stays; of points the diagonal of a bin. */
  readonly error: number;
  /** How much of that may come from making this level: of meshes, what those before it leave. */
  readonly step: number;
  readonly bin: readonly number[];
  /** How many chunks of level 0 a chunk is. */
  readonly chunkScale: number;
  /** The share of the objects of level 0. */
  readonly share: number;
}

const ENOUGH = 1 << 16; // vertices that a picture of everything needs
const MOST = 12;
const SAMPLED = 16; // chunks that are looked at

/** InvalidInput where the numbers make no sense, whatever the data are. */
export function checkPyramid({ factor = 2, keep = 1, levels, error }: PyramidOptions): void {
  if (!(factor > 1 && Number.isFinite(factor))) throw new InvalidInput(`the factor should be above 1, found ${factor}`);
  if (!(keep > 0 && keep <= 1)) throw new InvalidInput(`the share should be above 0 and at most 1, found ${keep}`);
  if (levels !== undefined && !(Number.isInteger(levels) && levels >= 1 && levels <= MOST))
    throw new InvalidInput(`a pyramid should have 1 to ${MOST} coarser levels, found ${levels}`);
  if (error !== undefined && !(error > 0)) throw new InvalidInput(`the error should be above 0, found ${error}`);
}

/** Whether what is thinned are points by themselves, evenly in space; else it is object by object. */
export async function isCloud(dataset: VectorDataset, options: PyramidOptions): Promise<boolean> {
  if (dataset.geometries[0] !== "points") return false;
  const source = await dataset.source(0, options);
  return (
    source.objects === undefined || areSingle(source, (await dataset.describe(0, options)).vertices ?? -1, options)
  );
}

const keptBy = (geometry: Geometry | undefined, { keep }: PyramidOptions): number =>
  keep ?? (geometry === "streamlines" ? 0.5 : 1);

/** How many coarser levels there are of so many vertices. */
export function levelsOf(
  vertices: number,
  geometry: Geometry | undefined,
  asCloud: boolean,
  options: PyramidOptions,
): number {
  const { factor = 2, levels } = options;
  const perLevel = asCloud
    ? factor ** 2
    : (geometry === "mesh" ? factor : Math.sqrt(factor)) / keptBy(geometry, options);
  const wanted = Math.ceil(Math.log(Math.max(1, vertices / ENOUGH)) / Math.log(perLevel));
  return levels ?? Math.max(1, Math.min(MOST, wanted));
}

export async function planLevels(
  dataset: VectorDataset,
  options: PyramidOptions,
  thinsPoints?: boolean,
): Promise<LevelPlan[]> {
  checkPyramid(options);
  const { factor = 2, error } = options;
  const geometry = dataset.geometries[0];
  const keep = keptBy(geometry, options);
  const source = await dataset.source(0, options);
  const { chunkShape, vertices = 0 } = await dataset.describe(0, options);
  const looked = await look(source, options);
  const asCloud = thinsPoints ?? (await isCloud(dataset, options));
  const spans = dataset.bounds.max.map((high, axis) => high - dataset.bounds.min[axis]!);
  const widest = Math.max(1, ...spans.map((span, axis) => span / chunkShape[axis]!));
  const first = error ?? (asCloud ? undefined : looked.step / 2);
  const count = levelsOf(vertices, geometry, asCloud, options);
  const most = 2 ** Math.max(0, Math.ceil(Math.log2(widest)));
  return Array.from({ length: count }, (_, i) => {
    const chunkScale = Math.min(most, 2 ** Math.round((i + 1) * Math.log2(factor)));
    if (!asCloud) {
      const own = (first || 1) * factor ** i;
      // What it resolves, in bins of which a chunk has a whole number.
      const bin = chunkShape.map(
        (size) => (size * chunkScale) / Math.max(1, Math.ceil((size * chunkScale) / (2 * own))),
      );
      const step = geometry === "mesh" && i > 0 ? own * Math.sqrt(1 - factor ** -2) : own;
      return { error: own, step, bin, chunkScale, share: keep ** (i + 1) };
    }
    const bins = binsOf(chunkShape, looked.perChunk, error, factor ** i, chunkScale);
    const diagonal = Math.hypot(...bins);
    return { error: diagonal, step: diagonal, bin: bins, chunkScale, share: 1 };
  });
}

/** Bins of which a chunk of level 0 has a whole number, or which are a whole number of its chunks. */
function binsOf(
  chunkShape: readonly number[],
  perChunk: number,
  side: number | undefined,
  times: number,
  chunkScale: number,
): number[] {
  const along = Math.max(1, 2 ** Math.floor(Math.log2(Math.max(1, perChunk / 8)) / chunkShape.length));
  return chunkShape.map((size) => {
    const chunks = ((side ?? size / along) * times) / size;
    if (chunks <= 1) return size / Math.max(1, Math.round(1 / chunks));
    return size * Math.min(chunkScale, 2 ** Math.round(Math.log2(chunks)));
  });
}

/** The mean length of segments (of edges), and of how many vertices a chunk is. */
async function look(source: LevelSource, options: ReadOptions): Promise<{ step: number; perChunk: number }> {
  const { count } = await source.chunks(options);
  const every = Math.max(1, Math.floor(count / SAMPLED));
  const some = Array.from({ length: Math.min(count, SAMPLED) }, (_, i) => i * every);
  const { dims, linkWidth, sequential } = source;
  let [sum, segments, vertices] = [0, 0, 0];
  const tiles = new Map<number, ArrayLike<number>>();
  const step = (positions: ArrayLike<number>, a: number, b: number): void => {
    let square = 0;
    for (let axis = 0; axis < dims; axis++) square += (positions[a * dims + axis]! - positions[b * dims + axis]!) ** 2;
    if (!Number.isFinite(square)) return;
    sum += Math.sqrt(square);
    segments++;
  };
  const told = new Map<number, Set<number>>(some.map((chunk) => [chunk, new Set()])); // of which a link says what they follow
  if (sequential && linkWidth > 1)
    for await (const { width, count: links, chunks, vertices: ends } of source.links({ chunks: some }, [], options))
      for (let at = 0; at < links * width; at += width) told.get(chunks[at]!)?.add(ends[at]!);
  for await (const tile of source.tiles(some, { positions: true, vertex: [], fragment: [] }, options)) {
    vertices += tile.vertices;
    tiles.set(tile.chunk, tile.positions);
    if (!sequential) continue;
    for (let part = 0; part + 1 < tile.parts.length; part++)
      for (let v = tile.parts[part]! + 1; v < tile.parts[part + 1]!; v++)
        if (!told.get(tile.chunk)?.has(v)) step(tile.positions, v - 1, v);
  }
  if (linkWidth > 1)
    for await (const { width, count: links, chunks, vertices: ends } of source.links({ chunks: some }, [], options))
      for (let link = 0; link < links; link++) {
        const [a, b] = [link * width, link * width + 1];
        const positions = tiles.get(chunks[a]!);
        if (positions !== undefined && chunks[a] === chunks[b]) step(positions, ends[a]!, ends[b]!);
      }
  return { step: segments === 0 ? 1 : sum / segments, perChunk: vertices / Math.max(1, some.length) };
}
