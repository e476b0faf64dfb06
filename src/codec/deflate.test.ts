import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { loadDeflateKernel } from "../kernel/deflate.js";
import { defaultLimits as limits } from "../limits.js";
import { nativeDeflate, plainDeflate } from "./deflate.js";
import { loadSmallDeflate, smallDeflate } from "./deflate-small.js";
import { gzipCodec, gzipWith } from "./gzip.js";
import { zlibCodec, zlibWith } from "./zlib.js";

const engines = [
  ["node:zlib", nativeDeflate()!],
  ["plain TypeScript", await plainDeflate()],
  ["the kernel", await loadSmallDeflate()],
] as const;

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const HEADER = "1f8b 08 00 00000000 00 ff";
/** "abc" stored. */
const STORED = "01 0300 fcff 616263";
const TRAILER = "c2412435 03000000";

/** Literals, matches and long codes. */
function sample(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0, seed = 7; i < size; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    bytes[i] = i % 13 < 5 ? (i >> 6) & 255 : Math.min(255, 1 / (seed / 2 ** 32 + 0.001));
  }
  return bytes;
}

describe.each(engines)("by %s", (_name, engine) => {
  const gzip = gzipWith(engine);
  const zlib = zlibWith(engine);

  test("streams packed by hand", () => {
    expect(text(gzip.decompress(hex(`${HEADER}${STORED}${TRAILER}`), 3, limits))).toBe("abc");
    expect(text(zlib.decompress(hex(`7801 ${STORED} 024d0127`), 3, limits))).toBe("abc");
    // Fixed codes: "aa", then nine bytes from one back.
    expect(text(zlib.decompress(hex("789c 4b4c8403 00 190d042c"), undefined, limits))).toBe("aaaaaaaaaaa");
    expect(gzip.decompress(gzip.compress(new Uint8Array(0), 6), 0, limits)).toHaveLength(0);
  });

  test("every part of a header is stepped over, and members one after another are one content", () => {
    const full = "1f8b 08 1d 00000000 00 ff 0200 aabb 6e00 6300";
    const member = `${HEADER}${STORED}${TRAILER}`;
    expect(text(gzip.decompress(hex(`${full}${STORED}${TRAILER}${member}`), 6, limits))).toBe("abcabc");
    expect(text(gzip.decompress(hex(member.repeat(3)), undefined, limits))).toBe("abcabcabc");
    const checked = hex(`1f8b 08 02 00000000 00 ff 0000 ${STORED}${TRAILER}`);
    expect(() => gzip.decompress(checked, 3, limits)).toThrow("does not match its checksum");
    new DataView(checked.buffer).setUint16(10, engine.crc32(checked.subarray(0, 10)) & 0xffff, true);
    expect(text(gzip.decompress(checked, 3, limits))).toBe("abc");
  });

  test("what is compressed comes back, at every level, here and with node:zlib", () => {
    const bytes = sample(60_000);
    for (let level = 0; level <= 9; level++) {
      const member = gzip.compress(bytes, level);
      expect(Buffer.compare(gzip.compress(bytes, level), member)).toBe(0);
      expect(Buffer.compare(gunzipSync(member), bytes)).toBe(0);
      const wrapped = zlib.compress(bytes, level);
      expect(Buffer.compare(inflateSync(wrapped), bytes)).toBe(0);
      for (const [, other] of engines) {
        expect(Buffer.compare(gzipWith(other).decompress(member, bytes.length, limits), bytes)).toBe(0);
        expect(Buffer.compare(zlibWith(other).decompress(wrapped, undefined, limits), bytes)).toBe(0);
      }
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 0, max: 9 }), (some, level) => {
        expect(gzip.decompress(gzip.compress(some, level), some.length, limits)).toEqual(some);
        expect(zlib.decompress(zlib.compress(some, level), some.length, limits)).toEqual(some);
      }),
      { numRuns: 60 },
    );
  });

  test("all of zlib's strategies decode", () => {
    const bytes = sample(30_000);
    for (const strategy of [0, 1, 2, 3, 4])
      for (const memLevel of [1, 9]) {
        const member = gzipSync(bytes, { strategy, memLevel, level: 9 });
        expect(Buffer.compare(gzip.decompress(member, bytes.length, limits), bytes)).toBe(0);
      }
  });

  test.each([
    ["nothing", ""],
    ["another method", `1f8b 07 00 00000000 00 ff ${STORED}${TRAILER}`],
    ["reserved flags", `1f8b 08 20 00000000 00 ff ${STORED}${TRAILER}`],
    ["a name without an end", "1f8b 08 08 00000000 00 ff 6162"],
    ["a wrong crc32", `${HEADER}${STORED} c2412436 03000000`],
    ["a wrong size", `${HEADER}${STORED} c2412435 04000000`],
    ["a cut trailer", `${HEADER}${STORED} c2412435 030000`],
    ["a byte that follows", `${HEADER}${STORED}${TRAILER} 00`],
    ["a block of type 3", `${HEADER} 07 00 ${TRAILER}`],
    ["stored lengths that disagree", `${HEADER} 01 0300 fcfe 616263 ${TRAILER}`],
    ["a stored block past the end", `${HEADER} 01 ff00 00ff 616263`],
    ["a distance before the start", `${HEADER} 030200 ${TRAILER}`],
    ["too many codes", `${HEADER} fdff ffffffffffffffffffffffff`],
    ["codes of no length", `${HEADER} 0500 0000000000000000000000`],
  ])("gzip with %s is Corrupt", (_what, bytes) => {
    expect(() => gzip.decompress(hex(bytes), undefined, limits)).toThrow(Corrupt);
  });

  test.each([
    ["a wrong adler32", `7801 ${STORED} 024d0128`, Corrupt],
    ["a cut adler32", `7801 ${STORED} 024d01`, Corrupt],
    ["a byte that follows", `7801 ${STORED} 024d0127 00`, Corrupt],
    ["a header that does not divide by 31", `7802 ${STORED} 024d0127`, Corrupt],
    ["a dictionary", `7820 00000000 ${STORED} 024d0127`, Unsupported],
  ])("zlib with %s is refused", (_what, bytes, kind) => {
    expect(() => zlib.decompress(hex(bytes), 3, limits)).toThrow(kind);
  });

  test("every damaged or cut member is noticed", () => {
    const bytes = sample(3000);
    const member = gzip.compress(bytes, 6);
    for (let i = 0; i < 600; i++) {
      const bad = member.slice();
      const at = i % 3 === 0 ? i % 40 : (i * 7919) % bad.length;
      if (at >= 4 && at < 10) continue; // time, level and system mean nothing
      bad[at]! ^= 1 << (i & 7);
      if (at === 3 && (bad[3] === 1 || bad[3] === 0)) continue; // "text" means nothing either
      expect(() => gzip.decompress(bad, bytes.length, limits)).toThrow(Corrupt);
    }
    for (let cut = 0; cut < member.length; cut += 11)
      expect(() => gzip.decompress(member.subarray(0, cut), undefined, limits)).toThrow(Corrupt);
  });

  test("members of nothing cost neither memory nor time, however many", () => {
    const empty = gzip.compress(new Uint8Array(0), 6);
    const started = performance.now();
    const some = new Uint8Array(1000 * empty.length);
    for (let i = 0; i < 1000; i++) some.set(empty, i * empty.length);
    expect(() => gzip.decompress(some, 64 << 20, limits)).toThrow("should decode to 67108864 bytes, found 0");
    expect(performance.now() - started).toBeLessThan(1000); // 5 s if each had room for everything
    expect(() => gzip.decompress(Buffer.concat([some, empty]), undefined, limits)).toThrow(LimitExceeded);
  });

  test("the size is exact, and a bomb is refused within milliseconds", () => {
    const member = hex(`${HEADER}${STORED}${TRAILER}`);
    expect(() => gzip.decompress(member, 2, limits)).toThrow("should decode to 2 bytes, found more");
    expect(() => gzip.decompress(member, 4, limits)).toThrow("should decode to 4 bytes, found 3");
    const stream = deflateRawSync(new Uint8Array(50_000_000));
    const bomb = Buffer.concat([hex(HEADER), stream, Buffer.alloc(8)]);
    const started = performance.now();
    expect(() => gzip.decompress(bomb, 4, limits)).toThrow(Corrupt);
    expect(performance.now() - started).toBeLessThan(50);
    expect(() => gzip.decompress(bomb, undefined, { ...limits, chunkBytes: 1 << 20 })).toThrow(LimitExceeded);
  });
});

test("the codecs check their configuration", async () => {
  const context = { chain: () => Promise.reject(new Error("unused")) };
  for (const entry of [gzipCodec, zlibCodec]) {
    const codec = await entry.load({ level: 9 }, context);
    if (codec.kind !== "bytes-bytes") throw new Error(codec.kind);
    expect(codec.decode(codec.encode(sample(100)), 100, limits)).toEqual(sample(100));
    await expect(entry.load({ level: 10 }, context)).rejects.toThrow("to 9, found 10");
    await expect(entry.load({ level: "1" }, context)).rejects.toThrow('found "1"');
  }
});

test("a member that node:zlib makes is the one that its parts make", () => {
  const { gzip, ...parts } = nativeDeflate()!;
  for (const size of [0, 1, 1100, 70_000])
    for (const level of [0, 1, 5, 6, 9])
      expect(gzip!(sample(size), level)).toEqual(gzipWith(parts).compress(sample(size), level));
});

describe("the kernel's deflate", async () => {
  const kernel = await loadDeflateKernel();
  const small = smallDeflate(kernel, nativeDeflate()!);
  const same = (bytes: Uint8Array): number => {
    const stream = small.deflate(bytes, 6);
    expect(Buffer.compare(inflateRawSync(stream), bytes)).toBe(0);
    expect(Buffer.compare(inflatedPlain(stream), bytes)).toBe(0);
    return stream.length;
  };
  const plain = await plainDeflate();
  const inflatedPlain = (stream: Uint8Array): Uint8Array => {
    const inflated = plain.inflate(stream, 0, 1 << 16, 1 << 17);
    if (inflated === "full" || inflated.end !== stream.length)
      throw new Error("more or fewer bytes than the stream has");
    return inflated.content;
  };
  /** Bytes of an alphabet, of which some come again from up to `reach` back. */
  const repeating = (size: number, letters: number, share: number, reach: number, seed: number): Uint8Array => {
    const out = new Uint8Array(size);
    let state = seed;
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    for (let i = 0; i < size; )
      if (i > 0 && random() < share) {
        const back = 1 + Math.floor(random() * Math.min(i, reach));
        for (let end = Math.min(size, i + 3 + Math.floor(random() * 300)); i < end; i++) out[i] = out[i - back]!;
      } else out[i++] = random() * letters;
    return out;
  };

  test("every kind of block, every length of match, and distances up to the farthest come back", () => {
    expect(same(new Uint8Array(0))).toBeLessThan(8);
    expect(same(repeating(60_000, 256, 0, 1, 3))).toBeLessThan(60_016); // stored
    expect(same(new Uint8Array(65_536))).toBeLessThan(300);
    expect(same(Uint8Array.of(1, 2, 3, 4, 1, 2, 3, 4))).toBeLessThan(12); // the codes that are not written down
    for (let length = 1; length < 270; length++) {
      const run = repeating(3000 + 2 * length, 256, 0, 1, length);
      run.copyWithin(2000 + length, 0, length); // as far as the block lets it
      same(run);
    }
    for (const far of [32_766, 32_767, 32_768, 32_769]) {
      const bytes = repeating(far + 400, 256, 0, 1, far);
      bytes.copyWithin(far, 0, 400);
      same(bytes);
    }
  });

  test("whatever repeats comes back, with no trace of the values before", () => {
    fc.assert(
      fc.property(
        fc.integer({ max: 65_536, min: 0 }),
        fc.integer({ min: 1, max: 256 }),
        fc.double({ max: 0.5, min: 0, noNaN: true }),
        fc.integer({ min: 1, max: 40_000 }),
        fc.nat(),
        (size, letters, share, reach, seed) => {
          const bytes = repeating(size, letters, share, reach, seed);
          const once = small.deflate(bytes, 6);
          same(bytes);
          expect(Buffer.compare(small.deflate(bytes, 6), once)).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });

  test("codes are at most 15 bits long, however rare a byte is", () => {
    const bytes = new Uint8Array(65_536);
    let at = 0;
    for (let a = 1, b = 1, letter = 1; at + a < bytes.length; [a, b, letter] = [b, a + b, letter + 1])
      for (let i = 0; i < a; i++, at++) bytes[at] = letter;
    for (let i = bytes.length - 1, seed = 1; i > 0; i--) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const other = Math.floor((seed / 2 ** 32) * (i + 1));
      [bytes[i], bytes[other]] = [bytes[other]!, bytes[i]!];
    }
    same(bytes);
  });

  test("is about as small as node:zlib's level 6; without WebAssembly it is that", () => {
    const bytes = sample(3000);
    expect(same(bytes)).toBeLessThan(1.03 * deflateRawSync(bytes, { level: 6 }).length);
    const without = smallDeflate({ kind: "plain", reserve: () => ({ memory: new Uint8Array(), start: 0 }) }, small);
    expect(without.deflate(bytes, 6)).toEqual(small.deflate(bytes, 6));
    expect(small.gzip!(sample(70_000), 6)).toEqual(nativeDeflate()!.gzip!(sample(70_000), 6));
  });
});
