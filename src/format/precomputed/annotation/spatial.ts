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
import { extent, touchedCells } from "./cells.js";
import type { Grouped } from "./grouped.js";
import type { AnnotationInfo } from "./info.js";
import { pointsPer } from "./layout.js";

/** One level: the rows in each cell, by the cell's number (the first axis runs fastest). */
export interface LevelCells {
  readonly gridShape: readonly number[];
  readonly chunkSize: readonly number[];
  readonly limit: number;
  readonly annotations: number;
  readonly cells: Grouped;
}

const MAX_LEVELS = 24;
const MAX_CELLS = 2 ** 48; // so that a cell has a number

type Space = Pick<AnnotationInfo, "type" | "dimensions" | "lower" | "upper">;

/**
 * Level after level, of annotations in their random order (gathered.ts); `limit` is that of a cell, `group` makes what gathers the
 * cells of a level. What is in memory are the numbers of annotations in the cells of a level.
 */
export async function* spatialLevels(
  space: Space,
  byOrder: Grouped,
  limit: number,
  group: () => Grouped,
): AsyncGenerator<LevelCells> {
  const { type, dimensions, lower, upper } = space;
  const size = lower.map((low, axis) => upper[axis]! - low);
  const rows = largeFirst(space, byOrder);
  let next = await rows.next();
  let gridShape = lower.map(() => 1);
  for (let level = 0; !next.done || level === 0; level++, gridShape = finer(gridShape, size, dimensions)) {
    const chunkSize = size.map((own, axis) => own / gridShape[axis]!);
    const last = level === MAX_LEVELS - 1 || cellCount(finer(gridShape, size, dimensions)) > MAX_CELLS;
    const grid = { lower, gridShape, chunkSize };
    const [cells, counts] = [group(), new Map<number, number>()];
    const touched: number[] = [];
    let [most, annotations] = [0, 0];
    for (; !next.done; next = await rows.next(), annotations++) {
      const { row, points, count } = next.value;
      touched.length = 0;
      touchedCells(type, points, 0, count, grid, (cell) => touched.push(cellNumber(cell, gridShape)));
      if (!last && touched.some((cell) => (counts.get(cell) ?? 0) >= limit)) break;
      for (const cell of touched) {
        const there = 1 + (counts.get(cell) ?? 0);
        counts.set(cell, there);
        most = Math.max(most, there);
        await cells.add(cell >>> 0, Math.floor(cell / 2 ** 32), row);
      }
    }
    yield { gridShape, chunkSize, limit: Math.max(limit, most), annotations, cells };
  }
}

/** The number of a cell by the words of its key. */
export const cellOfKey = ({ low, high }: { readonly low: number; readonly high: number }): number =>
  high * 2 ** 32 + low;

interface Row {
  /** As it was gathered. */
  readonly row: Uint8Array;
  /** Its points, `count` of them; the next row's take their place. */
  readonly points: Float32Array;
  readonly count: number;
}

/** All rows in their random order, those that span much before all others. */
async function* largeFirst({ type, dimensions, lower, upper }: Space, byOrder: Grouped): AsyncGenerator<Row> {
  const rank = dimensions.length;
  const fixed = pointsPer(type);
  let points = new Float32Array(rank * (fixed ?? 64));
  const isLarge = (count: number): boolean => {
    const [min, max] = extent(type, points, 0, count, rank);
    return min.some((low, axis) => 8 * (max[axis]! - low) > upper[axis]! - lower[axis]!);
  };
  for (const large of type === "point" ? [false] : [true, false])
    for await (const { rows } of byOrder.groups())
      for (const row of rows) {
        const start = 8 + (fixed === undefined ? 4 : 0);
        const count = fixed ?? new DataView(row.buffer, row.byteOffset + 8).getUint32(0, true);
        if (count * rank > points.length) points = new Float32Array(2 * count * rank);
        new Uint8Array(points.buffer).set(row.subarray(start, start + 4 * rank * count));
        if (isLarge(count) === large) yield { row, points, count };
      }
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
export function finer(
  gridShape: readonly number[],
  size: readonly number[],
  dimensions: AnnotationInfo["dimensions"],
): number[] {
  const lengths = gridShape.map((count, axis) => (size[axis]! / count) * dimensions[axis]!.scale);
  const longest = Math.max(...lengths);
  return gridShape.map((count, axis) => (lengths[axis]! * Math.SQRT2 > longest ? 2 * count : count));
}
