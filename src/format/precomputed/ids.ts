/** Which values there are, and what reading them would cost at most, told by names and sizes of files alone. */
import { Corrupt } from "../../errors.js";
import type { ReadOptions, ReadPlan } from "../../model/dataset.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { placeAll, shardName } from "./sharded/place.js";
import type { Sharding } from "./sharded/types.js";
import { decimalNames } from "./unsharded.js";
import type { ValueNames, ValueReader } from "./values.js";

/** Every id that there is, ascending. */
export async function allIds(values: ValueReader, options: ReadOptions = {}): Promise<BigUint64Array> {
  const lists: BigUint64Array[] = [];
  let count = 0;
  for await (const ids of values.ids({ ...options, order: "id" })) {
    lists.push(ids);
    count += ids.length;
  }
  const all = new BigUint64Array(count);
  let at = 0;
  for (const ids of lists) {
    all.set(ids, at);
    at += ids.length;
  }
  return all;
}

/** Those of these ids that have a value. */
export async function existingIds(
  values: ValueReader,
  ids: BigUint64Array,
  options: ReadOptions,
): Promise<BigUint64Array> {
  const found = new Uint8Array(ids.length);
  for await (const { rows, values: bytes } of values.getMany(ids, options))
    for (let i = 0; i < rows.length; i++) if (bytes[i] !== undefined) found[rows[i]!] = 1;
  return ids.filter((_, i) => found[i] === 1);
}

/** What a listing has named must be there. */
export function present<T>(value: T | undefined, where: string): T {
  if (value === undefined) throw new Corrupt(`${where} was listed, but is not there`, { where });
  return value;
}

/** The cost of these values; of all where there are no ids. */
export async function costOf(
  values: {
    readonly store: Store;
    readonly at: Prefix;
    readonly sharding: Sharding | null;
    readonly names?: ValueNames;
  },
  ids: BigUint64Array | undefined,
  { signal }: ReadOptions = {},
): Promise<ReadPlan> {
  const { store, at, sharding, names = decimalNames } = values;
  if (ids === undefined) return allFiles(values, signal);
  const files = new Set<string>();
  let requests = ids.length;
  if (sharding === null)
    for (const id of ids) {
      files.add(names.nameOf(id));
      if (names.beforeOf !== undefined) files.add(names.beforeOf(id));
    }
  else {
    const { shardLow, shardHigh, minishard } = placeAll(ids, sharding);
    const minishards = new Set<string>();
    for (let i = 0; i < ids.length; i++) {
      const shard = shardName({ low: shardLow[i]!, high: shardHigh[i]! }, sharding);
      files.add(`${shard}.shard`);
      minishards.add(`${shard} ${minishard[i]}`);
    }
    requests += files.size + minishards.size;
  }
  if (!store.can.list) return { requests, bytes: Number.NaN, exact: false };
  let bytes = 0;
  for (const name of files) bytes += (await store.stat(Key.join(at, name), { signal }))?.size ?? 0;
  return { requests, bytes, exact: sharding === null };
}

/** A file for each value, or a stretch of a shard after the other. */
async function allFiles(
  { store, at, sharding, names = decimalNames }: Parameters<typeof costOf>[0],
  signal: AbortSignal | undefined,
): Promise<ReadPlan> {
  if (!store.can.list) return { requests: Number.NaN, bytes: Number.NaN, exact: false };
  let [requests, bytes] = [0, 0];
  for await (const { key, size = 0 } of store.list(at, { signal })) {
    const name = key.slice(at.length);
    const counts = sharding === null ? names.idOf(name) !== undefined : name.endsWith(".shard") && !name.includes("/");
    if (!counts) continue;
    requests += sharding === null ? 1 : 2 + Math.ceil(size / STRETCH);
    bytes += size;
  }
  return { requests, bytes, exact: sharding === null };
}

const STRETCH = 16 << 20; // of a shard, that is read at once
