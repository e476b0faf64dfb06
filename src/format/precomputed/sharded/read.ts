/**
 * Reading values out of shards. What is asked for is found in the indexes first; then values that lie near each other are
 * fetched together, several such stretches at a time.
 *
 * A reader is for a map that stays as it is: it keeps indexes, and after an edit by others they point to old places. Where the
 * store knows transactions, a reader that is opened sees the last commit whole.
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
import { fetchRun, type Wanted, wantedOf } from "./fetch.js";
import { checkSharding } from "./parse.js";
import { oneId, placeAll } from "./place.js";
import { GAP, indexesOf, LONGEST, type ShardedPlace } from "./read-index.js";
import { scanner } from "./scan.js";
import { Minishard } from "./shard-index.js";
import type { Sharding } from "./types.js";

const CACHE = 64 << 20;
const LANES = 8;
const FILE_GAP = 24 << 10; // a file has no round trip: what is read in vain costs more there

export async function openSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: OpenValuesOptions = {},
): Promise<ValueReader> {
  checkSharding(sharding);
  const view = store.can.conditional ? (await overlay(store, at, { signal: options.signal })).store : store;
  const limits = limitsFor(options.limits);
  const place: ShardedPlace = { store: view, at, sharding, limits, coder: await coderFor(sharding) };
  const indexes = indexesOf(place, options.cacheBytes ?? CACHE);
  const gap = "pathOf" in view ? FILE_GAP : GAP;

  async function locate(id: bigint, call: ReadOptions = {}): Promise<Wanted | undefined> {
    const { idLow, idHigh, minishard, shardLow, shardHigh } = placeAll(oneId(id), sharding);
    const shard = { low: shardLow[0]!, high: shardHigh[0]! };
    const found = (await indexes.find(shard, minishard, call.signal))?.[0];
    const row = found === undefined ? -1 : Minishard.find(found.minishard, idLow[0]!, idHigh[0]!);
    return row < 0 ? undefined : wantedOf(place, found!, row, 0);
  }

  async function* getMany(ids: BigUint64Array, call: ReadOptions = {}): AsyncGenerator<FoundValues> {
    const placed = placeAll(ids, sharding);
    const { idLow, idHigh, minishard, shardLow, shardHigh } = placed;
    const order = radixOrder([minishard, shardLow, shardHigh], ids.length);
    for (let from = 0, to = 0; from < order.length; from = to) {
      const [low, high] = [shardLow[order[from]!]!, shardHigh[order[from]!]!];
      while (to < order.length && shardLow[order[to]!] === low && shardHigh[order[to]!] === high) to++;
      const numbers = new Set<number>();
      for (let i = from; i < to; i++) numbers.add(minishard[order[i]!]!);
      const found = new Map((await indexes.find({ low, high }, numbers, call.signal))?.map((one) => [one.number, one]));
      const wanted: Wanted[] = [];
      const absent: number[] = [];
      for (let i = from; i < to; i++) {
        const row = order[i]!;
        const own = found.get(minishard[row]!);
        const at = own === undefined ? -1 : Minishard.find(own.minishard, idLow[row]!, idHigh[row]!);
        if (at < 0) absent.push(row);
        else wanted.push(wantedOf(place, own!, at, row));
      }
      if (absent.length > 0) yield { rows: Uint32Array.from(absent), values: absent.map(() => undefined) };
      for await (const run of ahead(runs(wanted, gap, LONGEST), LANES, (run) => fetchRun(place, run, ids, call)))
        yield run;
    }
  }

  return {
    sharding,
    getMany,
    async get(id, call) {
      const wanted = await locate(id, call);
      return wanted && (await fetchRun(place, [wanted], oneId(id), call)).values[0];
    },
    async before(id, back, length, call) {
      const wanted = await locate(id, call);
      if (wanted === undefined) return undefined;
      const { files, offset } = wanted;
      if (offset - back < files.base || length > back) {
        const where = `${store.url}/${files.data}`;
        throw new Corrupt(
          `the value of ${id} in ${where} should have ${back} bytes before it, found ${offset - files.base}`,
          {
            where,
          },
        );
      }
      return view.get(files.data, { range: { offset: offset - back, length }, signal: call?.signal });
    },
    ...scanner(place, indexes, getMany),
  };
}
