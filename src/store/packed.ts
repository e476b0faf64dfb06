/**
 * A pack: one value that holds copies of many small ones, so that data made of many keys cost few requests to read over a
 * network. Every value stays in its own place for whoever knows nothing of the pack, and so the pack is only a shortcut.
 *
 * | bytes        | meaning                                                                                            |
 * |--------------|----------------------------------------------------------------------------------------------------|
 * | `head` bytes | zstd with its checksum, of a JSON object:                                                          |
 * |              | `pages`: lists of [key, bytes], the values of each page                                            |
 * |              | `tails`: key → [bytes of the value, its last bytes as base64], the indexes of shards               |
 * | the rest     | the values of all pages, one after the other                                                       |
 *
 * The head is read with the first question. A page is read whole and kept, because what lies in it is mostly asked for together;
 * all other ranges go to their own keys. Whatever is asked for at the same time becomes few requests.
 */
import { concat } from "../bytes/concat.js";
import { isJsonObject, type Json, parseJson } from "../bytes/json.js";
import { stringifyJson } from "../bytes/json-write.js";
import { encodeUtf8 } from "../bytes/text.js";
import { loadZstd, loadZstdDecoder } from "../codec/zstd.js";
import { Corrupt } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { coalesceStore } from "./coalesce.js";
import { Key, type Prefix } from "./key.js";
import { spanFor } from "./range.js";
import { type Shared, share } from "./share.js";
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

/** Where a pack is: its key, and the bytes of its head. */
export interface PackPlace {
  readonly key: string;
  readonly head: number;
}

/** What a request is worth in bytes. */
export const REQUEST = 1 << 20;
const LARGEST = 16 << 20; // a page of more is no page of ours
const KEPT = 64 << 20;
/** Wider gaps are closed where there would be many requests, but never is more read in vain than was asked for. */
const GATHER = { gap: REQUEST / 8, longest: 32 << 20, requests: 4 };

/**
 * Values in groups that are asked for together, which become pages, small ones with those after them; and the ends of other
 * values with their full sizes.
 */
export async function encodePack(
  groups: Iterable<readonly (readonly [key: string, bytes: Uint8Array])[]>,
  tails: Iterable<readonly [key: string, size: number, tail: Uint8Array]>,
): Promise<{ readonly head: Uint8Array; readonly body: Uint8Array }> {
  const pages: [string, number][][] = [];
  const body: Uint8Array[] = [];
  let room = 0;
  for (const group of groups) {
    const size = group.reduce((sum, [, bytes]) => sum + bytes.length, 0);
    if (room < size) {
      pages.push([]);
      room = REQUEST;
    }
    room -= size;
    for (const [key, bytes] of group) {
      pages.at(-1)!.push([key, bytes.length]);
      body.push(bytes);
    }
  }
  const ends = Object.fromEntries(Array.from(tails, ([key, size, tail]) => [key, [size, toBase64(tail)]]));
  const text = encodeUtf8(stringifyJson({ pages, tails: ends }), "the head of a pack");
  return { head: (await loadZstd()).compress(text, 9, true), body: concat(body) };
}

interface Entry {
  readonly size: number;
  readonly tail?: Uint8Array;
  /** Where it lies in a page. */
  readonly page?: { readonly offset: number; readonly length: number };
  readonly at?: number;
}

/** The store, read through a pack below `at`. Where the pack is not there, everything is read from its own place. */
export function packedStore(store: Store, at: Prefix, place: PackPlace): Store {
  const below = coalesceStore(store, GATHER);
  const pack = Key.join(at, place.key);
  const where = `${store.url}/${pack}`;
  const table = shared(async (_: "", signal): Promise<ReadonlyMap<Key, Entry>> => {
    const head = await store.get(pack, { range: { offset: 0, length: place.head }, signal });
    if (head === undefined) return new Map();
    const limits = { ...defaultLimits, chunkBytes: defaultLimits.metadataBytes };
    const text = (await loadZstdDecoder()).decompress(head, undefined, limits);
    return parseHead(parseJson(text, limits, where), at, place.head, where);
  });
  const pages = shared(async (offset: number, signal, length: number) => {
    const bytes = await below.get(pack, { range: { offset, length }, signal });
    if (bytes === undefined) throw new Corrupt(`the pack ${where} went away while it was read`, { where });
    return bytes;
  }, KEPT);

  return wrap(below, {
    async get(key, options) {
      const entry = key.startsWith(at) ? (await table("", options?.signal, 0)).get(key) : undefined;
      if (entry === undefined) return below.get(key, options);
      const { offset, length } = spanFor(options, entry.size, `${store.url}/${key}`);
      if (entry.page !== undefined) {
        const page = await pages(entry.page.offset, options?.signal, entry.page.length);
        return page.slice(entry.at! + offset, entry.at! + offset + length);
      }
      const from = offset - (entry.size - entry.tail!.length);
      return from >= 0 ? entry.tail!.slice(from, from + length) : below.get(key, options);
    },
  });
}

/** Loads once what many ask for, and keeps it up to so many bytes; failures are not kept. */
function shared<K, T>(
  load: (key: K, signal: AbortSignal, length: number) => Promise<T>,
  most = Infinity,
): (key: K, signal: AbortSignal | undefined, length: number) => Promise<T> {
  const known = new Map<K, { readonly value: Shared<T>; readonly length: number }>();
  let bytes = 0;
  const drop = (key: K): void => {
    bytes -= known.get(key)?.length ?? 0;
    known.delete(key);
  };
  return (key, signal, length) => {
    let entry = known.get(key);
    if (entry === undefined || entry.value.abandoned) {
      const made = { value: share((end) => load(key, end, length)), length };
      drop(key);
      made.value.join(undefined).catch(() => known.get(key) === made && drop(key));
      entry = made;
    } else drop(key);
    known.set(key, entry); // the last used is the last to go
    bytes += length;
    for (const oldest of known.keys()) {
      if (bytes <= most || oldest === key) break;
      drop(oldest);
    }
    return entry.value.join(signal);
  };
}

function parseHead(head: Json, at: Prefix, first: number, where: string): ReadonlyMap<Key, Entry> {
  const wrong = (what: string): Corrupt => new Corrupt(`the head of the pack ${where} should have ${what}`, { where });
  const { pages, tails } = isJsonObject(head) ? head : {};
  if (!Array.isArray(pages) || !isJsonObject(tails)) throw wrong("pages and tails");
  const keyOf = (name: Json | undefined): Key => {
    if (typeof name === "string" && Key.is(at + name)) return (at + name) as Key;
    throw wrong("keys");
  };
  const sizeOf = (size: Json | undefined): number => {
    if (typeof size === "number" && Number.isSafeInteger(size) && size >= 0) return size;
    throw wrong("sizes");
  };
  const table = new Map<Key, Entry>();
  let offset = first;
  for (const page of pages) {
    if (!Array.isArray(page)) throw wrong("lists as pages");
    const values = page.map((value) => (Array.isArray(value) ? value : []));
    const length = values.reduce<number>((sum, [, size]) => sum + sizeOf(size), 0);
    if (length > LARGEST) throw wrong(`pages of at most ${LARGEST} bytes`);
    let own = 0;
    for (const [name, size] of values) {
      table.set(keyOf(name), { size: sizeOf(size), page: { offset, length }, at: own });
      own += sizeOf(size);
    }
    offset += length;
  }
  for (const [name, value] of Object.entries(tails)) {
    const [size, text] = Array.isArray(value) ? value : [];
    const tail = fromBase64(text);
    if (tail === undefined || tail.length > sizeOf(size)) throw wrong("tails in base64");
    table.set(keyOf(name), { size: sizeOf(size), tail });
  }
  return table;
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]!);
  return btoa(text);
}

function fromBase64(text: Json | undefined): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
