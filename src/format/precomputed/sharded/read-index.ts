/**
 * The indexes of shards, read when they are needed and kept while there is room, the longest unused first to go. Whoever asks
 * for one that is on its way waits for it. The shard index comes in pages, which for all usual shardings means whole: with it
 * a value costs three requests, and the next one of its minishard one.
 *
 * | files            | shard index      | the rest, from which offsets count |
 * |------------------|------------------|------------------------------------|
 * | `<shard>.shard`  | at its beginning | directly after it                  |
 * | older            | `<shard>.index`  | `<shard>.data`                     |
 *
 * A shard without a file is empty. One with a file that is too short is damaged.
 *
 * Others may replace a shard at any time. What is read of one (open-shard.ts) is of one version, and indexes are kept by the
 * version that they are of.
 */
import { Corrupt, LimitExceeded, OctavoError } from "../../../errors.js";
import type { Limits } from "../../../limits.js";
import { runs } from "../../../store/coalesce.js";
import type { Prefix } from "../../../store/key.js";
import { share } from "../../../store/share.js";
import type { Store } from "../../../store/types.js";
import type { Coder } from "./coder.js";
import { isChanged, opener, type ShardFiles, type ShardPieces } from "./open-shard.js";
import { type Shard, shardName } from "./place.js";
import { ENTRY, Minishard, ShardIndex, type Stretch } from "./shard-index.js";
import type { Sharding } from "./types.js";

/** A map of which shards are read. */
export interface ShardedPlace {
  readonly store: Store;
  readonly at: Prefix;
  readonly sharding: Sharding;
  readonly coder: Coder;
  readonly limits: Limits;
}

/** A minishard that is not empty. */
export interface Found {
  readonly files: ShardFiles;
  readonly number: number;
  /** Where its index is. */
  readonly place: Stretch;
  readonly minishard: Minishard;
}

/** A shard that is being read. */
export interface OpenShard extends ShardPieces {
  /** These minishards, all unless told, without the empty ones; undefined where there is no such shard. */
  find(numbers: Iterable<number> | undefined, signal: AbortSignal | undefined): Promise<Found[] | undefined>;
}

export interface Indexes {
  /** To be closed after use. */
  open(shard: Shard, signal: AbortSignal | undefined): Promise<OpenShard>;
}

const PAGE = 4096; // entries: 64 KiB
const AT_ONCE = 64;

interface Page {
  readonly files: ShardFiles;
  readonly bytes: Uint8Array;
}

type Place = Omit<Found, "minishard">;

export function indexesOf(place: ShardedPlace, cacheBytes: number): Indexes {
  const { store, sharding, coder, limits } = place;
  const pages = keeper<Page | undefined>(cacheBytes, (page) => page?.bytes.length ?? 0);
  const minishards = keeper<Minishard>(cacheBytes, ({ count }) => 24 * count);
  const total = 2 ** sharding.minishardBits;
  const openPieces = opener(place.store, place.at, sharding);

  async function loadPage(pieces: ShardPieces, page: number): Promise<Page | undefined> {
    const length = ENTRY * Math.min(PAGE, total - page * PAGE);
    for (const files of pieces.forms) {
      const bytes = await pieces.read(files.index, [{ offset: ENTRY * PAGE * page, length }]);
      if (bytes !== undefined) return { files, bytes: bytes[0]! };
    }
    return undefined;
  }

  /** Where the index of a minishard is; undefined where it is empty. */
  function placeOf({ files, bytes }: Page, number: number): Stretch | undefined {
    const where = `${store.url}/${files.index}`;
    const what = `entry ${number} of the shard index of ${where}`;
    const place = ShardIndex.entry(bytes, number % PAGE, files.base, what);
    if (place !== undefined && place.length > limits.chunkBytes)
      throw new LimitExceeded(`${what} should be of at most ${limits.chunkBytes} bytes, found ${place.length}`, {
        where,
      });
    return place;
  }

  async function load({ files, number }: Place, stored: Promise<Uint8Array>): Promise<Minishard> {
    const where = `${store.url}/${files.data}`;
    const what = `the index of minishard ${number} of ${where}`;
    const fileSize = async () => (await store.stat(files.data))?.size ?? 0;
    const decoded = await coder.decodeIndex(await stored, limits, fileSize).catch((error) => {
      throw isChanged(error) ? error : about(what, where, error);
    });
    return Minishard.parse(decoded, files.base, what);
  }

  /** Begins to read the indexes that are not there yet, those near each other together. */
  function loadAll(pieces: ShardPieces, missing: readonly (Stretch & { readonly one: Place })[], name: string): void {
    const near = runs(missing, GAP, LONGEST);
    if (near.length === 0) return;
    const { data } = missing[0]!.one.files;
    const spans = near.map((run) => ({ offset: run[0]!.offset, length: endOf(run) - run[0]!.offset }));
    const read = pieces.read(data, spans);
    for (const [i, run] of near.entries())
      for (const { one, offset, length } of run) {
        const start = offset - spans[i]!.offset;
        const own = read.then((bytes) => present(bytes, `${store.url}/${data}`)[i]!.subarray(start, start + length));
        minishards.put(`${name}.${one.number}`, load(one, own));
      }
  }

  async function find(pieces: ShardPieces, shard: Shard, numbers: Iterable<number>): Promise<Found[] | undefined> {
    const name = `${shardName(shard, sharding)} ${pieces.version}`;
    const wanted: Place[] = [];
    let page: Page | undefined;
    let pageNumber = -1;
    for (const number of numbers) {
      if (Math.floor(number / PAGE) !== pageNumber) {
        pageNumber = Math.floor(number / PAGE);
        const key = `${name}.${pageNumber}`;
        page = await (pages.get(key) ?? pages.put(key, loadPage(pieces, pageNumber)));
        if (page === undefined) return undefined;
      }
      const place = placeOf(page!, number);
      if (place !== undefined) wanted.push({ files: page!.files, number, place });
    }
    const found: Promise<Found>[] = [];
    for (let start = 0; start < wanted.length; start += AT_ONCE) {
      const some = wanted.slice(start, start + AT_ONCE);
      const missing = some.filter((one) => minishards.get(`${name}.${one.number}`) === undefined);
      loadAll(
        pieces,
        missing.map((one) => ({ one, ...one.place })),
        name,
      );
      for (const one of some) {
        const minishard = minishards.get(`${name}.${one.number}`)!;
        found.push(minishard.then((minishard) => ({ ...one, minishard })));
      }
      await Promise.all(found.slice(start));
    }
    return Promise.all(found);
  }

  return {
    async open(shard, signal) {
      const pieces = await openPieces(shard, signal);
      return {
        ...pieces,
        find: (numbers, signal) => share(() => find(pieces, shard, numbers ?? upTo(total))).join(signal),
      };
    },
  };
}

/** Bytes of a shard whose index has been read; Corrupt where there are none. */
export function present<T>(bytes: T | undefined, where: string): T {
  if (bytes === undefined) throw new Corrupt(`${where} is not there, but its index is`, { where });
  return bytes;
}

/** Bytes that may be read in vain between two ranges, as for stores, and what is read in one go: 4 MiB, as several are under way. */
export const GAP = 64 << 10;
export const LONGEST = 4 << 20;

export const endOf = (run: readonly Stretch[]): number =>
  run.reduce((end, { offset, length }) => Math.max(end, offset + length), 0);

/** The same error, saying what it is about. */
export function about(what: string, where: string, error: unknown): unknown {
  if (!(error instanceof OctavoError)) return error;
  const Kind = error.constructor as new (message: string, details: object) => OctavoError;
  return new Kind(`${what} cannot be read: ${error.message}`, { where, cause: error });
}

function* upTo(count: number): Generator<number> {
  for (let i = 0; i < count; i++) yield i;
}

interface Keeper<T> {
  get(key: string): Promise<T> | undefined;
  put(key: string, value: Promise<T>): Promise<T>;
}

/** Promises of values by key, up to a number of bytes; failures are not kept. */
function keeper<T>(budget: number, cost: (value: T) => number): Keeper<T> {
  const kept = new Map<string, { readonly value: Promise<T>; cost: number }>(); // in the order of their last use
  let used = 0;
  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      kept.delete(key);
      kept.set(key, entry);
      return entry.value;
    },
    put(key, value) {
      const entry = { value, cost: 0 };
      kept.set(key, entry);
      value.then(
        (value) => {
          entry.cost = 200 + cost(value); // so that empty ones are bounded too
          used += entry.cost;
          for (const [oldest, other] of kept) {
            if (used <= budget) break;
            if (other.cost === 0) continue; // still on its way
            used -= other.cost;
            kept.delete(oldest);
          }
        },
        () => kept.delete(key),
      );
      return value;
    },
  };
}
