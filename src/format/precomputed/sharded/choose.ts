/**
 * A good sharding for values of which the number and the size are known, and why it is one.
 *
 * What a reader pays for a cold value is the shard index, a minishard index and the value. Hence: about a thousand values in a
 * minishard (24 kB of index, less when compressed), up to 512 minishards in a shard (8 kB of index), and only then more shards;
 * but no shard over a gibibyte, since a shard can only be written whole.
 *
 * Ids of objects are spread by a hash. Those of a grid are Morton codes, whose neighbours are neighbours in space: they stay
 * together, and all of their bits are used, so that a shard is a box.
 */
import { InvalidInput } from "../../../errors.js";
import type { Sharding } from "./types.js";

/** What is to be stored. */
export interface ValuesToCome {
  readonly count: number;
  /** Bytes of all values together, before they are encoded. */
  readonly bytes: number;
  /** Already compressed, such as jpeg or Draco: encoding them again gains nothing. */
  readonly compressed?: boolean | undefined;
  /** Ids are Morton codes of so many bits. */
  readonly mortonBits?: number | undefined;
}

/** A sharding, and why it is this one. */
export interface ChosenSharding {
  readonly sharding: Sharding;
  /** Sentences for people, one for each choice. */
  readonly why: readonly string[];
}

const PER_MINISHARD = 1024;
const MOST_MINISHARD_BITS = 9;
const SHARD_BYTES = 2 ** 30;
/** Cells of a minishard of a grid: 8 × 8 × 8. */
const GRID_PRESHIFT = 9;
/** Below this, what gzip adds to a value is more than it saves. */
const SMALL = 100;

/** The sharding that suits so many values of such a size. */
export function chooseSharding({ count, bytes, compressed = false, mortonBits }: ValuesToCome): ChosenSharding {
  if (!Number.isSafeInteger(count) || count < 0 || !(bytes >= 0) || (mortonBits ?? 0) > 64)
    throw new InvalidInput(`a sharding is chosen for a number of values and of bytes, found ${count} and ${bytes}`);
  const mean = count === 0 ? 0 : bytes / count;
  const dataEncoding = compressed || mean < SMALL ? "raw" : "gzip";
  const encodings: Pick<Sharding, "indexEncoding" | "dataEncoding"> = { indexEncoding: "gzip", dataEncoding };
  const encoded =
    dataEncoding === "gzip"
      ? "values and indexes are compressed with gzip, which every reader knows"
      : compressed
        ? "values are compressed already, so that only the indexes are"
        : `values have ${Math.round(mean)} bytes on average, too few for gzip to save any; the indexes are compressed`;
  const [bits, why] = mortonBits === undefined ? forObjects(count, bytes) : forGrid(mortonBits, mean);
  return { sharding: { ...bits, ...encodings }, why: [...why, encoded] };
}

type Bits = Pick<Sharding, "hash" | "preshiftBits" | "minishardBits" | "shardBits">;

function forObjects(count: number, bytes: number): [Bits, string[]] {
  const all = Math.max(0, Math.ceil(Math.log2(count / PER_MINISHARD)));
  const bySize = Math.max(0, Math.ceil(Math.log2(bytes / SHARD_BYTES)));
  const shardBits = Math.max(all - MOST_MINISHARD_BITS, bySize, 0);
  const minishardBits = Math.max(0, all - shardBits);
  const each = Math.round(count / 2 ** (shardBits + minishardBits));
  return [
    { hash: "murmur3", preshiftBits: 0, minishardBits, shardBits },
    [
      "ids are spread by murmurhash3, so that minishards are of equal size whatever the ids are",
      `2^${minishardBits} minishards of about ${each} values: an index of ${24 * each} bytes before compression`,
      `2^${shardBits} shards of about ${Math.round(bytes / 2 ** shardBits)} bytes, since a shard is written whole`,
    ],
  ];
}

function forGrid(mortonBits: number, mean: number): [Bits, string[]] {
  const fit = Math.floor(Math.log2(SHARD_BYTES / Math.max(1, mean)));
  const most = Math.min(mortonBits, GRID_PRESHIFT + MOST_MINISHARD_BITS, Math.max(0, fit));
  // A multiple of three where there are more: then the box of a shard is as long as wide as high.
  const together = most === mortonBits ? most : most - (most % 3);
  const preshiftBits = Math.min(GRID_PRESHIFT, together);
  const minishardBits = together - preshiftBits;
  return [
    { hash: "identity", preshiftBits, minishardBits, shardBits: mortonBits - together },
    [
      "ids are Morton codes: neighbours in space stay together without a hash",
      `2^${preshiftBits} neighbours share a minishard, 2^${minishardBits} minishards a shard, which is a box of 2^${together} cells`,
      `2^${mortonBits - together} shards: all ${mortonBits} bits of the codes are used`,
    ],
  ];
}
