/**
 * Rows, indexes and coordinates lie in payloads as int64, little-endian. None of them needs more than 32 bits: a cell of 2^32
 * rows is beyond every limit, the number of fragments is a u32 itself, and a grid of 2^31 chunks along one axis is no store.
 * So they become Uint32Array and Int32Array, read as pairs of 32-bit words, and what does not fit is refused with its place.
 * Ids are the exception: they keep their 64 bits (groups.ts).
 */
import { U64 } from "../../../bytes/u64.js";
import { Corrupt } from "../../../errors.js";

/** One more than the largest row or index. */
export const ROWS_END = 2 ** 32;

/** Little-endian 32-bit words; a rest shorter than a word is left out. Copies only where the bytes are not aligned. */
export function words(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
}

export const Int64 = {
  /** How many there are; bytes that are not whole values are damage. */
  count(bytes: Uint8Array, where: string): number {
    if (bytes.length % 8 !== 0)
      throw new Corrupt(`${where} should be whole int64 values, found ${bytes.length} bytes`, { where });
    return bytes.length / 8;
  },

  /** Rows and indexes: 0 up to 2^32 − 1. */
  unsigned(bytes: Uint8Array, where: string): Uint32Array {
    const out = new Uint32Array(Int64.count(bytes, where));
    const from = words(bytes);
    for (let i = 0; i < out.length; i++) {
      if (from[2 * i + 1] !== 0) throw outside(from, i, where);
      out[i] = from[2 * i]!;
    }
    return out;
  },

  /** Byte offsets and the like: exact, with a sign. */
  exact(bytes: Uint8Array, where: string): Float64Array {
    const out = new Float64Array(Int64.count(bytes, where));
    const from = words(bytes);
    for (let i = 0; i < out.length; i++) {
      const value = (from[2 * i + 1]! | 0) * ROWS_END + from[2 * i]!;
      if (!Number.isSafeInteger(value)) throw outside(from, i, where);
      out[i] = value;
    }
    return out;
  },

  /** Ids, with all their bits. */
  values(bytes: Uint8Array): BigInt64Array {
    const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
    return new BigInt64Array(aligned.buffer, aligned.byteOffset, aligned.length >> 3);
  },

  /** The same numbers as int64; they are whole and exact already. */
  encode(values: ArrayLike<number>): Uint8Array<ArrayBuffer> {
    const out = new Int32Array(2 * values.length);
    for (let i = 0; i < values.length; i++) put(out, 2 * i, values[i]!);
    return new Uint8Array(out.buffer);
  },
};

/** One int64 at a place counted in words. */
export function put(out: Int32Array, at: number, value: number): void {
  out[at] = value;
  out[at + 1] = Math.floor(value / ROWS_END);
}

/** What is said of value i, which does not fit. */
export function outside(from: Uint32Array, i: number, where: string): Corrupt {
  const value = BigInt.asIntN(64, U64.get(new Uint8Array(from.buffer, from.byteOffset, from.byteLength), 8 * i));
  return new Corrupt(`${where} has ${value} at byte ${8 * i}, which can be no row, index or offset`, { where });
}
