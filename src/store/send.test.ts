import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { httpStore } from "./http.js";
import { Key } from "./key.js";
import { retryStore } from "./retry.js";
import { s3Store } from "./s3.js";
import { discard, sender } from "./send.js";

const k = Key.of("v");
const never = () => new Promise<never>(() => {});
const silence = { name: "LimitExceeded", reason: "timeout", message: expect.stringContaining("nothing for 0.05 s") };

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a silent server", () => {
  it("is given up before its first word, and in the middle of a body", async () => {
    for (const listener of [
      () => {},
      (_: unknown, response: Parameters<RequestListener>[1]) => {
        response.writeHead(200, { "content-length": 100 }).write("x");
      },
    ]) {
      let [opened, closed] = [0, 0];
      const url = await serve((request, response) => {
        opened++;
        request.socket.once("close", () => closed++);
        listener(request, response);
      });
      await expect(httpStore(url, { timeout: 50 }).get(k)).rejects.toMatchObject(silence);
      await expect.poll(() => opened - closed).toBe(0); // the connection is not kept
    }
  });
  it("is given up also by a fetch that ignores its signal", async () => {
    const stuck = () => new Response(new ReadableStream());
    for (const fetch of [never, async () => stuck()]) {
      await expect(httpStore("http://h", { fetch, timeout: 50 }).get(k)).rejects.toMatchObject(silence);
      const controller = new AbortController();
      setTimeout(() => controller.abort("enough"), 10);
      await expect(httpStore("http://h", { fetch }).get(k, { signal: controller.signal })).rejects.toBe("enough");
    }
  });
  it("is not one that serves others meanwhile", async () => {
    const url = await serve((request, response) => {
      setTimeout(() => response.end("x"), request.url === "/slow" ? 900 : 20);
    });
    const store = httpStore(url, { timeout: 400 });
    let waiting = true;
    const slow = store.get(Key.of("slow")).finally(() => {
      waiting = false;
    });
    while (waiting) await store.get(k);
    expect(await slow).toEqual(Uint8Array.of(120));
  });
  it("has longer for what goes up", async () => {
    const url = await serve((request, response) => {
      request.resume();
      setTimeout(() => response.end(), 120);
    });
    const options = { bucket: "data", endpoint: url, credentials: "anonymous", timeout: 50 } as const;
    await s3Store(options).set(k, new Uint8Array(40_000)); // 50 ms, and 2 s for its body
    await expect(s3Store(options).set(k, new Uint8Array(1))).rejects.toMatchObject(silence);
  });
  it("can be waited for without end, and for no time that makes no sense", async () => {
    const fetch = async () => new Response("x");
    expect(await httpStore("http://h", { fetch, timeout: Infinity }).get(k)).toEqual(Uint8Array.of(120));
    for (const timeout of [0, -1, Number.NaN]) expect(() => httpStore("http://h", { timeout })).toThrow(/timeout/);
  });
});

it("an abort after a request is over reaches nothing of it", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const inner: AbortSignal[] = [];
  const fetching = (answer: () => Response) => async (_: string, init?: RequestInit) => {
    inner.push(init!.signal!);
    return answer();
  };
  const down = () => {
    throw new Error("down");
  };
  const answers = [
    () => new Response("x"),
    () => new Response(null, { status: 404 }),
    () => new Response("y", { status: 500 }),
    down,
  ];
  for (const answer of answers)
    await httpStore("http://h", { fetch: fetching(answer) })
      .get(k, { signal })
      .catch(() => {});
  const large = () => new Response("z", { headers: { "content-length": String(2 ** 40) } });
  await discard(await sender({ fetch: fetching(large) })("http://h", { signal }, "h"));
  controller.abort();
  expect(inner.map(({ aborted }) => aborted)).toEqual([false, false, false, false, false]);
});

it("a header that could become two is refused, and its value not shown", async () => {
  const fetch = async () => new Response("x");
  const ask = (headers: Record<string, string>) => httpStore("http://h", { fetch, headers }).get(k);
  expect(await ask({ authorization: "Bearer secret\n", "x-y": "a\tb ü" })).toEqual(Uint8Array.of(120));
  for (const headers of [{ authorization: "secret\r\nx: y" }, { x: "secret\0" }])
    await expect(ask(headers as Record<string, string>)).rejects.toMatchObject({
      name: "InvalidInput",
      message: expect.not.stringContaining("secret"),
    });
  const options = { bucket: "data", endpoint: "http://h", credentials: "anonymous", fetch } as const;
  const put = s3Store(options).set(k, new Uint8Array(1), { if: { version: '"a"\r\nx: y' } });
  await expect(put).rejects.toMatchObject({ name: "InvalidInput" });
});

describe("redirects", () => {
  it("do not take Authorization to another host, nor anything to a file", async () => {
    const seen: unknown[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end("x");
    });
    let location = `${other}/v`;
    const url = await serve((_, response) => response.writeHead(302, { location }).end());
    const store = httpStore(url.replace("//", "//me:secret@"));
    expect(await store.get(k)).toEqual(Uint8Array.of(120));
    expect(seen).toEqual([undefined]);
    location = "file:///etc/hostname";
    await expect(store.get(k)).rejects.toMatchObject({ reason: "unreachable" });
  });
  it("do not take what is signed to another host", async () => {
    let asked = 0;
    const other = await serve((_, response) => response.end(String(++asked)));
    const url = await serve((_, response) => response.writeHead(307, { location: `${other}/v` }).end());
    const credentials = { accessKeyId: "A", secretAccessKey: "S", sessionToken: "T" };
    const store = s3Store({ bucket: "data", endpoint: url, region: "us-east-1", credentials });
    await expect(store.get(k)).rejects.toMatchObject({ reason: "region" });
    expect(asked).toBe(0);
  });
});

describe("bodies without end", () => {
  /** Sends for as long as somebody reads; says how much that was. */
  async function endless(status: number) {
    const sent = { bytes: 0 };
    const piece = Buffer.alloc(1 << 16, "<a>");
    const url = await serve((_, response) => {
      response.writeHead(status);
      const more = () => {
        while (!response.destroyed) {
          sent.bytes += piece.length;
          if (!response.write(piece)) return void response.once("drain", more);
        }
      };
      more();
    });
    return { url, sent };
  }
  it("are left early where they say why something was refused, or are not what was asked for", async () => {
    const { url, sent } = await endless(500);
    const s3 = s3Store({ bucket: "data", endpoint: url, credentials: "anonymous" });
    await expect(httpStore(url).get(k)).rejects.toMatchObject({ reason: "unavailable" });
    await expect(s3.get(k)).rejects.toMatchObject({ reason: "unavailable" });
    const whole = await endless(200);
    const range = { offset: 0, length: 5 };
    await expect(httpStore(whole.url).get(k, { range })).rejects.toMatchObject({ reason: "no-ranges" });
    expect(sent.bytes + whole.sent.bytes).toBeLessThan(16 << 20);
  });
  it("are left where a list passes its bound", async () => {
    const { url, sent } = await endless(200);
    const s3 = s3Store({ bucket: "data", endpoint: url, credentials: "anonymous" });
    await expect(s3.children("" as never)).rejects.toMatchObject({ name: "LimitExceeded" });
    expect(sent.bytes).toBeLessThan(24 << 20);
  });
});

it("a host whose name is unknown is asked once, one that refuses again and again", async () => {
  for (const [code, reason, tries] of [
    ["ENOTFOUND", "unknown-host", 1],
    ["ECONNREFUSED", "unreachable", 3],
  ] as const) {
    let asked = 0;
    const fetch = async () => {
      asked++;
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(`getaddrinfo ${code} h`), { code }) });
    };
    const store = retryStore(httpStore("http://h", { fetch }), { base: 1, tries: 3 });
    await expect(store.get(k)).rejects.toMatchObject({ reason, message: expect.stringContaining(`${code} h`) });
    expect(asked).toBe(tries);
  }
});
