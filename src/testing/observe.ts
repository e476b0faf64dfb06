/**
 * Stores that are watched: `recordingStore` writes down every operation, `faultyStore` asks before each whether it may go
 * on. SQLite's way to find what happens when storage fails: let the n-th operation fail, for every n.
 */
import { LimitExceeded } from "../errors.js";
import type { ByteRange, Store } from "../store/types.js";
import { wrap } from "../store/wrap.js";

/** One call to a store. */
export interface Operation {
  readonly kind: "get" | "stat" | "list" | "children" | "set" | "write" | "piece" | "commit" | "delete";
  /** The key or prefix. */
  readonly at: string;
  readonly range?: ByteRange;
  /** How many bytes are written. */
  readonly bytes?: number;
}

/** Runs before an operation: throws to make it fail, waits to make it slow, "short" takes the last byte off a read. */
export type Hook = (operation: Operation) => unknown | Promise<unknown>;

/** The store with a hook before every operation. */
export function faultyStore(store: Store, hook: Hook): Store {
  return wrap(store, {
    async get(key, options) {
      const outcome = await hook({ kind: "get", at: key, ...(options?.range && { range: options.range }) });
      const value = await store.get(key, options);
      return outcome === "short" && value !== undefined ? value.slice(0, -1) : value;
    },
    async stat(key, options) {
      await hook({ kind: "stat", at: key });
      return store.stat(key, options);
    },
    async *list(prefix, options) {
      await hook({ kind: "list", at: prefix });
      yield* store.list(prefix, options);
    },
    async children(prefix, options) {
      await hook({ kind: "children", at: prefix });
      return store.children(prefix, options);
    },
    async set(key, value, options) {
      await hook({ kind: "set", at: key, bytes: value.length });
      return store.set(key, value, options);
    },
    async write(key, options) {
      await hook({ kind: "write", at: key });
      const sink = await store.write(key, options);
      return {
        async write(bytes) {
          await hook({ kind: "piece", at: key, bytes: bytes.length });
          return sink.write(bytes);
        },
        async commit() {
          await hook({ kind: "commit", at: key });
          return sink.commit();
        },
        abort: () => sink.abort(),
      };
    },
    async delete(key, options) {
      await hook({ kind: "delete", at: key });
      return store.delete(key, options);
    },
  });
}

/** The store with a log of every operation. */
export function recordingStore(store: Store): Store & { readonly log: Operation[] } {
  const log: Operation[] = [];
  return Object.assign(
    faultyStore(store, (operation) => void log.push(operation)),
    { log },
  );
}

export const injected = (operation: Operation) =>
  new LimitExceeded(`the test lets ${operation.kind} of ${operation.at} fail`, {
    where: operation.at,
    reason: "unreachable",
  });

/** The n-th operation fails, counted from 1; all others work. */
export function failNth(n: number, error: (operation: Operation) => unknown = injected): Hook {
  let count = 0;
  return (operation) => {
    if (++count === n) throw error(operation);
  };
}

/** Every operation fails the first time that it is tried. */
export function failEachOnce(error: (operation: Operation) => unknown = injected): Hook {
  const seen = new Set<string>();
  return (operation) => {
    const id = JSON.stringify(operation);
    if (seen.has(id)) return;
    seen.add(id);
    throw error(operation);
  };
}
