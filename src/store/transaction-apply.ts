/**
 * The second half of a commit: what was committed is brought to its places, by whoever committed it or, if he is dead, by
 * the next writer. Why one at a time, and how that is made sure, is in transaction.ts.
 */
import { Conflict, LimitExceeded } from "../errors.js";
import type { Key } from "./key.js";
import { pause } from "./retry.js";
import { type Changes, Head, Id, Journal, journalKey, type Place, partKey, type Seen } from "./transaction-log.js";
import { viewOf } from "./transaction-view.js";
import type { CallOptions } from "./types.js";

/** Where the transactions are, and for how many milliseconds they say that they live. */
export interface Log extends Place {
  readonly lease: number;
}

/** Who settles: a transaction, whose own changes need not be read from the log. */
export interface Self {
  readonly id: string;
  readonly changes: Changes;
  /** When it last said in the head that it applies a commit; milliseconds, 0 if never. */
  since: number;
}

const LANES = 8; // keys at once: disks and object stores alike are faster with some than with one
const PIECE = 4 << 20; // bytes of a large value that are in memory at once

/** The head, once no commit is pending any more: `me` applies the one that is, or waits for who does. */
export async function settle(log: Log, me: Self, known?: Seen, call?: CallOptions): Promise<Seen> {
  let polls = 0;
  let silent = { version: "" as string | undefined, since: 0 }; // by a clock that nobody sets: one that jumps would end every lease
  for (let seen = await Head.see(log, known, call); ; seen = await Head.see(log, seen, call)) {
    const { pending } = seen.head;
    if (pending === undefined) return seen;
    if (seen.version !== silent.version) silent = { version: seen.version, since: performance.now() };
    try {
      if (pending.applier === me.id) {
        if (isStale(log, me)) await claim(log, me, seen);
        else await redo(log, me, seen);
      } else if (Id.isDead(pending.applier) || performance.now() - silent.since > pending.lease)
        await claim(log, me, seen);
      else await pause(Math.random() * Math.min(200, 4 * ++polls), call?.signal);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error; // somebody else has taken over, or was faster
    }
  }
}

/** Whether it is time to say again that `me` lives. */
const isStale = ({ lease }: Log, { since }: Self): boolean => Date.now() - since > lease / 4;

/** Makes `me` the applier, or says once more that `me` is. */
async function claim(log: Log, me: Self, seen: Seen): Promise<void> {
  const { id, beat } = seen.head.pending!;
  const now = Date.now();
  const pending = { id, applier: me.id, beat: beat + 1, lease: log.lease };
  await Head.swap(log, seen, { ...seen.head, pending });
  me.since = now;
}

/** Applies the pending commit, whose applier is `me`, and strikes it off. Signals no longer count: it has happened. */
async function redo(log: Log, me: Self, seen: Seen): Promise<void> {
  const { id } = seen.head.pending!;
  const changes = id === me.id ? me.changes : await Journal.get(log, id);
  const claimed = holding(log, me, seen);
  try {
    if (changes === undefined) throw await claimed.lost(journalKey(log.at, id));
    await bring(log, id, changes, claimed);
    const last = await claimed.look();
    await Head.swap(log, last, { ...last.head, pending: undefined });
    await removeParts(log, id, changes).catch(() => {}); // what stays is in nobody's way, and swept some day
  } finally {
    claimed.end();
  }
}

async function removeParts({ store, at }: Place, id: string, changes: Changes): Promise<void> {
  let parts = 0;
  for (const staged of changes.values()) parts = Math.max(parts, staged === undefined ? 0 : staged.part + 1);
  for (let part = 0; part < parts; part++) await store.delete(partKey(at, id, part));
}

interface Claim {
  /** Aborted before the lease is over, so that no write of ours comes after somebody else's. */
  readonly signal: AbortSignal;
  /** Before each write: says that we live, if it was long ago; Conflict if the claim is another's by now. */
  keep(): Promise<void>;
  /** The head, in which the claim is still ours; else Conflict. */
  look(): Promise<Seen>;
  /** Why something of the log is not there: somebody else has done all the work, or it is damaged. */
  lost(key: Key): Promise<Error>;
  end(): void;
}

function holding(log: Log, me: Self, first: Seen): Claim {
  const controller = new AbortController();
  const where = log.store.url;
  let seen = first;
  let renewing: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function wind(): void {
    clearTimeout(timer);
    const slow = new LimitExceeded(`${where} takes more than ${log.lease / 4} ms for one write`, {
      where,
      reason: "timeout",
    });
    timer = setTimeout(() => controller.abort(slow), me.since + log.lease / 2 - Date.now());
  }

  async function look(): Promise<Seen> {
    seen = await Head.see(log, seen);
    if (seen.head.pending?.applier === me.id) return seen;
    throw new Conflict(`the log of ${where} is applied by somebody else now`, { where });
  }

  async function renew(): Promise<void> {
    await claim(log, me, await look());
    wind();
  }

  wind();
  return {
    signal: controller.signal,
    look,
    async keep() {
      controller.signal.throwIfAborted();
      if (!isStale(log, me)) return;
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      await renewing;
    },
    lost: async (key) =>
      look().then(
        () => Journal.missing(log, key),
        (error: Error) => error,
      ),
    end: () => clearTimeout(timer),
  };
}

/** Deletes, then values: a file system has no room for `a/b` before `a` is gone, nor the other way round. */
async function bring(log: Log, id: string, changes: Changes, claimed: Claim): Promise<void> {
  const { store } = log;
  const { signal } = claimed;
  const from = viewOf(log, id, changes, async (key) => {
    throw await claimed.lost(partKey(log.at, id, changes.get(key)!.part));
  });
  const [deletes, values]: [Key[], Key[]] = [[], []];
  for (const [key, staged] of changes) (staged === undefined ? deletes : values).push(key);

  await inLanes(deletes, async (key) => {
    await claimed.keep();
    await store.delete(key, { signal });
  });
  await inLanes(values, async (key) => {
    await claimed.keep();
    const { length } = changes.get(key)!;
    if (length <= PIECE) return store.set(key, (await from.get(key))!, { signal });
    const sink = await store.write(key, { signal });
    try {
      for (let offset = 0; offset < length; offset += PIECE) {
        await claimed.keep();
        await sink.write((await from.get(key, { range: { offset, length: Math.min(PIECE, length - offset) } }))!);
      }
      await sink.commit();
    } catch (error) {
      await sink.abort();
      throw error;
    }
  });
}

/** Some at once, and nothing goes on behind the caller's back: a write that comes late would undo a later commit. */
async function inLanes(keys: readonly Key[], work: (key: Key) => Promise<void>): Promise<void> {
  for (let at = 0; at < keys.length; at += LANES) {
    const outcomes = await Promise.allSettled(keys.slice(at, at + LANES).map(work));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }
}
