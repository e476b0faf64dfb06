/** Counts what a store is asked for: "this query costs 3 requests and 41 kB" is something a test can assert. */
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

/** What has been asked of a store. */
export interface Counts {
  readonly requests: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Requests by kind; a sink counts once, as "write". */
  readonly get: number;
  readonly stat: number;
  readonly list: number;
  readonly set: number;
  readonly write: number;
  readonly delete: number;
}

/** A store that counts. */
export interface MeteredStore extends Store {
  /** What has been asked for since the store was made or `reset`. */
  counts(): Counts;
  /** Starts to count anew. */
  reset(): void;
}

const none = { bytesRead: 0, bytesWritten: 0, get: 0, stat: 0, list: 0, set: 0, write: 0, delete: 0 };

/** The store with its requests and bytes counted. */
export function meterStore(store: Store): MeteredStore {
  let now = { ...none };
  const metered = wrap(store, {
    async get(key, options) {
      now.get++;
      const value = await store.get(key, options);
      now.bytesRead += value?.length ?? 0;
      return value;
    },
    stat(key, options) {
      now.stat++;
      return store.stat(key, options);
    },
    list(prefix, options) {
      now.list++;
      return store.list(prefix, options);
    },
    children(prefix, options) {
      now.list++;
      return store.children(prefix, options);
    },
    async set(key, value, options) {
      now.set++;
      await store.set(key, value, options);
      now.bytesWritten += value.length;
    },
    async write(key, options) {
      now.write++;
      const sink = await store.write(key, options);
      return {
        async write(bytes) {
          await sink.write(bytes);
          now.bytesWritten += bytes.length;
        },
        commit: () => sink.commit(),
        abort: () => sink.abort(),
      };
    },
    delete(key, options) {
      now.delete++;
      return store.delete(key, options);
    },
  });
  return Object.assign(metered, {
    counts: () => ({ ...now, requests: now.get + now.stat + now.list + now.set + now.write + now.delete }),
    reset() {
      now = { ...none };
    },
  });
}
