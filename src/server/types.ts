/**
 * What a server is asked and what it answers, whoever carries it: node:http (http.ts), `Request` and `Response` (fetch.ts), a test.
 *
 *     request → guard (who asks, from where, for which name) → route → reply
 *
 * A route answers for the names below its place: a store (files.ts), a health check, queries. Behaviour is added by adding routes.
 */
import type { OpenValue } from "../store/types.js";

/** A request, as it came: nothing has been decoded yet. */
export interface ServerRequest {
  readonly method: string;
  /** From the first "/" on, with the query: "/a/b%20c?x=1". */
  readonly path: string;
  /** By names in lower case. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Aborted when nobody waits for the reply any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of a value that is open; who sends them closes it. */
export interface FileRange {
  readonly value: OpenValue;
  readonly offset: number;
  readonly length: number;
}

/** What follows the headers: bytes, a range of a value, or pieces as they are made. */
export type ReplyBody = Uint8Array | FileRange | AsyncIterable<Uint8Array>;

/** The answer to a request. */
export interface Reply {
  readonly status: number;
  /** By names in lower case; `content-length` is among them where it is known. */
  readonly headers: { readonly [name: string]: string };
  readonly body?: ReplyBody | undefined;
}

/** A request that has passed the guard. */
export interface Asked {
  readonly request: ServerRequest;
  /** What follows the route's place: a key, or "" or something that ends in "/" for a folder. */
  readonly rest: string;
  /** What follows "?", as it came. */
  readonly search: string;
}

/** Answers what is asked below a place. */
export interface Route {
  /** "" is everything, "data/0/" what lies below, "health" this name alone. The longest place that fits answers. */
  readonly at: string;
  /** What it throws becomes a refusal. */
  answer(asked: Asked): Reply | Promise<Reply>;
  /** Lets go of what it keeps for further requests, such as open files. */
  close?(): void;
}

/** The whole of a server but its sockets. */
export interface Handler {
  (request: ServerRequest): Promise<Reply>;
  /** Lets go of what its routes keep for further requests. */
  close?(): void;
}

/** Pieces that are sent one after the other: so much is in memory for each connection, not the value. */
const PIECE = 1 << 19;

/** The bytes of a body, piece by piece; closes what it was opened from, also when nobody takes the rest. */
export async function* piecesOf(body: ReplyBody | undefined): AsyncGenerator<Uint8Array> {
  if (body === undefined) return;
  if (body instanceof Uint8Array) yield body;
  else if (!("value" in body)) yield* body;
  else {
    const { value, offset, length } = body;
    try {
      for (let at = 0; at < length; at += PIECE)
        yield* await value.read([{ offset: offset + at, length: Math.min(PIECE, length - at) }]);
    } finally {
      value.close();
    }
  }
}

/** Closes what a body that is not sent was opened from. */
export function discard(body: ReplyBody | undefined): void {
  if (body !== undefined && "value" in body) body.value.close();
}
