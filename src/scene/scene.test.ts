/** Cameras, colours and scale bars, by hand. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { basisOf, corners, dot, fitted, lensOf, project, type Vector, viewOf } from "./camera.js";
import { colourNamed, contrast, mixed, paletteOn, palettes, stepAt, stepsOf } from "./palette.js";
import { lengthsIn, scaleBarOf, unitText } from "./scale-bar.js";

test("front looks along y, with x to the right and z up; top has y up", () => {
  const round = (vector: Vector) => vector.map((part) => Math.round(part) + 0);
  const [front, top] = ["front", "top"].map((name) => {
    const [azimuth, elevation] = viewOf(name);
    return basisOf({ azimuth, elevation });
  });
  expect([front!.right, front!.up, front!.back].map(round)).toEqual([
    [1, 0, 0],
    [0, 0, 1],
    [0, -1, 0],
  ]);
  expect([top!.right, top!.up, top!.back].map(round)).toEqual([
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
});

test("whatever the angles, all of the box is in the picture", () => {
  const place = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: -1e6, max: 1e6, noNaN: true })));
  const angles = fc.tuple(
    fc.double({ min: -360, max: 360, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  );
  fc.assert(
    fc.property(
      place,
      place,
      angles,
      fc.boolean(),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      (a, b, [az, el], near, aspect) => {
        const bounds = {
          min: a.map((x, i) => Math.min(x, b[i]!)) as never,
          max: a.map((x, i) => Math.max(x, b[i]!)) as never,
        };
        const camera = fitted(bounds, az, el, aspect, near);
        const lens = lensOf(camera, 100 * aspect, 100);
        const at = new Float64Array(3);
        for (const corner of corners(bounds)) {
          const [x, y, z] = corner.map((part, i) => part - camera.target[i]!) as [number, number, number];
          expect(project(lens, x, y, z, at)).toBeGreaterThan(0);
          expect(at[0]! >= 0 && at[0]! <= 100 * aspect && at[1]! >= 0 && at[1]! <= 100).toBe(true);
        }
      },
    ),
  );
});

test("depth grows away from the eye, in both kinds of cameras", () => {
  for (const perspective of [false, true]) {
    const camera = fitted({ min: [0, 0, 0], max: [9, 9, 9] }, 20, 30, 1, perspective);
    const lens = lensOf(camera, 10, 10);
    const seen = [-1, 0, 1].map((step) => {
      const at = new Float64Array(3);
      const [x, y, z] = lens.back.map((part) => -step * part) as [number, number, number];
      project(lens, x, y, z, at);
      return at[2]!;
    });
    expect(seen[0]! < seen[1]! && seen[1]! < seen[2]!).toBe(true);
  }
  expect(dot([1, 2, 3], [4, 5, 6])).toBe(32);
});

test("colours are read as they are written", () => {
  expect([colourNamed("#f80"), colourNamed("#FF8800"), colourNamed("white"), colourNamed("#12")]).toEqual([
    0xff8800,
    0xff8800,
    0xffffff,
    undefined,
  ]);
  expect(mixed(0x000000, 0xff8800, 0.5)).toBe(0x804400);
  const steps = stepsOf(palettes.viridis!);
  expect([steps[0], steps[255], steps.length]).toEqual([0x440154, 0xfde725, 256]);
  expect([stepAt(-9, 0, 1), stepAt(0.5, 0, 1), stepAt(9, 0, 1), stepAt(3, 3, 3)]).toEqual([0, 128, 255, 128]);
});

test.each([
  [1, 100, "nanometer", 100, 100, "100 nm"],
  [0.04, 256, "nm", 5000, 200, "5 µm"],
  [3, 100, "micrometer", 20, 60, "20 µm"],
  [1e-3, 100, "millimeter", 1e5, 100, "100 m"],
  [10, 100, "4 nm", 5, 50, "20 nm"],
  [2, 100, undefined, 50, 100, "50"],
  [2, 100, "kpc", 50, 100, "50 kpc"],
])("%s pixels per unit, at most %s pixels, in %s", (perUnit, most, unit, length, pixels, text) => {
  const bar = scaleBarOf(perUnit, most, unit)!;
  expect(bar.text).toBe(text);
  expect(bar.length).toBeCloseTo(length, 9);
  expect(bar.pixels).toBeCloseTo(pixels, 9);
});

test("lengths are said as on the scale bar, all of a control with one prefix", () => {
  expect([51_200_000, -250_000, 0].map(lengthsIn("nm", 0, 51_200_000))).toEqual(["51.2 mm", "-0.25 mm", "0 mm"]);
  expect(lengthsIn("4 nm", 1000)(250)).toBe("1 µm");
  expect([lengthsIn("kiloparsec", 9)(2), lengthsIn(undefined, 9)(2), lengthsIn("millisecond", 9)(2)]).toEqual([
    "2 kiloparsec",
    "2",
    "2 ms",
  ]);
  expect(["micrometer", "mm", "second", "4 nm", "km/s"].map(unitText)).toEqual(["µm", "mm", "s", "4 nm", "km/s"]);
});

test("no colour of a palette vanishes in what is behind it", () => {
  for (const ground of [0x10151c, 0xffffff])
    for (const name of ["viridis", "inferno", "ice"]) {
      const on = paletteOn(palettes[name]!, ground);
      expect(Math.min(contrast(on[0]!, ground), contrast(on.at(-1)!, ground)), name).toBeGreaterThan(1.35);
    }
  expect(contrast(palettes.viridis![0]!, 0x10151c)).toBeLessThan(1.25); // which it would
  const viridis = paletteOn(palettes.viridis!, 0x10151c);
  expect([viridis.at(-1), contrast(viridis[0]!, 0x10151c) > 1.75]).toEqual([palettes.viridis!.at(-1), true]);
  expect(paletteOn(palettes.coolwarm!, 0x10151c)).toBe(palettes.coolwarm);
  expect(paletteOn(palettes.viridis!, undefined)).toBe(palettes.viridis);
});
