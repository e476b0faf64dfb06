/** What a decoder of bytes may give: exactly what is expected, or what the limits let through. */
import { Corrupt, LimitExceeded } from "../errors.js";
import { decodedCap, type Limits } from "../limits.js";

export interface OutputRoom {
  /** The most bytes. */
  readonly cap: number;
  /** A good first allocation. */
  readonly guess: number;
  /** The error for another size. */
  wrong(found: string): Error;
}

export function outputRoom(what: string, encoded: number, expected: number | undefined, limits: Limits): OutputRoom {
  const cap = expected ?? decodedCap(encoded, limits);
  return {
    cap,
    guess: expected ?? Math.min(cap, 4 * encoded),
    wrong: (found) =>
      expected === undefined
        ? new LimitExceeded(`${encoded} bytes of ${what} should decode to at most ${cap} bytes, found ${found}`)
        : new Corrupt(`${what} should decode to ${expected} bytes, found ${found}`),
  };
}

/** A buffer that grows within its room. Decoders that look back at what they gave read `bytes` below `size`. */
export class Output {
  bytes: Uint8Array<ArrayBuffer>;
  size = 0;
  readonly room: OutputRoom;

  constructor(room: OutputRoom) {
    this.room = room;
    this.bytes = new Uint8Array(room.guess);
  }

  /** Room for n more bytes, or the room's error. */
  reserve(n: number): void {
    const wanted = this.size + n;
    if (wanted <= this.bytes.length) return;
    if (wanted > this.room.cap) throw this.room.wrong("more");
    const grown = new Uint8Array(Math.min(this.room.cap, Math.max(wanted, 2 * this.bytes.length)));
    grown.set(this.bytes);
    this.bytes = grown;
  }

  /** Everything, checked against the expected size. */
  finish(expected: number | undefined): Uint8Array {
    if (expected !== undefined && this.size !== expected) throw this.room.wrong(`${this.size}`);
    return this.size === this.bytes.length ? this.bytes : this.bytes.slice(0, this.size);
  }
}

/** Streams one after another are one content, but each costs a start: thousands of tiny ones are there to cost time. */
export function refuseCrumbs(what: string, streams: number, bytes: number): void {
  if (streams > 1000 && 256 * streams > bytes)
    throw new LimitExceeded(
      `${what} of ${bytes} bytes should be at most ${Math.max(1000, bytes >> 8)} streams, found more`,
    );
}

/** What Node gives, as a plain array with a buffer of its own: small results share a pool, others may have room to spare. */
export const owned = (bytes: Uint8Array): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
