/** What was made once is kept, in a folder or in memory, up to a limit; what was not asked for longest goes first. */
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";

/** Values that can be made again. */
export interface ValueCache {
  get(name: string): Promise<Uint8Array | undefined>;
  /** Keeps a value, if it is not larger than everything may be. */
  set(name: string, value: Uint8Array): Promise<void>;
}

/** Keeps up to `maxBytes` in a store that is empty, and nobody else's. Of all views together: `part` gives each its own names. */
export function valueCache(maxBytes: number, store: Store = memoryStore()): { part(prefix: string): ValueCache } {
  const kept = new Map<string, { readonly key: Key; readonly size: number }>(); // in the order of their last use
  let [total, made] = [0, 0];

  async function get(name: string): Promise<Uint8Array | undefined> {
    const entry = kept.get(name);
    if (entry === undefined) return undefined;
    kept.delete(name);
    kept.set(name, entry);
    return store.get(entry.key);
  }

  async function set(name: string, value: Uint8Array): Promise<void> {
    if (value.length > maxBytes || kept.has(name)) return;
    const key = Key.of(String(made++)); // names may be anything; a number is a file everywhere
    await store.set(key, value);
    kept.set(name, { key, size: value.length });
    total += value.length;
    for (const [oldest, entry] of kept) {
      if (total <= maxBytes) break;
      kept.delete(oldest);
      total -= entry.size;
      await store.delete(entry.key);
    }
  }

  return {
    part: (prefix) => ({
      get: (name) => get(`${prefix}/${name}`),
      set: (name, value) => set(`${prefix}/${name}`, value),
    }),
  };
}
