/** What workers do for `divideTogether`: in memory that they share with whoever asks, on particles that are theirs meanwhile. */
import { type SharedRoom, sharedRoom } from "../../kernel/tree.js";
import { nodeBounds } from "./bounds.js";
import type { TreeBox } from "./box.js";
import { nodeRows } from "./build.js";
import { division } from "./divide.js";

/** Particles on either side of a plane. */
export interface PartitionTask {
  readonly room: SharedRoom;
  readonly start: number;
  readonly stop: number;
  readonly axis: number;
  readonly mid: number;
}

/** The node at the end of a path of octants from the root, and all below it. */
export interface DivideTask {
  readonly room: SharedRoom;
  readonly start: number;
  readonly stop: number;
  readonly root: TreeBox;
  readonly threshold: number;
  readonly path: readonly number[];
}

/** Some nodes, which count from the first of them, and the boxes around their particles. */
export interface Part {
  readonly rows: Uint32Array;
  readonly bounds: Float64Array;
}

/** The smallest pages that systems give memory in. */
const PAGE = 4096;

/** Has the system give all of a memory, from its end on: that takes ten times as long as filling it, which another thread does meanwhile. */
export async function touch({ memory }: SharedRoom): Promise<void> {
  const bytes = new Uint8Array(memory.buffer);
  for (let at = bytes.length - PAGE; at >= 0; at -= PAGE) Atomics.or(bytes, at, 0); // writes what is there, whoever else does
}

export async function partition({ room, start, stop, axis, mid }: PartitionTask): Promise<number> {
  return (await sharedRoom(room)).partition(start, stop, axis, mid);
}

export async function divide({ room: shared, start, stop, root, threshold, path }: DivideTask): Promise<Part> {
  const room = await sharedRoom(shared);
  const sink = nodeRows();
  const walk = division(root, threshold, sink);
  for (const octant of path) walk.enter(octant);
  walk.node(room, 0, start, stop, path.length + 1, (path.at(-1) ?? -1) + 1);
  const { rows } = sink.nodes();
  return { rows, bounds: nodeBounds(rows, room) };
}
