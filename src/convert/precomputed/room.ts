/**
 * Room for a new folder of precomputed data, which is there whole when the work has ended, or not at all: the info is written
 * last, and what a failure leaves behind is deleted. A journal marks what a process that was killed has left.
 */
import { Conflict } from "../../errors.js";
import { readInfo, typeOf } from "../../format/precomputed/info.js";
import { JOURNAL, REMAINS } from "../../format/zarr/room.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { FormatOptions } from "../../model/format.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { journaled } from "../journal.js";

interface RoomOptions extends Pick<FormatOptions, "signal"> {
  readonly overwrite?: boolean | undefined;
}

/** Does the work in an empty place, or in one whose data of one of these types may go. */
export async function inRoom<T>(
  store: Store,
  at: Prefix,
  types: readonly string[],
  options: RoomOptions,
  work: () => Promise<T>,
): Promise<T> {
  await makeRoom(store, at, types, options);
  return journaled(store, at, options.signal, work, () => deleteAll(store, at));
}

async function makeRoom(store: Store, at: Prefix, types: readonly string[], { signal, overwrite }: RoomOptions) {
  const { keys, prefixes } = await store.children(at, { signal, bare: true });
  if (keys.length + prefixes.length === 0) return;
  const where = `${store.url}/${at}`.replace(/\/$/, "");
  const old = await readInfo(store, at, { signal });
  const type = old && typeOf(old);
  if (!keys.includes(Key.join(at, JOURNAL)) && !(type !== undefined && types.includes(type)))
    throw new Conflict(`${where} is not empty, and what it holds is not what would replace it`, {
      where,
      hint: "Choose an empty place, or empty this one yourself.",
    });
  if (overwrite !== true)
    throw new Conflict(`${where} already holds ${old === undefined ? "an interrupted conversion" : `data (${type})`}`, {
      where,
      hint: old === undefined ? REMAINS : "Choose another place, or replace it: { overwrite: true }, --overwrite.",
    });
  await store.delete(Key.join(at, "info"), { signal });
  await deleteAll(store, at, signal);
}

async function deleteAll(store: Store, at: Prefix, signal?: AbortSignal): Promise<void> {
  const keys: Key[] = [];
  for await (const { key } of store.list(at, { signal, bare: true })) keys.push(key);
  await forEachConcurrent(keys, 16, (key) => store.delete(key, { signal }));
}
