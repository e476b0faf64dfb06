/**
 * A tree together with its particles: what it takes to answer exactly. Around the particles of each node lies a box of its own, as
 * tight as can be. Queries go by these boxes: they hold wherever particles lie and however the tree's box has drifted, and they leave
 * out more. Making them is one walk over the particles, which also finds out whether tree and particles belong together.
 */
import { Corrupt, InvalidInput } from "../../errors.js";
import { type ParticleRoom, particleRoom, roomOf } from "../../kernel/tree.js";
import type { Positions } from "../../model/vectors.js";
import { nodeBounds } from "./bounds.js";
import { ROW } from "./nodes.js";
import { SLACK, visitCells } from "./slices.js";
import type { PackedTree } from "./types.js";

/** Particles in the order of their tree. */
export interface Particles {
  readonly tree: PackedTree;
  readonly count: number;
  /** x, y, z of each. */
  readonly positions: Positions;
  /** Particle i is particle order[i] of the data that the tree was built from; undefined where nobody knows. */
  readonly order: Uint32Array | undefined;
  /** For each node the lower and the upper corner around its particles. */
  readonly bounds: Float64Array;
  /** The positions and the loops over them. */
  readonly room: ParticleRoom;
}

/** A tree and the positions of its particles, in the order of the tree. */
export interface TreeParts {
  readonly tree: PackedTree;
  readonly positions: Positions;
  readonly order?: Uint32Array | undefined;
}

/**
 * Puts a tree and its particles together; Corrupt where they do not belong together. Positions that `buildTree` gave are taken as
 * they lie, others are copied to where the loops reach them.
 */
export async function joinParticles({ tree, positions, order }: TreeParts): Promise<Particles> {
  const count = positions.length / 3;
  const { rows } = tree.nodes;
  const none = count === 0 && tree.nodes.length === 1 && tree.count <= 1; // the phantom of a tree without particles
  if (count !== tree.count && !none)
    throw new Corrupt(`the tree has ${tree.count} particles, and there are the positions of ${count}`);
  if (order !== undefined && order.length !== count)
    throw new InvalidInput(`the order of ${count} particles should be as long, found ${order.length}`);
  const room = roomOf(positions) ?? (await copied(positions));
  const bounds = count > 0 ? nodeBounds(rows, room) : new Float64Array(6 * tree.nodes.length);
  if (count > 0) checkCells(tree, bounds);
  return { tree, count, positions: room.positions, order, bounds, room };
}

async function copied(positions: Positions): Promise<ParticleRoom> {
  const room = await particleRoom(positions.length / 3, positions instanceof Float32Array ? 4 : 8);
  room.positions.set(positions);
  return room;
}

/** Every particle lies in the box of its node; those at the border of the tree may lie beyond it. */
function checkCells(tree: PackedTree, bounds: Float64Array): void {
  visitCells(tree, SLACK, (row, cell) => {
    const at = (6 * row) / ROW;
    for (let axis = 0; axis < 3; axis++)
      if (bounds[at + axis]! < cell[axis]! || bounds[at + axis + 3]! > cell[axis + 3]!)
        throw new Corrupt(
          `the particles do not belong to the tree, or are not in its order: node ${row / ROW} should have them from ${cell[axis]} to ${cell[axis + 3]} along ${"xyz"[axis]}, and has them from ${bounds[at + axis]} to ${bounds[at + axis + 3]}`,
        );
    return true;
  });
}

/** Positions in the order of a tree, from those that it was built from. */
export function inTreeOrder<T extends Positions>(positions: T, order: Uint32Array): T {
  const out = positions.slice() as T;
  for (let i = 0, at = 0; i < order.length; i++) {
    const from = 3 * order[i]!;
    if (!(from < positions.length))
      throw new InvalidInput(`the order names particle ${order[i]}, of ${positions.length / 3}`);
    out[at++] = positions[from]!;
    out[at++] = positions[from + 1]!;
    out[at++] = positions[from + 2]!;
  }
  return out;
}
