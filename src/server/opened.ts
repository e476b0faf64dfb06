/**
 * Values of a store, opened to be sent. A file that is asked for again within a second is still open: then a request costs a look
 * at whether the name still stands for the same file, unchanged, and the reading. A viewer asks for a shard hundreds of times.
 *
 * The name is looked up again each time, so that what was replaced, changed or linked elsewhere is opened anew, with all the checks
 * of the store (store/file-path.ts); what is too young to tell a change by its time is not kept.
 */
import fs from "node:fs";
import { Conflict } from "../errors.js";
import type { FileStore } from "../store/file.js";
import { stampOf } from "../store/file-write.js";
import type { Key } from "../store/key.js";
import type { CallOptions, OpenValue, Store } from "../store/types.js";

/** The value by a name, to be read in pieces; undefined where there is none. The caller closes it. */
export type Open = (key: Key, call: CallOptions) => Promise<OpenValue | undefined>;

/** How the values of a store are opened. */
export interface Opener {
  readonly open: Open;
  /** Closes what is kept; what is being sent, when it has been. */
  close(): void;
}

const MOST = 64; // files
const LONG = 1000; // ms without a request

/** Opens values of any store. */
export function opener(store: Store): Opener {
  const { open } = store;
  if (open === undefined) return { open: (key, call) => byRanges(store, key, call), close: () => {} };
  // A file of this machine is open before anybody could leave, and a signal costs as much as opening it.
  return "pathOf" in store ? keeper(store as FileStore) : { open: open.bind(store), close: () => {} };
}

interface Kept {
  readonly key: Key;
  /** What its store keeps. */
  readonly among: Map<Key, Kept>;
  readonly path: string;
  readonly stat: fs.BigIntStats;
  readonly value: OpenValue;
  /** Who sends of it just now, and whether nobody else will. */
  users: number;
  dropped: boolean;
  used: number;
}

/** What is kept for all stores of this process, in the order of its last use. */
const all = new Set<Kept>();
let sweeping = false;

function drop(own: Kept): void {
  all.delete(own);
  own.among.delete(own.key);
  own.dropped = true;
  if (own.users === 0) own.value.close();
}

function sweep(): void {
  sweeping = false;
  const now = performance.now();
  for (const own of all) if (now - own.used >= LONG) drop(own);
  later();
}

function later(): void {
  if (sweeping || all.size === 0) return;
  sweeping = true;
  setTimeout(sweep, LONG).unref();
}

function use(own: Kept): OpenValue {
  own.users++;
  own.used = performance.now();
  own.among.set(own.key, own);
  all.delete(own);
  all.add(own);
  for (const oldest of all) {
    if (all.size <= MOST) break;
    drop(oldest);
  }
  later();
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    if (--own.users === 0 && own.dropped) own.value.close();
  };
  const { size, version, read } = own.value;
  return { size, version, read, close };
}

function keeper(store: FileStore): Opener {
  const among = new Map<Key, Kept>();
  return {
    async open(key) {
      const known = among.get(key);
      if (known !== undefined) {
        const now = fs.statSync(known.path, { bigint: true, throwIfNoEntry: false });
        if (now !== undefined && isSame(now, known.stat)) return use(known);
        drop(known);
      }
      const value = await store.open!(key);
      const path = value?.version === undefined ? undefined : store.pathOf(key);
      if (value === undefined || path === undefined || among.has(key)) return value;
      const stat = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stat === undefined || stampOf(stat) !== value.version) return value;
      return use({ key, among, path, stat, value, users: 0, dropped: false, used: 0 });
    },
    close: () => among.forEach(drop),
  };
}

const isSame = (a: fs.BigIntStats, b: fs.BigIntStats): boolean =>
  a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

/** Of stores that open nothing: each piece is a request. */
async function byRanges(store: Store, key: Key, call: CallOptions): Promise<OpenValue | undefined> {
  const stat = await store.stat(key, call);
  if (stat === undefined) return undefined;
  const read = async (range: { offset: number; length: number }): Promise<Uint8Array> => {
    const bytes = await store.get(key, { range, signal: call.signal });
    if (bytes === undefined) throw new Conflict(`${key} was deleted while it was read`, { where: key });
    return bytes;
  };
  return { ...stat, version: stat.version, read: (spans) => Promise.all(spans.map(read)), close: () => {} };
}
