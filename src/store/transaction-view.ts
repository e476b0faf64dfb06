/** A store with changes laid over it, as whoever makes them sees it, or who reads them from a log. */
import { isPrivate, type Key, type Prefix } from "./key.js";
import { spanFor } from "./range.js";
import { type Changes, type Place, partKey } from "./transaction-log.js";
import type { GetOptions, Store } from "./types.js";
import { childrenOf } from "./wrap.js";

/** The reading half of the store; `lost` answers for a staged value whose bytes are no longer there. */
export function viewOf(
  { store, at }: Place,
  id: string,
  changes: Changes,
  lost: (key: Key, options: GetOptions | undefined) => Promise<Uint8Array | undefined>,
): Pick<Store, "get" | "stat" | "list" | "children"> {
  function* written(): Generator<Key> {
    for (const [key, staged] of changes) if (staged !== undefined) yield key;
  }

  /** Prefixes one level down from which keys were deleted, and in which none are left. */
  async function emptied(prefix: Prefix, options: GetOptions | undefined): Promise<Set<Prefix>> {
    const gone = new Set<Prefix>();
    for (const [key, staged] of changes) {
      const slash = key.indexOf("/", prefix.length);
      if (staged === undefined && slash >= 0 && key.startsWith(prefix)) gone.add(key.slice(0, slash + 1) as Prefix);
    }
    for (const below of gone) {
      for await (const _ of list(below, options)) {
        gone.delete(below);
        break;
      }
    }
    return gone;
  }

  async function* list(prefix: Prefix, options?: GetOptions): ReturnType<Store["list"]> {
    for await (const found of store.list(prefix, options)) {
      if (!changes.has(found.key) && !isPrivate(found.key)) yield found;
    }
    for (const key of written()) if (key.startsWith(prefix)) yield { key, size: changes.get(key)!.length };
  }

  return {
    async get(key, options) {
      if (!changes.has(key)) return store.get(key, options);
      options?.signal?.throwIfAborted();
      const staged = changes.get(key);
      if (staged === undefined) return undefined;
      const { offset, length } = spanFor(options, staged.length, `${store.url}/${key}`);
      if (staged.bytes !== undefined) return staged.bytes.slice(offset, offset + length);
      const range = { offset: staged.offset + offset, length };
      const bytes = await store.get(partKey(at, id, staged.part), { range, signal: options?.signal });
      return bytes ?? lost(key, options);
    },

    async stat(key, options) {
      if (!changes.has(key)) return store.stat(key, options);
      options?.signal?.throwIfAborted();
      const staged = changes.get(key);
      return staged && { size: staged.length, version: staged.version };
    },

    list,

    async children(prefix, options) {
      const below = await store.children(prefix, options);
      const own = childrenOf(written(), prefix);
      const gone = await emptied(prefix, options);
      const keys = below.keys.filter((key) => !changes.has(key));
      const prefixes = below.prefixes.filter((name) => !gone.has(name) && !isPrivate(name));
      return {
        keys: [...keys, ...own.keys].sort(),
        prefixes: [...new Set([...prefixes, ...own.prefixes])].sort(),
      };
    },
  };
}
