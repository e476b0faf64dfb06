import { expect, it } from "vitest";
import { inRatio, inverse, measureOf, ratioOf } from "./units.js";

it.each([
  ["nm", 1e-9, "m"],
  ["nanometer", 1e-9, "m"],
  ["4 nm", 4e-9, "m"],
  ["1.5e1 nm", 1.5e-8, "m"],
  ["um", 1e-6, "m"],
  ["\u00b5m", 1e-6, "m"],
  ["\u03bcm", 1e-6, "m"],
  ["micrometre", 1e-6, "m"],
  ["Micron", 1e-6, "m"],
  ["mm", 1e-3, "m"],
  ["Mm", 1e6, "m"],
  ["angstrom", 1e-10, "m"],
  ["m", 1, "m"],
  ["ms", 1e-3, "s"],
  ["seconds", 1, "s"],
])("%s", (text, scale, unit) => {
  const found = measureOf(text)!;
  expect(found.unit).toBe(unit);
  expect(found.scale).toBeCloseTo(scale, 18);
});

it.each([undefined, "", "voxel", "0 nm", "-4 nm", "nm nm", "4nm", "constructor"])("%s is nothing known", (text) => {
  expect(measureOf(text)).toBeUndefined();
});

it("numbers go from one unit to another and back without what multiplication leaves", () => {
  const down = ratioOf("nanometer", "um")!;
  for (const [nm, um] of [
    [300, 0.3],
    [1005, 1.005],
    [3.25, 0.00325],
    [4.5, 0.0045],
  ] as const) {
    expect(inRatio(nm, down)).toBe(um);
    expect(inRatio(um, inverse(down))).toBeCloseTo(nm, 12);
  }
  expect(ratioOf("4 nm", "nm")).toEqual({ times: 4, per: 1 });
  expect(ratioOf("nm", "nanometers")).toEqual({ times: 1, per: 1 });
  expect(ratioOf("3 nm", "um")).toEqual({ times: 0.003, per: 1 });
  for (const other of [undefined, "voxel", "ms", `1e300 nm`]) expect(ratioOf("1e-300 nm", other)).toBeUndefined();
});
