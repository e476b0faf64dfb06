import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import NumcodecsBlosc from "numcodecs/blosc";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { Corrupt, InvalidInput, LimitExceeded, OctavoError, Unsupported } from "../errors.js";
import { loadKernel, plainKernel } from "../kernel/index.js";
import { defaultLimits } from "../limits.js";
import { type BloscOptions, type BloscTools, bloscCodec, decodeBlosc, encodeBlosc, parseBloscHeader } from "./blosc.js";
import type { BytesCodec, CodecSpec } from "./types.js";
import { loadZlib } from "./zlib.js";
import { loadZstd } from "./zstd.js";
import { nativeZstd } from "./zstd-engine.js";

const inner = { zlib: await loadZlib(), zstd: await loadZstd() };
const wasm: BloscTools = { kernel: await loadKernel(), ...inner };
const plain: BloscTools = { kernel: plainKernel, ...inner };
const peer = new NumcodecsBlosc();

/** Lent memory must hold the same as memory of its own, always. */
const decode = (bytes: Uint8Array, expected: number | undefined, tools = wasm): Uint8Array => {
  const own = decodeBlosc(bytes, expected, defaultLimits, tools);
  expect(same(decodeBlosc(bytes, expected, defaultLimits, tools, "lend"), own)).toBe(true);
  return own;
};
const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const load = (configuration: CodecSpec["configuration"]): Promise<BytesCodec> =>
  bloscCodec.load(configuration, { chain: async () => [] }) as Promise<BytesCodec>;

/** 4 elements of 2 bytes, stored: the header, byte by byte, and the bytes. */
const stored = Uint8Array.of(2, 1, 0b001_1_0_0_1_1, 2, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8);

/** 5 elements of 2 bytes in blocks of 8, byte-shuffled, lz4: the second block comes first. */
// biome-ignore format: one line per part
const shuffled = Uint8Array.of(
  2, 1, 0b001_0_0_0_0_1, 2, 10, 0, 0, 0, 8, 0, 0, 0, 43, 0, 0, 0,
  30, 0, 0, 0, 24, 0, 0, 0,
  2, 0, 0, 0, 9, 10,
  9, 0, 0, 0, 0x80, 1, 3, 5, 7, 2, 4, 6, 8,
);

describe("hand-packed", () => {
  it("a stored chunk is the bytes, whatever its shuffle says", () => {
    expect(parseBloscHeader(stored)).toMatchObject({ codec: "lz4", shuffle: "byte", stored: true, typesize: 2 });
    expect([...decode(stored, 8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
  it("blocks lie in any order, and a stream as long as its content is stored", () => {
    for (const tools of [wasm, plain])
      expect([...decode(shuffled, 10, tools)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
  it("what follows the chunk is not looked at", () => {
    expect([...decode(Uint8Array.of(...stored, 99, 99), 8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  const change = (bytes: Uint8Array, ...changes: [at: number, value: number][]): Uint8Array => {
    const copy = bytes.slice();
    for (const [at, value] of changes) copy[at] = value;
    return copy;
  };
  it.each([
    ["no header", stored.subarray(0, 15), Corrupt, "should have a header of 16 bytes, found 15"],
    ["another version", change(stored, [0, 5]), Unsupported, "found version 5"],
    ["another codec", change(stored, [2, 0xe0]), Unsupported, "flags 0xe0"],
    ["a flag from the future", change(stored, [2, 8]), Unsupported, "flags 0x8"],
    ["another codec version", change(stored, [1, 2]), Unsupported, "lz4 streams was expected, found 2"],
    ["a cut file", stored.subarray(0, 23), Corrupt, "should be 24 bytes long, found 23"],
    ["a chunk shorter than its header", change(stored, [12, 15]), Corrupt, "should be 15 bytes long"],
    ["stored bytes that are missing", change(stored, [12, 23]), Corrupt, "should be 24 bytes long, found 23"],
    ["elements of no bytes", change(shuffled, [3, 0]), Corrupt, "elements of 0 bytes"],
    ["blocks of no bytes", change(shuffled, [8, 0]), Corrupt, "blocks of 0 bytes"],
    ["blocks larger than the chunk", change(shuffled, [8, 11]), Corrupt, "has blocks of 11 bytes"],
    ["a table without room", change(shuffled, [5, 1]), Corrupt, "too short for the table of its 34 blocks"],
    ["a block inside the header", change(shuffled, [16, 15]), Corrupt, "block 0, stream 0 of a blosc chunk is damaged"],
    ["a block behind the end", change(shuffled, [16, 40]), Corrupt, "it lies outside, at byte 40"],
    ["a block at a negative place", change(shuffled, [19, 0xff]), Corrupt, "it lies outside, at byte -"],
    ["a stream of negative length", change(shuffled, [33, 0xff]), Corrupt, "it should have -"],
    ["a stream behind the end", change(shuffled, [30, 10]), Corrupt, "it should have 10 bytes"],
    ["a stream of another length", change(shuffled, [34, 0x70]), Corrupt, "lz4: its input ends too early"],
  ])("%s is refused", (_, bytes, kind, sentence) => {
    for (const tools of [wasm, plain]) {
      expect(() => decode(bytes, undefined, tools)).toThrow(kind);
      expect(() => decode(bytes, undefined, tools)).toThrow(sentence);
    }
  });
  it("another size than expected is refused", () => {
    expect(() => decode(stored, 9)).toThrow("should hold 9 bytes, found 8");
  });
  it("a codec that was not loaded is named", () => {
    const bytes = encodeBlosc(new Uint8Array(1000), { ...defaults, cname: "zstd" }, wasm);
    expect(() => decode(bytes, 1000, { kernel: plainKernel })).toThrow(Unsupported);
  });
  it("memory that is given is used, also for stored chunks, and a Buffer's is not kept", () => {
    for (const [bytes, size] of [
      [stored, 8],
      [shuffled, 10],
    ] as const) {
      const into = new Uint8Array(size);
      expect(decodeBlosc(bytes, size, defaultLimits, wasm, into)).toBe(into);
      expect(decodeBlosc(bytes, size, defaultLimits, wasm, new Uint8Array(3))).toEqual(into);
      const buffer = Buffer.from(bytes);
      const out = decode(buffer, size);
      buffer.fill(0);
      expect(out).toEqual(into);
    }
  });
  it("a block for which there is no memory is refused with one of the six errors", () => {
    const size = 2 ** 31 - 64;
    const bytes = new Uint8Array(40);
    const view = new DataView(bytes.buffer);
    bytes.set([2, 1, 0b001_1_0_1_0_0, 4]);
    for (const [at, value] of [
      [4, size],
      [8, size],
      [12, 40],
      [16, 20],
      [20, 16],
    ] as const)
      view.setUint32(at, value, true);
    expect(() => decode(bytes, size)).toThrow(OctavoError);
  });
  it("a size over the limits is refused before anything is allocated", () => {
    const bomb = change(stored, [7, 0x7f], [2, 0x21], [11, 0x7f], [3, 4]);
    expect(() => decode(bomb, undefined)).toThrow(LimitExceeded);
    expect(() => decode(bomb, 8)).toThrow(Corrupt);
  });
});

const defaults: BloscOptions = { cname: "lz4", clevel: 5, shuffle: "byte", typesize: 4, blocksize: 0 };

describe("fixtures", () => {
  const root = fixtures("zarr");
  const arrays = (generation: string): string[] =>
    readdirSync(join(root, generation)).map((name) => join(root, generation, name));
  const json = (path: string): Record<string, Record<string, unknown>> =>
    existsSync(path) && readFileSync(path)[0] === 0x7b
      ? JSON.parse(readFileSync(path, "utf8").replace(/-?(NaN|Infinity)\b(?!")/g, "0"))
      : {};
  const chunks = (folder: string, name: RegExp): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((file) => name.test(file))
          .map((file) => join(folder, file))
      : [];
  const good = [
    ...["v0", "v0_pickle", "v0_odd"].flatMap(arrays).flatMap((path) => chunks(join(path, "__zdata__"), /\.blosc$/)),
    ...arrays("v1")
      .filter((path) => (json(join(path, "meta")).compression as unknown) === "blosc")
      .flatMap((path) => chunks(path, /^\d+(\.\d+)*$/)),
    ...arrays("v2")
      .filter((path) => json(join(path, ".zarray")).compressor?.id === "blosc")
      .flatMap((path) => chunks(path, /^\d+(\.\d+)*$/)),
  ].map((path) => path.slice(root.length + 1));

  it("are here", () => expect(good.length).toBeGreaterThan(250));

  it("decode as numcodecs.js decodes them, in both kernels", async () => {
    for (const path of good) {
      const bytes = new Uint8Array(readFileSync(join(root, path)));
      const { nbytes } = parseBloscHeader(bytes);
      if (path.startsWith("v1/110_blosc_zstd")) {
        expect(() => decode(bytes, nbytes)).toThrow(/zstd before 0.8/);
        continue;
      }
      const expected = new Uint8Array(await peer.decode(bytes));
      expect(expected.length, path).toBe(nbytes);
      for (const tools of [wasm, plain]) expect(same(decode(bytes, nbytes, tools), expected), path).toBe(true);
    }
  });

  it.each(arrays("v0_bad").map((path) => path.slice(root.length + 8)))("damaged: %s", (name) => {
    const note = json(join(root, "expected", `bad__${name}.json`)).expect_error as unknown as string;
    if (note !== "chunk") return;
    const meta = json(join(root, "v0_bad", name, "__zmeta__")) as unknown as { chunks: number[]; dtype: string };
    const expected = meta.chunks.reduce((a, b) => a * b, Number(/\d+$/.exec(meta.dtype)![0]));
    for (const tools of [wasm, plain]) {
      const thrown: unknown[] = [];
      for (const path of chunks(join(root, "v0_bad", name, "__zdata__"), /\.blosc$/)) {
        try {
          decode(new Uint8Array(readFileSync(path)), expected, tools);
        } catch (error) {
          thrown.push(error);
        }
      }
      expect(thrown.length).toBeGreaterThan(0);
      for (const error of thrown) expect(error instanceof Corrupt || error instanceof Unsupported).toBe(true);
    }
  });
});

/** Noise, zeros, steps and a wave, so that streams are stored, tiny and in between. */
const content = fc
  .tuple(fc.constantFrom("noise", "zeros", "steps", "sparse"), fc.nat(70_000), fc.nat())
  .map(([kind, n, seed]) => {
    let state = seed;
    return Uint8Array.from({ length: n }, (_, i) => {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      if (kind === "noise") return state >>> 24;
      if (kind === "zeros") return 0;
      if (kind === "steps") return (i >> 4) & 0x3f;
      return state >>> 24 > 250 ? state >>> 16 : 0;
    });
  });
const options = fc.record({
  cname: fc.constantFrom("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"),
  clevel: fc.integer({ min: 0, max: 9 }).filter((level) => level !== 9), // zstd 22 takes seconds; it has a test of its own
  shuffle: fc.constantFrom("none", "byte", "bit"),
  typesize: fc.oneof(fc.constantFrom(1, 2, 4, 8, 16), fc.integer({ min: 1, max: 300 })),
  blocksize: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40_000 })),
}) as fc.Arbitrary<BloscOptions>;

describe("round trip", () => {
  it("through both kernels, crosswise, and through numcodecs.js", async () => {
    await fc.assert(
      fc.asyncProperty(content, options, async (bytes, chosen) => {
        const encoded = [wasm, plain].map((tools) => encodeBlosc(bytes, chosen, tools));
        for (const one of encoded) {
          expect(one.length).toBeLessThanOrEqual(bytes.length + 16);
          for (const tools of [wasm, plain]) expect(same(decode(one, bytes.length, tools), bytes)).toBe(true);
          if (bytes.length > 0) expect(same(new Uint8Array(await peer.decode(one)), bytes)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("chunks that are not put together in the workspace", () => {
    const bytes = new Uint8Array(65 << 20).fill(7, 0, 1000);
    const encoded = encodeBlosc(bytes, defaults, wasm);
    expect(encoded.length).toBeLessThan(bytes.length / 100);
    expect(same(decode(encoded, bytes.length), bytes)).toBe(true);
  });
});

describe("as c-blosc 1.21 writes", () => {
  // What numcodecs 0.16.6 writes for a megabyte of zeros: flags and block size.
  it.each([
    ["lz4", 5, "byte", 4, 0x21, 524288],
    ["lz4hc", 5, "bit", 4, 0x24, 1048576],
    ["blosclz", 1, "none", 2, 0x00, 65536],
    ["zlib", 9, "byte", 8, 0x61, 1048576],
    ["zstd", 5, "byte", 4, 0x91, 262144],
    ["zstd", 9, "byte", 4, 0x91, 1048576],
    ["lz4", 5, "byte", 24, 0x31, 131064],
    ["lz4", 0, "byte", 4, 0x23, 8192],
  ] as const)("%s, level %d, %s shuffle, %d bytes", (cname, clevel, shuffle, typesize, flags, blocksize) => {
    const encoded = encodeBlosc(new Uint8Array(1 << 20), { cname, clevel, shuffle, typesize, blocksize: 0 }, wasm);
    expect(encoded[2]).toBe(flags);
    expect(new DataView(encoded.buffer).getUint32(8, true)).toBe(blocksize);
  });
});

it("damage gives Corrupt, Unsupported or a result of the right size, and the same from both kernels", () => {
  const outcome = (bytes: Uint8Array, expected: number | undefined, tools: BloscTools): string => {
    try {
      const result = decode(bytes, expected, tools);
      if (expected !== undefined) expect(result.length).toBe(expected);
      return Buffer.from(result).toString("latin1");
    } catch (error) {
      if (error instanceof Corrupt || error instanceof Unsupported || error instanceof LimitExceeded) return `${error}`;
      throw error;
    }
  };
  let refused = 0;
  fc.assert(
    fc.property(
      content,
      options,
      fc.array(fc.tuple(fc.oneof(fc.nat(40), fc.nat()), fc.nat(255)), { maxLength: 3 }),
      fc.nat(50),
      fc.boolean(),
      (bytes, chosen, changes, cut, known) => {
        const encoded = encodeBlosc(bytes, chosen, wasm);
        for (const [at, value] of changes) encoded[at % encoded.length] = value;
        const damaged = encoded.subarray(0, encoded.length - (changes.length > 1 ? 0 : cut));
        const results = [wasm, plain].map((tools) => outcome(damaged, known ? bytes.length : undefined, tools));
        expect(results[0] === results[1]).toBe(true);
        if (/^(Corrupt|Unsupported|LimitExceeded)/.test(results[0]!)) refused++;
      },
    ),
    { numRuns: 150 },
  );
  expect(refused).toBeGreaterThan(50);
});

describe("configuration", () => {
  it("of v3 and of numcodecs mean the same", async () => {
    const bytes = Uint8Array.from({ length: 4000 }, (_, i) => (i & 3 ? 0 : i >> 2));
    const modern = await load({ cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 });
    const old = await load({ cname: "lz4", clevel: 5, shuffle: 1, typesize: 4, blocksize: 0 });
    const auto = await load({ shuffle: -1, typesize: 4 });
    expect(modern.encode(bytes)).toEqual(old.encode(bytes));
    expect(modern.encode(bytes)).toEqual(auto.encode(bytes));
    expect((await load({ shuffle: -1, typesize: 1 })).encode(bytes)[2]! & 5).toBe(4);
    expect((await load({ cname: "zstd", shuffle: "bitshuffle", typesize: 2 })).encode(bytes)[2]! & 5).toBe(4);
    expect((await load({ cname: "zlib", shuffle: "noshuffle" })).encode(bytes)[2]! & 5).toBe(0);
    expect(same(old.decode(modern.encode(bytes), 4000, defaultLimits), bytes)).toBe(true);
  });
  it("may name another compressor than the chunk: what Node has in itself reads it", async () => {
    const bytes = Uint8Array.from({ length: 4000 }, (_, i) => i >> 5);
    const lz4 = await load({ cname: "lz4" });
    for (const cname of ["zlib", "zstd"] as const) {
      if (cname === "zstd" && nativeZstd() === undefined) continue;
      const encoded = encodeBlosc(bytes, { ...defaults, cname }, wasm);
      expect(same(lz4.decode(encoded, bytes.length, defaultLimits), bytes)).toBe(true);
    }
  });
  it("that is wrong is refused", async () => {
    for (const wrong of [
      { cname: "lz5" },
      { clevel: 10 },
      { shuffle: "sort" },
      { shuffle: 3 },
      { blocksize: -1 },
      { typesize: 1.5 },
    ])
      await expect(load(wrong)).rejects.toThrow(InvalidInput);
    const untyped = await load({ shuffle: "shuffle" });
    expect(() => untyped.encode(new Uint8Array(8))).toThrow(InvalidInput);
    expect([...untyped.decode(stored, 8, defaultLimits)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
