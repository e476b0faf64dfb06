import { expect, it } from "vitest";
import { measureOf } from "./units.js";

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
