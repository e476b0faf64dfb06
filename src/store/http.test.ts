import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { serveStore, type TestServer } from "../testing/http-server.js";
import { fill, runStoreSuite } from "../testing/index.js";
import { type HttpOptions, httpStore } from "./http.js";
import { Key } from "./key.js";
import { memoryStore } from "./memory.js";

const k = Key.of;
const value = Uint8Array.from({ length: 100 }, (_, i) => i);
const range = { offset: 10, length: 5 };

const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(values: Readonly<Record<string, Uint8Array>> = { v: value }): Promise<TestServer> {
  const server = await serveStore(await fill(memoryStore(), values));
  open.push(server);
  return server;
}

runStoreSuite({ describe, it }, "http", { list: false, write: false, conditional: false }, async (values) =>
  httpStore((await serve(values)).url),
);

/** A store whose server gives every GET this answer. */
async function answering(answer: (response: ServerResponse, range: string | undefined) => void, options?: HttpOptions) {
  const server = await serve();
  server.on = (request, response) => {
    answer(response, request.headers.range);
    return true;
  };
  return httpStore(server.url, options);
}

describe("addresses", () => {
  it("keeps the query after the key, and out of the url", async () => {
    const server = await serve({ "a/b c": value });
    const store = httpStore(`${server.url}/a/?sig=S%2BX&t=1#part`);
    expect(await store.get(k("b c"))).toEqual(value);
    expect(server.log).toEqual(["GET /a/b%20c?sig=S%2BX&t=1"]);
    expect(store.url).toBe(`${server.url}/a`);
  });
  it("sends a user name as a header and shows it nowhere", async () => {
    const seen: unknown[] = [];
    const fetcher = async (url: string, init?: RequestInit) => {
      seen.push(url, new Headers(init?.headers).get("authorization"));
      return new Response(null, { status: 500 });
    };
    const store = httpStore("https://me:p%40ss@host/x", { fetch: fetcher });
    await expect(store.get(k("v"))).rejects.toThrow("https://host/x/v answered 500");
    expect(seen).toEqual(["https://host/x/v", `Basic ${btoa("me:p@ss")}`]);
  });
  it("refuses other protocols", () => {
    expect(() => httpStore("ftp://host/x")).toThrow("http: or https:");
    expect(() => httpStore("not a url")).toThrow("is not a URL");
  });
  it("shows no secret of what is no address", () => {
    for (const address of ["http://me:secret@ho st/x?sig=secret", "https://me:secret%zz@host/x?sig=secret"]) {
      const thrown = expect.objectContaining({ name: "InvalidInput", message: expect.not.stringContaining("secret") });
      expect(() => httpStore(address)).toThrow(thrown);
    }
  });
});

describe("servers that go their own way", () => {
  it("a range answered with 200 is cut out of a small value", async () => {
    const store = await answering((response) => response.writeHead(200, { "content-length": 100 }).end(value));
    expect(await store.get(k("v"), { range })).toEqual(value.slice(10, 15));
    expect(await store.get(k("v"), { range: { suffix: 3 } })).toEqual(value.slice(97));
    await expect(store.get(k("v"), { range: { offset: 99, length: 2 } })).rejects.toMatchObject({ kind: "corrupt" });
  });
  it("a range answered with 200 of a large value is refused without reading it", async () => {
    const store = await answering((response) => response.writeHead(200, { "content-length": 2 ** 33 }).write("x"));
    await expect(store.get(k("v"), { range })).rejects.toMatchObject({ kind: "unsupported", reason: "no-ranges" });
  });
  it("another Content-Range than the one asked for is Corrupt", async () => {
    for (const said of ["bytes 11-15/100", "bytes 10-13/100", "bytes 10-15/100", "bytes 0-4/100"]) {
      const store = await answering((response) =>
        response.writeHead(206, { "content-range": said }).end(value.slice(10, 15)),
      );
      await expect(store.get(k("v"), { range }), said).rejects.toMatchObject({ kind: "corrupt" });
    }
  });
  it("a connection cut in mid-body is Corrupt with the reason cut", async () => {
    const store = await answering((response, range) => {
      response.writeHead(range ? 206 : 200, { "content-length": 100, "content-range": "bytes 0-99/100" });
      response.write(value.slice(0, 50), () => response.destroy());
    });
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "corrupt", reason: "cut" });
    await expect(store.get(k("v"), { range: { offset: 0, length: 100 } })).rejects.toMatchObject({ reason: "cut" });
  });
  it("a body of another length than its range is Corrupt", async () => {
    for (const length of [4, 6]) {
      const store = await answering((response) =>
        response.writeHead(206, { "content-range": "bytes 10-14/100" }).end(value.slice(0, length)),
      );
      await expect(store.get(k("v"), { range })).rejects.toMatchObject({ kind: "corrupt" });
    }
  });
  it("a range of a compressed body is refused, a whole one is decoded", async () => {
    const { gzipSync } = await import("node:zlib");
    const store = await answering((response, range) => {
      response.writeHead(range ? 206 : 200, { "content-encoding": "gzip" }).end(gzipSync(value));
    });
    await expect(store.get(k("v"), { range })).rejects.toMatchObject({ kind: "unsupported" });
    expect(await store.get(k("v"))).toEqual(value);
  });
  it("a value that changes between two ranges is a Conflict", async () => {
    let version = 1;
    const store = await answering((response) =>
      response.writeHead(206, { "content-range": "bytes 10-14/100", etag: `"${version}"` }).end(value.slice(10, 15)),
    );
    await store.get(k("v"), { range });
    await store.get(k("v"), { range });
    version = 2;
    await expect(store.get(k("v"), { range })).rejects.toMatchObject({ kind: "conflict", reason: "changed" });
    await expect(store.get(k("v"), { range })).rejects.toMatchObject({ kind: "conflict" });
    await store.stat(k("v")).catch(() => {}); // who asks for the size begins anew; this server does not tell it
    await store.get(k("v"), { range });
  });
  it("sizes come without HEAD, or from a server that does not tell the length", async () => {
    for (const status of [405, 403, 501, 200]) {
      const server = await serve({ v: value, empty: new Uint8Array(0) });
      server.on = ({ method }, response) => {
        if (method === "HEAD") response.writeHead(status, { "transfer-encoding": "chunked" }).end();
        return method === "HEAD";
      };
      const store = httpStore(server.url);
      expect((await store.stat(k("v")))?.size).toBe(100);
      expect((await store.stat(k("empty")))?.size).toBe(0);
      expect(await store.stat(k("x"))).toBe(undefined);
    }
  });
  it("follows a redirect", async () => {
    const server = await serve();
    server.on = ({ url }, response) => {
      if (url === "/old/v") response.writeHead(302, { location: "/v" }).end();
      return url === "/old/v";
    };
    expect(await httpStore(`${server.url}/old`).get(k("v"), { range })).toEqual(value.slice(10, 15));
  });
});

describe("refusals", () => {
  const forbidding = (options?: HttpOptions) => answering((response) => response.writeHead(403).end(), options);

  it("403 is an error that names the cause", async () => {
    const store = await forbidding();
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "unsupported", reason: "forbidden" });
    await expect(store.get(k("v"))).rejects.toThrow(/absent when listing is not allowed/);
    await expect(store.stat(k("v"))).rejects.toMatchObject({ reason: "forbidden" });
  });
  it("403 is absence where the caller says so, and is counted", async () => {
    const store = await forbidding({ forbiddenIsMissing: true });
    expect(await store.get(k("v"))).toBe(undefined);
    expect(await store.get(k("v"), { range })).toBe(undefined);
    expect(await store.stat(k("v"))).toBe(undefined);
    expect(store.forbidden).toBe(3);
  });
  it("410 is absence; 401, 500 and 429 are errors whatever the caller says", async () => {
    let status = 410;
    const store = await answering((response) => response.writeHead(status, { "retry-after": "7" }).end("why"), {
      forbiddenIsMissing: true,
    });
    expect(await store.get(k("v"))).toBe(undefined);
    status = 401;
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "unsupported", reason: "unauthorized" });
    status = 503;
    await expect(store.get(k("v"))).rejects.toMatchObject({
      kind: "limit-exceeded",
      reason: "unavailable",
      retryAfter: 7,
    });
    status = 429;
    await expect(store.get(k("v"))).rejects.toMatchObject({ kind: "limit-exceeded", retryAfter: 7 });
    expect(store.forbidden).toBe(0);
  });
  it("a server that is not there is an error with the reason unreachable", async () => {
    const server = await serve();
    await server.close();
    await expect(httpStore(server.url).get(k("v"))).rejects.toMatchObject({
      kind: "limit-exceeded",
      reason: "unreachable",
    });
  });
  it("an abort in mid-body rejects with the signal's reason", async () => {
    const store = await answering((response) => response.writeHead(200, { "content-length": 100 }).write("x"));
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 20);
    await expect(store.get(k("v"), { signal: controller.signal })).rejects.toBe(reason);
  });
});
