import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { Cell } from "./blobs.js";
import { CrossChunkLinks } from "./cross-chunk-links.js";
import { Int64 } from "./int64.js";
import { LinkCell } from "./link-cells.js";
import { LinkOffsets } from "./link-offsets.js";
import { Permutation } from "./permutation.js";

const i64 = (...values: number[]) => Int64.encode(values);

describe("orders", () => {
  test("Lehmer codes, first digit most significant", () => {
    expect([0, 1, 2, 3, 4, 5].map((code) => Permutation.decode(code, 3, "x"))).toEqual([
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]);
    expect(Permutation.encode([1, 0])).toBe(1);
    expect(Permutation.decode(Permutation.count(12) - 1, 12, "x")).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test("every order of up to six comes back", () => {
    for (let width = 1; width <= 6; width++)
      for (let code = 0; code < Permutation.count(width); code++)
        expect(Permutation.encode(Permutation.decode(code, width, "x"))).toBe(code);
  });

  test("an order that there is not is Corrupt, too many endpoints InvalidInput", () => {
    expect(() => Permutation.decode(2, 2, "x")).toThrow(Corrupt);
    expect(() => Permutation.restore(Uint32Array.of(1, 2), 2, [7], "x")).toThrow(Corrupt);
    for (const width of [0, 13, 1.5, Number.NaN]) expect(() => Permutation.count(width)).toThrow(InvalidInput);
  });

  test("sorted by chunk, then row; equal endpoints keep their order; restored", () => {
    const chunks = Uint32Array.of(3, 1, 1, 0, 0, 0);
    const ends = Uint32Array.of(0, 9, 2, 4, 4, 1);
    const codes = Permutation.sort(chunks, ends, 3);
    expect([[...chunks], [...ends]]).toEqual([
      [1, 1, 3, 0, 0, 0],
      [2, 9, 0, 1, 4, 4],
    ]);
    expect([...codes].map((code) => Permutation.decode(code, 3, "x"))).toEqual([
      [2, 1, 0],
      [2, 0, 1],
    ]);
    Permutation.restore(ends, 3, codes, "x");
    expect([...ends]).toEqual([0, 9, 2, 4, 4, 1]);
  });

  test("any links come back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(5), { maxLength: 40 }), (width, values) => {
        const whole = values.slice(0, values.length - (values.length % width));
        const chunks = Int32Array.from(whole, (value) => (value % 3) - 1);
        const ends = Uint32Array.from(whole);
        const codes = Permutation.sort(chunks, ends, width);
        for (let i = 0; i < ends.length; i++)
          if (i % width > 0) expect(chunks[i - 1]! * 10 + ends[i - 1]! <= chunks[i]! * 10 + ends[i]!).toBe(true);
        Permutation.restore(ends, width, codes, "x");
        Permutation.restore(chunks, width, codes, "x");
        expect([...ends]).toEqual(whole);
        expect([...chunks]).toEqual(whole.map((value) => (value % 3) - 1));
      }),
    );
  });
});

describe("offsets in names", () => {
  test("numbers with their sign, self for one endpoint", () => {
    expect(LinkOffsets.parse("+1.+1.0_0.0.-12", 3, 3, "x")).toEqual([
      [1, 1, 0],
      [0, 0, -12],
    ]);
    expect(LinkOffsets.parse("self", 1, 3, "x")).toEqual([]);
    expect(LinkOffsets.format([])).toBe("self");
    expect(
      LinkOffsets.format([
        [1, -2],
        [0, -0],
      ]),
    ).toBe("+1.-2_0.0");
    expect([
      LinkOffsets.isIntra([[0, 0]]),
      LinkOffsets.isIntra([
        [0, 0],
        [0, 1],
      ]),
      LinkOffsets.isIntra([]),
    ]).toEqual([true, false, true]);
  });
  test.each([
    "1.0",
    "+0.0",
    "-0.0",
    "+01.0",
    "+1",
    "+1.0.0",
    "+1.x",
    "",
    "self",
    "+1.0_0.0",
    "+1.0_",
    "+3000000000.0",
    " +1.0",
    "+1.0\n",
  ])("%j is Corrupt", (text) => {
    expect(() => LinkOffsets.parse(text, 2, 2, "x")).toThrow(Corrupt);
  });
  test("any offsets come back", () => {
    const offsets = fc.array(fc.tuple(fc.integer(), fc.integer({ min: -2, max: 2 })), { maxLength: 4 });
    fc.assert(
      fc.property(offsets, (list) => {
        expect(LinkOffsets.parse(LinkOffsets.format(list), list.length + 1, 2, "x")).toEqual(list);
      }),
    );
  });
});

describe("cells", () => {
  const edge = Cell.parse(
    new Uint8Array(
      Buffer.from(
        `0100000028000000${"0100000000000000"}${"0000000000000000"}${"0100000000000000"}${"0200000000000000"}${"0500000000000000"}`,
        "hex",
      ),
    ),
    "x",
  );
  test("the reference's edge across chunks", () => {
    const cell = LinkCell.parse(edge, { width: 2, ragged: true, perm: true }, "x");
    expect([[...cell.ends], [...cell.perms!], [...cell.groups]]).toEqual([[2, 5], [1], [0, 1]]);
    Permutation.restore(cell.ends, 2, cell.perms!, "x");
    expect([...cell.ends]).toEqual([5, 2]);
    expect(edge.length).toBe(40);
  });

  test("flat rows, and groups of none", () => {
    const flat = LinkCell.parse(i64(0, 1, 1, 2), { width: 2, ragged: false, perm: false }, "x");
    expect([flat.count, [...flat.ends], flat.perms, [...flat.groups]]).toEqual([2, [0, 1, 1, 2], undefined, [0, 2]]);
    const three = i64(3, 0, 16, 16, 7, 8, 9, 4294967295);
    const cell = LinkCell.parse(three, { width: 2, ragged: true, perm: false }, "x");
    expect([...cell.groups]).toEqual([0, 1, 1, 2]);
    expect(LinkCell.encode(cell, true)).toEqual(three);
    expect(LinkCell.parse(i64(0), { width: 2, ragged: true, perm: false }, "x").count).toBe(0);
    expect(LinkCell.parse(new Uint8Array(), { width: 2, ragged: false, perm: false }, "x").count).toBe(0);
  });

  test.each([
    ["half a row", i64(0, 1, 2), false, false],
    ["a part of a value", new Uint8Array(15), false, false],
    ["a negative row", i64(0, -1), false, false],
    ["a row of 2^32", i64(0, 2 ** 32), false, false],
    ["an order that there is not", i64(1, 0, 2, 0, 1), true, true],
    ["a negative order", i64(1, 0, -1, 0, 1), true, true],
    ["no groups, but rows", i64(0, 0, 1), true, false],
    ["more groups than bytes", i64(9, 0, 1), true, false],
    ["2^32 groups", i64(2 ** 32, 0, 1), true, false],
    ["a negative number of groups", i64(-1, 0, 1), true, false],
    ["no header", new Uint8Array(7), true, false],
    ["a first group not at 0", i64(1, 16, 0, 1, 0, 1), true, false],
    ["groups that descend", i64(3, 0, 16, 0, 0, 1, 0, 1), true, false],
    ["a group within a row", i64(2, 0, 8, 0, 1), true, false],
    ["a group beyond the end", i64(2, 0, 32, 0, 1), true, false],
  ])("%s is Corrupt", (_, bytes, ragged, perm) => {
    expect(() => LinkCell.parse(bytes, { width: 2, ragged, perm }, "x")).toThrow(Corrupt);
  });

  test("any links come back", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.array(fc.nat(3), { maxLength: 4 }),
        fc.infiniteStream(fc.nat(0xffffffff)),
        (width, perm, sizes, values) => {
          const groups = Uint32Array.of(0, ...sizes.map((_, g) => sizes.slice(0, g + 1).reduce((a, b) => a + b, 0)));
          const count = groups.at(-1)!;
          const ends = Uint32Array.from({ length: count * width }, () => values.next().value!);
          const orders = Permutation.count(width);
          const perms = perm ? Uint32Array.from({ length: count }, () => values.next().value! % orders) : undefined;
          const cell = { count, width, ends, perms, groups };
          expect(LinkCell.parse(LinkCell.encode(cell, true), { width, ragged: true, perm }, "x")).toEqual(cell);
          const flat = LinkCell.parse(LinkCell.encode(cell, false), { width, ragged: false, perm }, "x");
          expect(flat).toEqual({ ...cell, groups: Uint32Array.of(0, count) });
        },
      ),
    );
  });
});

describe("links across chunks up to 0.7", () => {
  test("records of endpoints", () => {
    const bytes = i64(0, -1, 7, 1, 0, 8, 0, 0, 1, 5, 5, 2);
    const links = CrossChunkLinks.parse(bytes, 2, 2, "x");
    expect(links).toEqual({
      count: 2,
      dims: 2,
      offsets: Uint32Array.of(0, 2, 4),
      chunks: Int32Array.of(0, -1, 1, 0, 0, 0, 5, 5),
      vertices: Uint32Array.of(7, 8, 1, 2),
    });
    expect(CrossChunkLinks.encode(links)).toEqual(bytes);
    expect(CrossChunkLinks.parse(new Uint8Array(), 2, 2, "x").count).toBe(0);
  });
  test("faces have a column of zeros, and any number of endpoints", () => {
    const data = i64(0, 1, 0, 7, 1, 1, 0, 8, 2, 1, 0, 9);
    const faces = CrossChunkLinks.parseFaces(data, i64(0, 1, 3), 2, "x");
    expect([faces.count, [...faces.offsets], [...faces.vertices]]).toEqual([2, [0, 1, 3], [7, 8, 9]]);
    expect(CrossChunkLinks.encodeFaces(faces)).toEqual({ data, offsets: i64(0, 1, 3) });
    expect(CrossChunkLinks.parseFaces(new Uint8Array(), new Uint8Array(), 2, "x").count).toBe(0);
    for (const offsets of [[0, 2], [1, 3], [0, 2, 1, 3], [0, 4], [], [0, -1, 3]])
      expect(() => CrossChunkLinks.parseFaces(data, i64(...offsets), 2, "x")).toThrow(Corrupt);
    expect(() => CrossChunkLinks.parseFaces(i64(0, 1, 1, 7), i64(0, 1), 2, "x")).toThrow(Corrupt);
  });
  test("damage", () => {
    for (const wrong of [
      i64(0, 0, 1),
      i64(0, 0),
      new Uint8Array(9),
      i64(0, 0, -1, 0, 0, 1),
      i64(0, 0, 2 ** 32, 0, 0, 1),
    ])
      expect(() => CrossChunkLinks.parse(wrong, 2, 2, "x")).toThrow(Corrupt);
    for (const wrong of [2 ** 31, -(2 ** 31) - 1, 2 ** 40])
      expect(() => CrossChunkLinks.parse(i64(wrong, 0, 1, 0, 0, 1), 2, 2, "x")).toThrow(LimitExceeded);
  });
});
