import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortest } from "./shortest.js";

describe("the fewest digits of a float32", () => {
  it("read back as the same number, and one digit less does not", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const short = shortest(value);
        expect(Math.fround(short)).toBe(value);
        const digits = String(short)
          .replace(/e.*/, "")
          .replace(/[-.]/g, "")
          .replace(/^0+|0+$/g, "").length;
        if (digits > 6 && Math.abs(value) > 1e-37)
          expect(Math.fround(Number(value.toPrecision(digits - 1)))).not.toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  it("are what people wrote", () => {
    for (const written of [0.1, 12.345, -7.25, 1e-30, 3.4028235e38, 123456.7, 1e7, 16777216])
      expect(shortest(Math.fround(written))).toBe(written);
    expect(shortest(Number.NaN)).toBeNaN();
    expect(Object.is(shortest(-0), -0)).toBe(true);
    expect(shortest(Number.NEGATIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
  });
});
