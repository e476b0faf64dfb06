/** The sharding specification in our words, and beside it as files spell it. */

export type Hash = "identity" | "murmur3";
export type Encoding = "raw" | "gzip";

/** How ids are spread over shards and minishards, and how what lies there is encoded. */
export interface Sharding {
  readonly hash: Hash;
  /** Low bits of an id that do not count: 2^n ids in a row share a minishard. 0 to 64. */
  readonly preshiftBits: number;
  /** A shard has 2^n minishards. 0 to 32. */
  readonly minishardBits: number;
  /** There are 2^n shards. 0 to 64, less the bits of the minishard. */
  readonly shardBits: number;
  /** Of the minishard indexes. */
  readonly indexEncoding: Encoding;
  /** Of the values; not of the bytes before them. */
  readonly dataEncoding: Encoding;
}

/** The `sharding` member of an info document. */
export interface ShardingDocument {
  readonly "@type": "neuroglancer_uint64_sharded_v1";
  readonly hash: "identity" | "murmurhash3_x86_128";
  readonly preshift_bits: number;
  readonly minishard_bits: number;
  readonly shard_bits: number;
  readonly minishard_index_encoding: Encoding;
  readonly data_encoding: Encoding;
}
