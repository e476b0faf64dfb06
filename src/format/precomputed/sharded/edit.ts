/**
 * Changes of a map that is there: values added, replaced and deleted, shards written again without what nobody needs. A shard
 * has no room for changes, so each one that is touched is written anew; all of them in one transaction.
 */
import { loadSmallDeflate } from "../../../codec/deflate-small.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { together } from "../together.js";
import type { ValueEditor, ValuesWritten, WriteValuesOptions } from "../values.js";
import { buildShard, writeShard } from "./build.js";
import { coderFor, limitsFor } from "./coder.js";
import { existingShard } from "./existing.js";
import { filesOf } from "./open-shard.js";
import { checkSharding } from "./parse.js";
import type { Shard } from "./place.js";
import { indexesOf, type ShardedPlace } from "./read-index.js";
import { shardsOf } from "./scan.js";
import type { Section } from "./section.js";
import type { Sharding } from "./types.js";
import { gathering, turns } from "./write.js";

export async function editSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: WriteValuesOptions = {},
): Promise<ValueEditor> {
  const { signal } = options;
  const { scratch, coder, values } = await gathering(store, at, sharding, options);
  const writer = turns(`${store.url}/${at}`, scratch, values, coder, {
    abort: async () => {},
    commit: () =>
      together(store, at, options, async (into) => {
        const place = { store: into, at, sharding, coder, limits: limitsFor(options.limits) };
        const indexes = indexesOf(place, 0);
        const sum = { values: 0, bytes: 0, files: 0 };
        for (const { shard, sections } of values.shards()) {
          const existing = await existingShard(place, indexes, shard, { unreferenced: "keep", signal });
          add(sum, await rewriteShard(place, shard, [...(existing ? [existing] : []), ...(await sections())], signal));
        }
        return sum;
      }),
  });
  const { take, ...rest } = writer;
  return { ...rest, delete: (id) => take(id, undefined) };
}

/** How to write shards again. */
export interface CompactOptions extends ReadOptions {
  /**
   * Bytes that no index names, directly before a value. Kept unless told: meshes of several resolutions live there. What
   * belongs to nobody is never kept.
   */
  readonly unreferenced?: "keep" | "drop" | undefined;
  readonly transaction?: boolean | undefined;
}

/** What that has led to. */
export interface Compacted extends ValuesWritten {
  /** Bytes of all files before. */
  readonly before: number;
}

/** Writes every shard again, in the usual order, without gaps; shards of two files become one, empty ones go. */
export async function compactSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: CompactOptions = {},
): Promise<Compacted> {
  checkSharding(sharding);
  const { unreferenced = "keep", signal } = options;
  const coder = await coderFor(sharding, loadSmallDeflate);
  return together(store, at, options, async (into) => {
    const place = { store: into, at, sharding, coder, limits: limitsFor(options.limits) };
    const indexes = indexesOf(place, 0);
    const sum = { values: 0, bytes: 0, files: 0, before: 0 };
    for await (const shard of shardsOf(place, signal)) {
      const existing = await existingShard(place, indexes, shard, { unreferenced, signal });
      add(sum, await rewriteShard(place, shard, existing ? [existing] : [], signal));
    }
    return sum;
  });
}

type Rewritten = ValuesWritten & { readonly before: number };

function add(sum: { values: number; bytes: number; files: number; before?: number }, one: Rewritten): void {
  sum.values += one.values;
  sum.bytes += one.bytes;
  sum.files += one.files;
  if (sum.before !== undefined) sum.before += one.before;
}

/** Writes a shard anew, in the form of one file; without a shard where nothing is left. */
export async function rewriteShard(
  { store, at, sharding, coder }: ShardedPlace,
  shard: Shard,
  sections: readonly Section[],
  signal: AbortSignal | undefined,
): Promise<Rewritten> {
  const { data } = filesOf(at, shard, sharding, "shard");
  const old = filesOf(at, shard, sharding, "old");
  let before = 0;
  for (const key of [data, old.index, old.data]) before += (await store.stat(key, { signal }))?.size ?? 0;
  const built = buildShard(sections, sharding, coder, "last", `${store.url}/${at}`);
  if (built !== undefined) await writeShard(store, data, built, signal);
  else await store.delete(data, { signal });
  for (const key of [old.index, old.data]) await store.delete(key, { signal });
  return { values: built?.values ?? 0, bytes: built?.bytes ?? 0, files: built === undefined ? 0 : 1, before };
}
