/**
 * The chunks of a level that hold anything: coordinates in ascending numeric order, found by their place in the grid around them
 * all, or by bisection where that would be mostly empty: every block of every manifest is looked up.
 *
 * A vertex is in chunk floor(position / chunk shape), a division in float64 that may round up to the border; and what was put
 * into a chunk by a mean in float64 is stored as float32, or quantized by Draco. The space of a chunk is therefore taken wider
 * than its coordinates say, by as much as its vertices may have been rounded: it may be looked at once too often, never once
 * too few.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { ChunkTable } from "../../../model/source.js";
import { Directory } from "../nodes/nodes-directory.js";

/** By how much positions may have been rounded after a chunk was chosen for them. */
export interface Rounding {
  /** Of the position. */
  readonly relative: number;
  /** Of the size of a chunk. */
  readonly ofChunk: number;
}

/** What the document of the vertices says of it. */
export function roundingOf({ dtype, encoding }: JsonObject): Rounding {
  if (encoding === "draco") return { relative: 2 ** -22, ofChunk: 2 ** -9 }; // 11 bits, of what may lie in several chunks
  return { relative: dtype === "float64" ? 2 ** -50 : dtype === "float16" ? 2 ** -9 : 2 ** -22, ofChunk: 0 };
}

/** A table that may be looked up in its grid. */
export interface GridTable extends ChunkTable {
  /** For each axis the lowest coordinate and how many there are, then the chunk of each cell, −1 for none; undefined where there would be too many. */
  readonly grid: Int32Array | undefined;
}

/** `shape` has one size per axis of space; coordinates before those of space have no extent. */
export function chunkTable(
  { count, rank, coords }: Directory,
  shape: readonly number[],
  shift: readonly number[] | undefined,
  { relative, ofChunk }: Rounding = { relative: 2 ** -50, ofChunk: 0 },
): GridTable {
  const dims = shape.length;
  const lead = rank - dims;
  const grid = gridOf({ count, rank, coords });
  return {
    count,
    rank,
    coords,
    grid,
    find:
      grid === undefined
        ? (wanted, at) => Directory.find({ count, rank, coords }, wanted, at)
        : (wanted, at = 0) => {
            const cell = cellOf(grid, rank, wanted, at);
            return cell < 0 ? -1 : grid[2 * rank + cell]!;
          },
    box(chunk, min, max) {
      for (let axis = 0; axis < dims; axis++) {
        const index = coords[chunk * rank + lead + axis]!;
        const low = index * shape[axis]!;
        const high = (index + 1) * shape[axis]!;
        const wider = Math.max(Math.abs(low), Math.abs(high)) * relative + ofChunk * shape[axis]!;
        const moved = shift?.[axis] ?? 0;
        min[axis] = low - wider + moved;
        max[axis] = high + wider + moved;
      }
    },
  };
}

/** undefined: the grid around all chunks has too many empty places. */
function gridOf({ count, rank, coords }: Directory): Int32Array | undefined {
  const low = new Int32Array(rank).fill(2 ** 31 - 1);
  const high = new Int32Array(rank).fill(-(2 ** 31));
  for (let chunk = 0, i = 0; chunk < count; chunk++) {
    for (let axis = 0; axis < rank; axis++, i++) {
      if (coords[i]! < low[axis]!) low[axis] = coords[i]!;
      if (coords[i]! > high[axis]!) high[axis] = coords[i]!;
    }
  }
  let cells = count === 0 ? 0 : 1;
  for (let axis = 0; count > 0 && axis < rank; axis++) cells *= high[axis]! - low[axis]! + 1;
  if (cells > 16 * count + 4096) return undefined;
  const grid = new Int32Array(2 * rank + cells).fill(-1);
  for (let axis = 0; axis < rank; axis++) {
    grid[2 * axis] = count === 0 ? 0 : low[axis]!;
    grid[2 * axis + 1] = count === 0 ? 0 : high[axis]! - low[axis]! + 1;
  }
  for (let chunk = 0; chunk < count; chunk++) grid[2 * rank + cellOf(grid, rank, coords, chunk * rank)] = chunk;
  return grid;
}

/** The cell of these coordinates, or −1. */
function cellOf(grid: Int32Array, rank: number, wanted: ArrayLike<number>, at: number): number {
  let cell = 0;
  for (let axis = 0; axis < rank; axis++) {
    const own = wanted[at + axis]! - grid[2 * axis]!;
    if (own < 0 || own >= grid[2 * axis + 1]!) return -1;
    cell = cell * grid[2 * axis + 1]! + own;
  }
  return cell;
}
