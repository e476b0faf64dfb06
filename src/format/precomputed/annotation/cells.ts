/**
 * The cells of a grid that an annotation touches. Along an axis, cell c is from `lower + c × size` up to the next one; what lies
 * outside of the grid belongs to the cell at its edge. A point has one cell: the format's cells are closed, but a point on
 * a border would be drawn twice.
 */
import type { AnnotationInfo, AnnotationType, SpatialLevel } from "./info.js";

/** A regular grid. */
export interface CellGrid extends Pick<SpatialLevel, "gridShape" | "chunkSize"> {
  readonly lower: readonly number[];
}

/** Calls `visit` for each cell; the array is the same each time. `from` and `to` are points, not numbers. */
export function touchedCells(
  type: AnnotationType,
  points: Float32Array,
  from: number,
  to: number,
  grid: CellGrid,
  visit: (cell: readonly number[]) => void,
): void {
  const rank = grid.lower.length;
  const [min, max] = extent(type, points, from, to, rank);
  const first = min.map((value, axis) => cellOf(grid, axis, value));
  const last = max.map((value, axis) => cellOf(grid, axis, value));
  const one = first.every((index, axis) => index === last[axis]);
  const cell = [...first];
  for (;;) {
    if (one || type === "axis_aligned_bounding_box" || touches(type, points, from, to, grid, cell)) visit(cell);
    let axis = 0;
    while (axis < rank && ++cell[axis]! > last[axis]!) {
      cell[axis] = first[axis]!;
      axis++;
    }
    if (axis === rank) return;
  }
}

/** Whether `touchedCells` would visit this cell. */
export function touchesCell(
  type: AnnotationType,
  points: Float32Array,
  from: number,
  to: number,
  grid: CellGrid,
  cell: readonly number[],
): boolean {
  const [min, max] = extent(type, points, from, to, cell.length);
  let one = true;
  for (let axis = 0; axis < cell.length; axis++) {
    const [first, last] = [cellOf(grid, axis, min[axis]!), cellOf(grid, axis, max[axis]!)];
    if (cell[axis]! < first || cell[axis]! > last) return false;
    if (first !== last) one = false;
  }
  return one || type === "axis_aligned_bounding_box" || touches(type, points, from, to, grid, cell);
}

/** The corners of the space that an annotation takes. */
export function extent(
  type: AnnotationType,
  points: Float32Array,
  from: number,
  to: number,
  rank: number,
): [min: number[], max: number[]] {
  const min: number[] = new Array(rank);
  const max: number[] = new Array(rank);
  for (let axis = 0; axis < rank; axis++) {
    let [low, high] = [points[from * rank + axis]!, points[from * rank + axis]!];
    if (type === "ellipsoid") {
      const radius = Math.abs(points[(from + 1) * rank + axis]!);
      [low, high] = [low - radius, high + radius];
    } else
      for (let point = from + 1; point < to; point++) {
        const value = points[point * rank + axis]!;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    min[axis] = low;
    max[axis] = high;
  }
  return [min, max];
}

/** Division may round across a border; the border itself decides. */
function cellOf({ lower, chunkSize, gridShape }: CellGrid, axis: number, value: number): number {
  const [origin, size, count] = [lower[axis]!, chunkSize[axis]!, gridShape[axis]!];
  let index = Math.floor((value - origin) / size);
  if (!(index > 0)) return 0; // also NaN
  if (index >= count) return count - 1;
  if (value < origin + index * size) index--;
  else if (index + 1 < count && value >= origin + (index + 1) * size) index++;
  return index;
}

function touches(
  type: AnnotationType,
  points: Float32Array,
  from: number,
  to: number,
  grid: CellGrid,
  cell: readonly number[],
): boolean {
  if (type === "ellipsoid") return touchesEllipsoid(points, from, grid, cell);
  for (let point = from; point + 1 < to; point++) if (touchesSegment(points, point, grid, cell)) return true;
  return false;
}

/** Border cells reach out of the grid: what lies outside is theirs. */
const lowOf = ({ lower, chunkSize }: CellGrid, axis: number, index: number): number =>
  index === 0 ? Number.NEGATIVE_INFINITY : lower[axis]! + index * chunkSize[axis]!;
const highOf = ({ lower, chunkSize, gridShape }: CellGrid, axis: number, index: number): number =>
  index + 1 === gridShape[axis] ? Number.POSITIVE_INFINITY : lower[axis]! + (index + 1) * chunkSize[axis]!;

/** The distance of the nearest point of the cell from the centre, in radii. */
function touchesEllipsoid(points: Float32Array, from: number, grid: CellGrid, cell: readonly number[]): boolean {
  const rank = cell.length;
  let sum = 0;
  for (let axis = 0; axis < rank; axis++) {
    const centre = points[from * rank + axis]!;
    const gap = Math.max(lowOf(grid, axis, cell[axis]!) - centre, centre - highOf(grid, axis, cell[axis]!), 0);
    if (gap > 0) sum += (gap / points[(from + 1) * rank + axis]!) ** 2;
  }
  return sum <= 1;
}

/** What is left of the segment when it is cut by each pair of faces. */
function touchesSegment(points: Float32Array, point: number, grid: CellGrid, cell: readonly number[]): boolean {
  const rank = cell.length;
  let [near, far] = [0, 1];
  for (let axis = 0; axis < rank; axis++) {
    const start = points[point * rank + axis]!;
    const step = points[(point + 1) * rank + axis]! - start;
    const [low, high] = [lowOf(grid, axis, cell[axis]!), highOf(grid, axis, cell[axis]!)];
    if (step === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const [a, b] = [(low - start) / step, (high - start) / step];
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
  }
  return near <= far;
}

/** The space of a cell. Where the bounds of the info contradict each other, all of it. */
export function cellBox(
  info: Pick<AnnotationInfo, "lower" | "upper">,
  { gridShape, chunkSize }: SpatialLevel,
  cell: readonly number[],
): number[] {
  const grid = { lower: info.lower, gridShape, chunkSize };
  const sound = info.lower.every((low, axis) => low <= info.upper[axis]!);
  return [
    ...cell.map((index, axis) => (sound ? lowOf(grid, axis, index) : Number.NEGATIVE_INFINITY)),
    ...cell.map((index, axis) => (sound ? highOf(grid, axis, index) : Number.POSITIVE_INFINITY)),
  ];
}
