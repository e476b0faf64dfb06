/**
 * Where a query looks: a box or a sphere, both closed, so that a point on the boundary is inside (as the readers of the
 * reference have it: min ≤ p ≤ max). Positions are rows of `dims` numbers, one after the other; all arithmetic is float64.
 *
 * What is inside is what these comparisons say, and nothing else in this directory may contradict it:
 *
 * | box    | min[i] ≤ p[i] ≤ max[i] on every axis; no rounding anywhere                                                |
 * | sphere | Σ (p[i] − center[i])² ≤ radius², the axes added in their order, each step rounded to float64 as usual     |
 *
 * A row with NaN is never inside. An infinite coordinate is compared like any other: inside where the box has no end.
 */
import { InvalidInput } from "../errors.js";
import { distance2ToBox } from "./nearest.js";

export type Positions = Float32Array | Float64Array;

export type Region =
  | { readonly kind: "box"; readonly min: readonly number[]; readonly max: readonly number[] }
  | { readonly kind: "sphere"; readonly center: readonly number[]; readonly radius: number };

/** How a caller spells a region. Corners of a box may be infinite. */
export type RegionInput =
  | { readonly box: { readonly min: readonly number[]; readonly max: readonly number[] } }
  | { readonly sphere: { readonly center: readonly number[]; readonly radius: number } };

export const Region = {
  /** The region, checked; `dims` is the rank that the data has. */
  of(input: RegionInput, dims?: number): Region {
    if ("box" in input) {
      const { min, max } = input.box;
      ranked("box", min, dims ?? max.length);
      ranked("box", max, min.length);
      const axis = min.findIndex((low, i) => !(low <= max[i]!));
      if (axis >= 0)
        throw new InvalidInput(`the box has ${min[axis]} … ${max[axis]} on axis ${axis}, expected min ≤ max`);
      return { kind: "box", min: [...min], max: [...max] };
    }
    const { center, radius } = input.sphere;
    ranked("sphere", center, dims ?? center.length);
    if (!center.every(Number.isFinite)) throw new InvalidInput(`the sphere's center [${center}] is not finite`);
    // Beyond 1e154 the square is infinite, and everything would be inside.
    if (!(radius >= 0) || !Number.isFinite(radius * radius))
      throw new InvalidInput(`the sphere's radius is ${radius}, expected a number from 0 to 1e154`);
    return { kind: "sphere", center: [...center], radius };
  },

  /** A box around everything that can be inside or touch: the box itself; a sphere's is wider by a few roundings. */
  bounds(region: Region): { readonly min: readonly number[]; readonly max: readonly number[] } {
    if (region.kind === "box") return region;
    // The squares of differences below 1e-150 lose their bits, or all that they are.
    const reach = (at: number): number => region.radius + (region.radius + Math.abs(at)) * 2 ** -50 + 1e-150;
    return { min: region.center.map((at) => at - reach(at)), max: region.center.map((at) => at + reach(at)) };
  },

  /**
   * How a closed cell lies to the region. "outside": no position in the cell is inside, and no segment or triangle with all
   * vertices in the cell touches; "inside": every position in the cell is inside. Both also hold to the last bit, because
   * rounding is monotone. A chunk [lo, hi) counts with its upper face; NaN as a bound, which says nothing, is "partial".
   */
  relation(region: Region, min: ArrayLike<number>, max: ArrayLike<number>): "outside" | "partial" | "inside" {
    let inside = true;
    if (region.kind === "box") {
      for (let i = 0; i < region.min.length; i++) {
        const low = region.min[i]!;
        const high = region.max[i]!;
        if (max[i]! < low || min[i]! > high) return "outside";
        inside &&= min[i]! >= low && max[i]! <= high;
      }
      return inside ? "inside" : "partial";
    }
    const { center, radius } = region;
    if (distance2ToBox(center, min, max) > radius * radius) return "outside";
    let furthest = 0;
    for (let i = 0; i < center.length; i++) {
      const far = Math.max(Math.abs(min[i]! - center[i]!), Math.abs(max[i]! - center[i]!));
      furthest += far * far;
    }
    return furthest <= radius * radius ? "inside" : "partial";
  },

  /** Whether one row is inside. */
  contains(region: Region, positions: Positions, dims: number, row: number): boolean {
    const at = row * dims;
    if (region.kind === "box") {
      const { min, max } = region;
      for (let i = 0; i < dims; i++) {
        const value = positions[at + i]!;
        if (!(value >= min[i]! && value <= max[i]!)) return false;
      }
      return true;
    }
    let sum = 0;
    for (let i = 0; i < dims; i++) {
      const away = positions[at + i]! - region.center[i]!;
      sum += away * away;
    }
    return sum <= region.radius * region.radius;
  },

  /** Sets `mask[maskFrom + row − from]` to 1 or 0 for each row of from … to; gives the number of ones. */
  inside(
    region: Region,
    positions: Positions,
    dims: number,
    from: number,
    to: number,
    mask: Uint8Array,
    maskFrom = 0,
  ): number {
    if (dims === 3) return mark3(region, positions, from, to, mask, maskFrom);
    let count = 0;
    for (let row = from, out = maskFrom; row < to; row++, out++) {
      const inside = Region.contains(region, positions, dims, row) ? 1 : 0;
      mask[out] = inside;
      count += inside;
    }
    return count;
  },

  countInside(region: Region, positions: Positions, dims: number, from: number, to: number): number {
    if (dims === 3) return mark3(region, positions, from, to, undefined, 0);
    let count = 0;
    for (let row = from; row < to; row++) if (Region.contains(region, positions, dims, row)) count++;
    return count;
  },

  anyInside(region: Region, positions: Positions, dims: number, from: number, to: number): boolean {
    for (let row = from; row < to; row++) if (Region.contains(region, positions, dims, row)) return true;
    return false;
  },
};

/** The loop that most queries spend their time in: three dimensions, nothing but comparisons. */
function mark3(
  region: Region,
  positions: Positions,
  from: number,
  to: number,
  mask: Uint8Array | undefined,
  maskFrom: number,
): number {
  const end = to * 3;
  let out = maskFrom;
  let count = 0;
  if (region.kind === "box") {
    const [x0, y0, z0] = region.min as [number, number, number];
    const [x1, y1, z1] = region.max as [number, number, number];
    mask?.fill(0, out, out + to - from);
    for (let at = from * 3; at < end; at += 3, out++) {
      const x = positions[at]!;
      if (!(x >= x0 && x <= x1)) continue;
      const y = positions[at + 1]!;
      if (!(y >= y0 && y <= y1)) continue;
      const z = positions[at + 2]!;
      if (!(z >= z0 && z <= z1)) continue;
      if (mask !== undefined) mask[out] = 1;
      count++;
    }
    return count;
  }
  const [cx, cy, cz] = region.center as [number, number, number];
  const limit = region.radius * region.radius;
  for (let at = from * 3; at < end; at += 3, out++) {
    const x = positions[at]! - cx;
    const y = positions[at + 1]! - cy;
    const z = positions[at + 2]! - cz;
    const inside = x * x + y * y + z * z <= limit ? 1 : 0;
    if (mask !== undefined) mask[out] = inside;
    count += inside;
  }
  return count;
}

function ranked(what: string, corner: readonly number[], rank: number): void {
  // touchesPath keeps two bits per axis in one integer.
  if (corner.length !== rank || rank === 0 || rank > 15)
    throw new InvalidInput(
      `the ${what} has [${corner}], expected ${rank > 0 && rank <= 15 ? rank : "1 to 15"} numbers`,
    );
}
