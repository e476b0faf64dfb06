/**
 * Transactions: changes of many keys of a store that happen together or not at all, on any store that can write on a
 * condition. File names are what a format says they are, so the new values cannot simply lie elsewhere; what is atomic is
 * a log beside the data. The protocol, with the documents of transaction-log.ts:
 *
 * Staging. Values are written to the log as parts, deletes are remembered, and reads see them. The data are untouched.
 *
 * Committing. The last part and the journal are written, which says what goes where. Then the head is swapped for one with
 * the next generation and with this transaction as pending. That one conditional write is the commit: before it nothing has
 * happened, after it all has. If the head has changed since it was read, others have committed; the journals of the recent
 * ones are kept, and tell whether what they changed is anything that this transaction has read, listed or changed. If so,
 * or if the journal is no longer there, Conflict: the caller plans again. If not, the swap is tried on top of theirs.
 * A transaction begins when nothing is pending, and what it reads later either was changed by nobody since or leads to that
 * Conflict: so all commits are as if they had happened one after the other, in the order of their generations.
 *
 * Applying. Whoever has committed brings the values to their places, swaps the head for one without pending, and removes the
 * parts. All of this can be done again from the start, after a crash at any point. Nobody commits before it is done: a
 * writer who finds a pending commit waits, or does it himself if the one who was at it is dead.
 *
 * One applier at a time. A second one would be harmless, since it writes the same values, were it not for the one that is
 * late: it would overwrite what the commit after next has brought. So the head names the applier, and another takes its
 * place only by swapping the head: at once if the applier is known to be dead (a process of this machine that is gone, a
 * failed call of this thread); else after it has not touched the head for its lease, by the watcher's own clock. The applier
 * touches it every quarter of the lease and aborts its own writes after half of it. What is left is a write that was
 * sent before half a lease and takes effect after a whole one, on storage that carries out what its client has given up.
 *
 * Sweeping. What killed transactions have staged is removed by a transaction whose changes are these deletes: their maker is
 * known to be dead, or cannot be seen and has begun a day ago. If he lives after all and commits later, somebody else's
 * commit has changed his own parts, and he gets Conflict; if he commits earlier, all is in its place before the sweeper's
 * commit. So no commit can lose a part of itself.
 *
 * Lost answers. When the swap fails otherwise than by Conflict it may still have happened; the recent commits in the head
 * tell. If they cannot be read either, `commit` throws and may be called again. Until then nothing of the log is removed.
 *
 * Readers use overlay.ts. Only those who use transactions are kept apart: other software that reads during an application sees
 * some keys before and some after, and what it writes to the same keys at the same time is not protected.
 */
import { Conflict, InvalidInput } from "../errors.js";
import { LOGS, Prefix } from "./key.js";
import { pause } from "./retry.js";
import { type Log, type Self, settle } from "./transaction-apply.js";
import { alive, Head, Id, Journal, journalKey } from "./transaction-log.js";
import { type Stage, stageFor } from "./transaction-stage.js";
import type { CallOptions, Store } from "./types.js";
import { cannot } from "./wrap.js";

/** How a transaction waits and stages. */
export interface TransactionOptions extends CallOptions {
  /** Milliseconds of silence after which others may apply what this one has committed. A minute: no write takes half of it. */
  readonly lease?: number | undefined;
  /** Bytes of staged values that are held in memory. 8 MiB: then most edits are one part. */
  readonly memory?: number | undefined;
}

/** What a commit has led to. */
export interface Committed {
  /** The number of this commit. */
  readonly generation: number;
  /** Why the changes are still in the log only, from where the next writer will bring them to their places. */
  readonly unapplied?: unknown;
}

/** Changes of many keys that happen together or not at all. */
export interface Transaction {
  /** The data with the changes so far; what is written here is staged. */
  readonly store: Store;
  /** The generation of the data when it began. */
  readonly generation: number;
  /** Whether others have committed since, so that what was read may be a mixture. */
  changed(call?: CallOptions): Promise<boolean>;
  /** Conflict if others have changed what was read or written here. After any other error it may be called again. */
  commit(call?: CallOptions): Promise<Committed>;
  /** Throws the changes away; nothing after `commit`. */
  abort(): Promise<void>;
}

const TRIES = 500; // of eight writers who all want the same, one in a thousand loses fifty times in a row
const swept = new WeakMap<Store, Set<Prefix>>();

export const Transaction = {
  /** Begins a transaction on the data below a prefix, once every earlier commit has been applied. */
  async begin(store: Store, at: Prefix, options: TransactionOptions = {}): Promise<Transaction> {
    const places = swept.get(store) ?? new Set();
    swept.set(store, places);
    if (!places.has(at)) await Transaction.recover(store, at, options);
    places.add(at);
    return (await start(store, at, options)).transaction;
  },

  /** Does the work in a transaction, as often as others come in between. */
  async run<T>(
    store: Store,
    at: Prefix,
    work: (store: Store, transaction: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<Committed & { readonly result: T }> {
    for (let tries = 1; ; tries++) {
      const transaction = await Transaction.begin(store, at, options);
      const begun = performance.now();
      let planned = false;
      try {
        const result = await work(transaction.store, transaction);
        planned = true;
        return { ...(await transaction.commit(options)), result };
      } catch (error) {
        // What failed while others committed may have failed because of that. Not so a commit: it may have happened.
        const again = error instanceof Conflict || (!planned && (await transaction.changed().catch(() => false)));
        await transaction.abort();
        if (!again || tries === TRIES) throw error;
        // The longer the work, the longer others need for theirs: all at once they would only spoil it for each other.
        const took = performance.now() - begun;
        await pause(Math.random() * Math.min(2000, took * 2 ** Math.min(tries, 4)), options.signal);
      }
    }
  },

  /** Brings a commit that is still pending to its places, and removes what dead transactions have left. */
  async recover(store: Store, at: Prefix, options: TransactionOptions = {}): Promise<void> {
    const { transaction, stage, head } = await start(store, at, options);
    try {
      const folder = Prefix.of(at + LOGS);
      for (const key of (await store.children(folder, options)).keys) {
        const id = Id.ofName(key.slice(folder.length));
        if (id === undefined || (head.recent.includes(id) && key === journalKey(at, id))) continue;
        if (Id.isDead(id) || Id.isOld(id)) stage.changes.set(key, undefined);
      }
      await transaction.commit(options);
    } catch (error) {
      await transaction.abort();
      if (!(error instanceof Conflict)) throw error; // somebody else sweeps, or somebody was not dead
    }
  },
};

async function start(
  store: Store,
  at: Prefix,
  options: TransactionOptions,
): Promise<{ transaction: Transaction; stage: Stage; head: Head }> {
  if (!store.can.write || !store.can.conditional) throw cannot(store.url, store.can.write ? "conditional" : "write");
  const log: Log = { store, at, lease: options.lease ?? 60_000 };
  const id = Id.make();
  const stage = stageFor(log, id, options.memory ?? 8 << 20);
  const me: Self = { id, changes: stage.changes, since: 0 };
  alive.add(id);
  let seen = await settle(log, me, undefined, options).catch((error) => {
    alive.delete(id);
    throw error;
  });
  const begun = seen.head;
  let checked = begun.generation; // none of the commits up to here concern this transaction
  let state: "open" | "doubtful" | "ended" = "open";

  /** Conflict if a commit that came since concerns this transaction. */
  async function check(call: CallOptions | undefined): Promise<void> {
    const { generation, recent } = seen.head;
    const conflict = (why: string) =>
      new Conflict(`${store.url}/${at} has been changed by others since the transaction began: ${why}`, {
        where: `${store.url}/${at}`,
      });
    const behind = generation - checked;
    if (behind < 0 || behind > recent.length)
      throw conflict(`it was at generation ${checked} and is now at ${generation}`);
    for (const other of recent.slice(0, behind)) {
      const changes = await Journal.get(log, other, call);
      if (changes === undefined) throw conflict("what they changed is no longer known");
      const key = stage.concernedBy(changes);
      if (key !== undefined) throw conflict(`they wrote ${key}`);
    }
    checked = generation;
  }

  /** Commits or throws; gives the generation. */
  async function decide(call: CallOptions | undefined): Promise<number> {
    for (;;) {
      seen = await settle(log, me, seen, call);
      const made = madeBy(id, seen.head);
      if (made !== undefined) return made; // by a call before this one
      await check(call);
      if (stage.changes.size === 0) return seen.head.generation;
      await stage.flush(call);
      me.since = Date.now();
      try {
        await Head.swap(log, seen, Head.after(seen.head, id, log.lease), call);
        return seen.head.generation + 1;
      } catch (error) {
        if (error instanceof Conflict) continue; // also where our own answer got lost and the request was sent again
        state = "doubtful";
        const now = await Head.get(log).catch(() => Head.none);
        const made = madeBy(id, now);
        if (made !== undefined) return made;
        throw error;
      }
    }
  }

  async function commit(call?: CallOptions): Promise<Committed> {
    if (state === "ended") throw new InvalidInput(`the transaction on ${store.url}/${at} has already ended`);
    stage.seal();
    alive.add(id);
    try {
      const before = seen.head.recent;
      const generation = await decide(call);
      state = "ended";
      if (stage.changes.size === 0) return { generation };
      try {
        const { recent } = (await settle(log, me, seen)).head;
        const forgotten = before.filter((other) => !recent.includes(other));
        await Promise.allSettled(forgotten.map((other) => store.delete(journalKey(at, other))));
        return { generation };
      } catch (unapplied) {
        return { generation, unapplied };
      }
    } catch (error) {
      if (error instanceof Conflict) {
        state = "ended";
        await stage.remove();
      }
      throw error;
    } finally {
      alive.delete(id);
    }
  }

  const transaction: Transaction = {
    store: stage.store,
    generation: begun.generation,
    commit,
    async changed(call) {
      return !Head.same(begun, await Head.get(log, call));
    },
    async abort() {
      alive.delete(id);
      stage.seal();
      if (state === "open") await stage.remove();
      state = "ended";
    },
  };
  return { transaction, stage, head: begun };
}

/** The generation that the transaction has made, if it is among the recent ones. */
function madeBy(id: string, { generation, recent }: Head): number | undefined {
  const at = recent.indexOf(id);
  return at < 0 ? undefined : generation - at;
}
