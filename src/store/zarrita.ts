/**
 * Bridges to zarrita's stores, both ways. Its keys start with "/"; it knows `get`, `getRange` and `set`, no sizes, no lists, no
 * conditions. The types are spelled out here so that zarrita need not be installed.
 */
import { Corrupt } from "../errors.js";
import { Key, Prefix } from "./key.js";
import { checkRange, rangeText, spanFor } from "./range.js";
import type { ByteRange, Store } from "./types.js";
import { withoutListing, withoutWriting } from "./wrap.js";

type Path = `/${string}`;
type Bytes = Uint8Array | undefined;
type ZarritaRange = { offset: number; length: number } | { suffixLength: number };
interface ZarritaOptions {
  signal?: AbortSignal;
}

/** What zarrita calls a readable store, as far as Octavo asks. */
export interface ZarritaReadable {
  /** The value at a path. */
  get(key: Path, options?: ZarritaOptions): Promise<Bytes> | Bytes;
  /** A part of the value at a path. */
  getRange?(key: Path, range: ZarritaRange, options?: ZarritaOptions): Promise<Bytes> | Bytes;
}

/** A store that zarrita takes. */
export interface ZarritaStore {
  /** The value at a path. */
  get(key: Path, options?: ZarritaOptions): Promise<Bytes>;
  /** A part of the value at a path. */
  getRange(key: Path, range: ZarritaRange, options?: ZarritaOptions): Promise<Bytes>;
  /** Puts the value at a path. */
  set(key: Path, value: Uint8Array): Promise<void>;
}

/** A place in a store of ours, for zarrita. */
export function toZarrita(store: Store, at: Prefix = Prefix.root): ZarritaStore {
  const inside = (key: Path) => Key.join(at, key.slice(1));
  return {
    get: async (key, options) => store.get(inside(key), options),
    async getRange(key, range, options) {
      const ours: ByteRange = "suffixLength" in range ? { suffix: range.suffixLength } : range;
      return store.get(inside(key), { range: ours, signal: options?.signal });
    },
    set: async (key, value) => store.set(inside(key), value),
  };
}

/**
 * A store of zarrita's, for us; for reading only, as nothing is known of how it writes. A range that comes back with another
 * length is Corrupt. One past the end that comes back filled up with zeros cannot be told from data: zarrita's own file
 * store (0.7) does that, so read files with ours.
 */
export function fromZarrita(source: ZarritaReadable, url = "zarrita:"): Store {
  async function whole(key: Key, signal: AbortSignal | undefined): Promise<Bytes> {
    signal?.throwIfAborted();
    return source.get(`/${key}`, signal === undefined ? {} : { signal });
  }

  return {
    url,
    can: { list: false, write: false, conditional: false },
    async get(key, options) {
      const range = options?.range;
      const where = `${url}/${key}`;
      if (range !== undefined) checkRange(range, where);
      const length = range === undefined ? 0 : "suffix" in range ? range.suffix : range.length;
      if (range === undefined || length === 0 || source.getRange === undefined) {
        const value = await whole(key, options?.signal);
        if (value === undefined) return undefined;
        const span = spanFor(options, value.length, where);
        return new Uint8Array(value).slice(span.offset, span.offset + span.length); // the source may keep its own
      }
      options?.signal?.throwIfAborted();
      const theirs: ZarritaRange =
        "suffix" in range ? { suffixLength: length } : { offset: range.offset, length: range.length };
      const value = await source.getRange(`/${key}`, theirs, options?.signal ? { signal: options.signal } : {});
      if (value === undefined) return undefined;
      if ("suffix" in range ? value.length > length : value.length !== length)
        throw new Corrupt(`the range ${rangeText(range)} of ${where} came with ${value.length} bytes`, { where });
      return new Uint8Array(value);
    },
    async stat(key, options) {
      const value = await whole(key, options?.signal);
      return value && { size: value.length };
    },
    ...withoutListing(url),
    ...withoutWriting(url),
  };
}
