/**
 * Axis-aligned boxes in any number of dimensions, half-open: a point on `max` is outside, so that neighbouring boxes share
 * no point. A box whose max is not above its min on every axis is empty.
 */
import { InvalidInput } from "../errors.js";

export interface Box {
  readonly min: readonly number[];
  readonly max: readonly number[];
}

export const Box = {
  of(min: readonly number[], max: readonly number[]): Box {
    if (min.length !== max.length || [...min, ...max].some(Number.isNaN))
      throw new InvalidInput(`a box needs two corners of one rank, found [${min}] and [${max}]`);
    return { min, max };
  },

  isEmpty(box: Box): boolean {
    return box.min.some((low, axis) => !(low < box.max[axis]!));
  },

  /** What both have; undefined where that is empty. */
  intersect(a: Box, b: Box): Box | undefined {
    sameRank(a, b.min);
    const min = a.min.map((low, axis) => Math.max(low, b.min[axis]!));
    const max = a.max.map((high, axis) => Math.min(high, b.max[axis]!));
    const box = { min, max };
    return Box.isEmpty(box) ? undefined : box;
  },

  /** The smallest box around both; an empty one adds nothing. */
  union(a: Box, b: Box): Box {
    sameRank(a, b.min);
    if (Box.isEmpty(a)) return b;
    if (Box.isEmpty(b)) return a;
    return {
      min: a.min.map((low, axis) => Math.min(low, b.min[axis]!)),
      max: a.max.map((high, axis) => Math.max(high, b.max[axis]!)),
    };
  },

  contains(box: Box, point: readonly number[]): boolean {
    sameRank(box, point);
    return point.every((value, axis) => value >= box.min[axis]! && value < box.max[axis]!);
  },

  /** Whether every point of `inner` is in `outer`. */
  covers(outer: Box, inner: Box): boolean {
    sameRank(outer, inner.min);
    if (Box.isEmpty(inner)) return true;
    return inner.min.every((low, axis) => low >= outer.min[axis]! && inner.max[axis]! <= outer.max[axis]!);
  },
};

function sameRank(box: Box, other: readonly number[]): void {
  if (box.min.length !== other.length)
    throw new InvalidInput(`a box of rank ${box.min.length} cannot be compared with rank ${other.length}`);
}
