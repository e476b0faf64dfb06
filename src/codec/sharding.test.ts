import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { U64 } from "../bytes/u64.js";
import { Corrupt, InvalidInput, LimitExceeded, Unsupported } from "../errors.js";
import { defaultLimits as limits } from "../limits.js";
import { CodecChain } from "./chain.js";
import type { ChunkCodec, CodecSpec } from "./index.js";

const plain = { name: "bytes", configuration: { endian: "little" } };
const crc = { name: "crc32c", configuration: {} };
const zstd = { name: "zstd", configuration: { level: 1 } };

interface Options {
  readonly codecs?: readonly (CodecSpec | string)[];
  readonly index?: readonly CodecSpec[];
  readonly location?: string;
}
const sharding = (
  chunkShape: number[],
  { codecs = [plain], index = [plain], location = "end" }: Options = {},
): CodecSpec => ({
  name: "sharding_indexed",
  configuration: {
    chunk_shape: chunkShape,
    codecs: codecs as never,
    index_codecs: index as never,
    index_location: location,
  },
});

/** uint8, filled with 9. */
const load = async (shape: number[], ...specs: CodecSpec[]): Promise<ChunkCodec> =>
  (await CodecChain.load(specs)).bind({
    shape,
    dtype: { kind: "uint", size: 1, endian: "little" },
    fill: Uint8Array.of(9),
  });

/** Pairs of offset and length as they lie in the file. */
function table(...pairs: (number | bigint)[]): Uint8Array {
  const out = new Uint8Array(pairs.length * 8);
  pairs.forEach((value, i) => {
    U64.set(out, i * 8, BigInt(value));
  });
  return out;
}
const bytes = (...parts: (Uint8Array | number[])[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const MISSING = [U64.MAX, U64.MAX] as const;

describe("a shard", () => {
  test("packed by hand: chunks in any order, gaps, one absent, index at the end", async () => {
    const codec = await load([2, 4], sharding([1, 2]));
    const shard = bytes([7, 8, 0, 0, 1, 2, 5, 6], table(4, 2, ...MISSING, 6, 2, 0, 2));
    expect(codec.decode(shard, limits)).toEqual(Uint8Array.of(1, 2, 9, 9, 5, 6, 7, 8));
  });

  test("with its index at the start, offsets count from the start of the shard", async () => {
    const codec = await load([4], sharding([2], { location: "start" }));
    expect(codec.decode(bytes(table(34, 2, 32, 2), [3, 4, 1, 2]), limits)).toEqual(Uint8Array.of(1, 2, 3, 4));
    expect(codec.encode(Uint8Array.of(1, 2, 3, 4))).toEqual(bytes(table(32, 2, 34, 2), [1, 2, 3, 4]));
  });

  test("two entries may name the same bytes", async () => {
    const codec = await load([4], sharding([2]));
    expect(codec.decode(bytes([1, 2], table(0, 2, 0, 2)), limits)).toEqual(Uint8Array.of(1, 2, 1, 2));
  });

  test("chunks of nothing but fill are left out, unless they are to be kept", async () => {
    const codec = await load([4], sharding([2]));
    expect(codec.encode(Uint8Array.of(9, 9, 1, 9))).toEqual(bytes([1, 9], table(...MISSING, 0, 2)));
    expect(codec.encode(Uint8Array.of(9, 9, 1, 9), { keepEmpty: true })).toEqual(
      bytes([9, 9, 1, 9], table(0, 2, 2, 2)),
    );
    expect(codec.encode(Uint8Array.of(9, 9, 9, 9))).toEqual(table(...MISSING, ...MISSING));
  });

  test("any content comes back through any nesting", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(1, 9), { minLength: 48, maxLength: 48 }),
        fc.constantFrom("start", "end"),
        fc.boolean(),
        async (values, location, nested) => {
          const inner = sharding([1, 2, 2], { codecs: [plain, zstd], index: [plain, crc], location });
          const outer = nested ? sharding([2, 2, 4], { codecs: [inner], index: [plain, crc] }) : inner;
          const codec = await load([2, 6, 4], outer);
          const data = Uint8Array.from(values);
          expect(codec.decode(codec.encode(data), limits)).toEqual(data);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("of texts", async () => {
    const spec = sharding([2], { codecs: [{ name: "vlen-utf8", configuration: {} }], index: [plain, crc] });
    const codec = (await CodecChain.load([spec])).bind({ shape: [6], dtype: { kind: "string" }, fill: "-" });
    const texts = ["a", "-", "-", "-", "", "łódź"];
    const encoded = codec.encode(texts);
    expect(codec.shard!.index.split(encoded, limits)[1]).toBeUndefined();
    expect(codec.decode(encoded, limits)).toEqual(texts);
  });
});

describe("parts of a shard", () => {
  test("are found by the index alone, and decode by themselves", async () => {
    const codec = await load([4, 4], sharding([2, 2], { codecs: [plain, zstd], index: [plain, crc] }));
    const data = Uint8Array.from({ length: 16 }, (_, i) => (i < 8 ? 9 : i));
    const encoded = codec.encode(data);
    const { grid, index, inner } = codec.shard!;
    expect([grid, index.count, index.bytes, index.location]).toEqual([[2, 2], 4, 68, "end"]);
    const entries = index.parse(encoded.subarray(encoded.length - 68), limits);
    expect(entries.find(0)).toBeUndefined();
    const { offset, length } = entries.find(3)!;
    expect(inner.decode(encoded.subarray(offset, offset + length), limits)).toEqual(Uint8Array.of(10, 11, 14, 15));
    expect(() => entries.find(4)).toThrow(InvalidInput);
  });

  test("are replaced without touching the others' bytes", async () => {
    const { shard } = await load([6], sharding([2], { codecs: [plain, zstd] }));
    const before = shard!.index.join([
      shard!.inner.encode(Uint8Array.of(1, 2)),
      undefined,
      shard!.inner.encode(Uint8Array.of(5, 6)),
    ]);
    const parts = shard!.index.split(before, limits);
    const kept = parts[2]!.slice();
    parts[1] = shard!.inner.encode(Uint8Array.of(3, 4));
    const after = shard!.index.split(shard!.index.join(parts), limits);
    expect(after[2]).toEqual(kept);
    expect(shard!.inner.decode(after[1]!, limits)).toEqual(Uint8Array.of(3, 4));
    expect(shard!.index.split(undefined, limits)).toEqual([undefined, undefined, undefined]);
    expect(() => shard!.index.join([])).toThrow(InvalidInput);
  });

  test("cannot be had where another codec lies around the shard", async () => {
    expect((await load([4], sharding([2]), crc)).shard).toBeUndefined();
    expect(
      (await load([4], { name: "transpose", configuration: { order: [0] } }, sharding([2]))).shard,
    ).toBeUndefined();
  });
});

describe("damage", () => {
  test.each([
    ["half absent, offset", table(U64.MAX, 2, 0, 2), Corrupt],
    ["half absent, length", table(0, U64.MAX, 0, 2), Corrupt],
    ["past the end", table(1, 2, 0, 2), Corrupt],
    ["into the index", table(2, 1, 0, 2), Corrupt],
    ["offset 2^53 + 1", table(2n ** 53n + 1n, 2, 0, 2), Corrupt],
    ["a sum beyond 2^64", table(U64.MAX - 1n, U64.MAX - 1n, 0, 2), Corrupt],
    ["a chunk that is too short", table(0, 1, 0, 2), Corrupt],
  ])("an entry that is %s", async (_what, index, kind) => {
    const codec = await load([4], sharding([2]));
    expect(() => codec.decode(bytes([1, 2], index), limits)).toThrow(kind);
  });

  test("an entry that reaches into an index at the start, or past what can be counted", async () => {
    const { index } = (await load([2], sharding([2], { location: "start" }))).shard!;
    expect(() => index.parse(table(15, 2), limits).find(0)).toThrow(
      "should lie within bytes 16 to the end, found 15 to 17",
    );
    expect(index.parse(table(16, 2), limits).find(0)).toEqual({ offset: 16, length: 2 });
    expect(() => index.parse(table(2n ** 53n, 2), limits).find(0)).toThrow(LimitExceeded);
  });

  test("a shard shorter than its index, an index of another size, a wrong checksum", async () => {
    const codec = await load([4], sharding([2], { index: [plain, crc] }));
    expect(() => codec.decode(new Uint8Array(35), limits)).toThrow("index of 36 bytes");
    expect(() => codec.shard!.index.parse(new Uint8Array(35), limits)).toThrow("should have 36 bytes, found 35");
    const encoded = codec.encode(Uint8Array.of(1, 2, 3, 4));
    for (let bit = 32; bit < encoded.length * 8; bit++) {
      const bad = encoded.slice();
      bad[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => codec.decode(bad, limits)).toThrow(Corrupt);
    }
  });

  test("configurations that cannot be", async () => {
    await expect(load([4], sharding([3]))).rejects.toThrow("should divide its shape [4], found [3]");
    await expect(load([4], sharding([2, 1]))).rejects.toThrow(InvalidInput);
    await expect(load([4], sharding([0]))).rejects.toThrow("list of lengths");
    await expect(load([4], sharding([2], { index: [plain, zstd] }))).rejects.toThrow(Unsupported);
    await expect(load([4], sharding([2], { location: "middle" }))).rejects.toThrow('"start" or "end"');
    await expect(load([4], sharding([2], { codecs: [] }))).rejects.toThrow(InvalidInput);
    await expect(load([4], { name: "sharding_indexed", configuration: { chunk_shape: [2] } })).rejects.toThrow(
      "found no list",
    );
    const huge = await load([2 ** 40], sharding([1]));
    expect(() => huge.decode(new Uint8Array(16), limits)).toThrow(LimitExceeded);
  });
});
