/**
 * One request to a web server, and for how long a silent one is waited for.
 *
 * The clock of silence is the store's, not the request's: browsers let requests wait for each other (six at a time to one
 * host), and answers side by side share one line, so that one of them may hear nothing for minutes while others are served.
 * Only when no request of the store has heard anything for `timeout` milliseconds do those that wait end, as LimitExceeded
 * with the reason "timeout". What a server has to take in or to move makes no sound: such a request has longer.
 *
 * The caller's own fetch may ignore its signal: an abort and a silence end the call all the same.
 */

import { InvalidInput, LimitExceeded } from "../errors.js";
import { onAbort } from "../signal.js";

/** As the platform's `fetch`; a caller may bring one that signs, counts or answers by itself. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** How the stores of the web ask. */
export interface WebOptions {
  /** The caller's own fetch; the default is the platform's. */
  readonly fetch?: Fetch | undefined;
  /**
   * Milliseconds of silence after which a server is given up for this try. A minute unless told otherwise: stores answer
   * within seconds, and a connection that has lost its other end would wait for ever in a browser, for five minutes in Node.
   */
  readonly timeout?: number | undefined;
}

/** Sends a request; `moved` is how many bytes the server has to take in or to move before it can answer. */
export type Send = (url: string, init: RequestInit, where: string, moved?: number) => Promise<Response>;

const SLOWEST = 20; // bytes per millisecond: a slow line up, shared by the parts of an upload

interface Watch {
  readonly signal: AbortSignal;
  heard(): void;
  end(): void;
}

const watches = new WeakMap<Response, Watch>();

/** `fetch` for one store: a failure to reach the server is one of Octavo's errors, an abort the signal's own reason. */
export function sender({ fetch: own, timeout = 60_000 }: WebOptions): Send {
  if (!(timeout > 0)) throw new InvalidInput(`a timeout is a number of milliseconds above 0, found ${timeout}`);
  const fetcher: Fetch = own ?? ((url, init) => fetch(url, init));
  const clock = { heard: 0 };

  return async (url, init, where, moved = 0) => {
    init.signal?.throwIfAborted();
    checkHeaders(init.headers as Record<string, string> | undefined, where);
    const watch = startWatch(clock, timeout, init.signal ?? undefined, where, moved);
    try {
      const ended = new Promise<never>((_, fail) => {
        watch.signal.addEventListener("abort", () => fail(watch.signal.reason));
      });
      const response = await Promise.race([fetcher(url, { ...init, signal: watch.signal }), ended]);
      watch.heard();
      if (response.body === null) watch.end();
      else watches.set(response, watch);
      return response;
    } catch (cause) {
      watch.end();
      throw watch.signal.aborted ? watch.signal.reason : unreachable(where, cause);
    }
  };
}

/** fetch would refuse these too, with a sentence that shows the value, which may be a secret. */
function checkHeaders(headers: Record<string, string> | undefined, where: string): void {
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (/^[^\p{Cc}]*$/u.test(value.trim().replaceAll("\t", " "))) continue;
    throw new InvalidInput(`the header ${JSON.stringify(name)} for ${where} has a control character in its value`, {
      where,
    });
  }
}

function startWatch(
  clock: { heard: number },
  timeout: number,
  outer: AbortSignal | undefined,
  where: string,
  moved: number,
): Watch {
  const controller = new AbortController();
  const patientUntil = performance.now() + moved / SLOWEST;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const leave = onAbort(outer, () => controller.abort(outer?.reason));
  const end = () => {
    clearTimeout(timer);
    leave();
  };
  const arm = (ms: number) => {
    timer = setTimeout(check, Math.min(ms, 2 ** 31 - 1));
    (timer as { unref?: () => void }).unref?.(); // the connection keeps Node alive, not its clock
  };
  const check = () => {
    const silent = performance.now() - Math.max(patientUntil, clock.heard);
    if (silent < timeout) return arm(timeout - silent);
    end();
    controller.abort(
      new LimitExceeded(`${where} has sent nothing for ${timeout / 1000} s`, { where, reason: "timeout" }),
    );
  };

  check();
  return {
    signal: controller.signal,
    heard() {
      clock.heard = performance.now();
    },
    end,
  };
}

function unreachable(where: string, cause: unknown): LimitExceeded {
  const { code } = Object(innermost(cause)) as { code?: unknown };
  return new LimitExceeded(`${where} cannot be reached: ${deepest(cause)}`, {
    where,
    reason: code === "ENOTFOUND" ? "unknown-host" : "unreachable", // the name will not come to exist between two tries
    hint: "check the address and the network; in a browser, also the server's CORS settings",
    cause,
  });
}

/** undici says "fetch failed" and keeps the cause inside; the innermost sentence is the one that helps. */
export function deepest(error: unknown): string {
  const at = innermost(error);
  return at instanceof Error ? at.message || at.name : String(at);
}

function innermost(error: unknown): unknown {
  let at = error;
  for (let i = 0; i < 4 && at instanceof Error && at.cause instanceof Error; i++) at = at.cause;
  return at;
}

/** The pieces of a body as they come; `broken` makes the error of a connection that ends. Leaving early ends the response. */
export async function* pieces(response: Response, broken: (cause: unknown) => unknown): AsyncGenerator<Uint8Array> {
  const watch = watches.get(response);
  const reader = response.body?.getReader();
  const stop = () => void reader?.cancel().catch(() => {});
  let whole = false;
  try {
    watch?.signal.throwIfAborted();
    watch?.signal.addEventListener("abort", stop);
    for (let step = await reader?.read(); step !== undefined && !step.done; step = await reader?.read()) {
      watch?.heard();
      yield step.value;
    }
    watch?.signal.throwIfAborted();
    whole = true;
  } catch (cause) {
    throw watch?.signal.aborted ? watch.signal.reason : broken(cause);
  } finally {
    watch?.end();
    if (!whole) stop();
  }
}

/** The beginning of a body that is only read for what it says; the connection stays usable when the body is short. */
export async function readText(response: Response, cap = 1 << 16): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const piece of pieces(response, (cause) => cause)) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > cap) break;
    }
  } catch {
    // What was said is lost with the connection; the status alone must do.
  }
  return text;
}

/** Ends a response whose body nobody wants: a large one is cut off, a short one read so that the connection stays. */
export async function discard(response: Response): Promise<void> {
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  if (length <= 1 << 16) return void (await readText(response));
  watches.get(response)?.end();
  void response.body?.cancel().catch(() => {});
}
