/**
 * Repair: ids are brought into order and to where they are looked for, of several values of an id the one stays that readers
 * find, the older form becomes the current one, empty files and bytes of nobody go. Nothing is made up, and a shard of which a
 * part cannot be read is left as it is. All of it is one transaction.
 */
import { loadSmallDeflate } from "../../../codec/deflate-small.js";
import type { Finding, RepairOptions, RepairReport } from "../../../model/format.js";
import { LOGS, Prefix } from "../../../store/key.js";
import { scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { together } from "../together.js";
import { coderFor, limitsFor } from "./coder.js";
import { collector } from "./collect.js";
import { rewriteShard } from "./edit.js";
import { type Existing, existingShard } from "./existing.js";
import { filesOf } from "./open-shard.js";
import { type Shard, shardName } from "./place.js";
import { indexesOf, type ShardedPlace } from "./read-index.js";
import { shardsOf } from "./scan.js";
import type { Sharding } from "./types.js";
import { verifyNames, verifyShard } from "./verify.js";

const MEMORY = 32 << 20;

export async function repairSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: RepairOptions = {},
): Promise<RepairReport> {
  const { signal } = options;
  const coder = await coderFor(sharding, loadSmallDeflate);
  return together(store, at, { signal, transaction: options.dryRun !== true }, async (into) => {
    const place: ShardedPlace = { store: into, at, sharding, coder, limits: limitsFor(options.limits) };
    const { fixed, left, wrong } = await look(place, signal);
    if (options.dryRun === true || wrong.length === 0) return { fixed, left };
    const scratch = scratchIn({ store, at: Prefix.join(at, LOGS) }, MEMORY, signal);
    try {
      await rewriteAll(place, wrong, collector(sharding, scratch), signal);
    } finally {
      await scratch.clear();
    }
    return { fixed, left };
  });
}

/** What is wrong, and the shards that can be written again. */
async function look(place: ShardedPlace, signal: AbortSignal | undefined) {
  const fixed: Finding[] = [];
  const left: Finding[] = [];
  const wrong: Shard[] = [];
  const take = (found: readonly Finding[], shard: Shard | undefined): void => {
    // Where something is lost, writing the rest again would hide it. A value that does not decode is kept as it is.
    const whole = found.every(
      (one) => one.fix !== undefined || one.severity !== "error" || one.rule === "sharded/value",
    );
    for (const one of found) (whole && one.fix !== undefined ? fixed : left).push(one);
    if (whole && shard !== undefined && found.some((one) => one.fix !== undefined)) wrong.push(shard);
  };
  const names = new Map<string, Finding[]>();
  if (place.store.can.list)
    for await (const one of verifyNames(place.store, place.at, place.sharding, signal)) {
      const name = one.where.slice(place.at.length).split(".")[0]!;
      names.set(name, [...(names.get(name) ?? []), one]);
    }
  for await (const shard of shardsOf(place, signal)) {
    const name = shardName(shard, place.sharding);
    const found = names.get(name) ?? [];
    names.delete(name);
    for await (const one of verifyShard(place, shard, 5, signal)) found.push(one);
    take(found, shard);
  }
  for (const found of names.values()) take(found, undefined);
  return { fixed, left, wrong };
}

async function rewriteAll(
  place: ShardedPlace,
  wrong: readonly Shard[],
  moved: ReturnType<typeof collector>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const indexes = indexesOf(place, 0);
  const existing = new Map<string, { readonly shard: Shard; readonly there: Existing | undefined }>();
  const load = async (shard: Shard): Promise<void> => {
    const { data } = filesOf(place.at, shard, place.sharding, "shard");
    const empty = (await place.store.stat(data, { signal }))?.size === 0;
    const there = empty
      ? undefined
      : await existingShard(place, indexes, shard, {
          unreferenced: "keep",
          signal,
          misplaced: async (low, high, stored, before) => moved.add(low, high, stored, before),
        });
    existing.set(shardName(shard, place.sharding), { shard, there });
  };
  for (const shard of wrong) await load(shard);
  for (const { shard, sections } of moved.shards()) {
    const name = shardName(shard, place.sharding);
    if (!existing.has(name)) await load(shard);
    const there = existing.get(name)!.there;
    existing.delete(name);
    // What is there already comes last, and so stays.
    await rewriteShard(place, shard, [...(await sections()), ...(there ? [there] : [])], signal);
  }
  for (const { shard, there } of existing.values()) await rewriteShard(place, shard, there ? [there] : [], signal);
}
