/**
 * Two threads that ask each other, over anything with `postMessage`: a worker, the worker's own side, a MessagePort.
 *
 *   → { id, name, payload }    ← { id, value } or { id, error }    a call
 *   → { id, ended }                                                nobody waits for it any more: its signal is aborted
 *   → { name, payload }                                            news, without an answer
 *
 * As with tasks of the pool, bytes that are an answer are handed over, and an error arrives as the same one of the six.
 */
import { onAbort } from "../signal.js";
import { alone, PortableError } from "./message.js";
import type { RunOptions } from "./pool.js";

/** What one side does for the other, by name. */
export type Handlers = { readonly [name: string]: (payload: never, signal: AbortSignal) => unknown };

/** A way to the other side. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** The other side, as this one sees it. */
export interface Channel<Theirs extends Handlers> {
  /** Asks, and waits for the answer. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    payload: Parameters<Theirs[Name]>[0],
    options?: RunOptions,
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>;
  /** Says, and goes on. */
  tell<Name extends keyof Theirs & string>(
    name: Name,
    payload: Parameters<Theirs[Name]>[0],
    transfer?: readonly ArrayBuffer[],
  ): void;
  /** Who waits for an answer gets this error; what the other side still asks for is aborted. */
  close(reason: unknown): void;
}

type Message =
  | { readonly id?: number; readonly name: string; readonly payload: unknown }
  | { readonly id: number; readonly ended: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PortableError };

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Answers what the other side asks for, from now on, and lets this one ask. */
export function connect<Theirs extends Handlers>(port: Port, handlers: Handlers): Channel<Theirs> {
  const waiting = new Map<number, Waiting>();
  const asked = new Map<number, AbortController>();
  let [last, closed] = [0, undefined as { readonly reason: unknown } | undefined];

  port.onmessage = ({ data }: MessageEvent<Message>) => {
    if (closed !== undefined) return;
    if ("name" in data) void answer(data);
    else if ("ended" in data) asked.get(data.id)?.abort();
    else {
      const call = waiting.get(data.id);
      waiting.delete(data.id);
      if ("error" in data) call?.reject(PortableError.toError(data.error));
      else call?.resolve(data.value);
    }
  };

  async function answer({ id, name, payload }: Extract<Message, { name: string }>): Promise<void> {
    const controller = new AbortController();
    if (id !== undefined) asked.set(id, controller);
    try {
      const result = await handlers[name]!(payload as never, controller.signal);
      const value = result instanceof Uint8Array ? alone(result) : result;
      if (id !== undefined) send({ id, value }, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []);
    } catch (error) {
      if (id === undefined) throw error;
      send({ id, error: PortableError.from(error) });
    } finally {
      if (id !== undefined) asked.delete(id);
    }
  }

  function send(message: Message, transfer: readonly ArrayBuffer[] = []): void {
    if (closed === undefined) port.postMessage(message, [...transfer]);
  }

  function call(name: string, payload: unknown, { signal, transfer = [] }: RunOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (closed !== undefined) throw closed.reason;
      const id = ++last;
      const leave = onAbort(signal, () => {
        waiting.delete(id);
        send({ id, ended: true });
        reject(signal!.reason);
      });
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          leave();
          then(value);
        };
      send({ id, name, payload }, transfer);
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
    });
  }

  return {
    call: call as Channel<Theirs>["call"],
    tell: (name, payload, transfer) => send({ name, payload }, transfer),
    close(reason) {
      closed ??= { reason };
      for (const { reject } of waiting.values()) reject(reason);
      for (const controller of asked.values()) controller.abort(reason);
      waiting.clear();
      asked.clear();
    },
  };
}
