/** The nearest of a range of particles, in plain TypeScript; ../tree.ts says what is promised. */
import type { Nearest } from "../tree.js";

/** A heap of so many, over these positions. */
export function nearest(p: Float32Array | Float64Array, most: number): Nearest {
  const squares = new Float64Array(most);
  const numbers = new Uint32Array(most);
  return {
    squares,
    numbers,
    near(start, stop, x, y, z, size, within) {
      let limit = size < most ? within : squares[0]!;
      for (let i = start, at = 3 * start; i < stop; i++, at += 3) {
        const dx = x - p[at]!;
        const dy = y - p[at + 1]!;
        const dz = z - p[at + 2]!;
        const square = dx * dx + dy * dy + dz * dz;
        if (!(square <= limit)) continue;
        size = offer(squares, numbers, size, most, square, i);
        if (size === most) limit = squares[0]!;
      }
      return size;
    },
  };
}

/** Puts one into a heap, whose first is the worst, or in its place; how many there are then. */
export function offer(
  squares: Float64Array,
  numbers: Uint32Array,
  size: number,
  most: number,
  square: number,
  number: number,
): number {
  if (size === most) {
    if (!worse(square, number, squares[0]!, numbers[0]!)) sink(squares, numbers, size, square, number);
    return size;
  }
  let at = size;
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (!worse(square, number, squares[up]!, numbers[up]!)) break;
    squares[at] = squares[up]!;
    numbers[at] = numbers[up]!;
    at = up;
  }
  squares[at] = square;
  numbers[at] = number;
  return size + 1;
}

/** Puts one in the place of the worst of a heap of that size. */
export function sink(squares: Float64Array, numbers: Uint32Array, size: number, square: number, number: number): void {
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= size) break;
    if (down + 1 < size && worse(squares[down + 1]!, numbers[down + 1]!, squares[down]!, numbers[down]!)) down++;
    if (worse(square, number, squares[down]!, numbers[down]!)) break;
    squares[at] = squares[down]!;
    numbers[at] = numbers[down]!;
    at = down;
  }
  squares[at] = square;
  numbers[at] = number;
}

/** Farther, or as far with a higher number. */
const worse = (square: number, number: number, than: number, other: number): boolean =>
  square > than || (square === than && number > other);
