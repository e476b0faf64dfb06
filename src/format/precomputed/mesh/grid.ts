/**
 * The grid of a mesh of several resolutions. A cell of a lod has 2^bits − 1 steps on each axis, its two sides included, and the
 * last step of a cell is the first of the next: so a vertex of a lod is three whole numbers, counted from the origin of the grid,
 * and the cells that touch it agree about it.
 *
 * The origin and the cells of lod 0 are float32 in the manifest. They are rounded so that no vertex falls outside.
 */
import { InvalidInput } from "../../../errors.js";
import type { Mesh } from "./legacy.js";
import { CELL_BITS } from "./zcurve.js";

export interface Grid {
  /** Of a cell of lod 0. */
  readonly chunkShape: readonly number[];
  readonly gridOrigin: readonly number[];
  /** Cells of lod 0 on each axis. */
  readonly cells: readonly number[];
}

const SMALLEST = 2 ** -126; // below it float32 loses digits, and graphics cards take it for 0

export interface Extent {
  readonly min: readonly number[];
  readonly max: readonly number[];
}

export function extentOf(positions: Mesh["positions"]): Extent {
  const min = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const max = min.map((value) => -value);
  for (let axis = 0; axis < 3; axis++)
    for (let i = axis; i < positions.length; i += 3) {
      const value = positions[i]!;
      if (value < min[axis]!) min[axis] = value;
      if (value > max[axis]!) max[axis] = value;
    }
  return { min, max };
}

/**
 * Around this extent: cells of the shape that is given, else such that there would be one at the coarsest of so many levels. `units` is what a step
 * of one on each axis is in nanometres; cells are as long as wide as high in these.
 */
export function gridAround(
  { min, max }: Extent,
  levels: number,
  units: readonly number[],
  chunkShape?: readonly number[],
): Grid {
  const gridOrigin = min.map(floor32);
  const sizes = max.map((value, axis) => value - gridOrigin[axis]!);
  const edge = Math.max(...sizes.map((size, axis) => size * units[axis]!)) / 2 ** (levels - 1);
  const shape = chunkShape?.map(Math.fround) ?? units.map((unit) => Math.max(SMALLEST, -floor32(-edge / unit)));
  const cells = sizes.map((size, axis) => Math.max(1, Math.ceil(size / shape[axis]!)));
  if (cells.some((count) => !(count <= 2 ** CELL_BITS)))
    throw new InvalidInput(
      `a mesh should have at most ${2 ** CELL_BITS} cells on each axis, found [${cells}] of [${shape}]`,
    );
  return { chunkShape: shape, gridOrigin, cells };
}

/** The largest float32 that is not above, or the one below that. */
function floor32(value: number): number {
  const near = Math.fround(value);
  return near <= value ? near : Math.fround(value - Math.abs(value) * 2 ** -23 - 2 ** -149);
}

/** How far a vertex of lod 0 is at most along an axis from where it was; of more vertices there are only the steps. */
export function moved(positions: Mesh["positions"], steps: Int32Array, grid: Grid, bits: number): number {
  let furthest = 0;
  for (let axis = 0; axis < 3; axis++) {
    const origin = grid.gridOrigin[axis]!;
    const step = grid.chunkShape[axis]! / (2 ** bits - 1);
    for (let i = axis; i < positions.length; i += 3)
      furthest = Math.max(furthest, Math.abs(origin + step * steps[i]! - positions[i]!));
  }
  return furthest;
}

/** The vertices as steps of the grid of a lod. */
export function quantize(positions: Mesh["positions"], grid: Grid, lod: number, bits: number): Int32Array {
  const steps = 2 ** bits - 1;
  const out = new Int32Array(positions.length);
  for (let axis = 0; axis < 3; axis++) {
    const origin = grid.gridOrigin[axis]!;
    const size = grid.chunkShape[axis]! * 2 ** lod;
    const last = (grid.cells[axis]! / 2 ** lod) * steps;
    for (let i = axis; i < positions.length; i += 3) {
      const step = Math.round(((positions[i]! - origin) / size) * steps);
      out[i] = step <= last ? step : Math.floor(last); // where rounding went beyond
    }
  }
  return out;
}
