import { describe, expect, it } from "vitest";
import type { Json } from "../../bytes/json.js";
import type { CodecSpec } from "../../codec/types.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { chainFromV2, chainFromV3, chainToV2, chainToV3, endianOf, withEndian } from "./chain.js";
import { parseNumpyDtype } from "./dtype-numpy.js";

const blosc = { id: "blosc", cname: "zstd", clevel: 3, shuffle: 1, blocksize: 0 };
const v2 = (filters: Json, compressor: Json, type = "<i4", order: "C" | "F" = "C", rank = 2) =>
  chainFromV2(filters, compressor, parseNumpyDtype(type, "x"), order, rank, "x");
const names = (chain: readonly { name: string }[]) => chain.map(({ name }) => name);
const little = { name: "bytes", configuration: { endian: "little" } };

describe("v2's filters and compressor become one chain", () => {
  it("array filters, bytes, bytes filters, compressor", () => {
    const filters = [{ id: "delta", dtype: "<i4" }, { id: "shuffle", elementsize: 4 }, { id: "crc32" }];
    const chain = v2(filters, { id: "zlib", level: 1 }, "<i4", "F");
    expect(chain).toEqual([
      { name: "transpose", configuration: { order: [1, 0] } },
      { name: "delta", configuration: { dtype: "<i4" } },
      little,
      { name: "shuffle", configuration: { elementsize: 4 } },
      { name: "crc32", configuration: {} },
      { name: "zlib", configuration: { level: 1 } },
    ]);
    expect(chainToV2(chain, 2, "x")).toEqual({ order: "F", filters, compressor: { id: "zlib", level: 1 } });
  });
  it("the byte order is that of what the last array filter gives", () => {
    const filter = { id: "fixedscaleoffset", dtype: "<f8", astype: ">u2", scale: 10, offset: 0 };
    expect(v2([filter], null, "<f8")[1]).toEqual({ name: "bytes", configuration: { endian: "big" } });
    expect(v2(null, null, "|u1")).toEqual([{ name: "bytes", configuration: {} }]);
    expect(v2(null, null, ">U1")).toEqual([{ name: "bytes", configuration: { endian: "big" } }]);
  });
  it("one dimension has no order", () => {
    expect(names(v2(null, null, "<i4", "F", 1))).toEqual(["bytes"]);
    expect(names(v2(null, null, "<i4", "F", 0))).toEqual(["bytes"]);
  });
  it("blosc gets its element size, and shuffle -1 is resolved by it", () => {
    const shuffleOf = (type: string, shuffle: number, filters: Json = null) =>
      v2(filters, { ...blosc, shuffle }, type).at(-1)!.configuration;
    expect(shuffleOf("<i4", 1)).toEqual({ cname: "zstd", clevel: 3, shuffle: "shuffle", typesize: 4, blocksize: 0 });
    expect(shuffleOf("<i4", -1).shuffle).toBe("shuffle");
    expect(shuffleOf("|u1", -1).shuffle).toBe("bitshuffle");
    expect(shuffleOf("<i4", 0).shuffle).toBe("noshuffle");
    expect(shuffleOf("|V300", 1).typesize).toBe(1);
    expect(shuffleOf("<f8", 1, [{ id: "delta", dtype: "<f8", astype: "<f4" }]).typesize).toBe(4);
    expect(shuffleOf("<f8", 1, [{ id: "crc32" }]).typesize).toBe(1);
  });
  it("checksums alone are filters; a checksum after the compressor takes its place", () => {
    expect(chainToV2(v2([{ id: "crc32" }], null), 2, "x")).toEqual({
      order: "C",
      filters: [{ id: "crc32" }],
      compressor: null,
    });
    const chain = chainFromV3([little, { name: "gzip", configuration: { level: 5 } }, "crc32c"], 2, 4, "x");
    expect(chainToV2(chain, 2, "x")).toEqual({
      order: "C",
      filters: [{ id: "gzip", level: 5 }],
      compressor: { id: "crc32c" },
    });
  });
  it("vlen filters stand for bytes", () => {
    const chain = chainFromV2([{ id: "vlen-utf8" }], blosc, { kind: "string" }, "C", 1, "x");
    expect(names(chain)).toEqual(["vlen-utf8", "blosc"]);
    expect(chainToV2(chain, 1, "x")).toEqual({ order: "C", filters: [{ id: "vlen-utf8" }], compressor: blosc });
  });
  it("an array filter after a bytes filter is Unsupported", () => {
    expect(() => v2([{ id: "shuffle" }, { id: "delta", dtype: "<i4" }], null)).toThrow(Unsupported);
    expect(() => v2([{ id: "vlen-utf8" }, { id: "vlen-bytes" }], null)).toThrow(Unsupported);
  });
  it("unknown ids keep their place and their configuration", () => {
    const strange = { id: "imagecodecs_jpeg2k", level: 3 };
    const chain = v2(null, strange);
    expect(names(chain)).toEqual(["bytes", "imagecodecs_jpeg2k"]);
    expect(chainToV2(chain, 2, "x").compressor).toEqual(strange);
  });
  it.each([
    7,
    "gzip",
    {},
    { id: 7 },
    { id: "blosc", shuffle: 3 },
    { id: "blosc", clevel: 10 },
    { id: "blosc", cname: 1 },
  ])("compressor %j is Corrupt", (compressor) => {
    expect(() => v2(null, compressor as Json)).toThrow(Corrupt);
  });
  it("cannot express other permutations and shards", () => {
    const transpose = (order: number[]) => [{ name: "transpose", configuration: { order } }, little];
    expect(() => chainToV2(transpose([1, 0, 2]), 3, "x")).toThrow(Unsupported);
    expect(chainToV2(transpose([0, 1, 2]), 3, "x").order).toBe("C");
    expect(() => chainToV2([{ name: "sharding_indexed", configuration: {} }], 1, "x")).toThrow(/sharding_indexed/);
    expect(() => chainToV2([...transpose([1, 0]).slice(0, 1), ...transpose([1, 0])], 2, "x")).toThrow(Unsupported);
  });
});

describe("v3's list", () => {
  const v3 = (value: Json) => chainFromV3(value, 2, 4, "x");
  it("takes codecs as text or objects, and early spellings of transpose", () => {
    expect(v3(["bytes", { name: "crc32c" }])).toEqual([
      { name: "bytes", configuration: {} },
      { name: "crc32c", configuration: {} },
    ]);
    expect(v3([{ name: "transpose", configuration: { order: "F" } }, "bytes"])[0]!.configuration).toEqual({
      order: [1, 0],
    });
    expect(v3([{ name: "transpose", configuration: { order: "C" } }, "bytes"])[0]!.configuration).toEqual({
      order: [0, 1],
    });
  });
  it("takes and gives the names of numcodecs", () => {
    const list = [
      { name: "numcodecs.delta", configuration: { dtype: "<i4" } },
      little,
      { name: "numcodecs.zlib", configuration: { level: 1 } },
    ];
    expect(names(v3(list))).toEqual(["delta", "bytes", "zlib"]);
    expect(chainToV3(v3(list))).toEqual(list);
    const fromNumcodecs = v3([
      little,
      { name: "numcodecs.blosc", configuration: { cname: "lz4", clevel: 5, shuffle: 2 } },
    ]);
    expect(chainToV3(fromNumcodecs)[1]).toEqual({
      name: "blosc",
      configuration: { typesize: 4, cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 },
    });
  });
  it("has zstd checksums without v2 saying so, which tensorstore would refuse", () => {
    const compressor = (chain: readonly CodecSpec[]) => chainToV2(chain, 1, "here").compressor;
    expect(compressor(v2(null, { id: "zstd", level: 3 }, "<i4"))).toEqual({ id: "zstd", level: 3 });
    expect(compressor(v2(null, { id: "zstd", level: 3, checksum: false }, "<i4"))).toEqual({
      id: "zstd",
      level: 3,
      checksum: false,
    });
  });
  it("is written with what v3 requires", () => {
    const chain = v2(null, { id: "zstd", level: 3 }, "<i4");
    expect(chainToV3(chain)).toEqual([little, { name: "zstd", configuration: { level: 3, checksum: true } }]);
    const start = [little, { name: "numcodecs.crc32c", configuration: { location: "start" } }];
    expect(chainToV3(v3(start))).toEqual(start);
  });
  it("gets a byte order where it has none, and its early name", () => {
    const bare = withEndian(v3(["endian", "crc32c"]), "little");
    expect(bare).toEqual([little, { name: "crc32c", configuration: {} }]);
    expect(withEndian(v3([{ name: "bytes", configuration: { endian: null } }]), "little")).toEqual([little]);
    expect(withEndian([{ name: "bytes", configuration: { endian: "big" } }], "little")[0]!.configuration.endian).toBe(
      "big",
    );
  });
  it("normalises inside shards too", () => {
    const shard = (codecs: Json) => [
      { name: "sharding_indexed", configuration: { chunk_shape: [1, 1], codecs, index_codecs: ["bytes", "crc32c"] } },
    ];
    const chain = v3(shard(shard([{ name: "bytes", configuration: { endian: "big" } }, { name: "numcodecs.zlib" }])));
    expect(endianOf(chain, "x")).toBe("big");
    expect(JSON.stringify(chain)).toContain('"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}');
    expect(JSON.stringify(chain)).not.toContain("numcodecs");
    expect(JSON.stringify(chainToV3(chain))).toContain("numcodecs.zlib");
    expect(() => v3(shard(["gzip"]))).toThrow(Corrupt);
    expect(() => v3(shard(null))).toThrow(Corrupt);
  });
  it.each([
    [[]],
    [["gzip"]],
    [["bytes", "bytes"]],
    [["gzip", "bytes"]],
    [["bytes", "transpose"]],
    [["bytes", 7]],
    [[{ configuration: {} }]],
    [[{ name: "bytes", configuration: 7 }]],
    [7],
  ] as [Json][])("%j is Corrupt", (list) => {
    expect(() => v3(list)).toThrow(Corrupt);
  });
  it("leaves unknown codecs to those who run them", () => {
    expect(names(v3([little, "zarrs.zfp"]))).toEqual(["bytes", "zarrs.zfp"]);
    expect(names(v3(["pcodec"]))).toEqual(["pcodec"]);
  });
  it("does not take v3's packbits for that of numcodecs", () => {
    expect(() => v3(["packbits"])).toThrow(Unsupported);
    expect(names(v3(["numcodecs.packbits", "bytes"]))).toEqual(["packbits", "bytes"]);
  });
  it("knows two byte orders", () => {
    expect(() => endianOf([{ name: "bytes", configuration: { endian: "middle" } }], "x")).toThrow(Corrupt);
  });
});
