/**
 * What a tree alone can say about a region, without the particles: ranges of them, of which each is inside the region whole, or may
 * be partly. Boxes of nodes follow from the box in the header, down to the last bits, in which they are not those of the build: the
 * box drifts while a tree is made. And particles may lie outside of the box. Therefore nodes are taken for a little larger than they
 * are, and those at the border for endless; the reference does neither, and can be followed in that.
 */

import { isLeaf, META, NEXT, octantOf, ROW, START, STOP } from "./nodes.js";
import { INSIDE, OUTSIDE, regionTest, type TreeRegion } from "./region.js";
import type { PackedTree } from "./types.js";

/** How slices should come. */
export interface SliceOptions {
  /**
   * On: exactly those of the reference, one for each node. Off, adjacent ones are joined, and no particle of the region is left
   * out, wherever it lies.
   */
  readonly asReference?: boolean | undefined;
}

/** By how much of the box's reach nodes are taken for larger: 2^12 units in the last place, where drifts of a few are seen. */
export const SLACK = 2 ** -40;

/** Start, stop and 1 where particles must still be tested, for each slice, ascending. */
export function slicesIn(
  tree: PackedTree,
  region: TreeRegion,
  { asReference = false }: SliceOptions = {},
): Uint32Array {
  const { relation } = regionTest(region);
  const out: number[] = [];
  const add = (start: number, stop: number, partly: number): void => {
    const n = out.length;
    if (!asReference && n > 0 && out[n - 2] === start && out[n - 1] === partly) out[n - 2] = stop;
    else if (stop > start) out.push(start, stop, partly);
  };
  visitCells(tree, asReference ? 0 : SLACK, (row, cell) => {
    const { rows } = tree.nodes;
    const met = relation(cell, 0);
    // The reference looks at the children of a root that is outside.
    if (met === OUTSIDE) return asReference && row === 0 && !isLeaf(rows[META]!);
    if (met !== INSIDE && !isLeaf(rows[row + META]!)) return true;
    add(rows[row + START]!, rows[row + STOP]!, met === INSIDE ? 0 : 1);
    return false;
  });
  return Uint32Array.from(out);
}

/**
 * Visits rows with the lower and upper corner of their boxes, those of children where the visit of their parent says so. With
 * slack, boxes are that much larger, and those at the border of the tree are endless.
 */
export function visitCells(tree: PackedTree, slack: number, visit: (row: number, cell: Float64Array) => boolean): void {
  const { rows } = tree.nodes;
  const origin = Float64Array.from(tree.box.origin);
  const size = Float64Array.from(tree.box.size);
  const margin = tree.box.origin.map((o, axis) => slack * (Math.abs(o) + tree.box.size[axis]!));
  const cell = new Float64Array(6);
  /** `border` has bits 0 to 2 where the node is at the lower end of an axis, 3 to 5 at the upper. */
  const go = (row: number, border: number): void => {
    for (let axis = 0; axis < 3; axis++) {
      const open = slack > 0 ? border >> axis : 0;
      cell[axis] = open & 1 ? -Infinity : origin[axis]! - margin[axis]!;
      cell[axis + 3] = open & 8 ? Infinity : origin[axis]! + size[axis]! + margin[axis]!;
    }
    if (!visit(row, cell)) return;
    for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
      const octant = octantOf(rows[child + META]!);
      for (let axis = 0; axis < 3; axis++) {
        size[axis] = size[axis]! / 2;
        if ((octant >> axis) & 1) origin[axis] = origin[axis]! + size[axis]!;
      }
      go(child, border & ((octant << 3) | (~octant & 7)));
      for (let axis = 0; axis < 3; axis++) {
        if ((octant >> axis) & 1) origin[axis] = origin[axis]! - size[axis]!;
        size[axis] = size[axis]! * 2;
      }
    }
  };
  go(0, 63);
}
