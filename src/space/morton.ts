/**
 * Compressed Morton codes: the bits of a cell's coordinates, interleaved from the lowest up, x first. An axis takes part
 * only as long as its grid needs the bit, so that the codes of a grid leave no large gaps. On a grid of equal powers of
 * two this is the plain Morton code. Up to 64 bits, hence bigint.
 */
import { InvalidInput } from "../errors.js";

export const Morton = {
  encode(cell: readonly number[], grid: readonly number[]): bigint {
    if (
      cell.length !== grid.length ||
      !cell.every((value, axis) => Number.isInteger(value) && value >= 0 && value < grid[axis]!)
    )
      throw new InvalidInput(`the cell [${cell}] is outside the grid of [${grid}]`);
    let code = 0n;
    let place = 0n;
    for (const [axis, bit] of places(grid)) {
      if (Math.floor(cell[axis]! / bit) % 2 === 1) code |= 1n << place;
      place++;
    }
    return code;
  },

  /** The way back; undefined for a code that no cell of the grid has. */
  decode(code: bigint, grid: readonly number[]): number[] | undefined {
    const cell = grid.map(() => 0);
    let rest = code;
    for (const [axis, bit] of places(grid)) {
      if (rest & 1n) cell[axis]! += bit;
      rest >>= 1n;
    }
    return rest === 0n && cell.every((value, axis) => value < grid[axis]!) ? cell : undefined;
  },
};

/** Which axis, and which power of two of it, each bit of the code stands for, from the lowest. */
function* places(grid: readonly number[]): Generator<readonly [axis: number, bit: number]> {
  let count = 0;
  const largest = Math.max(0, ...grid);
  for (let bit = 1; bit < largest; bit *= 2) {
    for (let axis = 0; axis < grid.length; axis++) {
      if (bit >= grid[axis]!) continue;
      if (++count > 64) throw new InvalidInput(`a grid of [${grid}] needs Morton codes of more than 64 bits`);
      yield [axis, bit];
    }
  }
}
