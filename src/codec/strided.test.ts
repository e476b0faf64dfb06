import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DataType } from "../bytes/dtype.js";
import { elementCount, strides } from "../space/shape.js";
import { copyStrided, fillStrided, type Layout } from "./strided.js";

/** Calls `visit` with the place of every element on both sides, the slow and obvious way. */
function walk(counts: readonly number[], to: Layout, from: Layout, visit: (t: number, s: number) => void): void {
  const total = elementCount(counts);
  const place = strides(counts);
  for (let n = 0; n < total; n++) {
    let t = to.offset;
    let s = from.offset;
    for (let axis = 0; axis < counts.length; axis++) {
      const index = Math.floor(n / place[axis]!) % counts[axis]!;
      t += index * to.strides[axis]!;
      s += index * from.strides[axis]!;
    }
    visit(t, s);
  }
}

/** A block inside an array that is larger by a margin on each axis, each axis perhaps reversed or stepped. */
function blockIn(counts: readonly number[], margins: readonly number[], steps: readonly number[]) {
  const shape = counts.map((n, axis) => n * Math.abs(steps[axis]!) + margins[axis]!);
  const whole = strides(shape);
  let offset = 0;
  counts.forEach((n, axis) => {
    if (steps[axis]! < 0) offset += (n - 1) * -steps[axis]! * whole[axis]!;
  });
  return { total: elementCount(shape), layout: { offset, strides: whole.map((s, axis) => s * steps[axis]!) } };
}

const raw = (size: number): DataType => ({ kind: "raw", size });
const scenario = fc.integer({ min: 0, max: 4 }).chain((rank) => {
  const perAxis = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: rank, maxLength: rank });
  const step = fc.constantFrom(1, 1, 1, 2, 3, -1, -2);
  return fc.record({
    counts: perAxis(fc.nat(5)),
    size: fc.constantFrom(0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 100),
    shiftTo: fc.nat(4),
    shiftFrom: fc.nat(4),
    marginsTo: perAxis(fc.nat(2)),
    marginsFrom: perAxis(fc.nat(2)),
    stepsTo: perAxis(step),
    stepsFrom: perAxis(step),
  });
});

describe("copyStrided", () => {
  it("moves every byte where a walk over the elements moves it", () => {
    fc.assert(
      fc.property(scenario, ({ counts, size, shiftTo, shiftFrom, marginsTo, marginsFrom, stepsTo, stepsFrom }) => {
        const to = blockIn(counts, marginsTo, stepsTo);
        const from = blockIn(counts, marginsFrom, stepsFrom);
        const source = Uint8Array.from({ length: from.total * size + shiftFrom }, (_, i) => (i * 7 + 1) & 255);
        const target = new Uint8Array(to.total * size + shiftTo).fill(0xee);
        const expected = target.slice();
        walk(counts, to.layout, from.layout, (t, s) => {
          for (let b = 0; b < size; b++) expected[shiftTo + t * size + b] = source[shiftFrom + s * size + b]!;
        });
        copyStrided(target.subarray(shiftTo), to.layout, source.subarray(shiftFrom), from.layout, counts, raw(size));
        expect(Buffer.compare(target, expected)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("moves long rows and values", () => {
    const source = Uint8Array.from({ length: 300 * 4 }, (_, i) => i & 255);
    const target = new Uint8Array(400 * 4);
    copyStrided(target, { offset: 50, strides: [200, 1] }, source, { offset: 10, strides: [145, 1] }, [2, 100], raw(4));
    expect(target.subarray(200, 600)).toEqual(source.subarray(40, 440));
    expect(target.subarray(1000, 1400)).toEqual(source.subarray(620, 1020));

    const words = ["a", "b", "c", "d"];
    const turned: string[] = new Array(4).fill("");
    copyStrided(turned, { offset: 0, strides: [2, 1] }, words, { offset: 0, strides: [1, 2] }, [2, 2], {
      kind: "string",
    });
    expect(turned).toEqual(["a", "c", "b", "d"]);
  });

  it("fills", () => {
    for (const [size, count] of [
      [1, 100],
      [4, 100],
      [3, 5],
      [8, 70],
    ] as const) {
      const fill = Uint8Array.from({ length: size }, (_, i) => i + 1);
      const target = new Uint8Array((count + 2) * size);
      fillStrided(target, { offset: 1, strides: [1] }, fill, [count], raw(size));
      for (let i = 0; i < target.length; i++) {
        const inside = i >= size && i < (count + 1) * size;
        expect(target[i]).toBe(inside ? (i % size) + 1 : 0);
      }
    }
    const values: string[] = ["", "", ""];
    fillStrided(values, { offset: 1, strides: [1] }, "x", [2], { kind: "string" });
    expect(values).toEqual(["", "x", "x"]);
  });
});
