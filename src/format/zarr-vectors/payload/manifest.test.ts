import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { defaultLimits } from "../../../limits.js";
import { Blobs, Cell } from "./blobs.js";
import { Int64 } from "./int64.js";
import { Manifests } from "./manifest.js";
import { Mode } from "./manifest-parse.js";
import type { Block } from "./manifest-write.js";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));
const i64 = (...values: number[]) => Buffer.from(Int64.encode(values)).toString("hex");
const parse = (...blobs: Uint8Array[]) => Manifests.parse(Blobs.of(blobs), 3, defaultLimits, "x");
const rowsOf = (manifests: Manifests) =>
  Array.from({ length: manifests.rows }, (_, row) => Manifests.encodeRow(manifests, row));

/** Of the reference's store manifest_modes. */
const single = hex(`01000000 ${i64(0, 0, 0)} 00 ${i64(0)}`);
const ranges = hex(`02000000 ${i64(0, 0, 0)} 01 ${i64(1, 3)} ${i64(1, 0, 1)} 01 ${i64(0, 2)}`);
const list = hex(`02000000 ${i64(0, 0, 0)} 02 03000000 ${i64(6, 0, 3)} ${i64(1, 0, 1)} 00 ${i64(1)}`);
const empty = hex("00000000");
const golden = [single, ranges, list, empty];
const blocks: Block[][] = [
  [{ chunk: [0, 0, 0], fragments: 0 }],
  [
    { chunk: [0, 0, 0], fragments: { start: 1, count: 3 } },
    { chunk: [1, 0, 1], fragments: [0, 1] },
  ],
  [
    { chunk: [0, 0, 0], fragments: [6, 0, 3] },
    { chunk: [1, 0, 1], fragments: 1 },
  ],
  [],
];

describe("reading", () => {
  test("all modes become blocks", () => {
    const manifests = parse(...golden);
    expect([...manifests.offsets]).toEqual([0, 1, 3, 7, 7]);
    expect([...manifests.first]).toEqual([0, 1, 0, 6, 0, 3, 1]);
    expect([...manifests.count]).toEqual([1, 3, 2, 1, 1, 1, 1]);
    expect([...manifests.modes!]).toEqual([
      Mode.single,
      Mode.range,
      Mode.range,
      Mode.list,
      Mode.more,
      Mode.more,
      Mode.single,
    ]);
    expect([...manifests.chunks.subarray(6 * 3)]).toEqual([1, 0, 1]);
    expect(golden.map(({ length }) => length)).toEqual([37, 86, 90, 4]);
    expect(rowsOf(manifests)).toEqual(golden);
  });

  test("single fragments have no modes, and negative chunks are chunks", () => {
    const blob = hex(
      `02000000 ${i64(-1, -(2 ** 31), 2 ** 31 - 1)} 00 ${i64(2 ** 32 - 1)} ${i64(0, 0, 0)} 00 ${i64(7)}`,
    );
    const manifests = parse(empty, blob, single);
    expect(manifests.modes).toBeUndefined();
    expect([...manifests.chunks.subarray(0, 3)]).toEqual([-1, -(2 ** 31), 2 ** 31 - 1]);
    expect([...manifests.first]).toEqual([2 ** 32 - 1, 7, 0]);
    expect(rowsOf(manifests)).toEqual([empty, blob, single]);
  });

  test("other modes are seen where the lengths are those of single fragments", () => {
    // Two empty lists are 8 bytes shorter than two single fragments, a range 8 longer.
    const at = i64(0, 0, 0);
    const blob = hex(`03000000 ${at} 02 00000000 ${at} 02 00000000 ${at} 01 ${i64(4, 2)}`);
    expect(blob.length).toBe(4 + 3 * 33);
    const manifests = parse(blob);
    expect([...manifests.count]).toEqual([0, 0, 2]);
    expect(rowsOf(manifests)).toEqual([blob]);
  });

  test("a chunk of a vlen array has them one after another, and what it has too many", () => {
    const chunk = Blobs.encodeChunk(Blobs.of([...golden, hex("ff")]), 0, 5, 8);
    const manifests = Manifests.parse(Blobs.parseChunk(chunk, 4, "x"), 3, defaultLimits, "x");
    expect(rowsOf(manifests)).toEqual(golden);
    expect(Manifests.encodeChunk(manifests, 1, 3, 4)).toEqual(Blobs.encodeChunk(Blobs.of(golden), 1, 3, 4));
    expect(() => Manifests.encodeChunk(manifests, 0, 4, 3)).toThrow(InvalidInput);
  });

  test("parts are put together", () => {
    const parts = [parse(single, empty), parse(ranges), parse(), parse(list)];
    expect(Manifests.concat(parts, 3)).toEqual(parse(single, empty, ranges, list));
    expect(Manifests.concat([], 3)).toEqual(parse());
  });
});

describe("other layouts", () => {
  const { data, offsets } = Blobs.encodeOffsets(Blobs.of(golden));
  test("0.6 and 0.7: data and offsets, zeros at the end", () => {
    expect([...Int64.unsigned(offsets, "x")]).toEqual([0, 37, 123, 213]);
    const of = (tail: string) =>
      Manifests.fromLegacy(Uint8Array.of(...data, ...hex(tail)), offsets, 3, defaultLimits, "x");
    expect(rowsOf(of(""))).toEqual(golden);
    expect(rowsOf(of("0000000000"))).toEqual(golden);
    expect(() => of("0001")).toThrow(Corrupt);
    expect(() => Manifests.fromLegacy(data, Int64.encode([0, 37, 123, 214]), 3, defaultLimits, "x")).toThrow(Corrupt);
    for (const wrong of [[1], [0, 400], [0, 37, 20], [0, -8], []])
      expect(() => Blobs.fromOffsets(data, Int64.encode(wrong), "x")).toThrow(Corrupt);
  });

  test("up to 0.5: tuples", () => {
    const tuples = Int64.encode([0, 0, -1, 5, 1, 0, 0, 2, 0, 0, 0, 9]);
    const manifests = Manifests.fromTuples(tuples, Int64.encode([0, 64, 64]), 3, defaultLimits, "x");
    expect([[...manifests.offsets], [...manifests.first]]).toEqual([
      [0, 2, 2, 3],
      [5, 2, 9],
    ]);
    expect([...manifests.chunks.subarray(0, 3)]).toEqual([0, 0, -1]);
    expect(() => Manifests.fromTuples(tuples, Int64.encode([0, 40]), 3, defaultLimits, "x")).toThrow(Corrupt);
    expect(() => Manifests.fromTuples(tuples.slice(8), Int64.encode([0]), 3, defaultLimits, "x")).toThrow(Corrupt);
  });

  test("0.9.4: spans into blocks, in any order", () => {
    const table = Int64.encode([0, 0, 0, 5, 1, 0, 0, 2, 0, 0, 0, 9]);
    const dense = (...spans: number[]) => Manifests.fromDense(Int64.encode(spans), table, 3, defaultLimits, "x");
    expect([...dense(1, 2, 0, 0, 0, 3).first]).toEqual([2, 9, 5, 2, 9]);
    for (const wrong of [
      [1, 3],
      [-1, 1],
      [0, 1, 2],
    ])
      expect(() => dense(...wrong)).toThrow(Corrupt);
    const again = Int64.encode(Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? 0 : 50_000)));
    const blocks = new Uint8Array(50_000 * 32);
    expect(() => Manifests.fromDense(again, blocks, 3, { ...defaultLimits, ratio: 10 }, "x")).toThrow(LimitExceeded);
  });
});

describe("damage", () => {
  const changed = (bytes: Uint8Array, at: number, ...values: number[]) => {
    const copy = bytes.slice();
    copy.set(values, at);
    return copy;
  };
  test.each([
    ["nothing", new Uint8Array()],
    ["a mode of 3", changed(single, 28, 3)],
    ["more blocks than bytes", changed(single, 0, 255, 255, 255, 255)],
    ["one block more", changed(ranges, 0, 3)],
    ["one block less", changed(ranges, 0, 1)],
    ["a negative fragment", changed(single, 36, 255)],
    ["a negative count", changed(ranges, 44, 255)],
    ["a list without end", changed(list, 29, 255, 255, 255, 255)],
    ["a byte too many", Uint8Array.of(...list, 0)],
  ])("%s is Corrupt", (_, bytes) => {
    expect(() => parse(empty, bytes)).toThrow(Corrupt);
  });

  test("every beginning is Corrupt", () => {
    for (const blob of golden)
      for (let n = 0; n < blob.length; n++) expect(() => parse(blob.slice(0, n)), `${n} bytes`).toThrow(Corrupt);
  });

  test("a chunk beyond int32 is refused", () => {
    expect(() => parse(changed(single, 8, 1))).toThrow(LimitExceeded);
    expect(() => parse(hex(`01000000 ${i64(2 ** 31, 0, 0)} 00 ${i64(0)}`))).toThrow(LimitExceeded);
  });

  test("limits hold", () => {
    expect(() => Manifests.parse(Blobs.of(golden), 3, { ...defaultLimits, chunkBytes: 100 }, "x")).toThrow(
      LimitExceeded,
    );
  });

  test("vlen chunks and cells that contradict themselves are Corrupt", () => {
    const chunk = Blobs.encodeChunk(Blobs.of(golden));
    for (const wrong of [
      chunk.slice(0, -1),
      Uint8Array.of(...chunk, 0),
      changed(chunk, 0, 5),
      changed(chunk, 0, 3),
      changed(chunk, 7, 255),
      chunk.slice(0, 3),
    ])
      expect(() => Blobs.parseChunk(wrong, 4, "x")).toThrow(Corrupt);
    expect(() => Blobs.parseChunk(chunk, 5, "x")).toThrow(Corrupt);
    const cell = Cell.encode(single);
    expect(Cell.parse(cell, "x")).toEqual(single);
    expect(cell).toEqual(Blobs.encodeChunk(Blobs.of([single])));
    for (const wrong of [cell.slice(0, 7), cell.slice(0, -1), changed(cell, 0, 2), Uint8Array.of(...cell, 0)])
      expect(() => Cell.parse(wrong, "x")).toThrow(Corrupt);
  });
});

describe("writing", () => {
  test("a number is single, a run a range, a list a range where it is a run", () => {
    expect(rowsOf(Manifests.of(blocks, 3))).toEqual(golden);
    const forced = Manifests.of(blocks, 3, { forceExplicit: true });
    expect([...forced.modes!]).toEqual([
      Mode.single,
      Mode.range,
      Mode.list,
      Mode.more,
      Mode.list,
      Mode.more,
      Mode.more,
      Mode.single,
    ]);
  });

  test("what an object has in a chunk in a row becomes one block", () => {
    const at = (x: number, ...fragments: number[]): Block[] =>
      fragments.map((f) => ({ chunk: [x, 0, 0], fragments: f }));
    const given = Manifests.of([[...at(0, 1, 2, 3), ...at(1, 5), ...at(0, 4, 9)], at(2, 6), [], at(3, 1, 0)], 3);
    const said = Manifests.of(
      [
        [
          { chunk: [0, 0, 0], fragments: { start: 1, count: 3 } },
          { chunk: [1, 0, 0], fragments: 5 },
          { chunk: [0, 0, 0], fragments: [4, 9] },
        ],
        at(2, 6),
        [],
        [{ chunk: [3, 0, 0], fragments: [1, 0] }],
      ],
      3,
    );
    expect(Manifests.promote(given)).toEqual(said);
    const singles = Manifests.promote(Manifests.of([at(0, 1), at(2, 6)], 3));
    expect(singles.modes).toBeUndefined();
    expect([...Manifests.promote(singles, { forceExplicit: true }).modes!]).toEqual([Mode.list, Mode.list]);
  });

  test("what can be no chunk or fragment is refused", () => {
    for (const chunk of [
      [0, 0],
      [0, 0, 2 ** 31],
      [0, 0, 0.5],
    ])
      expect(() => Manifests.of([[{ chunk, fragments: 0 }]], 3)).toThrow(InvalidInput);
    for (const fragments of [-1, 0.5, [2 ** 32], { start: -1, count: 1 }])
      expect(() => Manifests.of([[{ chunk: [0, 0, 0], fragments }]], 3)).toThrow(InvalidInput);
  });

  test("any manifests survive, and keep their fragments when promoted", () => {
    const fragments = fc.oneof(
      fc.nat(9),
      fc.record({ start: fc.nat(9), count: fc.nat(3) }),
      fc.array(fc.nat(9), { maxLength: 4 }),
    );
    const block = fc.record({
      chunk: fc.tuple(fc.integer({ min: -1, max: 1 }), fc.integer({ min: -1, max: 1 })),
      fragments,
    });
    const entries = (m: Manifests) =>
      Array.from({ length: m.rows }, (_, row) => {
        const out: string[] = [];
        for (let b = m.offsets[row]!; b < m.offsets[row + 1]!; b++)
          for (let i = 0; i < m.count[b]!; i++)
            out.push(`${m.chunks[b * 2]} ${m.chunks[b * 2 + 1]} ${m.first[b]! + i}`);
        return out;
      });
    fc.assert(
      fc.property(
        fc.array(fc.array(block, { maxLength: 6 }), { maxLength: 5 }),
        fc.boolean(),
        (objects, forceExplicit) => {
          const manifests = Manifests.of(objects, 2, { forceExplicit });
          const bytes = Manifests.encodeChunk(manifests, 0, objects.length);
          const back = Manifests.parse(Blobs.parseChunk(bytes, objects.length, "x"), 2, defaultLimits, "x");
          expect({ ...back, modes: back.modes ?? manifests.modes }).toEqual(manifests);
          const promoted = Manifests.promote(manifests, { forceExplicit });
          expect(entries(promoted)).toEqual(entries(manifests));
          expect(Manifests.promote(promoted, { forceExplicit })).toEqual(promoted);
          const rows = rowsOf(promoted);
          expect(rowsOf(Manifests.parse(Blobs.of(rows), 2, defaultLimits, "x"))).toEqual(rows);
        },
      ),
    );
  });
});
