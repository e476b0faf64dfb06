/** Q2: whatever a tree is asked, it answers what a test of every particle answers. */
import type { Triple } from "../../src/format/packed-tree/box.js";
import {
  buildTree,
  countIn,
  countInEach,
  joinParticles,
  nearestParticles,
  type Particles,
  particlesIn,
  particlesInEach,
  slicesIn,
  type TreeRegion,
} from "../../src/format/packed-tree/index.js";
import type { Random } from "../fuzz/mutate.js";
import { type ParticleSet, particleSet, placeFor, regionFor } from "./tree-sets.js";

const NEVER: Triple = [Infinity, Infinity, Infinity];

/** What is wrong with the answers over the set of this number; undefined where nothing is. */
export async function tryQueries(seed: number): Promise<string | undefined> {
  const { set, dice } = particleSet(seed);
  const particles = await joinParticles(await buildTree(set.positions, set));
  const wrong =
    tryRegions(particles, set, dice) ?? tryNearest(particles, set, dice) ?? tryPeriodic(particles, set, dice);
  return wrong && `set ${seed}, ${set.kind} of ${particles.count}: ${wrong}`;
}

function tryRegions(particles: Particles, set: ParticleSet, dice: Random): string | undefined {
  const regions = Array.from({ length: 1 + dice.below(4) }, () => regionFor(set, dice));
  const { offsets, numbers } = particlesInEach(particles, regions);
  const counts = countInEach(particles, regions);
  for (const [i, region] of regions.entries()) {
    const wanted = numbersOf(particles, (at) => isInside(region, particles.positions, at));
    const say = (what: string): string => `${what} of ${JSON.stringify(region)}`;
    if (!same(particlesIn(particles, region), wanted)) return say("the numbers");
    const before = particlesIn(particles, region, { numbers: "original" });
    if (
      !same(
        before,
        wanted.map((number) => particles.order![number]!),
      )
    )
      return say("the original numbers");
    if (countIn(particles, region) !== wanted.length) return say("the count");
    if (counts[i] !== wanted.length) return say("the count in a batch");
    if (!same(numbers.subarray(offsets[i], offsets[i + 1]), wanted)) return say("the numbers in a batch");
    const fault = faultOfSlices(slicesIn(particles.tree, region), wanted);
    if (fault !== undefined) return say(fault);
  }
  return undefined;
}

/** Slices ascend, have every particle of the answer and, where they say that they are inside whole, no other. */
function faultOfSlices(slices: Uint32Array, wanted: readonly number[]): string | undefined {
  let [at, end] = [0, 0];
  for (let k = 0; k < slices.length; k += 3) {
    const [start, stop, partly] = [slices[k]!, slices[k + 1]!, slices[k + 2]!];
    if (start < end || stop <= start) return "the order of the slices";
    if (at < wanted.length && wanted[at]! < start) return "a slice that is missing";
    const from = at;
    while (at < wanted.length && wanted[at]! < stop) at++;
    if (partly === 0 && at - from !== stop - start) return "a slice that is not inside whole";
    end = stop;
  }
  return at < wanted.length ? "a slice that is missing" : undefined;
}

function tryNearest(particles: Particles, set: ParticleSet, dice: Random): string | undefined {
  const places = Array.from({ length: 1 + dice.below(3) }, () => placeFor(set, dice));
  const k = 1 + dice.below(dice.below(2) === 0 ? 8 : 450);
  const reach = byDistance(particles, places[0]!, NEVER, Infinity)[dice.below(20)]?.[0] ?? 0;
  const within = dice.below(3) === 0 ? Math.sqrt(reach) : Infinity;
  return nearestFault(particles, places, k, within, undefined);
}

function nearestFault(
  particles: Particles,
  places: readonly Triple[],
  k: number,
  within: number,
  periodic: Triple | undefined,
): string | undefined {
  const answer = nearestParticles(particles, places.flat(), k, { within, periodic });
  for (const [i, place] of places.entries()) {
    const wanted = byDistance(particles, place, periodic ?? NEVER, within).slice(0, k);
    const range = [answer.offsets[i]!, answer.offsets[i + 1]!] as const;
    const numbers = wanted.map(([, number]) => number);
    const distances = wanted.map(([square]) => Math.sqrt(square));
    if (!same(answer.numbers.subarray(...range), numbers) || !same(answer.distances.subarray(...range), distances))
      return `the ${k} nearest of ${place} within ${within}, periods ${periodic}`;
  }
  return undefined;
}

/** Periods in proportion to where the particles are, so that a region has some images and not millions. */
function tryPeriodic(particles: Particles, set: ParticleSet, dice: Random): string | undefined {
  const extent = [0, 1, 2].map((axis) => {
    const values = set.positions.filter((_, i) => i % 3 === axis);
    return values.length === 0 ? 1 : Math.max(...values) / 4 - Math.min(...values) / 4;
  });
  const least = Math.max(...extent) / 20 || 1;
  const periodic = extent.map(
    (length) => [2, 4, 5, Infinity][dice.below(4)]! * Math.max(length, least),
  ) as unknown as Triple;
  const region = regionFor(set, dice);
  const wanted = numbersOf(particles, periodicTest(region, particles, periodic));
  const say = (what: string): string => `${what} of ${JSON.stringify(region)} with periods ${periodic}`;
  if (!same(particlesIn(particles, region, { periodic }), wanted)) return say("the numbers");
  if (countIn(particles, region, { periodic }) !== wanted.length) return say("the count");
  return nearestFault(particles, [placeFor(set, dice)], 1 + dice.below(20), Infinity, periodic);
}

/** Whether a region, moved by whole periods as far as particles are, has a particle. */
function periodicTest(region: TreeRegion, { positions }: Particles, periodic: Triple): (at: number) => boolean {
  const isBox = "box" in region;
  const numbers = isBox ? region.box : region.sphere;
  const radius = isBox ? 0 : numbers[3]!;
  if (!isBox && radius >= Math.hypot(...periodic.map((length) => length / 2))) return () => true;
  const shiftsOf = (axis: number, value: number): number[] => {
    const length = periodic[axis]!;
    if (length === Infinity) return [0];
    const [low, high] = [numbers[axis]!, numbers[isBox ? axis + 3 : axis]!];
    const from = Math.floor((value - high - radius) / length) - 1;
    const to = Math.ceil((value - low + radius) / length) + 1;
    return Array.from({ length: to - from + 1 }, (_, i) => (from + i) * length);
  };
  if (isBox)
    return (at) =>
      [0, 1, 2].every((axis) => {
        const [value, low, high] = [positions[at + axis]!, numbers[axis]!, numbers[axis + 3]!];
        if (periodic[axis] !== Infinity && !(high < low + periodic[axis]!)) return true;
        return shiftsOf(axis, value).some((by) => value >= low + by && value <= high + by);
      });
  return (at) => {
    const [xs, ys, zs] = [0, 1, 2].map((axis) => {
      const value = positions[at + axis]!;
      return shiftsOf(axis, value).map((by) => (numbers[axis]! + by - value) * (numbers[axis]! + by - value));
    });
    return xs!.some((x) => ys!.some((y) => zs!.some((z) => x + y + z <= radius * radius)));
  };
}

function isInside(region: TreeRegion, positions: ArrayLike<number>, at: number): boolean {
  const [x, y, z] = [positions[at]!, positions[at + 1]!, positions[at + 2]!];
  if ("box" in region) return [x, y, z].every((value, i) => value >= region.box[i]! && value <= region.box[i + 3]!);
  const [cx, cy, cz, r] = region.sphere as [number, number, number, number];
  return (cx - x) * (cx - x) + (cy - y) * (cy - y) + (cz - z) * (cz - z) <= r * r;
}

const numbersOf = ({ count }: Particles, test: (at: number) => boolean): number[] =>
  Array.from({ length: count }, (_, i) => i).filter((i) => test(3 * i));

/** All particles by the square of their distance, then by number. */
function byDistance(
  { count, positions }: Particles,
  place: Triple,
  periodic: Triple,
  within: number,
): [number, number][] {
  const squares = Array.from({ length: count }, (_, i): [number, number] => {
    const [dx, dy, dz] = place.map((value, axis) => {
      const length = periodic[axis]!;
      const away = value - positions[3 * i + axis]!;
      return length === Infinity ? away : away - length * Math.round(away / length);
    }) as [number, number, number];
    return [dx * dx + dy * dy + dz * dz, i];
  });
  return squares.filter(([square]) => square <= within * within).sort(([a, i], [b, j]) => (a === b ? i - j : a - b));
}

const same = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i]);
