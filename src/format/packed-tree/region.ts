/**
 * Regions of space as a tree asks about them: does a box meet it, does it lie in it whole, which particles are in it. Regions are
 * closed: what lies on their border belongs to them.
 *
 * The nearest and the farthest point of a box are tested with the same arithmetic as particles. Rounding keeps the order of
 * numbers, so no particle of a box is nearer or farther than these, to the last bit.
 */
import { InvalidInput } from "../../errors.js";
import type { ParticleRoom } from "../../kernel/tree.js";
import { type Triple, triple } from "./box.js";

/** A box by its lower and its upper corner, or a sphere by its centre and its radius. */
export type TreeRegion = { readonly box: readonly number[] } | { readonly sphere: readonly number[] };

/** How a box lies to a region. */
export const OUTSIDE = 0;
export const PARTLY = 1;
export const INSIDE = 2;
export type Relation = typeof OUTSIDE | typeof PARTLY | typeof INSIDE;

export interface RegionTest {
  /** Of the box whose lower and upper corner are the six numbers at a place. */
  relation(bounds: Float64Array, at: number): Relation;
  /** Writes the numbers of those from `start` up to `stop` that are in it to found[n] of the room and behind; the n behind them. */
  keep(room: ParticleRoom, start: number, stop: number, n: number): number;
}

/** The tests of a region; InvalidInput where it is none. */
export function regionTest(region: TreeRegion): RegionTest {
  if ("box" in region) return boxTest(...cornersOf(region.box));
  return sphereTest(...centreOf(region.sphere));
}

/** The corners of a box that was given as six numbers. */
export function cornersOf(box: readonly number[]): [min: Triple, max: Triple] {
  if (box.length !== 6 || box.some(Number.isNaN) || [0, 1, 2].some((axis) => box[axis]! > box[axis + 3]!))
    throw new InvalidInput(`a box should be its lower and its upper corner, six numbers, found ${box.join(", ")}`);
  return [triple(box), triple(box.slice(3))];
}

/** Centre and radius of a sphere that was given as four numbers. */
export function centreOf(sphere: readonly number[]): [centre: Triple, radius: number] {
  if (sphere.length !== 4 || !triple(sphere).every(Number.isFinite) || !(sphere[3]! >= 0))
    throw new InvalidInput(`a sphere should be its centre and its radius, four numbers, found ${sphere.join(", ")}`);
  return [triple(sphere), sphere[3]!];
}

function boxTest([x0, y0, z0]: Triple, [x1, y1, z1]: Triple): RegionTest {
  return {
    relation(b, at) {
      const ax = b[at]!;
      const ay = b[at + 1]!;
      const az = b[at + 2]!;
      const bx = b[at + 3]!;
      const by = b[at + 4]!;
      const bz = b[at + 5]!;
      if (bx < x0 || ax > x1 || by < y0 || ay > y1 || bz < z0 || az > z1) return OUTSIDE;
      return ax >= x0 && bx <= x1 && ay >= y0 && by <= y1 && az >= z0 && bz <= z1 ? INSIDE : PARTLY;
    },
    keep: (room, start, stop, n) => room.keepBox(start, stop, n, x0, y0, z0, x1, y1, z1),
  };
}

function sphereTest([x, y, z]: Triple, radius: number): RegionTest {
  const most = radius * radius;
  return {
    relation(b, at) {
      const ax = b[at]! - x; // to the lower corner
      const ay = b[at + 1]! - y;
      const az = b[at + 2]! - z;
      const bx = x - b[at + 3]!; // from the upper corner
      const by = y - b[at + 4]!;
      const bz = z - b[at + 5]!;
      const nx = Math.max(ax, bx, 0);
      const ny = Math.max(ay, by, 0);
      const nz = Math.max(az, bz, 0);
      if (!(nx * nx + ny * ny + nz * nz <= most)) return OUTSIDE;
      const far = Math.max(ax * ax, bx * bx) + Math.max(ay * ay, by * by) + Math.max(az * az, bz * bz);
      return far <= most ? INSIDE : PARTLY;
    },
    keep: (room, start, stop, n) => room.keepSphere(start, stop, n, x, y, z, most),
  };
}
