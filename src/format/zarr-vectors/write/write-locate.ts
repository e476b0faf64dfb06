/** Which chunk a position is in: floor(position / chunk shape), as the number of that chunk. */
import { bytesOf } from "../../../codec/numeric.js";
import type { VectorKernel } from "../../../kernel/vectors.js";
import type { Positions } from "../../../model/vectors.js";
import type { Numbering } from "./write-numbering.js";

export interface Locator {
  /** The chunk of the vertex at this row. */
  (positions: ArrayLike<number>, row: number): number;
  /** The chunks of the first `count` vertices, where neighbours are probably not in the same one. */
  all(positions: Positions, count: number, kernel: VectorKernel | undefined): Uint32Array;
  /** The first row from here up to, not with, `end` that is clearly not in the chunk of the last answer; `end` if none is. */
  leaves(positions: ArrayLike<number>, row: number, end: number): number;
}

const WINDOW = 1 << 20; // chunks whose numbers are looked up instead of found

/**
 * The chunk of a position. Neighbours mostly share one: where all coordinates are clearly inside the last chunk, by more than
 * rounding could matter, nothing is divided. The numbers of chunks lie in a table as wide as the grid so far, as long as that
 * is not too large.
 */
export function locator(chunks: Numbering, dims: number, chunkShape: readonly number[]): Locator {
  const shape = Float64Array.from(chunkShape);
  const here = new Int32Array(dims);
  const [low, high] = [new Float64Array(dims).fill(Number.NaN), new Float64Array(dims)];
  let last = -1;
  let table = new Int32Array(); // number + 1, the last axis fastest
  const [origin, sizes] = [new Int32Array(dims), new Int32Array(dims)];
  let full = false;

  /** The place of `here` in the table; −1 where it has none. */
  const placeHere = (): number => {
    let place = 0;
    for (let axis = 0; axis < dims; axis++) {
      const step = here[axis]! - origin[axis]!;
      if (step < 0 || step >= sizes[axis]!) return -1;
      place = place * sizes[axis]! + step;
    }
    return place;
  };
  /** A table that has room for `here`, too, with some to spare. */
  const widen = (): void => {
    const wide = Array.from(sizes, (size, axis) => {
      const [from, to] = [Math.min(here[axis]!, origin[axis]!), Math.max(here[axis]! + 1, origin[axis]! + size)];
      if (table.length === 0) return 1;
      return to - from === size ? size : Math.ceil(1.5 * (to - from));
    });
    const cells = wide.reduce((product, size) => product * size, 1);
    if (cells > WINDOW) {
      full = true;
      return;
    }
    for (let axis = 0; axis < dims; axis++)
      if (table.length === 0 || here[axis]! < origin[axis]!)
        origin[axis] = table.length === 0 ? here[axis]! : origin[axis]! + sizes[axis]! - wide[axis]!;
    sizes.set(wide);
    table = new Int32Array(cells);
    const kept = here.slice();
    for (let chunk = 0; chunk < chunks.count; chunk++) {
      here.set(chunks.tuples.subarray(chunk * dims, (chunk + 1) * dims));
      const place = placeHere();
      if (place >= 0) table[place] = chunk + 1;
    }
    here.set(kept);
  };

  const afresh = (positions: ArrayLike<number>, row: number): number => {
    for (let axis = 0, at = row * dims; axis < dims; axis++, at++)
      here[axis] = Math.floor(positions[at]! / shape[axis]!);
    const place = placeHere();
    if (place >= 0 && table[place] !== 0) return table[place]! - 1;
    const chunk = chunks.of(here);
    if (place < 0 && !full) widen();
    const own = placeHere();
    if (own >= 0) table[own] = chunk + 1;
    return chunk;
  };
  const all = (positions: Positions, count: number, kernel: VectorKernel | undefined): Uint32Array => {
    const buckets = new Uint32Array(count);
    const [size, wide] = [positions.BYTES_PER_ELEMENT * dims, positions instanceof Float64Array ? 1 : 0];
    const room = kernel?.reserve(count * (size + 4) + 16 * dims + 4 * WINDOW + 8);
    if (room?.placePoints === undefined) {
      for (let row = 0; row < count; row++) buckets[row] = afresh(positions, row);
      return buckets;
    }
    const { memory, start, placePoints } = room;
    const grid = Math.ceil(start / 8) * 8;
    const [from, known] = [grid + 16 * dims + 4 * WINDOW, grid + 16 * dims];
    const own = new Uint32Array(memory.buffer, from + Math.ceil((count * size) / 4) * 4, count);
    const cells = new Int32Array(memory.buffer, known, WINDOW);
    let current: Int32Array | undefined;
    memory.set(bytesOf(positions), from);
    for (let row = 0; row < count; row++) {
      if (table !== current) {
        current = table;
        cells.set(table);
        for (let axis = 0; axis < dims; axis++) {
          new Float64Array(memory.buffer, grid + 16 * axis, 1)[0] = shape[axis]!;
          new Int32Array(memory.buffer, grid + 16 * axis + 8, 2).set([origin[axis]!, sizes[axis]!]);
        }
      }
      row += placePoints(from + row * size, wide, dims, count - row, grid, known, own.byteOffset + 4 * row);
      if (row === count) break;
      own[row] = afresh(positions, row);
      const place = placeHere();
      if (place >= 0) cells[place] = own[row]! + 1;
    }
    buckets.set(own);
    return buckets;
  };
  const locate = (positions: ArrayLike<number>, row: number): number => {
    let axis = 0;
    for (let at = row * dims; axis < dims; axis++, at++)
      if (!(positions[at]! > low[axis]! && positions[at]! < high[axis]!)) break;
    if (axis === dims) return last;
    last = afresh(positions, row);
    for (axis = 0; axis < dims; axis++) {
      const from = here[axis]! * shape[axis]!;
      const to = (here[axis]! + 1) * shape[axis]!;
      const margin = (Math.abs(from) + Math.abs(to)) * 2 ** -48;
      low[axis] = from + margin;
      high[axis] = to - margin;
    }
    return last;
  };
  const leaves3 = (positions: ArrayLike<number>, row: number, end: number): number => {
    const [x, y, z] = [low[0]!, low[1]!, low[2]!];
    const [toX, toY, toZ] = [high[0]!, high[1]!, high[2]!];
    for (let at = 3 * row; row < end; row++, at += 3) {
      const [a, b, c] = [positions[at]!, positions[at + 1]!, positions[at + 2]!];
      if (!(a > x && a < toX && b > y && b < toY && c > z && c < toZ)) break;
    }
    return row;
  };
  const leaves = (positions: ArrayLike<number>, row: number, end: number): number => {
    for (let at = row * dims; row < end; row++)
      for (let axis = 0; axis < dims; axis++, at++)
        if (!(positions[at]! > low[axis]! && positions[at]! < high[axis]!)) return row;
    return row;
  };
  return Object.assign(locate, { all, leaves: dims === 3 ? leaves3 : leaves });
}
