/**
 * A tree that several threads divide in one memory: the same nodes and the same order as one thread makes.
 *
 * The planes of a node depend, by what rounding leaves behind, on all nodes before it (divide.ts), which threads cannot wait for. So
 * they take planes of a box that comes straight down from the root, some units in the last place beside the true ones. Afterwards
 * one walk through the nodes, without the particles, has the true planes, and the boxes around the particles of each node tell
 * whether all of them lie on the side that they were put on. If so, everything is as it should be: sides are all that the places of
 * particles depend on. If not, which takes a particle between the two planes, the answer is undefined, and one thread has to do it.
 */
import type { ParticleRoom, SharedRoom } from "../../kernel/tree.js";
import type { Pool } from "../../worker/pool.js";
import { boundChildren } from "./bounds.js";
import type { TreeBox } from "./box.js";
import { type Division, division } from "./divide.js";
import { isLeaf, META, NEXT, type Nodes, octantOf, ROW } from "./nodes.js";
import type { Part } from "./share-task.js";

/** Fewer particles are divided before workers have begun. */
export const WORTH_SHARING = 1 << 20;

/** The nodes over all particles of a room that can be shared, and the box that is left then. */
export async function divideTogether(
  room: ParticleRoom,
  root: TreeBox,
  threshold: number,
  pool: Pool,
): Promise<{ nodes: Nodes; box: TreeBox } | undefined> {
  const count = room.order.length;
  const piece = count / (3 * pool.size); // small enough that nobody waits for the last one for long
  const lend = lending(room, pool.size);
  const walkTo = (path: readonly number[]): Division => {
    const walk = division(root, threshold, { begin: () => 0, end() {} });
    for (const octant of path) walk.enter(octant);
    return walk;
  };
  const cut = (start: number, stop: number, axis: number, mid: number): Promise<number> | number => {
    if (stop - start === count) return room.partition(start, stop, axis, mid); // nobody else has anything to do
    return lend((room) => pool.run("tree.partition", { room, start, stop, axis, mid }));
  };
  const node = async (start: number, stop: number, path: readonly number[]): Promise<Part> => {
    const walk = walkTo(path);
    if (stop - start <= piece || walk.isLeaf(stop - start, path.length + 1))
      return lend((room) => pool.run("tree.divide", { room, start, stop, root, threshold, path }));
    const [mx, my, mz] = walk.middle();
    const upper = await cut(start, stop, 2, mz);
    const [low, high] = await Promise.all([cut(start, upper, 1, my), cut(upper, stop, 1, my)]);
    const quarters = [start, low, upper, high, stop];
    const middles = await Promise.all([0, 1, 2, 3].map((i) => cut(quarters[i]!, quarters[i + 1]!, 0, mx)));
    const ends = [...middles.flatMap((middle, i) => [quarters[i]!, middle]), stop];
    const octants = [0, 1, 2, 3, 4, 5, 6, 7].filter((k) => ends[k]! < ends[k + 1]!);
    return joined(
      Uint32Array.of(0, start, stop, (((path.at(-1) ?? -1) + 1) << 16) | ((path.length + 1) << 8)),
      octants,
      await Promise.all(octants.map((k) => node(ends[k]!, ends[k + 1]!, [...path, k]))),
    );
  };
  const { rows, bounds } = await node(0, count, []);
  const walk = walkTo([]);
  return holds(rows, bounds, walk, 0) ? { nodes: { length: rows.length / ROW, rows }, box: walk.box() } : undefined;
}

/** Hands out a room to as many threads at a time as have a place in the memory. */
function lending(room: ParticleRoom, threads: number): <T>(work: (room: SharedRoom) => Promise<T>) => Promise<T> {
  const free = Array.from({ length: threads }, (_, i) => i + 1);
  const waiting: (() => void)[] = [];
  return async (work) => {
    while (free.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    const thread = free.pop()!;
    try {
      return await work(room.share!(thread));
    } finally {
      free.push(thread);
      waiting.shift()?.();
    }
  };
}

/** A node with its children. */
function joined(own: Uint32Array, octants: readonly number[], children: readonly Part[]): Part {
  const length = children.reduce((sum, { rows }) => sum + rows.length, ROW);
  const rows = new Uint32Array(length);
  const bounds = new Float64Array((6 * length) / ROW);
  rows.set(own);
  rows[NEXT] = length / ROW;
  rows[META]! |= octants.reduce((flags, octant) => flags | (1 << octant), 0) << 24;
  let at = ROW;
  for (const child of children) {
    rows.set(child.rows, at);
    bounds.set(child.bounds, (6 * at) / ROW);
    const end = at + child.rows.length;
    for (let row = at; row < end; row += ROW) rows[row + NEXT]! += at / ROW;
    at = end;
  }
  boundChildren(bounds, rows, 0);
  return { rows, bounds };
}

/** Whether the particles of a node, and of all below it, lie on the sides of the true planes that they were put on. */
function holds(rows: Uint32Array, bounds: Float64Array, walk: Division, row: number): boolean {
  if (isLeaf(rows[row + META]!)) return true;
  const middle = walk.middle();
  for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
    const octant = octantOf(rows[child + META]!);
    for (let axis = 0; axis < 3; axis++) {
      const at = (6 * child) / ROW + axis;
      if ((octant >> axis) & 1 ? bounds[at]! < middle[axis]! : bounds[at + 3]! >= middle[axis]!) return false;
    }
    walk.enter(octant);
    if (!holds(rows, bounds, walk, child)) return false;
    walk.leave(octant);
  }
  return true;
}
