/** A store rooted below a prefix of another: its keys are the other's without the prefix. */
import { Key, Prefix } from "./key.js";
import type { Listed, Store } from "./types.js";
import { wrap } from "./wrap.js";

/** What lies below a prefix, as a store of its own. */
export function prefixStore(store: Store, prefix: Prefix): Store {
  const inside = (key: Key) => Key.join(prefix, key);
  const below = (at: Prefix) => Prefix.join(prefix, at);
  const strip = <T extends Key | Prefix>(key: T) => key.slice(prefix.length) as T;
  if (prefix === Prefix.root) return store;
  return wrap(store, {
    url: `${store.url}/${prefix.slice(0, -1)}`,
    get: async (key, options) => store.get(inside(key), options),
    stat: async (key, options) => store.stat(inside(key), options),
    async *list(at, options) {
      for await (const found of store.list(below(at), options)) {
        yield { ...found, key: strip(found.key) } satisfies Listed;
      }
    },
    async children(at, options) {
      const { keys, prefixes } = await store.children(below(at), options);
      return { keys: keys.map(strip), prefixes: prefixes.map(strip) };
    },
    set: async (key, value, options) => store.set(inside(key), value, options),
    write: async (key, options) => store.write(inside(key), options),
    delete: async (key, options) => store.delete(inside(key), options),
  });
}
