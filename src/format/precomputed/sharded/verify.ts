/**
 * Everything that can be said against the shards of a map. Indexes are read whole, values only where their encoding has a
 * checksum. What is wrong many times in a minishard is one finding, with the first case and their number.
 */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { coderFor, limitsFor } from "./coder.js";
import { inspectShard } from "./inspect.js";
import { filesOf } from "./open-shard.js";
import { type Shard, shardOfName } from "./place.js";
import type { ShardedPlace } from "./read-index.js";
import { finding } from "./rules.js";
import { shardsOf } from "./scan.js";
import type { Sharding } from "./types.js";
import { checkRanges } from "./verify-ranges.js";
import { checkValues } from "./verify-values.js";

/** Level 1 looks at names, 2 at indexes, 3 at ranges; from 4 on values are decoded. */
export async function* verifySharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  const { level = 5, signal, onProgress } = options;
  const place = { store, at, sharding, coder: await coderFor(sharding), limits: limitsFor(options.limits) };
  if (store.can.list) yield* verifyNames(store, at, sharding, signal);
  if (level < 2) return;
  let done = 0;
  for await (const shard of shardsOf(place, signal)) {
    yield* verifyShard(place, shard, level, signal);
    onProgress?.({ done: ++done, total: done, unit: "files" });
  }
}

export async function* verifyShard(
  place: ShardedPlace,
  shard: Shard,
  level: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  for (const form of ["shard", "old"] as const) {
    const files = filesOf(place.at, shard, place.sharding, form);
    const seen = yield* inspectShard(place, files, shard, signal);
    if (seen === undefined) continue;
    if (level >= 3) yield* checkRanges(place.store, seen);
    if (level >= 4 && place.sharding.dataEncoding === "gzip") yield* checkValues(place, seen, signal);
    return; // where there are both forms, readers take the first
  }
}

/** Files that look like those of shards. */
export async function* verifyNames(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const names = new Map<string, Set<string>>();
  for (const key of (await store.children(at, { signal, bare: true })).keys) {
    const [, name, extension] = /^([0-9a-fA-F]+)\.(shard|index|data)$/.exec(key.slice(at.length)) ?? [];
    if (name === undefined) continue;
    if (shardOfName(name, sharding) === undefined) {
      const message = `${store.url}/${key} is not the name of one of 2^${sharding.shardBits} shards, so that nobody reads it`;
      if (extension === "shard") yield finding("sharded/name", key, message);
      continue;
    }
    names.set(name, (names.get(name) ?? new Set()).add(extension!));
  }
  for (const [name, forms] of names) {
    const where = Key.join(at, `${name}.${forms.has("shard") ? "shard" : "index"}`);
    const there = [...forms].sort().join(", ");
    const pair = forms.has("index") && forms.has("data");
    if (forms.size > 1 && !(pair && forms.size === 2))
      yield finding(
        "sharded/pair",
        where,
        `shard ${name} of ${store.url}/${at} has ${there}; it should have one form of files`,
      );
    else if (pair)
      yield finding(
        "sharded/old-form",
        where,
        `shard ${name} of ${store.url}/${at} has the older form (${there}), which tensorstore, cloud-volume and Neuroglancer take for missing`,
      );
    else if (!forms.has("shard"))
      yield finding("sharded/pair", where, `shard ${name} of ${store.url}/${at} has only ${there} of the older form`);
  }
}
