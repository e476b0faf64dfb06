/** Coarse faces beside a finer level: neither holes nor doubled surfaces, wherever their corners are. */
import { expect, test } from "vitest";
import { toBorder } from "./border.js";
import { locator } from "./locator.js";
import type { Piece } from "./piece.js";

/** Nine chunks of 10 × 10 × 10, side by side. */
const boxes = Float64Array.from(
  Array.from({ length: 9 }, (_, chunk) => {
    const [x, y] = [10 * (chunk % 3), 10 * Math.floor(chunk / 3)];
    return [x, y, -5, x + 10, y + 10, 5];
  }).flat(),
);
const find = locator({ count: 9, boxes });

const ORIGIN = [5, 5, 0] as const;

function faceOf(places: readonly (readonly [number, number])[]): Piece {
  return {
    form: "triangles",
    origin: ORIGIN,
    positions: Float32Array.from(places.flatMap(([x, y]) => [x - ORIGIN[0], y - ORIGIN[1], 0])),
    index: Uint32Array.of(0, 1, 2),
    objects: Int32Array.of(0, 0, 0),
    ids: BigInt64Array.of(1n),
    key: "1/0",
    level: 1,
    chunk: undefined,
    parts: new Uint32Array(3),
    places: undefined,
    values: Float32Array.of(1, 2, 3),
    direct: false,
    radius: undefined,
    bytes: 0,
  };
}

/** How many faces are above a place. */
function above({ positions, index, origin }: Piece, x: number, y: number): number {
  let count = 0;
  for (let at = 0; at < index.length; at += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => {
      const v = 3 * index[at + k]!;
      return [positions[v]! + origin[0] - x, positions[v + 1]! + origin[1] - y] as const;
    }) as [readonly [number, number], readonly [number, number], readonly [number, number]];
    const sides = [a[0] * b[1] - a[1] * b[0], b[0] * c[1] - b[1] * c[0], c[0] * a[1] - c[1] * a[0]];
    if (sides.every((side) => side > 0) || sides.every((side) => side < 0)) count++;
  }
  return count;
}

test.each([
  [
    "no corner",
    [4],
    [
      [1, 1],
      [29, 2],
      [14, 29],
    ],
  ],
  [
    "all corners",
    [0, 2, 7],
    [
      [1, 1],
      [29, 2],
      [14, 29],
    ],
  ],
  [
    "one corner",
    [0, 1, 2],
    [
      [1, 1],
      [29, 21],
      [2, 29],
    ],
  ],
  [
    "nothing but a side",
    [1],
    [
      [5, 3],
      [25, 3],
      [15, 29],
    ],
  ],
] as const)("a face with %s in chunks that are shown finer", (_what, shown: readonly number[], places) => {
  const isShown = (chunk: number): boolean => shown.includes(chunk);
  const whole = faceOf(places);
  const drawn = toBorder(whole, { ...find, isShown });
  const small = Math.max(...places.flatMap(([x, y]) => places.map(([u, v]) => Math.hypot(x - u, y - v)))) / 8;
  let gone = 0;
  for (let x = 0.313; x < 30; x += 0.471)
    for (let y = 0.177; y < 30; y += 0.463) {
      if (above(whole, x, y) === 0) continue;
      const count = above(drawn, x, y);
      const near = [-small, 0, small].flatMap((dx) => [-small, 0, small].map((dy) => find.at(x + dx, y + dy, 0)));
      // Not shown finer: there is one face. Far from what is not: there is none. At the border at most one.
      if (!isShown(find.at(x, y, 0))) expect(count, `${x}, ${y}`).toBe(1);
      else if (near.every((chunk) => chunk < 0 || isShown(chunk))) expect(count, `${x}, ${y}`).toBe(0);
      expect(count).toBeLessThanOrEqual(1);
      if (count === 0) gone++;
    }
  expect(gone).toBeGreaterThan(10);
});

test("a face that nothing finer is near is as it was", () => {
  const whole = faceOf([
    [1, 1],
    [9, 2],
    [4, 29],
  ]);
  expect(toBorder(whole, { ...find, isShown: (chunk) => chunk === 8 })).toBe(whole);
});
