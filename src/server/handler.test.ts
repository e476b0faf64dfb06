/** The server without a socket: what is asked, what is answered. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import { afterAll, describe, expect, it } from "vitest";
import { fileStore } from "../store/file.js";
import { Key } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/types.js";
import { wrap } from "../store/wrap.js";
import { zipStore } from "../store/zip.js";
import { fetchHandler } from "./fetch.js";
import { pageRoute, storeRoute } from "./files.js";
import { createHandler, healthRoute } from "./handler.js";
import { discard, type Handler, piecesOf, type Reply } from "./types.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-serve-"));
const outside = mkdtempSync(join(tmpdir(), "octavo-outside-"));
afterAll(() => {
  for (const path of [folder, outside]) rmSync(path, { recursive: true });
});

const DIGITS = "0123456789";
const put = (name: string, content: string | Uint8Array): void => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), content);
  const past = new Date(Date.now() - 100_000);
  utimesSync(join(folder, name), past, past);
};
put("digits.bin", DIGITS);
put("info", "{}");
put("page.html", "<script>alert(1)</script>");
put("deep/a b%é.txt", "odd");
put(".zarray", "{}");
put(".secret/key", "hidden");
put(".octavo/log", "hidden");
put("chunk.gz", gzipSync("a chunk"));
put("large.gz", gzipSync("l".repeat((1 << 20) + 1)));
put("old.index", "INDEX");
put("old.data", "DATA!");
put("half.index", "INDEX");
put("empty", "");
writeFileSync(join(outside, "secret"), "hidden");
symlinkSync(join(outside, "secret"), join(folder, "link"));
symlinkSync(outside, join(folder, "away"));
await new Promise((done) => setTimeout(done, 60)); // until no value is too young for a tag

const handlerOf = (store: Store, origins?: readonly string[]): Handler =>
  createHandler({ routes: [healthRoute, storeRoute("", store)], origins });
const handler = handlerOf(fileStore(folder));

async function ask(path: string, headers: Record<string, string> = {}, method = "GET", by = handler) {
  const reply = await by({ method, path, headers: { host: "localhost:1", ...headers } });
  return { ...reply, text: await textOf(reply) };
}

async function textOf({ body }: Reply): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(body)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe("values", () => {
  it("are sent whole, with their length and type", async () => {
    const { status, headers, text } = await ask("/digits.bin");
    expect([status, text, headers["content-length"], headers["content-type"]]).toEqual([
      ...[200, DIGITS, "10", "application/octet-stream"],
    ]);
    expect(headers).toMatchObject({ "accept-ranges": "bytes", "x-content-type-options": "nosniff" });
    expect((await ask("/info")).headers["content-type"]).toBe("application/json");
    expect((await ask("/.zarray")).headers["content-type"]).toBe("application/json");
    expect((await ask("/page.html")).headers["content-type"]).toMatch(/^text\/plain/); // data are never a program
    expect((await ask("/deep/a%20b%25%C3%A9.txt")).text).toBe("odd");
    expect((await ask("/empty")).headers["content-length"]).toBe("0");
  });

  it.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-30", 206, DIGITS, "bytes 0-9/10"],
    ["bytes=8-99", 206, "89", "bytes 8-9/10"],
    ["BYTES=0-0", 206, "0", "bytes 0-0/10"],
    ["bytes=10-", 416, undefined, "bytes */10"],
    ["bytes=-0", 416, undefined, "bytes */10"],
    ["bytes=0-1,4-5", 416, undefined, "bytes */10"],
    ["bytes=99999999999999999999-", 416, undefined, "bytes */10"],
    ["bytes=5-2", 200, DIGITS, undefined],
    ["bytes=-", 200, DIGITS, undefined],
    ["bytes=x-y", 200, DIGITS, undefined],
    ["items=0-1", 200, DIGITS, undefined],
  ])("%s is %d", async (range, status, text, contentRange) => {
    const reply = await ask("/digits.bin", { range });
    expect([reply.status, reply.headers["content-range"]]).toEqual([status, contentRange]);
    if (text !== undefined) expect([reply.text, reply.headers["content-length"]]).toEqual([text, `${text.length}`]);
  });

  it("HEAD says the same and sends nothing", async () => {
    for (const [path, headers] of [
      ["/digits.bin", {}],
      ["/chunk", { "accept-encoding": "gzip" }],
      ["/absent", {}],
      ["/deep/", {}],
    ] as const) {
      const [get, head] = [await ask(path, headers), await ask(path, headers, "HEAD")];
      expect([head.status, head.headers, head.text]).toEqual([get.status, get.headers, ""]);
      // A range is for GET: of the rest it says what all of the value would be.
      for (const range of ["bytes=2-4", "bytes=99-", "bytes=0-1,4-5"]) {
        const ranged = await ask(path, { ...headers, range, "if-range": '"x"' }, "HEAD");
        expect([range, ranged.status, ranged.headers]).toEqual([range, get.status, get.headers]);
      }
    }
  });

  it("entries of a zip file have tags, too", async () => {
    const below = memoryStore();
    await below.set(Key.of("x.zip"), zipSync({ a: new TextEncoder().encode(DIGITS) }));
    const zipped = handlerOf(await zipStore(below, Key.of("x.zip")));
    const { status, headers, text } = await ask("/a", { range: "bytes=2-4" }, "GET", zipped);
    expect([status, text]).toEqual([206, "234"]);
    expect((await ask("/a", { "if-none-match": headers.etag! }, "GET", zipped)).status).toBe(304);
  });

  it("answer conditions by their tag", async () => {
    const { etag } = (await ask("/digits.bin")).headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    const cases: [Record<string, string>, number][] = [
      [{ "if-none-match": etag! }, 304],
      [{ "if-none-match": `"x", W/${etag}` }, 304],
      [{ "if-none-match": "*" }, 304],
      [{ "if-none-match": '"x"' }, 200],
      [{ "if-match": etag! }, 200],
      [{ "if-match": `W/${etag}` }, 412],
      [{ "if-match": '"x"' }, 412],
      [{ range: "bytes=0-1", "if-range": etag! }, 206],
      [{ range: "bytes=0-1", "if-range": '"x"' }, 200],
      [{ range: "bytes=0-1", "if-range": `W/${etag}` }, 200],
      [{ range: "bytes=0-1", "if-range": "Mon, 16 Nov 2026 00:00:00 GMT" }, 200],
      [{ range: "bytes=0-1", "if-none-match": etag! }, 304],
    ];
    for (const [headers, status] of cases)
      expect([headers, (await ask("/digits.bin", headers)).status]).toEqual([headers, status]);
    put("digits.bin", DIGITS); // the same bytes, another time: another tag would be right, an old one would not
    expect((await ask("/digits.bin", { "if-none-match": etag! })).status).toBe(200);
  });

  it("that are packed are sent as they are, or unpacked", async () => {
    const packed = await handler({
      method: "GET",
      path: "/chunk",
      headers: { host: "localhost", "accept-encoding": "br, gzip" },
    });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    const pieces: Uint8Array[] = [];
    for await (const piece of piecesOf(packed.body)) pieces.push(piece);
    expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe("a chunk");
    for (const given of [{}, { "accept-encoding": "gzip;q=0" }]) {
      const { text, headers } = await ask("/chunk", given as Record<string, string>);
      expect([text, headers["content-encoding"], headers["content-length"]]).toEqual(["a chunk", undefined, "7"]);
      expect(headers.etag).not.toBe(packed.headers.etag);
    }
    const part = await ask("/chunk", { range: "bytes=2-6", "accept-encoding": "gzip" });
    expect([part.status, part.text, part.headers["content-encoding"]]).toEqual([206, "chunk", undefined]);
    expect((await ask("/chunk.gz")).headers["content-type"]).toBe("application/gzip");
  });

  it("of two files are one shard", async () => {
    expect((await ask("/old.shard")).text).toBe("INDEXDATA!");
    expect((await ask("/old.shard", { range: "bytes=3-6" })).text).toBe("EXDA");
    expect((await ask("/old.shard", { range: "bytes=5-6" })).text).toBe("DA");
    expect((await ask("/half.shard")).status).toBe(404);
  });

  it("come from any store", async () => {
    const store = memoryStore();
    await store.set(Key.of("a/b"), Buffer.from(DIGITS));
    const by = handlerOf(store);
    expect((await ask("/a/b", { range: "bytes=1-2" }, "GET", by)).text).toBe("12");
    expect(JSON.parse((await ask("/a/", {}, "GET", by)).text)).toEqual({ keys: ["b"], prefixes: [] });
  });
});

describe("names", () => {
  it("of folders are listed, but for what is hidden", async () => {
    const { keys, prefixes } = JSON.parse((await ask("/")).text) as { keys: string[]; prefixes: string[] };
    expect(keys).toContain("digits.bin");
    expect(keys).toContain(".zarray");
    expect(prefixes).toEqual(["deep/"]);
    expect((await ask("/none/")).status).toBe(404);
  });

  it.each(["/.secret/key", "/.octavo/log", "/link", "/away/secret", "/away/", "/absent", "/deep", "/digits.bin/x"])(
    "%s is not there",
    async (path) => {
      const { status, text } = await ask(path);
      expect(status).toBe(404);
      expect(text).not.toContain("hidden");
      expect(text).not.toContain(tmpdir());
    },
  );

  it.each([
    "",
    "x",
    "//",
    "/a//b",
    "/%",
    "/%zz",
    "/%00",
    "/a%2fb",
    "/..",
    "/%2e%2e/x",
    "/a\\b",
    "/a%5cb",
    "/#",
    "http://x/",
    "/\ud800",
  ])("%j is no name", async (path) => expect((await ask(path)).status).toBe(400));

  it("the longest place answers", async () => {
    const [page, data] = [memoryStore(), memoryStore()];
    await page.set(Key.of("index.html"), Buffer.from("page"));
    await data.set(Key.of("info"), Buffer.from("data"));
    const by = createHandler({ routes: [pageRoute("", page), storeRoute("data/0/", data), healthRoute] });
    const front = await ask("/", {}, "GET", by);
    expect([front.text, front.headers["content-type"]]).toEqual(["page", "text/html; charset=utf-8"]);
    expect(front.headers["content-security-policy"]).toMatch(/object-src 'none'/);
    expect((await ask("/data/0/info", {}, "GET", by)).text).toBe("data");
    expect((await ask("/data/1/info", {}, "GET", by)).status).toBe(404);
    expect((await ask("/health?x", {}, "GET", by)).text).toBe('{"status":"ok"}\n');
    expect((await ask("/health/x", {}, "GET", by)).status).toBe(404);
  });
});

describe("who asks", () => {
  const page = "https://page.example";
  const HOSTS = [
    "localhost",
    "LOCALHOST:80",
    "127.0.0.1:9",
    "[::1]:9",
    "evil.example",
    "localhost.evil.example",
    "localhost@evil",
    "",
  ];
  const ORIGINS = [
    undefined,
    page,
    "https://evil.example",
    "null",
    "http://localhost",
    "https://page.example.evil",
    "http://page.example",
  ];

  it("host by origin: only those on the lists", async () => {
    const by = handlerOf(fileStore(folder), [page]);
    for (const host of HOSTS)
      for (const origin of ORIGINS)
        for (const method of ["GET", "HEAD", "OPTIONS"]) {
          const reply = await ask("/digits.bin", { host, ...(origin !== undefined && { origin }) }, method, by);
          const isHost = HOSTS.indexOf(host) < 4;
          const isOrigin = origin === undefined || origin === page || origin === `http://${host}`;
          const told = reply.headers["access-control-allow-origin"];
          if (isHost && isOrigin) {
            expect([host, origin, reply.status < 300]).toEqual([host, origin, true]);
            expect(told).toBe(origin);
            expect(reply.headers["cross-origin-resource-policy"]).toBe("same-origin");
          } else {
            expect([400, 403, 421]).toContain(reply.status);
            expect(reply.text).not.toContain(DIGITS);
            expect(told).toBeUndefined();
          }
        }
  });

  it("any page, where that is wanted", async () => {
    const by = handlerOf(fileStore(folder), ["*"]);
    expect((await ask("/info", { origin: "null" }, "GET", by)).headers["access-control-allow-origin"]).toBe("*");
  });

  it("preflights", async () => {
    const by = handlerOf(fileStore(folder), [page]);
    const asks = {
      origin: page,
      "access-control-request-method": "GET",
      "access-control-request-private-network": "true",
    };
    const { status, headers } = await ask("/digits.bin", asks, "OPTIONS", by);
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-headers": expect.stringContaining("range"),
      "access-control-allow-private-network": "true",
    });
  });

  it.each(["POST", "PUT", "DELETE", "TRACE", "PROPFIND", "get"])("%s is not answered", async (method) => {
    const { status, headers } = await ask("/digits.bin", {}, method);
    expect([status, headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(headers["content-type"]).toBe("application/json");
  });
});

describe("failures", () => {
  it("say nothing of where data lie", async () => {
    const errors: unknown[] = [];
    const store: Store = {
      ...memoryStore(),
      open: async () => {
        throw new Error("/home/secret");
      },
    };
    const by = createHandler({ routes: [storeRoute("", store)], onError: (error) => errors.push(error) });
    const { status, text } = await ask("/x", {}, "GET", by);
    expect([status, text.includes("secret"), errors.length]).toEqual([500, false, 1]);
  });

  it("a bomb is not unpacked", async () => {
    const store = memoryStore();
    await store.set(Key.of("bomb.gz"), gzipSync(Buffer.alloc(70 << 20)));
    expect((await ask("/bomb", {}, "GET", handlerOf(store))).status).toBe(503);
  });
});

describe("Request and Response", () => {
  it("carry the same", async () => {
    const fetched = fetchHandler(handler);
    const part = await fetched(new Request("http://localhost/digits.bin", { headers: { range: "bytes=2-4" } }));
    expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    expect((await fetched(new Request("http://elsewhere/digits.bin"))).status).toBe(421);
    const left = await fetched(new Request("http://localhost/digits.bin"));
    await left.body!.cancel();
    expect((await fetched(new Request("http://localhost/absent"))).status).toBe(404);
  });
});

describe("packed values", () => {
  it("that are too large are refused before they are read", async () => {
    const huge = { size: 2 ** 40, version: "1", close: () => {}, read: () => Promise.reject(new Error("was read")) };
    const store = wrap(memoryStore(), { open: async (key) => (key.endsWith(".gz") ? huge : undefined) });
    const by = handlerOf(store);
    for (const headers of [{}, { range: "bytes=0-1", "accept-encoding": "gzip" }])
      expect((await ask("/huge", headers, "GET", by)).status).toBe(503);
    expect((await ask("/huge", { "accept-encoding": "gzip" }, "HEAD", by)).status).toBe(200); // as it is, it may go
  });

  it("are unpacked a few at once, large ones until they have been sent or are no longer wanted", async () => {
    const request = { method: "GET", path: "/large", headers: { host: "localhost" } };
    const held = await Promise.all(Array.from({ length: 8 }, () => handler(request)));
    let came = false;
    const next = handler(request).then((reply) => {
      came = true;
      return reply;
    });
    await new Promise((done) => setTimeout(done, 50));
    expect([came, held.map(({ status }) => status)]).toEqual([false, new Array(8).fill(200)]);
    expect(await textOf(held[0]!)).toHaveLength((1 << 20) + 1);
    expect(await textOf(await next)).toHaveLength((1 << 20) + 1);
    for (const { body } of held.slice(1)) discard(body);
    await Promise.all(Array.from({ length: 20 }, () => handler({ ...request, path: "/chunk" }))); // none of them is read
    for (const method of ["HEAD", "GET", "GET", "GET"])
      for (let i = 0; i < 10; i++)
        expect((await ask("/chunk", { range: `bytes=${i}-` }, method)).status).toBeLessThan(417);
  });
});
