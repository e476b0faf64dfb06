/**
 * The server on a socket (node:http): what is slow, idle or too much is ended, and what goes on is finished before the end.
 *
 * | bound                                                           | default |
 * |-----------------------------------------------------------------|---------|
 * | connections at once; more are closed                            | 1,000   |
 * | for the next request of a connection, with all of its headers   | 10 s    |
 * | the same, as Keep-Alive tells it to clients                     | 5 s     |
 * | for a reply that is sent, without progress                      | 60 s    |
 * | for what goes on when the server is closed                      | 5 s     |
 *
 * While the server itself is busy, none of this is counted (watch.ts). Who reads slowly costs half a megabyte and one file; who leaves ends the work for the reply at once.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { InvalidInput } from "../errors.js";
import { codeOf } from "../store/file-path.js";
import { discard, type Handler, piecesOf, type Reply, type ServerRequest } from "./types.js";
import { type Watch, waitFor, watchOver } from "./watch.js";

/** One line of the access log. */
export interface LogEntry {
  readonly time: Date;
  readonly method: string;
  /** As it came, with the query. */
  readonly path: string;
  readonly status: number;
  /** Bytes of the body that were sent. */
  readonly bytes: number;
  readonly milliseconds: number;
  /** The client left before the end. */
  readonly aborted: boolean;
}

/** Where and how to listen. */
export interface ListenOptions {
  /** The address to listen at: 127.0.0.1 unless told, which only this machine reaches. */
  readonly host?: string | undefined;
  /** 0, or nothing, takes one that is free. */
  readonly port?: number | undefined;
  readonly maxConnections?: number | undefined;
  /** Milliseconds after which a connection is ended whose reply makes no progress; its next request is waited for at most so long, and at most 10 s. */
  readonly idle?: number | undefined;
  /** Milliseconds that `close` waits for what goes on. */
  readonly patience?: number | undefined;
  /** Called after each reply. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
}

/** A server that listens. */
export interface Listening {
  /** "http://127.0.0.1:8080", without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, waits for those under way, then ends, and lets go of what the handler keeps. */
  close(): Promise<void>;
}

/** Serves a handler on a socket. */
export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { host = "127.0.0.1", port = 0, idle = 60_000 } = options;
  const server = http.createServer({
    // The clock of node:http counts the server's own delays, and answers with headers that no page may read.
    headersTimeout: 0,
    requestTimeout: 0,
    keepAliveTimeout: waitFor(idle) / 2, // what clients are told: who obeys never sends into a connection that is just being ended
    maxHeaderSize: 16_384,
    noDelay: true,
  });
  const watch = watchOver(server, idle);
  server.on("request", (request, response) => void respond(handler, request, response, options.onLog, watch));
  server.maxConnections = options.maxConnections ?? 1000;
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = codeOf(error) === "EADDRINUSE" ? "something else listens there" : (error as Error).message;
    throw new InvalidInput(`cannot listen at ${host}, port ${port}: ${why}`, { hint: "Choose another with --port." });
  }
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${own}`,
    port: own,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), options.patience ?? 5_000);
      await closed;
      clearTimeout(timer);
      watch.stop();
      handler.close?.();
    },
  };
}

async function respond(
  handler: Handler,
  message: http.IncomingMessage,
  response: http.ServerResponse,
  onLog: ListenOptions["onLog"],
  watch: Watch,
): Promise<void> {
  const started = onLog === undefined ? 0 : performance.now();
  const request = new HttpRequest(message);
  const line = watch.begin(message.socket);
  response.on("close", () => {
    watch.end(line);
    if (!response.writableFinished) request.leave();
  });
  // A body that nobody asked for is thrown away as it comes.
  if (message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined)
    message.resume();
  const reply = await handler(request);
  line.making--;
  let bytes = 0;
  try {
    bytes = await send(reply, response, request);
  } catch {
    response.destroy(); // the length has been promised: a connection that breaks is how the client learns
  }
  if (onLog === undefined) return;
  const { method, path, gone } = request;
  const milliseconds = performance.now() - started;
  onLog({ time: new Date(), method, path, status: reply.status, bytes, milliseconds, aborted: gone });
}

/** A request whose signal is made when somebody asks for it: most replies are there sooner than anybody could leave. */
class HttpRequest implements ServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  gone = false;
  #controller: AbortController | undefined;

  constructor({ method = "", url = "", headers }: http.IncomingMessage) {
    this.method = method;
    this.path = url;
    this.headers = headers;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.gone) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  leave(): void {
    this.gone = true;
    this.#controller?.abort();
  }
}

/** What is sent at once, in one packet with its headers where it is short. */
const AT_ONCE = 1 << 18;

async function send(
  { status, headers, body }: Reply,
  response: http.ServerResponse,
  request: HttpRequest,
): Promise<number> {
  if (request.gone) {
    discard(body);
    return 0;
  }
  response.writeHead(status, headers);
  if (body === undefined || body instanceof Uint8Array) {
    response.end(body);
    return body?.length ?? 0;
  }
  if ("value" in body && body.length <= AT_ONCE) {
    const { value, offset, length } = body;
    try {
      const pieces = await value.read([{ offset, length }]);
      for (const piece of pieces.slice(0, -1)) response.write(piece);
      response.end(pieces.at(-1));
      return length;
    } finally {
      value.close();
    }
  }
  let bytes = 0;
  for await (const piece of piecesOf(body)) {
    if (request.gone) break;
    bytes += piece.length;
    if (!response.write(piece)) await once(response, "drain", { signal: request.signal });
  }
  response.end();
  return bytes;
}
