/**
 * The nodes of a tree, as words of 32 bits in depth-first order. A node has its children between its fourth and its last word.
 *
 * | word     | holds                                                                                                |
 * |----------|------------------------------------------------------------------------------------------------------|
 * | 0        | skip: how many words the node has, those of its children included; 5 for a leaf                       |
 * | 1        | the first particle                                                                                   |
 * | 2        | the last particle, which belongs to the node                                                         |
 * | 3        | children << 24, place << 16, level << 8: bit k of children says that octant k is there; the place is   |
 * |          | 1 + the octant that the node is in its parent, 0 for the root; the root has level 1                    |
 * | 4 …      | the children, by ascending octant: bit 0 is the upper half along x, bit 1 along y, bit 2 along z       |
 * | skip − 1 | how many words further back the parent begins; 0 for the root                                         |
 *
 * In memory a node is a row of four numbers, in the same order: a walk needs no stack, and finds nothing left to check. Word 3 of
 * the seed is drawn as bytes, with a root of level 0; SPEC.md says what else is read of it.
 */
import type { Endian } from "../../bytes/dtype.js";

/** All nodes of a tree, root first; row i is rows[4 i] and the three after it. */
export interface Nodes {
  readonly length: number;
  readonly rows: Uint32Array;
}

/** The numbers of a row. */
export const ROW = 4;
/** The row that follows when the children are left out. */
export const NEXT = 0;
/** The first particle. */
export const START = 1;
/** The first particle behind. */
export const STOP = 2;
/** Children, place and level, as in word 3. */
export const META = 3;

export const FIELDS = 5;

/** Whether a row is of a leaf. */
export const isLeaf = (meta: number): boolean => meta >>> 24 === 0;
/** The octant that a node is in its parent; −1 for the root. */
export const octantOf = (meta: number): number => ((meta >>> 16) & 255) - 1;
export const levelOf = (meta: number): number => (meta >>> 8) & 255;

/** What is wrong with a node: which of the rules, the node's first word, and a sentence. */
export type Problem = (rule: NodeRule, word: number, message: string) => void;
export type NodeRule = "tree-skip" | "tree-flags" | "tree-level" | "tree-place" | "tree-range" | "tree-parent";

/** How word 3 is to be understood. The seed's root has level 0, and on little-endian machines its bytes are the other way round. */
type Layout = "reference" | "seed";

/**
 * The nodes in these words. Every word is looked at once, in order, and each problem is told; what is returned is whole where
 * none was.
 */
export function parseNodes(words: Uint32Array, endian: Endian, problem: Problem): Nodes {
  const layout: Layout =
    words.length >= FIELDS && (levelOf(words[3]!) === 1 || !isSeedRoot(words[3]!, endian)) ? "reference" : "seed";
  const rows = new Uint32Array(ROW * Math.floor(words.length / FIELDS));
  let count = 0;

  /** The node at a word whose parent ends before `limit`; the first word behind it, or −1 where nobody can tell. */
  const walk = (at: number, limit: number, parent: number, above: number, octant: number): number => {
    if (at + FIELDS > limit) {
      problem("tree-skip", at, `needs ${FIELDS} words, and ${limit - at} are left`);
      return -1;
    }
    const meta = layout === "seed" && endian === "little" ? reversed(words[at + 3]!) : words[at + 3]!;
    const flags = meta >>> 24;
    const skip = words[at]! === 20 && flags === 0 && layout === "seed" ? FIELDS : words[at]!;
    const children = bits(flags);
    const least = FIELDS * (1 + children);
    if (skip % FIELDS !== 0 || skip < least || (children === 0 && skip !== least) || skip > limit - at) {
      const range = children === 0 ? `${FIELDS}` : `a multiple of ${FIELDS} from ${least} to ${limit - at}`;
      problem("tree-skip", at, `has ${children} children and a skip of ${words[at]}, which should be ${range}`);
      return -1;
    }
    const level = levelOf(meta) + (layout === "seed" ? 1 : 0);
    const [start, end] = [words[at + 1]!, words[at + 2]!];
    if ((meta & 255) !== 0) problem("tree-flags", at, `has ${meta & 255} in the byte that is not used`);
    if (level !== above + 1) {
      problem("tree-level", at, `has level ${level}, expected ${above + 1}`);
      if (level <= above) return -1; // so that no walk is deeper than a level can say
    }
    const place = octantOf(meta) + 1;
    const zeroBased = layout === "seed" && octant >= 0 && place === octant;
    if (place !== octant + 1 && !zeroBased)
      problem("tree-place", at, `is child ${place} of its parent, expected ${octant + 1}`);
    if (end < start || end === 0xffffffff) problem("tree-range", at, `has the particles from ${start} to ${end}`);
    const row = ROW * count++;
    rows[row + START] = start;
    rows[row + STOP] = end + 1;
    rows[row + META] = (flags << 24) | ((octant + 1) << 16) | (level << 8);

    const last = at + skip - 1;
    let next = at + FIELDS - 1;
    let from = start;
    for (let k = 0; k < 8 && next >= 0; k++) {
      if ((flags & (1 << k)) === 0) continue;
      const child = next;
      next = walk(child, last, at, level, k);
      if (next < 0) continue;
      if (words[child + 1] !== from)
        problem("tree-range", child, `begins with particle ${words[child + 1]}, expected ${from}`);
      from = words[child + 2]! + 1;
    }
    if (next >= 0 && next !== last)
      problem("tree-skip", at, `has a skip of ${skip}, and children up to its word ${next - at}`);
    if (next >= 0 && children > 0 && from !== end + 1)
      problem("tree-range", at, `ends with particle ${end}, and its last child with ${from - 1}`);
    const offset = words[last]!;
    if (offset !== at - parent && !(layout === "seed" && isSeedOffset(offset, at - parent, skip)))
      problem("tree-parent", at, `has its parent ${offset} words further back, expected ${at - parent}`);
    rows[row + NEXT] = count;
    return at + skip;
  };

  const end = walk(0, words.length, 0, 0, -1);
  if (end >= 0 && end !== words.length) problem("tree-skip", 0, `ends at word ${end}, and there are ${words.length}`);
  if (words[1] !== 0 && words.length >= FIELDS)
    problem("tree-range", 0, `begins with particle ${words[1]}, expected 0`);
  return { length: count, rows: rows.subarray(0, ROW * count) };
}

/** A root as the seed has it: level 0, place 0. */
const isSeedRoot = (meta: number, endian: Endian): boolean =>
  ((endian === "little" ? reversed(meta) : meta) & 0x00ffffff) === 0;

/**
 * The seed's example leaves out the parent's four words behind earlier siblings, and its table counts the node's own skip.
 * Nothing is found by these words, so trees in its layout may have either.
 */
const isSeedOffset = (offset: number, back: number, skip: number): boolean =>
  back > 0 && (offset === back - 4 || offset === back - 4 + skip);

function bits(flags: number): number {
  let count = 0;
  for (let rest = flags; rest !== 0; rest &= rest - 1) count++;
  return count;
}

const reversed = (word: number): number =>
  ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;

/** The words of these nodes, as the reference writes them. */
export function encodeNodes({ length, rows }: Nodes): Uint32Array {
  const words = new Uint32Array(FIELDS * length);
  let at = 0;
  let node = 0;
  const write = (parent: number): void => {
    const own = at;
    const row = ROW * node++;
    words[own + 1] = rows[row + START]!;
    words[own + 2] = Math.max(rows[row + STOP]! - 1, 0);
    words[own + 3] = rows[row + META]!;
    at += FIELDS - 1;
    while (node < rows[row + NEXT]!) write(own);
    words[at++] = own - parent;
    words[own] = at - own;
  };
  write(0);
  return words;
}
