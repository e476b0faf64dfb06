import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipExactly, segmentTouchesExactly } from "../../test/rational.js";
import { Region } from "./region.js";
import { touchesPath, touchesPolygon, touchesSegment, touchesTriangle } from "./touch.js";

const box = (min: number[], max: number[]): Region => Region.of({ box: { min, max } });
const rows = (...points: number[][]): Float64Array => Float64Array.from(points.flat());
const unit = box([0, 0, 0], [1, 1, 1]);
const segment = (region: Region, a: number[], b: number[]): boolean => {
  const there = touchesSegment(region, rows(a, b), a.length, 0, 1);
  expect(touchesSegment(region, rows(a, b), a.length, 1, 0)).toBe(there);
  expect(touchesPath(region, rows(a, b), a.length, 0, 2)).toBe(there);
  return there;
};
const triangle = (region: Region, ...points: [number[], number[], number[]]): boolean => {
  const positions = rows(...points);
  const dims = points[0].length;
  const there = touchesTriangle(region, positions, dims, 0, 1, 2);
  expect(touchesTriangle(region, positions, dims, 2, 1, 0)).toBe(there);
  expect(touchesTriangle(region, positions, dims, 1, 2, 0)).toBe(there);
  return there;
};

/** Few values, so that exact touches are as common as misses; some scaled to have all bits set. */
const coordinate = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.integer({ min: -6, max: 12 }).map((n) => n / 3),
  fc.integer({ min: -30, max: 60 }).map((n) => n * 0.1),
);
const point = (dims: number) => fc.array(coordinate, { minLength: dims, maxLength: dims });
const bounds = (dims: number) =>
  fc.tuple(point(dims), point(dims), fc.boolean()).map(([a, b, open]) => ({
    min: a.map((value, i) => (open && i === 0 ? -Infinity : Math.min(value, b[i]!))),
    max: a.map((value, i) => Math.max(value, b[i]!)),
  }));

describe("segments and boxes", () => {
  test("a corner, an edge and a face are touched exactly", () => {
    expect(segment(unit, [2, 0, 0], [0, 2, 0])).toBe(true); // through the edge x = y = 1 … at z = 0
    expect(segment(unit, [2, 0, 0.5], [0, 2, 0.5])).toBe(true);
    expect(segment(unit, [2, 0, 0.5], [0, 2 + 2 ** -50, 0.5])).toBe(false);
    expect(segment(unit, [2, 2, 0], [0, 0, 2])).toBe(true); // through the corner (1, 1, 1)
    expect(segment(unit, [2, 2, 2 ** -51], [0, 0, 2])).toBe(false);
    expect(segment(unit, [-1, 1, 0.5], [2, 1, 0.5])).toBe(true); // in the plane of a face
    expect(segment(unit, [-1, 1 + 2 ** -52, 0.5], [2, 1 + 2 ** -52, 0.5])).toBe(false);
    expect(segment(unit, [1, 1, 1], [1, 1, 1])).toBe(true); // no length
    expect(segment(unit, [2, 1, 1], [2, 1, 1])).toBe(false);
    expect(segment(unit, [-5, 0.5, 0.5], [5, 0.5, 0.5])).toBe(true);
  });
  test.each([1, 2, 3, 4, 5])("the answer is that of rational numbers, %d-D", (dims) => {
    let touching = 0;
    fc.assert(
      fc.property(point(dims), point(dims), bounds(dims), (a, b, { min, max }) => {
        const expected = segmentTouchesExactly(a, b, min, max);
        expect(clipExactly([a, b], min, max).length > 0).toBe(expected);
        expect(segment(box(min, max), a, b)).toBe(expected);
        if (expected) touching++;
      }),
      { numRuns: 400 },
    );
    expect(touching).toBeGreaterThan(5);
    expect(touching).toBeLessThan(395);
  });
  test("lines that pass a corner by less than a rounding", () => {
    const step = fc.double({ min: 0.01, max: 3, noNaN: true });
    const corner = fc.tuple(step, step, step);
    fc.assert(
      fc.property(corner, corner, step, ([x, y, z], [dx, dy, dz], far) => {
        const a = [x + dx, y - dy, z + dz];
        const b = [x - far * dx, y + far * dy, z - far * dz];
        const [min, max] = [
          [x - 9, y - 9, z - 9],
          [x, y, z],
        ];
        expect(segment(box(min, max), a, b)).toBe(segmentTouchesExactly(a, b, min, max));
      }),
      { numRuns: 500 },
    );
  });
  test("coordinates whose differences overflow or underflow", () => {
    const huge = 1.7e308;
    expect(segment(box([-1, -1], [1, 1]), [-huge, -huge], [huge, huge])).toBe(true);
    expect(segment(box([-1, 2], [1, 3]), [-huge, -huge], [huge, huge])).toBe(false);
    const tiny = 2 ** -1074;
    expect(segment(box([0, 0], [tiny, tiny]), [2 * tiny, 0], [0, 2 * tiny])).toBe(true);
    expect(segment(box([0, 0], [tiny, tiny]), [3 * tiny, 0], [0, 3 * tiny])).toBe(false);
  });
  test("of what is not finite only the vertices count", () => {
    const everything = box([-Infinity, -Infinity], [Infinity, Infinity]);
    expect(segment(everything, [Number.NaN, 0], [0, Number.NaN])).toBe(false);
    expect(segment(everything, [Number.NaN, 0], [0, 0])).toBe(true);
    const square = box([0, 0], [1, 1]);
    expect(segment(square, [0.5, -Infinity], [0.5, Infinity])).toBe(false);
    expect(segment(square, [0.5, 0.5], [0.5, Infinity])).toBe(true);
    expect(triangle(square, [0.5, -1], [0.5, 2], [Number.NaN, 0])).toBe(false);
    expect(triangle(square, [-9, -9], [9, 0], [Infinity, 9])).toBe(false);
    for (const kind of [square, Region.of({ sphere: { center: [0, 0], radius: 1 } })]) {
      expect(segment(kind, [-Infinity, 0], [Infinity, 0])).toBe(false);
      expect(segment(kind, [-9, 0], [Infinity, 0])).toBe(false);
      expect(triangle(kind, [-9, 0], [Infinity, 0], [0, 9])).toBe(false);
      expect(triangle(kind, [-9, 0], [Number.NaN, 0], [0, 0.25])).toBe(true);
    }
  });
});

describe("paths", () => {
  test.each([1, 2, 3, 4])("touch if one of their segments does, %d-D, both regions", (dims) => {
    const path = fc.array(fc.oneof({ weight: 20, arbitrary: point(dims) }, fc.constant(Array(dims).fill(Number.NaN))), {
      maxLength: 14,
    });
    fc.assert(
      fc.property(
        path,
        bounds(dims),
        point(dims),
        coordinate,
        fc.boolean(),
        (points, bound, center, radius, narrow) => {
          const positions = narrow ? Float32Array.from(points.flat()) : Float64Array.from(points.flat());
          for (const region of [
            box(bound.min, bound.max),
            Region.of({ sphere: { center, radius: Math.abs(radius) } }),
          ]) {
            const slow =
              (points.length === 1 && Region.contains(region, positions, dims, 0)) ||
              points.slice(1).some((_, i) => touchesSegment(region, positions, dims, i, i + 1));
            expect(touchesPath(region, positions, dims, 0, points.length)).toBe(slow);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
  test("only the rows that were asked for", () => {
    const positions = rows([0.5, 0.5, 0.5], [5, 5, 5], [6, 6, 6], [-6, -6, -6]);
    expect(touchesPath(unit, positions, 3, 1, 3)).toBe(false);
    expect(touchesPath(unit, positions, 3, 0, 3)).toBe(true);
    expect(touchesPath(unit, positions, 3, 1, 4)).toBe(true);
    expect(touchesPath(unit, positions, 3, 2, 2)).toBe(false);
  });
});

describe("triangles and boxes", () => {
  test("vertex, edge and plane are touched exactly", () => {
    expect(triangle(unit, [1, 1, 1], [2, 2, 2], [3, 2, 2])).toBe(true);
    expect(triangle(unit, [3, 0, 0], [0, 3, 0], [0, 0, 3])).toBe(true); // its plane holds the corner (1, 1, 1)
    expect(triangle(unit, [3, 0, 0], [0, 3, 0], [0, 0, 3 + 2 ** -50])).toBe(false);
    expect(triangle(unit, [2, 0, 0.5], [0, 2, 0.5], [3, 3, 0.5])).toBe(true); // an edge along the box's edge … crossing
    expect(triangle(unit, [-9, -9, 0.5], [9, -9, 0.5], [0, 20, 0.5])).toBe(true); // around the whole box
    expect(triangle(unit, [-9, -9, 1], [9, -9, 1], [0, 20, 1])).toBe(true); // in the plane of a face
    expect(triangle(unit, [-9, -9, 1 + 2 ** -52], [9, -9, 1 + 2 ** -52], [0, 20, 1 + 2 ** -52])).toBe(false);
  });
  test("no area: a segment or a point", () => {
    expect(triangle(unit, [2, 0, 0.5], [0, 2, 0.5], [1, 1, 0.5])).toBe(true);
    expect(triangle(unit, [2, 0, 0.5], [0, 2, 0.5], [2, 0, 0.5])).toBe(true);
    expect(triangle(unit, [3, 0, 0.5], [0, 3, 0.5], [3, 0, 0.5])).toBe(false);
    expect(triangle(unit, [2, 2, 2], [2, 2, 2], [2, 2, 2])).toBe(false);
    expect(triangle(unit, [0, 1, 1], [0, 1, 1], [0, 1, 1])).toBe(true);
  });
  test.each([1, 2, 3, 4, 5])("the answer is that of a polygon cut with rational numbers, %d-D", (dims) => {
    let touching = 0;
    fc.assert(
      fc.property(point(dims), point(dims), point(dims), bounds(dims), (a, b, c, { min, max }) => {
        const expected = clipExactly([a, b, c], min, max).length > 0;
        expect(triangle(box(min, max), a, b, c)).toBe(expected);
        if (expected) touching++;
      }),
      { numRuns: 600 },
    );
    expect(touching).toBeGreaterThan(10);
    expect(touching).toBeLessThan(590);
  });
  test("planes that pass a corner by less than a rounding", () => {
    const step = fc.double({ min: 0.01, max: 3, noNaN: true });
    fc.assert(
      fc.property(step, step, step, fc.array(step, { minLength: 6, maxLength: 6 }), (x, y, z, [p, q, r, s, t, u]) => {
        // Two directions in a plane that leaves the box below (x, y, z), and a third vertex such that the corner is within.
        const e = [p!, q!, -r! - p! - q!];
        const f = [-s!, t!, u! - t!];
        const corner = [x, y, z];
        const a = corner.map((value, i) => value + e[i]! + f[i]!);
        const b = corner.map((value, i) => value - 2 * e[i]! + f[i]!);
        const c = corner.map((value, i) => value + e[i]! - 2 * f[i]!);
        const min = corner.map((value) => value - 0.005);
        expect(triangle(box(min, corner), a, b, c)).toBe(clipExactly([a, b, c], min, corner).length > 0);
      }),
      { numRuns: 500 },
    );
  });
  test("a wider face is its fan", () => {
    const positions = rows([-9, -9, 0.5], [9, -9, 0.5], [9, 9, 0.5], [-9, 9, 0.5], [0.2, 0.2, 0.2]);
    expect(touchesPolygon(unit, positions, 3, [7, 0, 1, 2, 3], 1, 5)).toBe(true);
    expect(touchesPolygon(box([-8, 7, 0], [-7, 8, 1]), positions, 3, [0, 1, 2, 3], 0, 4)).toBe(true); // second triangle
    expect(touchesPolygon(box([-8, 7, 0], [-7, 8, 1]), positions, 3, [0, 1, 2, 3], 0, 3)).toBe(false);
    expect(touchesPolygon(unit, positions, 3, [4], 0, 1)).toBe(true);
    expect(touchesPolygon(unit, positions, 3, [0, 2], 0, 2)).toBe(true);
    expect(touchesPolygon(unit, positions, 3, [], 0, 0)).toBe(false);
  });
});

describe("spheres", () => {
  const ball = Region.of({ sphere: { center: [0, 0, 0], radius: 5 } });
  test("tangents touch", () => {
    expect(segment(ball, [-9, 5, 0], [9, 5, 0])).toBe(true);
    expect(segment(ball, [-9, 5.0000001, 0], [9, 5.0000001, 0])).toBe(false);
    expect(segment(ball, [3, 4, 0], [30, 40, 0])).toBe(true);
    expect(segment(ball, [6, 8, 0], [30, 40, 0])).toBe(false);
    expect(triangle(ball, [-20, -20, 5], [20, -20, 5], [0, 20, 5])).toBe(true);
    expect(triangle(ball, [-20, -20, 5.0000001], [20, -20, 5.0000001], [0, 20, 5.0000001])).toBe(false);
    expect(triangle(ball, [-20, 5, 0], [20, 5, 0], [0, 30, 9])).toBe(true); // an edge
    expect(triangle(ball, [3, 4, 0], [6, 8, 0], [12, 9, 1])).toBe(true); // a vertex
  });
  test("what lies in a cell outside never touches, whatever the rounding", () => {
    const value = fc.double({ min: -1, max: 1, noNaN: true });
    const three = fc.array(value, { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(three, three, three, three, fc.boolean(), (a, b, c, center, exactly) => {
        const min = a.map((_, i) => Math.min(a[i]!, b[i]!, c[i]!));
        const max = a.map((_, i) => Math.max(a[i]!, b[i]!, c[i]!));
        const near = center.map((at, i) => Math.min(Math.max(at, min[i]!), max[i]!));
        const distance = Math.hypot(...near.map((at, i) => at - center[i]!));
        const region = Region.of({ sphere: { center, radius: exactly ? distance : distance * 0.999 } });
        if (Region.relation(region, min, max) !== "outside") return;
        expect(segment(region, a, b) || triangle(region, a, b, c)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
