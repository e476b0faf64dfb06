/**
 * The k nearest particles of a place: those of least distance and, where distances are equal, of least number in the tree. Nodes
 * are visited by the distance of the box around their particles, nearest first, as long as that can still matter. What can matter is
 * guessed at first, from how many particles the nearest leaf has: with a bound from the beginning, most of a tree is never looked
 * at. Where the guess was too small, the search is done again without.
 */
import { InvalidInput } from "../../errors.js";
import { offer, sink } from "../../kernel/plain/tree-nearest.js";
import type { Nearest } from "../../kernel/tree.js";
import type { Triple } from "./box.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "./nodes.js";
import type { Particles } from "./particles.js";
import { checkPeriodic } from "./periodic.js";
import { orderFor, type RangeOptions } from "./range.js";

/** How to ask. */
export interface NearestOptions extends RangeOptions {
  /** No farther than this, itself included; Infinity unless told. */
  readonly within?: number | undefined;
}

/** The nearest of each place, ascending by distance: those of place i from offsets[i] up to offsets[i + 1]. */
export interface Neighbours {
  readonly offsets: Float64Array;
  readonly distances: Float64Array;
  readonly numbers: Uint32Array;
}

/** The k nearest particles of each place; fewer where there are not as many. Places are x, y, z of one after the other. */
export function nearestParticles(
  particles: Particles,
  places: ArrayLike<number>,
  k: number,
  options: NearestOptions = {},
): Neighbours {
  const { within = Infinity, periodic } = options;
  if (!Number.isInteger(k) || k < 1) throw new InvalidInput(`k should be a whole number from 1 on, found ${k}`);
  if (!(within >= 0)) throw new InvalidInput(`a distance should be 0 or more, found ${within}`);
  const asked = places.length / 3;
  let odd = 0; // NaN from the first that is not finite on
  for (let i = 0; i < places.length; i++) odd += places[i]! - places[i]!;
  if (!Number.isInteger(asked) || odd !== 0)
    throw new InvalidInput(`places should be three finite numbers each, found ${places.length} numbers`);
  if (periodic !== undefined) checkPeriodic(periodic);
  const most = Math.min(k, particles.count);
  const offsets = new Float64Array(asked + 1);
  const distances = new Float64Array(asked * most);
  const numbers = new Uint32Array(asked * most);
  const search = new Search(particles, most, within * within, periodic);
  const order = orderFor(particles, options);
  let n = 0;
  for (let i = 0; i < asked && most > 0; i++) {
    const size = search.run(places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!);
    search.take(distances, numbers, n);
    n += size;
    offsets[i + 1] = n;
  }
  if (order !== undefined) for (let i = 0; i < n; i++) numbers[i] = order[numbers[i]!]!;
  if (n === numbers.length) return { offsets, distances, numbers };
  return { offsets, distances: distances.slice(0, n), numbers: numbers.slice(0, n) };
}

/** The children of a node that are still to be visited, by distance: 8 for each of the 255 levels that there can be. */
const waiting = new Uint32Array(8 * 256);
const squares = new Float64Array(8 * 256);

/** One search after the other, in the same memory. The best so far are a heap, whose first is the worst of them. */
class Search {
  readonly #particles: Particles;
  readonly #best: Nearest;
  readonly #most: number;
  readonly #within: number;
  readonly #periods: Triple | undefined;
  /** What counts as near enough while there are not as many as asked for. */
  #bound = 0;
  #size = 0;
  #x = 0;
  #y = 0;
  #z = 0;

  constructor(particles: Particles, most: number, within: number, periods: Triple | undefined) {
    this.#particles = particles;
    this.#best = particles.room.nearest(most);
    this.#most = most;
    this.#within = within;
    this.#periods = periods;
  }

  /** How many were found. */
  run(x: number, y: number, z: number): number {
    this.#x = x;
    this.#y = y;
    this.#z = z;
    this.#bound = Math.min(this.#within, this.#guess());
    this.#size = 0;
    this.#visit(0, 0);
    if (this.#size < this.#most && this.#bound < this.#within) {
      this.#bound = this.#within;
      this.#size = 0;
      this.#visit(0, 0);
    }
    return this.#size;
  }

  /** The square of a radius within which three times as many would be as asked for, if all was as in the nearest leaf. */
  #guess(): number {
    const { tree, bounds } = this.#particles;
    const { rows } = tree.nodes;
    let row = 0;
    while (!isLeaf(rows[row + META]!)) {
      let least = Infinity;
      let nearest = row + ROW;
      for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
        const square = this.#reach(child);
        if (square < least) {
          least = square;
          nearest = child;
        }
      }
      row = nearest;
    }
    const at = (6 * row) / ROW;
    const volume =
      (bounds[at + 3]! - bounds[at]!) * (bounds[at + 4]! - bounds[at + 1]!) * (bounds[at + 5]! - bounds[at + 2]!);
    const radius = Math.cbrt((((9 / (4 * Math.PI)) * volume) / (rows[row + STOP]! - rows[row + START]!)) * this.#most);
    return Number.isNaN(radius) ? Infinity : radius * radius;
  }

  /** Writes what was found, the nearest first, and forgets it. */
  take(distances: Float64Array, found: Uint32Array, at: number): void {
    const { squares, numbers } = this.#best;
    for (let last = this.#size - 1; last >= 0; last--) {
      distances[at + last] = Math.sqrt(squares[0]!);
      found[at + last] = numbers[0]!;
      sink(squares, numbers, last, squares[last]!, numbers[last]!);
    }
  }

  /** What is farther cannot be among them any more. */
  #limit(): number {
    return this.#size < this.#most ? this.#bound : this.#best.squares[0]!;
  }

  #visit(row: number, depth: number): void {
    const { rows } = this.#particles.tree.nodes;
    if (isLeaf(rows[row + META]!)) {
      this.#leaf(rows[row + START]!, rows[row + STOP]!);
      return;
    }
    const limit = this.#limit();
    const first = 8 * depth;
    let end = first;
    for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
      const square = this.#periods === undefined ? this.#reach(child) : this.#wrappedReach(child, this.#periods);
      if (square > limit) continue;
      let at = end++;
      for (; at > first && squares[at - 1]! > square; at--) {
        squares[at] = squares[at - 1]!;
        waiting[at] = waiting[at - 1]!;
      }
      squares[at] = square;
      waiting[at] = child;
    }
    for (let at = first; at < end && squares[at]! <= this.#limit(); at++) this.#visit(waiting[at]!, depth + 1);
  }

  /** The square of the distance to the box of a node. */
  #reach(row: number): number {
    const { bounds } = this.#particles;
    const at = (6 * row) / ROW;
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const dx = above(bounds[at]! - x, x - bounds[at + 3]!);
    const dy = above(bounds[at + 1]! - y, y - bounds[at + 4]!);
    const dz = above(bounds[at + 2]! - z, z - bounds[at + 5]!);
    const square = dx * dx + dy * dy + dz * dz;
    return Number.isNaN(square) ? 0 : square; // where a difference is more than float64 has
  }

  /** The same to its nearest image, less what rounding may have added. */
  #wrappedReach(row: number, periods: Triple): number {
    const { bounds } = this.#particles;
    const place = [this.#x, this.#y, this.#z];
    let sum = 0;
    for (let axis = 0; axis < 3; axis++) {
      const at = (6 * row) / ROW + axis;
      const half = (bounds[at + 3]! - bounds[at]!) / 2;
      const off = place[axis]! - (bounds[at]! + half);
      const scale = Math.abs(place[axis]!) + Math.abs(bounds[at]!) + Math.abs(bounds[at + 3]!);
      const away = Math.abs(wrap(off, periods[axis]!)) - half - scale * 2 ** -44;
      if (away > 0) sum += away * away;
    }
    return sum * (1 - 2 ** -44);
  }

  #leaf(start: number, stop: number): void {
    const { near, squares, numbers } = this.#best;
    const periods = this.#periods;
    if (periods === undefined) this.#size = near(start, stop, this.#x, this.#y, this.#z, this.#size, this.#bound);
    else
      for (let i = start; i < stop; i++) {
        const square = this.#wrappedSquare(i, periods);
        if (square <= this.#limit()) this.#size = offer(squares, numbers, this.#size, this.#most, square, i);
      }
  }

  #wrappedSquare(i: number, periods: Triple): number {
    const { positions } = this.#particles;
    const dx = wrap(this.#x - positions[3 * i]!, periods[0]);
    const dy = wrap(this.#y - positions[3 * i + 1]!, periods[1]);
    const dz = wrap(this.#z - positions[3 * i + 2]!, periods[2]);
    return dx * dx + dy * dy + dz * dz;
  }
}

/** The one of two numbers that is above 0, which the other is not then; else 0. NaN where one is infinite. Without a branch, which nobody could foretell. */
const above = (a: number, b: number): number => (a + Math.abs(a) + (b + Math.abs(b))) / 2;

/** A distance along an axis to the nearest image. */
export const wrap = (distance: number, period: number): number =>
  period === Infinity ? distance : distance - period * Math.round(distance / period);
