/**
 * A regular grid of chunks laid over a box. Chunk c covers `bounds.min + c × chunk` up to the next one along each axis;
 * the last ones may stick out of the bounds. Sizes may be fractions, for space, or whole numbers, for arrays.
 */
import { InvalidInput } from "../errors.js";
import { Box } from "./box.js";

export interface Grid {
  readonly bounds: Box;
  /** The size of one chunk along each axis. */
  readonly chunk: readonly number[];
  /** The number of chunks along each axis. */
  readonly shape: readonly number[];
}

/** A block of chunks: from `first` up to, not including, `end`. */
export interface ChunkRange {
  readonly first: readonly number[];
  readonly end: readonly number[];
}

export const Grid = {
  over(bounds: Box, chunk: readonly number[]): Grid {
    if (chunk.length !== bounds.min.length || !chunk.every((size) => size > 0 && Number.isFinite(size)))
      throw new InvalidInput(`chunks over ${bounds.min.length} axes need that many sizes above 0, found [${chunk}]`);
    const shape = chunk.map((size, axis) => Math.max(0, Math.ceil((bounds.max[axis]! - bounds.min[axis]!) / size)));
    if (!shape.every(Number.isSafeInteger))
      throw new InvalidInput(`chunks of [${chunk}] over [${bounds.min}] to [${bounds.max}] cannot be counted`);
    return { bounds, chunk, shape };
  },

  /** A bigint: 2^21 chunks on each of three axes are more than a number counts. */
  count(grid: Grid): bigint {
    return grid.shape.reduce((product, length) => product * BigInt(length), 1n);
  },

  /** The chunk of a point inside the bounds. */
  chunkOf(grid: Grid, point: readonly number[]): number[] {
    if (!Box.contains(grid.bounds, point))
      throw new InvalidInput(`the point [${point}] is outside the grid's [${grid.bounds.min}] to [${grid.bounds.max}]`);
    return point.map((value, axis) => cell(grid, value, axis));
  },

  /** The chunks that a box touches; undefined where it misses the bounds. */
  touched(grid: Grid, box: Box): ChunkRange | undefined {
    const inside = Box.intersect(grid.bounds, box);
    if (inside === undefined) return undefined;
    const first = inside.min.map((low, axis) => cell(grid, low, axis));
    const end = inside.max.map((high, axis) => {
      const last = cell(grid, high, axis);
      return high > grid.bounds.min[axis]! + last * grid.chunk[axis]! ? last + 1 : last; // half-open: on the border is before it
    });
    return { first, end };
  },

  /** Where a chunk lies, cut to the bounds. */
  box(grid: Grid, chunk: readonly number[]): Box {
    const edge = (index: number, axis: number): number => grid.bounds.min[axis]! + index * grid.chunk[axis]!;
    return {
      min: chunk.map((index, axis) => edge(index, axis)),
      max: chunk.map((index, axis) => Math.min(edge(index + 1, axis), grid.bounds.max[axis]!)),
    };
  },

  /** Each chunk of the range in C order. The same array is handed out each time: copy what is kept. */
  *walk({ first, end }: ChunkRange): Generator<readonly number[]> {
    if (first.some((index, axis) => index >= end[axis]!)) return;
    const at = [...first];
    for (;;) {
      yield at;
      let axis = at.length - 1;
      while (axis >= 0 && ++at[axis]! === end[axis]) {
        at[axis] = first[axis]!;
        axis--;
      }
      if (axis < 0) return;
    }
  },
};

/** Division may round across a border; the border itself, as `box` computes it, decides. */
function cell(grid: Grid, value: number, axis: number): number {
  const [origin, size] = [grid.bounds.min[axis]!, grid.chunk[axis]!];
  const index = Math.min(grid.shape[axis]! - 1, Math.max(0, Math.floor((value - origin) / size)));
  if (index > 0 && value < origin + index * size) return index - 1;
  return index + 1 < grid.shape[axis]! && value >= origin + (index + 1) * size ? index + 1 : index;
}
