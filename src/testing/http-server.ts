/** A web server over a store, with ranges as RFC 9110 has them, on 127.0.0.1; `on` lets a test misbehave (Node only). */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Key } from "../store/key.js";
import type { Store } from "../store/types.js";

export interface TestServer {
  readonly url: string;
  /** "GET /path range" of every request so far. */
  readonly log: string[];
  /** Answers instead of the server where it returns true. */
  on: (request: IncomingMessage, response: ServerResponse) => boolean;
  close(): Promise<void>;
}

export async function serveStore(store: Store): Promise<TestServer> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    log.push(`${request.method} ${request.url} ${request.headers.range ?? ""}`.trim());
    if (test.on(request, response)) return;
    answer(store, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  server.keepAliveTimeout = 0; // a test that computes for seconds would find its connection closed
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const test: TestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    on: () => false,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return test;
}

async function answer(store: Store, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url!, "http://h").pathname.slice(1);
  const key = path.split("/").map(decodeURIComponent).join("/");
  const value = Key.is(key) ? await store.get(key) : undefined;
  if (value === undefined) return void response.writeHead(404).end("no such key");
  const stat = await store.stat(Key.of(key));
  const headers = { etag: `"${stat?.version}"`, "accept-ranges": "bytes" };
  const asked = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  const size = value.length;
  const body = request.method === "HEAD" ? undefined : value;
  if (asked === null) return void response.writeHead(200, { ...headers, "content-length": size }).end(body);
  const first = asked[1] === "" ? Math.max(0, size - Number(asked[2])) : Number(asked[1]);
  const last = asked[1] === "" || asked[2] === "" ? size - 1 : Math.min(Number(asked[2]), size - 1);
  if (first > last) return void response.writeHead(416, { ...headers, "content-range": `bytes */${size}` }).end();
  response.writeHead(206, {
    ...headers,
    "content-length": last - first + 1,
    "content-range": `bytes ${first}-${last}/${size}`,
  });
  response.end(body?.subarray(first, last + 1));
}
