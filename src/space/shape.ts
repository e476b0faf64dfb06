/** Shapes: how many elements, and how far apart they lie. */
import { InvalidInput } from "../errors.js";

/** The number of elements of a shape; refuses what a JavaScript number cannot count. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const length of shape) count *= length;
  if (shape.includes(0)) return 0;
  if (!Number.isSafeInteger(count))
    throw new InvalidInput(`the shape ${shape.join(" × ")} has more than 2^53 elements`);
  return count;
}

/** Strides in elements of an array in C order. */
export function strides(shape: readonly number[]): number[] {
  const out = new Array<number>(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    out[axis] = stride;
    stride *= shape[axis]!;
  }
  return out;
}
