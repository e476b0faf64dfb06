/** The shuffle of one blosc block, in a workspace of up to three blocks: the block, the result, and scratch. */
import type { Workspace } from "../kernel/index.js";
import type { BloscShuffle } from "./blosc-header.js";

export interface BlockLayout {
  readonly shuffle: BloscShuffle;
  readonly typesize: number;
  readonly blocksize: number;
}

/** How many blocks the workspace has. */
export const filterBlocks = { none: 1, byte: 2, bit: 3 } as const;

/**
 * Shuffles or unshuffles the `size` bytes at `block`, and answers where the result lies: at `target`, or in place where
 * there is nothing to do. Bytes behind the last whole element stay where they are, and so does a whole block whose
 * elements do not fill bytes of bits.
 */
export function filterBlock(
  room: Workspace,
  direction: "shuffle" | "unshuffle",
  { shuffle, typesize, blocksize }: BlockLayout,
  block: number,
  size: number,
  target = block + blocksize,
): number {
  const count = Math.trunc(size / typesize);
  if (shuffle === "byte" && typesize > 1) room[direction](typesize, block, count, target);
  else if (shuffle === "bit" && count % 8 === 0)
    room[`bit${direction}`](typesize, block, count, target, block + 2 * blocksize);
  else return block;
  const moved = count * typesize;
  room.memory.copyWithin(target + moved, block + moved, block + size);
  return target;
}
