/**
 * Merges ranges of one key that are asked for in one go: where they overlap, touch or leave only a small gap, one request
 * brings them all, and everybody gets exactly the bytes they asked for. Ranges are collected until the current task of the
 * event loop has ended, which adds no delay worth naming to a request over a network.
 *
 * If a merged range reaches past the end, each of its parts is asked for alone, so that only those fail that should. Any
 * other failure is everybody's. A caller who aborts leaves; the request goes on for the rest.
 */
import { Corrupt } from "../errors.js";
import type { Key } from "./key.js";
import { checkRange, type Span } from "./range.js";
import { share } from "./share.js";
import { afterThisTask } from "./turn.js";
import type { Store } from "./types.js";
import { wrap } from "./wrap.js";

/** When two ranges become one request. */
export interface CoalesceOptions {
  /** Bytes that may be read in vain between two ranges. 64 KiB take about as long as one more round trip at 50 MB/s. */
  readonly gap?: number | undefined;
  /** A merged request is not longer than this, unless one range is: larger ones are better read side by side. */
  readonly longest?: number | undefined;
  /** Where more requests than this would be under way for one key, further gaps are closed, until as much is read in vain as is asked for. */
  readonly requests?: number | undefined;
}

type Value = Uint8Array | undefined;

interface Waiting extends Span {
  readonly signal: AbortSignal | undefined;
  done(value: Promise<Value>): void;
}

/** The store with near ranges of one key merged into one request. */
export function coalesceStore(store: Store, options: CoalesceOptions = {}): Store {
  const { gap = 64 << 10, longest = 16 << 20, requests = Infinity } = options;
  const queues = new Map<Key, Waiting[]>();

  function flush(): void {
    const all = [...queues];
    queues.clear();
    for (const [key, queue] of all) {
      const staying = queue.filter(({ signal, done }) => {
        if (signal?.aborted) done(Promise.reject(signal.reason));
        return !signal?.aborted;
      });
      for (const run of fewer(runs(staying, gap, longest), longest, requests)) send(key, run);
    }
  }

  function send(key: Key, run: readonly Waiting[]): void {
    const alone = (one: Waiting) =>
      store.get(key, { range: { offset: one.offset, length: one.length }, signal: one.signal });
    if (run.length === 1) {
      run[0]!.done(alone(run[0]!));
      return;
    }
    const offset = run[0]!.offset;
    const length = endOf(run) - offset;
    const merged = share((signal) => store.get(key, { range: { offset, length }, signal }));
    for (const one of run) {
      const part = merged.join(one.signal).then(
        (value) => value?.slice(one.offset - offset, one.offset - offset + one.length),
        (error) => {
          if (error instanceof Corrupt && error.reason === "past-end") return alone(one);
          throw error;
        },
      );
      one.done(part);
    }
  }

  return wrap(store, {
    async get(key, call) {
      const range = call?.range;
      if (range === undefined || "suffix" in range || range.length === 0) return store.get(key, call);
      checkRange(range, `${store.url}/${key}`);
      call?.signal?.throwIfAborted();
      if (queues.size === 0) afterThisTask(flush);
      const queue = queues.get(key) ?? [];
      queues.set(key, queue);
      const { offset, length } = range;
      return new Promise<Value>((done) => queue.push({ offset, length, signal: call?.signal, done }));
    },
  });
}

/** The ranges in order, cut where the next one is too far away or would make the request too long. */
export function runs<T extends Span>(spans: readonly T[], gap: number, longest: number): T[][] {
  const out: T[][] = [];
  let end = 0;
  for (const span of [...spans].sort((a, b) => a.offset - b.offset)) {
    const run = out.at(-1);
    const reach = Math.max(end, span.offset + span.length);
    if (run !== undefined && span.offset - end <= gap && reach - run[0]!.offset <= longest) {
      run.push(span);
      end = reach;
    } else {
      out.push([span]);
      end = span.offset + span.length;
    }
  }
  return out;
}

/** Closes the smallest gaps between runs first. */
function fewer<T extends Span>(all: T[][], longest: number, requests: number): T[][] {
  if (all.length <= requests) return all;
  const sizes = all.map((run) => endOf(run) - run[0]!.offset);
  let spare = sizes.reduce((sum, size) => sum + size, 0);
  const gaps = all.slice(1).map((run, i) => ({ i, bytes: run[0]!.offset - endOf(all[i]!) }));
  const closed = new Set<number>();
  for (const { i, bytes } of gaps.sort((a, b) => a.bytes - b.bytes)) {
    if (all.length - closed.size <= requests || bytes > spare) break;
    spare -= Math.max(0, bytes);
    closed.add(i);
  }
  const out = [all[0]!];
  for (let i = 1; i < all.length; i++) {
    const last = out.at(-1)!;
    const fits = endOf(all[i]!) - last[0]!.offset <= longest;
    if (closed.has(i - 1) && fits) last.push(...all[i]!);
    else out.push(all[i]!);
  }
  return out;
}

const endOf = (run: readonly Span[]) => run.reduce((end, { offset, length }) => Math.max(end, offset + length), 0);
