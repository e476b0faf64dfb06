/** What the chunks of a scale go through, and what one may take. A chunk in memory is [channel, z, y, x]: x fastest. */
import { type ChunkCodec, CodecChain } from "../../../codec/chain.js";
import type { CodecSpec } from "../../../codec/types.js";
import { Unsupported } from "../../../errors.js";
import { segmentationRoom } from "../../../kernel/segmentation.js";
import type { Limits } from "../../../limits.js";
import type { Scale, Triple, VolumeEncoding, VolumeInfo } from "./types.js";

export function codecsOf(encoding: VolumeEncoding, where: string): CodecSpec[] {
  switch (encoding.name) {
    case "raw":
      return [{ name: "bytes", configuration: { endian: "little" } }];
    case "compressed_segmentation":
      return [{ name: "precomputed.compressed_segmentation", configuration: { block_size: [...encoding.block] } }];
    case "png":
      return [
        { name: "precomputed.png", configuration: encoding.level === undefined ? {} : { level: encoding.level } },
      ];
    case "jpeg":
      return [{ name: "precomputed.jpeg", configuration: {} }];
    case "other":
      throw new Unsupported(
        `the chunks of ${where} have the encoding ${JSON.stringify(encoding.spelled.slice(0, 40))}, and Octavo reads raw, compressed_segmentation, png and jpeg`,
        { where },
      );
  }
}

/** The codecs of chunks of all extents: there are few, as only the last ones along an axis are shorter. */
export interface ScaleCoding {
  readonly codecs: readonly CodecSpec[];
  codecOf(extent: Triple): ChunkCodec;
}

export async function codingOf(
  { dtype, channels }: Pick<VolumeInfo, "dtype" | "channels">,
  scale: Scale,
  where: string,
): Promise<ScaleCoding> {
  const codecs = codecsOf(scale.encoding, where);
  const chain = await CodecChain.load(codecs);
  const bound = new Map<string, ChunkCodec>();
  return {
    codecs,
    codecOf(extent) {
      const [x, y, z] = extent;
      const known = bound.get(`${extent}`);
      if (known !== undefined) return known;
      const codec = chain.bind({ shape: [channels, z, y, x], dtype, fill: new Uint8Array(dtype.size) });
      bound.set(`${extent}`, codec);
      return codec;
    },
  };
}

/** Limits for the encoded bytes of one chunk: no encoding makes much more of it than it is. */
export function chunkLimits(
  { dtype, channels }: Pick<VolumeInfo, "dtype" | "channels">,
  { encoding, chunkSizes }: Scale,
  limits: Limits,
): Limits {
  const [x, y, z] = chunkSizes[0]!;
  const plain = 2 * x * y * z * channels * dtype.size;
  const most =
    encoding.name === "compressed_segmentation"
      ? channels * segmentationRoom(dtype.size, [x, y, z], [...encoding.block]).most
      : plain;
  return { ...limits, chunkBytes: Math.min(limits.chunkBytes, Math.max(plain, most) + (64 << 10)) };
}
