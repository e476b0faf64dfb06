/**
 * From positions to a tree: the same nodes, the same box in the header and the same order of the particles as the reference.
 *
 * A node of more particles than the threshold is divided at the middle of its box, along z, then each half along y, then each quarter
 * along x; a coordinate on the plane belongs to the upper half. Only octants with particles become nodes. The box is one set of six
 * numbers that goes down into a child and comes back: what rounding leaves behind moves the planes of later nodes by some units in the
 * last place, and ends up in the header. Whatever else would be faster must have these planes, so this does what the reference does,
 * in its order; the time is in `partition` (src/kernel/tree.ts), which takes no branches.
 */
import { InvalidInput, LimitExceeded } from "../../errors.js";
import { type ParticleRoom, particleRoom } from "../../kernel/tree.js";
import type { Positions } from "../../model/vectors.js";
import { TreeBox, triple } from "./box.js";
import { META, NEXT, type Nodes, ROW, START, STOP } from "./nodes.js";
import { DEFAULT_THRESHOLD } from "./parse.js";
import type { PackedTree } from "./types.js";

/** Positions: x, y, z of one particle after the other, or an array for each axis. */
export type ParticlePositions = Positions | readonly [x: Positions, y: Positions, z: Positions];

/** How to build. */
export interface BuildTreeOptions {
  /** The box; around the particles, as the reference chooses it, unless told. Particles outside stay in the tree. */
  readonly box?: TreeBox | undefined;
  /** Nodes of more particles are divided; 400 unless told, the reference's default. */
  readonly threshold?: number | undefined;
  /** On: the arrays that were given are put in the order of the tree, as the reference does. Off, they are not touched. */
  readonly inPlace?: boolean | undefined;
  /** The time in the header, in seconds since 1970; now, unless told. */
  readonly created?: number | undefined;
}

/** A tree and the particles in its order. */
export interface BuiltTree {
  readonly tree: PackedTree;
  /** Particle i of the tree is particle order[i] of what was given: the reference's own permutation. */
  readonly order: Uint32Array;
  /** x, y, z of each particle, in the order of the tree, as float32 where all that was given is. */
  readonly positions: Positions;
}

/** The tree over these particles. */
export async function buildTree(given: ParticlePositions, options: BuildTreeOptions = {}): Promise<BuiltTree> {
  const { threshold = DEFAULT_THRESHOLD, created = Date.now() / 1000, inPlace = false } = options;
  if (!Number.isInteger(threshold) || threshold < 0 || threshold > 0xffffffff)
    throw new InvalidInput(`a threshold should be a whole number from 0 to 2^32 − 1, found ${threshold}`);
  const count = countOf(given);
  const arrays = isInterleaved(given) ? [given] : given;
  const room = await particleRoom(count, arrays.every((array) => array instanceof Float32Array) ? 4 : 8);
  fill(room, given);
  const around = boundsOf(room, 0, count);
  const first = options.box === undefined ? TreeBox.around(around) : TreeBox.check(options.box);
  const { nodes, box } = divide(room, first, threshold);
  if (inPlace) giveBack(room.positions, given);
  const { order, positions } = room;
  return { tree: { version: [1, 0, 0], created, box, threshold, nodes, count }, order, positions };
}

const isInterleaved = (given: ParticlePositions): given is Positions => ArrayBuffer.isView(given);

function countOf(given: ParticlePositions): number {
  const [x, y, z] = isInterleaved(given) ? [undefined, undefined, undefined] : given;
  if (x !== undefined && (x.length !== y!.length || x.length !== z!.length))
    throw new InvalidInput(
      `positions should be as many along each axis, found ${x.length}, ${y!.length}, ${z!.length}`,
    );
  const count = x === undefined ? (given as Positions).length / 3 : x.length;
  if (!Number.isInteger(count))
    throw new InvalidInput(`positions should be three for each particle, found ${(given as Positions).length} numbers`);
  if (count > 0xffffffff) throw new LimitExceeded(`a tree has at most 2^32 − 1 particles, found ${count}`);
  return count;
}

function fill({ positions, order }: ParticleRoom, given: ParticlePositions): void {
  for (let i = 0; i < order.length; i++) order[i] = i;
  if (isInterleaved(given)) positions.set(given);
  else
    for (let axis = 0; axis < 3; axis++) {
      const values = given[axis]!;
      for (let i = 0, at = axis; i < values.length; i++, at += 3) positions[at] = values[i]!;
    }
}

function giveBack(positions: Positions, given: ParticlePositions): void {
  if (isInterleaved(given)) given.set(positions);
  else
    for (let axis = 0; axis < 3; axis++) {
      const values = given[axis]!;
      for (let i = 0, at = axis; i < values.length; i++, at += 3) values[i] = positions[at]!;
    }
}

/** The corners around particles; what is not finite has no place in a tree. */
export function boundsOf(room: ParticleRoom, start: number, stop: number): Float64Array {
  if (!room.bounds(start, stop)) {
    const at = room.positions.findIndex((value) => !Number.isFinite(value));
    throw new InvalidInput(`positions should be finite, found ${room.positions[at]} along ${"xyz"[at % 3]}`);
  }
  return room.box;
}

function divide(room: ParticleRoom, first: TreeBox, threshold: number): { nodes: Nodes; box: TreeBox } {
  const deepest = TreeBox.deepest(first);
  let [ox, oy, oz] = first.origin;
  let [dx, dy, dz] = first.size;
  let rows = new Uint32Array(1 << 12);
  let count = 0;

  const node = (start: number, stop: number, level: number, place: number): void => {
    const row = ROW * count++;
    if (row + ROW > rows.length) {
      const grown = new Uint32Array(2 * rows.length);
      grown.set(rows);
      rows = grown;
    }
    let flags = 0;
    if (stop - start > threshold && level < deepest) {
      const mx = ox + dx / 2;
      const my = oy + dy / 2;
      const mz = oz + dz / 2;
      const upper = room.partition(start, stop, 2, mz);
      const low = room.partition(start, upper, 1, my);
      const lowest = room.partition(start, low, 0, mx);
      const third = room.partition(low, upper, 0, mx);
      const high = room.partition(upper, stop, 1, my);
      const fifth = room.partition(upper, high, 0, mx);
      const last = room.partition(high, stop, 0, mx);
      const ends = [start, lowest, low, third, upper, fifth, high, last, stop];
      for (let k = 0; k < 8; k++) {
        if (ends[k] === ends[k + 1]) continue;
        flags |= 1 << k;
        dx /= 2;
        dy /= 2;
        dz /= 2;
        if (k & 1) ox += dx;
        if (k & 2) oy += dy;
        if (k & 4) oz += dz;
        node(ends[k]!, ends[k + 1]!, level + 1, k + 1);
        if (k & 1) ox -= dx;
        if (k & 2) oy -= dy;
        if (k & 4) oz -= dz;
        dx *= 2;
        dy *= 2;
        dz *= 2;
      }
    }
    rows[row + NEXT] = count;
    rows[row + START] = start;
    rows[row + STOP] = stop;
    rows[row + META] = (flags << 24) | (place << 16) | (level << 8);
  };

  node(0, room.order.length, 1, 0);
  return {
    nodes: { length: count, rows: rows.slice(0, ROW * count) },
    box: { origin: triple([ox, oy, oz]), size: triple([dx, dy, dz]) },
  };
}
