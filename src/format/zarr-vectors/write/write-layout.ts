/**
 * What is known when everything has come: the grid, the order of chunks, and where fragments are not runs of paths, those of each
 * chunk and the first row of each.
 */

import { InvalidInput } from "../../../errors.js";
import { compare } from "../nodes/nodes-directory.js";
import type { Plan } from "./description.js";
import type { Grid } from "./write-arrays.js";
import { AGAIN, type Fragments } from "./write-cut.js";

export interface Layout {
  readonly grid: Grid;
  readonly chunkCount: number;
  /** The place of each chunk in the numeric order of coordinates. */
  readonly rank: Uint32Array;
  /** Chunk c has the fragments list[offsets[c]] up to list[offsets[c + 1]], in their order in the chunk. */
  readonly offsets: Uint32Array;
  readonly list: Uint32Array;
  /** By fragment. Shared fragments get that of the one that is stored. */
  readonly first: Uint32Array;
  /** Of chunks of paths whose fragments came to be shared: where each row that came is stored. */
  readonly moved: Map<number, Uint32Array>;
}

/** The row of an end of a link in its chunk, of what is put aside of it: its fragment and the place in it, or of paths the chunk and the row. */
export const rowIn =
  (path: boolean, { first, moved }: Layout) =>
  (fragment: number, ordinal: number): number =>
    path ? (moved.get(fragment)?.[ordinal] ?? ordinal) : first[fragment]! + ordinal;

/** Numbers (or all below one) in ascending order of their keys, which are below `end`; equal ones keep their order. */
export function orderBy(
  numbers: Uint32Array | number,
  keys: Uint32Array,
  end: number,
): { readonly sorted: Uint32Array; readonly offsets: Uint32Array } {
  const [list, count] = typeof numbers === "number" ? [undefined, numbers] : [numbers, numbers.length];
  const offsets = new Uint32Array(end + 1);
  let ascend = true;
  for (let i = 0, last = 0; i < count; i++) {
    const key = keys[list === undefined ? i : list[i]!]!;
    offsets[key + 1]!++;
    if (key < last) ascend = false;
    last = key;
  }
  for (let k = 0; k < end; k++) offsets[k + 1]! += offsets[k]!;
  if (ascend) return { sorted: list ?? upTo(count), offsets };
  const next = offsets.slice();
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const number = list === undefined ? i : list[i]!;
    sorted[next[keys[number]!]!++] = number;
  }
  return { sorted, offsets };
}

export const upTo = (count: number): Uint32Array => {
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) out[i] = i;
  return out;
};

/** `rowOf` the row of each object's number; undefined where fragments keep the order in which they came. */
export function layoutOf(
  grid: Grid,
  chunkCount: number,
  { chunk, owner, size }: Fragments,
  rowOf: Uint32Array | undefined,
): Layout {
  const { coords, dims } = grid;
  const count = chunk.length;
  const arrived = owner.done().includes(AGAIN) ? upTo(count).filter((f) => owner.values[f] !== AGAIN) : count;
  const byOwner = rowOf === undefined ? arrived : orderBy(arrived, ranksOf(owner.done(), rowOf), rowRoom(rowOf)).sorted;
  const { sorted: list, offsets } = orderBy(byOwner, chunk.values, chunkCount);
  const first = new Uint32Array(count);
  for (let c = 0; c < chunkCount; c++) {
    let row = 0;
    for (let i = offsets[c]!; i < offsets[c + 1]!; i++) {
      const f = list[i]!;
      first[f] = row;
      row += size.values[f]!;
    }
  }
  const order = upTo(chunkCount).sort((a, b) => compare(coords, a * dims, coords, b * dims, dims));
  const rank = new Uint32Array(chunkCount);
  for (let place = 0; place < chunkCount; place++) rank[order[place]!] = place;
  return { grid, chunkCount, rank, offsets, list, first, moved: new Map() };
}

/** What belongs to nobody comes first. */
function ranksOf(owners: Uint32Array, rowOf: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(owners.length);
  for (let f = 0; f < owners.length; f++)
    if (owners[f] !== AGAIN && owners[f] !== 0) ranks[f] = rowOf[owners[f]! - 1]! + 1;
  return ranks;
}

function rowRoom(rowOf: Uint32Array): number {
  let last = 0;
  for (let i = 0; i < rowOf.length; i++) if (rowOf[i]! > last) last = rowOf[i]!;
  return last + 2;
}

export const SMALL = 64 << 20; // bytes of memory below which only one unit is under way
const MANY = 256; // chunks that are put together at a time
const TOGETHER = 4 << 20; // and their bytes

/** Chunks that are written together, by ascending number: all of a shard, or some that probably lie together. */
export function unitsOf(grid: Grid, chunks: ArrayLike<number>, bytesOf: (i: number) => number, memory = 16 * TOGETHER) {
  const { shard } = grid;
  const most = Math.min(TOGETHER, memory / 16);
  const units: number[][] = [];
  if (shard !== undefined) {
    const shards = new Map<string, number[]>();
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i]!;
      const place = shardAt(grid, chunk, shard).join();
      const own = shards.get(place);
      if (own === undefined) shards.set(place, [i]);
      else own.push(i);
    }
    return [...shards.values()];
  }
  let bytes = 0;
  for (let i = 0; i < chunks.length; i++) {
    if (i === 0 || bytes + bytesOf(i) > most || units.at(-1)!.length === MANY) {
      units.push([]);
      bytes = 0;
    }
    units.at(-1)!.push(i);
    bytes += bytesOf(i);
  }
  return units;
}

const FEW = 250; // keys up to which every cell has its own: an edit then writes no more than what it changes
const FILES = 50_000; // keys beyond which nobody wants to copy or list a store
const SHARD = 2 << 20; // bytes that are kept together, before they are compressed
const CELLS = 4096; // of a shard, at most

/**
 * As asked for. By default none where the level has few keys; else shards of about 2 MiB, and larger ones where that leaves
 * too many keys. `cellBytes` is what a cell of the largest array has on average.
 */
export function shardFor(
  sharding: Plan["sharding"] = "auto",
  shape: readonly number[],
  keys: number,
  cellBytes: number,
): readonly number[] | undefined {
  if (sharding === "none" || (sharding === "auto" && keys <= FEW)) return undefined;
  if (sharding === "auto") {
    const shard = shape.map(() => 1);
    const cells = (): number => cellsOf(shard);
    for (let axis = 0; 2 * cells() <= CELLS; axis = (axis + 1) % shape.length) {
      if (2 * cells() * cellBytes > SHARD && keys / cells() <= FILES / 2) break;
      if (shard.every((size, a) => size === shape[a])) break; // everything in one
      shard[axis] = Math.min(2 * shard[axis]!, shape[axis]!);
    }
    return cells() === 1 ? undefined : shard;
  }
  const shard = typeof sharding === "number" ? shape.map(() => sharding) : sharding;
  if (shard.length !== shape.length || !shard.every((n) => Number.isInteger(n) && n >= 1))
    throw new InvalidInput(`a shard should have ${shape.length} whole numbers of cells, found [${shard}]`);
  return shard;
}

/**
 * Shards of an array with smaller cells: with several of the grid's in each, so that there are fewer keys; of half the bytes, because those
 * that are not complete are held. Such shards are made by the same doubling, so that each has whole ones of the grid.
 */
export function widerShard({ shape, shard }: Grid, sharding: Plan["sharding"], cellBytes: number): Grid["shard"] {
  if (shard === undefined || (sharding ?? "auto") !== "auto") return shard;
  const wide = shardFor("auto", shape, FEW + 1, 2 * cellBytes);
  return wide !== undefined && cellsOf(wide) > cellsOf(shard) ? wide : shard;
}

const cellsOf = (shard: readonly number[]): number => shard.reduce((product, n) => product * n, 1);

/** The place of a chunk's shard. */
export const shardAt = ({ dims, coords, origin }: Grid, chunk: number, shard: readonly number[]): number[] =>
  shard.map((size, axis) => Math.floor((coords[chunk * dims + axis]! - origin[axis]!) / size));

/** Units one after the other that lie in the same of these shards, of which the larger ones have whole smaller ones. */
export function together(grid: Grid, units: readonly number[][], shards: readonly Grid["shard"][]): number[][] {
  const wide = shards.flatMap((shard) => (shard === undefined || shard === grid.shard ? [] : [shard]));
  const shapes = wide.sort((a, b) => cellsOf(b) - cellsOf(a));
  const placed = units.map((unit) => ({ unit, place: shapes.flatMap((shard) => shardAt(grid, unit[0]!, shard)) }));
  const differs = (a: readonly number[], b: readonly number[]): number => {
    const i = a.findIndex((own, k) => own !== b[k]);
    return i < 0 ? 0 : a[i]! - b[i]!;
  };
  return placed.sort((a, b) => differs(a.place, b.place)).map(({ unit }) => unit);
}
