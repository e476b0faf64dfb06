import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { alike, goldenNames, goldenTree } from "../../../test/packed-tree.js";
import { xxh3 } from "../../bytes/hash/xxh3.js";
import { swapBytes } from "../../bytes/swap.js";
import { Corrupt, InvalidInput, OctavoError, Unsupported } from "../../errors.js";
import { encodeTree } from "./encode.js";
import { HEADER_BYTES } from "./header.js";
import { encodeNodes } from "./nodes.js";
import { inspectTree, parseTree } from "./parse.js";

const folder = fixtures("packed-tree");
const corrupt = (name: string): Uint8Array => new Uint8Array(readFileSync(join(folder, "corrupt", `${name}.bin`)));
const unit = { origin: [0, 0, 0], size: [1, 1, 1] } as const;

/** A root with one leaf in octant 0 and two particles in octant 5, as the reference writes it. */
const words = [15, 0, 2, 0x21000100, 5, 0, 0, 0x00010200, 4, 5, 1, 2, 0x00060200, 9, 0];
const bytesOf = (list: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(list).buffer);

describe("words", () => {
  it("become rows, and rows become words", () => {
    const tree = parseTree(bytesOf(words), { box: unit, threshold: 2 });
    expect([...tree.nodes.rows]).toEqual([3, 0, 3, 0x21000100, 2, 0, 1, 0x00010200, 3, 1, 3, 0x00060200]);
    expect({ count: tree.count, threshold: tree.threshold, box: tree.box }).toEqual({
      count: 3,
      threshold: 2,
      box: unit,
    });
    expect([...encodeNodes(tree.nodes)]).toEqual(words);
  });

  it("without a header need a box, and may be of either byte order", () => {
    expect(() => parseTree(bytesOf(words))).toThrow(InvalidInput);
    const big = parseTree(swapBytes(bytesOf(words), 4), { box: unit });
    expect(big.nodes).toEqual(parseTree(bytesOf(words), { box: unit }).nodes);
    expect(() => parseTree(bytesOf([16, ...words.slice(1)]), { box: unit })).toThrow("neither a header nor a root");
  });

  it.each([
    ["a skip of no multiple of 5", 0, 14],
    ["a leaf with a skip of 10", 4, 10],
    ["a leaf with the skip in bytes, which only the seed has", 4, 20],
    ["flags that name more children than there are", 3, 0x61000100],
    ["flags that name fewer", 3, 0x20000100],
    ["a root of level 2", 3, 0x21000200],
    ["a child of level 3", 7, 0x00010300],
    ["a child of level 1", 7, 0x00010100],
    ["a byte that is not used", 12, 0x00060201],
    ["a place of the wrong octant", 12, 0x00050200],
    ["a root that begins with particle 1", 1, 1],
    ["a root that ends beyond its children", 2, 3],
    ["a gap between children", 10, 2],
    ["children that overlap", 6, 1],
    ["an end before the start", 11, 0],
    ["a particle number that cannot be", 2, 0xffffffff],
    ["the parent of a leaf elsewhere", 8, 5],
    ["the parent of the root", 14, 1],
  ])("%s is damage", (_, at, value) => {
    const damaged = [...words];
    damaged[at] = value;
    expect(() => parseTree(bytesOf(damaged), { box: unit })).toThrow(Corrupt);
  });

  it("are looked at to the end: each problem is told with its byte", () => {
    const damaged = [...words];
    damaged[7] = 0x00020200;
    damaged[13] = 8;
    const told: [string, number][] = [];
    inspectTree(bytesOf(damaged), { box: unit }, ({ rule, byte }) => told.push([rule, byte]));
    expect(told).toEqual([
      ["tree-place", 16],
      ["tree-parent", 36],
    ]);
  });
});

/** The example of the seed, whose nodes a … i have the ranges below; its words and bytes as it draws them. */
const seedExample = (): { bytes: Uint8Array; meta: (flags: number, place: number, level: number) => number } => {
  const meta = (flags: number, place: number, level: number): number => flags | (place << 8) | (level << 16);
  const list = [
    ...[45, 0, 4, meta(0b11, 0, 0)],
    ...[25, 0, 2, meta(0b11, 1, 1)],
    ...[15, 0, 1, meta(0b11, 1, 2)],
    ...[5, 0, 0, meta(0, 1, 3), 4],
    ...[5, 1, 1, meta(0, 2, 3), 9],
    ...[4],
    ...[5, 2, 2, meta(0, 2, 2), 15],
    ...[4],
    ...[15, 3, 4, meta(0b11, 2, 1)],
    ...[5, 3, 3, meta(0, 1, 2), 4],
    ...[5, 4, 4, meta(0, 2, 2), 9],
    ...[25],
    ...[0],
  ];
  return { bytes: bytesOf(list), meta };
};

describe("the layout that the seed draws", () => {
  it("is read: its example", () => {
    const { nodes, count } = parseTree(seedExample().bytes, { box: unit });
    expect({ length: nodes.length, count }).toEqual({ length: 9, count: 5 });
    const again = encodeNodes(nodes);
    expect([...again.filter((_, i) => i < 4)]).toEqual([45, 0, 4, 0x03000100]);
    expect(parseTree(bytesOf([...again]), { box: unit }).nodes).toEqual(nodes);
  });

  it("has five leaves below a root in 30 words, with child_flag 227", () => {
    const { meta } = seedExample();
    const leaves = [0, 1, 5, 6, 7].flatMap((k, i) => [5, i, i, meta(0, k + 1, 1), 4 + 5 * i]);
    const { nodes } = parseTree(bytesOf([30, 0, 4, meta(227, 0, 0), ...leaves, 0]), { box: unit });
    expect(Array.from({ length: 6 }, (_, i) => nodes.rows[4 * i + 3]! >>> 16)).toEqual([0xe300, 1, 2, 6, 7, 8]);
  });

  it("may count the bytes of a leaf, and children from 0", () => {
    const { meta } = seedExample();
    const list = [10, 0, 6, meta(0b100, 0, 0), 20, 0, 6, meta(0, 2, 1), 4, 0];
    expect(parseTree(bytesOf(list), { box: unit }).nodes.rows[4 * 1 + 3]).toBe(0x00030200);
  });

  it("and bytes 4 to 7 of the header", () => {
    expect(parseTree(corrupt("spec_byte_order"))).toEqual(parseTree(corrupt("base_valid")));
  });
});

describe("files", () => {
  it.each(goldenNames(folder))("%s is read, and written again byte for byte", (name) => {
    const { bytes } = goldenTree(folder, name);
    expect(alike(encodeTree(parseTree(bytes)), bytes)).toBe(true);
  });

  it("of a big-endian machine are read", () => {
    expect(parseTree(corrupt("big_endian_native"))).toEqual(parseTree(corrupt("base_valid")));
  });

  it.each([
    ["version_2_0_0", "has version 2.0.0"],
    ["field_size_8", "fields of 8 bytes"],
    ["field_size_neg4", "fields of 4 bytes with a sign"],
    ["unknown_method", "yxh3_64_intdigest"],
  ])("%s is refused as not supported", (name, why) => {
    expect(() => parseTree(corrupt(name))).toThrow(Unsupported);
    expect(() => parseTree(corrupt(name))).toThrow(why);
  });

  it("with any bytes changed give a tree or one of Octavo's errors, also where the checksum was made to fit", () => {
    const base = corrupt("base_valid");
    const change = fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(change, fc.boolean(), fc.integer({ min: 0, max: base.length }), (changes, fit, length) => {
        const bytes = base.slice(0, fit ? base.length : length);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        if (fit) new DataView(bytes.buffer).setBigUint64(84, xxh3(bytes.subarray(HEADER_BYTES)), true);
        try {
          const { nodes } = parseTree(bytes);
          expect(encodeNodes(nodes).length).toBe((bytes.length - HEADER_BYTES) / 4);
        } catch (error) {
          expect(error).toBeInstanceOf(OctavoError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
