import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32, crc32c } from "../bytes/hash/crc.js";
import { decodeFault, foldedSum, type Kernel, type Loops, loadKernel, loadWasmKernel, plainKernel } from "./index.js";

const wasmKernel = await loadWasmKernel();
if (wasmKernel === undefined) throw new Error("this machine has no WebAssembly SIMD");
const kernels: readonly Kernel[] = [wasmKernel, plainKernel];

const codecs = ["lz4", "blosclz", "snappy"] as const;
const encoders = ["lz4Encode", "lz4hcEncode", "blosclzEncode", "snappyEncode"] as const;
const decoderOf = (name: string): "lz4Decode" | "blosclzDecode" | "snappyDecode" =>
  name.startsWith("lz4") ? "lz4Decode" : name.startsWith("blosclz") ? "blosclzDecode" : "snappyDecode";

/** Decodes between bytes that must stay as they are before, and may be touched in the slack only behind. */
function decode(kernel: Kernel, name: keyof Loops, bytes: Uint8Array, size: number): Uint8Array | number {
  const room = kernel.reserve(16 + bytes.length + 16 + size + 64);
  const src = room.start + 16;
  const dst = src + bytes.length + 16;
  room.memory.fill(0xa5, room.start, dst + size + 64);
  room.memory.set(bytes, src);
  const result = (room[name] as Loops["lz4Decode"])(src, bytes.length, dst, size);
  expect(same(room.memory.subarray(src, src + bytes.length), bytes)).toBe(true);
  expect([...room.memory.slice(dst - 16, dst)]).toEqual(Array(16).fill(0xa5));
  expect([...room.memory.slice(dst + size + 32, dst + size + 64)]).toEqual(Array(32).fill(0xa5));
  if (result < 0) return result;
  expect(result).toBe(size);
  return room.memory.slice(dst, dst + size);
}

function encode(kernel: Kernel, name: (typeof encoders)[number], bytes: Uint8Array, room: number, effort = 1) {
  const space = kernel.reserve(bytes.length + 16 + room);
  const dst = space.start + bytes.length + 16;
  space.memory.set(bytes, space.start);
  const size = space[name](space.start, bytes.length, dst, room, effort);
  expect(size).toBeLessThanOrEqual(room);
  return space.memory.slice(dst, dst + size);
}

/** What a filter makes of the bytes. */
function filter(
  kernel: Kernel,
  name: "shuffle" | "unshuffle" | "bitshuffle" | "bitunshuffle",
  bytes: Uint8Array,
  typesize: number,
) {
  const size = bytes.length;
  const { memory, start, ...loops } = kernel.reserve(3 * size);
  memory.set(bytes, start);
  loops[name](typesize, start, size / typesize, start + size, start + 2 * size);
  return memory.slice(start + size, start + 2 * size);
}

const enough = (n: number): number => n + Math.ceil(n / 6) + 64;
const ramp = (n: number): Uint8Array => Uint8Array.from({ length: n }, (_, i) => (i * 7919) >> 3);

function noise(seed: number, length: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) | 0;
    return state >>> 24;
  });
}

/** Byte by byte through the matcher, megabytes take minutes. */
const same = (a: Uint8Array | number | undefined, b: Uint8Array | number | undefined): boolean =>
  typeof a === "object" && typeof b === "object" ? Buffer.compare(a, b) === 0 : a === b;

/** Bytes with runs, repeats at all distances, and noise. */
const sequences = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ bytes })),
      fc.record({ back: fc.integer({ min: 1, max: 100_000 }), length: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ back: fc.integer({ min: 1, max: 20 }), length: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 20_000 }) }),
    ),
    { maxLength: 25 },
  )
  .map((parts) => {
    const out: number[] = [];
    for (const part of parts) {
      if ("bytes" in part) out.push(...part.bytes);
      else if ("back" in part) for (let i = 0; i < part.length; i++) out.push(out[out.length - part.back] ?? 0);
      else out.push(...noise(part.seed, part.length));
    }
    return Uint8Array.from(out);
  });

it("WebAssembly is what a thread gets", async () => {
  expect((await loadKernel()).kind).toBe("wasm");
  expect(await loadKernel()).toBe(await loadKernel());
});

it("what is too large for WebAssembly's memory runs in memory that is dropped", () => {
  const before = wasmKernel.reserve(0).memory.length;
  const room = wasmKernel.reserve((256 << 20) + 1);
  expect(room.memory.length).toBeGreaterThan(256 << 20);
  expect(wasmKernel.reserve(0).memory.length).toBe(before);
  expect(plainKernel.reserve(0).memory).not.toBe(room.memory);
});

describe.each(kernels)("$kind", (kernel) => {
  it("moves bytes and bits to where they belong", () => {
    for (const typesize of [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 255]) {
      for (const count of [0, 1, 8, 15, 16, 17, 32, 40, 136, 264]) {
        const bytes = ramp(typesize * count);
        const planes = new Uint8Array(bytes.length);
        for (let i = 0; i < count; i++)
          for (let j = 0; j < typesize; j++) planes[j * count + i] = bytes[i * typesize + j]!;
        expect(same(filter(kernel, "shuffle", bytes, typesize), planes)).toBe(true);
        expect(same(filter(kernel, "unshuffle", planes, typesize), bytes)).toBe(true);
        if (count % 8 !== 0) continue;
        const bits = new Uint8Array(bytes.length);
        for (let i = 0; i < count; i++)
          for (let j = 0; j < typesize; j++)
            for (let k = 0; k < 8; k++)
              bits[((8 * j + k) * count) / 8 + (i >> 3)]! |= ((bytes[i * typesize + j]! >> k) & 1) << (i & 7);
        expect(same(filter(kernel, "bitshuffle", bytes, typesize), bits)).toBe(true);
        expect(same(filter(kernel, "bitunshuffle", bits, typesize), bytes)).toBe(true);
      }
    }
  });

  it("adds bytes to three places further on, one after the other", () => {
    for (const [size, near, middle, far] of [
      [16, 16, 17, 18],
      [320, 16, 33, 100],
      [992, 767, 2524, 5275],
    ] as const) {
      const bytes = noise(size, size + far + 9);
      const expected = bytes.slice();
      for (let i = 0; i < size; i++) for (const place of [near, middle, far]) expected[i + place]! ^= expected[i]!;
      const { memory, start, fold } = kernel.reserve(bytes.length);
      memory.set(bytes, start);
      fold(start, size, near, middle, far);
      expect(same(memory.slice(start, start + bytes.length), expected)).toBe(true);
    }
  });

  it("sums what is folded as what is not, in one piece or several", () => {
    for (const [crc, places] of [
      [crc32c, [767, 2524, 5275]],
      [crc32, [140, 791, 3006]],
    ] as const) {
      const sum = foldedSum(kernel, crc, places);
      const bytes = noise(5, 600_003);
      for (const size of [0, 1, 6012, 6013, 10_550, 10_551, 10_552, 10_567, 12_000, 262_144, 262_145, 280_000, 600_000])
        for (const [start, before] of [
          [0, 0],
          [3, 0x12345678],
        ] as const) {
          const part = bytes.subarray(start, start + size);
          expect(sum(part, before)).toBe(crc(part, before));
        }
    }
  });

  const text = (result: Uint8Array | number): string | number =>
    typeof result === "number" ? result : new TextDecoder("latin1").decode(result);
  const pack = (...parts: (string | number)[]): Uint8Array =>
    Uint8Array.from(
      parts.flatMap((part) => (typeof part === "number" ? [part] : [...part].map((c) => c.charCodeAt(0)))),
    );
  const abc = "abcdefghijklmno"; // 15 literals need one more length byte

  it.each([
    ["literals", pack(0x30, "abc"), 3, "abc"],
    ["nothing", pack(0x00), 0, ""],
    ["a match and its overlap", pack(0x32, "abc", 3, 0, 0x10, "z"), 10, "abcabcabcz"],
    ["a run", pack(0x1f, "a", 1, 0, 3, 0x10, "z"), 24, `${"a".repeat(23)}z`],
    ["long literals", pack(0xf0, 0, abc), 15, abc],
    ["no input", pack(), 0, -1],
    ["input that ends in the literals", pack(0x40, "abc"), 4, -1],
    ["input that ends in a length", pack(0xf0, 255), 2000, -1],
    ["input that ends in a distance", pack(0x10, "a", 1), 9, -1],
    ["input that ends after a match", pack(0x10, "a", 1, 0), 5, -1],
    ["distance 0", pack(0x10, "a", 0, 0, 0x10, "z"), 6, -2],
    ["a distance before the start", pack(0x10, "a", 2, 0, 0x10, "z"), 6, -2],
    ["too many literals", pack(0x30, "abc"), 2, -3],
    ["too long a match", pack(0x10, "a", 1, 0, 0x10, "z"), 4, -3],
    ["too little", pack(0x30, "abc"), 4, -4],
  ])("lz4: %s", (_, bytes, size, expected) => {
    expect(text(decode(kernel, "lz4Decode", bytes, size))).toBe(expected);
  });

  it.each([
    ["literals", pack(0x22, "abc"), 3, "abc"],
    ["a near match", pack(0x22, "abc", 0x20, 2, 0, "z"), 7, "abcabcz"],
    ["a long run", pack(0x20, "a", 0xe0, 255, 1, 0, 0, "z"), 267, `${"a".repeat(266)}z`],
    ["no input", pack(), 1, -4],
    ["input that ends in the literals", pack(0x22, "ab"), 3, -1],
    ["input that ends in a length", pack(0x20, "a", 0xe0, 255), 2000, -1],
    ["input that ends in a distance", pack(0x20, "a", 0x20), 4, -1],
    ["input that ends in a far distance", pack(0x20, "a", 0x3f, 255, 0), 4, -1],
    ["a distance before the start", pack(0x20, "a", 0x20, 1, 0, "z"), 5, -2],
    ["a far distance before the start", pack(0x20, "a", 0x3f, 255, 0, 0), 4, -2],
    ["too many literals", pack(0x22, "abc"), 2, -3],
    ["too long a match", pack(0x20, "a", 0x20, 0), 3, -3],
    ["too little", pack(0x22, "abc"), 4, -4],
  ])("blosclz: %s", (_, bytes, size, expected) => {
    expect(text(decode(kernel, "blosclzDecode", bytes, size))).toBe(expected);
  });

  it("blosclz: near matches reach 8191 bytes back, far ones 73727", () => {
    for (const distance of [8191, 8192, 8193, 70_000, 73_727]) {
      const literals = ramp(distance);
      const bytes: number[] = [];
      for (let i = 0; i < distance; i += 32) bytes.push(Math.min(32, distance - i) - 1, ...literals.slice(i, i + 32));
      if (distance < 8192) bytes.push(0x20 | ((distance - 1) >> 8), (distance - 1) & 255);
      else bytes.push(0x3f, 255, (distance - 8192) >> 8, (distance - 8192) & 255);
      const out = decode(kernel, "blosclzDecode", Uint8Array.from(bytes), distance + 3) as Uint8Array;
      expect(same(out.slice(0, distance), literals)).toBe(true);
      expect(same(out.slice(distance), literals.slice(0, 3))).toBe(true);
    }
  });

  it.each([
    ["literals", pack(3, 2 << 2, "abc"), 3, "abc"],
    ["nothing", pack(0), 0, ""],
    ["long literals", pack(61, 60 << 2, 60, "x".repeat(61)), 61, "x".repeat(61)],
    ["a match of each width", pack(16, 0, "a", 1, 1, 2 | (4 << 2), 1, 0, 3 | (5 << 2), 1, 0, 0, 0), 16, "a".repeat(16)],
    ["an 11-bit distance", pack(132, 2, 60 << 2, 255, "x".repeat(256), 1 | (1 << 5), 0), 260, "x".repeat(260)],
    ["no input", pack(), 0, -1],
    ["a length without end", pack(255, 255, 255, 255, 255, 1), 5, -1],
    ["input that ends in the literals", pack(3, 2 << 2, "ab"), 3, -1],
    ["input that ends in a length", pack(3, 63 << 2, 1, 1), 3, -1],
    ["input that ends in a distance", pack(9, 0, "a", 2, 1), 9, -1],
    ["distance 0", pack(5, 0, "a", 1, 0), 5, -2],
    ["a distance before the start", pack(5, 0, "a", 1, 2), 5, -2],
    ["a huge distance", pack(5, 0, "a", 3, 1, 0, 0, 0x80), 5, -2],
    ["a huge literal", pack(5, 63 << 2, 255, 255, 255, 255, "a"), 5, -3],
    ["too long a match", pack(4, 0, "a", 1, 1), 4, -3],
    ["another size, larger", pack(4, 3 << 2, "abcd"), 3, -3],
    ["another size, smaller", pack(3, 2 << 2, "abc"), 4, -4],
    ["less than it says", pack(4, 2 << 2, "abc"), 4, -4],
  ])("snappy: %s", (_, bytes, size, expected) => {
    expect(text(decode(kernel, "snappyDecode", bytes, size))).toBe(expected);
  });

  it.each(encoders)("%s: what it writes, both kernels read", (name) => {
    fc.assert(
      fc.property(sequences, fc.integer({ min: 1, max: 9 }), (bytes, effort) => {
        const encoded = encode(kernel, name, bytes, enough(bytes.length), effort);
        if (bytes.length > 0) expect(encoded.length).toBeGreaterThan(0);
        for (const reader of kernels)
          expect(same(decode(reader, decoderOf(name), encoded, bytes.length), bytes)).toBe(true);
      }),
      {
        numRuns: 40,
        examples: [
          [new Uint8Array(0), 1],
          [new Uint8Array(200_000), 1],
          [ramp(13), 1],
        ],
      },
    );
  });

  it.each(encoders)("%s: stays inside its room or answers 0", (name) => {
    fc.assert(
      fc.property(sequences, fc.double({ min: 0, max: 1.2, noNaN: true }), (bytes, share) => {
        const room = Math.trunc(bytes.length * share);
        const space = kernel.reserve(bytes.length + room + 64);
        const dst = space.start + bytes.length;
        space.memory.set(bytes, space.start);
        space.memory.fill(0xa5, dst, dst + room + 64);
        const size = space[name](space.start, bytes.length, dst, room, 1);
        expect(size).toBeLessThanOrEqual(room);
        expect([...space.memory.slice(dst + room + 32, dst + room + 64)]).toEqual(Array(32).fill(0xa5));
      }),
      { numRuns: 40 },
    );
  });

  it.each(encoders)("%s: makes repeats small", (name) => {
    const bytes = new Uint8Array(100_000);
    expect(encode(kernel, name, bytes, bytes.length).length).toBeLessThan(bytes.length / 20);
    const words = Uint8Array.from({ length: 100_000 }, (_, i) => (i % 100) * 3);
    expect(encode(kernel, name, words, words.length).length).toBeLessThan(words.length / 15);
  });
});

it.each(codecs)("%s: both kernels answer the same to any bytes, damaged or made up", (codec) => {
  const name = `${codec}Decode` as const;
  const damaged = fc
    .tuple(sequences, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat(3))
    .map(([bytes, flips, cut]) => {
      const encoded = encode(plainKernel, `${codec}Encode`, bytes, enough(bytes.length));
      for (const [at, value] of flips) encoded[at % encoded.length] = value;
      return { encoded: encoded.slice(0, encoded.length - (cut % encoded.length)), size: bytes.length };
    });
  const made = fc.record({ encoded: fc.uint8Array({ maxLength: 60 }), size: fc.nat(300) });
  const reasons = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(damaged, made), ({ encoded, size }) => {
      const [one, other] = kernels.map((kernel) => decode(kernel, name, encoded, size));
      expect(same(one, other)).toBe(true);
      if (typeof one === "number") reasons.add(decodeFault(one));
    }),
    { numRuns: 300 },
  );
  expect(reasons.size).toBeGreaterThan(2);
});
