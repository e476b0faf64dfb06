import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DataType } from "../../bytes/dtype.js";
import { InvalidInput, Unsupported } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { bloscSpec, bytesSpec } from "./chain.js";
import { parseNumpyDtype } from "./dtype-numpy.js";
import { zeroElement } from "./element.js";
import { encodeAttributes, encodeNode, encodeV0, encodeV2, encodeV3 } from "./encode.js";
import { parseV2Array, parseV2Group, parseV3 } from "./parse.js";
import { parseV0 } from "./parse-v0.js";
import type { ArrayMeta, GroupMeta } from "./types.js";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const json = (bytes: Uint8Array | undefined) => JSON.parse(text(bytes));
const keys = { 0: { kind: "v0" }, 2: { kind: "v2", separator: "." }, 3: { kind: "default", separator: "/" } } as const;

function array(version: 0 | 2 | 3, type: string | DataType = "<i4", change: Partial<ArrayMeta> = {}): ArrayMeta {
  const dtype = typeof type === "string" ? parseNumpyDtype(type, "x") : type;
  const size = "size" in dtype ? dtype.size : 1;
  return {
    node: "array",
    version,
    shape: [1000000, 1000],
    chunkShape: [10000, 100],
    dtype,
    fill: zeroElement(dtype),
    fillIsNull: false,
    codecs: [bytesSpec(dtype), bloscSpec("lz4", 3, 1, 0, size, "x")],
    keys: keys[version],
    dimensionNames: undefined,
    attributes: {},
    storageTransformers: [],
    notes: [],
    ...change,
  };
}

describe("v0", () => {
  it("is the seed's example, byte for byte", () => {
    const meta = array(0, "<i4", {
      fill: new Uint8Array([42, 0, 0, 0]),
      attributes: { foo: 42, bar: 4.2, baz: "quux" },
    });
    const documents = encodeV0(meta);
    expect(text(documents.__zmeta__)).toBe(`{
    "chunks": [
        10000,
        100
    ],
    "clevel": 3,
    "cname": "lz4",
    "dtype": "<i4",
    "fill_value": 42,
    "shape": [
        1000000,
        1000
    ],
    "shuffle": 1
}`);
    expect(text(documents.__zattr__)).toBe(`{
    "bar": 4.2,
    "baz": "quux",
    "foo": 42
}`);
  });
  it("has no __zattr__ before there is an attribute, and {} once the last is gone", () => {
    expect([...encodeNode(array(0)).keys()]).toEqual(["__zmeta__"]);
    expect(text(encodeAttributes({}, 0))).toBe("{}");
  });
  it("writes attributes as Python does: ASCII, bare NaN, exact integers", () => {
    expect(text(encodeAttributes({ é: Number.NaN, "\u{1f600}": 2n ** 64n, a: 1e-5 }, 0))).toBe(
      '{\n    "a": 1e-05,\n    "\\u00e9": NaN,\n    "\\ud83d\\ude00": 18446744073709551616\n}',
    );
  });
  it.each([
    ["chunk keys", { keys: keys[2] }],
    ["codecs", { codecs: [{ name: "bytes", configuration: {} }] }],
    ["zstd", { codecs: [{ name: "bytes", configuration: {} }, bloscSpec("zstd", 1, 1, 0, 4, "x")] }],
    ["crc32c", { codecs: [...array(0).codecs, { name: "crc32c", configuration: {} }] }],
    ["without dimensions", { shape: [], chunkShape: [] }],
    ["dimension names", { dimensionNames: ["x", null] }],
  ] as [string, Partial<ArrayMeta>][])("cannot express %s", (what, change) => {
    expect(() => encodeNode(array(0, "<i4", change))).toThrow(Unsupported);
    expect(() => encodeNode(array(0, "<i4", change))).toThrow(what);
  });
  it("cannot express elements of variable size, and some fill values", () => {
    expect(() => encodeV0(array(0, { kind: "string" }))).toThrow(Unsupported);
    expect(() => encodeV0(array(0, "<c8", { fill: new Uint8Array(8).fill(1) }))).toThrow(/no way to write it/);
    expect(() => encodeV0(array(0, "|V2", { fill: new Uint8Array([1, 0]) }))).toThrow(Unsupported);
    expect(() => encodeV0(array(0, "|S2", { fill: new Uint8Array([0xe9, 0]) }))).toThrow(Unsupported);
  });
});

describe("v2", () => {
  it("is what zarr-python 2 writes", () => {
    expect(text(encodeV2(array(2, ">f4"))[".zarray"])).toBe(`{
    "chunks": [
        10000,
        100
    ],
    "compressor": {
        "blocksize": 0,
        "clevel": 3,
        "cname": "lz4",
        "id": "blosc",
        "shuffle": 1
    },
    "dimension_separator": ".",
    "dtype": ">f4",
    "fill_value": 0.0,
    "filters": null,
    "order": "C",
    "shape": [
        1000000,
        1000
    ],
    "zarr_format": 2
}`);
  });
  it("has .zattrs only where there are attributes", () => {
    expect([...encodeNode(array(2)).keys()]).toEqual([".zarray"]);
    expect([...encodeNode(array(2, "<i4", { attributes: { a: 1 } })).keys()]).toEqual([".zarray", ".zattrs"]);
    const group: GroupMeta = { node: "group", version: 2, attributes: { a: 1 }, consolidated: undefined, notes: [] };
    const documents = encodeNode(group);
    expect(parseV2Group(documents.get(".zgroup")!, documents.get(".zattrs"), defaultLimits, "x")).toEqual(group);
  });
  it("keeps null, and writes the type in the byte order of the codec", () => {
    expect(json(encodeV2(array(2, "<i4", { fillIsNull: true }))[".zarray"]).fill_value).toBeNull();
    const codecs = [{ name: "bytes", configuration: { endian: "big" } }];
    expect(json(encodeV2(array(2, "<i4", { codecs }))[".zarray"]).dtype).toBe(">i4");
  });
  it("cannot express shards, v3 keys, dimension names, NaN in attributes", () => {
    const codecs = [{ name: "sharding_indexed", configuration: { chunk_shape: [1, 1], codecs: [], index_codecs: [] } }];
    expect(() => encodeV2(array(2, "<i4", { codecs }))).toThrow(/Zarr v2 has no way to write it/);
    expect(() => encodeV2(array(2, "<i4", { keys: keys[3] }))).toThrow(Unsupported);
    expect(() => encodeV2(array(2, "<i4", { dimensionNames: ["x", "y"] }))).toThrow(Unsupported);
    expect(() => encodeV2(array(2, "<i4", { attributes: { a: Number.NaN } }))).toThrow(InvalidInput);
  });
});

describe("v3", () => {
  it("has what every document must have, and no null", () => {
    const document = json(
      encodeV3(
        array(3, "<f8", {
          fillIsNull: true,
          dimensionNames: ["x", null],
          extensions: { e: { must_understand: false } },
        }),
      ),
    );
    expect(document).toEqual({
      shape: [1000000, 1000],
      data_type: "float64",
      chunk_grid: { name: "regular", configuration: { chunk_shape: [10000, 100] } },
      chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
      fill_value: 0,
      codecs: [
        { name: "bytes", configuration: { endian: "little" } },
        { name: "blosc", configuration: { cname: "lz4", clevel: 3, shuffle: "shuffle", typesize: 8, blocksize: 0 } },
      ],
      attributes: {},
      dimension_names: ["x", null],
      zarr_format: 3,
      node_type: "array",
      storage_transformers: [],
      e: { must_understand: false },
    });
  });
  it("writes a float as a float, and a NaN with its bits", () => {
    expect(text(encodeV3(array(3, "<f4")))).toContain('"fill_value": 0.0,');
    expect(json(encodeV3(array(3, "<f4", { fill: new Uint8Array([1, 0, 0xc0, 0x7f]) }))).fill_value).toBe("0x7fc00001");
    expect(json(encodeV3(array(3, "<f4", { fill: new Uint8Array([0, 0, 0xc0, 0x7f]) }))).fill_value).toBe("NaN");
  });
  it("cannot express v0 keys and NaN in attributes", () => {
    expect(() => encodeV3(array(3, "<i4", { keys: keys[0] }))).toThrow(Unsupported);
    expect(() => encodeV3(array(3, "<i4", { attributes: { a: [Number.NaN] } }))).toThrow("attributes.a.0");
  });
  it("spells a fill value as before while it still says the same", () => {
    const meta = parseV3(encodeV3(array(3, "<f4")), defaultLimits, "x") as ArrayMeta;
    const spelled = {
      ...meta,
      fill: new Uint8Array([0, 0, 0xc0, 0x7f]),
      fillAs: { version: 3, value: "0x7fc00000" },
    } as const;
    expect(json(encodeV3(spelled)).fill_value).toBe("0x7fc00000");
    expect(json(encodeV3({ ...spelled, fill: new Uint8Array(4) })).fill_value).toBe(0);
    expect(json(encodeV2({ ...spelled, version: 2, keys: keys[2] })[".zarray"]).fill_value).toBe("NaN");
  });
});

describe("any array", () => {
  const types = ["|b1", "|i1", ">i2", "<u8", "<f2", "<f8", "<c16", "<M8[10ms]", "|S3", "<U2", ">U1", "|V5"];
  const dimensions = fc.array(fc.record({ length: fc.nat({ max: 1e6 }), chunk: fc.integer({ min: 1, max: 50 }) }), {
    minLength: 1,
    maxLength: 4,
  });
  const attributes = fc.dictionary(
    fc.string({ unit: "grapheme" }),
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
      fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }),
      fc.constant(null),
    ),
    { maxKeys: 3 },
  );
  const any = fc
    .record({ type: fc.constantFrom(...types), dimensions, attributes })
    .map(({ type, dimensions: axes, attributes: given }) => ({
      type,
      change: { shape: axes.map((axis) => axis.length), chunkShape: axes.map((axis) => axis.chunk), attributes: given },
    }));
  const plain = ({ fillAs: _, extensions: __, notes: ___, ...meta }: ArrayMeta) =>
    JSON.parse(JSON.stringify(meta, (_key, value) => (typeof value === "bigint" ? `${value}n` : value)));

  it("is the same after encoding and parsing, in v3, v2 and v0", () => {
    fc.assert(
      fc.property(any, ({ type, change }) => {
        const v3 = array(3, type, change);
        expect(plain(parseV3(encodeV3(v3), defaultLimits, "x") as ArrayMeta)).toEqual(plain(v3));
        const v2 = array(2, type, change);
        const two = encodeV2(v2);
        expect(plain(parseV2Array(two[".zarray"]!, two[".zattrs"], defaultLimits, "x"))).toEqual(plain(v2));
        const v0 = array(0, type, { ...change, fillIsNull: type === "|V5" });
        const zero = encodeV0(v0);
        expect(plain(parseV0(zero.__zmeta__!, zero.__zattr__, defaultLimits, "x"))).toEqual(plain(v0));
      }),
      { numRuns: 200 },
    );
  });
});
