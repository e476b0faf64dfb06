/**
 * The two indexes of a shard.
 *
 * | shard                   | bytes                                                                                  |
 * |-------------------------|----------------------------------------------------------------------------------------|
 * | shard index             | for each of 2^minishardBits minishards: u64 start, u64 end of its index, both counted   |
 * |                         | from the end of the shard index; start = end where the minishard is empty               |
 * | values, minishard indexes, anything else | anywhere                                                              |
 *
 * | minishard index, decoded | n × u64: ids, each but the first as the difference to the one before                  |
 * |                          | n × u64: bytes between the end of the value before (the first: of the shard index) and this one |
 * |                          | n × u64: bytes of each value, as stored                                               |
 *
 * Both differences may wrap at 2^64, so that ids in any order and values anywhere can be written; sums are taken like that.
 */
import { Corrupt } from "../../../errors.js";

export const ENTRY = 16;
export const ROW = 24;
const TWO32 = 2 ** 32;

/** Bytes of a file. */
export interface Stretch {
  readonly offset: number;
  readonly length: number;
}

export const ShardIndex = {
  /** Where the index of the minishard of an entry is, counted from `base`; undefined where the minishard is empty. */
  entry(bytes: Uint8Array, number: number, base: number, what: string): Stretch | undefined {
    const view = new DataView(bytes.buffer, bytes.byteOffset + number * ENTRY, ENTRY);
    const [low, high] = [view.getUint32(0, true), view.getUint32(4, true)];
    const [endLow, endHigh] = [view.getUint32(8, true), view.getUint32(12, true)];
    if (low === endLow && high === endHigh) return undefined;
    const start = high * TWO32 + low;
    const length = endHigh * TWO32 + endLow - start;
    if (!(length > 0) || !Number.isSafeInteger(base + start + length))
      throw new Corrupt(
        `${what} should be a range of the file, found ${view.getBigUint64(0, true)} up to ${view.getBigUint64(8, true)}`,
      );
    return { offset: base + start, length };
  },
};

/** What a minishard holds. */
export interface Minishard {
  readonly count: number;
  readonly ids: BigUint64Array;
  /** Where the values are in the file, and their sizes; NaN where no file can be that long. */
  readonly starts: Float64Array;
  readonly sizes: Float64Array;
  /** No id comes before a smaller one. */
  readonly ascending: boolean;
}

export const Minishard = {
  /** From its decoded bytes, which it takes over: sums replace differences where they lie. Offsets count from `base`. */
  parse(bytes: Uint8Array, base: number, what: string): Minishard {
    if (bytes.length % ROW !== 0)
      throw new Corrupt(`${what} should have a multiple of ${ROW} bytes, found ${bytes.length}`);
    const count = bytes.length / ROW;
    const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
    const words = new Uint32Array(buffer, byteOffset, 6 * count);
    const ascending = sumIds(words, 2 * count);
    const starts = new Float64Array(buffer, byteOffset + 8 * count, count);
    const sizes = new Float64Array(buffer, byteOffset + 16 * count, count);
    let [low, high] = [0, 0];
    for (let i = 0; i < count; i++) {
      const [gap, size] = [2 * (count + i), 2 * (2 * count + i)];
      const [sizeLow, sizeHigh] = [words[size]!, words[size + 1]!];
      low += words[gap]!;
      high = (high + words[gap + 1]! + (low >= TWO32 ? 1 : 0)) >>> 0;
      low >>>= 0;
      starts[i] = exact(low, high) + base;
      sizes[i] = exact(sizeLow, sizeHigh);
      low += sizeLow;
      high = (high + sizeHigh + (low >= TWO32 ? 1 : 0)) >>> 0;
      low >>>= 0;
    }
    return { count, ids: new BigUint64Array(buffer, byteOffset, count), starts, sizes, ascending };
  },

  /** The row of an id, the first where there are several; -1 where there is none. */
  find({ count, ids, ascending }: Minishard, low: number, high: number): number {
    const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * count);
    if (!ascending) {
      for (let i = 0; i < count; i++) if (words[2 * i] === low && words[2 * i + 1] === high) return i;
      return -1;
    }
    let first = 0;
    for (let last = count; first < last; ) {
      const middle = (first + last) >> 1;
      const above = words[2 * middle + 1]!;
      if (above < high || (above === high && words[2 * middle]! < low)) first = middle + 1;
      else last = middle;
    }
    return first < count && words[2 * first] === low && words[2 * first + 1] === high ? first : -1;
  },

  /** Where the value of a row is; Corrupt where no file can have it. */
  stretch({ ids, starts, sizes }: Minishard, row: number, what: string): Stretch {
    const [offset, length] = [starts[row]!, sizes[row]!];
    if (!Number.isSafeInteger(offset + length))
      throw new Corrupt(`${what} should say where the value of ${ids[row]} is, found a range beyond 2^53 bytes`);
    return { offset, length };
  },

  /** The bytes to encode; `gaps` are the bytes before each value, the first counted from the end of the shard index. */
  encode(ids: BigUint64Array, gaps: Float64Array, sizes: Float64Array): Uint8Array {
    const count = ids.length;
    const out = new Uint32Array(6 * count);
    const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * count);
    let [low, high] = [0, 0];
    for (let i = 0; i < count; i++) {
      const borrow = words[2 * i]! < low ? 1 : 0;
      out[2 * i] = words[2 * i]! - low;
      out[2 * i + 1] = words[2 * i + 1]! - high - borrow;
      low = words[2 * i]!;
      high = words[2 * i + 1]!;
      const gap = 2 * (count + i);
      out[gap] = gaps[i]!;
      out[gap + 1] = gaps[i]! / TWO32;
      const size = 2 * (2 * count + i);
      out[size] = sizes[i]!;
      out[size + 1] = sizes[i]! / TWO32;
    }
    return new Uint8Array(out.buffer);
  },
};

/** Ids out of their differences; whether none comes before a smaller one. */
function sumIds(words: Uint32Array, end: number): boolean {
  let [low, high, ascending] = [0, 0, true];
  for (let i = 0; i < end; i += 2) {
    const sum = low + words[i]!;
    const nextLow = sum >>> 0;
    const nextHigh = (high + words[i + 1]! + (sum >= TWO32 ? 1 : 0)) >>> 0;
    if (nextHigh < high || (nextHigh === high && nextLow < low)) ascending = false;
    words[i] = low = nextLow;
    words[i + 1] = high = nextHigh;
  }
  return ascending;
}

/** A 64-bit number where a number holds it; else NaN. */
const exact = (low: number, high: number): number => (high < 0x200000 ? high * TWO32 + low : Number.NaN);
