/** Blocks of columns as bytes: the values of each, field after field, and their checksum. */
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { U64 } from "../../../bytes/u64.js";
import { emptyBox, SUM_BYTES } from "./blocks.js";

/** Values that lie together in a block, behind those of other fields of its column. */
export interface Field {
  /** For each particle. */
  readonly bytes: number;
  /** Those of the particles from `start` up to `stop`. */
  read(start: number, stop: number): Promise<Uint8Array>;
}

/** The blocks of a part while it is written. */
export class BlockList {
  count: number;
  sizes: Uint32Array;
  boxes: Float64Array;

  constructor(sizes: Uint32Array = new Uint32Array()) {
    this.count = sizes.length;
    this.sizes = sizes;
    this.boxes = new Float64Array(6 * sizes.length);
  }

  /** More blocks; the number of the first. */
  add(sizes: readonly number[]): number {
    const first = this.count;
    this.count += sizes.length;
    if (this.count > this.sizes.length) {
      const [grown, boxes] = [new Uint32Array(2 * this.count), new Float64Array(12 * this.count)];
      grown.set(this.sizes);
      boxes.set(this.boxes);
      [this.sizes, this.boxes] = [grown, boxes];
    }
    this.sizes.set(sizes, first);
    return first;
  }

  /** Sees where the particles of some blocks lie, from their positions as bytes, `size` for each number. */
  measure(bytes: Uint8Array, size: number, first: number, sizes: ArrayLike<number>): void {
    const positions =
      size === 4
        ? new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
        : new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    let at = 0;
    for (let b = 0; b < sizes.length; b++) {
      const box = this.boxes.subarray(6 * (first + b), 6 * (first + b) + 6);
      box.set(emptyBox());
      for (const end = at + 3 * sizes[b]!; at < end; at += 3)
        for (let axis = 0; axis < 3; axis++) {
          const value = positions[at + axis]!;
          if (value < box[axis]!) box[axis] = value;
          if (value > box[axis + 3]!) box[axis + 3] = value;
        }
    }
  }
}

/** The values of all fields of some particles. */
export const pieceOf = (fields: readonly Field[], start: number, stop: number): Promise<Uint8Array[]> =>
  Promise.all(fields.map((field) => field.read(start, stop)));

/** Blocks of these sizes, from the values of each field for all of their particles. */
export function packBlocks(
  fields: readonly Field[],
  values: readonly Uint8Array[],
  sizes: ArrayLike<number>,
): Uint8Array {
  const total = values.reduce((sum, { length }) => sum + length, 0);
  const out = new Uint8Array(total + sizes.length * SUM_BYTES);
  let [at, row] = [0, 0];
  for (let b = 0; b < sizes.length; b++) {
    const start = at;
    for (const [i, { bytes }] of fields.entries()) {
      const own = values[i]!.subarray(row * bytes, (row + sizes[b]!) * bytes);
      out.set(own, at);
      at += own.length;
    }
    U64.set(out, at, xxh3(out.subarray(start, at)));
    at += SUM_BYTES;
    row += sizes[b]!;
  }
  return out;
}
