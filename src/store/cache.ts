/**
 * Keeps what was read, up to a number of bytes, the longest unused first to go; and lets everybody who asks for the same
 * bytes at the same time wait for one request.
 *
 * An entry is a key with a range, or a whole value, which also answers every range of its key. What is written through this
 * store is forgotten here; what others write is not noticed, so this is for data that stay as they are while they are read.
 */
import type { Key } from "./key.js";
import { rangeText, spanFor } from "./range.js";
import { type Shared, share } from "./share.js";
import type { GetOptions, Store } from "./types.js";
import { wrap } from "./wrap.js";

/** How much to keep. */
export interface CacheOptions {
  /** 64 MiB unless told otherwise: some dozens of chunks of usual size. */
  readonly bytes?: number | undefined;
  /** Also remember which keys are absent. Off by default, because a key that is absent is often about to be written. */
  readonly absent?: boolean | undefined;
}

type Value = Uint8Array | undefined;

const ENTRY = 200; // bytes that an entry costs besides its value, so that empty and absent ones are bounded too

/** The store with a memory: what was read stays, up to a number of bytes. */
export function cacheStore(store: Store, options: CacheOptions = {}): Store {
  const budget = options.bytes ?? 64 << 20;
  const kept = new Map<string, Value>(); // in the order of their last use
  const underWay = new Map<string, Shared<Value>>();
  let used = 0;
  let writes = 0;

  const cost = (id: string, value: Value) => ENTRY + id.length + (value?.length ?? 0);

  function keep(id: string, value: Value): void {
    if ((value === undefined && options.absent !== true) || cost(id, value) > budget) return;
    drop(id);
    kept.set(id, value);
    used += cost(id, value);
    for (const oldest of kept.keys()) {
      if (used <= budget) break;
      drop(oldest);
    }
  }

  function drop(id: string): void {
    if (!kept.has(id)) return;
    used -= cost(id, kept.get(id));
    kept.delete(id);
  }

  function touch(id: string): Value {
    const value = kept.get(id);
    kept.delete(id);
    kept.set(id, value);
    return value;
  }

  /** Forgets a key before and after a write to it, so that neither an old entry nor an old request outlives it. */
  async function forgetting<T>(key: Key, write: () => Promise<T>): Promise<T> {
    const forget = () => {
      writes++;
      for (const id of [...kept.keys()]) if (id.startsWith(`${key}\n`)) drop(id);
      for (const id of [...underWay.keys()]) if (id.startsWith(`${key}\n`)) underWay.delete(id);
    };
    forget();
    try {
      return await write();
    } finally {
      forget();
    }
  }

  function request(id: string, key: Key, call: GetOptions | undefined): Promise<Value> {
    const asked = `${id}\n${call?.most ?? ""}`;
    let shared = underWay.get(asked);
    if (shared === undefined || shared.abandoned) {
      const before = writes;
      const made = share(async (signal) => {
        try {
          const value = await store.get(key, { range: call?.range, most: call?.most, signal });
          if (writes === before) keep(id, value);
          return value;
        } finally {
          if (underWay.get(asked) === made) underWay.delete(asked);
        }
      });
      shared = made;
      underWay.set(asked, made);
    }
    return shared.join(call?.signal);
  }

  return wrap(store, {
    async get(key, call) {
      call?.signal?.throwIfAborted();
      const whole = `${key}\n`;
      if (kept.has(whole)) {
        const value = touch(whole);
        if (value === undefined) return undefined;
        const { offset, length } = spanFor(call, value.length, `${store.url}/${key}`);
        return value.slice(offset, offset + length);
      }
      const id = whole + (call?.range === undefined ? "" : rangeText(call.range));
      const value = kept.has(id) ? touch(id) : await request(id, key, call);
      return value?.slice(); // the entry stays ours
    },
    set: (key, value, call) => forgetting(key, () => store.set(key, value, call)),
    delete: (key, call) => forgetting(key, () => store.delete(key, call)),
    async write(key, call) {
      const sink = await store.write(key, call);
      return {
        write: (bytes) => sink.write(bytes),
        commit: () => forgetting(key, () => sink.commit()),
        abort: () => sink.abort(),
      };
    },
  });
}
