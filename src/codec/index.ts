/** Codecs: what the rest of Octavo, and a caller with codecs of its own, needs. Each codec is loaded by the registry. */
export { type ChunkCodec, CodecChain } from "./chain.js";
export { type CodecRegistry, codecRegistry } from "./registry.js";
export type { ShardEntries, ShardEntry, ShardIndex } from "./shard-index.js";
export type { Shard } from "./sharding.js";
export type {
  ArrayBytesCodec,
  ArrayCodec,
  BytesCodec,
  ChunkData,
  ChunkSpec,
  Codec,
  CodecEntry,
  CodecSpec,
  Element,
  EncodeOptions,
  LoadContext,
  NumericArray,
  VlenValue,
} from "./types.js";
