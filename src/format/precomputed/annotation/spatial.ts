/**
 * The spatial index of a new collection: which annotations are in which cell of which level.
 *
 * The format asks for levels from one cell to many, each a uniform random sample of what the levels before it have left, so
 * that a client reads as much as it wants to draw. Here annotations are brought into a random order once, by a hash of their
 * ids; a level takes them in that order until one would be the `limit + 1`-th of a cell, and the next level goes on from there.
 * So each level is a random sample of the same density everywhere, no cell has more than `limit`, and each annotation is in one
 * level, there in every cell that it touches. In a cell they keep the random order, of which a client may draw the beginning.
 *
 * Annotations that span more than an eighth of everything come first: in a fine level they would be in thousands of cells.
 */
import { murmur3OfWords } from "../../../bytes/hash/murmur3.js";
import { radixOrder } from "../../../bytes/radix.js";
import { wordsOf } from "../sharded/place.js";
import { extent, touchedCells } from "./cells.js";
import type { AnnotationInfo } from "./info.js";
import type { Annotations } from "./list.js";

/** One level: the rows in each cell, by the cell's number (the first axis runs fastest). */
export interface LevelCells {
  readonly gridShape: readonly number[];
  readonly chunkSize: readonly number[];
  readonly limit: number;
  readonly cells: ReadonlyMap<number, readonly number[]>;
}

export interface SamplingOptions {
  /** At most so many annotations in a cell. */
  readonly limit: number;
  /** Another seed is another random order. */
  readonly seed: number;
}

const MAX_LEVELS = 24;
const MAX_CELLS = 2 ** 48; // so that a cell has a number

export function spatialLevels(
  info: Pick<AnnotationInfo, "type" | "dimensions" | "lower" | "upper">,
  annotations: Pick<Annotations, "ids" | "points" | "offsets">,
  { limit, seed }: SamplingOptions,
): LevelCells[] {
  const { type, dimensions, lower, upper } = info;
  const { points, offsets } = annotations;
  const order = randomOrder(info, annotations, seed);
  const size = lower.map((low, axis) => upper[axis]! - low);
  const levels: LevelCells[] = [];
  let gridShape = lower.map(() => 1);
  for (let next = 0; next < order.length || levels.length === 0; gridShape = finer(gridShape, size, dimensions)) {
    const chunkSize = size.map((own, axis) => own / gridShape[axis]!);
    const last = levels.length === MAX_LEVELS - 1 || cellCount(finer(gridShape, size, dimensions)) > MAX_CELLS;
    const grid = { lower, gridShape, chunkSize };
    const cells = new Map<number, number[]>();
    const touched: number[] = [];
    let most = 0;
    for (; next < order.length; next++) {
      const row = order[next]!;
      touched.length = 0;
      touchedCells(type, points, offsets[row]!, offsets[row + 1]!, grid, (cell) =>
        touched.push(cellNumber(cell, gridShape)),
      );
      if (!last && touched.some((cell) => (cells.get(cell)?.length ?? 0) >= limit)) break;
      for (const cell of touched) {
        const rows = cells.get(cell);
        if (rows === undefined) cells.set(cell, [row]);
        else rows.push(row);
        most = Math.max(most, cells.get(cell)!.length);
      }
    }
    levels.push({ gridShape, chunkSize, limit: Math.max(limit, most), cells });
  }
  return levels;
}

/** The coordinates of a numbered cell. */
export function cellAt(number: number, gridShape: readonly number[]): number[] {
  let rest = number;
  return gridShape.map((count) => {
    const index = rest % count;
    rest = (rest - index) / count;
    return index;
  });
}

function cellNumber(cell: readonly number[], gridShape: readonly number[]): number {
  let number = 0;
  for (let axis = cell.length - 1; axis >= 0; axis--) number = number * gridShape[axis]! + cell[axis]!;
  return number;
}

const cellCount = (gridShape: readonly number[]): number => gridShape.reduce((product, count) => product * count, 1);

/** Halves the cells along the axes that are longest in space, so that they become cubes and stay so. */
function finer(
  gridShape: readonly number[],
  size: readonly number[],
  dimensions: AnnotationInfo["dimensions"],
): number[] {
  const lengths = gridShape.map((count, axis) => (size[axis]! / count) * dimensions[axis]!.scale);
  const longest = Math.max(...lengths);
  return gridShape.map((count, axis) => (lengths[axis]! * Math.SQRT2 > longest ? 2 * count : count));
}

function randomOrder(
  { type, lower, upper }: Pick<AnnotationInfo, "type" | "lower" | "upper">,
  { ids, points, offsets }: Pick<Annotations, "ids" | "points" | "offsets">,
  seed: number,
): Uint32Array {
  const count = ids.length;
  const words = wordsOf(ids);
  const [first, second, small] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)];
  const hash = new Uint32Array(2);
  for (let row = 0; row < count; row++) {
    murmur3OfWords((words[2 * row]! ^ seed) >>> 0, words[2 * row + 1]!, hash);
    first[row] = hash[0]!;
    second[row] = hash[1]!;
    const [min, max] = extent(type, points, offsets[row]!, offsets[row + 1]!, lower.length);
    small[row] = min.some((low, axis) => 8 * (max[axis]! - low) > upper[axis]! - lower[axis]!) ? 0 : 1;
  }
  return radixOrder([second, first, small], count);
}
