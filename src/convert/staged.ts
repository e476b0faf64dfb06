/**
 * A place where a conversion goes on, or does a share of its work: to those who write there it is empty, whatever earlier runs and
 * other parts have left.
 *
 * | key                             | what becomes of it                                                          |
 * |---------------------------------|-----------------------------------------------------------------------------|
 * | documents: zarr.json, info …    | kept in memory until all is there: they are what makes data visible          |
 * | below .octavo/                  | goes through: writers put things aside there, each under its own name        |
 * | data that this run wants        | goes through                                                                |
 * | data that is there, or is another part's | is thrown away; who asks `wants` need not even make it               |
 *
 * Every writer gives the same bytes for the same input and options, so that what is there need not be written again. Nothing is
 * taken back: what a failure leaves, the next run finds.
 */
import { xxh3 } from "../bytes/hash/xxh3.js";
import { encodeUtf8 } from "../bytes/text.js";
import { JOURNAL } from "../format/zarr/room.js";
import { isPrivate, type Key, type Prefix } from "../store/key.js";
import type { Sink, Store } from "../store/types.js";
import { childrenOf, wrap } from "../store/wrap.js";

const DOCUMENTS = new Set([
  ...["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", "__zmeta__", "__zattr__", "info"],
  JOURNAL,
]);

export const isDocument = (key: string): boolean => DOCUMENTS.has(key.slice(key.lastIndexOf("/") + 1));

export interface Staged {
  readonly store: Store;
  /** In the order in which they were written: the one that makes everything visible is the last. */
  readonly documents: Map<Key, Uint8Array>;
  /** The data of this run, written or found, with their sizes. */
  readonly sizes: Map<Key, number>;
}

/** `there`: what need not be written again, with sizes. */
export function staged(store: Store, isOwn: (key: Key) => boolean, there: ReadonlyMap<Key, number>): Staged {
  const documents = new Map<Key, Uint8Array>();
  const sizes = new Map<Key, number>();
  const wants = (key: Key): boolean => {
    if (isPrivate(key) || isDocument(key)) return true;
    if (!isOwn(key)) return false;
    const size = there.get(key);
    if (size !== undefined) sizes.set(key, size);
    return size === undefined;
  };
  const seen = (prefix: Prefix): Key[] =>
    [...documents.keys(), ...sizes.keys()].filter((key) => key.startsWith(prefix));
  const view = wrap(store, {
    wants,
    async get(key, options) {
      const bytes = documents.get(key);
      return isDocument(key) ? bytes?.slice() : store.get(key, options);
    },
    async stat(key, options) {
      if (!isDocument(key)) return store.stat(key, options);
      const bytes = documents.get(key);
      return bytes && { size: bytes.length, version: "staged" };
    },
    async *list(prefix, options) {
      if (isPrivate(prefix)) yield* store.list(prefix, options);
      else for (const key of seen(prefix)) yield { key, size: sizes.get(key) ?? documents.get(key)!.length };
    },
    children: async (prefix, options) =>
      isPrivate(prefix) ? store.children(prefix, options) : childrenOf(seen(prefix), prefix),
    async set(key, value, { signal } = {}) {
      if (!wants(key)) return;
      if (!isDocument(key)) {
        await store.set(key, value, { signal });
        if (!isPrivate(key)) sizes.set(key, value.length);
        return;
      }
      documents.delete(key); // so that it is the last
      documents.set(key, value.slice());
    },
    async write(key, { signal } = {}) {
      if (!wants(key)) return NOWHERE;
      const sink = await store.write(key, { signal });
      let size = 0;
      return {
        async write(bytes) {
          size += bytes.length;
          await sink.write(bytes);
        },
        async commit() {
          await sink.commit();
          if (!isPrivate(key)) sizes.set(key, size);
        },
        abort: () => sink.abort(),
      };
    },
    async delete(key, options) {
      if (isPrivate(key)) return store.delete(key, options);
      documents.delete(key);
    },
  });
  return { store: view, documents, sizes };
}

/** Does work whose documents nobody sees before all of it is done. */
export async function unseen<T>(store: Store, work: (place: Store) => Promise<T>): Promise<T> {
  const stage = staged(store, (key) => store.wants?.(key) !== false, new Map());
  const result = await work(stage.store);
  for (const [key, bytes] of stage.documents) await store.set(key, bytes);
  return result;
}

const NOWHERE: Sink = { async write() {}, async commit() {}, async abort() {} };

/** The place in a grid that keys of several arrays share; in 0.7.0 of Zarr Vectors it has an array of its own. */
const CELL = /\/(c(\/\d+){2,}|-?\d+(\.-?\d+)+\/c\/0)$/;

/**
 * Which of `parts` a key belongs to, from 0. All arrays of a chunk go to one, so that it is made once; and what belongs together of
 * one id, such as a mesh and its manifest.
 */
export function partOf(key: Key, at: Prefix, parts: number): number {
  const name = `/${key.slice(at.length)}`;
  const cell = CELL.exec(name)?.[0].match(/-?\d+/g)?.map(Number);
  if (cell === undefined) {
    const unit = name.replace(/(\.index|:[^/]*)$/, "");
    return Number(xxh3(encodeUtf8(unit, "a key")) % BigInt(parts));
  }
  // Neighbours along an axis go to different parts: then these have about as much of few chunks, and of flat ones, as of many.
  const sum = cell.reduce((total, place, axis) => total + place * stepOf(axis, parts), 0);
  return ((sum % parts) + parts) % parts;
}

/** A number that has no divisor in common with that of the parts, another for each axis where there are enough. */
function stepOf(axis: number, parts: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let step = 2 ** axis;
  while (divisor(step, parts) !== 1) step++;
  return step;
}
