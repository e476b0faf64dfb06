/** One test per rule of a document, on hand-made documents. */
import { describe, expect, it } from "vitest";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { parseV2Array, parseV2Consolidated, parseV2Group, parseV3 } from "./parse.js";
import { parseV0, parseV1 } from "./parse-v0.js";
import type { ArrayMeta, GroupMeta } from "./types.js";

/** Values that JSON.stringify cannot write go in as text: `raw("18446744073709551615")`. */
const raw = (text: string) => `\u0001${text}\u0001`;
const bytes = (document: unknown): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(document).replace(/"\\u0001(.*?)\\u0001"/g, "$1"));

const array = {
  zarr_format: 3,
  node_type: "array",
  shape: [10, 20],
  data_type: "int32",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [5, 10] } },
  chunk_key_encoding: { name: "default" },
  fill_value: 0,
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
};
const v3 = (change: object) => parseV3(bytes({ ...array, ...change }), defaultLimits, "zarr.json") as ArrayMeta;
const grid = (chunk_shape: unknown) => ({ chunk_grid: { name: "regular", configuration: { chunk_shape } } });
const group = (change: object) =>
  parseV3(bytes({ zarr_format: 3, node_type: "group", ...change }), defaultLimits, "zarr.json") as GroupMeta;

const zarray = {
  zarr_format: 2,
  shape: [10],
  chunks: [5],
  dtype: "<i4",
  fill_value: 0,
  order: "C",
  filters: null,
  compressor: null,
};
const v2 = (change: object) => parseV2Array(bytes({ ...zarray, ...change }), undefined, defaultLimits, ".zarray");
const zmeta = { shape: [10], chunks: [5], dtype: "<i4", fill_value: 0, cname: "lz4", clevel: 5, shuffle: 1 };
const v0 = (change: object) => parseV0(bytes({ ...zmeta, ...change }), undefined, defaultLimits, "__zmeta__");
const meta = {
  zarr_format: 1,
  shape: [10, 10],
  chunks: [5, 5],
  dtype: "<i4",
  fill_value: 0,
  order: "C",
  compression: "none",
  compression_opts: null,
};
const v1 = (change: object) => parseV1(bytes({ ...meta, ...change }), undefined, defaultLimits, "meta");

/** The four parsers of arrays, each taking a shape and a chunk shape. */
const shaped: [string, (shape: unknown, chunks: unknown, type?: string) => ArrayMeta][] = [
  ["v0", (shape, chunks, type = "<i4") => v0({ shape, chunks, dtype: type })],
  ["v1", (shape, chunks, type = "<i4") => v1({ shape, chunks, dtype: type })],
  ["v2", (shape, chunks, type = "<i4") => v2({ shape, chunks, dtype: type })],
  ["v3", (shape, chunks) => v3({ shape, ...grid(chunks) })],
];

describe.each(shaped)("shapes in %s", (_, parse) => {
  it("are read", () => {
    expect(parse([3, 0, 7], [2, 1, 7])).toMatchObject({ shape: [3, 0, 7], chunkShape: [2, 1, 7] });
    expect(parse([], [])).toMatchObject({ shape: [], chunkShape: [] });
  });
  it("beyond 2^53 − 1 are refused, never rounded", () => {
    expect(parse([raw("9007199254740991")], [5]).shape).toEqual([Number.MAX_SAFE_INTEGER]);
    for (const big of ["9007199254740992", "9007199254740993", "9223372036854775808", "18446744073709551615"]) {
      expect(() => parse([raw(big)], [5])).toThrow(LimitExceeded);
      expect(() => parse([raw(big)], [5])).toThrow(big);
      expect(() => parse([10], [raw(big)])).toThrow(LimitExceeded);
    }
    expect(() => parse([raw("1e16")], [5])).toThrow(Corrupt);
  });
  it("of chunks beyond the limit are refused before anything is allocated", () => {
    expect(() => parse([2 ** 40], [2 ** 40])).toThrow(/at most 2147483648 are allowed/);
    expect(() => parse([2 ** 40, 2 ** 40], [2 ** 40, 2 ** 40])).toThrow(LimitExceeded);
    expect(() => parse([1e10, 1e10, 1e10], [1e10, 1e10, raw("9007199254740991")])).toThrow(LimitExceeded);
    expect(parse([2 ** 40, 2 ** 40], [1, 2 ** 29]).shape).toEqual([2 ** 40, 2 ** 40]);
  });
  it("of more than 64 dimensions are refused", () => {
    const ones = (n: number) => Array.from({ length: n }, () => 1);
    expect(parse(ones(64), ones(64)).shape).toHaveLength(64);
    expect(() => parse(ones(65), ones(65))).toThrow(LimitExceeded);
  });
  it("of 0 in chunks mean 1 where the array is empty, and are Corrupt elsewhere", () => {
    expect(parse([0, 5], [0, 5]).chunkShape).toEqual([1, 5]);
    expect(() => parse([1, 5], [0, 5])).toThrow(Corrupt);
  });
  it.each([
    [[-1], [5]],
    [[10], [-5]],
    [[1.5], [5]],
    [["10"], [5]],
    [null, [5]],
    [[10], undefined],
    [10, [5]],
    [[10], [5, 5]],
    [[raw("-9223372036854775809")], [5]],
  ])("%j in %j is Corrupt", (shape, chunks) => {
    expect(() => parse(shape, chunks)).toThrow(Corrupt);
  });
});

describe("zarr.json of an array", () => {
  it("may leave out what has a default", () => {
    expect(v3({})).toMatchObject({
      version: 3,
      attributes: {},
      dimensionNames: undefined,
      keys: { kind: "default", separator: "/" },
      storageTransformers: [],
      notes: [],
    });
  });
  it.each(["shape", "data_type", "fill_value", "chunk_grid", "chunk_key_encoding", "codecs"])("must have %s", (key) => {
    expect(() => v3({ [key]: undefined })).toThrow(`zarr.json should have the key "${key}", found nothing`);
  });
  it("says what it is", () => {
    expect(() => v3({ zarr_format: 2 })).toThrow("zarr.json should have zarr_format 3, found 2");
    expect(() => v3({ node_type: "thing" })).toThrow(Corrupt);
    expect(() => v3({ node_type: undefined })).toThrow(Corrupt);
    expect(() => parseV3(bytes([]), defaultLimits, "zarr.json")).toThrow(
      "zarr.json should have a JSON object, found []",
    );
  });
  it("keeps keys that need not be understood and refuses the others by name", () => {
    const extra = { must_understand: false, x: 1 };
    expect(v3({ extra }).extensions).toEqual({ extra });
    for (const value of [{ must_understand: true }, {}, 7, null, false]) {
      expect(() => v3({ extra: value })).toThrow(Unsupported);
      expect(() => v3({ extra: value })).toThrow(/the key "extra"/);
    }
  });
  it("knows the two chunk key encodings, with their separators", () => {
    const keys = (chunk_key_encoding: unknown) => v3({ chunk_key_encoding }).keys;
    expect(keys("default")).toEqual({ kind: "default", separator: "/" });
    expect(keys({ name: "v2" })).toEqual({ kind: "v2", separator: "." });
    expect(keys({ name: "default", configuration: { separator: "." } })).toEqual({ kind: "default", separator: "." });
    expect(() => keys({ name: "fanout" })).toThrow(/"fanout"/);
    expect(() => keys({ name: "v2", configuration: { separator: "-" } })).toThrow(Corrupt);
  });
  it("knows regular grids only", () => {
    expect(() => v3({ chunk_grid: { name: "rectilinear", configuration: {} } })).toThrow(Unsupported);
    expect(() => v3({ chunk_grid: "regular" })).toThrow(Corrupt);
  });
  it("refuses storage transformers by name", () => {
    expect(() => v3({ storage_transformers: [{ name: "offset" }] })).toThrow(/the storage transformer "offset"/);
    expect(v3({ storage_transformers: [] }).storageTransformers).toEqual([]);
  });
  it("has a name or null per dimension", () => {
    expect(v3({ dimension_names: ["y", null] }).dimensionNames).toEqual(["y", null]);
    expect(v3({ dimension_names: null }).dimensionNames).toBeUndefined();
    expect(() => v3({ dimension_names: ["y"] })).toThrow(Corrupt);
    expect(() => v3({ dimension_names: ["y", 7] })).toThrow(Corrupt);
  });
  it("takes the byte order from the codec, also inside shards", () => {
    const codecs = [{ name: "bytes", configuration: { endian: "big" } }];
    const shards = [
      { name: "sharding_indexed", configuration: { chunk_shape: [5, 5], codecs, index_codecs: ["bytes"] } },
    ];
    expect(v3({ codecs }).dtype).toMatchObject({ endian: "big" });
    expect(v3({ codecs: shards }).dtype).toMatchObject({ endian: "big" });
    const bare = v3({ codecs: ["bytes"] });
    expect(bare).toMatchObject({ dtype: { endian: "little" }, codecs: array.codecs });
    expect(bare.notes).toEqual(["The bytes codec names no byte order; little-endian is assumed."]);
    expect(v3({ data_type: "uint8", codecs: ["bytes"] }).notes).toEqual([]);
  });
  it("limits what is decoded in one piece: the inner chunk, not the shard", () => {
    const shards = (chunk_shape: unknown) => ({
      shape: [2 ** 20, 2 ** 20],
      ...grid([2 ** 20, 2 ** 20]),
      codecs: [
        { name: "sharding_indexed", configuration: { chunk_shape, codecs: array.codecs, index_codecs: ["bytes"] } },
      ],
    });
    expect(v3(shards([2 ** 14, 2 ** 14])).chunkShape).toEqual([2 ** 20, 2 ** 20]);
    expect(() => v3(shards([2 ** 20, 2 ** 10]))).toThrow(LimitExceeded); // the chunk
    expect(() => v3(shards([2, 2]))).toThrow(LimitExceeded); // the index
    expect(() => v3(shards([3, 2 ** 14]))).toThrow(/which they do not fill/);
    expect(() => v3(shards([2 ** 14]))).toThrow(Corrupt);
    expect(() => v3(shards([0, 2 ** 14]))).toThrow(Corrupt);
  });
  it("reads null as zeros, with a note", () => {
    expect(v3({ fill_value: null })).toMatchObject({
      fill: new Uint8Array(4),
      fillIsNull: true,
      notes: [expect.stringContaining("null")],
    });
  });
  it("has attributes that are data, also when they are called __proto__ or are bare NaN", () => {
    const text = JSON.stringify(array).replace(
      /}$/,
      ',"attributes":{"__proto__":{"x":1},"nan":NaN,"big":9007199254740993}}',
    );
    const { attributes } = parseV3(new TextEncoder().encode(text), defaultLimits, "zarr.json");
    expect(Object.keys(attributes)).toEqual(["__proto__", "nan", "big"]);
    expect(attributes.big).toBe(9007199254740993n);
    expect(() => v3({ attributes: [] })).toThrow(Corrupt);
  });
  it("is not longer or deeper than the limits allow", () => {
    const small = { ...defaultLimits, metadataBytes: 100 };
    expect(() => parseV3(bytes(array), small, "zarr.json")).toThrow(LimitExceeded);
    const deep = `{"a":${"[".repeat(100)}${"]".repeat(100)}}`;
    expect(() => parseV3(new TextEncoder().encode(deep), defaultLimits, "zarr.json")).toThrow(LimitExceeded);
  });
});

describe("zarr.json of a group", () => {
  it("has attributes and nothing else of its own", () => {
    expect(group({ attributes: { a: 1 } })).toMatchObject({
      node: "group",
      version: 3,
      attributes: { a: 1 },
      consolidated: undefined,
    });
    expect(() => group({ shape: [1] })).toThrow(Unsupported);
  });
  it("holds nodes below it; a broken one hurts only itself", () => {
    const metadata = { a: array, b: { ...array, shape: [-1, 1] }, c: 7 };
    const { consolidated } = group({ consolidated_metadata: { kind: "inline", must_understand: false, metadata } });
    expect(consolidated!.get("a")!.meta()).toMatchObject({ shape: [10, 20] });
    expect(() => consolidated!.get("b")!.meta()).toThrow("b in zarr.json should have whole numbers in shape, found -1");
    expect(() => consolidated!.get("c")!.meta()).toThrow(Corrupt);
  });
  it("ignores consolidated metadata of other kinds, and says so", () => {
    expect(group({ consolidated_metadata: null })).toMatchObject({ consolidated: undefined, notes: [] });
    const other = { kind: "elsewhere", must_understand: false };
    expect(group({ consolidated_metadata: other })).toMatchObject({
      consolidated: undefined,
      notes: [expect.stringContaining("ignored")],
    });
  });
});

describe(".zarray", () => {
  it("has defaults for what early writers left out", () => {
    expect(v2({ order: undefined })).toMatchObject({
      version: 2,
      keys: { kind: "v2", separator: "." },
      fillIsNull: false,
    });
    expect(v2({ dimension_separator: "/" }).keys).toEqual({ kind: "v2", separator: "/" });
  });
  it("ignores keys that it does not know", () => {
    expect(v2({ typesize: 7, whatever: null }).shape).toEqual([10]);
  });
  it("refuses what is not of v2", () => {
    expect(() => v2({ zarr_format: 3 })).toThrow(Corrupt);
    expect(() => v2({ order: "A" })).toThrow(Corrupt);
    expect(() => v2({ dimension_separator: "-" })).toThrow(Corrupt);
    expect(() => parseV2Group(bytes({}), undefined, defaultLimits, ".zgroup")).toThrow(
      ".zgroup should have zarr_format 2, found nothing",
    );
    expect(() => parseV2Consolidated(bytes({ metadata: {} }), defaultLimits, ".zmetadata")).toThrow(Corrupt);
    expect(() =>
      parseV2Consolidated(bytes({ zarr_consolidated_format: 1, metadata: {} }), defaultLimits, ".zmetadata"),
    ).toThrow(".zgroup in .zmetadata");
  });
  it("names the attributes when they are broken", () => {
    expect(() => parseV2Array(bytes(zarray), bytes([]), defaultLimits, "a/.zarray")).toThrow(
      "the attributes beside a/.zarray",
    );
  });
  it("reads objects through vlen filters only", () => {
    const objects = (id: string) => v2({ dtype: "|O", filters: [{ id, dtype: "<i4" }] }).dtype;
    expect(objects("vlen-utf8")).toEqual({ kind: "string" });
    expect(objects("vlen-bytes")).toEqual({ kind: "vlen-bytes" });
    expect(objects("vlen-array")).toMatchObject({ kind: "vlen-array", item: { kind: "int", size: 4 } });
    for (const id of ["pickle", "json2", "msgpack2", "categorize"]) expect(() => objects(id)).toThrow(Unsupported);
    expect(() => v2({ dtype: "|O", filters: null })).toThrow(Unsupported);
  });
});

describe("meta of v1", () => {
  it("has five compressions, and F as a transpose", () => {
    const last = (compression: string, compression_opts: unknown) =>
      v1({ compression, compression_opts }).codecs.at(-1);
    expect(last("blosc", { cname: "lz4", clevel: 5, shuffle: 2 })).toMatchObject({
      name: "blosc",
      configuration: { shuffle: "bitshuffle", typesize: 4 },
    });
    expect(last("zlib", 3)).toEqual({ name: "zlib", configuration: { level: 3 } });
    expect(last("bz2", 1)).toEqual({ name: "bz2", configuration: { level: 1 } });
    expect(last("lzma", { format: 1, check: 0, preset: 1, filters: null })).toMatchObject({
      name: "lzma",
      configuration: { format: 1, preset: 1 },
    });
    expect(last("none", null)).toEqual({ name: "bytes", configuration: { endian: "little" } });
    expect(v1({ order: "F" }).codecs[0]).toEqual({ name: "transpose", configuration: { order: [1, 0] } });
    expect(v1({})).toMatchObject({ version: 1, keys: { kind: "v2", separator: "." } });
  });
  it("refuses what is not of v1", () => {
    expect(() => v1({ zarr_format: 2 })).toThrow(Corrupt);
    expect(() => v1({ order: undefined })).toThrow(Corrupt);
    expect(() => v1({ compression: "lz5" })).toThrow(Unsupported);
    expect(() => v1({ compression: undefined })).toThrow(Corrupt);
    expect(() => v1({ compression: "zlib", compression_opts: {} })).toThrow(Corrupt);
    expect(() => v1({ fill_value: undefined })).toThrow(Corrupt);
    expect(() => v1({ dtype: "|O" })).toThrow(/memory addresses/);
  });
});

describe("__zmeta__", () => {
  it("is bytes and blosc", () => {
    expect(v0({ dtype: ">f8" })).toMatchObject({
      version: 0,
      keys: { kind: "v0" },
      codecs: [
        { name: "bytes", configuration: { endian: "big" } },
        { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 8, blocksize: 0 } },
      ],
    });
  });
  it.each(Object.keys(zmeta))("must have %s", (key) => {
    expect(() => v0({ [key]: undefined })).toThrow(Corrupt);
  });
  it("refuses values that are not allowed", () => {
    for (const clevel of [-1, 10, 1.5, "5"]) expect(() => v0({ clevel })).toThrow(Corrupt);
    for (const shuffle of [-1, 3, true]) expect(() => v0({ shuffle })).toThrow(Corrupt);
    expect(() => v0({ cname: "lzo" })).toThrow(/compressor "lzo"/);
    expect(() => v0({ dtype: "|O" })).toThrow(/memory addresses/);
  });
  it("takes any white space, as Python 2 left some at the ends of lines", () => {
    const text = JSON.stringify(zmeta, null, 4).replace(/,\n/g, ", \n");
    expect(parseV0(new TextEncoder().encode(text), undefined, defaultLimits, "x").shape).toEqual([10]);
  });
  it("may have bare NaN and exact 64-bit integers as fill value", () => {
    expect(v0({ dtype: "<f8", fill_value: raw("NaN") }).fill).toEqual(new Uint8Array([0, 0, 0, 0, 0, 0, 0xf8, 0x7f]));
    expect(v0({ dtype: "<u8", fill_value: raw("9007199254740993") }).fill).toEqual(
      new Uint8Array([1, 0, 0, 0, 0, 0, 0x20, 0]),
    );
  });
});
