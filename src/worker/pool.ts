/**
 * A pool of workers that decode and encode: worker_threads in Node, Web Workers in browsers, or nothing but this thread
 * (`inlinePool`), with the same results.
 *
 * Workers start when there is work for them. Each has up to two tasks under way, so that the next one is already there
 * when it ends one; the rest waits here in a queue of bounded length, and beyond that `run` itself waits for room.
 * A worker that dies takes its tasks with it, as errors; the next task starts another. Idle workers do not keep a Node
 * process alive.
 */

import { InvalidInput } from "../errors.js";
import { builtin } from "../platform.js";
import { onAbort } from "../signal.js";
import { PortableError, type Reply, type Request } from "./message.js";
import type { Tasks } from "./tasks.js";
import { startThread, type Thread } from "./thread.js";

/** What `run` understands. */
export interface RunOptions {
  /** Takes the task out of the queue; one that already runs is left to end, unheard. */
  readonly signal?: AbortSignal | undefined;
  /** Buffers of the payload that the caller gives away (`alone` makes sure that they can be). */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

/** Workers that decode and encode; hand one to `read`, `writeRegion` or a conversion. */
export interface Pool {
  /** How many workers there are at most; 0 where everything runs on the caller's thread. */
  readonly size: number;
  /** Has a worker do a task; waits while the queue is full. */
  run<Name extends keyof Tasks>(
    task: Name,
    payload: Parameters<Tasks[Name]>[0],
    options?: RunOptions,
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>;
  /** Ends the workers; tasks that are not done are rejected. */
  close(): Promise<void>;
}

/** How many workers, and which program they run. */
export interface PoolOptions {
  /** By default one per core, at most 8: beyond that, memory is what chunks wait for. */
  readonly size?: number | undefined;
  /** The worker's program; by default `worker.js` beside the file that runs (the entry "octavo/worker"). */
  readonly workerUrl?: string | URL | undefined;
  /** How many tasks may wait for a worker; by default 4 per worker. */
  readonly maxQueue?: number | undefined;
}

const UNDER_WAY = 2;

interface Job {
  readonly task: string;
  readonly payload: unknown;
  readonly transfer: readonly ArrayBuffer[];
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

interface Worker {
  readonly thread: Thread;
  readonly jobs: Map<number, Job>;
}

/** A pool of workers; they start when there is work for them. */
export function createPool(options: PoolOptions = {}): Pool {
  const size = options.size ?? Math.min(cores(), 8);
  const maxQueue = options.maxQueue ?? 4 * size;
  if (!Number.isInteger(size) || size < 1) throw new InvalidInput(`a pool has 1 or more workers, found ${size}`);
  if (!Number.isInteger(maxQueue) || maxQueue < 1)
    throw new InvalidInput(`the queue of a pool has room for 1 or more tasks, found ${maxQueue}`);
  const url = options.workerUrl ?? besides();
  const workers = new Set<Worker>();
  const queue: Job[] = [];
  const waiting: (() => void)[] = []; // callers that wait for room in the queue
  let room = maxQueue;
  let closed = false;
  let lastId = 0;

  function leaveQueue(): void {
    const next = waiting.shift();
    if (next === undefined) room++;
    else next();
  }

  function enterQueue(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (room > 0) {
      room--;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        stopListening();
        resolve();
      };
      const stopListening = onAbort(signal, () => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(signal!.reason);
      });
      waiting.push(enter);
    });
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const worker = freeWorker();
      if (worker === undefined) return;
      const job = queue.shift()!;
      leaveQueue();
      start(worker, job);
    }
  }

  /** The worker with the least to do, if it can take more; a new one rather than a second task for one that works. */
  function freeWorker(): Worker | undefined {
    let least: Worker | undefined;
    for (const worker of workers) if (least === undefined || worker.jobs.size < least.jobs.size) least = worker;
    if (least?.jobs.size !== 0 && workers.size < size) return newWorker();
    return least !== undefined && least.jobs.size < UNDER_WAY ? least : undefined;
  }

  function newWorker(): Worker {
    const jobs = new Map<number, Job>();
    const thread = startThread(url, {
      message(reply: Reply) {
        const job = jobs.get(reply.id);
        jobs.delete(reply.id);
        if (jobs.size === 0) thread.unref();
        if (job === undefined) return;
        if ("error" in reply) job.reject(PortableError.toError(reply.error));
        else job.resolve(reply.value);
        dispatch();
      },
      death(error) {
        workers.delete(worker);
        for (const job of jobs.values()) job.reject(error);
        jobs.clear();
        dispatch();
      },
    });
    const worker: Worker = { thread, jobs };
    workers.add(worker);
    return worker;
  }

  function start(worker: Worker, job: Job): void {
    const id = ++lastId;
    const request: Request = { id, task: job.task, payload: job.payload };
    try {
      worker.thread.post(request, job.transfer);
    } catch (cause) {
      job.reject(new InvalidInput(`the payload of ${job.task} cannot be sent to a worker: ${cause}`, { cause }));
      return;
    }
    worker.jobs.set(id, job);
    worker.thread.ref();
  }

  async function run(task: string, payload: unknown, { signal, transfer = [] }: RunOptions = {}): Promise<unknown> {
    signal?.throwIfAborted();
    if (!closed) await enterQueue(signal);
    if (closed) throw closedError();
    if (signal?.aborted) {
      leaveQueue(); // aborted in the moment in which there was room
      throw signal.reason;
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        const place = queue.indexOf(job);
        if (place >= 0) {
          queue.splice(place, 1);
          leaveQueue();
        }
        reject(signal!.reason);
      };
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          stopListening();
          then(value);
        };
      const job: Job = { task, payload, transfer, resolve: settle(resolve), reject: settle(reject) };
      const stopListening = onAbort(signal, abort);
      queue.push(job);
      dispatch();
    });
  }

  return {
    size,
    run: run as Pool["run"],
    async close() {
      closed = true;
      const ended = [...workers].map(({ thread }) => thread.terminate());
      for (const job of [...queue.splice(0), ...[...workers].flatMap(({ jobs }) => [...jobs.values()])])
        job.reject(closedError());
      workers.clear();
      for (const enter of waiting.splice(0)) enter();
      await Promise.all(ended);
    },
  };
}

const closedError = (): InvalidInput => new InvalidInput("the pool was closed before the task was done");

function cores(): number {
  const host = globalThis as { navigator?: { hardwareConcurrency?: number } };
  return builtin("node:os")?.availableParallelism() ?? host.navigator?.hardwareConcurrency ?? 2;
}

/** As modules lie in the package, and as a bundle lies beside its worker. */
function besides(): URL {
  const here = import.meta.url; // by another name: webpack follows `new URL(…, import.meta.url)`, and warns where it cannot
  return new URL(/\/worker\/pool\.js$/.test(here) ? "../worker.js" : "./worker.js", here);
}
