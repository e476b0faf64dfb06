/**
 * Memory that is used again. Fresh memory costs more than decoding into it: the system clears each page when it is first
 * touched. What lies here is good until the next call; whoever wants to keep it copies it.
 */
import type { Into } from "./types.js";

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
  return into?.length === bytes ? into : undefined;
}

/** The same bytes, but not in the memory that is used again. */
export const outOfRoom = (bytes: Uint8Array): Uint8Array => (bytes.buffer === kept ? bytes.slice() : bytes);
