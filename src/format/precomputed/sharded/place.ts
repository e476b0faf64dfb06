/**
 * Where an id lives. The low `preshiftBits` of the id are dropped and the rest is hashed; of the 64 bits that come out
 *
 * | bits                                        | are                                          |
 * |---------------------------------------------|----------------------------------------------|
 * | [0, minishardBits)                          | the minishard, within its shard              |
 * | [minishardBits, minishardBits + shardBits)  | the shard, a file                            |
 * | the rest                                    | unused: ids of one minishard are told apart by the id itself |
 *
 * An id is two words of 32 bits throughout: a bigint for each of millions of ids costs more than everything else here.
 */
import { murmur3OfWords } from "../../../bytes/hash/murmur3.js";
import { U64 } from "../../../bytes/u64.js";
import { InvalidInput } from "../../../errors.js";
import type { Sharding } from "./types.js";

/** A shard by the two words of its number. */
export interface Shard {
  readonly low: number;
  readonly high: number;
}

/** Ids by their words, and where they live. */
export interface Placed {
  readonly idLow: Uint32Array;
  readonly idHigh: Uint32Array;
  readonly minishard: Uint32Array;
  readonly shardLow: Uint32Array;
  readonly shardHigh: Uint32Array;
}

export const placedRoom = (count: number): Placed => ({
  idLow: new Uint32Array(count),
  idHigh: new Uint32Array(count),
  minishard: new Uint32Array(count),
  shardLow: new Uint32Array(count),
  shardHigh: new Uint32Array(count),
});

/** Puts an id and its place into a row. */
export type Placer = (low: number, high: number, into: Placed, row: number) => void;

export function placer({ hash, preshiftBits, minishardBits, shardBits }: Sharding): Placer {
  const hashed = new Uint32Array(2);
  const minishardMask = maskOf(minishardBits);
  const lowMask = maskOf(Math.min(32, shardBits));
  const highMask = maskOf(Math.max(0, shardBits - 32));
  return (low, high, into, row) => {
    hashed[0] = shiftedLow(low, high, preshiftBits);
    hashed[1] = shiftedHigh(high, preshiftBits);
    if (hash === "murmur3") murmur3OfWords(hashed[0]!, hashed[1]!, hashed);
    const h1 = hashed[0]!;
    const h2 = hashed[1]!;
    into.idLow[row] = low;
    into.idHigh[row] = high;
    into.minishard[row] = h1 & minishardMask;
    into.shardLow[row] = shiftedLow(h1, h2, minishardBits) & lowMask;
    into.shardHigh[row] = shiftedHigh(h2, minishardBits) & highMask;
  };
}

/** All of these ids with their places. */
export function placeAll(ids: BigUint64Array, sharding: Sharding): Placed {
  const place = placer(sharding);
  const into = placedRoom(ids.length);
  const words = wordsOf(ids);
  for (let i = 0; i < ids.length; i++) place(words[2 * i]!, words[2 * i + 1]!, into, i);
  return into;
}

/** One id; InvalidInput where it does not fit 64 bits. */
export function oneId(id: bigint, into = new BigUint64Array(1)): BigUint64Array {
  if (id < 0n || id > U64.MAX) throw new InvalidInput(`an id should be a whole number from 0 to 2^64 − 1, found ${id}`);
  into[0] = id;
  return into;
}

/** The low and high words of ids, in turn, where they lie. */
export const wordsOf = (ids: BigUint64Array): Uint32Array =>
  new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);

const maskOf = (bits: number): number => (bits === 32 ? -1 : (1 << bits) - 1);

/** The words of a 64-bit number shifted to the right, by 0 to 64. */
const shiftedLow = (low: number, high: number, by: number): number =>
  by === 0 ? low : by < 32 ? (low >>> by) | (high << (32 - by)) : by < 64 ? high >>> (by - 32) : 0;
const shiftedHigh = (high: number, by: number): number => (by < 32 ? high >>> by : 0);

/** The name of a shard's file, without its extension: hexadecimal, as many digits as the largest needs. */
export function shardName({ low, high }: Shard, { shardBits }: Sharding): string {
  const digits = high === 0 ? low.toString(16) : high.toString(16) + low.toString(16).padStart(8, "0");
  return digits.padStart(Math.ceil(shardBits / 4), "0");
}

/** The way back; undefined for what is not the name of a shard of this sharding. */
export function shardOfName(name: string, sharding: Sharding): Shard | undefined {
  if (!/^[0-9a-f]{1,16}$/.test(name)) return undefined;
  const low = Number.parseInt(name.slice(-8), 16);
  const high = Number.parseInt(`0${name.slice(0, -8)}`, 16);
  const number = (BigInt(high) << 32n) | BigInt(low);
  const fits = number >> BigInt(sharding.shardBits) === 0n;
  return fits && shardName({ low, high }, sharding) === name ? { low, high } : undefined;
}
