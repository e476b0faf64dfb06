/**
 * Everything in order: the shards that there are, in each the minishards, in each the ids as they are listed. Ids are read from
 * the indexes alone; values in windows of several megabytes, of which the next is fetched while one is used.
 *
 * A store that cannot list has its shards asked for one by one, as long as there are not too many.
 */
import { radixOrder } from "../../../bytes/radix.js";
import { Corrupt, Unsupported } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { runs } from "../../../store/coalesce.js";
import type { Prefix } from "../../../store/key.js";
import type { FoundValues, ScanOptions, ValueBatch, ValueReader } from "../values.js";
import { ahead } from "./ahead.js";
import { fetchRuns, type Wanted, wantedOf } from "./fetch.js";
import { type Shard, shardOfName } from "./place.js";
import type { Opened } from "./read.js";
import { type Found, GAP, LONGEST, type OpenShard, type ShardedPlace } from "./read-index.js";
import type { Sharding } from "./types.js";

const WINDOW = 4 << 20;
const LISTED = 4096; // ids in a batch of ids in order
const ASKED_BITS = 12; // shards that are asked for one by one: 2^12 at most
const END = 2n ** 64n;

/** The shards that there are, ascending; each may have one file or, in the older form, two. */
export async function* shardsOf(
  { store, at, sharding }: { readonly store: ShardedPlace["store"]; readonly at: Prefix; readonly sharding: Sharding },
  signal?: AbortSignal,
): AsyncGenerator<Shard> {
  if (store.can.list) {
    const names = new Set<string>();
    for (const key of (await store.children(at, { signal, bare: true })).keys) {
      const [name, extension, more] = key.slice(at.length).split(".");
      if (more === undefined && (extension === "shard" || extension === "index")) names.add(name!);
    }
    // As many digits in each: sorted as texts they are sorted as numbers.
    for (const name of [...names].sort()) {
      const shard = shardOfName(name, sharding);
      if (shard !== undefined) yield shard;
    }
    return;
  }
  if (sharding.shardBits > ASKED_BITS)
    throw new Unsupported(
      `the store ${store.url} cannot be listed, and asking for each of 2^${sharding.shardBits} shards would take too long`,
      { where: store.url, reason: "list" },
    );
  for (let low = 0; low < 2 ** sharding.shardBits; low++) yield { low, high: 0 };
}

export function scanner(
  now: () => Opened,
  getMany: (ids: BigUint64Array, call?: ReadOptions) => AsyncIterable<FoundValues>,
): Pick<ValueReader, "ids" | "entries"> {
  async function* shards(call: ScanOptions): AsyncGenerator<{ place: ShardedPlace; shard: OpenShard; found: Found[] }> {
    const { place, indexes } = now();
    for await (const number of shardsOf(place, call.signal)) {
      const shard = await indexes.open(number, call.signal);
      try {
        const found = await shard.find(undefined, call.signal);
        if (found !== undefined && found.length > 0) yield { place, shard, found };
      } finally {
        shard.close();
      }
    }
  }

  async function* stored(call: ScanOptions): AsyncGenerator<BigUint64Array> {
    const within = rangeTest(call);
    for await (const { found } of shards(call))
      for (const { minishard } of found) {
        const ids = within === undefined ? minishard.ids.slice() : minishard.ids.filter(within);
        if (ids.length > 0) yield ids;
      }
  }

  async function inOrder(call: ScanOptions): Promise<BigUint64Array> {
    const all: BigUint64Array[] = [];
    for await (const ids of stored(call)) all.push(ids);
    const out = new BigUint64Array(all.reduce((sum, ids) => sum + ids.length, 0));
    let at = 0;
    for (const ids of all) {
      out.set(ids, at);
      at += ids.length;
    }
    return sorted(out);
  }

  async function* entries(call: ScanOptions): AsyncGenerator<ValueBatch> {
    for await (const { place, shard, found } of shards(call)) {
      const { ids, wanted } = wantedIn(place, found, call);
      const read = async (window: readonly Wanted[]): Promise<ValueBatch> => {
        const first = window[0]!.row;
        const { rows, values } = await fetchRuns(place, found[0]!.files, shard, runs(window, GAP, LONGEST), ids, call);
        const own: Uint8Array[] = new Array(window.length);
        for (let i = 0; i < rows.length; i++) own[rows[i]! - first] = values[i]!;
        return { ids: ids.slice(first, first + window.length), values: own };
      };
      yield* ahead(windows(wanted), 2, read);
    }
  }

  async function* entriesInOrder(call: ScanOptions): AsyncGenerator<ValueBatch> {
    const { store, at } = now().place;
    const all = await inOrder(call);
    for (let start = 0; start < all.length; start += LISTED) {
      const ids = all.slice(start, start + LISTED);
      const values: Uint8Array[] = new Array(ids.length);
      for await (const found of getMany(ids, call))
        for (let i = 0; i < found.rows.length; i++) values[found.rows[i]!] = found.values[i]!;
      const lost = ids.findIndex((_, i) => values[i] === undefined);
      if (lost >= 0)
        throw new Corrupt(`${store.url}/${at} lists ${ids[lost]} in a minishard where nobody looks for it`);
      yield { ids, values };
    }
  }

  return {
    async *ids(call = {}) {
      if (call.order !== "id") return yield* stored(call);
      const all = await inOrder(call);
      for (let start = 0; start < all.length; start += LISTED) yield all.slice(start, start + LISTED);
    },
    entries: (call = {}) => (call.order === "id" ? entriesInOrder(call) : entries(call)),
  };
}

/** Whether an id is asked for; undefined where all are. */
export function rangeTest({ range }: ScanOptions): ((id: bigint) => boolean) | undefined {
  if (range === undefined) return undefined;
  const { from = 0n, to = END } = range;
  return (id) => id >= from && id < to;
}

/** By the words of the ids: ten times as fast as a sort of bigints. */
function sorted(ids: BigUint64Array): BigUint64Array {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  const low = new Uint32Array(ids.length);
  const high = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    low[i] = words[2 * i]!;
    high[i] = words[2 * i + 1]!;
  }
  const order = radixOrder([low, high], ids.length);
  const out = new BigUint64Array(ids.length);
  const to = new Uint32Array(out.buffer);
  for (let i = 0; i < order.length; i++) {
    to[2 * i] = low[order[i]!]!;
    to[2 * i + 1] = high[order[i]!]!;
  }
  return out;
}

/** All that a shard holds, in order. */
function wantedIn(place: ShardedPlace, found: readonly Found[], call: ScanOptions) {
  const within = rangeTest(call);
  const ids = new BigUint64Array(found.reduce((sum, { minishard }) => sum + minishard.count, 0));
  const wanted: Wanted[] = [];
  for (const one of found)
    for (let i = 0; i < one.minishard.count; i++) {
      const id = one.minishard.ids[i]!;
      if (within !== undefined && !within(id)) continue;
      ids[wanted.length] = id;
      wanted.push(wantedOf(place, one, i, wanted.length));
    }
  return { ids, wanted };
}

function* windows(wanted: readonly Wanted[]): Generator<readonly Wanted[]> {
  for (let from = 0, to = 0; from < wanted.length; from = to) {
    for (let bytes = 0; to < wanted.length && (to === from || bytes + wanted[to]!.length <= WINDOW); to++)
      bytes += wanted[to]!.length;
    yield wanted.slice(from, to);
  }
}
