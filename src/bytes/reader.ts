/**
 * A cursor over bytes that may lie. Every read checks its bounds first; the first one out of range throws Corrupt with
 * the offset, what was needed and what was left. `what` names the structure in those sentences ("the shard index").
 */
import { Corrupt } from "../errors.js";
import type { Endian } from "./dtype.js";
import { toNumber } from "./u64.js";

export class Reader {
  readonly length: number;
  readonly what: string;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #little: boolean;
  #offset = 0;

  constructor(bytes: Uint8Array, what: string, endian: Endian = "little") {
    this.#bytes = bytes;
    this.length = bytes.length;
    this.what = what;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#little = endian === "little";
  }

  get offset(): number {
    return this.#offset;
  }
  get remaining(): number {
    return this.length - this.#offset;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }
  u16(): number {
    return this.#view.getUint16(this.#take(2), this.#little);
  }
  u32(): number {
    return this.#view.getUint32(this.#take(4), this.#little);
  }
  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), this.#little);
  }
  i8(): number {
    return this.#view.getInt8(this.#take(1));
  }
  i16(): number {
    return this.#view.getInt16(this.#take(2), this.#little);
  }
  i32(): number {
    return this.#view.getInt32(this.#take(4), this.#little);
  }
  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8), this.#little);
  }
  f32(): number {
    return this.#view.getFloat32(this.#take(4), this.#little);
  }
  f64(): number {
    return this.#view.getFloat64(this.#take(8), this.#little);
  }

  /** A u64 that counts or addresses something: exact, or LimitExceeded beyond 2^53 − 1. */
  size(): number {
    const at = this.#offset;
    return toNumber(this.u64(), `the size at ${at} of ${this.what}`);
  }

  /** The next n bytes, without a copy. */
  bytes(n: number): Uint8Array {
    const at = this.#take(n);
    return this.#bytes.subarray(at, at + n);
  }

  skip(n: number): void {
    this.#take(n);
  }

  /** Anywhere up to the end itself. */
  seek(offset: number): void {
    if (!Number.isInteger(offset) || offset < 0 || offset > this.length)
      throw new Corrupt(`${this.what} points to byte ${offset}, but has ${this.length} bytes`);
    this.#offset = offset;
  }

  /** A claimed number of items, each at least `itemBytes` (1 or more) long, is believed only if what remains can hold it. */
  count(claimed: number | bigint, itemBytes: number): number {
    return believed(claimed, itemBytes, this.what, this.#offset, this.remaining);
  }

  /** Nothing may follow. */
  end(): void {
    if (this.remaining > 0)
      throw new Corrupt(`${this.what} should end at byte ${this.#offset}, but ${this.remaining} more bytes follow`);
  }

  #take(n: number): number {
    const at = this.#offset;
    if (!Number.isInteger(n) || n < 0 || n > this.length - at) {
      throw new Corrupt(`${this.what} needs ${n} bytes at byte ${at}, but ${this.length - at} are left`);
    }
    this.#offset = at + n;
    return at;
  }
}

/** The same where only some of the bytes are there: `left` remain at `offset`. */
export function believed(
  claimed: number | bigint,
  itemBytes: number,
  what: string,
  offset: number,
  left: number,
): number {
  const n = Number(claimed); // exact wherever it passes
  if (Number.isInteger(n) && n >= 0 && n * Math.max(1, itemBytes) <= left) return n;
  throw new Corrupt(
    `${what} claims ${claimed} items of at least ${itemBytes} bytes at byte ${offset}, but ${left} bytes are left`,
  );
}
