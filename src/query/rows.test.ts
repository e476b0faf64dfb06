import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PartList, RowList } from "./rows.js";

const rows = fc.array(fc.nat({ max: 50 }), { maxLength: 200 });
const sorted = (list: Iterable<number>): number[] => [...new Set(list)].sort((a, b) => a - b);

describe("lists of rows", () => {
  it("are sorted and distinct, and know what they have in common", () => {
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const list = new RowList();
        for (const row of a) list.add(row);
        list.addAll(Uint32Array.from(b));
        expect([...list.sorted()]).toEqual(sorted([...a, ...b]));
        const [one, other] = [sorted(a), sorted(b)];
        expect([...RowList.both(Uint32Array.from(one), Uint32Array.from(other))]).toEqual(
          one.filter((row) => b.includes(row)),
        );
        for (let row = 0; row <= 51; row++) expect(RowList.has(Uint32Array.from(one), row)).toBe(one.includes(row));
      }),
    );
  });

  it("of parts are ordered by chunk, then by number", () => {
    const list = new PartList();
    for (const [chunk, part] of [
      [2, 0],
      [1, 2 ** 32 - 1],
      [1, 7],
      [2, 0],
    ] as const)
      list.add(chunk, part);
    expect([...list.done().chunk]).toEqual([2, 1, 1, 2]);
    const { chunk, part } = PartList.sorted(list.done());
    expect([...chunk]).toEqual([1, 1, 2]);
    expect([...part]).toEqual([7, 2 ** 32 - 1, 0]);
  });
});
