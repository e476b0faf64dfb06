/**
 * Which codecs there are, by the names that files use. Each loads its own file when a file first needs it. Names of numcodecs
 * in v3 ("numcodecs.zlib") mean the same as without their prefix. A caller's own codecs come first: `codecRegistry([mine])`.
 */
import { Unsupported } from "../errors.js";
import type { CodecEntry } from "./types.js";

export interface CodecRegistry {
  readonly names: readonly string[];
  /** Unsupported where there is none of that name. */
  find(name: string): Promise<CodecEntry>;
}

// Spelled out one by one, so that a bundler sees each import and makes a file of it.
const own: { readonly [name: string]: () => Promise<CodecEntry> } = {
  adler32: async () => (await import("./checksum.js")).adler32Codec,
  blosc: async () => (await import("./blosc.js")).bloscCodec,
  bytes: async () => (await import("./bytes.js")).bytesCodec,
  bz2: async () => (await import("./bz2.js")).bz2Codec,
  crc32: async () => (await import("./checksum.js")).crc32Codec,
  crc32c: async () => (await import("./checksum.js")).crc32cCodec,
  delta: async () => (await import("./delta.js")).deltaCodec,
  fixedscaleoffset: async () => (await import("./fixedscaleoffset.js")).fixedScaleOffsetCodec,
  gzip: async () => (await import("./gzip.js")).gzipCodec,
  lz4: async () => (await import("./lz4.js")).lz4Codec,
  lzma: async () => (await import("./lzma.js")).lzmaCodec,
  packbits: async () => (await import("./packbits.js")).packBitsCodec,
  // Of precomputed volumes: in Zarr these words mean other things, where they mean anything.
  "precomputed.compressed_segmentation": async () =>
    (await import("./compressed-segmentation.js")).compressedSegmentationCodec,
  "precomputed.jpeg": async () => (await import("./jpeg.js")).jpegCodec,
  "precomputed.png": async () => (await import("./png.js")).pngCodec,
  sharding_indexed: async () => (await import("./sharding.js")).shardingCodec,
  shuffle: async () => (await import("./shuffle.js")).shuffleCodec,
  transpose: async () => (await import("./transpose.js")).transposeCodec,
  "vlen-array": async () => (await import("./vlen.js")).vlenArrayCodec,
  "vlen-bytes": async () => (await import("./vlen.js")).vlenBytesCodec,
  "vlen-utf8": async () => (await import("./vlen.js")).vlenUtf8Codec,
  zlib: async () => (await import("./zlib.js")).zlibCodec,
  zstd: async () => (await import("./zstd.js")).zstdCodec,
};

/** What v3 called `bytes` before it was final. */
const aliases: ReadonlyMap<string, string> = new Map([["endian", "bytes"]]);

/** Known, and not read; why. */
const refused: ReadonlyMap<string, string> = new Map([
  ["pickle", "a pickle is a program, and running what a file contains is not reading it"],
  ["json2", "its elements are arbitrary Python objects"],
  ["msgpack2", "its elements are arbitrary Python objects"],
  ["categorize", "its labels are Python objects"],
  ["astype", "it changes values in ways that depend on numpy's casts"],
]);

/** Octavo's codecs, behind the given ones. */
export function codecRegistry(entries: readonly CodecEntry[] = []): CodecRegistry {
  const given = new Map(
    entries.flatMap((entry) => [entry.name, ...(entry.aliases ?? [])].map((name) => [name, entry])),
  );
  const names = [...new Set([...given.keys(), ...Object.keys(own)])].sort();
  return {
    names,
    async find(name) {
      const mine = given.get(name);
      if (mine !== undefined) return mine;
      const bare = name.replace(/^numcodecs\./, "");
      const known = aliases.get(bare) ?? bare;
      if (Object.hasOwn(own, known)) return own[known]!();
      const reason = refused.get(bare);
      if (reason !== undefined) throw new Unsupported(`the codec "${name}" is not supported: ${reason}`);
      throw new Unsupported(
        `the codec ${JSON.stringify(name).slice(0, 80)} is not known; there are ${names.join(", ")}`,
      );
    },
  };
}
