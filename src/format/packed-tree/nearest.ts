/**
 * The k nearest particles of a place: those of least distance and, where distances are equal, of least number in the tree. Nodes
 * are visited by the distance of the box around their particles, nearest first, as long as that can still matter.
 */
import { InvalidInput } from "../../errors.js";
import { FOUND } from "../../kernel/tree.js";
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
  if (!Number.isInteger(asked) || !Array.prototype.every.call(places, Number.isFinite))
    throw new InvalidInput(`places should be three finite numbers each, found ${places.length} numbers`);
  if (periodic !== undefined) checkPeriodic(periodic);
  const most = Math.min(k, particles.count);
  const offsets = new Float64Array(asked + 1);
  const distances = new Float64Array(asked * most);
  const found = new Uint32Array(asked * most);
  const search = new Search(particles, most, within * within, periodic);
  const order = orderFor(particles, options);
  let n = 0;
  for (let i = 0; i < asked && most > 0; i++) {
    search.run(places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!);
    const size = search.size;
    for (let rank = size - 1; rank >= 0; rank--) {
      distances[n + rank] = Math.sqrt(search.squares[0]!);
      const number = search.numbers[0]!;
      found[n + rank] = order === undefined ? number : order[number]!;
      search.pop();
    }
    n += size;
    offsets[i + 1] = n;
  }
  return { offsets, distances: distances.slice(0, n), numbers: found.slice(0, n) };
}

/** Particles that the kernel looks at before the bound is drawn closer: more where more are asked for, and it hardly moves. */
const pieceFor = (most: number): number => Math.min(FOUND, Math.max(64, 4 * most));

/** The children of a node that are still to be visited, by distance: 8 for each of the 255 levels that there can be. */
const waiting = new Uint32Array(8 * 256);
const squares = new Float64Array(8 * 256);

/** One search after the other, in the same memory. The best so far are a heap, whose first is the worst of them. */
class Search {
  readonly squares: Float64Array;
  readonly numbers: Uint32Array;
  size = 0;
  readonly #particles: Particles;
  readonly #most: number;
  readonly #piece: number;
  readonly #within: number;
  readonly #periods: Triple | undefined;
  #x = 0;
  #y = 0;
  #z = 0;

  constructor(particles: Particles, most: number, within: number, periods: Triple | undefined) {
    this.squares = new Float64Array(most);
    this.numbers = new Uint32Array(most);
    this.#particles = particles;
    this.#most = most;
    this.#piece = pieceFor(most);
    this.#within = within;
    this.#periods = periods;
  }

  run(x: number, y: number, z: number): void {
    this.#x = x;
    this.#y = y;
    this.#z = z;
    this.size = 0;
    this.#visit(0, 0);
  }

  /** What is farther cannot be among them any more. */
  #limit(): number {
    return this.size < this.#most ? this.#within : this.squares[0]!;
  }

  #visit(row: number, depth: number): void {
    const { rows } = this.#particles.tree.nodes;
    if (isLeaf(rows[row + META]!)) {
      this.#leaf(rows[row + START]!, rows[row + STOP]!);
      return;
    }
    const first = 8 * depth;
    let end = first;
    for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
      const square = this.#periods === undefined ? this.#reach(child) : this.#wrappedReach(child, this.#periods);
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
    const dx = Math.max(bounds[at]! - x, x - bounds[at + 3]!, 0);
    const dy = Math.max(bounds[at + 1]! - y, y - bounds[at + 4]!, 0);
    const dz = Math.max(bounds[at + 2]! - z, z - bounds[at + 5]!, 0);
    return dx * dx + dy * dy + dz * dz;
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
    const { room, positions } = this.#particles;
    const periods = this.#periods;
    if (periods !== undefined) {
      for (let i = start; i < stop; i++) this.#offer(this.#wrappedSquare(i, periods), i);
      return;
    }
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    let from = start;
    // Once there are as many as asked for, few particles are near enough: the kernel says which.
    for (; from < stop && this.size < this.#most; from++) {
      const dx = x - positions[3 * from]!;
      const dy = y - positions[3 * from + 1]!;
      const dz = z - positions[3 * from + 2]!;
      this.#offer(dx * dx + dy * dy + dz * dz, from);
    }
    for (; from < stop; from += this.#piece) {
      const n = room.keepSphere(from, Math.min(stop, from + this.#piece), 0, x, y, z, this.#limit());
      for (let k = 0; k < n; k++) {
        const i = room.found[k]!;
        const dx = x - positions[3 * i]!;
        const dy = y - positions[3 * i + 1]!;
        const dz = z - positions[3 * i + 2]!;
        this.#offer(dx * dx + dy * dy + dz * dz, i);
      }
    }
  }

  #wrappedSquare(i: number, periods: Triple): number {
    const { positions } = this.#particles;
    const dx = wrap(this.#x - positions[3 * i]!, periods[0]);
    const dy = wrap(this.#y - positions[3 * i + 1]!, periods[1]);
    const dz = wrap(this.#z - positions[3 * i + 2]!, periods[2]);
    return dx * dx + dy * dy + dz * dz;
  }

  #offer(square: number, number: number): void {
    if (square > this.#limit()) return;
    if (this.size < this.#most) {
      let at = this.size++;
      while (at > 0) {
        const up = (at - 1) >> 1;
        if (!this.#worse(square, number, up)) break;
        this.#put(at, this.squares[up]!, this.numbers[up]!);
        at = up;
      }
      this.#put(at, square, number);
    } else if (!this.#worse(square, number, 0)) this.#sink(square, number);
  }

  /** Takes the worst away. */
  pop(): void {
    this.size--;
    this.#sink(this.squares[this.size]!, this.numbers[this.size]!);
  }

  /** Puts one in the place of the worst. */
  #sink(square: number, number: number): void {
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= this.size) break;
      if (down + 1 < this.size && this.#worse(this.squares[down + 1]!, this.numbers[down + 1]!, down)) down++;
      if (this.#worse(square, number, down)) break;
      this.#put(at, this.squares[down]!, this.numbers[down]!);
      at = down;
    }
    this.#put(at, square, number);
  }

  #put(at: number, square: number, number: number): void {
    this.squares[at] = square;
    this.numbers[at] = number;
  }

  #worse(square: number, number: number, than: number): boolean {
    const other = this.squares[than]!;
    return square > other || (square === other && number > this.numbers[than]!);
  }
}

/** A distance along an axis to the nearest image. */
export const wrap = (distance: number, period: number): number =>
  period === Infinity ? distance : distance - period * Math.round(distance / period);
