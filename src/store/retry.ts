/**
 * Tries again what failed for a passing reason: no connection, a server that is overloaded or down for the moment, a body
 * that was cut. Only what can be done twice without harm: reads, lists, whole unconditional writes, deletes. A write on a
 * condition is not: if its answer got lost, the second try would meet the first as a Conflict. Nor is a sink.
 *
 * The n-th pause is random, up to base · 2^n: many clients that failed together do not come back together. A server that
 * names a time (Retry-After) gets at least that.
 */

import { Corrupt, LimitExceeded, OctavoError } from "../errors.js";
import { onAbort } from "../signal.js";
import { isTransient } from "./failure.js";
import type { CallOptions, Store } from "./types.js";
import { wrap } from "./wrap.js";

/** How often to try, and how long to wait in between. */
export interface RetryOptions {
  /** The first try included. Five, with the pauses below, bridge about three seconds. */
  readonly tries?: number | undefined;
  /** Milliseconds; the longest first pause. */
  readonly base?: number | undefined;
  /** Milliseconds; no pause is longer, and a Retry-After beyond it is not waited for. */
  readonly longest?: number | undefined;
}

/** Does the work until it succeeds, fails for a lasting reason, or has failed too often. */
export async function again<T>(
  work: () => Promise<T>,
  call: CallOptions | undefined,
  { tries = 5, base = 200, longest = 30_000 }: RetryOptions = {},
): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OctavoError) || !isTransient(error) || givenUp.has(error)) throw error;
      const asked = (error.retryAfter ?? 0) * 1000;
      if (n >= tries || asked > longest) throw gaveUp(error, n);
      await pause(Math.max(asked, Math.random() * Math.min(longest, base * 2 ** (n - 1))), call?.signal);
    }
  }
}

/** The store with passing failures tried again. */
export function retryStore(store: Store, options: RetryOptions = {}): Store {
  return wrap(store, {
    get: (key, call) => again(() => store.get(key, call), call, options),
    stat: (key, call) => again(() => store.stat(key, call), call, options),
    children: (prefix, call) => again(() => store.children(prefix, call), call, options),
    async *list(prefix, call) {
      // Only up to the first key: from there on a second try would give keys twice.
      const { iterator, first } = await again(
        async () => {
          const iterator = store.list(prefix, call)[Symbol.asyncIterator]();
          return { iterator, first: await iterator.next() };
        },
        call,
        options,
      );
      try {
        for (let step = first; !step.done; step = await iterator.next()) yield step.value;
      } finally {
        await iterator.return?.();
      }
    },
    set: (key, value, call) =>
      call?.if === undefined ? again(() => store.set(key, value, call), call, options) : store.set(key, value, call),
    delete: (key, call) => again(() => store.delete(key, call), call, options),
  });
}

/** What has been tried often enough is not tried as often again by whoever stands above: tries would multiply. */
const givenUp = new WeakSet<OctavoError>();

function gaveUp(error: OctavoError, tries: number): OctavoError {
  const Kind = error instanceof Corrupt ? Corrupt : LimitExceeded; // what was cut stays damaged, whoever asks how often
  const last =
    tries === 1 && error.retryAfter === undefined
      ? error
      : new Kind(`gave up after ${tries} ${tries === 1 ? "try" : "tries"}: ${error.message}`, {
          cause: error,
          ...(error.where !== undefined && { where: error.where }),
          ...(error.reason !== undefined && { reason: error.reason }),
          ...(error.hint !== undefined && { hint: error.hint }),
          retryAfter: error.retryAfter,
        });
  givenUp.add(last);
  return last;
}

/** Waits, unless the signal ends it. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, fail) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      stopListening();
      done();
    }, ms);
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      fail(signal?.reason);
    });
  });
}
