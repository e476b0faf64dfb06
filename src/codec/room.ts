/**
 * Memory that is used again. Fresh memory costs more than decoding into it: the system clears each page when it is first
 * touched. What lies here is good until the next call; whoever wants to keep it copies it.
 */
import type { Into, Room } from "./types.js";

const KEPT = 16 << 20;

let kept = new ArrayBuffer(0);

/** Room for so many bytes on this thread; fresh where it would be a lot to keep. */
export function roomHere(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > KEPT) return new Uint8Array(bytes);
  if (kept.byteLength < bytes) kept = new ArrayBuffer(bytes);
  return new Uint8Array(kept, 0, bytes);
}

/** Memory of so many bytes where the caller has some, or wants to be lent some. */
export function placeFor(into: Into | undefined, bytes: number): Uint8Array | undefined {
  if (into === "lend") return roomHere(bytes);
  if (into === undefined || into instanceof Uint8Array) return into?.length === bytes ? into : undefined;
  return into.take(bytes);
}

/** The same bytes, but not in the memory that is used again. */
export const outOfRoom = (bytes: Uint8Array): Uint8Array => (bytes.buffer === kept ? bytes.slice() : bytes);

/** Room for results that are gone, all of them, when `clear` is called: then it is used again. */
export class Arena implements Room {
  #buffers = [new ArrayBuffer(1 << 20)];
  #used = 0;

  take(bytes: number): Uint8Array {
    const last = this.#buffers.at(-1)!;
    const at = (this.#used + 7) & ~7; // so that words and numbers can be read where they lie
    if (at + bytes <= last.byteLength) {
      this.#used = at + bytes;
      return new Uint8Array(last, at, bytes);
    }
    const next = new ArrayBuffer(Math.max(bytes, 2 * last.byteLength));
    this.#buffers.push(next);
    this.#used = bytes;
    return new Uint8Array(next, 0, bytes);
  }

  /** Keeps the largest of its buffers. */
  clear(): void {
    this.#buffers = [this.#buffers.at(-1)!];
    this.#used = 0;
  }
}
