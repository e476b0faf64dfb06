import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidInput } from "../errors.js";
import { elementCount, select, strides } from "./region.js";

/** The indices that Python's a[start:stop:step] picks, found by walking. */
function walk(length: number, start: number | undefined, stop: number | undefined, step: number): number[] {
  const inside = (value: number): number => (value < 0 ? value + length : value);
  const picked: number[] = [];
  for (let i = step > 0 ? 0 : length - 1; i >= 0 && i < length; i += Math.sign(step)) {
    const afterStart = start === undefined || (step > 0 ? i >= inside(start) : i <= inside(start));
    const beforeStop = stop === undefined || (step > 0 ? i < inside(stop) : i > inside(stop));
    if (afterStart && beforeStop) picked.push(i);
  }
  return picked.filter((_, n) => n % Math.abs(step) === 0);
}

const bound = fc.option(fc.integer({ min: -12, max: 12 }), { nil: undefined });

describe("select", () => {
  it("picks what Python picks", () => {
    const step = fc.integer({ min: -5, max: 5 }).filter((n) => n !== 0);
    fc.assert(
      fc.property(fc.nat(8), bound, bound, step, (length, start, stop, step) => {
        const slice = { ...(start === undefined ? {} : { start }), ...(stop === undefined ? {} : { stop }), step };
        const [axis] = select([slice], [length]).axes;
        const indices = Array.from({ length: axis!.count }, (_, k) => axis!.start + k * axis!.step);
        expect(indices).toEqual(walk(length, start, stop, step));
      }),
      { numRuns: 2000 },
    );
  });

  it("drops an axis that is picked by one index, and takes unnamed axes whole", () => {
    expect(select([-1, null], [4, 5, 6])).toEqual({
      axes: [
        { start: 3, step: 1, count: 1 },
        { start: 0, step: 1, count: 5 },
        { start: 0, step: 1, count: 6 },
      ],
      shape: [5, 6],
    });
    expect(select(undefined, []).shape).toEqual([]);
  });

  it("refuses what Python refuses", () => {
    const calls = [
      () => select([4], [4]),
      () => select([-5], [4]),
      () => select([0.5], [4]),
      () => select([{ step: 0 }], [4]),
      () => select([{ start: 0.5 }], [4]),
      () => select([{ stop: Number.NaN }], [4]),
      () => select([0, 0], [4]),
    ];
    for (const call of calls) expect(call).toThrow(InvalidInput);
  });
});

it("counts elements and strides", () => {
  expect(strides([2, 3, 4])).toEqual([12, 4, 1]);
  expect(elementCount([])).toBe(1);
  expect(elementCount([2 ** 40, 0, 2 ** 40])).toBe(0);
  expect(() => elementCount([2 ** 40, 2 ** 40])).toThrow(InvalidInput);
});
