/**
 * A store whose values are made when they are asked for: what a view is to everything that reads one. Who asks for what is just being
 * made waits for it, a few are made at once, and what was made is kept (cache.ts).
 */
import { xxh3 } from "../../bytes/hash/xxh3.js";
import { stringifyJson, type WritableJson } from "../../bytes/json-write.js";
import { encodeUtf8 } from "../../bytes/text.js";
import type { Key } from "../../store/key.js";
import { spanFor } from "../../store/range.js";
import { type Shared, share } from "../../store/share.js";
import type { CallOptions, OpenValue, Store } from "../../store/types.js";
import { childrenOf, withoutWriting } from "../../store/wrap.js";
import { turns } from "../turns.js";
import type { ValueCache } from "./cache.js";

/** Values by name. */
export interface Computation {
  /** The value by this name, and others that were made on the way; undefined where there is none. */
  compute(name: string, options: CallOptions): Promise<ReadonlyMap<string, Uint8Array> | undefined>;
  /** All names; as they are made up, there may be very many. */
  names(options: CallOptions): AsyncIterable<string>;
  /** The objects that a first picture should show, of layers of objects. */
  readonly shown?: readonly bigint[] | undefined;
}

const AT_ONCE = 4; // the data are decoded by one thread, and each may hold some megabytes of them

/** The values of a computation, as a store to read from. */
export function computedStore(url: string, { compute, names }: Computation, cache: ValueCache): Store {
  const making = new Map<string, Shared<Uint8Array | undefined>>();
  const take = turns(AT_ONCE);

  async function make(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const kept = await cache.get(name);
    if (kept !== undefined) return kept;
    const leave = await take();
    try {
      signal.throwIfAborted();
      const values = await compute(name, { signal });
      for (const [own, value] of values ?? []) await cache.set(own, value);
      return values?.get(name);
    } finally {
      leave();
    }
  }

  function made(name: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    const known = making.get(name);
    if (known !== undefined && !known.abandoned) return known.join(signal);
    const value = share((own) =>
      make(name, own).finally(() => {
        if (making.get(name) === value) making.delete(name);
      }),
    );
    making.set(name, value);
    return value.join(signal);
  }

  async function open(key: Key, options?: CallOptions): Promise<OpenValue | undefined> {
    const bytes = await made(key, options?.signal);
    if (bytes === undefined) return undefined;
    return {
      size: bytes.length,
      version: xxh3(bytes).toString(36),
      read: async (spans) => spans.map((range) => part(bytes, range, `${url}/${key}`)),
      close: () => {},
    };
  }

  return {
    url,
    can: { list: true, write: false, conditional: false },
    open,
    async get(key, options) {
      const bytes = await made(key, options?.signal);
      if (bytes === undefined) return undefined;
      const { offset, length } = spanFor(options, bytes.length, `${url}/${key}`);
      return bytes.slice(offset, offset + length);
    },
    async stat(key, options) {
      const value = await open(key, options);
      return value && { size: value.size, version: value.version };
    },
    async *list(prefix, options = {}) {
      for await (const name of names(options)) if (name.startsWith(prefix)) yield { key: name as Key };
    },
    async children(prefix, options = {}) {
      const all: string[] = [];
      for await (const name of names(options)) if (name.startsWith(prefix)) all.push(name);
      return childrenOf(all, prefix);
    },
    ...withoutWriting(url),
  };
}

function part(bytes: Uint8Array, range: { offset: number; length: number }, where: string): Uint8Array {
  const { offset, length } = spanFor({ range }, bytes.length, where);
  return bytes.subarray(offset, offset + length);
}

/** One value by its name. */
export const one = (name: string, value: Uint8Array): ReadonlyMap<string, Uint8Array> => new Map([[name, value]]);

/** A document, as bytes. */
export const document = (json: WritableJson): Uint8Array => encodeUtf8(stringifyJson(json), "info");
