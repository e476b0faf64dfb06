/**
 * The levels of a spatial index that nobody has built: which annotations are in which level is a question of a random number that each
 * has, the same always. A level holds those whose number lies in its band, so that a cell can be made without the others.
 *
 *     level   0          1               2
 *     grid    1 cell     8 cells         64 cells …          each band as wide as the fullest cell of its grid allows
 *     band    [0, a)     [a, b)          [b, 1)
 *
 * How full cells are is estimated from the chunks of the data and how many vertices each has, which indexes tell.
 */

import type { AnnotationInfo } from "../../format/precomputed/annotation/info.js";
import { finer } from "../../format/precomputed/annotation/spatial.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource } from "../../model/source.js";

/** Annotations in a cell, about: what a client draws of an overview, and reads as one value of 100 to 200 kB. */
export const LIMIT = 4096;
const MAX_LEVELS = 12;
const ALL = 2 ** 32;
const ROOM = 0.75; // of a cell: the rest is for chance, and for what is denser than its chunk

/** A level of the index: its grid, and the random numbers of what is in it. */
export interface Band {
  readonly gridShape: readonly number[];
  readonly chunkSize: readonly number[];
  readonly from: number;
  readonly to: number;
}

type Space = Pick<AnnotationInfo, "dimensions" | "lower" | "upper">;

/** How many vertices lie where. */
export interface Density {
  readonly count: number;
  /** For each chunk its lower corner and its upper corner. */
  readonly boxes: Float64Array;
  readonly vertices: ArrayLike<number>;
}

/** Where the vertices of a level are, as its indexes say. */
export async function densityOf(level: LevelSource, reading: ReadOptions): Promise<Density> {
  const table = await level.chunks(reading);
  const { dims } = level;
  const boxes = new Float64Array(2 * dims * table.count);
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  for (const chunk of all) {
    const at = 2 * dims * chunk;
    table.box(chunk, boxes.subarray(at, at + dims), boxes.subarray(at + dims, at + 2 * dims));
  }
  return { count: table.count, boxes, vertices: await level.counts(all, reading) };
}

/** The levels for so many annotations, of which each vertex is about `share`. */
export function bandsOf(space: Space, density: Density, share: number, limit: number): Band[] {
  const size = space.lower.map((low, axis) => space.upper[axis]! - low);
  const bands: Band[] = [];
  let gridShape = space.lower.map(() => 1);
  for (let from = 0; from < ALL; gridShape = finer(gridShape, size, space.dimensions)) {
    const chunkSize = size.map((own, axis) => own / gridShape[axis]!);
    const fullest = Math.max(1, share * fullestCell(space.lower, gridShape, chunkSize, density));
    const isLast = bands.length === MAX_LEVELS - 1;
    const to = isLast ? ALL : Math.min(ALL, from + Math.ceil((ALL * ROOM * limit) / fullest));
    bands.push({ gridShape, chunkSize, from, to });
    from = to;
  }
  return bands;
}

/** The most vertices that a cell has, about: small chunks are in the cell of their middle, of large ones a cell has its share. */
function fullestCell(
  lower: readonly number[],
  gridShape: readonly number[],
  chunkSize: readonly number[],
  { count, boxes, vertices }: Density,
): number {
  const rank = lower.length;
  const cells = new Map<number, number>();
  let most = 0;
  for (let chunk = 0; chunk < count; chunk++) {
    let [part, cell] = [vertices[chunk]!, 0];
    for (let axis = rank - 1; axis >= 0; axis--) {
      const low = Math.max(boxes[2 * rank * chunk + axis]!, lower[axis]!);
      const high = Math.min(boxes[2 * rank * chunk + rank + axis]!, lower[axis]! + gridShape[axis]! * chunkSize[axis]!);
      part *= Math.min(1, chunkSize[axis]! / Math.max(high - low, Number.MIN_VALUE));
      const index = Math.floor(((low + high) / 2 - lower[axis]!) / chunkSize[axis]!);
      cell = cell * gridShape[axis]! + Math.min(gridShape[axis]! - 1, Math.max(0, index));
    }
    const sum = (cells.get(cell) ?? 0) + part;
    cells.set(cell, sum);
    if (sum > most) most = sum;
  }
  return most;
}
