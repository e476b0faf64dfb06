import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import { Region, type RegionInput } from "./region.js";

const number = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.double({ min: -4, max: 4, noNaN: true }));
const point = (dims: number) => fc.array(number, { minLength: dims, maxLength: dims });
const region = (dims: number): fc.Arbitrary<Region> =>
  fc.oneof(
    fc.tuple(point(dims), point(dims)).map(([a, b]) =>
      Region.of({
        box: { min: a.map((x, i) => Math.min(x, b[i]!)), max: a.map((x, i) => Math.max(x, b[i]!)) },
      }),
    ),
    fc.tuple(point(dims), number).map(([center, r]) => Region.of({ sphere: { center, radius: Math.abs(r) } })),
  );

describe("regions", () => {
  test("are checked", () => {
    const wrong: [RegionInput, number?][] = [
      [{ box: { min: [0], max: [1, 2] } }],
      [{ box: { min: [0, 0], max: [1] } }],
      [{ box: { min: [], max: [] } }],
      [{ box: { min: [0, 0], max: [1, 1] } }, 3],
      [{ box: { min: [Number.NaN], max: [1] } }],
      [{ box: { min: [0], max: [Number.NaN] } }],
      [{ box: { min: [2], max: [1] } }],
      [{ sphere: { center: [], radius: 1 } }],
      [{ sphere: { center: Array(16).fill(0), radius: 1 } }],
      [{ sphere: { center: [0, 0], radius: 1 } }, 3],
      [{ sphere: { center: [Number.NaN], radius: 1 } }],
      [{ sphere: { center: [Infinity], radius: 1 } }],
      [{ sphere: { center: [0], radius: -1 } }],
      [{ sphere: { center: [0], radius: Number.NaN } }],
      [{ sphere: { center: [0], radius: 1e155 } }],
      [{ sphere: { center: [0], radius: Infinity } }],
    ];
    for (const [input, dims] of wrong)
      expect(() => Region.of(input, dims), JSON.stringify(input)).toThrow(InvalidInput);
    expect(() => Region.of({ box: { min: [0, 3], max: [1, 2] } })).toThrow(
      "the box has 3 … 2 on axis 1, expected min ≤ max",
    );
    expect(Region.of({ box: { min: [-Infinity, 1], max: [Infinity, 1] } }, 2).kind).toBe("box");
    expect(Region.of({ sphere: { center: [1], radius: 0 } }).kind).toBe("sphere");
  });

  test("hold their boundary; NaN is nowhere, infinity is in a box without end", () => {
    const mask = new Uint8Array(8).fill(9);
    const box = Region.of({ box: { min: [0, 0], max: [1, Infinity] } });
    const rows = Float64Array.of(0, 0, 1, 5, 1 + 2 ** -52, 5, 0.5, Infinity, Number.NaN, 0.5, -0, -0);
    expect(Region.inside(box, rows, 2, 0, 6, mask, 1)).toBe(4);
    expect([...mask]).toEqual([9, 1, 1, 0, 1, 0, 1, 9]);
    expect(Region.inside(box, rows, 2, 2, 4, mask)).toBe(1);
    expect([...mask]).toEqual([0, 1, 1, 0, 1, 0, 1, 9]);
    const ball = Region.of({ sphere: { center: [0, 0, 0], radius: 5 } });
    const around = Float32Array.of(3, 4, 0, 0, 0, 5, 3, 4, 1e-3, Number.NaN, 0, 0, Infinity, 0, 0);
    expect(Region.countInside(ball, around, 3, 0, 5)).toBe(2);
    expect(Region.anyInside(ball, around, 3, 2, 5)).toBe(false);
    expect(Region.anyInside(ball, around, 3, 1, 5)).toBe(true);
  });

  test.each([1, 2, 3, 4, 5])("mask, count, any and one row agree, %d-D", (dims) => {
    fc.assert(
      fc.property(region(dims), fc.array(point(dims), { maxLength: 12 }), fc.boolean(), (where, points, narrow) => {
        const rows = narrow ? Float32Array.from(points.flat()) : Float64Array.from(points.flat());
        const slow = points.map((_, row) => {
          const p = [...rows.subarray(row * dims, row * dims + dims)];
          if (where.kind === "box") return p.every((x, i) => where.min[i]! <= x && x <= where.max[i]!);
          return p.reduce((sum, x, i) => sum + (x - where.center[i]!) ** 2, 0) <= where.radius ** 2;
        });
        const mask = new Uint8Array(points.length);
        const count = slow.filter(Boolean).length;
        expect(Region.inside(where, rows, dims, 0, points.length, mask)).toBe(count);
        expect([...mask].map(Boolean)).toEqual(slow);
        expect(Region.countInside(where, rows, dims, 0, points.length)).toBe(count);
        expect(Region.anyInside(where, rows, dims, 0, points.length)).toBe(count > 0);
        const { min, max } = Region.bounds(where);
        for (const [row, inside] of slow.entries())
          if (inside)
            expect(min.every((low, i) => low <= rows[row * dims + i]! && rows[row * dims + i]! <= max[i]!)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("cells", () => {
  const box = Region.of({ box: { min: [0, 0], max: [4, 4] } });
  test("a cell that shares only a face or a corner is not lost", () => {
    expect(Region.relation(box, [4, 4], [8, 8])).toBe("partial");
    expect(Region.relation(box, [-4, 0], [0, 4])).toBe("partial");
    expect(Region.relation(box, [4 + 2 ** -50, 0], [8, 4])).toBe("outside");
    expect(Region.relation(box, [0, 0], [4, 4])).toBe("inside");
    expect(Region.relation(box, [0, 0], [4, 5])).toBe("partial");
    const ball = Region.of({ sphere: { center: [0, 0], radius: 5 } });
    expect(Region.relation(ball, [3, 4], [9, 9])).toBe("partial");
    expect(Region.relation(ball, [3, 4.001], [9, 9])).toBe("outside");
    expect(Region.relation(ball, [-3, -4], [3, 4])).toBe("inside");
    expect(Region.relation(ball, [-3, -4], [3, 4.001])).toBe("partial");
  });
  test("a bound that says nothing loses nothing", () => {
    const ball = Region.of({ sphere: { center: [0, 0], radius: 1 } });
    for (const where of [box, ball]) {
      expect(Region.relation(where, [Number.NaN, 0], [Number.NaN, 1])).toBe("partial");
      expect(Region.relation(where, [-Infinity, -Infinity], [Infinity, Infinity])).toBe("partial");
    }
  });
  test.each([1, 2, 3, 5])("are never called outside or inside against one of their points, %d-D", (dims) => {
    fc.assert(
      fc.property(
        region(dims),
        point(dims),
        point(dims),
        fc.array(fc.nat(2), { minLength: dims, maxLength: dims }),
        (where, a, b, pick) => {
          const min = a.map((x, i) => Math.min(x, b[i]!));
          const max = a.map((x, i) => Math.max(x, b[i]!));
          const relation = Region.relation(where, min, max);
          const middle = where.kind === "box" ? where.min : where.center;
          // A corner, or the point nearest to the region.
          const p = pick.map((k, i) => (k < 2 ? [min, max][k]![i]! : Math.min(Math.max(middle[i]!, min[i]!), max[i]!)));
          const inside = Region.contains(where, Float64Array.from(p), dims, 0);
          expect(relation).not.toBe(inside ? "outside" : "inside");
          if (where.kind !== "box") return;
          // Boxes: exactly "outside" where no axis has a common value.
          expect(relation === "outside").toBe(min.some((low, i) => low > where.max[i]! || max[i]! < where.min[i]!));
        },
      ),
      { numRuns: 300 },
    );
  });
});
