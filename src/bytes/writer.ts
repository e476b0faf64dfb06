/**
 * The reader's counterpart: the same words, growing as needed. A value that does not fit its field is refused, never
 * wrapped. `seek` goes back to fill in what was not known before; the length is the furthest byte written.
 */
import { InvalidInput } from "../errors.js";
import type { Endian } from "./dtype.js";
import { I64, U64 } from "./u64.js";

export class Writer {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  readonly #little: boolean;
  #offset = 0;
  #length = 0;

  constructor(endian: Endian = "little", capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
    this.#little = endian === "little";
  }

  get offset(): number {
    return this.#offset;
  }
  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const at = this.#make(1);
    this.#view.setUint8(at, whole(value, 0, 0xff));
  }
  u16(value: number): void {
    const at = this.#make(2);
    this.#view.setUint16(at, whole(value, 0, 0xffff), this.#little);
  }
  u32(value: number): void {
    const at = this.#make(4);
    this.#view.setUint32(at, whole(value, 0, 0xffffffff), this.#little);
  }
  i8(value: number): void {
    const at = this.#make(1);
    this.#view.setInt8(at, whole(value, -0x80, 0x7f));
  }
  i16(value: number): void {
    const at = this.#make(2);
    this.#view.setInt16(at, whole(value, -0x8000, 0x7fff), this.#little);
  }
  i32(value: number): void {
    const at = this.#make(4);
    this.#view.setInt32(at, whole(value, -0x80000000, 0x7fffffff), this.#little);
  }
  u64(value: bigint): void {
    const at = this.#make(8);
    U64.set(this.#bytes, at, value, this.#little ? "little" : "big");
  }
  i64(value: bigint): void {
    const at = this.#make(8);
    I64.set(this.#bytes, at, value, this.#little ? "little" : "big");
  }
  /** A u64 from a number that counts or addresses something. */
  size(value: number): void {
    this.u64(BigInt(whole(value, 0, Number.MAX_SAFE_INTEGER)));
  }
  f32(value: number): void {
    const at = this.#make(4);
    this.#view.setFloat32(at, value, this.#little);
  }
  f64(value: number): void {
    const at = this.#make(8);
    this.#view.setFloat64(at, value, this.#little);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#make(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** n bytes that are zero, unless something was written there before. */
  skip(n: number): void {
    this.#make(whole(n, 0, Number.MAX_SAFE_INTEGER));
  }

  seek(offset: number): void {
    this.#offset = whole(offset, 0, this.#length);
  }

  /** What was written, in an array of its own. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** Room for n bytes at the cursor, which moves past them. */
  #make(n: number): number {
    const at = this.#offset;
    const end = at + n;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#offset = end;
    if (end > this.#length) this.#length = end;
    return at;
  }
}

function whole(value: number, low: number, high: number): number {
  if (!Number.isInteger(value) || value < low || value > high)
    throw new InvalidInput(`a field takes whole numbers from ${low} to ${high}, found ${value}`);
  return value;
}
