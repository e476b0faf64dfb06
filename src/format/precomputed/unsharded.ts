/**
 * Values in files of their own, one for each id: `names` says which. What belongs before a value lies in another file, whole.
 *
 * Software that writes to disk with compression (cloud-volume) adds ".gz" to the name and leaves it to the web server to say
 * `Content-Encoding: gzip`. Where there is no server, a file that is absent is looked for under that name too.
 */
import { loadDeflate } from "../../codec/deflate.js";
import { gzipWith } from "../../codec/gzip.js";
import { Conflict, Corrupt, InvalidInput } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key, type Prefix } from "../../store/key.js";
import { overlay } from "../../store/overlay.js";
import { Transaction } from "../../store/transaction.js";
import type { Store } from "../../store/types.js";
import { cannot } from "../../store/wrap.js";
import { isChanged } from "./sharded/open-shard.js";
import type {
  OpenValuesOptions,
  ScanOptions,
  ValueEditor,
  ValueNames,
  ValueReader,
  ValueWriter,
  WriteValuesOptions,
} from "./values.js";

const LANES = 16;
const BATCH = 256;
const MAX = 2n ** 64n;

/** Decimal, without leading zeros. */
export const decimalNames: ValueNames = {
  nameOf: (id) => `${id}`,
  idOf: (name) => {
    const id = /^(0|[1-9]\d{0,19})$/.test(name) ? BigInt(name) : MAX;
    return id < MAX ? id : undefined;
  },
};

/** A file, also where it has ".gz" after its name; undefined where there is none. */
export async function readWhole(
  store: Store,
  key: Key,
  limits: Limits,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const bytes = await store.get(key, { signal, most: limits.chunkBytes });
  if (bytes !== undefined || !store.can.list) return bytes;
  const compressed = await store.get(Key.of(`${key}.gz`), { signal, most: limits.chunkBytes });
  return compressed && gzipWith(await loadDeflate()).decompress(compressed, undefined, limits);
}

export async function openUnsharded(below: Store, at: Prefix, options: OpenValuesOptions): Promise<ValueReader> {
  const names = options.names ?? decimalNames;
  /** Of edits that others have committed and not yet brought to their places, all is seen. */
  const open = async (signal: AbortSignal | undefined): Promise<Store> =>
    below.can.conditional ? (await overlay(below, at, { signal })).store : below;
  let store = await open(options.signal);

  async function get(id: bigint, call: ReadOptions = {}): Promise<Uint8Array | undefined> {
    const limits = withLimits(call.limits ?? options.limits);
    const read = () => readWhole(store, Key.join(at, names.nameOf(id)), limits, call.signal);
    try {
      return await read();
    } catch (error) {
      if (!isChanged(error)) throw error;
      store = await open(call.signal);
      return read();
    }
  }

  /** Ascending, as the names are sorted differently. */
  async function list(call: ScanOptions = {}): Promise<BigUint64Array> {
    if (!store.can.list) throw cannot(store.url, "list");
    const { from = 0n, to = MAX } = call.range ?? {};
    const ids = new Set<bigint>();
    for (const key of (await store.children(at, { signal: call.signal, bare: true })).keys) {
      const name = key.slice(at.length);
      const id = names.idOf(name) ?? names.idOf(name.replace(/\.gz$/, ""));
      if (id !== undefined && id >= from && id < to) ids.add(id);
    }
    return BigUint64Array.from(ids).sort();
  }

  async function* getMany(ids: BigUint64Array, call?: ReadOptions) {
    for (let start = 0; start < ids.length; start += BATCH) {
      const rows = Uint32Array.from({ length: Math.min(BATCH, ids.length - start) }, (_, i) => start + i);
      const values: (Uint8Array | undefined)[] = new Array(rows.length);
      await forEachConcurrent(rows, LANES, async (row) => {
        values[row - start] = await get(ids[row]!, call);
      });
      yield { rows, values };
    }
  }

  return {
    sharding: null,
    get,
    getMany,
    async before(id, back, length, call) {
      if (names.beforeOf === undefined)
        throw new InvalidInput(`the values of ${store.url}/${at} have nothing before them`);
      const key = Key.join(at, names.beforeOf(id));
      const signal = call?.signal;
      const size = (await store.stat(key, { signal }))?.size;
      if (size === undefined) return undefined;
      if (back > size || length > back) {
        const where = `${store.url}/${key}`;
        throw new Corrupt(`${where} should have ${back} bytes or more, found ${size}`, { where });
      }
      return store.get(key, { range: { offset: size - back, length }, signal });
    },
    async *ids(call) {
      const ids = await list(call);
      if (ids.length > 0) yield ids;
    },
    async *entries(call) {
      const ids = await list(call);
      for await (const { rows, values } of getMany(ids, call)) {
        const there = rows.filter((_, i) => values[i] !== undefined); // others may delete meanwhile
        yield {
          ids: BigUint64Array.from(there, (row) => ids[row]!),
          values: values.filter((value) => value !== undefined),
        };
      }
    },
  };
}

export async function createUnsharded(store: Store, at: Prefix, options: WriteValuesOptions): Promise<ValueWriter> {
  const { names = decimalNames, signal } = options;
  const there = store.can.list ? (await store.children(at, { signal, bare: true })).keys : [];
  const taken = there.filter((key) => names.idOf(key.slice(at.length)) !== undefined);
  if (taken.length > 0 && options.overwrite !== true)
    throw new Conflict(`${store.url}/${at} already holds values, such as ${taken[0]!.slice(at.length)}`, {
      where: `${store.url}/${at}`,
      hint: "Choose another place, or overwrite (--overwrite).",
    });
  await forEachConcurrent(taken, LANES, (key) => store.delete(key, { signal }));
  return writer(store, at, options, {
    reject: (id) => new InvalidInput(`the id ${id} came twice for ${store.url}/${at}`),
    commit: async () => {},
    abort: (written) => forEachConcurrent(written, LANES, (key) => store.delete(key)),
  });
}

export async function editUnsharded(store: Store, at: Prefix, options: WriteValuesOptions): Promise<ValueEditor> {
  const { names = decimalNames, signal } = options;
  const direct = options.transaction === false || !store.can.conditional;
  const transaction = direct ? undefined : await Transaction.begin(store, at, { signal });
  const place = transaction?.store ?? store;
  const inside = writer(place, at, options, {
    commit: async () => void (await transaction?.commit({ signal })),
    abort: async () => transaction?.abort(),
  });
  return {
    ...inside,
    async delete(id) {
      for (const name of [names.nameOf(id), `${names.nameOf(id)}.gz`, names.beforeOf?.(id)])
        if (name !== undefined) await place.delete(Key.join(at, name), { signal });
    },
  };
}

interface Ends {
  /** The error for an id that comes again; without it the last one counts. */
  reject?(id: bigint): Error;
  commit(): Promise<void>;
  abort(written: Iterable<Key>): Promise<void>;
}

function writer(store: Store, at: Prefix, options: WriteValuesOptions, ends: Ends): ValueWriter {
  const { names = decimalNames, signal } = options;
  const written = new Map<Key, number>();
  let values = 0;
  let ended = false;
  const set = async (name: string, bytes: Uint8Array): Promise<void> => {
    const key = Key.join(at, name);
    written.set(key, bytes.length);
    await store.set(key, bytes, { signal });
  };
  const mustBeOpen = (): void => {
    if (ended) throw new InvalidInput(`the writer of ${store.url}/${at} has already been committed or aborted`);
  };
  const wants = (id: bigint): boolean =>
    store.wants === undefined ||
    [names.nameOf(id), names.beforeOf?.(id)].some((name) => name !== undefined && store.wants!(Key.join(at, name)));
  return {
    wants,
    async put(id, bytes, before) {
      mustBeOpen();
      if (before !== undefined && names.beforeOf === undefined)
        throw new InvalidInput(`the values of ${store.url}/${at} have nothing before them`);
      const again = written.has(Key.join(at, names.nameOf(id)));
      if (again && ends.reject !== undefined) throw ends.reject(id);
      if (!again) values++;
      // The value last: whoever finds it expects the rest.
      if (names.beforeOf !== undefined) await set(names.beforeOf(id), before ?? new Uint8Array());
      await set(names.nameOf(id), bytes);
    },
    async commit() {
      mustBeOpen();
      ended = true;
      await ends.commit();
      return { values, files: written.size, bytes: [...written.values()].reduce((sum, size) => sum + size, 0) };
    },
    async abort() {
      if (ended) return;
      ended = true;
      await ends.abort(written.keys());
    },
  };
}
