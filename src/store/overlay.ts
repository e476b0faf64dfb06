/**
 * Reading data that others may be changing by transactions (transaction.ts): one generation of it.
 *
 * Opening costs one request, for the head; where there is none, nothing was ever committed. If the last commit is still being
 * applied, its journal is read as well, and what it changes is taken from its log instead of from its place: the state
 * after it, whole, however far the application is. When it has been applied and the log is taken away meanwhile, the places
 * hold the same, or, after the next commit, something else: then Conflict.
 *
 * A commit that comes later is applied under the reader's hands. Its head is there before the first of its changes, so a
 * reader who asks `changed` after his last read, and hears no, has read one generation; else he opens anew or gives up.
 * An error on the way may come from such a mixture, too: ask before believing it.
 *
 * No cache below this: it would keep the old head, and `changed` would never say yes. One above it is good for as long as the
 * overlay.
 */
import { Conflict, OctavoError } from "../errors.js";
import type { Key, Prefix } from "./key.js";
import { readonlyStore } from "./readonly.js";
import { type Changes, Head, Journal, journalKey, type Place } from "./transaction-log.js";
import { viewOf } from "./transaction-view.js";
import type { CallOptions, OpenValue, Store } from "./types.js";
import { wrap } from "./wrap.js";

/** One generation of the data below a prefix. */
export interface Overlay {
  /** Reads that generation; writes are for transactions, and refused. */
  readonly store: Store;
  /** How many commits the data have seen; 0 where transactions were never used. */
  readonly generation: number;
  /** Whether there have been commits since, so that what was read may be a mixture. */
  changed(call?: CallOptions): Promise<boolean>;
}

/** The data below a prefix as they are after the last commit. */
export async function overlay(store: Store, at: Prefix, call?: CallOptions): Promise<Overlay> {
  const place: Place = { store, at };
  const { head, changes } = await last(place, call);
  const changed = async (call?: CallOptions): Promise<boolean> => !Head.same(head, await headOf(place, call));
  const view = viewOf(place, head.pending?.id ?? "", changes, async (key, options) => {
    const bytes = await store.get(key, options);
    if (!(await changed(options))) return bytes;
    const where = `${store.url}/${key}`;
    throw new Conflict(`${where} has been changed by others since it was opened`, {
      where,
      reason: "changed",
      hint: "open the data again",
    });
  });
  const { open, pathOf } = store as Store & { pathOf?(key: Key): string | undefined }; // of a file store: workers read files themselves
  return {
    store: Object.assign(
      readonlyStore(wrap(store, view)),
      pathOf && { pathOf: (key: Key) => (changes.has(key) ? undefined : pathOf(key)) },
      open && { open: (key: Key, call?: CallOptions) => (changes.has(key) ? inLog(view, key, call) : open(key, call)) },
    ),
    generation: head.generation,
    changed,
  };
}

/** A value that is still in the log. */
async function inLog(view: Pick<Store, "get" | "stat">, key: Key, call?: CallOptions): Promise<OpenValue | undefined> {
  const found = await view.stat(key, call);
  return (
    found && {
      size: found.size,
      version: found.version,
      read: (spans) => Promise.all(spans.map(async (range) => (await view.get(key, { range }))!)),
      close() {},
    }
  );
}

/** Object stores that forbid listing answer "forbidden" for what is not there; a file system knows what is there. */
async function headOf(place: Place, call: CallOptions | undefined): Promise<Head> {
  try {
    return await Head.get(place, call);
  } catch (error) {
    const mayBeAbsence = error instanceof OctavoError && error.reason === "forbidden";
    if (mayBeAbsence && !place.store.url.startsWith("file:")) return Head.none;
    throw error;
  }
}

async function last(place: Place, call: CallOptions | undefined): Promise<{ head: Head; changes: Changes }> {
  for (let missing = ""; ; ) {
    const head = await headOf(place, call);
    if (head.pending === undefined) return { head, changes: new Map() };
    const { id } = head.pending;
    const changes = await Journal.get(place, id, call);
    if (changes !== undefined) return { head, changes };
    if (missing === id) throw Journal.missing(place, journalKey(place.at, id)); // else it has been applied long ago, between the two reads
    missing = id;
  }
}
