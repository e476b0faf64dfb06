/** Around the particles of each node a box, as tight as can be: for each node the lower and the upper corner. */
import { InvalidInput } from "../../errors.js";
import type { ParticleRoom } from "../../kernel/tree.js";
import { isLeaf, META, NEXT, ROW, START, STOP } from "./nodes.js";

/** The corners around particles; what is not finite has no place in a tree. */
export function boundsOf(room: ParticleRoom, start: number, stop: number): Float64Array {
  if (!room.bounds(start, stop)) {
    const at = room.positions.findIndex((value) => !Number.isFinite(value));
    throw new InvalidInput(
      `positions should be finite, found ${room.positions[at]} as ${"xyz"[at % 3]} of particle ${Math.floor(at / 3)}`,
    );
  }
  return room.box;
}

/** The boxes of all nodes, of which each has particles. */
export function nodeBounds(rows: Uint32Array, room: ParticleRoom): Float64Array {
  const bounds = new Float64Array((6 * rows.length) / ROW);
  for (let row = rows.length - ROW; row >= 0; row -= ROW) {
    if (isLeaf(rows[row + META]!)) bounds.set(boundsOf(room, rows[row + START]!, rows[row + STOP]!), (6 * row) / ROW);
    else boundChildren(bounds, rows, row);
  }
  return bounds;
}

/** The box of a node around those of its children. */
export function boundChildren(bounds: Float64Array, rows: Uint32Array, row: number): void {
  const at = (6 * row) / ROW;
  bounds.fill(Infinity, at, at + 3).fill(-Infinity, at + 3, at + 6);
  for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!)
    for (let axis = 0; axis < 3; axis++) {
      const of = (6 * child) / ROW + axis;
      if (bounds[of]! < bounds[at + axis]!) bounds[at + axis] = bounds[of]!;
      if (bounds[of + 3]! > bounds[at + axis + 3]!) bounds[at + axis + 3] = bounds[of + 3]!;
    }
}
