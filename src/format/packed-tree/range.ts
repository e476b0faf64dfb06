/** Which particles are in a region, and how many: exactly those that a test of every one would find. */
import { InvalidInput } from "../../errors.js";
import { FOUND } from "../../kernel/tree.js";
import type { Triple } from "./box.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "./nodes.js";
import type { Particles } from "./particles.js";
import { imagesOf } from "./periodic.js";
import { INSIDE, OUTSIDE, PARTLY, type RegionTest, regionTest, type TreeRegion } from "./region.js";

/** How to ask. */
export interface RangeOptions {
  /** The lengths after which space repeats along x, y and z (Infinity: never): a region reaches through the faces. */
  readonly periodic?: Triple | undefined;
  /** "tree": numbers in the order of the tree, ascending. "original": those of the data that it was built from, in the same order. */
  readonly numbers?: "tree" | "original" | undefined;
}

/** The answers to several questions: that to question i is numbers[offsets[i]] up to numbers[offsets[i + 1]]. */
export interface Answers {
  readonly offsets: Float64Array;
  readonly numbers: Uint32Array;
}

/** The particles in a region. */
export function particlesIn(particles: Particles, region: TreeRegion, options: RangeOptions = {}): Uint32Array {
  const order = orderFor(particles, options);
  const images = imagesOf(region, particles, options.periodic);
  const numbers = joined(images.map((image) => collect(particles, regionTest(image))));
  const out = images.length > 1 ? ascending(numbers) : numbers;
  if (order !== undefined) for (let i = 0; i < out.length; i++) out[i] = order[out[i]!]!;
  return out;
}

/** The particles in each of several regions. */
export function particlesInEach(
  particles: Particles,
  regions: readonly TreeRegion[],
  options: RangeOptions = {},
): Answers {
  const answers = regions.map((region) => particlesIn(particles, region, options));
  const offsets = new Float64Array(regions.length + 1);
  for (const [i, { length }] of answers.entries()) offsets[i + 1] = offsets[i]! + length;
  return { offsets, numbers: joined(answers) };
}

/** How many particles are in a region. */
export function countIn(particles: Particles, region: TreeRegion, options: RangeOptions = {}): number {
  const images = imagesOf(region, particles, options.periodic);
  if (images.length > 1) return particlesIn(particles, region, options).length;
  return images.length === 0 ? 0 : count(particles, regionTest(images[0]!));
}

/** How many particles are in each of several regions. */
export const countInEach = (
  particles: Particles,
  regions: readonly TreeRegion[],
  options: RangeOptions = {},
): Float64Array => Float64Array.from(regions, (region) => countIn(particles, region, options));

/** What numbers of the tree have to be replaced by; undefined where they are to stay. */
export function orderFor({ order }: Particles, { numbers = "tree" }: RangeOptions): Uint32Array | undefined {
  if (numbers === "tree") return undefined;
  if (order === undefined)
    throw new InvalidInput("the numbers that particles had before are not known: they were given without an order");
  return order;
}

/** The ranges of nodes that are inside whole, and of leaves that are partly: start, stop and whether it is whole. */
function ranges({ tree, bounds, count }: Particles, test: RegionTest): number[] {
  const { rows } = tree.nodes;
  const out: number[] = [];
  for (let row = 0; row < rows.length && count > 0; ) {
    const met = test.relation(bounds, (6 * row) / ROW);
    const inner = met === PARTLY && !isLeaf(rows[row + META]!);
    if (met !== OUTSIDE && !inner) out.push(rows[row + START]!, rows[row + STOP]!, met);
    row = inner ? row + ROW : ROW * rows[row + NEXT]!;
  }
  return out;
}

/**
 * The numbers of the particles in a region. The kernel finds them, in memory that is used again and again: new memory costs more than
 * finding what goes there, so that none is taken before, where all fit, or once.
 */
function collect(particles: Particles, test: RegionTest): Uint32Array {
  const { room } = particles;
  const { found } = room;
  const list = ranges(particles, test);
  let most = 0;
  for (let k = 0; k < list.length; k += 3) most += list[k + 1]! - list[k]!;
  const out = most > FOUND ? new Uint32Array(most) : undefined;
  let at = 0;
  let n = 0;
  for (let k = 0; k < list.length; k += 3) {
    const stop = list[k + 1]!;
    for (let from = list[k]!; from < stop; ) {
      if (n === FOUND) {
        out!.set(found.subarray(0, n), at);
        at += n;
        n = 0;
      }
      const end = Math.min(stop, from + FOUND - n);
      n = list[k + 2] === INSIDE ? room.keepAll(from, end, n) : test.keep(room, from, end, n);
      from = end;
    }
  }
  if (out === undefined) return new Uint32Array(found.subarray(0, n)); // is not cleared first, as a slice would be
  out.set(found.subarray(0, n), at);
  at += n;
  return 2 * at < most ? out.slice(0, at) : out.subarray(0, at);
}

function count(particles: Particles, test: RegionTest): number {
  const list = ranges(particles, test);
  let sum = 0;
  for (let k = 0; k < list.length; k += 3) {
    const stop = list[k + 1]!;
    if (list[k + 2] === INSIDE) sum += stop - list[k]!;
    else
      for (let from = list[k]!; from < stop; from += FOUND)
        sum += test.keep(particles.room, from, Math.min(stop, from + FOUND), 0);
  }
  return sum;
}

function joined(pieces: readonly Uint32Array[]): Uint32Array {
  if (pieces.length === 1) return pieces[0]!;
  const out = new Uint32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

/** In order, each number once. */
function ascending(numbers: Uint32Array): Uint32Array {
  numbers.sort();
  let n = 0;
  for (let i = 0; i < numbers.length; i++) if (i === 0 || numbers[i] !== numbers[i - 1]) numbers[n++] = numbers[i]!;
  return numbers.subarray(0, n);
}
