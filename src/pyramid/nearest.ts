/**
 * Which of some places is nearest to each of others, the first of several. Places lie in a grid of at most 64 cells along an axis, and
 * cells are looked at in rings around that of the place at hand, until no further ring can have a nearer one.
 */
import type { Positions } from "../model/vectors.js";

const FEW = 32; // places that are compared one by one

/** The rows of some positions from one on up to another. */
export interface Run {
  readonly positions: Positions;
  readonly from: number;
  readonly to: number;
}

/** For each of `fine` the number of the nearest of `coarse`, counted from its first. */
export function nearestOf(fine: Run, coarse: Run, dims: number): Uint32Array {
  const out = new Uint32Array(fine.to - fine.from);
  const count = coarse.to - coarse.from;
  const grid = count > FEW ? gridOf(coarse, Math.min(3, dims), dims) : undefined;
  for (let i = 0; i < out.length; i++) {
    const at = (fine.from + i) * dims;
    out[i] = grid === undefined ? firstOf(fine.positions, at, coarse, dims) : grid(fine.positions, at);
  }
  return out;
}

function away(a: Positions, i: number, b: Positions, j: number, dims: number): number {
  let sum = 0;
  for (let axis = 0; axis < dims; axis++) {
    const side = a[i + axis]! - b[j + axis]!;
    sum += side * side;
  }
  return sum;
}

function firstOf(positions: Positions, at: number, { positions: others, from, to }: Run, dims: number): number {
  let [best, least] = [0, Infinity];
  for (let row = from; row < to; row++) {
    const far = away(positions, at, others, row * dims, dims);
    if (far < least) [best, least] = [row - from, far];
  }
  return best;
}

/** Cells over the first axes: those of cell c are list[first[c]] up to list[first[c + 1]]. */
function gridOf(coarse: Run, axes: number, dims: number): (positions: Positions, at: number) => number {
  const { positions: own, from, to } = coarse;
  const low = new Float64Array(3).fill(Infinity);
  const high = new Float64Array(3).fill(-Infinity);
  for (let row = from; row < to; row++)
    for (let axis = 0; axis < axes; axis++) {
      const value = own[row * dims + axis]!;
      if (value < low[axis]!) low[axis] = value;
      if (value > high[axis]!) high[axis] = value;
    }
  const extent = Math.max(...Array.from({ length: axes }, (_, axis) => high[axis]! - low[axis]!));
  const side = extent / Math.min(64, Math.ceil(Math.sqrt(to - from) / 2));
  if (!(side > 0 && side < Infinity)) return (positions, at) => firstOf(positions, at, coarse, dims);
  const size = [0, 1, 2].map((axis) => (axis < axes ? 1 + Math.floor((high[axis]! - low[axis]!) / side) : 1));
  const cell = (positions: Positions, at: number, axis: number): number =>
    axis < axes
      ? Math.min(size[axis]! - 1, Math.max(0, Math.floor((positions[at + axis]! - low[axis]!) / side) || 0))
      : 0;
  const number = (x: number, y: number, z: number): number => (x * size[1]! + y) * size[2]! + z;
  const first = new Uint32Array(number(size[0]!, 0, 0) + 1);
  const cells = new Uint32Array(to - from);
  for (let i = 0; i < cells.length; i++) {
    const at = (from + i) * dims;
    cells[i] = number(cell(own, at, 0), cell(own, at, 1), cell(own, at, 2));
    first[cells[i]! + 1]!++;
  }
  for (let c = 0; c + 1 < first.length; c++) first[c + 1]! += first[c]!;
  const next = first.slice();
  const list = new Uint32Array(cells.length);
  for (let i = 0; i < cells.length; i++) list[next[cells[i]!]!++] = i;

  return (positions, at) => {
    const centre = [cell(positions, at, 0), cell(positions, at, 1), cell(positions, at, 2)];
    let [best, least] = [0, Infinity];
    const rings = Math.max(...size);
    for (let ring = 0; ring < rings && (ring === 0 || least > ((ring - 1) * side) ** 2); ring++) {
      const lows = centre.map((middle) => Math.max(0, middle - ring));
      const highs = centre.map((middle, axis) => Math.min(size[axis]! - 1, middle + ring));
      for (let x = lows[0]!; x <= highs[0]!; x++)
        for (let y = lows[1]!; y <= highs[1]!; y++) {
          const inside = Math.abs(x - centre[0]!) < ring && Math.abs(y - centre[1]!) < ring;
          for (let z = lows[2]!; z <= highs[2]!; z++) {
            if (inside && Math.abs(z - centre[2]!) < ring) continue; // looked at before
            const c = number(x, y, z);
            for (let k = first[c]!; k < first[c + 1]!; k++) {
              const far = away(positions, at, own, (from + list[k]!) * dims, dims);
              if (far < least || (far === least && list[k]! < best)) [best, least] = [list[k]!, far];
            }
          }
        }
    }
    return best;
  };
}
