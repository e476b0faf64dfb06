/** One worker, as Node has it and as browsers have it. */
import { LimitExceeded, type OctavoError, Unsupported } from "../errors.js";
import { builtin } from "../platform.js";
import type { Reply, Request } from "./message.js";

export interface Thread {
  post(request: Request, transfer: readonly ArrayBuffer[]): void;
  /** Keeps a Node process alive, or lets it end; browsers have no such thing. */
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

export interface Listener {
  message(reply: Reply): void;
  /** Once, when the worker is no more without having been told to end. */
  death(error: OctavoError): void;
}

export function startThread(url: string | URL, listener: Listener): Thread {
  const threads = builtin("node:worker_threads");
  return threads === undefined ? startWeb(url, listener) : startNode(threads, url, listener);
}

function startNode(threads: typeof import("node:worker_threads"), url: string | URL, listener: Listener): Thread {
  const program = typeof url === "string" && url.startsWith("file:") ? new URL(url) : url;
  const worker = new threads.Worker(program, { execArgv: [] }); // flags such as --input-type would keep it from starting
  let ended = false;
  const death = (error: OctavoError) => {
    if (ended) return;
    ended = true;
    void worker.terminate(); // one whose message cannot be read is still alive
    listener.death(error);
  };
  worker.on("message", (reply: Reply) => listener.message(reply));
  worker.on("messageerror", (error) => death(died(url, error.message)));
  worker.on("error", (error: Error & { code?: string }) =>
    death(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? outOfMemory(error) : died(url, error.message, error)),
  );
  worker.on("exit", (code) => death(died(url, `it ended with code ${code}`)));
  worker.unref();
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => {
      ended = true;
      return worker.terminate();
    },
  };
}

function startWeb(url: string | URL, listener: Listener): Thread {
  const worker = new Worker(url, { type: "module" });
  const death = (message: string) => {
    worker.terminate();
    listener.death(died(url, message));
  };
  worker.onmessage = (event: MessageEvent<Reply>) => listener.message(event.data);
  worker.onmessageerror = () => death("a message did not arrive whole");
  worker.onerror = (event) => death(event.message || "its program could not be loaded");
  return {
    post: (request, transfer) => worker.postMessage(request, [...transfer]),
    ref() {},
    unref() {},
    async terminate() {
      worker.terminate();
    },
  };
}

const died = (url: string | URL, why: string, cause?: unknown): Unsupported =>
  new Unsupported(`the worker ${url} died before its task was done: ${why}`, { reason: "worker-died", cause });

const outOfMemory = (cause: unknown): LimitExceeded =>
  new LimitExceeded("a worker ran out of memory before its task was done", { reason: "memory", cause });
