import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DataType } from "../bytes/dtype.js";
import { adler32 } from "../bytes/hash/adler32.js";
import { crc32, crc32c } from "../bytes/hash/crc.js";
import { Corrupt, InvalidInput, LimitExceeded, Unsupported } from "../errors.js";
import { defaultLimits as limits } from "../limits.js";
import { CodecChain } from "./chain.js";
import type { BytesCodec, ChunkCodec, ChunkData, ChunkSpec, CodecEntry, CodecSpec } from "./index.js";
import { codecRegistry } from "./registry.js";

const int = (size: 1 | 2 | 4 | 8): DataType => ({ kind: "int", size, endian: "little" });
const bytes = (endian?: string): CodecSpec => ({
  name: "bytes",
  configuration: endian === undefined ? {} : { endian },
});
const spec = (shape: number[], dtype: DataType): ChunkSpec => ({
  shape,
  dtype,
  fill: "size" in dtype ? new Uint8Array(dtype.size) : "",
});
const load = async (codecs: CodecSpec[], chunk: ChunkSpec): Promise<ChunkCodec> =>
  (await CodecChain.load(codecs)).bind(chunk);
const of = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("a chain", () => {
  test("has one codec that gives bytes, and the others on their sides of it", async () => {
    const crc: CodecSpec = { name: "crc32c", configuration: {} };
    const transpose: CodecSpec = { name: "transpose", configuration: { order: [0] } };
    await expect(CodecChain.load([crc])).rejects.toThrow("found 0 in [crc32c]");
    await expect(CodecChain.load([bytes(), bytes()])).rejects.toThrow("found 2 in [bytes, bytes]");
    await expect(CodecChain.load([crc, bytes()])).rejects.toThrow("array to array, array to bytes, bytes to bytes");
    await expect(CodecChain.load([bytes(), transpose])).rejects.toThrow(InvalidInput);
    await expect(CodecChain.load([])).rejects.toThrow(InvalidInput);
  });

  test("knows sizes as far as they do not depend on values, and tells each decoder", async () => {
    const told: (number | undefined)[] = [];
    const spy: CodecEntry = {
      name: "spy",
      load: async (): Promise<BytesCodec> => ({
        kind: "bytes-bytes",
        decode: (data, expected) => {
          told.push(expected);
          return data;
        },
        encode: (data) => data,
      }),
    };
    const name = (text: string): CodecSpec => ({ name: text, configuration: {} });
    const chain = await CodecChain.load([bytes(), name("spy"), name("crc32c"), name("spy")], codecRegistry([spy]));
    const codec = chain.bind(spec([3], int(1)));
    expect(codec.encodedSize).toBeUndefined();
    expect(codec.decode(codec.encode(of(1, 2, 3)), limits)).toEqual(of(1, 2, 3));
    expect(told).toEqual([undefined, 3]);
    const known = (await CodecChain.load([bytes(), name("crc32c"), name("crc32")])).bind(spec([3], int(1)));
    expect(known.encodedSize).toBe(11);
    expect(() => known.decode(new Uint8Array(10), limits)).toThrow("should have 11 bytes, found 10");
  });

  test("refuses a chunk beyond the limit before decoding it", async () => {
    const codec = await load([bytes("little")], spec([2 ** 20, 2 ** 20], int(4)));
    expect(() => codec.decode(of(0), limits)).toThrow(LimitExceeded);
    // More values than an engine keeps in one array, in a shard that says that it has none of them.
    const inner = {
      chunk_shape: [2 ** 26],
      codecs: ["vlen-utf8"],
      index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    };
    const texts = await load([{ name: "sharding_indexed", configuration: inner }], spec([2 ** 26], { kind: "string" }));
    expect(() => texts.decode(new Uint8Array(16).fill(255), limits)).toThrow(LimitExceeded);
  });

  test("checks what codecs that are not its own give", async () => {
    const short: CodecEntry = {
      name: "short",
      load: async () => ({
        kind: "array-array",
        encodedSpec: (own) => own,
        decode: () => of(1),
        encode: (data) => data,
      }),
    };
    const codec = (await CodecChain.load([{ name: "short", configuration: {} }, bytes()], codecRegistry([short]))).bind(
      spec([3], int(1)),
    );
    expect(() => codec.decode(of(1, 2, 3), limits)).toThrow("should decode to 3 bytes, found 1");
  });

  test("names codecs that there are not", async () => {
    await expect(CodecChain.load([{ name: "nope", configuration: {} }])).rejects.toThrow(
      /"nope" is not known; there are .*zstd/,
    );
    await expect(CodecChain.load([{ name: "__proto__", configuration: {} }])).rejects.toThrow(Unsupported);
    await expect(CodecChain.load([{ name: "pickle", configuration: {} }])).rejects.toThrow("a pickle is a program");
    await expect(CodecChain.load([{ name: "numcodecs.astype", configuration: {} }])).rejects.toThrow(Unsupported);
  });

  test("every codec of the registry loads, also by its name in numcodecs", async () => {
    const needs: { [name: string]: CodecSpec["configuration"] } = {
      delta: { dtype: "<i4" },
      "precomputed.compressed_segmentation": { block_size: [8, 8, 8] },
      fixedscaleoffset: { dtype: "<f8", scale: 1, offset: 0 },
      transpose: { order: [] },
      "vlen-array": { dtype: "<i4" },
      sharding_indexed: { chunk_shape: [1], codecs: ["bytes"], index_codecs: [{ name: "bytes" }] },
    };
    const registry = codecRegistry();
    const context = { chain: async (specs: readonly CodecSpec[]) => (await CodecChain.load(specs)).codecs };
    for (const name of registry.names) {
      const codec = await (await registry.find(`numcodecs.${name}`)).load(needs[name] ?? {}, context);
      expect(codec.kind).toMatch(/^(array|bytes)-(array|bytes)$/);
    }
    expect((await registry.find("endian")).name).toBe("bytes");
  });
});

describe("bytes", () => {
  test("swaps by the unit of the type", async () => {
    const big = await load([bytes("big")], spec([2], int(2)));
    expect(big.encode(of(1, 2, 3, 4))).toEqual(of(2, 1, 4, 3));
    expect(big.decode(of(2, 1, 4, 3), limits)).toEqual(of(1, 2, 3, 4));
    const complex = await load([bytes("big")], spec([1], { kind: "complex", size: 8, endian: "big" }));
    expect(complex.decode(of(1, 2, 3, 4, 5, 6, 7, 8), limits)).toEqual(of(4, 3, 2, 1, 8, 7, 6, 5));
  });

  test("has no padding and no rest", async () => {
    const codec = await load([bytes("little")], spec([2], int(2)));
    for (const size of [0, 2, 3, 5]) {
      expect(() => codec.decode(new Uint8Array(size), limits)).toThrow(`should have 4 bytes, found ${size}`);
      expect(() => codec.encode(new Uint8Array(size))).toThrow(InvalidInput);
    }
  });

  test("needs an endian for more than one byte, and elements of fixed size", async () => {
    const codec = await load([bytes()], spec([1], int(2)));
    expect(() => codec.decode(of(1, 2), limits)).toThrow("should name the endian");
    expect((await load([bytes()], spec([1], { kind: "bool", size: 1 }))).decode(of(1), limits)).toEqual(of(1));
    await expect(CodecChain.load([bytes("middle")])).rejects.toThrow('"little" or "big", found "middle"');
    await expect(load([bytes()], spec([1], { kind: "string" }))).rejects.toThrow("found string");
  });
});

describe("transpose", () => {
  const order = (value: CodecSpec["configuration"][string]): CodecSpec => ({
    name: "transpose",
    configuration: { order: value },
  });

  test("axis i of what is stored is axis order[i]", async () => {
    const codec = await load([order([1, 0]), bytes()], spec([2, 3], int(1)));
    expect(codec.encode(of(1, 2, 3, 4, 5, 6))).toEqual(of(1, 4, 2, 5, 3, 6));
    expect(codec.decode(of(1, 4, 2, 5, 3, 6), limits)).toEqual(of(1, 2, 3, 4, 5, 6));
    expect((await load([order("F"), bytes()], spec([2, 3], int(1)))).decode(of(1, 4, 2, 5, 3, 6), limits)).toEqual(
      of(1, 2, 3, 4, 5, 6),
    );
    expect((await load([order("C"), bytes()], spec([2, 3], int(1)))).encode(of(1, 2, 3, 4, 5, 6))).toEqual(
      of(1, 2, 3, 4, 5, 6),
    );
  });

  test("of no axes and of one changes nothing", async () => {
    const none = await load([order([]), bytes("big")], spec([], int(4)));
    expect(none.encode(of(1, 2, 3, 4))).toEqual(of(4, 3, 2, 1));
    expect(none.decode(of(4, 3, 2, 1), limits)).toEqual(of(1, 2, 3, 4));
    const one = await load([order([0]), bytes()], spec([3], int(1)));
    expect(one.decode(of(1, 2, 3), limits)).toEqual(of(1, 2, 3));
  });

  test("any order comes back, also of texts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), fc.boolean(), async (axes, texts) => {
        const shape = [2, 3, 1, 4];
        const chunk = spec(shape, texts ? { kind: "string" } : int(4));
        const data: ChunkData = texts
          ? Array.from({ length: 24 }, (_, i) => `t${i}`)
          : new Uint8Array(Int32Array.from({ length: 24 }, (_, i) => i).buffer);
        const codec = await load([order(axes), texts ? { name: "vlen-utf8", configuration: {} } : bytes("big")], chunk);
        expect(codec.decode(codec.encode(data), limits)).toEqual(data);
      }),
      { numRuns: 30 },
    );
  });

  test("anything but a permutation of the array's axes is refused", async () => {
    for (const wrong of [[0, 0], [1, 2], [0.5, 1], ["0", 1], "A", null])
      await expect(CodecChain.load([order(wrong as number[]), bytes()])).rejects.toThrow("permutation");
    await expect(load([order([1, 0]), bytes()], spec([2], int(1)))).rejects.toThrow("should name 1 axes");
  });
});

describe("checksums", () => {
  test.each(["crc32c", "crc32", "adler32"])("%s notices every flipped bit", async (name) => {
    for (const location of ["start", "end"]) {
      const codec = await load([bytes(), { name, configuration: { location } }], spec([5], int(1)));
      const encoded = codec.encode(of(1, 2, 3, 4, 5));
      expect(encoded.subarray(location === "start" ? 4 : 0).subarray(0, 5)).toEqual(of(1, 2, 3, 4, 5));
      for (let bit = 0; bit < 72; bit++) {
        const bad = encoded.slice();
        bad[bit >> 3]! ^= 1 << (bit & 7);
        expect(() => codec.decode(bad, limits)).toThrow(Corrupt);
      }
      expect(() => codec.decode(of(1, 2, 3), limits)).toThrow(Corrupt);
    }
  });
});

test.each([
  ["crc32c", crc32c],
  ["crc32", crc32],
  ["adler32", adler32],
])("%s of long data is the same as by its tables", async (name, sum) => {
  const data = Uint8Array.from({ length: 300_001 }, (_, i) => (i * i) >> 7);
  const codec = await load([bytes(), { name, configuration: { location: "end" } }], spec([data.length], int(1)));
  expect(new DataView(codec.encode(data).buffer).getUint32(data.length, true)).toBe(sum(data));
});

describe("vlen", () => {
  const vlen = (name: string, configuration = {}): Promise<ChunkCodec> =>
    load([{ name, configuration }], spec([2], { kind: "string" }));

  test("packed by hand", async () => {
    const packed = of(2, 0, 0, 0, 1, 0, 0, 0, 97, 2, 0, 0, 0, 0xc3, 0xa4);
    expect((await vlen("vlen-utf8")).decode(packed, limits)).toEqual(["a", "ä"]);
    expect((await vlen("vlen-bytes")).decode(packed, limits)).toEqual([of(97), of(0xc3, 0xa4)]);
    expect((await vlen("vlen-utf8")).encode(["a", "ä"])).toEqual(packed);
    const arrays = await vlen("vlen-array", { dtype: ">i2" });
    const two = of(2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xfe);
    expect(arrays.decode(two, limits)).toEqual([new Int16Array(0), Int16Array.of(-2)]);
    expect(arrays.encode([new Int16Array(0), Int16Array.of(-2)])).toEqual(two);
  });

  test.each([
    ["nothing", []],
    ["another number of elements", [1, 0, 0, 0, 0, 0, 0, 0]],
    ["four billion elements", [255, 255, 255, 255, 0, 0, 0, 0]],
    ["an element past the end", [2, 0, 0, 0, 9, 0, 0, 0, 97, 0, 0, 0, 0]],
    ["a cut length", [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["bytes that follow", [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ["what is no UTF-8", [2, 0, 0, 0, 1, 0, 0, 0, 0xff, 0, 0, 0, 0]],
  ])("%s is Corrupt", async (_what, packed) => {
    const codec = await vlen("vlen-utf8");
    expect(() => codec.decode(Uint8Array.from(packed), limits)).toThrow(Corrupt);
  });

  test("only what it is made for is written", async () => {
    await expect(async () => (await vlen("vlen-utf8")).encode(["a"])).rejects.toThrow(InvalidInput);
    await expect(async () => (await vlen("vlen-utf8")).encode(["a", of(1)])).rejects.toThrow("takes texts");
    await expect(async () => (await vlen("vlen-utf8")).encode(["a", "\ud800"])).rejects.toThrow("surrogate");
    await expect(async () => (await vlen("vlen-bytes")).encode(["a", "b"])).rejects.toThrow("takes bytes");
    await expect(vlen("vlen-array", { dtype: "|S5" })).rejects.toThrow(Unsupported);
    await expect(vlen("vlen-array", {})).rejects.toThrow("found nothing");
  });

  test("any texts come back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" }), { minLength: 2, maxLength: 2 }), async (texts) => {
        const codec = await vlen("vlen-utf8");
        expect(codec.decode(codec.encode(texts), limits)).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });
});

describe("filters", () => {
  test("delta wraps around as its type does", async () => {
    const delta = (dtype: string): CodecSpec => ({ name: "delta", configuration: { dtype } });
    const codec = await load([delta("|i1"), bytes()], spec([3], int(1)));
    expect(codec.encode(of(127, 128, 5))).toEqual(of(127, 1, 133));
    expect(codec.decode(of(127, 1, 133), limits)).toEqual(of(127, 128, 5));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("<i4", "<u8", "<i2"),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        async (type, data) => {
          const size = Number(type[2]) as 2 | 4 | 8;
          const any = await load([delta(type), bytes("big")], spec([32 / size], int(size)));
          expect(any.decode(any.encode(data), limits)).toEqual(data);
        },
      ),
      { numRuns: 40 },
    );
    await expect(CodecChain.load([delta("<f2"), bytes()])).rejects.toThrow(Unsupported);
    await expect(load([delta("<i4"), bytes("little")], spec([3], int(2)))).rejects.toThrow("for elements of 4 bytes");
    expect(() => codec.decode(of(1), limits)).toThrow(Corrupt);
  });

  test("delta between kinds of numbers, as numpy casts and sums", async () => {
    const float = (size: 4 | 8): DataType => ({ kind: "float", size, endian: "little" });
    const delta = async (dtype: string, astype: string, n: number, type: DataType): Promise<ChunkCodec> =>
      load([{ name: "delta", configuration: { dtype, astype } }, bytes("little")], spec([n], type));
    const raw = (array: ArrayBufferView): Uint8Array => new Uint8Array(array.buffer as ArrayBuffer);
    // Summed in float64, then rounded: in float32 the third would be 2^24.
    const wide = await delta("<f4", "<f8", 3, float(4));
    expect(wide.decode(raw(Float64Array.of(2 ** 24, 1, 1)), limits)).toEqual(
      raw(Float32Array.of(2 ** 24, 2 ** 24, 2 ** 24 + 2)),
    );
    const cut = await delta("<i8", "<f8", 3, int(8));
    expect(cut.decode(raw(Float64Array.of(0.75, 0.75, -3)), limits)).toEqual(raw(BigInt64Array.of(0n, 1n, -1n)));
    expect(cut.decode(raw(Float64Array.of(Number.NaN, 1, 1)), limits)).toHaveLength(24);
    const whole = await delta("<f8", "<i8", 2, float(8));
    expect(whole.encode(raw(Float64Array.of(1.5, 4.25)))).toEqual(raw(BigInt64Array.of(1n, 2n)));
  });

  test("a Node Buffer at an odd address is as good as any bytes", async () => {
    const odd = (...values: number[]): Uint8Array => {
      const buffer = Buffer.alloc(values.length + 1);
      buffer.set(values, 1);
      return buffer.subarray(1);
    };
    const codec = await load([{ name: "delta", configuration: { dtype: "<i2" } }, bytes("little")], spec([2], int(2)));
    expect(codec.decode(odd(1, 0, 2, 0), limits)).toEqual(of(1, 0, 3, 0));
    const texts = await load([{ name: "vlen-bytes", configuration: {} }], spec([1], { kind: "vlen-bytes" }));
    const packed = odd(1, 0, 0, 0, 1, 0, 0, 0, 97);
    const [value] = texts.decode(packed, limits) as Uint8Array[];
    packed.fill(0);
    expect(value).toEqual(of(97));
    const arrays = await load([{ name: "vlen-array", configuration: { dtype: "<i4" } }], spec([1], { kind: "string" }));
    expect(arrays.decode(odd(1, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0), limits)).toEqual([Int32Array.of(7)]);
  });

  test("packbits starts with its padding", async () => {
    const codec = await load([{ name: "packbits", configuration: {} }, bytes()], spec([3], { kind: "bool", size: 1 }));
    expect(codec.decode(of(5, 0b10100000), limits)).toEqual(of(1, 0, 1));
    expect(() => codec.decode(of(4, 0b10100000), limits)).toThrow("should have 5 bits of padding, found 4");
    expect(() => codec.decode(of(5), limits)).toThrow(Corrupt);
    expect(() => codec.encode(of(1, 0, 1))).toThrow(Unsupported);
  });
});
