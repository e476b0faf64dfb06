/**
 * The box of a tree: where its root node lies, and with it every other one. A box has three positions and three sizes; the tree
 * halves it along each axis at each level, until that many halvings of the box would go below what float64 resolves there.
 *
 * All of this is arithmetic that decides which particle goes to which node, so each step is as the reference takes it, in its order.
 */
import { InvalidInput } from "../../errors.js";

/** Along x, y and z. */
export type Triple = readonly [x: number, y: number, z: number];

/** Where a tree, or one of its nodes, lies. */
export interface TreeBox {
  /** The lower corner. */
  readonly origin: Triple;
  /** The lengths of the sides, each above 0. */
  readonly size: Triple;
}

const EPS32 = 2 ** -23;
const EPS64 = 2 ** -52;

/** The box that a tree without particles has. */
const UNIT: TreeBox = { origin: [0, 0, 0], size: [1, 1, 1] };

/** Boxes of trees. */
export const TreeBox = {
  /** A box that a tree can have, or InvalidInput: finite, and on each axis large enough to be told from a point. */
  check(box: TreeBox, what = "the box"): TreeBox {
    const fault = TreeBox.fault(box);
    if (fault !== undefined) throw new InvalidInput(`${what} ${fault}`);
    return box;
  },

  /** What is wrong with a box, in words that follow its name; undefined where nothing is. */
  fault({ origin, size }: TreeBox): string | undefined {
    for (let axis = 0; axis < 3; axis++) {
      const [o, s] = [origin[axis]!, size[axis]!];
      if (!Number.isFinite(o) || !Number.isFinite(s))
        return `should be finite, found ${o} and a size of ${s} along ${"xyz"[axis]}`;
      if (!(s > 0 && s >= resolution(o, s)))
        return `should have a size along ${"xyz"[axis]} that float64 resolves at ${o}, found ${s}`;
    }
    return undefined;
  },

  /** The box that the reference chooses around particles, by the lower and upper corner around them; the unit box without any. */
  around(corners: ArrayLike<number>): TreeBox {
    const [min, max] = [triple(corners), [corners[3]!, corners[4]!, corners[5]!]];
    if (min[0] > max[0]!) return UNIT;
    const origin = min.map((low) => low - Math.abs(low) * EPS32);
    const size = min.map((low, axis) => {
      const extent = max[axis]! - low;
      return extent + Math.max(extent, Math.max(Math.abs(origin[axis]!), 1)) * 2 * EPS32;
    });
    return { origin: triple(origin), size: triple(size) };
  },

  /** The level (the root has 1) that no node of this box goes beyond, however many particles it has. */
  deepest({ origin, size }: TreeBox): number {
    const levels = size.map((s, axis) => Math.ceil(Math.log2(s / resolution(origin[axis]!, s))));
    return Math.min(...levels);
  },
};

/** What float64 resolves at the far end of a box, taken as 1 at least. */
const resolution = (origin: number, size: number): number => Math.max(Math.abs(origin) + size, 1) * EPS64;

/** Three numbers as a triple. */
export const triple = (values: ArrayLike<number>): Triple => [values[0]!, values[1]!, values[2]!];
