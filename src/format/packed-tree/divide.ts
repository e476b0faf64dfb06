/**
 * How particles are divided among nodes, as the reference does it.
 *
 * A node of more particles than the threshold is divided at the middle of its box, along z, then each half along y, then each quarter
 * along x; a coordinate on the plane belongs to the upper half. Only octants with particles become nodes. The box is one set of six
 * numbers that goes down into a child and comes back: what rounding leaves behind moves the planes of later nodes by some units in the
 * last place, and ends up in the header. Whatever else would be faster must have these planes, so this does what the reference does,
 * in its order; the time is in `partition` (src/kernel/tree.ts), which takes no branches.
 */
import type { ParticleRoom } from "../../kernel/tree.js";
import { TreeBox, type Triple, triple } from "./box.js";

/** Where nodes go, in depth-first order. */
export interface NodeSink {
  /** A node begins, with the particles from `start` up to `stop`; what `end` is to be told. */
  begin(start: number, stop: number, level: number, place: number): number;
  /** All nodes below it have come; bit k of `flags` says that octant k is there. */
  end(node: number, flags: number): void;
}

/** A walk through the nodes of a tree. */
export interface Division {
  /** The node over particles in memory, and all below; particle i of the room is particle base + i of the tree. */
  node(room: ParticleRoom, base: number, start: number, stop: number, level: number, place: number): void;
  /** Whether a node of so many particles stays whole. */
  isLeaf(count: number, level: number): boolean;
  /** The planes that divide the node where the walk is. */
  middle(): Triple;
  /** Into an octant, and back. */
  enter(octant: number): void;
  leave(octant: number): void;
  /** The box of the node where the walk is, with what rounding has made of it. */
  box(): TreeBox;
}

/** A walk that begins at the root, whose box this is. */
export function division(root: TreeBox, threshold: number, sink: NodeSink): Division {
  const deepest = TreeBox.deepest(root);
  let [ox, oy, oz] = root.origin;
  let [dx, dy, dz] = root.size;

  const isLeaf = (count: number, level: number): boolean => count <= threshold || level >= deepest;
  const enter = (k: number): void => {
    dx /= 2;
    dy /= 2;
    dz /= 2;
    if (k & 1) ox += dx;
    if (k & 2) oy += dy;
    if (k & 4) oz += dz;
  };
  const leave = (k: number): void => {
    if (k & 1) ox -= dx;
    if (k & 2) oy -= dy;
    if (k & 4) oz -= dz;
    dx *= 2;
    dy *= 2;
    dz *= 2;
  };

  const node: Division["node"] = (room, base, start, stop, level, place) => {
    const own = sink.begin(base + start, base + stop, level, place);
    let flags = 0;
    if (!isLeaf(stop - start, level)) {
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
        enter(k);
        node(room, base, ends[k]!, ends[k + 1]!, level + 1, k + 1);
        leave(k);
      }
    }
    sink.end(own, flags);
  };

  return {
    node,
    isLeaf,
    middle: () => [ox + dx / 2, oy + dy / 2, oz + dz / 2],
    enter,
    leave,
    box: () => ({ origin: triple([ox, oy, oz]), size: triple([dx, dy, dz]) }),
  };
}
