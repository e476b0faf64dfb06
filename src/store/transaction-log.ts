/**
 * What a transaction leaves below `<at>.octavo/`, and nothing else does. Keys in the documents are relative to `at`, so that
 * data can be moved with a log in it.
 *
 * | key          | value                                                                                               |
 * |--------------|-----------------------------------------------------------------------------------------------------|
 * | head         | {"octavo": 1, "generation": commits so far, "recent": [ids, the newest first],                      |
 * |              | "pending": {"id", "applier": id, "beat": count, "lease": milliseconds}}; without "pending" every    |
 * |              | commit has been applied                                                                             |
 * | <id>.journal | {"octavo": 1, "values": [[key, part, offset, length], …], "deletes": [key, …]}                      |
 * | <id>.<part>  | the bytes of staged values, one after another                                                       |
 *
 * An id is `<begin, milliseconds in base 36>-<owner>` (file-owner.ts), never used twice. So no head is like an earlier one
 * either, and a version of it that is made of its bytes (an ETag, a hash) is as good as a counter.
 */
import { isJsonObject, type Json, parseJson, stringifyJson } from "../bytes/json.js";
import { encodeUtf8 } from "../bytes/text.js";
import { Corrupt, LimitExceeded, Unsupported } from "../errors.js";
import { defaultLimits } from "../limits.js";
import { Owner } from "./file-owner.js";
import { Key, LOGS, type Prefix } from "./key.js";
import type { CallOptions, Store } from "./types.js";
import { cannot } from "./wrap.js";

export { isPrivate, LOGS } from "./key.js";

/** Where a store has transactions. */
export interface Place {
  readonly store: Store;
  readonly at: Prefix;
}

/** How the keys of everything that belongs to one transaction begin. */
export const stemOf = (at: Prefix, id: string): string => `${at}${LOGS}${id}.`;
export const partKey = (at: Prefix, id: string, part: number): Key => Key.of(`${stemOf(at, id)}${part}`);
export const journalKey = (at: Prefix, id: string): Key => Key.of(`${stemOf(at, id)}journal`);
export const headKey = (at: Prefix): Key => Key.of(`${at}${LOGS}head`);

/** Transactions of this thread that are under way: what is not among them and of this thread was given up. */
export const alive = new Set<string>();
const OLD = 86_400_000; // milliseconds: nobody leaves a transaction open for a day where nobody can see whether he lives

export const Id = {
  make: (): string => `${Date.now().toString(36)}-${Owner.make().id}`,

  /** The id in the name of a journal or a part; undefined for any other name. */
  ofName: (name: string): string | undefined => /^([0-9a-z]{1,10}-[0-9a-f-]+)\.(?:\d{1,10}|journal)$/.exec(name)?.[1],

  /** Whether whoever has the id is known to be no longer at it. */
  isDead(id: string): boolean {
    const owner = Owner.parse(id.slice(id.indexOf("-") + 1));
    if (owner === undefined) return false;
    return Owner.isThisThread(owner) ? !alive.has(id) : Owner.isGone(owner);
  },

  isOld: (id: string): boolean => Date.now() - Number.parseInt(id, 36) > OLD,
};

/** The one document that says which commits there are. */
export interface Head {
  readonly generation: number;
  /** Who made the last commits, the newest first; their journals are kept, so that it is known what they changed. */
  readonly recent: readonly string[];
  /** The last commit, while it is being applied. */
  readonly pending?: Pending | undefined;
}

/** Who brings a commit to its places, how often he has said that he lives, and for how long his word is good. */
export interface Pending {
  readonly id: string;
  readonly applier: string;
  readonly beat: number;
  readonly lease: number;
}

/** A head as it was read; no version: it was not there. */
export interface Seen {
  readonly head: Head;
  readonly version: string | undefined;
}

const RECENT = 32; // commits that a transaction may sleep through and still see that they do not concern it

export const Head = {
  none: { generation: 0, recent: [] } as Head,

  parse(bytes: Uint8Array, where: string): Head {
    const { generation, recent, pending } = document(bytes, where);
    if (!isCount(generation) || !isStrings(recent)) throw damaged(where, "a generation and a list of recent commits");
    if (pending === undefined) return { generation, recent };
    const { id, applier, beat, lease } = isJsonObject(pending) ? pending : {};
    if (typeof id !== "string" || id !== recent[0])
      throw damaged(where, "a pending commit that is the most recent one");
    if (typeof applier !== "string" || !isCount(beat) || !isCount(lease))
      throw damaged(where, "an applier with a lease");
    return { generation, recent, pending: { id, applier, beat, lease } };
  },

  encode: ({ generation, recent, pending }: Head): Uint8Array =>
    written({ octavo: 1, generation, recent, ...(pending && { pending: { ...pending } }) }, "the head of a log"),

  /** What the head becomes by the commit of `id`. */
  after: ({ generation, recent }: Head, id: string, lease: number): Head => ({
    generation: generation + 1,
    recent: [id, ...recent].slice(0, RECENT),
    pending: { id, applier: id, beat: 0, lease },
  }),

  /** Whether no commit lies between the two. */
  same: (a: Head, b: Head): boolean => a.generation === b.generation && a.recent[0] === b.recent[0],

  async get({ store, at }: Place, call?: CallOptions): Promise<Head> {
    const bytes = await store.get(headKey(at), { most: defaultLimits.metadataBytes, signal: call?.signal });
    return bytes === undefined ? Head.none : Head.parse(bytes, `${store.url}/${headKey(at)}`);
  },

  /** The head with the version to swap it by; what was `known` is not read again if it is still that. */
  async see(place: Place, known: Seen | undefined, call?: CallOptions): Promise<Seen> {
    const found = await place.store.stat(headKey(place.at), { signal: call?.signal });
    const version = found?.version;
    if (found !== undefined && version === undefined) throw cannot(place.store.url, "conditional");
    if (known !== undefined && known.version === version) return known;
    return { head: version === undefined ? Head.none : await Head.get(place, call), version };
  },

  /** Replaces the head that was seen; Conflict if it has changed since. */
  async swap({ store, at }: Place, { version }: Seen, head: Head, call?: CallOptions): Promise<void> {
    const condition = version === undefined ? ({ absent: true } as const) : { version };
    await store.set(headKey(at), Head.encode(head), { if: condition, signal: call?.signal });
  },
};

/** Where the bytes of a staged value are; `bytes` while they are in memory. */
export interface Staged {
  readonly version: string;
  readonly length: number;
  part: number;
  offset: number;
  bytes?: Uint8Array | undefined;
}

/** What a transaction changes: values, and undefined for keys that it deletes. */
export type Changes = ReadonlyMap<Key, Staged | undefined>;

export const Journal = {
  encode(changes: Changes, at: Prefix): Uint8Array {
    const values: Json[] = [];
    const deletes: string[] = [];
    for (const [key, staged] of changes) {
      const name = key.slice(at.length);
      if (staged === undefined) deletes.push(name);
      else values.push([name, staged.part, staged.offset, staged.length]);
    }
    const bytes = written({ octavo: 1, values, deletes }, "the journal of a transaction");
    if (bytes.length <= defaultLimits.metadataBytes) return bytes;
    throw new LimitExceeded(
      `a transaction changes ${changes.size} keys of ${at || "a store"}, more than a journal holds`,
    );
  },

  parse(bytes: Uint8Array, id: string, at: Prefix, where: string): Changes {
    const { values, deletes } = document(bytes, where);
    const changes = new Map<Key, Staged | undefined>();
    if (!Array.isArray(values) || !isStrings(deletes)) throw damaged(where, "lists of values and of deletes");
    for (const value of values as readonly Json[]) {
      const [key, part, offset, length] = Array.isArray(value) ? (value as readonly Json[]) : [];
      if (typeof key !== "string" || !isCount(part) || !isCount(offset) || !isCount(length)) {
        throw damaged(where, "values of a key, a part, an offset and a length");
      }
      changes.set(keyIn(at, key, where), { version: `${id}.${part}.${offset}`, part, offset, length });
    }
    for (const key of deletes) changes.set(keyIn(at, key, where), undefined);
    return changes;
  },

  /** Undefined where it is no longer kept. */
  async get({ store, at }: Place, id: string, call?: CallOptions): Promise<Changes | undefined> {
    const key = journalKey(at, id);
    const bytes = await store.get(key, { most: defaultLimits.metadataBytes, signal: call?.signal });
    return bytes && Journal.parse(bytes, id, at, `${store.url}/${key}`);
  },

  missing({ store }: Place, key: Key): Corrupt {
    const where = `${store.url}/${key}`;
    return new Corrupt(`${where} is not there, but the commit that it belongs to has not been applied yet`, { where });
  },
};

function document(bytes: Uint8Array, where: string): { readonly [key: string]: Json | undefined } {
  const json = parseJson(bytes, defaultLimits, where);
  if (!isJsonObject(json)) throw damaged(where, "an object");
  if (json.octavo === 1) return json;
  throw new Unsupported(`${where} was written by a later Octavo: its version is not 1`, { where });
}

const written = (json: Json, what: string): Uint8Array => encodeUtf8(stringifyJson(json), what);
const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isStrings = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

function keyIn(at: Prefix, name: string, where: string): Key {
  const key = at + name;
  if (!Key.is(key)) throw damaged(where, "keys");
  return key;
}

const damaged = (where: string, expected: string): Corrupt =>
  new Corrupt(`${where} is damaged: it should have ${expected}`, { where });
