import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import { blocks } from "../model/blocks.js";
import { select } from "../model/region.js";
import { parseSlice, toRegion } from "./slice.js";

describe("slices", () => {
  test("what Python understands", () => {
    expect(parseSlice("0:10, :, 5")).toEqual([{ start: 0, stop: 10 }, {}, 5]);
    expect(parseSlice("[::-2,-1]")).toEqual([{ step: -2 }, -1]);
    expect(toRegion(parseSlice("1,...,2:"), 4)).toEqual([1, null, null, { start: 2 }]);
    for (const bad of ["", "a", "1:2:3:4", "1,,2", "...,...", "1.5", "99999999999999999999"]) {
      expect(() => parseSlice(bad), bad).toThrow(InvalidInput);
    }
  });

  test("blocks are the whole region in C order, each within the limit", () => {
    const axis = (length: number) =>
      fc.oneof(
        fc.constant(null),
        fc.integer({ min: 0, max: length - 1 }),
        fc.record({ start: fc.integer({ min: -9, max: 9 }), step: fc.constantFrom(-3, -1, 1, 2) }),
      );
    const cases = fc
      .array(fc.integer({ min: 1, max: 7 }), { maxLength: 4 })
      .chain((dims) => fc.tuple(fc.constant(dims), fc.tuple(...dims.map(axis)), fc.integer({ min: 1, max: 40 })));
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 4 }), ([dims, region, limit], chunk) => {
        const whole = indices(region, dims);
        const joined: number[] = [];
        for (const block of blocks(
          region,
          dims,
          dims.map(() => chunk),
          limit,
        )) {
          const part = indices(block.region, dims);
          expect(part.length).toBe(block.count);
          expect(part.length).toBeLessThanOrEqual(limit);
          joined.push(...part);
        }
        expect(joined).toEqual(whole);
      }),
    );
  });

  test("a block ends at a chunk's edge", () => {
    const found = [...blocks([{ start: 3 }], [40], [10], 25)].map(({ region }) => region[0]);
    expect(found).toEqual([
      { start: 3, stop: 20, step: 1 },
      { start: 20, stop: 40, step: 1 },
    ]);
  });
});

/** Flat indices of a region by brute force. */
function indices(region: Parameters<typeof select>[0], dims: readonly number[]): number[] {
  let found = [0];
  select(region, dims).axes.forEach(({ start, step, count }, axis) => {
    found = found.flatMap((base) => Array.from({ length: count }, (_, i) => base * dims[axis]! + start + i * step));
  });
  return found;
}
