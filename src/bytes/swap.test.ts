import fc from "fast-check";
import { expect, it } from "vitest";
import { swapBytes } from "./swap.js";

it("reverses each unit, leaves the rest and the input alone", () => {
  const input = Uint8Array.of(9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10).subarray(1);
  expect([...swapBytes(input, 2)]).toEqual([2, 1, 4, 3, 6, 5, 8, 7, 10, 9]);
  expect([...swapBytes(input, 4)]).toEqual([4, 3, 2, 1, 8, 7, 6, 5, 9, 10]);
  expect([...swapBytes(input, 8)]).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 9, 10]);
  expect([...swapBytes(input, 1)]).toEqual([...input]);
  expect(input[0]).toBe(1);
});

it("is its own inverse", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(1, 2, 4, 8), (bytes, unit) => {
      expect(swapBytes(swapBytes(bytes, unit), unit)).toEqual(new Uint8Array(bytes));
    }),
  );
});
