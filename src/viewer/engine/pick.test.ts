/** What is under the pointer: the place itself, not the vertices that it lies between. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bounds, fitted, lensOf, project, type Vector } from "../../scene/camera.js";
import type { Form } from "../../scene/shape.js";
import { toBorder } from "./border.js";
import { hitAt } from "./pick.js";
import { tell } from "./picked.js";
import type { Piece } from "./piece.js";
import type { View } from "./view.js";

function pieceOf(form: Form, places: readonly Vector[], index: readonly number[], origin: Vector = [0, 0, 0]): Piece {
  const own = places.flatMap((place) => place.map((value, k) => value - origin[k]!));
  const count = places.length;
  return {
    form,
    origin,
    positions: Float32Array.from(own),
    index: Uint32Array.from(index),
    objects: new Int32Array(count).fill(-1),
    ids: new BigInt64Array(),
    key: "0",
    level: 0,
    chunk: undefined,
    parts: new Uint32Array(count),
    places: undefined,
    values: new Float32Array(count),
    direct: true,
    radius: undefined,
    bytes: 0,
  };
}

const cube: Bounds = { min: [0, 0, 0], max: [100, 100, 100] };
const viewOf = (perspective: boolean, clip?: Bounds): View => ({
  camera: fitted(cube, 30, 40, 1, perspective),
  width: 500,
  height: 500,
  clip,
});
const at = (view: View, place: Vector) => {
  const { camera, width, height } = view;
  const seen = new Float64Array(3);
  const [x, y, z] = place.map((value, k) => value - camera.target[k]!) as [number, number, number];
  project(lensOf(camera, width, height), x, y, z, seen);
  return { view, x: seen[0]!, y: seen[1]!, reach: 4, subset: 1 };
};
const near = (place: Vector) => place.map((value) => expect.closeTo(value, 3));

describe.each([
  ["parallel rays", false],
  ["a perspective", true],
])("with %s", (_name, perspective) => {
  const corners: Vector[] = [
    [0, 0, 0],
    [100, 0, 30],
    [0, 100, 60],
  ];

  test("a face is hit where the ray goes through it, and its next corner is the vertex", () => {
    const share = fc.double({ min: 0.01, max: 1, noNaN: true });
    const view = viewOf(perspective);
    const piece = pieceOf("triangles", corners, [0, 1, 2], [64, -32, 7]);
    fc.assert(
      fc.property(share, share, share, (...given) => {
        const all = given[0] + given[1] + given[2];
        const shares = given.map((own) => own / all);
        const place = [0, 1, 2].map((k) =>
          corners.reduce((sum, corner, i) => sum + shares[i]! * corner[k]!, 0),
        ) as unknown as Vector;
        const hit = hitAt([piece], at(view, place));
        expect(hit?.place).toEqual(near(place));
        expect(shares[hit!.vertex]).toBeCloseTo(Math.max(...shares), 4);
      }),
    );
  });

  test("a line is hit between its ends", () => {
    const piece = pieceOf("lines", corners.slice(0, 2), [0, 1]);
    for (const share of [0.1, 0.4, 0.9]) {
      const place: Vector = [100 * share, 0, 30 * share];
      const hit = hitAt([piece], at(viewOf(perspective), place));
      expect([hit?.place, hit?.vertex]).toEqual([near(place), share < 0.5 ? 0 : 1]);
    }
  });

  test("what is cut away is not hit, and what is left is, wherever its corners are", () => {
    const clip: Bounds = { min: [20, 20, 0], max: [60, 60, 100] }; // no corner is in it
    const view = viewOf(perspective, clip);
    const face = pieceOf("triangles", corners, [0, 1, 2]);
    expect(hitAt([face], at(view, [30, 30, 27]))?.place).toEqual(near([30, 30, 27]));
    expect(hitAt([face], at(view, [10, 30, 21]))).toBeUndefined();
    const line = pieceOf("lines", [[0, 30, 0] as Vector, [100, 30, 0]], [0, 1]);
    expect(hitAt([line], at(view, [50, 30, 0]))?.place).toEqual(near([50, 30, 0]));
    expect(hitAt([line], at(view, [10, 30, 0]))).toBeUndefined();
    const behind = pieceOf(
      "triangles",
      corners.map(([x, y, z]): Vector => [x, y, z - 20]),
      [0, 1, 2],
    );
    expect(hitAt([face, behind], at({ ...view, clip: { ...clip, max: [60, 60, 20] } }, [30, 30, 7]))?.piece).toBe(
      behind,
    );
  });
});

test("a face that reaches behind the eye is hit where it is before it", () => {
  const view = viewOf(true);
  const { target } = view.camera;
  const { back, distance } = lensOf(view.camera, 1, 1);
  const [x, y, z] = target;
  const behind = target.map((value, k) => value + 3 * distance * back[k]!) as unknown as Vector;
  const piece = pieceOf(
    "triangles",
    [[x - 50, y, z] as Vector, [x + 50, y, z + 1], [behind[0], behind[1], behind[2] - 9]],
    [0, 1, 2],
  );
  const hit = hitAt([piece], { view, x: 250, y: 250, reach: 4, subset: 1 });
  expect(hit).toBeDefined();
  expect(hit!.place.reduce((sum, value, k) => sum + (value - target[k]!) * back[k]!, 0)).toBeLessThan(distance);
});

test("where a face was cut smaller, the vertex is one that the data have", () => {
  const face = pieceOf("triangles", [[0, 0, 0] as Vector, [100, 0, 0], [0, 100, 0]], [0, 1, 2]);
  const cut = toBorder(face, {
    at: (_x, y) => (y > 50 ? 1 : 0),
    isShown: (chunk) => chunk === 1,
    some: () => true,
  });
  expect(cut.positions.length).toBeGreaterThan(9);
  const hit = hitAt([cut], at(viewOf(false), [45, 40, 0]));
  expect([hit!.place, hit!.vertex < 3]).toEqual([near([45, 40, 0]), true]);
});

test("units of attributes are written as those of lengths", () => {
  const f4 = { kind: "float", size: 4, endian: "little" } as const;
  const column = (unit: string) => ({
    info: { name: "radius", dtype: f4, channels: 1, unit },
    values: Float32Array.of(6),
  });
  const told = new Map<string, string>();
  tell(new Map(["micrometer", "furlong"].map((unit) => [unit, column(unit)])), 0, told);
  expect([...told.values()]).toEqual(["6 µm", "6 furlong"]);
});
