/** Which part of a dataset is shown. */
import type { Query } from "../../model/vectors.js";
import type { Bounds } from "../../scene/camera.js";

/** Which part is shown; the same words as `select` has. */
export type Filter = Pick<Query, "where" | "object" | "group" | "box" | "clip" | "limit">;

/** A filter that can be sent and asked again: what is named one by one, as lists. */
export function listed<T extends Filter | undefined>(filter: T): T {
  if (filter === undefined) return filter;
  const { object, group } = filter;
  return { ...filter, object: object && [...object], group: group && [...group] };
}

/** The part of a filter that is in a box of the space that is drawn: objects that touch it, whole; undefined where there is none. */
export function filterIn(
  filter: Filter,
  { min, max }: Bounds,
  axes: readonly number[],
  dims: number,
): Filter | undefined {
  const low = filter.box?.slice(0, dims) ?? new Array<number>(dims).fill(Number.NEGATIVE_INFINITY);
  const high = filter.box?.slice(dims) ?? new Array<number>(dims).fill(Number.POSITIVE_INFINITY);
  for (const [k, axis] of axes.entries()) {
    low[axis] = Math.max(low[axis]!, min[k]!);
    high[axis] = Math.min(high[axis]!, max[k]!);
  }
  return low.every((from, axis) => from <= high[axis]!) ? { ...filter, box: [...low, ...high] } : undefined;
}
