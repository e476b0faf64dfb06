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

/** `shape` has one size per axis of space; coordinates before those of space have no extent. */
export function chunkTable(
  { count, rank, coords }: Directory,
  shape: readonly number[],
  shift: readonly number[] | undefined,
  { relative, ofChunk }: Rounding = { relative: 2 ** -50, ofChunk: 0 },
): ChunkTable {
  const dims = shape.length;
  const lead = rank - dims;
  return {
    count,
    rank,
    coords,
    find: inGrid({ count, rank, coords }) ?? ((wanted, at) => Directory.find({ count, rank, coords }, wanted, at)),
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
function inGrid({ count, rank, coords }: Directory): ChunkTable["find"] | undefined {
  const low = new Int32Array(rank).fill(2 ** 31 - 1);
  const high = new Int32Array(rank).fill(-(2 ** 31));
  for (let i = 0; i < count * rank; i++) {
    low[i % rank] = Math.min(low[i % rank]!, coords[i]!);
    high[i % rank] = Math.max(high[i % rank]!, coords[i]!);
  }
  const place = (wanted: ArrayLike<number>, at: number): number => {
    let cell = 0;
    for (let axis = 0; axis < rank; axis++) {
      const own = wanted[at + axis]!;
      if (own < low[axis]! || own > high[axis]!) return -1;
      cell = cell * (high[axis]! - low[axis]! + 1) + own - low[axis]!;
    }
    return cell;
  };
  const cells = count === 0 ? 0 : place(high, 0) + 1;
  if (cells > 16 * count + 4096) return undefined;
  const table = new Int32Array(cells).fill(-1);
  for (let chunk = 0; chunk < count; chunk++) table[place(coords, chunk * rank)] = chunk;
  return (wanted, at = 0) => {
    const cell = place(wanted, at);
    return cell < 0 ? -1 : table[cell]!;
  };
}
