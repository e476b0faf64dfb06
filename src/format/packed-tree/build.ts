/** From positions to a tree: the same nodes, the same box in the header and the same order of the particles as the reference. */
import { InvalidInput, LimitExceeded } from "../../errors.js";
import { type ParticleRoom, particleRoom } from "../../kernel/tree.js";
import type { Positions } from "../../model/vectors.js";
import type { Pool } from "../../worker/pool.js";
import { boundsOf } from "./bounds.js";
import { TreeBox } from "./box.js";
import { division, type NodeSink } from "./divide.js";
import { META, NEXT, type Nodes, ROW, START, STOP } from "./nodes.js";
import { DEFAULT_THRESHOLD } from "./parse.js";
import { divideTogether, WORTH_SHARING } from "./share.js";
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
  /** Workers that divide many particles together, where threads can share memory. The tree is the same, and so is the order. */
  readonly pool?: Pool | undefined;
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
  const { created = Date.now() / 1000, inPlace = false } = options;
  const threshold = thresholdOf(options);
  const count = countOf(given);
  const arrays = isInterleaved(given) ? [given] : given;
  const pool = count >= WORTH_SHARING && options.pool !== undefined && options.pool.size > 1 ? options.pool : undefined;
  const bytes = arrays.every((array) => array instanceof Float32Array) ? 4 : 8;
  const room = await particleRoom(count, bytes, 1 + (pool?.size ?? 0));
  const touched = pool && room.share && pool.run("tree.touch", room.share(1));
  fill(room, given);
  await touched;
  const around = boundsOf(room, 0, count);
  for (let axis = 0; axis < 3; axis++) if (around[axis] === 0) around[axis] = lastZero(room.positions, axis);
  const first = options.box === undefined ? TreeBox.around(around) : TreeBox.check(options.box);
  let divided = pool && room.share && (await divideTogether(room, first, threshold, pool));
  if (divided === undefined) {
    if (pool !== undefined) fill(room, given); // back to the beginning
    divided = divideAlone(room, first, threshold);
  }
  const { nodes, box } = divided;
  if (inPlace) giveBack(room.positions, given);
  const { order, positions } = room;
  return {
    tree: { version: [1, 0, 0], created, box, threshold, nodes, count },
    order,
    positions,
  };
}

function divideAlone(room: ParticleRoom, root: TreeBox, threshold: number): { nodes: Nodes; box: TreeBox } {
  const rows = nodeRows();
  const walk = division(root, threshold, rows);
  walk.node(room, 0, 0, room.order.length, 1, 0);
  return { nodes: rows.nodes(), box: walk.box() };
}

export function thresholdOf({ threshold = DEFAULT_THRESHOLD }: BuildTreeOptions): number {
  if (!Number.isInteger(threshold) || threshold < 0 || threshold > 0xffffffff)
    throw new InvalidInput(`a threshold should be a whole number from 0 to 2^32 − 1, found ${threshold}`);
  return threshold;
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

/** Of zeros with either sign the reference takes the last, which shows in the header. */
function lastZero(positions: Positions, axis: number): number {
  let at = positions.length - 3 + axis;
  while (positions[at] !== 0) at -= 3;
  return positions[at]!;
}

/** Nodes as rows, `most` of them; one more is the error that `exceeded` makes. */
export function nodeRows(most = Number.POSITIVE_INFINITY, exceeded?: () => Error): NodeSink & { nodes(): Nodes } {
  let rows = new Uint32Array(1 << 12);
  let count = 0;
  return {
    begin(start, stop, level, place) {
      const row = ROW * count++;
      if (row + ROW > rows.length) {
        if (count > most) throw exceeded!();
        const grown = new Uint32Array(Math.min(2 * rows.length, ROW * Math.max(count, Math.floor(most))));
        grown.set(rows);
        rows = grown;
      }
      rows[row + START] = start;
      rows[row + STOP] = stop;
      rows[row + META] = (place << 16) | (level << 8);
      return row;
    },
    end(row, flags) {
      rows[row + NEXT] = count;
      rows[row + META]! |= flags << 24;
    },
    nodes: () => ({ length: count, rows: rows.slice(0, ROW * count) }),
  };
}
