/**
 * The filters of PNG: each row begins with the number of the one it went through, and every byte is the difference to a
 * guess from the byte before (a), above (b) and above that (c), one pixel back.
 *
 * | filter | guess          |
 * |--------|----------------|
 * | 0      | 0              |
 * | 1      | a              |
 * | 2      | b              |
 * | 3      | ⌊(a + b) / 2⌋  |
 * | 4      | the one of a, b, c that is nearest to a + b − c, the first of equals |
 */
import { Corrupt } from "../errors.js";

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c;
  const pa = Math.abs(p - a);
  const pb = Math.abs(p - b);
  const pc = Math.abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Rows without their filters; `stride` is the bytes of a row, `step` those of a pixel. */
export function unfilter(rows: Uint8Array, height: number, stride: number, step: number): Uint8Array {
  const out = new Uint8Array(height * stride);
  for (let row = 0; row < height; row++) {
    const from = row * (stride + 1) + 1;
    const to = row * stride;
    const filter = rows[from - 1]!;
    if (filter > 4) throw new Corrupt(`row ${row} of a png image should have a filter from 0 to 4, found ${filter}`);
    for (let i = 0; i < stride; i++) {
      const a = i >= step ? out[to + i - step]! : 0;
      const b = row > 0 ? out[to + i - stride]! : 0;
      const c = row > 0 && i >= step ? out[to + i - stride - step]! : 0;
      out[to + i] = rows[from + i]! + guess(filter, a, b, c);
    }
  }
  return out;
}

function guess(filter: number, a: number, b: number, c: number): number {
  switch (filter) {
    case 1:
      return a;
    case 2:
      return b;
    case 3:
      return (a + b) >> 1;
    case 4:
      return paeth(a, b, c);
    default:
      return 0;
  }
}

/** Rows with the filter each that leaves the smallest sum of differences, which is what deflate likes best. */
export function filter(pixels: Uint8Array, height: number, stride: number, step: number): Uint8Array {
  const out = new Uint8Array(height * (stride + 1));
  const tries = Array.from({ length: 5 }, () => new Uint8Array(stride));
  for (let row = 0; row < height; row++) {
    const at = row * stride;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let kind = 0; kind < 5; kind++) {
      const line = tries[kind]!;
      let sum = 0;
      for (let i = 0; i < stride; i++) {
        const a = i >= step ? pixels[at + i - step]! : 0;
        const b = row > 0 ? pixels[at + i - stride]! : 0;
        const c = row > 0 && i >= step ? pixels[at + i - stride - step]! : 0;
        const difference = (pixels[at + i]! - guess(kind, a, b, c)) & 255;
        line[i] = difference;
        sum += difference < 128 ? difference : 256 - difference;
      }
      if (sum < least) [least, best] = [sum, kind];
    }
    out[row * (stride + 1)] = best;
    out.set(tries[best]!, row * (stride + 1) + 1);
  }
  return out;
}
