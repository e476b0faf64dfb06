/**
 * A new map. What is put is gathered and put aside where it does not fit into memory; `commit` writes the shards, several at a
 * time, each whole or not at all. Where there is an old map to overwrite, all of it happens in one transaction; a new map
 * becomes visible by the info that its owner writes when everything is there.
 */
import { loadSmallDeflate } from "../../../codec/deflate-small.js";
import { Conflict, InvalidInput } from "../../../errors.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import { type Key, LOGS, Prefix } from "../../../store/key.js";
import { type Scratch, scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { together } from "../together.js";
import type { ValuesWritten, ValueWriter, WriteValuesOptions } from "../values.js";
import { buildShard, writeShard } from "./build.js";
import { type Coder, coderFor } from "./coder.js";
import { type Collector, collector } from "./collect.js";
import { filesOf } from "./open-shard.js";
import { checkSharding } from "./parse.js";
import { oneId, placeAll, shardOfName, wordsOf } from "./place.js";
import type { Sharding } from "./types.js";

const MEMORY = 32 << 20;
/** Shards that are written at once: uploads and syncs wait more than they work. */
export const SHARDS = 4;

export async function createSharded(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: WriteValuesOptions = {},
): Promise<ValueWriter> {
  const { signal } = options;
  const { scratch, coder, values } = await gathering(store, at, sharding, options);
  const old = await oldFiles(store, at, sharding, signal);
  if (old.length > 0 && options.overwrite !== true)
    throw new Conflict(`${store.url}/${at} already holds shards, such as ${old[0]!.slice(at.length)}`, {
      where: `${store.url}/${at}`,
      hint: "Choose another place, or overwrite (--overwrite).",
    });
  const written = new Set<Key>();

  async function writeAll(into: Store): Promise<ValuesWritten> {
    const sum = { values: 0, bytes: 0, files: 0 };
    const spare = new Set(old);
    await forEachConcurrent(values.shards(), SHARDS, async ({ shard, sections }) => {
      signal?.throwIfAborted();
      const { data } = filesOf(at, shard, sharding, "shard");
      const built = buildShard(await sections(), sharding, coder, "once", `${store.url}/${at}`)!;
      written.add(data);
      spare.delete(data);
      await writeShard(into, data, built, signal);
      sum.values += built.values;
      sum.bytes += built.bytes;
      sum.files++;
    });
    await forEachConcurrent(spare, SHARDS, (key) => into.delete(key, { signal }));
    return sum;
  }

  const writer = turns(`${store.url}/${at}`, scratch, values, coder, {
    commit: () => (old.length > 0 ? together(store, at, options, writeAll) : writeAll(store)),
    abort: () => (old.length > 0 ? Promise.resolve() : forEachConcurrent(written, SHARDS, (key) => store.delete(key))),
  });
  if (store.wants === undefined) return writer;
  const wants = (id: bigint): boolean => {
    const { shardLow, shardHigh } = placeAll(oneId(id), sharding);
    return store.wants!(filesOf(at, { low: shardLow[0]!, high: shardHigh[0]! }, sharding, "shard").data);
  };
  return { ...writer, wants, put: async (id, ...value) => (wants(id) ? writer.put(id, ...value) : undefined) };
}

/** What gathers values for a place. */
export async function gathering(store: Store, at: Prefix, sharding: Sharding, options: WriteValuesOptions) {
  checkSharding(sharding);
  const place = options.scratch ?? { store, at: Prefix.join(at, LOGS) };
  const scratch = scratchIn(place, options.maxMemory ?? MEMORY, options.signal);
  return { scratch, coder: await coderFor(sharding, loadSmallDeflate), values: collector(sharding, scratch) };
}

/** The life of a writer: values one after the other, then an end. */
export function turns(
  where: string,
  scratch: Scratch,
  values: Collector,
  coder: Coder,
  ends: { commit(): Promise<ValuesWritten>; abort(): Promise<void> },
): ValueWriter & { take(id: bigint, bytes: Uint8Array | undefined, before?: Uint8Array): Promise<void> } {
  const own = new BigUint64Array(1);
  const words = wordsOf(own);
  let state: "open" | "failed" | "ended" = "open";
  let turn: Promise<void> | undefined; // of a value that waits until others are put aside
  const mustBeOpen = (): void => {
    if (state === "ended") throw new InvalidInput(`the writer of ${where} has already been committed or aborted`);
    if (state === "failed")
      throw new InvalidInput(`the writer of ${where} has failed; all that is left is to abort it`);
  };

  async function take(id: bigint, bytes: Uint8Array | undefined, before?: Uint8Array): Promise<void> {
    while (turn !== undefined) await turn;
    mustBeOpen();
    oneId(id, own);
    const stored = bytes && coder.encodeValue(bytes);
    const waits = values.add(words[0]!, words[1]!, stored, before);
    if (waits === undefined) return;
    state = "failed"; // until it has not
    turn = waits.then(
      () => {
        state = "open";
        turn = undefined;
      },
      () => {
        turn = undefined;
      },
    );
    await waits;
  }

  return {
    take,
    put: (id, bytes, before) => take(id, bytes, before),
    async commit() {
      while (turn !== undefined) await turn;
      mustBeOpen();
      state = "failed";
      try {
        const written = await ends.commit();
        state = "ended";
        return written;
      } catch (error) {
        await ends.abort();
        throw error;
      } finally {
        await scratch.clear();
      }
    },
    async abort() {
      if (state === "ended") return;
      while (turn !== undefined) await turn;
      state = "ended";
      await scratch.clear();
      await ends.abort();
    },
  };
}

/** Files of shards that are there, of this sharding or another. */
async function oldFiles(store: Store, at: Prefix, sharding: Sharding, signal: AbortSignal | undefined): Promise<Key[]> {
  if (!store.can.list) return [];
  const { keys } = await store.children(at, { signal, bare: true });
  return keys.filter((key) => {
    const [name, extension, more] = key.slice(at.length).split(".");
    if (more !== undefined) return false;
    if (extension === "shard") return /^[0-9a-f]{1,16}$/.test(name!);
    return (extension === "index" || extension === "data") && shardOfName(name!, sharding) !== undefined;
  });
}
