/** A packed tree in memory. */
import type { TreeHeader } from "./header.js";
import type { Nodes } from "./nodes.js";

/** An octree over particles that were put in its order: each node is a range of them. */
export interface PackedTree extends TreeHeader {
  readonly nodes: Nodes;
  /** How many particles it has. A tree of one leaf with one particle may also be that of none: the format has no other for it. */
  readonly count: number;
}
