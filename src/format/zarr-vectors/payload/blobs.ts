/**
 * Many blobs in one piece of memory: the elements of a vlen chunk, or what `data` and `offsets` hold together. Nothing is
 * copied, and no object is made for each blob, because an index may have 100,000 of them.
 *
 * A chunk of a vlen-bytes array, after its compressors:
 *
 * | bytes | meaning                                                                               |
 * |-------|---------------------------------------------------------------------------------------|
 * | u32   | N, the elements of a full chunk: those beyond the array's end are there too           |
 * | u32   | bytes of the next element, then those bytes; N times, and nothing after               |
 */
import { concat } from "../../../bytes/concat.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { Int64, ROWS_END } from "./int64.js";

export interface Blobs {
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Blob i is bytes[starts[i]] up to bytes[ends[i]]. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

export const Blobs = {
  /** Pieces of one buffer stay where they are, others are put together. */
  of(pieces: readonly Uint8Array[]): Blobs {
    const buffer = pieces[0]?.buffer;
    const together = buffer === undefined || pieces.some((piece) => piece.buffer !== buffer);
    const bytes = together ? concat(pieces) : new Uint8Array(buffer);
    const blobs = room(pieces.length, bytes, "a list of blobs");
    let at = 0;
    for (let i = 0; i < pieces.length; i++) {
      const { byteOffset, length } = pieces[i]!;
      blobs.starts[i] = together ? at : byteOffset;
      at = blobs.starts[i]! + length;
      blobs.ends[i] = at;
    }
    return blobs;
  },

  /**
   * The first `count` elements of a vlen chunk. What lies beyond the end of the array is no data, even where it is not empty: an
   * array that was made shorter keeps it.
   */
  parseChunk(bytes: Uint8Array, count: number, where: string): Blobs {
    const found = bytes.length < 4 ? -1 : word(bytes, 0);
    if (found < count || 4 + 4 * found > bytes.length)
      throw new Corrupt(
        `the vlen chunk ${where} should have ${count} elements or more, found ${found < 0 ? "no header" : found} in ${bytes.length} bytes`,
        { where },
      );
    const blobs = room(count, bytes, where);
    let at = 4;
    for (let i = 0; i < found; i++) {
      const end = at + 4 + (at + 4 > bytes.length ? 0 : word(bytes, at));
      if (end > bytes.length)
        throw new Corrupt(`element ${i} of the vlen chunk ${where} ends at ${end}, beyond its ${bytes.length} bytes`, {
          where,
        });
      if (i < count) {
        blobs.starts[i] = at + 4;
        blobs.ends[i] = end;
      }
      at = end;
    }
    if (at !== bytes.length)
      throw new Corrupt(`the vlen chunk ${where} should end at byte ${at}, but has ${bytes.length}`, { where });
    return blobs;
  },

  /** Up to 0.8: `offsets` has the byte at which each blob starts in `data`; the last one goes to the end. */
  fromOffsets(data: Uint8Array, offsets: Uint8Array, where: string): Blobs {
    const starts = Int64.unsigned(offsets, `the offsets of ${where}`);
    const blobs = room(starts.length, data, where);
    if (starts.length === 0 ? data.length > 0 : starts[0] !== 0)
      throw new Corrupt(`the offsets of ${where} should begin with 0 for ${data.length} bytes, found ${starts[0]}`, {
        where,
      });
    for (let i = 0; i < starts.length; i++) {
      const end = i + 1 < starts.length ? starts[i + 1]! : data.length;
      if (end < starts[i]! || end > data.length)
        throw new Corrupt(`blob ${i} of ${where} goes from byte ${starts[i]} to ${end} of ${data.length}`, { where });
      blobs.starts[i] = starts[i]!;
      blobs.ends[i] = end;
    }
    return blobs;
  },

  empty: (count: number): Blobs => room(count, new Uint8Array(), "nothing"),

  slice: ({ bytes, starts, ends }: Blobs, from: number, to: number): Blobs => ({
    count: to - from,
    bytes,
    starts: starts.subarray(from, to),
    ends: ends.subarray(from, to),
  }),

  /** One after the other; copied only where there are several. */
  concat(parts: readonly Blobs[]): Blobs {
    if (parts.length === 1) return parts[0]!;
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const all = room(count, concat(parts.map(({ bytes }) => bytes)), "a list of blobs");
    let [to, base] = [0, 0];
    for (const { count: own, bytes, starts, ends } of parts) {
      for (let i = 0; i < own; i++, to++) {
        all.starts[to] = starts[i]! + base;
        all.ends[to] = ends[i]! + base;
      }
      base += bytes.length;
    }
    return all;
  },

  at: ({ bytes, starts, ends }: Blobs, i: number): Uint8Array => bytes.subarray(starts[i], ends[i]),

  /** The blobs from, up to as a vlen chunk of `size` elements, the last ones empty. */
  encodeChunk(blobs: Blobs, from = 0, to = blobs.count, size = to - from): Uint8Array<ArrayBuffer> {
    if (to - from > size) throw new InvalidInput(`${to - from} blobs do not fit a vlen chunk of ${size}`);
    let total = 4 + 4 * size;
    for (let i = from; i < to; i++) total += blobs.ends[i]! - blobs.starts[i]!;
    const out = new Uint8Array(total);
    setWord(out, 0, size);
    let at = 4;
    for (let i = from; i < to; i++) {
      const blob = Blobs.at(blobs, i);
      setWord(out, at, blob.length);
      out.set(blob, at + 4);
      at += 4 + blob.length;
    }
    return out;
  },

  /** The same as `data` and `offsets`. */
  encodeOffsets(blobs: Blobs): { readonly data: Uint8Array; readonly offsets: Uint8Array } {
    const data = concat(Array.from({ length: blobs.count }, (_, i) => Blobs.at(blobs, i)));
    const offsets = new Float64Array(blobs.count);
    for (let i = 1; i < blobs.count; i++) offsets[i] = offsets[i - 1]! + blobs.ends[i - 1]! - blobs.starts[i - 1]!;
    return { data, offsets: Int64.encode(offsets) };
  },
};

/** A chunk of one cell, as every per-chunk array has them from 0.9: `01 00 00 00`, its length, its payload. */
export const Cell = {
  parse(bytes: Uint8Array, where: string): Uint8Array {
    if (bytes.length < 8 || word(bytes, 0) !== 1 || word(bytes, 4) !== bytes.length - 8)
      throw new Corrupt(
        `the cell ${where} should be 1, its length and as many bytes, found ${bytes.length < 8 ? "" : `${word(bytes, 0)}, ${word(bytes, 4)} in `}${bytes.length} bytes`,
        { where },
      );
    return bytes.subarray(8);
  },
  /** In memory of its own, or at the start of `room`, which must have enough. */
  encode(payload: Uint8Array, room?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const out = room?.subarray(0, 8 + payload.length) ?? new Uint8Array(8 + payload.length);
    setWord(out, 0, 1);
    setWord(out, 4, payload.length);
    out.set(payload, 8);
    return out;
  },
};

function room(count: number, bytes: Uint8Array, where: string): Blobs {
  if (bytes.length >= ROWS_END)
    throw new LimitExceeded(`${where} has ${bytes.length} bytes in one piece, at most 2^32 can be addressed`, {
      where,
    });
  return { count, bytes, starts: new Uint32Array(count), ends: new Uint32Array(count) };
}

const word = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;

function setWord(bytes: Uint8Array, at: number, value: number): void {
  for (let i = 0; i < 4; i++) bytes[at + i] = value >>> (8 * i);
}
