/**
 * Reading values out of shards. What is asked for is found in the indexes first; then values that lie near each other are
 * fetched together, several such stretches at a time.
 *
 * Others may change the map meanwhile. A reader that is opened sees the last commit whole, where the store knows transactions.
 * What it reads later is of that commit or of a later one, each value whole: a shard that has been replaced is noticed, and
 * its indexes are read again. Values of two shards may then be of two commits; who needs one opens anew. A scan over a network
 * that meets such a shard ends with Conflict. Unnoticed stay shards that come where there were none, and changes on servers
 * that give no strong ETag.
 */
import { radixOrder } from "../../../bytes/radix.js";
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { runs } from "../../../store/coalesce.js";
import type { Prefix } from "../../../store/key.js";
import { overlay } from "../../../store/overlay.js";
import type { Store } from "../../../store/types.js";
import type { FoundValues, OpenValuesOptions, ValueReader } from "../values.js";
import { ahead } from "./ahead.js";
import { coderFor, limitsFor } from "./coder.js";
import { fetchRuns, type Wanted, wantedOf } from "./fetch.js";
import { isChanged, type ShardFiles } from "./open-shard.js";
import { checkSharding } from "./parse.js";
import { oneId, type Placed, placeAll } from "./place.js";
import {
  endOf,
  GAP,
  type Indexes,
  indexesOf,
  LONGEST,
  type OpenShard,
  present,
  type ShardedPlace,
} from "./read-index.js";
import { scanner } from "./scan.js";
import { Minishard } from "./shard-index.js";
import type { Sharding } from "./types.js";

const CACHE = 64 << 20;
const LANES = 8;
const FILE_GAP = 2 << 10; // a file has no round trip: 8 and 24 KiB read more in vain, and took an eighth more CPU
const BATCH = 1 << 18; // bytes of a file that are read before they are handed out

/** A map as it is now. */
export interface Opened {
  readonly place: ShardedPlace;
  readonly indexes: Indexes;
}

export async function openSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: OpenValuesOptions = {},
): Promise<ValueReader> {
  checkSharding(sharding);
  const coder = await coderFor(sharding);
  const limits = limitsFor(options.limits);
  async function open(signal: AbortSignal | undefined): Promise<Opened> {
    const view = store.can.conditional ? (await overlay(store, at, { signal })).store : store;
    const place = { store: view, at, sharding, limits, coder };
    return { place, indexes: indexesOf(place, options.cacheBytes ?? CACHE) };
  }
  let now = await open(options.signal);

  /** Begins anew after a shard has changed: with what is committed now, and no index kept. */
  async function again(shard: OpenShard, signal: AbortSignal | undefined): Promise<void> {
    for (const { index, data } of shard.forms) // `stat` tells the store that the next version may differ
      for (const key of new Set([index, data])) await store.stat(key, { signal });
    now = await open(signal);
  }

  /** Does something with the place of a value; once more where its shard changes under it. */
  async function locate<T>(
    id: bigint,
    call: ReadOptions,
    work: (wanted: Wanted, files: ShardFiles, shard: OpenShard) => Promise<T>,
  ): Promise<T | undefined> {
    const { idLow, idHigh, minishard, shardLow, shardHigh } = placeAll(oneId(id), sharding);
    for (let tries = 1; ; tries++) {
      const { place, indexes } = now;
      const shard = await indexes.open({ low: shardLow[0]!, high: shardHigh[0]! }, call.signal);
      try {
        const found = (await shard.find(minishard, call.signal))?.[0];
        const row = found === undefined ? -1 : Minishard.find(found.minishard, idLow[0]!, idHigh[0]!);
        return row < 0 ? undefined : await work(wantedOf(place, found!, row, 0), found!.files, shard);
      } catch (error) {
        if (tries > 1 || !isChanged(error)) throw error;
        await again(shard, call.signal);
      } finally {
        shard.close();
      }
    }
  }

  async function* getMany(ids: BigUint64Array, call: ReadOptions = {}): AsyncGenerator<FoundValues> {
    const placed = placeAll(ids, sharding);
    const { minishard, shardLow, shardHigh } = placed;
    const order = radixOrder([minishard, shardLow, shardHigh], ids.length);
    for (let from = 0, to = 0; from < order.length; from = to) {
      const number = { low: shardLow[order[from]!]!, high: shardHigh[order[from]!]! };
      while (to < order.length && shardLow[order[to]!] === number.low && shardHigh[order[to]!] === number.high) to++;
      let rows = order.subarray(from, to);
      for (let tries = 1; rows.length > 0; tries++) {
        const { place, indexes } = now;
        const shard = await indexes.open(number, call.signal);
        const answered = new Set<number>();
        try {
          for await (const answer of answers(place, shard, ids, placed, rows, call)) {
            yield answer;
            for (const row of answer.rows) answered.add(row);
          }
          break;
        } catch (error) {
          if (tries > 1 || !isChanged(error)) throw error;
          rows = rows.filter((row) => !answered.has(row));
          await again(shard, call.signal);
        } finally {
          shard.close();
        }
      }
    }
  }

  return {
    sharding,
    getMany,
    get: (id, call = {}) =>
      locate(id, call, async (wanted, files, shard) => {
        const { values } = await fetchRuns(now.place, files, shard, [[wanted]], oneId(id), call);
        return values[0]!;
      }),
    before: (id, back, length, call = {}) =>
      locate(id, call, async ({ offset }, files, shard) => {
        const where = `${store.url}/${files.data}`;
        const room = offset - files.base;
        if (back > room || length > back)
          throw new Corrupt(`the value of ${id} in ${where} should have ${back} bytes before it, found ${room}`, {
            where,
          });
        return present(await shard.read(files.data, [{ offset: offset - back, length }], call.signal), where)[0]!;
      }),
    ...scanner(() => now, getMany),
  };
}

/** The values of these rows, all of one shard, in the order of its minishards. */
async function* answers(
  place: ShardedPlace,
  shard: OpenShard,
  ids: BigUint64Array,
  { idLow, idHigh, minishard }: Placed,
  rows: Uint32Array,
  call: ReadOptions,
): AsyncGenerator<FoundValues> {
  const numbers = new Set<number>();
  for (const row of rows) numbers.add(minishard[row]!);
  const found = new Map((await shard.find(numbers, call.signal))?.map((one) => [one.number, one]));
  const wanted: Wanted[] = [];
  const absent: number[] = [];
  for (const row of rows) {
    const own = found.get(minishard[row]!);
    const at = own === undefined ? -1 : Minishard.find(own.minishard, idLow[row]!, idHigh[row]!);
    if (at < 0) absent.push(row);
    else wanted.push(wantedOf(place, own!, at, row));
  }
  if (absent.length > 0) yield { rows: Uint32Array.from(absent), values: absent.map(() => undefined) };
  if (wanted.length === 0) return;
  const { files } = found.get(minishard[wanted[0]!.row]!)!;
  const near = runs(wanted, shard.near ? FILE_GAP : GAP, LONGEST);
  const batches = shard.near ? together(near) : near.map((run) => [run]);
  yield* ahead(batches, shard.near ? 1 : LANES, (batch) => fetchRuns(place, files, shard, batch, ids, call));
}

/** Runs that are read in one go. */
function* together(all: readonly (readonly Wanted[])[]): Generator<(readonly Wanted[])[]> {
  let [batch, bytes]: [(readonly Wanted[])[], number] = [[], 0];
  for (const run of all) {
    const length = endOf(run) - run[0]!.offset;
    if (batch.length > 0 && bytes + length > BATCH) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(run);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}
