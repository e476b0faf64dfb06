/** The two old compressors that are only read; golden.test.ts has more of what Python makes. */
import { describe, expect, test } from "vitest";
import { U64 } from "../bytes/u64.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError, Unsupported } from "../errors.js";
import { defaultLimits as limits } from "../limits.js";
import { decodeBz2 } from "./bz2.js";
import { lzmaCodec } from "./lzma.js";
import type { BytesCodec, CodecSpec } from "./types.js";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const lzma = async (configuration: CodecSpec["configuration"]): Promise<BytesCodec> =>
  (await lzmaCodec.load(configuration, { chain: () => Promise.reject(new Error("unused")) })) as BytesCodec;

const BZ2 = hex("425a6839 314159265359 236d4bd8 00000101803c001000200030cd00947a9ea52c8478bb9229c284811b6a5ec0");
const BZ2_EMPTY = hex("425a6839 177245385090 00000000");
const THRICE = "abracadabra".repeat(3);
const STREAM = "0030988aaa9a59f511d878dff";
const XZ = hex(
  `fd377a585a00 0004 e6d6b446 0200210116000000 742fe5a3 e00020000f5d ${STREAM}487000000 00 541aa2325f878fcd 00012b21 1c589f1a 1fb6f37d 01000000 0004 595a`,
);
const ALONE = hex(`5d 00008000 ffffffffffffffff ${STREAM}76cf65ffffe989800`);
const LZMA1 = { format: 3, filters: [{ id: 2n ** 62n + 1n }] };

/** Every single bit that gives other content when flipped, without an error. */
function wrong(bytes: Uint8Array, decode: (bytes: Uint8Array) => Uint8Array): number[] {
  const truth = text(decode(bytes));
  const silent: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const bad = bytes.slice();
    bad[bit >> 3]! ^= 1 << (bit & 7);
    try {
      if (text(decode(bad)) !== truth) silent.push(bit);
    } catch (error) {
      if (!["Corrupt", "Unsupported", "LimitExceeded"].includes((error as Error).name)) throw error;
    }
  }
  return silent;
}

describe("bz2", () => {
  test("streams, one or several", () => {
    expect(text(decodeBz2(BZ2, 11, limits))).toBe("abracadabra");
    expect(text(decodeBz2(Uint8Array.from([...BZ2, ...BZ2_EMPTY, ...BZ2]), undefined, limits))).toBe(
      "abracadabra".repeat(2),
    );
    expect(decodeBz2(BZ2_EMPTY, 0, limits)).toHaveLength(0);
  });

  test("no flipped bit gives other content", () => {
    expect(wrong(BZ2, (bytes) => decodeBz2(bytes, 11, limits))).toEqual([]);
  });

  test("cut, followed, too long, too short", () => {
    for (let cut = 0; cut < BZ2.length; cut++)
      expect(() => decodeBz2(BZ2.subarray(0, cut), undefined, limits)).toThrow(Corrupt);
    expect(() => decodeBz2(Uint8Array.from([...BZ2, 0]), 11, limits)).toThrow(Corrupt);
    expect(() => decodeBz2(BZ2, 10, limits)).toThrow("should decode to 10 bytes, found more");
    expect(() => decodeBz2(BZ2, 12, limits)).toThrow("should decode to 12 bytes, found 11");
    expect(() => decodeBz2(BZ2, undefined, { ...limits, chunkBytes: 4 })).toThrow(LimitExceeded);
  });

  test("streams of nothing cost neither memory nor time, however many", () => {
    const many = new Uint8Array(1001 * BZ2_EMPTY.length);
    for (let i = 0; i < 1001; i++) many.set(BZ2_EMPTY, i * BZ2_EMPTY.length);
    const started = performance.now();
    expect(decodeBz2(many.subarray(BZ2_EMPTY.length), 0, limits)).toHaveLength(0);
    expect(decodeBz2(many.subarray(BZ2_EMPTY.length), undefined, limits)).toHaveLength(0);
    expect(performance.now() - started).toBeLessThan(200); // 1 s if each had a block of its own
    expect(() => decodeBz2(many, undefined, limits)).toThrow("at most 1000 streams");
  });

  test("scrambled blocks are refused by name", () => {
    const bad = BZ2.slice();
    bad[14]! |= 0x80;
    expect(() => decodeBz2(bad, 11, limits)).toThrow(Unsupported);
  });
});

describe("lzma", () => {
  test("every format", async () => {
    expect(text((await lzma({ format: 1 })).decode(XZ, 33, limits))).toBe(THRICE);
    expect(text((await lzma({ format: 1 })).decode(Uint8Array.from([...XZ, ...XZ]), 66, limits))).toBe(
      THRICE.repeat(2),
    );
    expect(text((await lzma({ format: 2 })).decode(ALONE, 33, limits))).toBe(THRICE);
    const raw2 = await lzma({ format: 3, filters: [{ id: 0x21 }] });
    expect(text(raw2.decode(hex(`e00020000f5d ${STREAM}487000000`), undefined, limits))).toBe(THRICE);
    expect(text((await lzma(LZMA1)).decode(hex(`${STREAM}76cf65ffffe989800`), 33, limits))).toBe(THRICE);
    const plain = await lzma({ format: 3, filters: [{ id: 3, dist: 2 }, { id: 0x21 }] });
    expect(plain.decode(hex("01 0003 01020101 00"), 4, limits)).toEqual(Uint8Array.of(1, 2, 2, 3));
    expect(plain.decode(hex("01 0003 01020101 00"), 4, limits)).toEqual(Uint8Array.of(1, 2, 2, 3));
  });

  test("a declared size may stand instead of the mark, or beside it", async () => {
    const alone = await lzma({ format: 2 });
    const sized = ALONE.slice();
    sized.set(hex("2100000000000000"), 5);
    expect(text(alone.decode(sized, 33, limits))).toBe(THRICE);
    sized[5] = 0x20;
    expect(() => alone.decode(sized, 32, limits)).toThrow("goes on after its declared size");
    sized[5] = 0x22;
    expect(() => alone.decode(sized, 34, limits)).toThrow("found a mark after 33");
  });

  test("a declared size around 2^53, 2^63 and 2^64 is refused, not rounded", async () => {
    const alone = await lzma({ format: 2 });
    for (const size of [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 2n]) {
      const sized = ALONE.slice();
      U64.set(sized, 5, size);
      expect(() => alone.decode(sized, 33, limits)).toThrow(OctavoError);
    }
  });

  test("in .xz no flipped bit gives other content", async () => {
    const xz = await lzma({ format: 1 });
    expect(wrong(XZ, (bytes) => xz.decode(bytes, 33, limits))).toEqual([]);
  });

  test("elsewhere only sizes can tell: 5 of 272 flipped bits are other content of the same size", async () => {
    const alone = await lzma({ format: 2 });
    expect(wrong(ALONE, (bytes) => alone.decode(bytes, 33, limits))).toHaveLength(5);
  });

  test("cut, followed, too long, too short", async () => {
    for (const [format, bytes] of [
      [1, XZ],
      [2, ALONE],
    ] as const) {
      const codec = await lzma({ format });
      for (let cut = 0; cut < bytes.length; cut++)
        expect(() => codec.decode(bytes.subarray(0, cut), undefined, limits)).toThrow(Corrupt);
      expect(() => codec.decode(Uint8Array.from([...bytes, 0]), 33, limits)).toThrow(Corrupt);
      expect(() => codec.decode(bytes, 32, limits)).toThrow(Corrupt);
      expect(() => codec.decode(bytes, 34, limits)).toThrow("should decode to 34 bytes, found 33");
      expect(() => codec.decode(bytes, undefined, { ...limits, chunkBytes: 4 })).toThrow(LimitExceeded);
    }
  });

  test.each([
    ["LZMA before a dictionary", "80 0000 0000 00"],
    ["plain bytes before a dictionary", "02 0000 01 00"],
    ["LZMA before its properties", "01 0000 01 a0 0000 0004 0000000000 00"],
    ["a kind that is none", "03 00"],
    ["properties that cannot be", "e0 0000 0004 e1 0000000000 00"],
    ["lc + lp beyond 4", "e0 0000 0004 11 0000000000 00"],
    ["a coder that does not start with a zero", "e0 0000 0004 5d 0100000000 00"],
    ["no end", "01 0000 01"],
  ])("LZMA2 with %s is Corrupt", async (_what, bytes) => {
    const codec = await lzma({ format: 3, filters: [{ id: 0x21 }] });
    expect(() => codec.decode(hex(bytes), undefined, limits)).toThrow(Corrupt);
  });

  test("configurations that cannot be", async () => {
    await expect(lzma({ format: 0 })).rejects.toThrow(InvalidInput);
    await expect(lzma({ format: 3 })).rejects.toThrow(InvalidInput);
    await expect(lzma({ format: 3, filters: [{ id: 4 }, { id: 0x21 }] })).rejects.toThrow(Unsupported);
    await expect(lzma({ format: 3, filters: [{ id: 3 }] })).rejects.toThrow(Unsupported);
  });
});
