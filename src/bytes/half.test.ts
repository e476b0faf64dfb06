import { expect, it } from "vitest";
import { halfToNumber, numberToHalf } from "./half.js";

it("every half survives a round trip", () => {
  for (let half = 0; half < 65536; half++) {
    const value = halfToNumber(half);
    if (Number.isNaN(value)) expect(numberToHalf(value)).toBe(0x7e00);
    else expect(numberToHalf(value)).toBe(half);
  }
});

it("knows the values of the standard and rounds to even", () => {
  expect(halfToNumber(0x3c00)).toBe(1);
  expect(halfToNumber(0xc000)).toBe(-2);
  expect(halfToNumber(0x7bff)).toBe(65504);
  expect(halfToNumber(0x0001)).toBe(2 ** -24);
  expect(halfToNumber(0x3555)).toBe(0.333251953125);
  for (let half = 0; half < 0x7bff; half++) {
    const low = halfToNumber(half);
    const middle = (low + halfToNumber(half + 1)) / 2;
    expect(numberToHalf(middle)).toBe(half % 2 === 0 ? half : half + 1);
    expect(numberToHalf(middle * (1 + 2 ** -50))).toBe(half + 1);
    expect(numberToHalf(middle * (1 - 2 ** -50))).toBe(half);
  }
  expect(numberToHalf(65519.99)).toBe(0x7bff);
  expect(numberToHalf(65520)).toBe(0x7c00);
  expect(numberToHalf(Number.NEGATIVE_INFINITY)).toBe(0xfc00);
  expect(numberToHalf(1e-9)).toBe(0);
});
