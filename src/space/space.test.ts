import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import { Box } from "./box.js";
import { Grid } from "./grid.js";
import { Morton } from "./morton.js";
import { Affine } from "./transform.js";

const small = fc.integer({ min: -4, max: 4 });
const box = fc.array(fc.tuple(small, small), { minLength: 2, maxLength: 2 }).map((axes) =>
  Box.of(
    axes.map(([a]) => a),
    axes.map(([, b]) => b),
  ),
);
const points = Array.from({ length: 121 }, (_, i) => [(i % 11) - 5, Math.floor(i / 11) - 5]);

describe("boxes", () => {
  test("every operation agrees with the points inside", () => {
    fc.assert(
      fc.property(box, box, (a, b) => {
        const both = Box.intersect(a, b);
        const inside = (where: Box) => points.filter((point) => Box.contains(where, point));
        expect(both === undefined ? [] : inside(both)).toEqual(
          points.filter((p) => Box.contains(a, p) && Box.contains(b, p)),
        );
        expect(Box.covers(a, b)).toBe(inside(b).every((p) => Box.contains(a, p)));
        expect(Box.isEmpty(a)).toBe(inside(a).length === 0);
        const around = Box.union(a, b);
        expect(Box.covers(around, a) && Box.covers(around, b)).toBe(true);
      }),
    );
  });
  test("ranks must agree, corners must be numbers", () => {
    expect(() => Box.of([0], [1, 2])).toThrow(InvalidInput);
    expect(() => Box.of([0], [Number.NaN])).toThrow(InvalidInput);
    expect(() => Box.intersect(Box.of([0], [1]), Box.of([0, 0], [1, 1]))).toThrow(InvalidInput);
    expect(() => Box.contains(Box.of([0], [1]), [0, 0])).toThrow(InvalidInput);
  });
});

describe("grids", () => {
  test("an array's grid, its edge and its count", () => {
    const grid = Grid.over(Box.of([0, 0], [10, 7]), [4, 7]);
    expect(grid.shape).toEqual([3, 1]);
    expect(Grid.box(grid, [2, 0])).toEqual(Box.of([8, 0], [10, 7]));
    expect(Grid.touched(grid, Box.of([4, 1], [8, 2]))).toEqual({ first: [1, 0], end: [2, 1] });
    expect(Grid.touched(grid, Box.of([-5, -5], [99, 99]))).toEqual({ first: [0, 0], end: [3, 1] });
    expect(Grid.touched(grid, Box.of([10, 0], [11, 1]))).toBeUndefined();
  });
  test("counts beyond 2^53 exactly", () => {
    const n = 2 ** 40 + 1;
    expect(Grid.count(Grid.over(Box.of([0, 0], [n, n]), [1, 1]))).toBe((2n ** 40n + 1n) ** 2n);
    expect(Grid.count(Grid.over(Box.of([0, 0], [0, 5]), [1, 1]))).toBe(0n);
    expect(Grid.count(Grid.over(Box.of([], []), []))).toBe(1n);
  });
  test("walks in C order; a 0-d range has one chunk, an empty one none", () => {
    const walk = (first: number[], end: number[]) => [...Grid.walk({ first, end })].length;
    const seen: number[][] = [];
    for (const chunk of Grid.walk({ first: [1, 0], end: [3, 2] })) seen.push([...chunk]);
    expect(seen).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ]);
    expect(walk([], [])).toBe(1);
    expect(walk([2, 0], [2, 9])).toBe(0);
  });
  test("a chunk's box holds exactly the points whose chunk it is, at fractions too", () => {
    const size = fc.constantFrom(0.1, 0.3, 1, 1 / 3, 2.5);
    const value = fc.oneof(
      fc.double({ min: -1, max: 9, noNaN: true }),
      fc.nat(90).map((n) => n * 0.1 - 1),
      fc.nat(30).map((n) => n * 0.3 - 1),
    );
    fc.assert(
      fc.property(size, value, value, (chunk, a, b) => {
        const grid = Grid.over(Box.of([-1], [9.01]), [chunk]);
        const [index] = Grid.chunkOf(grid, [a]);
        expect(Box.contains(Grid.box(grid, [index!]), [a])).toBe(true);
        const query = Box.of([Math.min(a, b)], [Math.max(a, b)]);
        const touched = Grid.touched(grid, query);
        const expected: number[] = [];
        for (let i = 0; i < grid.shape[0]!; i++) if (Box.intersect(Grid.box(grid, [i]), query)) expected.push(i);
        expect(touched === undefined ? [] : [...Grid.walk(touched)].length).toEqual(
          expected.length === 0 ? [] : expected.length,
        );
        if (touched !== undefined) expect(touched.first[0]).toBe(expected[0]);
      }),
      { numRuns: 500 },
    );
  });
  test("a point outside has no chunk", () => {
    const grid = Grid.over(Box.of([0, 0], [10, 10]), [4, 4]);
    expect(Grid.chunkOf(grid, [9.5, 0])).toEqual([2, 0]);
    for (const point of [[10, 0], [-1, 0], [Number.NaN, 0], [1], [1, 1, 1]])
      expect(() => Grid.chunkOf(grid, point)).toThrow(InvalidInput);
  });
  test("sizes that make no grid are refused", () => {
    const bounds = Box.of([0], [10]);
    for (const chunk of [[0], [-1], [Number.NaN], [1, 1], [Number.POSITIVE_INFINITY], [5e-324]])
      expect(() => Grid.over(bounds, chunk)).toThrow(InvalidInput);
  });
});

describe("Morton codes", () => {
  test.each([
    [[4, 3, 2], [3, 2, 1], 29n],
    [[4, 3, 2], [2, 2, 0], 24n],
    [[1, 1, 1], [0, 0, 0], 0n],
    [[1, 5, 1], [0, 3, 0], 3n],
    [[9, 2, 1], [8, 1, 0], 18n],
    [[9, 2, 1], [7, 0, 0], 13n],
    [[1025, 512, 3], [1024, 511, 2], 2796210n],
    [[42943, 13000, 10000000], [42942, 12999, 9999999], 10750893590502398n],
    [[42943, 13000, 10000000], [12345, 6789, 1234567], 1311670945223591n],
    [[2097152, 2097152, 2097152], [2097151, 0, 1], 1317624576693539405n],
    [[2097152, 2097152, 2097152], [2097151, 2097151, 2097151], 9223372036854775807n],
  ])("grid %j, cell %j, as Neuroglancer and CloudVolume have it", (grid, cell, code) => {
    expect(Morton.encode(cell, grid)).toBe(code);
    expect(Morton.decode(code, grid)).toEqual(cell);
  });
  test("a code belongs to one cell, and some to none", () => {
    const grid = [3, 5, 2];
    const codes = new Map<bigint, number[]>();
    for (const cell of Grid.walk({ first: [0, 0, 0], end: grid })) codes.set(Morton.encode(cell, grid), [...cell]);
    expect(codes.size).toBe(30);
    for (let code = 0n; code < 200n; code++) expect(Morton.decode(code, grid)).toEqual(codes.get(code));
  });
  test("cells outside and grids too large are refused", () => {
    for (const cell of [[3, 0], [0, -1], [0.5, 0], [0]])
      expect(() => Morton.encode(cell, [3, 3])).toThrow(InvalidInput);
    expect(() => Morton.encode([0, 0], [2 ** 33, 2 ** 33])).toThrow(InvalidInput);
    expect(Morton.encode([2 ** 32 - 1, 2 ** 32 - 1], [2 ** 32, 2 ** 32])).toBe(2n ** 64n - 1n);
  });
});

describe("affine transforms", () => {
  const number = fc.integer({ min: -9, max: 9 });
  const affine = fc.array(number, { minLength: 12, maxLength: 12 }).map(Affine.of);
  const point = fc.array(number, { minLength: 3, maxLength: 3 });

  test("composing is applying one after the other", () => {
    fc.assert(
      fc.property(affine, affine, point, (a, b, p) => {
        expect(Affine.apply(Affine.compose(a, b), p)).toEqual(
          Affine.apply(a, Affine.apply(b, p)).map((value) => value + 0),
        );
      }),
    );
  });
  test("inverting goes back, or is refused where space is flattened", () => {
    const determinant = ([a, b, c, , d, e, f, , g, h, i]: readonly number[]) =>
      a! * (e! * i! - f! * h!) - b! * (d! * i! - f! * g!) + c! * (d! * h! - e! * g!);
    fc.assert(
      fc.property(affine, point, (a, p) => {
        if (determinant(a.rows) === 0) return;
        const back = Affine.apply(Affine.invert(a), Affine.apply(a, p));
        back.forEach((value, axis) => {
          expect(value).toBeCloseTo(p[axis]!, 6);
        });
      }),
    );
    expect(() => Affine.invert(Affine.scale([1, 0, 1]))).toThrow(InvalidInput);
  });
  test("scale and move", () => {
    expect(Affine.apply(Affine.scale([4, 4, 40], [1, 2, 3]), [1, 1, 1])).toEqual([5, 6, 43]);
    expect(Affine.scale([2, 3]).rows).toEqual([2, 0, 0, 0, 3, 0]);
  });
  test("the wrong number of numbers is refused", () => {
    for (const point of [[], [1, 2], [1, 2, 3, 4]])
      expect(() => Affine.apply(Affine.scale([1, 1, 1]), point)).toThrow(InvalidInput);
    for (const rows of [[], [1], Array(16).fill(0), Array(12).fill(Number.NaN)])
      expect(() => Affine.of(rows)).toThrow(InvalidInput);
  });
});
