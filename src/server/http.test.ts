/** The server on a socket: the slow, those who leave, those who only sit there, and the end. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { fileStore } from "../store/file.js";
import { storeRoute } from "./files.js";
import { createHandler } from "./handler.js";
import { type Listening, type ListenOptions, type LogEntry, listen } from "./http.js";
import type { Route } from "./types.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-http-"));
const SIZE = 16 << 20;
writeFileSync(join(folder, "large"), Buffer.alloc(SIZE, 7));
writeFileSync(join(folder, "small"), "small");
afterAll(() => rmSync(folder, { recursive: true }));

const opened = (): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  }).length;

async function serving(work: (server: Listening) => Promise<void>, options: ListenOptions = {}, routes: Route[] = []) {
  const server = await listen(createHandler({ routes: [storeRoute("", fileStore(folder)), ...routes] }), options);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

function connect(port: number, text = ""): Promise<net.Socket> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on("error", () => {});
  });
}

const closed = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.on("close", () => resolve()).resume();
  });

it("sends values and ranges, and says so in the log", async () => {
  const log: LogEntry[] = [];
  await serving(
    async ({ url }) => {
      expect(await (await fetch(`${url}/small`)).text()).toBe("small");
      const whole = new Uint8Array(await (await fetch(`${url}/large`)).arrayBuffer());
      expect([whole.length, whole.every((byte) => byte === 7)]).toEqual([SIZE, true]);
      const part = await fetch(`${url}/large`, { headers: { range: `bytes=5-${SIZE - 6}` } });
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, SIZE - 10]);
      expect((await fetch(`${url}/small`, { method: "POST", body: "x" })).status).toBe(405);
    },
    { onLog: (entry) => log.push(entry) },
  );
  expect(log.map(({ method, path, status, bytes }) => [method, path, status, bytes])).toEqual([
    ["GET", "/small", 200, 5],
    ["GET", "/large", 200, SIZE],
    ["GET", "/large", 206, SIZE - 10],
    ["POST", "/small", 405, expect.any(Number)],
  ]);
  expect(opened()).toBe(0); // what is kept for the next request is closed with the server
});

/** What is asked for often stays open for a second or two, and no longer. */
async function allClosed(): Promise<void> {
  for (let i = 0; opened() > 0 && i < 200; i++) await sleep(50);
  expect(opened()).toBe(0);
}

it("who reads slowly holds a piece, and who leaves nothing", async () => {
  await serving(async ({ port, url }) => {
    const before = process.memoryUsage().arrayBuffers;
    const slow = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = await connect(port, "GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n");
        return socket.pause();
      }),
    );
    for (let i = 0; opened() < 1 && i < 200; i++) await sleep(50);
    await sleep(500); // for as much as they take
    expect(opened()).toBe(1); // one file, whoever reads it
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60 << 20); // not 20 × 16 MB
    expect((await fetch(`${url}/small`)).status).toBe(200);
    for (const socket of slow) socket.destroy();
    await allClosed();
  });
});

it("a client that leaves ends the work for it", async () => {
  let ended = false;
  const route: Route = {
    at: "work",
    answer: ({ request: { signal } }) =>
      new Promise((_, reject) =>
        signal!.addEventListener("abort", () => {
          ended = true;
          reject(signal!.reason);
        }),
      ),
  };
  const work = async ({ port }: Listening) => {
    const socket = await connect(port, "GET /work HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await sleep(50);
    socket.destroy();
    for (let i = 0; !ended && i < 200; i++) await sleep(50);
    expect(ended).toBe(true);
  };
  await serving(work, {}, [route]);
});

it("a reply that takes long to be made is waited for", async () => {
  const route: Route = {
    at: "slow",
    answer: () => sleep(900).then(() => ({ status: 200, headers: {}, body: Buffer.from("at last") })),
  };
  const work = async ({ url }: Listening) => expect(await (await fetch(`${url}/slow`)).text()).toBe("at last");
  await serving(work, { idle: 200 }, [route]);
});

it("nobody is late while the server itself is busy, and who takes too long for a request afterwards is", async () => {
  await serving(
    async ({ port }) => {
      const socket = await connect(port, "GET /small HTTP/1.1\r\n");
      await sleep(20);
      for (const end = performance.now() + 900; performance.now() < end; );
      const answer = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString("latin1"))));
      socket.write("host: localhost\r\n\r\n");
      expect(await answer).toMatch(/^HTTP\/1.1 200 /);
      socket.write("GET /small HTTP/1.1\r\n"); // and no more
      await closed(socket);
    },
    { idle: 200 },
  );
});

it.each([
  [undefined, 5],
  [4_000, 2],
])("with idle = %s clients are told half of what they have between two requests", async (idle, seconds) => {
  await serving(
    async ({ port, url }) => {
      const { headers } = await fetch(`${url}/small`);
      expect(headers.get("keep-alive")).toBe(`timeout=${seconds}`);
      if (idle === undefined) return;
      const socket = await connect(port, "GET /small HTTP/1.1\r\nhost: localhost\r\n\r\n");
      socket.resume();
      await sleep(seconds * 1000 + 500); // longer than promised
      expect(socket.destroyed).toBe(false);
      await closed(socket);
    },
    { idle },
  );
});

it("idle connections keep nobody out, and are ended", async () => {
  await serving(
    async ({ port, url }) => {
      const idle = await Promise.all(Array.from({ length: 500 }, () => connect(port)));
      expect(await (await fetch(`${url}/small`)).text()).toBe("small");
      await Promise.all(idle.map(closed));
    },
    { idle: 500 },
  );
});

it("more connections than it takes are closed", async () => {
  await serving(
    async ({ port }) => {
      const sockets = await Promise.all(Array.from({ length: 10 }, () => connect(port)));
      await sleep(100);
      expect(sockets.filter((socket) => socket.destroyed || socket.readableEnded || socket.closed).length).toBeLessThan(
        10,
      );
      const asked = sockets.map((socket) => {
        socket.write("GET /small HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        return new Promise<boolean>((resolve) => {
          socket.once("data", () => resolve(true)).once("close", () => resolve(false));
          if (socket.destroyed) resolve(false);
        });
      });
      expect((await Promise.all(asked)).filter(Boolean).length).toBe(4);
    },
    { maxConnections: 4 },
  );
});

it.each([
  "garbage\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  `GET / HTTP/1.1\r\nx: ${"x".repeat(70_000)}\r\n\r\n`,
  "\0\0\0\0",
])("what is no HTTP (%#) is refused", async (text) => {
  await serving(async ({ port, url }) => {
    const socket = await connect(port, text);
    await Promise.race([closed(socket), sleep(3000)]);
    socket.destroy();
    expect((await fetch(`${url}/small`)).status).toBe(200);
  });
});

it("what goes on is finished before the end, and what never ends is ended", async () => {
  const server = await listen(createHandler({ routes: [storeRoute("", fileStore(folder))] }), { patience: 4000 });
  const reading = await fetch(`${server.url}/large`);
  const stuck = await connect(server.port, "GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n");
  stuck.pause();
  const [body] = await Promise.all([reading.arrayBuffer(), server.close()]);
  expect(body.byteLength).toBe(SIZE);
  await expect(fetch(`${server.url}/small`)).rejects.toThrow();
  stuck.destroy();
});

it("a port that is taken is an error in a sentence", async () => {
  await serving(async ({ port }) => {
    await expect(listen(createHandler({ routes: [] }), { port })).rejects.toThrow(/something else listens there/);
  });
});
