/**
 * The store that a transaction works in: its changes over what is there. Values wait in memory until there are enough of them
 * for a part of the log, so that memory is bounded and few files are made; a value that is larger than that gets a part of
 * its own. What is read is written down, and tells later which commits of others concern this transaction.
 */
import { concat } from "../bytes/concat.js";
import { Conflict, InvalidInput } from "../errors.js";
import { isPrivate, type Key, type Prefix } from "./key.js";
import { insist } from "./memory.js";
import { sinkState } from "./sink.js";
import { type Changes, Journal, journalKey, type Place, partKey, type Staged, stemOf } from "./transaction-log.js";
import { viewOf } from "./transaction-view.js";
import type { CallOptions, SetOptions, Sink, Store } from "./types.js";
import { wrap } from "./wrap.js";

export interface Stage {
  readonly store: Store;
  readonly changes: Map<Key, Staged | undefined>;
  /** From now on nothing more is staged. */
  seal(): void;
  /** Writes what waits in memory, which it stays in as well, and the journal; once. */
  flush(call: CallOptions | undefined): Promise<void>;
  /** A key by which somebody else's commit concerns this transaction. */
  concernedBy(changes: Changes): Key | undefined;
  /** Takes all of it out of the store, as far as that can be done. */
  remove(): Promise<void>;
}

/** At most `most` bytes wait in memory. */
export function stageFor(place: Place, id: string, most: number): Stage {
  const { store, at } = place;
  const changes = new Map<Key, Staged | undefined>();
  const reads = new Set<Key>();
  const listed = new Set<Prefix>();
  let waiting = new Set<Staged>();
  let held = 0;
  let parts = 0;
  let writes = 0;
  let last: Promise<unknown> = Promise.resolve();
  let state: "open" | "sealed" | "flushed" = "open";

  const view = viewOf(place, id, changes, async (key) => {
    const where = `${store.url}/${key}`;
    throw new Conflict(`what this transaction staged for ${where} has been swept away by others`, { where });
  });

  function mustTake(key: Key, call: CallOptions | undefined): void {
    call?.signal?.throwIfAborted();
    const where = `${store.url}/${key}`;
    if (state !== "open") throw new InvalidInput(`the transaction has ended before ${where} was changed`, { where });
    if (!key.startsWith(at) || isPrivate(key)) {
      throw new InvalidInput(`${where} is not part of the data below ${at}, which the transaction is about`, { where });
    }
  }

  /** What is asked for in a condition must be known before anything is staged, so that both happen at once. */
  async function versionBelow(key: Key, call: SetOptions | undefined): Promise<string | undefined> {
    if (call?.if === undefined || changes.has(key)) return undefined;
    reads.add(key);
    return (await store.stat(key, { signal: call.signal }))?.version;
  }

  function change(key: Key, to: Staged | undefined, call: SetOptions | undefined, below: string | undefined): void {
    mustTake(key, call); // once more: it may have ended while a condition was looked at
    const before = changes.get(key);
    if (call?.if !== undefined) insist(call.if, changes.has(key) ? before?.version : below, `${store.url}/${key}`);
    if (before !== undefined && waiting.delete(before)) held -= before.length;
    changes.set(key, to);
  }

  async function hold(key: Key, bytes: Uint8Array, call: SetOptions | undefined): Promise<void> {
    const below = await versionBelow(key, call);
    const staged: Staged = { version: `${id}.${++writes}`, length: bytes.length, part: -1, offset: 0, bytes };
    change(key, staged, call, below);
    waiting.add(staged);
    held += staged.length;
    if (held > most) await spill(call, (one) => delete one.bytes);
  }

  /** Makes a part of all that waits. Places are given at once, so that a journal can name them while it is written. */
  function spill(call: CallOptions | undefined, then: (staged: Staged) => void): Promise<void> {
    const batch = waiting;
    if (batch.size === 0) return Promise.resolve();
    const part = parts++;
    let offset = 0;
    for (const staged of batch) {
      Object.assign(staged, { part, offset });
      offset += staged.length;
    }
    waiting = new Set();
    held = 0;
    const write = async () => {
      try {
        await store.set(partKey(at, id, part), concat(Array.from(batch, ({ bytes }) => bytes!)), {
          signal: call?.signal,
        });
        batch.forEach(then);
      } catch (error) {
        for (const staged of batch) waiting.add(staged);
        held += offset;
        throw error;
      }
    };
    const mine = last.catch(() => {}).then(write); // one after the other: what is on its way counts as memory, too
    last = mine;
    return mine;
  }

  async function sink(key: Key, call: SetOptions | undefined): Promise<Sink> {
    mustTake(key, call);
    const open = sinkState(`${store.url}/${key}`);
    let pieces: Uint8Array[] = [];
    let length = 0;
    let large: { readonly sink: Sink; readonly part: number } | undefined;
    let pending: Promise<void> = Promise.resolve();

    async function take(piece: Uint8Array): Promise<void> {
      pieces.push(piece);
      length += piece.length;
      if (length <= most) return;
      if (large === undefined) {
        const part = parts++;
        large = { part, sink: await store.write(partKey(at, id, part), { signal: call?.signal }) };
      }
      for (const waits of pieces) await large.sink.write(waits);
      pieces = [];
    }

    return {
      async write(bytes) {
        open.mustBeOpen();
        const copy = new Uint8Array(bytes);
        pending = pending.then(() => take(copy));
        await pending;
      },
      async commit() {
        open.mustBeOpen();
        open.end();
        await pending;
        if (large === undefined) return hold(key, concat(pieces), call);
        await large.sink.commit();
        const below = await versionBelow(key, call);
        change(key, { version: `${id}.${++writes}`, length, part: large.part, offset: 0 }, call, below);
      },
      async abort() {
        open.end();
        await pending.catch(() => {});
        await large?.sink.abort();
      },
    };
  }

  return {
    changes,

    store: wrap(store, {
      get: (key, call) => {
        if (!changes.has(key)) reads.add(key);
        return view.get(key, call);
      },
      stat: (key, call) => {
        if (!changes.has(key)) reads.add(key);
        return view.stat(key, call);
      },
      list: (prefix, call) => {
        listed.add(prefix);
        return view.list(prefix, call);
      },
      children: (prefix, call) => {
        listed.add(prefix);
        return view.children(prefix, call);
      },
      async set(key, value, call) {
        mustTake(key, call);
        await hold(key, new Uint8Array(value), call);
      },
      write: sink,
      async delete(key, call) {
        change(key, undefined, call, undefined);
      },
      close: async () => {}, // the store is not the transaction's
    }),

    seal() {
      if (state === "open") state = "sealed";
    },

    async flush(call) {
      if (state === "flushed") return;
      await last.catch(() => {}); // what failed waits again
      const spilled = spill(call, () => {});
      const journalled = store.set(journalKey(at, id), Journal.encode(changes, at), { signal: call?.signal });
      for (const outcome of await Promise.allSettled([spilled, journalled])) {
        if (outcome.status === "rejected") throw outcome.reason;
      }
      state = "flushed";
    },

    concernedBy(theirs) {
      const mine = stemOf(at, id);
      for (const key of theirs.keys()) {
        if (changes.has(key) || reads.has(key) || key.startsWith(mine)) return key;
        if (!isPrivate(key)) for (const prefix of listed) if (key.startsWith(prefix)) return key;
      }
      return undefined;
    },

    async remove() {
      await last.catch(() => {});
      const keys = [journalKey(at, id), ...Array.from({ length: parts }, (_, part) => partKey(at, id, part))];
      await Promise.allSettled(keys.map((key) => store.delete(key)));
    },
  };
}
