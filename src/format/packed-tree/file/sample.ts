/**
 * Levels of detail: which particles stand for all of them, more and more of them from level to level.
 *
 * Space is halved along z, then y, then x, again and again: after b halvings there are cells of b bits. As far down as the tree goes
 * these are its nodes and halves and quarters of nodes; a leaf is cut into equal parts, ten times along each axis. For each cell that
 * has particles stands the one of them with the lowest rank, and the rank of particle i is a number mixed from i: so that samples are
 * even in space and have no pattern, each of them is part of the next, and everybody finds the same.
 *
 * A particle is "born" at the first number of bits at which it stands for its cell: one more than it has in common with the particle of
 * a lower rank that is nearest to it in the order of cells, before or behind. One walk in that order with a stack finds it for all.
 */
import { levelOf, META, NEXT, octantOf, ROW, START, STOP } from "../nodes.js";
import type { TreeRows } from "./rows.js";

/** The particles that stand for the cells of so many bits. */
export interface SampleLevel {
  readonly bits: number;
  /** How many they are, those of coarser levels included. */
  readonly count: number;
}

/** Levels from coarse to fine, and when each particle is born. */
export interface Sample {
  readonly levels: readonly SampleLevel[];
  readonly births: Uint8Array;
}

/** The finest level has at most a quarter of all particles, and each other one at most a quarter of the next. */
const SHARE = 4;
/** Born never: it has the place of another particle, as far as can be told. */
const NEVER = 255;
/** How often a leaf is halved along each axis. */
const PARTS = 10;
/** Leaves of more are those that cannot be divided: they are not cut into parts. */
const MOST = 2 ** 20;
/** Particles that are read at once. */
const PIECE = 2 ** 18;

export async function sampleOf(rows: TreeRows): Promise<Sample> {
  const births = new Uint8Array(rows.count);
  const walk = birthWalk(births);
  let read = { from: 0, to: 0, positions: new Float64Array() as Float32Array | Float64Array };
  let keys = new Float64Array(1024);
  for (const leaf of leavesOf(rows)) {
    const { start, stop } = leaf;
    const count = stop - start;
    if (count > MOST) {
      for (let i = start; i < stop; i++) walk.next(i, i === start ? leaf.common : NEVER);
      continue;
    }
    if (stop > read.to) {
      const to = Math.min(rows.count, Math.max(stop, start + PIECE));
      read = { from: start, to, positions: await rows.positions(start, to) };
    }
    if (count > keys.length) keys = new Float64Array(2 * count);
    const own = partsOf(leaf, read.positions, start - read.from, count, keys);
    let common = leaf.common;
    let before = 0;
    for (let k = 0; k < count; k++) {
      const part = Math.floor(own[k]! / MOST);
      if (k > 0) common = part === before ? NEVER : 3 * leaf.depth + Math.clz32(part ^ before) - (32 - 3 * PARTS);
      walk.next(start + (own[k]! % MOST), common);
      before = part;
    }
  }
  walk.end();
  return { levels: levelsOf(births), births };
}

/** The level, from coarse to fine, from which on a particle is in the sample; −1 for those that are in none. */
export function levelByBirth(levels: readonly SampleLevel[]): Int8Array {
  return Int8Array.from({ length: NEVER + 1 }, (_, birth) => levels.findIndex(({ bits }) => birth <= bits));
}

/** A number that no other i has, without a pattern. */
export function rankOf(i: number): number {
  let h = i ^ (i >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

interface Leaf {
  start: number;
  stop: number;
  /** How many halvings along each axis led to it. */
  depth: number;
  /** The bits that it has in common with the leaf before it. */
  common: number;
  /** Its lower corner, then its sizes. */
  readonly cell: Float64Array;
}

/** The leaves in order; it is one and the same object. */
function* leavesOf({ tree, count }: TreeRows): Generator<Leaf> {
  const { rows } = tree.nodes;
  const [origins, octants] = [new Float64Array(3 * 256), new Int8Array(256)];
  const leaf: Leaf = { start: 0, stop: 0, depth: 0, common: -1, cell: new Float64Array(6) };
  let isNext = false;
  for (let row = 0; row < rows.length && count > 0; row += ROW) {
    const meta = rows[row + META]!;
    const [level, octant] = [levelOf(meta), octantOf(meta)];
    if (isNext) leaf.common = 3 * (level - 2) + Math.clz32(octant ^ octants[level]!) - 29;
    isNext = false;
    octants[level] = octant;
    for (let axis = 0; axis < 3; axis++) {
      const size = tree.box.size[axis]! / 2 ** (level - 1);
      const above = level === 1 ? tree.box.origin[axis]! : origins[3 * (level - 1) + axis]!;
      origins[3 * level + axis] = above + (octant >= 0 && (octant >> axis) & 1 ? size : 0);
      leaf.cell[axis] = origins[3 * level + axis]!;
      leaf.cell[axis + 3] = size;
    }
    if (rows[row + NEXT] !== row / ROW + 1) continue;
    [leaf.start, leaf.stop, leaf.depth] = [rows[row + START]!, rows[row + STOP]!, level - 1];
    yield leaf;
    isNext = true;
  }
}

/** Bit i of a number goes to bit 3 i. */
const SPREAD = Uint32Array.from({ length: 2 ** PARTS }, (_, value) => {
  let out = 0;
  for (let i = 0; i < PARTS; i++) out |= ((value >> i) & 1) << (3 * i);
  return out;
});

/** The parts of a leaf that its particles are in, ascending, each times MOST and with the number of the particle in the leaf. */
function partsOf(
  { cell }: Leaf,
  positions: ArrayLike<number>,
  first: number,
  count: number,
  keys: Float64Array,
): Float64Array {
  const [sx, sy, sz] = [0, 1, 2].map((axis) => 2 ** PARTS / cell[axis + 3]!) as [number, number, number];
  const [ox, oy, oz] = cell as unknown as [number, number, number];
  const last = 2 ** PARTS - 1;
  for (let i = 0, at = 3 * first; i < count; i++, at += 3) {
    const x = Math.min(last, Math.max(0, (positions[at]! - ox) * sx)) | 0; // drift, or a place outside of the box
    const y = Math.min(last, Math.max(0, (positions[at + 1]! - oy) * sy)) | 0;
    const z = Math.min(last, Math.max(0, (positions[at + 2]! - oz) * sz)) | 0;
    const part = (SPREAD[z]! << 2) | (SPREAD[y]! << 1) | SPREAD[x]!;
    keys[i] = part * MOST + i;
  }
  return keys.subarray(0, count).sort();
}

/** Takes particles in the order of cells, each with the bits that it has in common with the one before. */
function birthWalk(births: Uint8Array): { next(particle: number, common: number): void; end(): void } {
  // Those that have not met a lower rank behind them, ranks ascending; `left` is what each has in common with the one below it.
  const particles: number[] = [];
  const ranks: number[] = [];
  const left: number[] = [];
  /** Takes the last one off, which has so much in common with what comes; what the one below it has. */
  const settle = (right: number): number => {
    const own = left.pop()!;
    ranks.pop();
    const most = Math.max(own, right);
    births[particles.pop()!] = most >= NEVER ? NEVER : Math.min(most + 1, NEVER - 1);
    return Math.min(own, right);
  };
  return {
    next(particle, common) {
      const rank = rankOf(particle);
      let shared = common;
      while (ranks.length > 0 && ranks[ranks.length - 1]! > rank) shared = settle(shared);
      particles.push(particle);
      left.push(ranks.length === 0 ? -1 : shared);
      ranks.push(rank);
    },
    end() {
      while (ranks.length > 0) settle(-1);
    },
  };
}

function levelsOf(births: Uint8Array): SampleLevel[] {
  const until = new Float64Array(NEVER);
  for (let i = 0; i < births.length; i++) if (births[i]! < NEVER) until[births[i]!]!++;
  for (let bits = 1; bits < NEVER; bits++) until[bits]! += until[bits - 1]!;
  const levels: SampleLevel[] = [];
  for (let above = births.length; above > 1; above = levels[0]!.count) {
    const most = Math.max(1, Math.floor(above / SHARE));
    let bits = until.findLastIndex((count) => count <= most);
    while (bits > 0 && until[bits - 1] === until[bits]) bits--; // more halvings that tell nothing apart
    levels.unshift({ bits, count: until[bits]! });
  }
  return levels;
}
