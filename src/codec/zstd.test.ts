import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { U64 } from "../bytes/u64.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError, Unsupported } from "../errors.js";
import { loadWasmKernel, plainKernel } from "../kernel/index.js";
import { loadZstdEncodeKernel } from "../kernel/zstd-encode.js";
import { defaultLimits } from "../limits.js";
import { withMissingCode } from "./on-demand.js";
import { xxh64 } from "./xxh64.js";
import { type Zstd, zstdCodec, zstdWith } from "./zstd.js";
import { contentSum, kernelZstd, nativeZstd, numberZstd, wasmZstd } from "./zstd-engine.js";
import { scanZstd } from "./zstd-frame.js";

const native = nativeZstd();
const wasm = await wasmZstd();
const engines: [string, Zstd][] = [
  ["WebAssembly", zstdWith(wasm)],
  ["the kernel", zstdWith({ ...kernelZstd((await loadWasmKernel())!, undefined), compress: wasm.compress })],
];
if (native !== undefined) engines.push(["node:zlib", zstdWith(native)]);

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const limits = defaultLimits;
/** Single segment, content size 4, one raw block. */
const HAND = "28b52ffd 20 04 210000 01020304";
const HAND_OUT = Uint8Array.of(1, 2, 3, 4);

/** Compressible and not quite regular. */
function sample(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0, seed = 7; i < size; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    bytes[i] = i % 11 < 6 ? (i >> 5) & 255 : seed >>> 28;
  }
  return bytes;
}

test("XXH64 gives the published values", () => {
  expect(xxh64(new Uint8Array(0))).toBe(0xef46db3751d8e999n);
  expect(xxh64(new TextEncoder().encode("Nobody inspects the spammish repetition"))).toBe(0xfbcea83c8a378bf1n);
});

test("the kernel's checksum is the same", async () => {
  const kernel = (await loadWasmKernel())!;
  for (const size of [0, 1, 3, 4, 7, 8, 31, 32, 33, 47, 100, 4099]) {
    const sum = Number(xxh64(sample(size)) & 0xffffffffn);
    expect(contentSum(kernel, sample(size))).toBe(sum);
    expect(contentSum(plainKernel, sample(size))).toBe(sum);
  }
});

test("a frame is described without decoding it", () => {
  const bytes = hex(`${HAND} 502a4d18 02000000 ffff ${HAND}`);
  expect(scanZstd(bytes)).toEqual([
    { start: 0, end: 13, contentSize: 4, bound: 4, checksum: false },
    { start: 23, end: 36, contentSize: 4, bound: 4, checksum: false },
  ]);
});

describe.each(engines)("zstd by %s", (_name, zstd) => {
  test("frames packed by hand", () => {
    expect(zstd.decompress(hex(HAND), 4, limits)).toEqual(HAND_OUT);
    expect(zstd.decompress(hex(`${HAND}${HAND}`), 8, limits)).toEqual(Uint8Array.of(1, 2, 3, 4, 1, 2, 3, 4));
    expect(zstd.decompress(hex(`5f2a4d18 01000000 aa ${HAND}`), undefined, limits)).toEqual(HAND_OUT);
    // A window and no content size; an RLE block of three bytes.
    expect(zstd.decompress(hex("28b52ffd 00 00 1b0000 07"), 3, limits)).toEqual(Uint8Array.of(7, 7, 7));
    expect(zstd.decompress(hex("28b52ffd 00 00 1b0000 07"), undefined, limits)).toEqual(Uint8Array.of(7, 7, 7));
  });

  test("what is compressed comes back, at every level, with and without a checksum", () => {
    const bytes = sample(5000);
    for (const level of [-5, 0, 1, 3, 9, 19, 22])
      for (const checksum of [false, true]) {
        const frame = zstd.compress(bytes, level, checksum);
        expect(scanZstd(frame)).toMatchObject([{ contentSize: 5000, checksum }]);
        expect(zstd.decompress(frame, 5000, limits)).toEqual(bytes);
        for (const [, other] of engines) expect(other.decompress(frame, undefined, limits)).toEqual(bytes);
      }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (some, checksum) => {
        expect(zstd.decompress(zstd.compress(some, 1, checksum), some.length, limits)).toEqual(some);
      }),
      { numRuns: 50 },
    );
  });

  test("memory grows and is used afterwards", () => {
    const bytes = new Uint8Array(40 << 20).fill(3);
    expect(Buffer.compare(zstd.decompress(zstd.compress(bytes, 1), bytes.length, limits), bytes)).toBe(0);
  });

  test("every damaged frame with a checksum is noticed", () => {
    const bytes = sample(4000);
    const frame = zstd.compress(bytes, 3, true);
    const silent = damage(frame, 384).filter((bad) => returns(() => zstd.decompress(bad, 4000, limits), bytes));
    expect(silent).toEqual([]);
  });

  test("without a checksum, what passes is of the right size, and damage to the structure is noticed", () => {
    const frame = zstd.compress(sample(4000), 3);
    let passed = 0;
    for (const bad of damage(frame, 384))
      try {
        expect(zstd.decompress(bad, 4000, limits)).toHaveLength(4000);
        passed++;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(["Corrupt", "Unsupported", "LimitExceeded"]).toContain((error as Error).name);
      }
    expect(passed).toBeLessThan(384);
    for (let cut = 0; cut < frame.length; cut += 7)
      expect(() => zstd.decompress(frame.subarray(0, cut), undefined, limits)).toThrow(Corrupt);
  });

  test.each([
    ["nothing", "", Corrupt],
    ["something else", "1f8b0800", Corrupt],
    ["zstd 0.7, as zarr 1.1.0 wrote it", "27b52ffd 00 00 1b0000 07", Unsupported],
    ["a dictionary", "28b52ffd 21 05 04 210000 01020304", Unsupported],
    ["the reserved bit", "28b52ffd 28 04 210000 01020304", Corrupt],
    ["a window of 2 GiB and no size", "28b52ffd 00 a8 1b0000 07", LimitExceeded],
    ["a block beyond the window", "28b52ffd 20 04 290000 0102030405", Corrupt],
    ["a reserved block type", "28b52ffd 20 04 270000 01020304", Corrupt],
    ["a cut block", "28b52ffd 20 04 210000 010203", Corrupt],
    ["a cut checksum", "28b52ffd 24 04 210000 01020304 000000", Corrupt],
    ["a wrong checksum", "28b52ffd 24 04 210000 01020304 00000000", Corrupt],
    ["bytes that follow", `${HAND} 00`, Corrupt],
    ["a cut skippable frame", "502a4d18 ffffffff 00", Corrupt],
    ["less than declared", "28b52ffd 20 04 190000 010203", Corrupt],
    ["2^63 bytes declared", "28b52ffd e0 0000000000000080 010000", LimitExceeded],
    ["more than declared", "28b52ffd 20 04 200000 01020304 210000 01020304", Corrupt],
  ])("%s is refused", (_what, text, kind) => {
    expect(() => zstd.decompress(hex(text), 4, limits)).toThrow(kind);
  });

  test("a declared size around 2^53, 2^63 and 2^64 is refused, not rounded", () => {
    for (const size of [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      const frame = hex("28b52ffd e0 0000000000000000 1b0000 07");
      U64.set(frame, 5, size);
      for (const expected of [undefined, 3])
        expect(() => zstd.decompress(frame, expected, limits)).toThrow(OctavoError);
    }
  });

  test("frames are refused where they are many and tiny", () => {
    const many = (n: number) => hex("28b52ffd 20 00 010000".repeat(n));
    expect(zstd.decompress(many(100), 0, limits)).toHaveLength(0);
    expect(() => zstd.decompress(many(1001), 0, limits)).toThrow("at most 1000 streams");
  });

  test("the size is exact, and a bomb is refused before it is decoded", () => {
    expect(() => zstd.decompress(hex(HAND), 3, limits)).toThrow("should decode to 3 bytes, found 4 declared");
    expect(() => zstd.decompress(hex(HAND), 5, limits)).toThrow("should decode to 5 bytes, found 4");
    expect(() => zstd.decompress(hex("28b52ffd 00 00 1b0000 07"), 2, limits)).toThrow("found more");
    const bomb = zstd.compress(new Uint8Array(32 << 20), 1);
    const started = performance.now();
    expect(() => zstd.decompress(bomb, 4, limits)).toThrow(Corrupt);
    expect(() => zstd.decompress(bomb, undefined, limits)).toThrow(LimitExceeded);
    expect(performance.now() - started).toBeLessThan(50);
  });
});

describe("frames of the kernel", async () => {
  const [decoder, other] = [zstdWith(kernelZstd((await loadWasmKernel())!, undefined)), await wasmZstd()];
  const never = () => new Uint8Array();
  const encode = numberZstd(await loadZstdEncodeKernel(), never);

  /** The further `skew` is from 1, the rarer the low bytes, or the high ones. */
  const content = (size: number, seed: number, skew: number, lowest: number): Uint8Array => {
    let state = seed | 1;
    return Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return lowest + Math.floor((256 - lowest) * (state / 2 ** 32) ** skew);
    });
  };

  const fill = (
    values: Float64Array | Float32Array | Int16Array | Uint8Array,
    seed: number,
    of: (number: number) => number,
  ) => {
    for (let i = 0, state = seed | 1; i < values.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      values[i] = of(state >>> 8);
    }
  };

  test("two decoders read what they were, with and without a checksum, in one block or several", () => {
    let [made, smaller] = [0, 0];
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 256, max: 5000 }), fc.integer({ min: 100_000, max: 400_000 })),
        fc.integer(),
        fc.constantFrom(0.3, 0.5, 0.7, 1, 1.3, 2, 4),
        fc.constantFrom(0, 100, 160, 250),
        fc.boolean(),
        (size, seed, skew, lowest, checksum) => {
          const bytes = content(size, seed, skew, lowest);
          const frame = encode(bytes, 3, checksum);
          if (frame.length === 0) return; // most of it repeats
          made++;
          if (frame.length < 0.95 * size) smaller++;
          expect(frame.length).toBeLessThanOrEqual(size + 3 * Math.ceil(size / 2 ** 17) + 32);
          expect(scanZstd(frame)).toMatchObject([{ contentSize: size, checksum }]);
          expect(Buffer.compare(decoder.decompress(frame, size, defaultLimits), bytes)).toBe(0);
          expect(Buffer.compare(other.decompress(frame, size) as Uint8Array, bytes)).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
    expect(made).toBeGreaterThan(60);
    expect(smaller).toBeGreaterThan(20);
  });

  test("bytes too rare for a code of 11 bits get one all the same", () => {
    const bytes = content(2 ** 17, 1, 0.4, 0);
    const counts = new Uint32Array(256);
    for (const byte of bytes) counts[byte]!++;
    expect(counts.filter((count) => count > 0 && count < 2 ** 17 / 2 ** 13).length).toBeGreaterThan(10);
    const frame = encode(bytes, 3, true);
    expect(frame.length).toBeGreaterThan(0);
    expect(frame.length).toBeLessThan(0.97 * bytes.length);
    expect(Buffer.compare(decoder.decompress(frame, bytes.length, defaultLimits), bytes)).toBe(0);
  });

  test("numbers of few digits, and what is one byte again and again", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 32, max: 2000 }), fc.integer({ min: 10_000, max: 60_000 })),
        fc.integer(),
        fc.constantFrom(0.5, 0.1, 0.01, 0.001, 1 / 3),
        fc.constantFrom(Float64Array, Float32Array, Int16Array, Uint8Array),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (size, seed, scale, Values, digits, checksum) => {
          const values = new Values(Math.max(size, 256));
          fill(values, seed, (number) => scale * (number % 10 ** digits));
          const bytes = new Uint8Array(values.buffer);
          const frame = encode(bytes, 3, checksum);
          if (frame.length === 0) return;
          expect(Buffer.compare(decoder.decompress(frame, bytes.length, defaultLimits), bytes)).toBe(0);
          expect(Buffer.compare(other.decompress(frame, bytes.length) as Uint8Array, bytes)).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
    const places = new Float64Array(30_000);
    fill(places, 1, (number) => 0.001 * (375_000 + (number % 125_000)));
    const thousandths = new Uint8Array(places.buffer);
    const frame = encode(thousandths, 3, true);
    expect(frame.length).toBeGreaterThan(0);
    expect(frame.length).toBeLessThan(1.05 * other.compress(thousandths, 3, true).length);
    for (const size of [256, 5000, 2 ** 17, 300_000]) {
      const same = encode(new Uint8Array(size).fill(7), 3, true);
      expect(same.length).toBeLessThan(40);
      expect(other.decompress(same, size)).toEqual(new Uint8Array(size).fill(7));
      for (const byte of [1, 0, 9]) {
        const cell = new Uint8Array(size).fill(byte);
        cell.set([1, 0, 0, 0, size & 255, (size >> 8) & 255, size >> 16, 0]);
        const behind = encode(cell, 3, true);
        expect(behind.length).toBeLessThan(50);
        expect(Buffer.compare(other.decompress(behind, size) as Uint8Array, cell)).toBe(0);
        expect(Buffer.compare(decoder.decompress(behind, size, defaultLimits), cell)).toBe(0);
      }
    }
  });

  test("short ones, of every length", () => {
    for (let length = 0; length <= 600; length++)
      for (const bytes of [
        content(length, 1, 3, 0).subarray(0, length),
        new Uint8Array(length).fill(7),
        sample(length),
      ]) {
        const frame = encode(bytes, 3, length % 2 === 0);
        if (frame.length === 0) continue; // for the other
        expect(decoder.decompress(frame, length, limits)).toEqual(bytes);
        expect(other.decompress(frame, length)).toEqual(bytes);
      }
  });

  test("what mostly repeats, what should be small, and what is too long is for the other", () => {
    const whole = content(2000, 1, 3, 0);
    expect(encode(whole, 3, false).length).toBeGreaterThan(0);
    expect(encode(whole, 4, false).length).toBe(0);
    expect(encode(new Uint8Array([...whole, ...whole, ...whole, ...whole]), 3, false).length).toBe(0);
    expect(encode(new Uint8Array((16 << 20) + 1), 3, false).length).toBe(0);
  });
});

test("what the kernel cannot decode waits for a decoder that can", async () => {
  const bytes = sample(5000);
  const zstd = zstdWith(kernelZstd(plainKernel, undefined));
  const frame = wasm.compress(bytes, 3, true);
  expect(() => zstd.decompress(frame, 5000, limits)).toThrow(Unsupported);
  expect(await withMissingCode(() => zstd.decompress(frame, 5000, limits))).toEqual(bytes);
  expect(() => zstd.compress(bytes, 3)).toThrow(InvalidInput);
});

test("what the kernel does not encode waits for an encoder that does", async () => {
  const codec = await zstdCodec.load({ level: 1, checksum: true }, { chain: async () => [], onDemand: true });
  if (codec.kind !== "bytes-bytes") throw new Error("zstd is of bytes");
  const repeated = new Uint8Array(5000).map((_, i) => i % 23);
  expect(() => codec.encode(repeated)).toThrow(Unsupported);
  const frame = await withMissingCode(() => codec.encode(repeated));
  expect(wasm.decompress(frame, 5000)).toEqual(repeated);
});

test("the kernel finds what the other zstd finds in any bytes, or refuses them", async () => {
  const kernel = kernelZstd((await loadWasmKernel())!, undefined);
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }),
    fc.array(fc.constantFrom(1, 2, 3, 250), { maxLength: 5000 }).map((list) => Uint8Array.from(list)),
    fc.nat(60000).map(sample),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: -7, max: 19 }), fc.boolean(), fc.nat(), (bytes, level, checksum, place) => {
      const frame = wasm.compress(bytes, level, checksum);
      expect(Buffer.compare(kernel.decompress(frame, bytes.length) as Uint8Array, bytes)).toBe(0);
      if (bytes.length > 0) expect(kernel.decompress(frame, bytes.length - 1)).toBe("full");
      const bad = frame.slice();
      bad[place % frame.length]! ^= 1 << (place & 7);
      try {
        scanZstd(bad);
      } catch {
        return;
      }
      const [mine, theirs] = [kernel, wasm].map((engine) => engine.decompress(bad, bytes.length));
      if (typeof mine !== "string") expect(Buffer.compare(mine!, theirs as Uint8Array)).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("the codec checks its configuration", async () => {
  const context = { chain: () => Promise.reject(new Error("unused")) };
  const codec = await zstdCodec.load({ level: 5, checksum: true }, context);
  if (codec.kind !== "bytes-bytes") throw new Error(codec.kind);
  const encoded = codec.encode(sample(100));
  expect(scanZstd(encoded)[0]?.checksum).toBe(true);
  expect(codec.decode(encoded, 100, limits)).toEqual(sample(100));
  await expect(zstdCodec.load({ level: 23 }, context)).rejects.toThrow("from -131072 to 22, found 23");
  await expect(zstdCodec.load({ checksum: "yes" }, context)).rejects.toThrow('found "yes"');
});

/** The same bytes with one to three bits flipped, each time at other places. */
function damage(bytes: Uint8Array, times: number): Uint8Array[] {
  let seed = 42;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  return Array.from({ length: times }, () => {
    const bad = bytes.slice();
    for (let flips = 1 + next(3); flips > 0; flips--) bad[next(bad.length)]! ^= 1 << next(8);
    return bad;
  });
}

/** Whether the call returns anything other than the true content. */
function returns(call: () => Uint8Array, truth: Uint8Array): boolean {
  try {
    return Buffer.compare(call(), truth) !== 0;
  } catch {
    return false;
  }
}
