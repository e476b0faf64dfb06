/**
 * Space that repeats: along each axis after a length, as in the boxes of simulations. A particle is in a region when any of its
 * images is, so a region is asked about at each place where it can meet a particle as it is stored.
 */
import { InvalidInput, LimitExceeded } from "../../errors.js";
import type { Triple } from "./box.js";
import type { Particles } from "./particles.js";
import { centreOf, cornersOf, type TreeRegion } from "./region.js";

const MOST_IMAGES = 10_000;

/** The region wherever it may hold particles; itself where space does not repeat. */
export function imagesOf(
  region: TreeRegion,
  { bounds, count }: Pick<Particles, "bounds" | "count">,
  periodic: Triple | undefined,
): readonly TreeRegion[] {
  if (periodic === undefined || count === 0) return [region];
  checkPeriodic(periodic);
  const [min, max] = "box" in region ? cornersOf(region.box) : around(...centreOf(region.sphere));
  const whole = "sphere" in region && region.sphere[3]! >= Math.hypot(...periodic.map((length) => length / 2));
  const shifts = periodic.map((length, axis) => {
    const [low, high] = [min[axis]!, max[axis]!];
    if (length === Infinity) return [0];
    if (whole || ("box" in region && !(high < low + length))) return undefined; // it meets itself: all of the axis
    const [from, to] = [
      Math.ceil((bounds[axis]! - high) / length) - 1,
      Math.floor((bounds[axis + 3]! - low) / length) + 1,
    ];
    if (to - from > MOST_IMAGES) throw tooMany(periodic);
    return Array.from({ length: to - from + 1 }, (_, i) => (from + i) * length).filter(
      (shift) => high + shift >= bounds[axis]! && low + shift <= bounds[axis + 3]!,
    );
  });
  if (whole) return [{ box: [-Infinity, -Infinity, -Infinity, Infinity, Infinity, Infinity] }];
  if (shifts.reduce((product, list) => product * (list?.length ?? 1), 1) > MOST_IMAGES) throw tooMany(periodic);
  let images: readonly (readonly number[])[] = ["box" in region ? region.box : region.sphere];
  for (const [axis, list] of shifts.entries())
    images = images.flatMap((image) =>
      list === undefined ? [endless(image, axis)] : list.map((by) => moved(image, axis, by)),
    );
  return images.map((image) => ("box" in region ? { box: image } : { sphere: image }));
}

/** Lengths after which space can repeat, or InvalidInput. */
export function checkPeriodic(periodic: Triple): void {
  if (periodic.length !== 3 || !periodic.every((length) => length > 0))
    throw new InvalidInput(`space should repeat after three lengths above 0, found ${periodic.join(", ")}`);
}

const around = (centre: Triple, radius: number): [readonly number[], readonly number[]] => [
  centre.map((value) => value - radius),
  centre.map((value) => value + radius),
];

const endless = (box: readonly number[], axis: number): number[] =>
  box.map((value, i) => (i % 3 !== axis ? value : i < 3 ? -Infinity : Infinity));

/** Both corners of a box, or the centre of a sphere. */
const moved = (image: readonly number[], axis: number, by: number): number[] =>
  image.map((value, i) => (i === axis || (i === axis + 3 && image.length === 6) ? value + by : value));

const tooMany = (periodic: Triple): LimitExceeded =>
  new LimitExceeded(
    `a region would be asked about at more than ${MOST_IMAGES} places in space that repeats after ${periodic.join(", ")}`,
  );
