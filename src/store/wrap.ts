/**
 * How behaviour is added and taken away: a wrapper is a store that overrides some methods of another, and a store that
 * cannot write or list borrows the methods that say so.
 */
import { Unsupported } from "../errors.js";
import type { Key, Prefix } from "./key.js";
import type { Capabilities, Store } from "./types.js";

export function wrap(store: Store, overrides: Partial<Store>): Store {
  return {
    url: store.url,
    can: store.can,
    get forbidden() {
      return store.forbidden;
    },
    get: (key, options) => store.get(key, options),
    stat: (key, options) => store.stat(key, options),
    list: (prefix, options) => store.list(prefix, options),
    children: (prefix, options) => store.children(prefix, options),
    set: (key, value, options) => store.set(key, value, options),
    write: (key, options) => store.write(key, options),
    delete: (key, options) => store.delete(key, options),
    close: async () => store.close?.(),
    ...(store.wants && { wants: (key: Key) => store.wants!(key) }),
    ...overrides,
  };
}

export function cannot(url: string, what: keyof Capabilities | "overwrite"): Unsupported {
  const words = { list: "be listed", write: "be written to", conditional: "write on a condition", overwrite: "change" };
  return new Unsupported(`the store ${url} cannot ${words[what]}`, { where: url, reason: what });
}

export function withoutWriting(url: string): Pick<Store, "set" | "write" | "delete"> {
  const refuse = async () => {
    throw cannot(url, "write");
  };
  return { set: refuse, write: refuse, delete: refuse };
}

export function withoutListing(url: string): Pick<Store, "list" | "children"> {
  return {
    // biome-ignore lint/correctness/useYield: it throws at the first step, as every other refusal rejects
    async *list() {
      throw cannot(url, "list");
    },
    async children() {
      throw cannot(url, "list");
    },
  };
}

/** One level below the prefix, out of all keys of a flat store. */
export function childrenOf(keys: Iterable<string>, prefix: Prefix): { keys: Key[]; prefixes: Prefix[] } {
  const leaves: Key[] = [];
  const below = new Set<Prefix>();
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const slash = key.indexOf("/", prefix.length);
    if (slash < 0) leaves.push(key as Key);
    else below.add(key.slice(0, slash + 1) as Prefix);
  }
  return { keys: leaves.sort(), prefixes: [...below].sort() };
}
