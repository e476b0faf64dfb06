/**
 * Regions as Python spells them, made exact against a shape: which indices along each axis, in which order.
 *
 * A selected axis is `start, start + step, …`, `count` of them; `step` may be negative. All of them lie inside the axis.
 */
import { InvalidInput } from "../errors.js";
import type { AxisSelection, Region } from "./array.js";

export { elementCount, strides } from "../space/shape.js";

export interface Axis {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

export interface Selection {
  /** One per axis of the array. */
  readonly axes: readonly Axis[];
  /** The shape of the result: axes that were picked by one index are gone. */
  readonly shape: readonly number[];
}

/** What `region` means for an array of this shape; axes that it does not mention are taken whole. */
export function select(region: Region | undefined, shape: readonly number[]): Selection {
  const given = region ?? [];
  if (given.length > shape.length) {
    throw new InvalidInput(`the region has ${given.length} axes, but the array has ${shape.length}`);
  }
  const axes = shape.map((length, axis) => selectAxis(given[axis] ?? null, length, axis));
  return { axes, shape: axes.filter((_, axis) => typeof given[axis] !== "number").map((axis) => axis.count) };
}

function selectAxis(selection: AxisSelection, length: number, axis: number): Axis {
  if (selection === null) return { start: 0, step: 1, count: length };
  if (typeof selection === "number") {
    const index = selection < 0 ? selection + length : selection;
    if (!Number.isSafeInteger(selection) || index < 0 || index >= length) {
      throw new InvalidInput(`index ${selection} is outside axis ${axis}, which has ${length} elements`);
    }
    return { start: index, step: 1, count: 1 };
  }
  const step = selection.step ?? 1;
  for (const value of [selection.start, selection.stop, step]) {
    if (value !== undefined && !Number.isSafeInteger(value)) {
      throw new InvalidInput(`the region has ${value} on axis ${axis}, expected an integer`);
    }
  }
  if (step === 0) throw new InvalidInput(`the region has step 0 on axis ${axis}, expected any other integer`);
  // As slice.indices of Python: bounds that are too far out are clipped, never an error.
  const [lowest, highest] = step > 0 ? [0, length] : [-1, length - 1];
  const clip = (value: number): number => Math.max(lowest, Math.min(highest, value < 0 ? value + length : value));
  const start = selection.start === undefined ? (step > 0 ? lowest : highest) : clip(selection.start);
  const stop = selection.stop === undefined ? (step > 0 ? highest : lowest) : clip(selection.stop);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  return { start: count === 0 ? 0 : start, step, count };
}
