/** R12 and R13: what a server gives away, and what it stands. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandler, healthRoute, type Listening, listen, storeRoute } from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import { many, type Row } from "./row.js";

const SECRET = "this lies outside of what is served";
const SIZE = 1 << 20;

/** A folder that is served, with links out of it and hidden names in it, and what lies around it. */
function makeFolders(): { readonly root: string; readonly served: string; readonly remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "octavo-served-"));
  const served = join(root, "a/served");
  mkdirSync(join(served, "sub"), { recursive: true });
  mkdirSync(join(served, ".ssh"));
  for (const path of ["secret", "a/secret", "a/served/.ssh/secret", "a/served.secret", "a/served/.env"])
    writeFileSync(join(root, path), SECRET);
  writeFileSync(join(served, "info"), "{}");
  writeFileSync(join(served, "large"), Buffer.alloc(SIZE, 7));
  writeFileSync(join(served, "sub/value"), "inside");
  symlinkSync(join(root, "secret"), join(served, "link"));
  symlinkSync("../../secret", join(served, "sub/link"));
  symlinkSync(root, join(served, "up"));
  symlinkSync("/", join(served, "sub/root"));
  return { root, served, remove: () => rmSync(root, { recursive: true }) };
}

const DOTS = [
  "..",
  "%2e%2e",
  "%2E.",
  ".%2e",
  "..;",
  "%252e%252e",
  "..%00",
  "..%c0%af",
  "%c0%ae%c0%ae",
  "%uff0e%uff0e",
  "．．",
  "..\\",
  "..%5c",
  "....",
  "..%2f",
];
const SLASHES = ["/", "%2f", "%2F", "%252f", "\\", "%5c", "//", "/./", "%c0%af", "∕", "/%00/", ";/"];
const HEADS = [
  "/",
  "//",
  "/sub/",
  "/up/",
  "/sub/root/",
  "/link",
  "/sub/link",
  "/.ssh/",
  "",
  "file:///",
  "http://localhost/",
  "/%2f",
  "/sub%2f",
  "/info/",
  "/C:/",
  "/~/",
  "/\\",
];
const TAILS = [
  "secret",
  "a/secret",
  "served.secret",
  ".ssh/secret",
  ".env",
  "etc/passwd",
  "proc/self/environ",
  "",
  "?x=/../secret",
  "#/../secret",
  "secret%00",
  "secret.gz",
  "secret/",
  "a/served/../secret",
];

/** The n-th of all ways to write a path out of the folder; a fixed walk through their product. */
function escapePath(n: number, root: string): string {
  const pick = <T>(from: readonly T[], step: number): T => from[Math.floor(n / step) % from.length]!;
  const times = 1 + (n % 5);
  const tail = n % 11 === 0 ? `${root.slice(1)}/secret` : pick(TAILS, 1);
  return pick(HEADS, 3) + `${pick(DOTS, 7)}${pick(SLASHES, 5)}`.repeat(times) + tail;
}

/** The bytes of the answer to a line of HTTP, as they come. */
function raw(port: number, head: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(head));
    let text = "";
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

const get = (path: string, headers = "host: localhost\r\n", method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\n${headers}connection: close\r\n\r\n`;

export const leaks: Row = {
  id: "R12",
  promise: "the server leaks nothing",
  async run(scale) {
    const paths = scale === "proof" ? 10_000 : 500;
    const { root, served, remove } = makeFolders();
    const page = "https://page.example";
    const server = await serving(served, [page]);
    const broken: string[] = [];
    const look = (answer: string, about: string): void => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
      if (answer.includes(SECRET) || answer.includes("root:x:") || answer.includes(root))
        broken.push(`${about} gave it away`);
      if (status >= 500 || (status >= 200 && status < 300 && answer.includes("PATH=")))
        broken.push(`${about}: ${status}`);
    };
    for (let n = 0; n < paths; n += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, paths - n) }, async (_, i) => {
          const path = escapePath(n + i, root).replaceAll(" ", "%20");
          look(await raw(server.port, get(Buffer.from(path).toString("latin1"))), JSON.stringify(path));
        }),
      );
    const HOSTS = [
      "localhost",
      "127.0.0.1:1",
      "[::1]",
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost@evil",
      "[::1",
      "0",
      "*",
      "",
    ];
    const ORIGINS = [
      "",
      page,
      "null",
      "https://evil.example",
      "https://page.example.evil",
      "https://page.example:444",
      "*",
      "file://",
    ];
    for (const [h, host] of HOSTS.entries())
      for (const [o, origin] of ORIGINS.entries())
        for (const method of ["GET", "OPTIONS", "POST"]) {
          const headers = `host: ${host}\r\n${origin === "" ? "" : `origin: ${origin}\r\n`}`;
          const answer = await raw(server.port, get("/sub/value", headers, method));
          const given = answer.includes("inside");
          const allowed = h < 3 && o < 2 && method === "GET";
          if (given !== allowed)
            broken.push(`${method} with host ${host} and origin ${origin}: ${given ? "given" : "refused"}`);
          if (/allow-origin/i.test(answer) && !(h < 3 && o === 1))
            broken.push(`${host}, ${origin}: ${method} may be read`);
        }
    await server.close();
    remove();
    return {
      tried: `${many(paths)} escape paths, ${HOSTS.length} hosts × ${ORIGINS.length} origins × 3 methods`,
      broken,
    };
  },
};

/** Every so many requests of a client one is not what it should be. */
const KINDS = 16;
const IDLE = 500;

export const holds: Row = {
  id: "R13",
  promise: "the server holds",
  async run(scale) {
    const seconds = scale === "proof" ? 30 * 60 : 60;
    const pace = scale === "proof" ? 20 : 100; // ms between the requests of a client: the clients are in the same process
    const { root, served, remove } = makeFolders();
    const files = openFiles(root);
    const server = await serving(served, []);
    const agent = new http.Agent({ keepAlive: true, maxSockets: KINDS });
    const broken: string[] = [];
    const end = Date.now() + seconds * 1000;
    const told = { asked: 0, left: 0, slow: 0, refused: 0 };
    const client = async (own: number): Promise<void> => {
      for (let n = own; Date.now() < end; n++) {
        told.asked++;
        const kind = n % KINDS;
        if (kind === 3) {
          told.left++;
          await leaving(server.port);
        } else {
          const wrong = await asked(server.port, agent, kind === 5 ? "/none" : "/large", n);
          if (wrong !== undefined) broken.push(wrong);
        }
        await sleep(pace);
      }
    };
    const slow = async (): Promise<void> => {
      for (; Date.now() < end; told.slow++) await slowly(server.port, Math.min(end, Date.now() + 20_000));
    };
    const idle = async (): Promise<void> => {
      for (; Date.now() < end; told.refused++) await saysNothing(server.port, end);
    };
    const memory: number[] = [];
    const samples = setInterval(() => memory.push(process.memoryUsage().rss), (seconds * 1000) / 120);
    await Promise.all([
      ...Array.from({ length: KINDS }, (_, own) => client(own)),
      ...Array.from({ length: 8 }, slow),
      ...Array.from({ length: IDLE }, idle),
    ]);
    clearInterval(samples);
    // Memory goes up and down with the collector: the least of a third is what is held.
    const third = Math.floor(memory.length / 3);
    const [second, last] = [memory.slice(third, 2 * third), memory.slice(2 * third)].map((own) => Math.min(...own));
    const grown = last! - second!;
    const most = scale === "proof" ? 16 : 32; // in a minute less has settled
    if (grown > most << 20) broken.push(`memory grew by ${grown >> 20} MB from the second third to the last`);
    agent.destroy();
    const started = Date.now();
    await server.close();
    if (Date.now() - started > 6000) broken.push("it did not end");
    for (const late = Date.now() + 5000; openFiles(root) > files && Date.now() < late; ) await sleep(50);
    const kept = openFiles(root) - files;
    if (kept > 0) broken.push(`${kept} files or connections stayed open`);
    remove();
    return {
      tried:
        `${many(told.asked)} requests in ${seconds} s, ${many(told.left)} of them left in the middle, beside ${IDLE} connections that say ` +
        `nothing (${many(told.refused)} in all) and 8 that read or write a few bytes at a time (${many(told.slow)}); ` +
        `memory ${signed(grown / 2 ** 20)} MB from the second third to the last, of ${(last! / 2 ** 20).toFixed(0)}`,
      broken,
      note: "requests/s beside a bare handler: docs/benchmarks.md",
    };
  },
};

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

/** Files below a folder and sockets that this process has open; 0 where nobody tells. */
function openFiles(folder: string): number {
  if (!existsSync("/proc/self/fd")) return 0;
  const names = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // closed since
    }
  });
  return names.filter((name) => name.startsWith("socket:") || name.startsWith(folder)).length;
}

const serving = (folder: string, origins: readonly string[]): Promise<Listening> =>
  listen(createHandler({ routes: [healthRoute, storeRoute("", fileStore(folder))], origins }));

const SEVENS = Buffer.alloc(SIZE, 7);

/** One request; what is wrong with its answer, where something is. */
function asked(port: number, agent: http.Agent, path: string, n: number): Promise<string | undefined> {
  const from = (n * 4099) % (SIZE - 70_000);
  const headers = { range: `bytes=${from}-${from + 65_535}` };
  return new Promise((resolve) => {
    http
      .get({ host: "127.0.0.1", port, path, agent, headers }, (response) => {
        let [bytes, foreign] = [0, 0];
        response.on("data", (piece: Buffer) => {
          bytes += piece.length;
          if (!piece.equals(SEVENS.subarray(0, piece.length))) foreign += piece.length;
        });
        response.on("end", () => {
          const { statusCode } = response;
          if (path === "/none" ? statusCode === 404 : statusCode === 206 && bytes === 65_536 && foreign === 0)
            resolve(undefined);
          else resolve(`${path} gave ${statusCode}, ${bytes} bytes, ${foreign} of them in foreign pieces`);
        });
      })
      .on("error", (error) => resolve(`${path}: ${error.message}`));
  });
}

const LARGE = "GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n";

/** A socket until either side ends it. */
function connected(port: number, begin: (socket: net.Socket) => void): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => begin(socket));
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

/** Leaves in the middle of a large value. */
const leaving = (port: number): Promise<void> =>
  connected(port, (socket) => {
    socket.write(LARGE);
    socket.once("data", () => socket.destroy());
  });

/** Connects, and waits to be sent away. */
const saysNothing = (port: number, end: number): Promise<void> =>
  connected(port, (socket) => void socket.resume().setTimeout(Math.max(1, end - Date.now()), () => socket.destroy()));

/** Asks letter by letter, or takes a large value in small sips. */
const slowly = (port: number, end: number): Promise<void> =>
  connected(port, (socket) => {
    let at = Math.random() < 0.5 ? 0 : LARGE.length;
    if (at > 0) socket.write(LARGE);
    socket.pause();
    const timer = setInterval(() => {
      if (at < LARGE.length) socket.write(LARGE[at++]!);
      else socket.read(4096);
      if (Date.now() > end) socket.destroy();
    }, 250);
    socket.on("close", () => clearInterval(timer));
  });

export const serverRows: readonly Row[] = [leaks, holds];
