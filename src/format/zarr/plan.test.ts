import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Axis, select } from "../../model/region.js";
import { countParts, coversChunk, parts } from "./plan.js";

const axis = fc.record({
  length: fc.nat(20),
  chunk: fc.integer({ min: 1, max: 7 }),
  start: fc.option(fc.integer({ min: -25, max: 25 }), { nil: undefined }),
  stop: fc.option(fc.integer({ min: -25, max: 25 }), { nil: undefined }),
  step: fc.integer({ min: -9, max: 9 }).filter((n) => n !== 0),
});

const indices = ({ start, step, count }: Axis): number[] => Array.from({ length: count }, (_, k) => start + k * step);
const product = (lists: readonly number[][]): string[] =>
  lists.reduce<string[]>((rows, list) => rows.flatMap((row) => list.map((i) => `${row} ${i}`)), [""]);

describe("parts", () => {
  it("together are the selection: each element once, at its place, in its chunk", () => {
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 3 }), (axes) => {
        const shape = axes.map((a) => a.length);
        const chunkShape = axes.map((a) => a.chunk);
        const region = axes.map(({ start, stop, step }) => ({
          ...(start === undefined ? {} : { start }),
          ...(stop === undefined ? {} : { stop }),
          step,
        }));
        const selection = select(region, shape);
        const expected = new Map<string, string>();
        const places = product(selection.axes.map((a) => Array.from({ length: a.count }, (_, k) => k)));
        product(selection.axes.map(indices)).forEach((element, n) => {
          expected.set(places[n]!, element);
        });

        const found = new Map<string, string>();
        const chunks = new Set<string>();
        for (const part of parts(selection.axes, chunkShape)) {
          chunks.add(part.chunk.join());
          const origin = part.chunk.map((c, i) => c * chunkShape[i]!);
          const inChunk = part.source.map((a) => indices(a));
          inChunk.forEach((list, i) => {
            for (const index of list) expect(index >= 0 && index < chunkShape[i]!).toBe(true);
          });
          const from = product(inChunk.map((list, i) => list.map((index) => index + origin[i]!)));
          const to = product(part.source.map((a, i) => Array.from({ length: a.count }, (_, k) => k + part.to[i]!)));
          to.forEach((place, n) => {
            expect(found.has(place)).toBe(false);
            found.set(place, from[n]!);
          });
        }
        expect(found).toEqual(expected);
        expect(countParts(selection.axes, chunkShape)).toBe(chunks.size);
      }),
      { numRuns: 500 },
    );
  });

  it("counts without enumerating", () => {
    expect(countParts(select(undefined, [2 ** 50, 3]).axes, [2, 1])).toBe(3 * 2 ** 49);
  });

  it("knows when a chunk is covered, whole or to the edge of the array", () => {
    const covered = (region: { start?: number; stop?: number; step?: number }) =>
      [...parts(select([region], [10]).axes, [4])].map(
        (part) => `${coversChunk(part, [4])} ${coversChunk(part, [Math.min(4, 10 - part.chunk[0]! * 4)])}`,
      );
    const [whole, edge, not] = ["true true", "false true", "false false"];
    expect(covered({})).toEqual([whole, whole, edge]);
    expect(covered({ start: 1 })).toEqual([not, whole, edge]);
    expect(covered({ step: -1 }).sort()).toEqual([edge, whole, whole].sort());
    expect(covered({ step: 2 })).toEqual([not, not, not]);
    expect(covered({ start: 8, stop: 9 })).toEqual([not]);
  });
});
