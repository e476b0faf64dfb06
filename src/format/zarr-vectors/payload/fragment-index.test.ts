import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { defaultLimits } from "../../../limits.js";
import { type Fragment, FragmentIndex, LIST } from "./fragment-index.js";
import { Int64 } from "./int64.js";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));
const i64 = (...values: number[]) => Buffer.from(Int64.encode(values)).toString("hex");
const parse = (bytes: Uint8Array, rows?: number) => FragmentIndex.parse(bytes, rows, defaultLimits, "x");

/** Of the reference's store manifest_modes. */
const golden = hex(`
  4746565A 0100 0000 07000000 04000000
  2D00000000000000
  ${i64(0, 4, 4, 3, 7, 3, 9, 0)}
  00000000 03000000 03000000 06000000
  ${i64(3, 1, 9, 5, 5, 0)}`);
const fragments: Fragment[] = [
  { start: 0, count: 4 },
  [3, 1, 9],
  { start: 4, count: 3 },
  [7, 8, 9],
  [],
  { start: 9, count: 0 },
  [5, 5, 0],
];

describe("reading", () => {
  test("ranges and lists become entries", () => {
    const index = parse(golden, 10);
    expect([...index.offsets]).toEqual([0, 4, 7, 10, 13, 13, 13, 16]);
    expect([...index.rows!]).toEqual([0, 1, 2, 3, 3, 1, 9, 4, 5, 6, 7, 8, 9, 5, 5, 0]);
    expect([...index.starts!]).toEqual([0, LIST, 4, 7, LIST, 9, LIST]);
    expect(FragmentIndex.total(index)).toBe(16);
    expect(FragmentIndex.encode(index)).toEqual(golden);
  });

  test("ranges that tile need no rows, and empty ones may start anywhere", () => {
    const tiled = FragmentIndex.encode(FragmentIndex.ofRanges([2, 0, 3]));
    expect(parse(tiled, 5)).toEqual(FragmentIndex.ofRanges([2, 0, 3]));
    const elsewhere = FragmentIndex.encode(
      FragmentIndex.of([{ start: 0, count: 2 }, { start: 5, count: 0 }, [2, 3, 4]]),
    );
    const index = parse(elsewhere, 5);
    expect([index.rows, [...index.starts!]]).toEqual([undefined, [0, 5, 2]]);
    expect(FragmentIndex.encode(index)).toEqual(elsewhere);
  });

  test("no fragments are 16 bytes", () => {
    const empty = hex("4746565A 01000000 00000000 00000000");
    expect(FragmentIndex.encode(FragmentIndex.ofRanges([]))).toEqual(empty);
    expect(parse(empty, 0).count).toBe(0);
    expect(() => parse(hex("4746565A 01000000 00000000 00000000 00000000"))).toThrow(Corrupt);
  });

  test("bytes may lie anywhere in a buffer", () => {
    const moved = new Uint8Array(golden.length + 3);
    moved.set(golden, 3);
    expect(parse(moved.subarray(3), 10)).toEqual(parse(golden, 10));
  });
});

describe("damage", () => {
  const changed = (at: number, ...bytes: number[]) => {
    const copy = golden.slice();
    copy.set(bytes, at);
    return copy;
  };
  const range = 24; // the first
  const offsets = 88;
  const list = 104;
  test.each([
    ["another magic", changed(0, 0), undefined],
    ["another version", changed(4, 2), undefined],
    ["flags", changed(6, 1), undefined],
    ["one range too few in the bitmap", changed(16, 0x0d), undefined],
    ["the right number of ranges, one beyond the last fragment", changed(16, 0x8d), undefined],
    ["a bit far beyond the last fragment", changed(16, 0x0d, 0, 0, 0, 1), undefined],
    ["more ranges than fragments", changed(12, 8), undefined],
    ["more fragments than bytes", changed(8, 255, 255, 255, 255), undefined],
    ["a negative start", changed(range + 7, 255), undefined],
    ["a count beyond 2^32", changed(range + 12, 1), undefined],
    ["a range that ends beyond the rows", golden, 9],
    ["a listed row beyond the rows", changed(list + 16, 10), 10],
    ["a negative row", changed(list + 7, 255), undefined],
    ["list offsets that descend", changed(offsets + 4, 5), undefined],
    ["a first list offset that is not 0", changed(offsets, 1), undefined],
    ["another number of listed rows", changed(offsets + 12, 5), undefined],
    ["bytes after the end", Uint8Array.of(...golden, 0, 0, 0, 0), undefined],
    ["a byte after the end", Uint8Array.of(...golden, 0), undefined],
  ])("%s is Corrupt", (_, bytes, rows) => {
    expect(() => parse(bytes, rows)).toThrow(Corrupt);
  });

  test("every beginning is Corrupt", () => {
    for (let n = 0; n < golden.length; n++) expect(() => parse(golden.slice(0, n)), `${n} bytes`).toThrow(Corrupt);
  });

  test("ranges over the same rows do not take memory without end", () => {
    const many = FragmentIndex.encode(FragmentIndex.ofRanges(new Uint32Array(1000).fill(1)));
    const words = new Uint32Array(many.buffer);
    for (let r = 0; r < 1000; r++) words.set([0, 0, 4_000_000, 0], 4 + 32 + 4 * r); // a bitmap of 1000 bits is 128 bytes
    expect(() => parse(many, 4_000_000)).toThrow(LimitExceeded);
    for (let r = 0; r < 1000; r++) words.set([0, 0, 0xfffffffe, 0], 4 + 32 + 4 * r);
    expect(() => parse(many)).toThrow(/more than 2\^32 entries/);
    // A tiled index takes no memory for its rows, however many they are.
    expect(FragmentIndex.total(parse(FragmentIndex.encode(FragmentIndex.ofRanges([0xfffffffe]))))).toBe(0xfffffffe);
  });
});

describe("writing", () => {
  test("a list that is a run becomes a range, unless it must not", () => {
    expect(FragmentIndex.encode(FragmentIndex.of(fragments))).toEqual(golden);
    const { starts } = FragmentIndex.of(fragments, { forceExplicit: true });
    expect([...starts!]).toEqual([0, LIST, 4, LIST, LIST, 9, LIST]);
  });

  test("what can be no row is refused", () => {
    for (const wrong of [[-1], [0.5], [2 ** 32], [Number.NaN], { start: -1, count: 1 }, { start: 0, count: 2 ** 33 }])
      expect(() => FragmentIndex.of([wrong])).toThrow(InvalidInput);
  });

  test("any fragments survive", () => {
    const rows = fc.array(fc.nat(20), { maxLength: 6 });
    const fragment = fc.oneof(rows, fc.record({ start: fc.nat(20), count: fc.nat(6) }));
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 140 }), fc.boolean(), (list, forceExplicit) => {
        const index = FragmentIndex.of(list, { forceExplicit });
        const back = parse(FragmentIndex.encode(index), 26);
        expect(back).toEqual(index);
        const all = list.flatMap((f) => ("start" in f ? Array.from({ length: f.count }, (_, i) => f.start + i) : f));
        expect(back.rows === undefined ? all.map((_, e) => e) : [...back.rows]).toEqual(all);
      }),
    );
  });
});

describe("group offsets up to 0.5", () => {
  const offsets = (...values: number[]) => Int64.encode(values);
  test("one column", () => {
    const { index, links } = FragmentIndex.fromGroupOffsets(offsets(0, 24, 24), "single", 12, 36, "x");
    expect([[...index.offsets], links]).toEqual([[0, 2, 2, 3], undefined]);
  });
  test("two columns, with links for some", () => {
    const { index, links } = FragmentIndex.fromGroupOffsets(
      offsets(0, -1, 24, 0, 36, -1, 48, 32),
      "paired",
      12,
      60,
      "x",
    );
    expect([...index.offsets]).toEqual([0, 2, 3, 4, 5]);
    expect([...links!]).toEqual([-1, 0, -1, 32]);
    expect([...FragmentIndex.fromLinkOffsets(links!, 16, 48, "x").offsets]).toEqual([0, 0, 2, 2, 3]);
    expect([...FragmentIndex.fromLinkOffsets(Float64Array.of(-1, -1), 16, 0, "x").offsets]).toEqual([0, 0, 0]);
  });
  test.each([
    ["not whole rows", [0, 8], 36],
    ["descending", [0, 24, 12], 36],
    ["beyond the end", [0, 48], 36],
    ["rows before the first group", [12], 36],
    ["rows and no group", [], 36],
    ["a blob of parts of rows", [0], 35],
  ])("%s is Corrupt", (_, values, blob) => {
    expect(() => FragmentIndex.fromGroupOffsets(offsets(...values), "single", 12, blob, "x")).toThrow(Corrupt);
  });
  test("half a pair and half a value are Corrupt", () => {
    expect(() => FragmentIndex.fromGroupOffsets(offsets(0), "paired", 12, 36, "x")).toThrow(Corrupt);
    expect(() => FragmentIndex.fromGroupOffsets(new Uint8Array(7), "single", 12, 36, "x")).toThrow(Corrupt);
  });
});
