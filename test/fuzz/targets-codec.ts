/** Codecs, each by itself. */
import { bloscCodec } from "../../src/codec/blosc.js";
import { gzipCodec } from "../../src/codec/gzip.js";
import { lz4Codec } from "../../src/codec/lz4.js";
import type { CodecEntry, CodecSpec } from "../../src/codec/types.js";
import { zlibCodec } from "../../src/codec/zlib.js";
import { zstdCodec } from "../../src/codec/zstd.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import type { Target } from "./driver.js";
import { chunks } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, chunkBytes: cap };

/** With the exact size known, as in an array's chunks, and without, as in the layers of a chain: by turns. */
const bytesCodec = (name: string, entry: CodecEntry, configuration: CodecSpec["configuration"]): Target => ({
  name,
  cap,
  load: async () => {
    const codec = await entry.load(configuration, { chain: async () => [] });
    if (codec.kind !== "bytes-bytes") throw new Error(`${name} is ${codec.kind}`);
    return {
      seeds: chunks().map((chunk) => codec.encode(chunk)),
      run: (bytes) => codec.decode(bytes, bytes.length & 1 ? undefined : 2048, limits),
    };
  },
});

const blosc = (cname: string, shuffle: string) =>
  bytesCodec(`blosc-${cname}-${shuffle}`, bloscCodec, { cname, clevel: 5, shuffle, typesize: 4, blocksize: 512 });

export const codecTargets: readonly Target[] = [
  ...["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"].map((cname) => blosc(cname, "shuffle")),
  blosc("lz4", "bitshuffle"),
  blosc("blosclz", "noshuffle"),
  bytesCodec("gzip", gzipCodec, { level: 5 }),
  bytesCodec("zlib", zlibCodec, { level: 5 }),
  bytesCodec("zstd", zstdCodec, { level: 3, checksum: true }),
  bytesCodec("lz4", lz4Codec, { acceleration: 1 }),
];
