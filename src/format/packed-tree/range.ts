/** Which particles are in a region, and how many: exactly those that a test of every one would find. */
import { InvalidInput } from "../../errors.js";
import type { Triple } from "./box.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "./nodes.js";
import type { Particles } from "./particles.js";
import { imagesOf } from "./periodic.js";
import { INSIDE, PARTLY, type RegionTest, regionTest, type TreeRegion } from "./region.js";

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
  const list = new List();
  collect(particles, region, options, list);
  return list.numbers.slice(0, list.length);
}

/** The particles in each of several regions. */
export function particlesInEach(
  particles: Particles,
  regions: readonly TreeRegion[],
  options: RangeOptions = {},
): Answers {
  const list = new List();
  const offsets = new Float64Array(regions.length + 1);
  for (const [i, region] of regions.entries()) {
    collect(particles, region, options, list);
    offsets[i + 1] = list.length;
  }
  return { offsets, numbers: list.numbers.slice(0, list.length) };
}

/** How many particles are in a region. */
export function countIn(particles: Particles, region: TreeRegion, options: RangeOptions = {}): number {
  const images = imagesOf(region, particles, options.periodic);
  if (images.length > 1) return particlesIn(particles, region, options).length;
  return images.length === 0 ? 0 : countWith(particles, regionTest(images[0]!));
}

/** How many particles are in each of several regions. */
export const countInEach = (
  particles: Particles,
  regions: readonly TreeRegion[],
  options: RangeOptions = {},
): Float64Array => Float64Array.from(regions, (region) => countIn(particles, region, options));

/** Numbers, as many as there come. */
class List {
  numbers = new Uint32Array(1024);
  length = 0;

  /** Room for so many more, and one behind them, which tests without branches write to. */
  room(more: number): Uint32Array {
    const needed = this.length + more + 1;
    if (needed > this.numbers.length) {
      const grown = new Uint32Array(Math.max(needed, 2 * this.numbers.length));
      grown.set(this.numbers.subarray(0, this.length));
      this.numbers = grown;
    }
    return this.numbers;
  }
}

function collect(particles: Particles, region: TreeRegion, options: RangeOptions, list: List): void {
  const order = orderFor(particles, options);
  const first = list.length;
  const images = imagesOf(region, particles, options.periodic);
  for (const image of images) collectWith(particles, regionTest(image), list);
  if (images.length > 1) list.length = first + ascending(list.numbers.subarray(first, list.length));
  if (order !== undefined) for (let i = first; i < list.length; i++) list.numbers[i] = order[list.numbers[i]!]!;
}

/** What numbers of the tree have to be replaced by; undefined where they are to stay. */
export function orderFor({ order }: Particles, { numbers = "tree" }: RangeOptions): Uint32Array | undefined {
  if (numbers === "tree") return undefined;
  if (order === undefined)
    throw new InvalidInput("the numbers that particles had before are not known: they were given without an order");
  return order;
}

function collectWith({ tree, positions, bounds, count }: Particles, test: RegionTest, list: List): void {
  const { rows } = tree.nodes;
  for (let row = 0; row < rows.length && count > 0; ) {
    const met = test.relation(bounds, (6 * row) / ROW);
    const leaf = isLeaf(rows[row + META]!);
    if (met === INSIDE || (met === PARTLY && leaf)) {
      const start = rows[row + START]!;
      const stop = rows[row + STOP]!;
      const out = list.room(stop - start);
      const n = list.length;
      list.length = met === INSIDE ? all(start, stop, out, n) : test.keep(positions, start, stop, out, n);
    }
    row = met === PARTLY && !leaf ? row + ROW : ROW * rows[row + NEXT]!;
  }
}

function all(start: number, stop: number, out: Uint32Array, n: number): number {
  for (let i = start; i < stop; i++) out[n++] = i;
  return n;
}

function countWith({ tree, positions, bounds, count }: Particles, test: RegionTest): number {
  const { rows } = tree.nodes;
  let n = 0;
  for (let row = 0; row < rows.length && count > 0; ) {
    const met = test.relation(bounds, (6 * row) / ROW);
    const leaf = isLeaf(rows[row + META]!);
    const start = rows[row + START]!;
    const stop = rows[row + STOP]!;
    if (met === INSIDE) n += stop - start;
    else if (met === PARTLY && leaf) n += test.count(positions, start, stop);
    row = met === PARTLY && !leaf ? row + ROW : ROW * rows[row + NEXT]!;
  }
  return n;
}

/** Sorts, and leaves each number once; how many there are. */
function ascending(numbers: Uint32Array): number {
  numbers.sort();
  let n = 0;
  for (let i = 0; i < numbers.length; i++) if (i === 0 || numbers[i] !== numbers[i - 1]) numbers[n++] = numbers[i]!;
  return n;
}
