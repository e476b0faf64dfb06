/**
 * The caller's own `fetch`, asked from a worker: it is called in the page, and its answer goes to the worker piece by piece, as the
 * worker reads it; what the worker does not read is not read.
 */
import { onAbort } from "../../signal.js";
import type { Fetch } from "../../store/send.js";
import type { Channel } from "../../worker/channel.js";

/** What the page does for the worker. */
export type FetchSide = {
  fetch(asked: Asked, signal: AbortSignal): Promise<Answer>;
  /** The next piece of a body; undefined at its end. */
  pull(id: number): Promise<Uint8Array | undefined>;
  /** Nobody wants the rest. */
  stop(id: number): void;
};

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
}

interface Answer {
  /** Of its body; undefined where it has none. */
  readonly id: number | undefined;
  readonly status: number;
  readonly headers: [string, string][];
}

/** As the worker has it. */
export function fetchThrough(channel: Channel<FetchSide>): Fetch {
  return async (url, { method = "GET", headers = {}, signal } = {}) => {
    const asked = { url, method, headers: [...new Headers(headers)] };
    const { id, status, headers: own } = await channel.call("fetch", asked, { signal: signal ?? undefined });
    if (id === undefined) return new Response(null, { status, headers: own });
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const piece = await channel.call("pull", id);
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => channel.tell("stop", id),
    });
    return new Response(body, { status, headers: own });
  };
}

/** As the page has it; `life` ends what is under way. */
export function fetchServer(own: Fetch, life: AbortSignal): FetchSide {
  const readers = new Map<number, ReadableStreamDefaultReader<Uint8Array>>();
  let last = 0;
  const stop = (id: number): void => {
    void readers
      .get(id)
      ?.cancel()
      .catch(() => {}); // a body that is broken already has nothing to end
    readers.delete(id);
  };
  onAbort(life, () => {
    for (const id of readers.keys()) stop(id);
  });
  return {
    async fetch({ url, method, headers }, signal) {
      const response = await own(url, { method, headers, signal });
      const { status, body } = response;
      const id = body === null ? undefined : ++last;
      if (id !== undefined) readers.set(id, body!.getReader());
      return { id, status, headers: [...response.headers] };
    },
    async pull(id) {
      const step = await readers.get(id)?.read();
      if (step?.done !== false) readers.delete(id);
      return step?.value;
    },
    stop,
  };
}
