import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { alike, goldenNames, goldenTree } from "../../../test/packed-tree.js";
import { InvalidInput } from "../../errors.js";
import { particleRoom, plainRoom } from "../../kernel/tree.js";
import { buildTree } from "./build.js";
import { encodeTree } from "./encode.js";
import { parseTree } from "./parse.js";

const folder = fixtures("packed-tree");

describe("a tree is that of the reference", () => {
  it.each(goldenNames(folder))("%s: bytes, box and permutation", async (name) => {
    const { positions, box, threshold, bytes, order } = goldenTree(folder, name);
    const before = positions.slice();
    const built = await buildTree(positions, { box, threshold, created: 0 });
    expect(alike(encodeTree(built.tree), bytes)).toBe(true);
    expect(alike(built.order, order)).toBe(true);
    expect(alike(positions, before)).toBe(true);
    expect(alike(built.positions, gathered(positions, order))).toBe(true);
  });

  it("from an array for each axis, and in place", async () => {
    const { positions, threshold, bytes, order } = goldenTree(folder, "cl5k_t8");
    const axes = [0, 1, 2].map((axis) => positions.filter((_, i) => i % 3 === axis)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const { tree } = await buildTree(axes, { threshold, inPlace: true, created: 0 });
    expect(alike(encodeTree(tree), bytes)).toBe(true);
    const sorted = gathered(positions, order);
    expect(
      alike(
        axes[1]!,
        sorted.filter((_, i) => i % 3 === 1),
      ),
    ).toBe(true);
    const given = positions.slice();
    await buildTree(given, { threshold, inPlace: true });
    expect(alike(given, sorted)).toBe(true);
  });

  it("float32 is kept, and gives the same tree as in float64", async () => {
    const narrow = Float32Array.from(goldenTree(folder, "u20k").positions);
    const [a, b] = [
      await buildTree(narrow, { threshold: 16 }),
      await buildTree(Float64Array.from(narrow), { threshold: 16 }),
    ];
    expect(a.positions).toBeInstanceOf(Float32Array);
    expect(alike(encodeTree({ ...a.tree, created: 0 }), encodeTree({ ...b.tree, created: 0 }))).toBe(true);
    expect(alike(a.order, b.order)).toBe(true);
  });
});

it("WebAssembly and TypeScript put the same particles in the same places, as two pointers would", async () => {
  const value = fc.constantFrom(-1, 0, 0.25, 0.5, 0.75, 1, 2);
  const set = fc.array(fc.tuple(value, value, value), { maxLength: 700 });
  await fc.assert(
    fc.asyncProperty(set, fc.nat(2), fc.constantFrom<4 | 8>(4, 8), async (list, axis, bytes) => {
      const rooms = [await particleRoom(list.length, bytes), plainRoom(list.length, bytes)];
      expect(rooms.map(({ kind }) => kind)).toEqual(["wasm", "plain"]);
      const wanted = list.map((point, i) => ({ point, i }));
      const split = twoPointers(wanted, axis, 0.5);
      for (const room of rooms) {
        room.positions.set(list.flat());
        room.order.set(list.map((_, i) => i));
        expect(room.partition(0, list.length, axis, 0.5)).toBe(split);
        expect([...room.order]).toEqual(wanted.map(({ i }) => i));
        expect([...room.positions]).toEqual(wanted.flatMap(({ point }) => point));
      }
    }),
    { numRuns: 100 },
  );
});

it("WebAssembly and TypeScript find the same particles, the same nearest, and the same box around them", async () => {
  const value = fc.oneof(
    fc.constantFrom(-1, 0, 0.25, 0.5, 1, Infinity, Number.NaN),
    fc.double({ min: -2, max: 2, noNaN: true }),
  );
  const set = fc.array(fc.tuple(value, value, value), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(set, fc.nat(40), fc.constantFrom<4 | 8>(4, 8), async (list, from, bytes) => {
      const start = Math.min(from, list.length);
      const seen = [await particleRoom(list.length, bytes), plainRoom(list.length, bytes)].map((room) => {
        room.positions.set(list.flat());
        const boxed = room.keepBox(start, list.length, 3, -1, 0, 0, 0.5, 1, 1);
        const inBox = [...room.found.subarray(3, boxed)];
        const n = room.keepSphere(start, list.length, 0, 0, 0.25, 0, 0.5);
        const inSphere = [...room.found.subarray(0, n)];
        const all = [...room.found.subarray(2, room.keepAll(start, list.length, 2))];
        const { near, squares, numbers } = room.nearest(3);
        const few = near(start, list.length, 0.1, 0, 0.5, near(0, start, 0.1, 0, 0.5, 0, 2), 2);
        const finite = room.bounds(start, list.length);
        const nearest = [[...squares.subarray(0, few)], [...numbers.subarray(0, few)]];
        return { inBox, inSphere, all, nearest, finite, box: finite ? [...room.box] : undefined };
      });
      expect(seen[0]).toEqual(seen[1]);
      expect(seen[0]!.finite).toBe(list.slice(start).flat().every(Number.isFinite));
    }),
    { numRuns: 200 },
  );
});

function twoPointers(list: { point: readonly number[]; i: number }[], axis: number, mid: number): number {
  let [low, high] = [0, list.length - 1];
  for (;;) {
    while (low <= high && list[low]!.point[axis]! < mid) low++;
    while (low <= high && list[high]!.point[axis]! >= mid) high--;
    if (low >= high) return low;
    [list[low], list[high]] = [list[high]!, list[low]!];
  }
}

it("any particles give a tree that reads again, with each particle in its node", async () => {
  const value = fc.oneof(fc.double({ noNaN: true, min: -1e3, max: 1e3 }), fc.constantFrom(0, 0.5, 1, 1e-300, 1e6));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(value, value, value), { maxLength: 80 }), fc.nat(9), async (list, threshold) => {
      const { tree, order } = await buildTree(Float64Array.from(list.flat()), { threshold });
      const { nodes, count } = parseTree(encodeTree(tree));
      expect(count).toBe(Math.max(list.length, 1));
      if (list.length > 0) expect(nodes).toEqual(tree.nodes);
      expect([...order].sort((a, b) => a - b)).toEqual(list.map((_, i) => i));
    }),
    { numRuns: 100 },
  );
});

it("of zeros with either sign the last one is that of the box, as in the reference", async () => {
  const signs = async (...zeros: number[]) => {
    const { tree } = await buildTree(Float64Array.from(zeros.flatMap((zero) => [zero, 1, 1])));
    return Object.is(tree.box.origin[0], -0);
  };
  expect(await signs(0, -0)).toBe(true);
  expect(await signs(-0, 0)).toBe(false);
  expect(await signs(0, -0, 1)).toBe(true);
});

describe("what is no set of particles is refused", () => {
  it.each([
    ["NaN", Float64Array.of(0, 0, 0, Number.NaN, 0, 0), {}],
    ["NaN in a given box", Float64Array.of(0, Number.NaN, 0), { box: { origin: [0, 0, 0], size: [1, 1, 1] } }],
    ["infinity", Float64Array.of(0, 0, Infinity), { box: { origin: [0, 0, 0], size: [1, 1, 1] } }],
    ["four numbers", Float64Array.of(0, 0, 0, 1), {}],
    ["axes of different length", [new Float64Array(2), new Float64Array(2), new Float64Array(1)], {}],
    ["a box without size", new Float64Array(3), { box: { origin: [0, 0, 0], size: [1, 0, 1] } }],
    ["an inverted box", new Float64Array(3), { box: { origin: [0, 0, 0], size: [1, 1, -1] } }],
    ["a box too small for where it is", new Float64Array(3), { box: { origin: [1e9, 0, 0], size: [1e-9, 1, 1] } }],
    ["half a particle as threshold", new Float64Array(3), { threshold: 0.5 }],
  ] as const)("%s", async (_, positions, options) => {
    await expect(buildTree(positions as Float64Array, options)).rejects.toThrow(InvalidInput);
  });
});

function gathered<T extends Float32Array | Float64Array>(positions: T, order: Uint32Array): T {
  const out = positions.slice() as T;
  for (const [i, from] of order.entries()) for (let k = 0; k < 3; k++) out[3 * i + k] = positions[3 * from + k]!;
  return out;
}
