/** How much memory `segmentationEncode` takes: the most that a channel can become, and its scratch. */
import type { Block } from "./types.js";

export function segmentationRoom(size: number, shape: Block, block: Block): { most: number; scratch: number } {
  const blocks = shape.reduce((product, length, axis) => product * Math.ceil(length / block[axis]!), 1);
  const inside = shape.reduce((product, length, axis) => product * Math.min(length, block[axis]!), 1);
  const bits = [0, 1, 2, 4, 8, 16, 32].find((bits) => 2 ** bits >= inside)!;
  const indices = 4 * Math.ceil((bits * block[0] * block[1] * block[2]) / 32);
  return {
    most: blocks * (8 + indices + inside * size),
    scratch: 20 * inside + 4 * above(inside) + 8 * above(blocks) + 64,
  };
}

/** The first power of two that is twice n or more. */
const above = (n: number): number => 2 ** Math.ceil(Math.log2(2 * n));
