/** Values in a Map: the simplest store, and the one that the others are compared with. */
import { Conflict } from "../errors.js";
import type { Key } from "./key.js";
import { spanFor } from "./range.js";
import { bufferedSink } from "./sink.js";
import type { CallOptions, Condition, Store } from "./types.js";
import { childrenOf } from "./wrap.js";

interface Held {
  readonly bytes: Uint8Array;
  readonly version: string;
}

let writes = 0; // counts over all stores, so that a value that was deleted and made again has a new version

/** An empty store in memory. */
export function memoryStore(url = "memory:"): Store {
  const values = new Map<string, Held>();

  function put(key: Key, bytes: Uint8Array, condition: Condition | undefined): void {
    if (condition !== undefined) insist(condition, values.get(key)?.version, `${url}/${key}`);
    values.set(key, { bytes, version: String(++writes) });
  }

  return {
    url,
    can: { list: true, write: true, conditional: true },
    async get(key, options) {
      options?.signal?.throwIfAborted();
      const held = values.get(key);
      if (held === undefined) return undefined;
      const { offset, length } = spanFor(options, held.bytes.length, `${url}/${key}`);
      return held.bytes.slice(offset, offset + length);
    },
    async open(key, options) {
      options?.signal?.throwIfAborted();
      const held = values.get(key); // never changed, only replaced
      return (
        held && {
          size: held.bytes.length,
          version: held.version,
          async read(spans) {
            return spans.map((range) => {
              const { offset, length } = spanFor({ range }, held.bytes.length, `${url}/${key}`);
              return held.bytes.slice(offset, offset + length);
            });
          },
          close() {},
        }
      );
    },
    async stat(key, options) {
      options?.signal?.throwIfAborted();
      const held = values.get(key);
      return held && { size: held.bytes.length, version: held.version };
    },
    async *list(prefix, options) {
      for (const [key, held] of [...values]) {
        options?.signal?.throwIfAborted();
        if (key.startsWith(prefix)) yield { key: key as Key, size: held.bytes.length };
      }
      options?.signal?.throwIfAborted();
    },
    async children(prefix, options) {
      options?.signal?.throwIfAborted();
      return childrenOf(values.keys(), prefix);
    },
    async set(key, value, options) {
      options?.signal?.throwIfAborted();
      put(key, new Uint8Array(value), options?.if); // not slice: that of a Buffer does not copy
    },
    async write(key, options) {
      options?.signal?.throwIfAborted();
      return bufferedSink(`${url}/${key}`, async (value) => {
        options?.signal?.throwIfAborted();
        put(key, value, options?.if);
      });
    },
    async delete(key, options?: CallOptions) {
      options?.signal?.throwIfAborted();
      values.delete(key);
    },
  };
}

/** Conflict unless the version found (undefined: nothing there) is what the condition asks for. */
export function insist(condition: Condition, found: string | undefined, where: string): void {
  if ("absent" in condition) {
    if (found !== undefined) throw new Conflict(`${where} was to be made anew, but it is already there`, { where });
  } else if (found !== condition.version) {
    const now = found === undefined ? "it is no longer there" : `it is now ${found}`;
    throw new Conflict(`${where} was to be replaced at version ${condition.version}, but ${now}`, { where });
  }
}
