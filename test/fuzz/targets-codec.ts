/**
 * Codecs, each at the end of the shortest chain that can hold it, so that every target is one call: a chunk's bytes in,
 * elements out. Behind "bytes" the decoded size is known exactly, behind "vlen-utf8" only limits bound it.
 */
import type { DataType } from "../../src/bytes/dtype.js";
import type { Json } from "../../src/bytes/json.js";
import { type ChunkCodec, CodecChain } from "../../src/codec/chain.js";
import type { ChunkData, CodecSpec } from "../../src/codec/types.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import type { Target } from "./driver.js";
import { chunks, files, images, lzma, texts } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, chunkBytes: cap };
const int32: DataType = { kind: "int", size: 4, endian: "little" };

const codec = (name: string, configuration: { readonly [key: string]: Json } = {}): CodecSpec => ({
  name,
  configuration,
});
const little = codec("bytes", { endian: "little" });

interface Chunk {
  readonly dtype?: DataType;
  readonly shape?: readonly number[];
  /** What to encode; or, for what cannot be encoded, encoded already. */
  readonly data?: () => readonly ChunkData[];
  readonly encoded?: () => readonly Uint8Array[];
}

const chain = (name: string, codecs: readonly CodecSpec[], chunk: Chunk = {}): Target => ({
  name,
  cap,
  load: async () => {
    const { dtype = int32, shape = [16, 32], data = chunks, encoded } = chunk;
    const fill = "size" in dtype ? new Uint8Array(dtype.size) : "";
    const bound: ChunkCodec = (await CodecChain.load(codecs)).bind({ shape, dtype, fill });
    return {
      seeds: encoded?.() ?? data().map((each) => bound.encode(each)),
      run: (bytes) => bound.decode(bytes, limits),
    };
  },
});

const string: Chunk = { dtype: { kind: "string" }, shape: [20], data: () => [texts()] };

/** A compressor twice: with the size known, and without. */
const compressor = (name: string, configuration: { readonly [key: string]: Json } = {}): Target[] => [
  chain(name, [little, codec(name, configuration)]),
  chain(`${name}-ragged`, [codec("vlen-utf8"), codec(name, configuration)], string),
];

const blosc = (cname: string, shuffle: string): Target =>
  chain(`blosc-${cname}-${shuffle}`, [
    little,
    codec("blosc", { cname, clevel: 5, shuffle, typesize: 4, blocksize: 512 }),
  ]);

/** Without a checksum over the index, so that damage gets past it. */
const sharding = (inner: readonly number[], codecs: readonly Json[], location: string): CodecSpec =>
  codec("sharding_indexed", {
    chunk_shape: inner,
    codecs,
    index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    index_location: location,
  });
const asJson = (specs: readonly CodecSpec[]): Json[] =>
  specs.map(({ name, configuration }) => ({ name, configuration }));

const v1 = (name: string): Chunk => ({
  shape: [20, 70],
  encoded: () => files("zarr", new RegExp(`^v1/\\d+_${name}/\\d\\.\\d$`)),
});

/** All of one shape: that of the first. */
const image = (name: "jpeg" | "png", channels: number): Target => {
  const known = images(name, channels);
  const [{ shape } = { shape: [] as number[] }] = known;
  return chain(`precomputed.${name}-${channels}`, [codec(`precomputed.${name}`)], {
    dtype: { kind: "uint", size: 1, endian: "little" },
    shape,
    encoded: () => known.filter((one) => `${one.shape}` === `${shape}`).map(({ encoded }) => encoded),
  });
};

export const codecTargets: readonly Target[] = [
  ...["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"].map((cname) => blosc(cname, "shuffle")),
  blosc("lz4", "bitshuffle"),
  blosc("blosclz", "noshuffle"),
  chain("blosc-ragged", [codec("vlen-utf8"), codec("blosc", { typesize: 1 })], string),
  ...compressor("gzip", { level: 5 }),
  ...compressor("zlib", { level: 5 }),
  ...compressor("zstd", { level: 3, checksum: false }),
  ...compressor("lz4"),
  chain("zstd-checksum", [little, codec("zstd", { level: 3, checksum: true })]),
  chain("bz2", [little, codec("bz2", { level: 1 })], v1("bz2")),
  chain("lzma", [little, codec("lzma", { format: 1 })], v1("lzma")),
  chain("lzma-xz", [little, codec("lzma", { format: 1 })], { encoded: () => lzma.xz }),
  chain("lzma-alone", [little, codec("lzma", { format: 2 })], { encoded: () => lzma.alone }),
  chain(
    "lzma-raw",
    [
      little,
      codec("lzma", {
        format: 3,
        filters: [
          { id: 3, dist: 4 },
          { id: 33, preset: 1 },
        ],
      }),
    ],
    {
      encoded: () => lzma.raw,
    },
  ),
  ...["crc32c", "crc32", "adler32"].map((name) => chain(name, [little, codec(name)])),
  chain("bytes", [codec("bytes", { endian: "big" })]),
  chain("shuffle", [little, codec("shuffle", { elementsize: 4 })]),
  chain("delta", [codec("delta", { dtype: "<i4", astype: "<i2" }), little]),
  chain("transpose", [codec("transpose", { order: [1, 0] }), codec("bytes", { endian: "big" })]),
  chain(
    "fixedscaleoffset",
    [codec("fixedscaleoffset", { dtype: "<i4", astype: "|u1", scale: 10, offset: 5 }), little],
    {
      shape: [2048],
      encoded: chunks,
    },
  ),
  chain("packbits", [codec("packbits"), little], {
    dtype: { kind: "bool", size: 1 },
    shape: [45],
    encoded: () => [Uint8Array.of(3, 0xff, 0, 0xaa, 0x55, 1, 0x80)],
  }),
  chain("vlen-utf8", [codec("vlen-utf8")], string),
  chain("vlen-bytes", [codec("vlen-bytes")], {
    dtype: { kind: "vlen-bytes" },
    shape: [4],
    data: () => [[new Uint8Array(0), Uint8Array.of(1), new Uint8Array(300), Uint8Array.of(2, 3)]],
  }),
  chain("vlen-array", [codec("vlen-array", { dtype: "<i4" })], {
    dtype: { kind: "vlen-array", item: int32 },
    shape: [3],
    data: () => [[new Int32Array(0), Int32Array.of(1, 2), new Int32Array(50)]],
  }),
  chain(
    "precomputed.compressed_segmentation",
    [codec("precomputed.compressed_segmentation", { block_size: [4, 4, 4] })],
    {
      dtype: { kind: "uint", size: 4, endian: "little" },
      shape: [1, 8, 8, 8],
    },
  ),
  chain(
    "precomputed.compressed_segmentation-64",
    [codec("precomputed.compressed_segmentation", { block_size: [8, 8, 8] })],
    {
      dtype: { kind: "uint", size: 8, endian: "little" },
      shape: [2, 4, 4, 8],
    },
  ),
  image("png", 1),
  image("png", 3),
  image("jpeg", 1),
  image("jpeg", 3),
  chain("sharding_indexed", [sharding([4, 16], asJson([little]), "end")]),
  chain("sharding_indexed-start", [
    sharding([4, 16], asJson([little, codec("zstd", { level: 1, checksum: false })]), "start"),
  ]),
  chain("sharding_indexed-nested", [sharding([8, 16], asJson([sharding([4, 8], asJson([little]), "start")]), "end")]),
];
