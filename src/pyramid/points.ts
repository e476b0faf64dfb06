/**
 * Fewer points, evenly: of those in one bin the one stays that is nearest to where they are in the mean, the first of several. Bins
 * are cells of a grid that begins at `origin`, so that who cuts space at its planes gets the same from each part.
 */
import type { Positions } from "../model/vectors.js";
import { marked } from "./chain.js";
import type { Coarse } from "./types.js";

/** Which point of each bin stays, and for every point the place of the one that stands for it among those. */
export interface Thinned extends Coarse {
  readonly bins: Uint32Array;
}

export function thinPoints(
  positions: Positions,
  dims: number,
  origin: ArrayLike<number>,
  bin: ArrayLike<number>,
): Thinned {
  const count = positions.length / dims;
  const bins = new Uint32Array(count);
  const numbers = new Map<string | number, number>();
  for (let point = 0; point < count; point++) {
    const key = binOf(positions, dims, point, origin, bin);
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(key, number);
    }
    bins[point] = number;
  }
  const size = numbers.size;
  const means = new Float64Array(size * dims);
  const members = new Float64Array(size);
  for (let point = 0; point < count; point++) {
    members[bins[point]!]!++;
    for (let axis = 0; axis < dims; axis++) means[bins[point]! * dims + axis]! += positions[point * dims + axis]!;
  }
  for (let i = 0; i < means.length; i++) means[i]! /= members[Math.floor(i / dims)]!;
  const best = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  const chosen = new Int32Array(size).fill(-1);
  for (let point = 0; point < count; point++) {
    const own = bins[point]!;
    let away = 0;
    for (let axis = 0; axis < dims; axis++) {
      const offset = positions[point * dims + axis]! - means[own * dims + axis]!;
      away += offset * offset;
    }
    if (away < best[own]! || chosen[own] === -1) [best[own], chosen[own]] = [away, point];
  }
  const kept = new Uint8Array(count);
  for (const point of chosen) kept[point] = 1;
  const rows = marked(kept);
  const place = new Uint32Array(count);
  for (let i = 0; i < rows.length; i++) place[rows[i]!] = i;
  let error = 0;
  for (let point = 0; point < count; point++) {
    const other = chosen[bins[point]!]!;
    let away = 0;
    for (let axis = 0; axis < dims; axis++) {
      const offset = positions[point * dims + axis]! - positions[other * dims + axis]!;
      away += offset * offset;
    }
    if (away > error) error = away;
    bins[point] = place[other]!;
  }
  return { rows, bins, error: Math.sqrt(error) };
}

/** The cell of a point: a number where that can hold it, else a text. */
export function binOf(
  positions: Positions,
  dims: number,
  point: number,
  origin: ArrayLike<number>,
  bin: ArrayLike<number>,
): number | string {
  let key = 0;
  let small = dims <= 3;
  for (let axis = 0; axis < dims && small; axis++) {
    const cell = Math.floor((positions[point * dims + axis]! - origin[axis]!) / bin[axis]!);
    small = cell >= -65536 && cell < 65536;
    key = key * 131072 + (cell + 65536);
  }
  if (small) return key;
  const cells = Array.from({ length: dims }, (_, axis) =>
    Math.floor((positions[point * dims + axis]! - origin[axis]!) / bin[axis]!),
  );
  return cells.join(",");
}
