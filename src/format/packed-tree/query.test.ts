import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { goldenTree } from "../../../test/packed-tree.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../errors.js";
import type { Triple } from "./box.js";
import { buildTree } from "./build.js";
import { nearestParticles, wrap } from "./nearest.js";
import { parseTree } from "./parse.js";
import { inTreeOrder, joinParticles, type Particles } from "./particles.js";
import { imagesOf } from "./periodic.js";
import { countIn, countInEach, particlesIn, particlesInEach } from "./range.js";
import type { TreeRegion } from "./region.js";
import { slicesIn } from "./slices.js";

const folder = fixtures("packed-tree");

/** Values that meet each other, planes and faces, and some that do not. */
const value = fc.oneof(
  fc.constantFrom(0, 0.125, 0.25, 0.5, 0.75, 1, 0.1, 0.3, -0.5, 1.5),
  fc.double({ min: -0.2, max: 1.2, noNaN: true }),
);
const point = fc.tuple(value, value, value);
const shared = fc
  .array(point, { minLength: 1, maxLength: 4 })
  .chain((few) => fc.array(fc.constantFrom(...few), { maxLength: 60 }));
const plane = fc
  .array(point, { maxLength: 60 })
  .map((list) => list.map(([x, y]): [number, number, number] => [x, y, 0.3]));
const sets = fc.oneof({ weight: 3, arbitrary: fc.array(point, { maxLength: 120 }) }, shared, plane);
const boxes = fc.option(fc.constant({ origin: [0, 0, 0], size: [1, 1, 1] } as const), { nil: undefined });
const regions = fc.oneof(
  fc.tuple(point, point).map(([a, b]): TreeRegion => {
    const [low, high] = [a.map((v, i) => Math.min(v, b[i]!)), a.map((v, i) => Math.max(v, b[i]!))];
    return { box: [...low, ...high] };
  }),
  fc
    .tuple(point, fc.constantFrom(0, 0.1, 0.25, 0.5, 1, 3, Infinity))
    .map(([centre, r]): TreeRegion => ({ sphere: [...centre, r] })),
);

const made = async (list: readonly Triple[], threshold: number, box: { origin: Triple; size: Triple } | undefined) =>
  joinParticles(await buildTree(Float64Array.from(list.flat()), { threshold, box }));

const inside = (region: TreeRegion, p: Float64Array): boolean => {
  const [x, y, z] = p as unknown as Triple;
  if ("box" in region) return [x, y, z].every((v, i) => v >= region.box[i]! && v <= region.box[i + 3]!);
  const [cx, cy, cz, r] = region.sphere as [number, number, number, number];
  return (cx - x) * (cx - x) + (cy - y) * (cy - y) + (cz - z) * (cz - z) <= r * r;
};
const numbersOf = ({ count, positions }: Particles, test: (p: Float64Array) => boolean): number[] =>
  Array.from({ length: count }, (_, i) => i).filter((i) => test(positions.subarray(3 * i, 3 * i + 3) as Float64Array));

const numRuns = 100;

describe("every answer is that of a test of every particle", () => {
  it("regions: numbers, counts and slices, one by one and together", async () => {
    await fc.assert(
      fc.asyncProperty(
        sets,
        fc.nat(12),
        boxes,
        fc.array(regions, { minLength: 1, maxLength: 4 }),
        async (list, threshold, box, asked) => {
          const particles = await made(list, threshold, box);
          const { offsets, numbers } = particlesInEach(particles, asked);
          const counts = countInEach(particles, asked);
          for (const [i, region] of asked.entries()) {
            const wanted = numbersOf(particles, (p) => inside(region, p));
            expect([...particlesIn(particles, region)]).toEqual(wanted);
            expect([...numbers.subarray(offsets[i], offsets[i + 1])]).toEqual(wanted);
            expect(counts[i]).toBe(wanted.length);
            const original = [...particlesIn(particles, region, { numbers: "original" })];
            expect(original).toEqual(wanted.map((number) => particles.order![number]));
            const slices = slicesIn(particles.tree, region);
            for (const number of wanted) {
              const at = slices.findIndex((start, k) => k % 3 === 0 && start <= number && number < slices[k + 1]!);
              expect(at).toBeGreaterThanOrEqual(0);
            }
            for (let k = 0; k < slices.length; k += 3)
              if (slices[k + 2] === 0)
                for (let number = slices[k]!; number < slices[k + 1]!; number++) expect(wanted).toContain(number);
          }
        },
      ),
      { numRuns },
    );
  });

  it("nearest: numbers and distances, also with a bound", async () => {
    const bound = fc.constantFrom(Infinity, 0, 0.1, 0.5, 2);
    await fc.assert(
      fc.asyncProperty(
        sets,
        fc.nat(12),
        boxes,
        fc.array(point, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 130 }),
        bound,
        async (list, threshold, box, places, k, within) => {
          const particles = await made(list, threshold, box);
          const answer = nearestParticles(particles, places.flat(), k, { within });
          for (const [i, place] of places.entries()) {
            const wanted = byDistance(particles, place, [Infinity, Infinity, Infinity], within).slice(0, k);
            const range = [answer.offsets[i]!, answer.offsets[i + 1]!] as const;
            expect([...answer.numbers.subarray(...range)]).toEqual(wanted.map(([, number]) => number));
            expect([...answer.distances.subarray(...range)]).toEqual(wanted.map(([square]) => Math.sqrt(square)));
          }
        },
      ),
      { numRuns },
    );
  });

  it("nearest, where distances are more than float64 has", async () => {
    const huge = fc.constantFrom(-1.5e308, 1.5e308, 0.25, 1);
    const places = fc.array(fc.tuple(huge, huge, huge), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(places, fc.tuple(huge, huge, huge), fc.integer({ min: 1, max: 5 }), async (list, place, k) => {
        const particles = await made(list, 1, { origin: [0, 0, 0], size: [1, 1, 1] });
        const wanted = byDistance(particles, place, [Infinity, Infinity, Infinity], Infinity).slice(0, k);
        const { numbers } = nearestParticles(particles, place, k);
        expect([...numbers]).toEqual(wanted.map(([, number]) => number));
      }),
      { numRuns },
    );
  });

  it("in space that repeats", async () => {
    const lengths = fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(0.5, 1, 1.25, Infinity))) as fc.Arbitrary<
      [number, number, number]
    >;
    await fc.assert(
      fc.asyncProperty(
        sets,
        fc.nat(12),
        lengths,
        regions,
        point,
        fc.integer({ min: 1, max: 20 }),
        async (list, threshold, periodic, region, place, k) => {
          const particles = await made(list, threshold, undefined);
          const images = imagesOf(region, particles, periodic);
          const wanted = numbersOf(particles, (p) => images.some((image) => inside(image, p)));
          expect([...particlesIn(particles, region, { periodic })]).toEqual(wanted);
          expect(countIn(particles, region, { periodic })).toBe(wanted.length);
          // The images are all that matter: a particle inside is inside of one, by whole periods and a little rounding.
          const sure = numbersOf(particles, (p) => deepInside(region, p, periodic));
          for (const number of sure) expect(wanted).toContain(number);
          const nearest = nearestParticles(particles, place, k, { periodic });
          const best = byDistance(particles, place, periodic, Infinity).slice(0, k);
          expect([...nearest.numbers]).toEqual(best.map(([, number]) => number));
        },
      ),
      { numRuns },
    );
  });
});

function byDistance(
  { count, positions }: Particles,
  place: readonly number[],
  periodic: Triple,
  within: number,
): [number, number][] {
  const squares = Array.from({ length: count }, (_, i): [number, number] => {
    const [dx, dy, dz] = [0, 1, 2].map((axis) => wrap(place[axis]! - positions[3 * i + axis]!, periodic[axis]!));
    return [dx! * dx! + dy! * dy! + dz! * dz!, i];
  });
  return squares.filter(([square]) => square <= within * within).sort(([a, i], [b, j]) => (a === b ? i - j : a - b));
}

/** Inside of some image, farther from its border than rounding matters. */
function deepInside(region: TreeRegion, p: Float64Array, periodic: Triple): boolean {
  const tiny = 1e-9;
  if ("box" in region)
    return [0, 1, 2].every((axis) => {
      const half = (region.box[axis + 3]! - region.box[axis]!) / 2;
      return Math.abs(wrap(p[axis]! - region.box[axis]! - half, periodic[axis]!)) < half - tiny;
    });
  return (
    Math.hypot(...[0, 1, 2].map((axis) => wrap(p[axis]! - region.sphere[axis]!, periodic[axis]!))) <
    region.sphere[3]! - tiny
  );
}

describe("what cannot be answered is refused", () => {
  const some = made(
    [
      [0, 0, 0],
      [1, 1, 1],
      [0.2, 0.3, 0.4],
    ],
    1,
    undefined,
  );

  it.each([
    ["a box of five numbers", { box: [0, 0, 0, 1, 1] }],
    ["an inverted box", { box: [0, 0, 1, 1, 1, 0] }],
    ["a box with NaN", { box: [0, 0, 0, 1, 1, Number.NaN] }],
    ["a sphere without radius", { sphere: [0, 0, 0] }],
    ["a negative radius", { sphere: [0, 0, 0, -1] }],
    ["a centre at infinity", { sphere: [0, Infinity, 0, 1] }],
  ])("%s", async (_, region) => {
    const particles = await some;
    expect(() => particlesIn(particles, region)).toThrow(InvalidInput);
    expect(() => countIn(particles, region)).toThrow(InvalidInput);
    expect(() => slicesIn(particles.tree, region)).toThrow(InvalidInput);
  });

  it("no neighbours, places without numbers, periods of no length, too many images", async () => {
    const particles = await some;
    expect(() => nearestParticles(particles, [0, 0, 0], 0)).toThrow(InvalidInput);
    expect(() => nearestParticles(particles, [0, 0], 1)).toThrow(InvalidInput);
    expect(() => nearestParticles(particles, [0, 0, Number.NaN], 1)).toThrow(InvalidInput);
    expect(() => nearestParticles(particles, [0, 0, 0], 1, { within: -1 })).toThrow(InvalidInput);
    expect(() => particlesIn(particles, { sphere: [0, 0, 0, 1] }, { periodic: [1, 0, 1] })).toThrow(InvalidInput);
    expect(() => particlesIn(particles, { sphere: [0, 0, 0, 1] }, { periodic: [1e-9, 4, 4] })).toThrow(LimitExceeded);
  });

  it("particles that are not those of the tree, or not in its order, or without the order that is asked for", async () => {
    const golden = goldenTree(folder, "u1k_unitbox_t10");
    const tree = parseTree(golden.bytes);
    await expect(joinParticles({ tree, positions: golden.positions })).rejects.toThrow(Corrupt);
    await expect(joinParticles({ tree, positions: golden.positions.subarray(3) })).rejects.toThrow(Corrupt);
    const particles = await joinParticles({ tree, positions: inTreeOrder(golden.positions, golden.order) });
    expect(() => particlesIn(particles, { sphere: [0, 0, 0, 1] }, { numbers: "original" })).toThrow(InvalidInput);
    expect(() => inTreeOrder(golden.positions, Uint32Array.of(1000))).toThrow(InvalidInput);
  });
});
