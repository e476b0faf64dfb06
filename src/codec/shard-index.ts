/** The index of a shard, and shards taken apart and put together by it; byte table in sharding.ts. */
import { concat } from "../bytes/concat.js";
import { toNumber, U64 } from "../bytes/u64.js";
import { Corrupt, InvalidInput, Unsupported } from "../errors.js";
import type { Limits } from "../limits.js";
import { elementCount } from "../space/shape.js";
import type { ChunkCodec } from "./chain.js";
import type { ChunkSpec } from "./types.js";

export interface ShardIndex {
  readonly location: "start" | "end";
  /** Inner chunks. */
  readonly count: number;
  /** Bytes of the encoded index. */
  readonly bytes: number;
  /** The encoded index alone; `shardBytes` is the size of the shard, where it is known. */
  parse(table: Uint8Array, limits: Limits, shardBytes?: number): ShardEntries;
  /** Entries in C order. */
  encode(entries: readonly (ShardEntry | undefined)[]): Uint8Array;
  /** Every inner chunk's encoded bytes, without a copy; all absent where there is no shard. */
  split(shard: Uint8Array | undefined, limits: Limits): (Uint8Array | undefined)[];
  /** The same back; the bytes of each chunk are taken as they are. */
  join(chunks: readonly (Uint8Array | undefined)[]): Uint8Array;
}

export interface ShardEntry {
  readonly offset: number;
  readonly length: number;
}

export interface ShardEntries {
  /** Where inner chunk i lies; undefined where it is absent. Corrupt if that cannot be. */
  find(i: number): ShardEntry | undefined;
}

export const indexSpec = (grid: readonly number[]): ChunkSpec => ({
  shape: [...grid, 2],
  dtype: { kind: "uint", size: 8, endian: "little" },
  fill: new Uint8Array(8).fill(255),
});

export const ShardIndex = {
  /** `codec` is the chain of `index_codecs`, bound to `indexSpec`. */
  of(codec: ChunkCodec, location: "start" | "end"): ShardIndex {
    const bytes = codec.encodedSize;
    if (bytes === undefined)
      throw new Unsupported("the codecs of a shard's index should give a known size, found a compressor among them");
    const count = elementCount(codec.spec.shape) / 2;

    const parse = (table: Uint8Array, limits: Limits, shardBytes?: number): ShardEntries => {
      if (table.length !== bytes)
        throw new Corrupt(`the index of a shard of ${count} chunks should have ${bytes} bytes, found ${table.length}`);
      const pairs = codec.decode(table, limits) as Uint8Array;
      // Chunks lie between these two.
      const low = location === "start" ? bytes : 0;
      const high = shardBytes === undefined ? undefined : location === "end" ? shardBytes - bytes : shardBytes;
      return { find: (i) => entry(pairs, i, low, high) };
    };

    const encode = (entries: readonly (ShardEntry | undefined)[]): Uint8Array => {
      if (entries.length !== count)
        throw new InvalidInput(`a shard of ${count} chunks has no ${entries.length} entries`);
      const pairs = new Uint8Array(16 * count).fill(255);
      entries.forEach((entry, i) => {
        if (entry === undefined) return;
        U64.set(pairs, 16 * i, BigInt(entry.offset));
        U64.set(pairs, 16 * i + 8, BigInt(entry.length));
      });
      return codec.encode(pairs);
    };

    const split = (shard: Uint8Array | undefined, limits: Limits): (Uint8Array | undefined)[] => {
      if (shard === undefined) return new Array(count).fill(undefined);
      if (shard.length < bytes)
        throw new Corrupt(
          `a shard with an index of ${bytes} bytes should be at least as long, found ${shard.length} bytes`,
        );
      const table = location === "start" ? shard.subarray(0, bytes) : shard.subarray(shard.length - bytes);
      const entries = parse(table, limits, shard.length);
      return Array.from({ length: count }, (_, i) => {
        const found = entries.find(i);
        return found && shard.subarray(found.offset, found.offset + found.length);
      });
    };

    const join = (chunks: readonly (Uint8Array | undefined)[]): Uint8Array => {
      let offset = location === "start" ? bytes : 0;
      const entries = Array.from(chunks, (chunk) => {
        if (chunk === undefined) return undefined;
        const at = offset;
        offset += chunk.length;
        return { offset: at, length: chunk.length };
      });
      const present = chunks.filter((chunk) => chunk !== undefined);
      return concat(location === "start" ? [encode(entries), ...present] : [...present, encode(entries)]);
    };

    return { location, count, bytes, parse, encode, split, join };
  },
};

function entry(pairs: Uint8Array, i: number, low: number, high: number | undefined): ShardEntry | undefined {
  if (!(i >= 0 && 16 * i < pairs.length)) throw new InvalidInput(`a shard has no inner chunk ${i}`);
  const offset = U64.get(pairs, 16 * i);
  const length = U64.get(pairs, 16 * i + 8);
  if (offset === U64.MAX && length === U64.MAX) return undefined;
  if (offset === U64.MAX || length === U64.MAX)
    throw new Corrupt(`entry ${i} of a shard's index is half absent: offset ${offset}, length ${length}`);
  if (offset < low || (high !== undefined && offset + length > high))
    throw new Corrupt(
      `entry ${i} of a shard's index should lie within bytes ${low} to ${high ?? "the end"}, found ${offset} to ${offset + length}`,
    );
  const what = `entry ${i} of a shard's index`;
  toNumber(offset + length, what); // so that both are exact, and their sum
  return { offset: toNumber(offset, what), length: toNumber(length, what) };
}
