import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import { distance2ToBox, distance2ToSegment, distance2ToTriangle, KNearest, nearestInRows } from "./nearest.js";

describe("the k nearest", () => {
  test("of candidates in any order, with ties by chunk and row", () => {
    const candidate = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.nat(3), fc.nat(9));
    fc.assert(
      fc.property(
        fc.uniqueArray(candidate, { selector: String, maxLength: 150 }),
        fc.integer({ min: 1, max: 100 }),
        (all, k) => {
          const heap = KNearest.of(k);
          for (const [distance2, chunk, row] of all) KNearest.push(heap, distance2, chunk, row);
          const { distance2, chunk, row } = KNearest.sorted(heap);
          const expected = all.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).slice(0, k);
          expect([...distance2].map((d, i) => [d, chunk[i], row[i]])).toEqual(expected);
          expect(KNearest.bound(heap)).toBe(all.length < k ? Infinity : expected.at(-1)![0]);
        },
      ),
    );
  });
  test("NaN is never near, infinity comes last, the count is checked", () => {
    const heap = KNearest.of(1e9); // takes room as it fills
    nearestInRows(heap, [0], Float64Array.of(Number.NaN, Infinity, 3, -2, 2 ** 600), 1, 0, 5, 7);
    expect([...KNearest.sorted(heap).row]).toEqual([3, 2, 1, 4]);
    expect([...KNearest.sorted(heap).distance2]).toEqual([4, 9, Infinity, Infinity]);
    for (const k of [0, -1, 1.5, Number.NaN, Infinity]) expect(() => KNearest.of(k)).toThrow(InvalidInput);
  });
  test.each([1, 2, 3, 5])("over chunks equals sorting everything, with a mask, %d-D", (dims) => {
    const row = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: dims, maxLength: dims });
    const chunk = fc.array(fc.tuple(row, fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 4 }),
        row,
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        (chunks, point, k, backwards) => {
          const heap = KNearest.of(k);
          const order = [...chunks.keys()];
          for (const ordinal of backwards ? order.reverse() : order) {
            const rows = chunks[ordinal]!;
            const positions = Float32Array.from(rows.flatMap(([p]) => p));
            const from = Math.min(1, rows.length);
            const keep = Uint8Array.from(rows.slice(from), ([, kept]) => Number(kept));
            nearestInRows(heap, point, positions, dims, 0, from, ordinal);
            nearestInRows(heap, point, positions, dims, from, rows.length, ordinal, keep);
          }
          const all = chunks.flatMap((rows, ordinal) =>
            rows.flatMap(([p, kept], r) =>
              kept || r === 0 ? [[p.reduce((sum, x, i) => sum + (x - point[i]!) ** 2, 0), ordinal, r]] : [],
            ),
          ) as [number, number, number][];
          const expected = all.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).slice(0, k);
          const { distance2, chunk: found, row: at } = KNearest.sorted(heap);
          expect([...distance2].map((d, i) => [d, found[i], at[i]])).toEqual(expected);
        },
      ),
    );
  });
});

describe("distances", () => {
  const rows = (...points: number[][]): Float64Array => Float64Array.from(points.flat());
  test("by hand", () => {
    expect(distance2ToBox([2, -3, 0.5], [0, 0, 0], [1, 1, 1])).toBe(1 + 9);
    expect(distance2ToBox([0.5], [0], [1])).toBe(0);
    expect(distance2ToBox([5, 5], [-Infinity, 0], [Infinity, 1])).toBe(16);
    const line = rows([0, 0], [4, 0]);
    expect(distance2ToSegment([1, 3], line, 2, 0, 1)).toBe(9);
    expect(distance2ToSegment([-3, 4], line, 2, 0, 1)).toBe(25);
    expect(distance2ToSegment([7, 4], line, 2, 0, 1)).toBe(25);
    expect(distance2ToSegment([3, 4], rows([0, 0], [0, 0]), 2, 0, 1)).toBe(25);
    const flat = rows([0, 0, 0], [4, 0, 0], [0, 4, 0]);
    expect(distance2ToTriangle([1, 1, 3], flat, 3, 0, 1, 2)).toBe(9);
    expect(distance2ToTriangle([4, 4, 0], flat, 3, 0, 1, 2)).toBeCloseTo(8, 12);
    expect(distance2ToTriangle([-3, -4, 0], flat, 3, 0, 1, 2)).toBe(25);
    expect(distance2ToTriangle([2, 3, 0], rows([0, 0, 0], [2, 0, 0], [4, 0, 0]), 3, 0, 1, 2)).toBe(9); // no area
    expect(distance2ToTriangle([3, 4, 0], rows([0, 0, 0], [0, 0, 0], [0, 0, 0]), 3, 0, 1, 2)).toBe(25);
    expect(distance2ToTriangle([5], rows([0], [1], [3]), 1, 0, 1, 2)).toBe(4);
  });
  test.each([2, 3, 4, 5])("to a triangle: as in the coordinates of its own plane, %d-D", (dims) => {
    const number = fc.integer({ min: -1000, max: 1000 }).map((n) => n * 0.01);
    const point = fc.array(number, { minLength: dims, maxLength: dims });
    fc.assert(
      fc.property(point, point, point, point, (p, a, b, c) => {
        const positions = rows(a, b, c);
        const found = distance2ToTriangle(p, positions, dims, 0, 1, 2);
        const min = a.map((_, i) => Math.min(a[i]!, b[i]!, c[i]!));
        const max = a.map((_, i) => Math.max(a[i]!, b[i]!, c[i]!));
        expect(found).toBeGreaterThanOrEqual(distance2ToBox(p, min, max));
        // Again in the plane of the triangle: along a – b, and at right angles to it.
        const dot = (x: number[], y: number[]) => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
        const less = (x: number[], y: number[], times = 1) => x.map((value, i) => value - times * y[i]!);
        const [ab, ac, ap] = [less(b, a), less(c, a), less(p, a)];
        const e = ab.map((x) => x / Math.sqrt(dot(ab, ab)));
        const across = less(ac, e, dot(ac, e));
        const f = across.map((x) => x / Math.sqrt(dot(across, across)));
        fc.pre(dot(ab, ab) > 1e-3 && dot(across, across) > 1e-3);
        const above = less(less(ap, e, dot(ap, e)), f, dot(ap, f));
        const [x, y, length, cx, cy] = [dot(ap, e), dot(ap, f), dot(ab, e), dot(ac, e), dot(ac, f)];
        const toEdge = (px: number, py: number, dx: number, dy: number) => {
          const t = Math.min(1, Math.max(0, (px * dx + py * dy) / (dx * dx + dy * dy)));
          return (px - t * dx) ** 2 + (py - t * dy) ** 2;
        };
        const left = (px: number, py: number, dx: number, dy: number) => dx * py - dy * px >= 0;
        const within = left(x, y, length, 0) && left(x - length, y, cx - length, cy) && left(x - cx, y - cy, -cx, -cy);
        const beside = Math.min(
          toEdge(x, y, length, 0),
          toEdge(x - length, y, cx - length, cy),
          toEdge(x - cx, y - cy, -cx, -cy),
        );
        expect(found).toBeCloseTo(dot(above, above) + (within ? 0 : beside), 8);
      }),
      { numRuns: 100 },
    );
  });
});
