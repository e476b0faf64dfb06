import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipExactly, toNumbers } from "../../test/rational.js";
import { clipPath, clipSegments, Pieces } from "./clip-lines.js";
import { type Positions, Region } from "./region.js";
import { interpolate } from "./samples.js";
import { touchesPath, touchesSegment } from "./touch.js";

const box = (min: number[], max: number[]): Region => Region.of({ box: { min, max } });

/** Each piece as its points, and what it was made of. */
function run(region: Region, positions: Positions, dims: number, from = 0, to = positions.length / dims) {
  const pieces = Pieces.of(region, positions, dims);
  clipPath(pieces, from, to);
  return { pieces, points: pointsOf(pieces) };
}
const pointsOf = ({ samples, offsets, count, dims }: Pieces): number[][][] =>
  Array.from({ length: count }, (_, p) =>
    Array.from({ length: offsets[p + 1]! - offsets[p]! }, (_, i) => {
      const at = (offsets[p]! + i) * dims;
      return [...samples.positions.subarray(at, at + dims)];
    }),
  );
const length = (a: number[], b: number[]): number => Math.hypot(...a.map((x, i) => x - b[i]!));
const lengthOf = (points: number[][][]): number =>
  points.flatMap((piece) => piece.slice(1).map((b, i) => length(piece[i]!, b))).reduce((sum, x) => sum + x, 0);

const coordinate = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.integer({ min: -30, max: 60 }).map((n) => n * 0.1),
);
const point = (dims: number) => fc.array(coordinate, { minLength: dims, maxLength: dims });
const path = (dims: number) => fc.array(point(dims), { minLength: 1, maxLength: 8 });
const bounds = (dims: number) =>
  fc.tuple(point(dims), point(dims)).map(([a, b]) => ({
    min: a.map((value, i) => Math.min(value, b[i]!)),
    max: a.map((value, i) => Math.max(value, b[i]!)),
  }));

describe("paths cut by a box", () => {
  const square = box([0, 0], [4, 4]);
  test("in, out and in again", () => {
    const positions = Float64Array.of(-2, 1, 2, 1, 2, 3, 6, 3, 6, 2, 2, 2);
    const { pieces, points } = run(square, positions, 2);
    expect(points).toEqual([
      [
        [0, 1],
        [2, 1],
        [2, 3],
        [4, 3],
      ],
      [
        [4, 2],
        [2, 2],
      ],
    ]);
    const { samples } = pieces;
    expect([...samples.a.subarray(0, 6)]).toEqual([0, 1, 2, 2, 4, 5]);
    expect([...samples.b.subarray(0, 6)]).toEqual([1, 1, 2, 3, 5, 5]);
    expect([...samples.u.subarray(0, 6)]).toEqual([0.5, 0, 0, 0.5, 0.5, 0]);
    expect([...pieces.sources.subarray(0, 2)]).toEqual([0, 0]);
  });
  test("straight through, and around a corner", () => {
    expect(run(square, Float64Array.of(-4, 2, 8, 2), 2).points).toEqual([
      [
        [0, 2],
        [4, 2],
      ],
    ]);
    expect(run(square, Float64Array.of(-1, 2, 2, 5), 2).points).toEqual([
      [
        [0, 3],
        [1, 4],
      ],
    ]);
  });
  test("what touches in one point leaves one sample", () => {
    expect(run(square, Float64Array.of(2, 6, 6, 2), 2).points).toEqual([[[4, 4]]]); // the corner
    expect(run(square, Float64Array.of(2, 9, 4, 4, 9, 9), 2).points).toEqual([[[4, 4]]]); // a vertex on it
    expect(run(square, Float64Array.of(4, 4), 2).points).toEqual([[[4, 4]]]);
    expect(run(square, Float64Array.of(4, 5), 2).points).toEqual([]);
    expect(run(square, new Float64Array(0), 2).points).toEqual([]);
  });
  test("a vertex on the face is not cut twice", () => {
    expect(run(square, Float64Array.of(-1, 2, 0, 2, 1, 2), 2).points).toEqual([
      [
        [0, 2],
        [1, 2],
      ],
    ]);
    expect(run(square, Float64Array.of(1, 2, 4, 2, 9, 2), 2).points).toEqual([
      [
        [1, 2],
        [4, 2],
      ],
    ]);
    expect(run(square, Float64Array.of(1, 2, 1, 2, 1, 2), 2).points).toEqual([
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
    ]);
  });
  test("beside what is not finite nothing is cut", () => {
    const positions = Float64Array.of(1, 1, Number.NaN, 2, 2, 2, Infinity, 2, 3, 3, 3, -1.7e308, 3, 1.7e308);
    expect(run(square, positions, 2).points).toEqual([
      [[1, 1]],
      [[2, 2]],
      [
        [3, 3],
        [3, 0],
      ],
    ]);
  });
  test("float32 gets the nearest coordinates on the inner side", () => {
    const region = box([0.1, -0.1], [0.3, 0.7]); // of these, fround rounds 0.1 up, −0.1 down, 0.3 up and 0.7 down
    const { pieces, points } = run(region, Float32Array.of(-1, 0.5, 1, 0.5, 0.2, 1, 0.2, -1), 2);
    expect(points.length).toBe(2);
    expect(Region.countInside(region, pieces.samples.positions, 2, 0, pieces.samples.count)).toBe(4);
    expect(points[0]![0]![0]).toBe(Math.fround(0.1));
    expect(points[0]![1]![0]).toBe(Math.fround(0.3) - 2 ** -25);
    expect(points[1]![0]![1]).toBe(Math.fround(0.7));
    expect(points[1]![1]![1]).toBe(Math.fround(-0.1) + 2 ** -27);
  });
  test.each([1, 2, 3, 4, 5])("length, touching and being inside are exact, %d-D", (dims) => {
    fc.assert(
      fc.property(path(dims), bounds(dims), fc.boolean(), (points, { min, max }, narrow) => {
        const region = box(min, max);
        const positions = narrow ? Float32Array.from(points.flat()) : Float64Array.from(points.flat());
        const exact = points.map((_, row) => [...positions.subarray(row * dims, row * dims + dims)]);
        const { pieces, points: cut } = run(region, positions, dims);
        const { samples, count, offsets } = pieces;
        expect(count > 0).toBe(touchesPath(region, positions, dims, 0, points.length));
        const thin = narrow && min.some((low, i) => low > max[i]! - 1e-6);
        if (!thin) expect(Region.countInside(region, samples.positions, dims, 0, samples.count)).toBe(samples.count);
        const expected = exact.slice(1).reduce((sum, b, i) => {
          const left = clipExactly([exact[i]!, b], min, max).map(toNumbers);
          return sum + (left.length === 0 ? 0 : Math.max(...left.map((p) => length(p, left[0]!))));
        }, 0);
        expect(lengthOf(cut)).toBeCloseTo(expected, narrow ? 4 : 9);
        // Every cut is on a face; no vertex that is inside is missing, and the order is the path's.
        let last = -1;
        for (let k = 0; k < samples.count; k++) {
          const [a, b, t] = [samples.a[k]!, samples.b[k]!, samples.u[k]!];
          expect(a + t).toBeGreaterThanOrEqual(last);
          last = a + t;
          if (a === b) continue;
          const p = samples.positions.subarray(k * dims, k * dims + dims);
          if (!narrow) expect([...p].some((x, i) => x === min[i] || x === max[i])).toBe(true);
          for (const [i, x] of p.entries())
            expect(x).toBeCloseTo(exact[a]![i]! + t * (exact[b]![i]! - exact[a]![i]!), narrow ? 5 : 12);
        }
        const vertices = [...samples.a.subarray(0, samples.count)].filter((a, k) => a === samples.b[k]);
        expect(vertices).toEqual([...points.keys()].filter((row) => Region.contains(region, positions, dims, row)));
        expect(offsets[count]).toBe(samples.count);
      }),
      { numRuns: 250 },
    );
  });
});

describe("paths cut by a sphere", () => {
  const disc = Region.of({ sphere: { center: [0, 0], radius: 5 } });
  test("at hand-made places", () => {
    expect(run(disc, Float64Array.of(-8, 3, 8, 3), 2).points).toEqual([
      [
        [-4, 3],
        [4, 3],
      ],
    ]);
    expect(run(disc, Float64Array.of(0, 0, 20, 0), 2).points).toEqual([
      [
        [0, 0],
        [5, 0],
      ],
    ]);
    expect(run(disc, Float64Array.of(-10, 5, 10, 5), 2).points).toEqual([[[0, 5]]]); // a tangent
    expect(run(disc, Float64Array.of(3, 4, 9, 9), 2).points).toEqual([[[3, 4]]]);
    expect(run(disc, Float64Array.of(-10, 0, Infinity, 0, 1, 0, Number.NaN, 0), 2).points).toEqual([[[1, 0]]]);
  });
  test.each([1, 2, 3, 5])("chords are as long as they should be, and inside, %d-D", (dims) => {
    const number = fc.double({ min: -9, max: 9, noNaN: true });
    const any = fc.array(fc.array(number, { minLength: dims, maxLength: dims }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(any, fc.double({ min: 0.5, max: 9, noNaN: true }), fc.boolean(), (points, radius, narrow) => {
        const region = Region.of({ sphere: { center: Array(dims).fill(0.3), radius } });
        const positions = narrow ? Float32Array.from(points.flat()) : Float64Array.from(points.flat());
        const { pieces, points: cut } = run(region, positions, dims);
        expect(pieces.count > 0).toBe(touchesPath(region, positions, dims, 0, points.length));
        let expected = 0;
        let grazes = 0;
        for (let row = 1; row < points.length; row++) {
          const a = [...positions.subarray((row - 1) * dims, row * dims)].map((x) => x - 0.3);
          const d = [...positions.subarray(row * dims, (row + 1) * dims)].map((x, i) => x - 0.3 - a[i]!);
          const [dd, ad, aa] = [d, a, a].map((x, k) => x.reduce((s, y, i) => s + y * (k < 2 ? d : a)[i]!, 0));
          const root = ad! * ad! - dd! * (aa! - radius * radius);
          if (!(root > 0) || dd === 0) continue;
          const [t0, t1] = [(-ad! - Math.sqrt(root)) / dd!, (-ad! + Math.sqrt(root)) / dd!];
          const part = Math.max(0, Math.min(1, t1) - Math.max(0, t0)) * Math.sqrt(dd!);
          if (part < 0.01) grazes++; // the square root makes much of a little there
          expected += part;
        }
        if (grazes === 0) {
          expect(lengthOf(cut)).toBeCloseTo(expected, narrow ? 3 : 7);
          const { samples } = pieces;
          expect(Region.countInside(region, samples.positions, dims, 0, samples.count)).toBe(samples.count);
        }
      }),
      { numRuns: 250 },
    );
  });
});

describe("segments", () => {
  test("each leaves one piece if it touches, as a path of its two rows would", () => {
    const link = fc.tuple(fc.nat(5), fc.nat(5));
    const rows = fc.array(point(3), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(rows, fc.array(link, { maxLength: 8 }), bounds(3), (points, links, { min, max }) => {
        const region = box(min, max);
        const positions = Float64Array.from(points.flat());
        const pieces = Pieces.of(region, positions, 3);
        clipSegments(pieces, Uint32Array.from(links.flat()));
        const kept = [...links.keys()].filter((s) => touchesSegment(region, positions, 3, links[s]![0], links[s]![1]));
        expect([...pieces.sources.subarray(0, pieces.count)]).toEqual(kept);
        const expected = kept.map((s) => {
          const two = Float64Array.from(links[s]!.flatMap((row) => points[row]!));
          return run(region, two, 3).points[0];
        });
        expect(pointsOf(pieces)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
  test("many paths go into one list", () => {
    const positions = Float32Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? (i / 3) % 10 : 0.5));
    const region = box([2.5, 0, 0], [6.5, 1, 1]);
    const pieces = Pieces.of(region, positions, 3);
    for (let from = 0; from < 1000; from += 10) clipPath(pieces, from, from + 10);
    expect(pieces.count).toBe(100);
    expect(pieces.samples.count).toBe(600);
    expect(pieces.sources[99]).toBe(990);
    expect(pointsOf(pieces)[99]!.map(([x]) => x)).toEqual([2.5, 3, 4, 5, 6, 6.5]);
  });
});

describe("attributes", () => {
  const positions = Float64Array.of(0, 4, 8, 12);
  const pieces = Pieces.of(box([1], [10]), positions, 1);
  clipPath(pieces, 0, 4); // samples: 0–1 at 0.25, 1, 2, 2–3 at 0.5
  const { samples } = pieces;
  test("floats are linear, by channel; equal ends stay as they are", () => {
    const values = Float32Array.of(0, 10, 8, 20, 16, 30, 17, Infinity);
    expect([...interpolate(values, 2, samples, new Float32Array(8))]).toEqual([2, 12.5, 8, 20, 16, 30, 16.5, Infinity]);
    const same = new Float64Array(4).fill(0.1);
    expect([...interpolate(same, 1, samples, new Float64Array(4))]).toEqual([0.1, 0.1, 0.1, 0.1]);
    const none = Float64Array.of(1, 2, Number.NaN, Number.NaN);
    expect([...interpolate(none, 1, samples, new Float64Array(4))]).toEqual([1.25, 2, Number.NaN, Number.NaN]);
  });
  test("everything else is the nearer end's, the first where both are as near", () => {
    expect([...interpolate(Int16Array.of(5, 6, 7, 8), 1, samples, new Int16Array(4))]).toEqual([5, 6, 7, 7]);
    expect([...interpolate(BigInt64Array.of(5n, 6n, 7n, 8n), 1, samples, new BigInt64Array(4))]).toEqual([
      5n,
      6n,
      7n,
      7n,
    ]);
    expect(interpolate(["a", "b", "c", "d"], 1, samples, Array(4))).toEqual(["a", "b", "c", "c"]);
    const late = Pieces.of(box([3], [10]), positions, 1);
    clipPath(late, 0, 2);
    expect([...interpolate(Uint8Array.of(0, 1), 1, late.samples, new Uint8Array(2))]).toEqual([1, 1]);
  });
});
