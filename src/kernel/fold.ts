/**
 * Long checksums without tables. The crc of bytes is the remainder of a division of polynomials: bytes may be changed by any
 * multiple of the divisor and keep their crc. Some multiples have no more than four terms, 1 + y^a + y^b + y^far with y = one
 * byte, and by adding one of them each byte vanishes where it is and comes back at three places further on. What is left at
 * the end are the last `far` bytes, which go through the tables. docs/decisions/checksums.md says how much that saves.
 */
import type { Crc } from "../bytes/hash/crc.js";
import type { Kernel } from "./types.js";

/** How many bytes further on a byte may be added instead, at all three places at once. */
export type Places = readonly [near: number, middle: number, far: number];

/** At a time: what stays in a processor's own memory, and leaves little for the tables. */
const PIECE = 1 << 18;

/** The same sums as `crc`, faster where the bytes are many and the kernel has vectors. */
export function foldedSum(kernel: Kernel, crc: Crc, places: Places): Crc {
  const far = places[2];
  if (kernel.kind === "plain") return crc;
  return (bytes, before = 0) => {
    let sum = before;
    let at = 0;
    while (bytes.length - at > 2 * far) {
      const size = Math.min(PIECE, bytes.length - at);
      const { memory, start, fold } = kernel.reserve(size);
      memory.set(bytes.subarray(at, at + size), start);
      for (let i = 0; i < 4; i++) memory[start + i]! ^= ~sum >>> (8 * i); // the state of a crc is added to what comes next
      const moved = (size - far) & ~15;
      fold(start, moved, ...places);
      sum = crc(memory.subarray(start + moved, start + size), -1 >>> 0);
      at += size;
    }
    return crc(bytes.subarray(at), sum);
  };
}
