/**
 * `npm run bench server`: requests per second of Octavo's server beside those of the barest handler of ranges that node:http allows,
 * one after the other in one process and in turns, so that what else the machine does falls on both. The bare handler opens the file,
 * looks at its size, reads the range and sends it: no names are checked, no links, nobody is refused.
 *
 * The clients are in a thread of their own (server/client.mjs); what is compared is the best of several rounds.
 */

import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createHandler, healthRoute, listen, storeRoute } from "../src/server/index.js";
import { fileStore } from "../src/store/file.js";

const SIZE = 64 << 20;
const CLIENTS = 16;
const SECONDS = 1.5;
const ROUNDS = 5;
const LENGTHS = [1 << 10, 16 << 10, 256 << 10];

const bare = (path: string): http.Server =>
  http.createServer((request, response) => {
    const fd = openSync(path, "r");
    const { size } = fstatSync(fd);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range!)!;
    const length = Number(to) - Number(from) + 1;
    const bytes = Buffer.allocUnsafe(length);
    readSync(fd, bytes, 0, length, Number(from));
    closeSync(fd);
    response.writeHead(206, {
      "content-type": "application/octet-stream",
      "content-length": length,
      "content-range": `bytes ${from}-${to}/${size}`,
    });
    response.end(bytes);
  });

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "octavo-bench-server-"));
  writeFileSync(join(folder, "value"), Buffer.alloc(SIZE, 3));
  const plain = bare(join(folder, "value"));
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  const ours = await listen(createHandler({ routes: [healthRoute, storeRoute("", fileStore(folder))] }));
  const ports = { bare: (plain.address() as AddressInfo).port, octavo: ours.port };
  const worker = new Worker(new URL("./server/client.mjs", import.meta.url));
  const measure = async (port: number, length: number): Promise<number> => {
    worker.postMessage({ port, length, size: SIZE, clients: CLIENTS, seconds: SECONDS });
    return (await once(worker, "message"))[0] as number;
  };
  console.log("bytes of a range | bare node:http | octavo | octavo / bare");
  for (const length of LENGTHS) {
    const rates = { bare: [] as number[], octavo: [] as number[] };
    const cpu = { bare: 0, octavo: 0 };
    for (let round = 0; round <= ROUNDS; round++)
      for (const name of ["bare", "octavo"] as const) {
        const before = process.cpuUsage();
        const rate = await measure(ports[name], length);
        const { user, system } = process.cpuUsage(before);
        if (round === 0) continue; // the first one warms up
        rates[name].push(rate);
        cpu[name] += (user + system) / (rate * SECONDS);
      }
    const best = (name: "bare" | "octavo"): number => Math.max(...rates[name]);
    const ratio = best("octavo") / best("bare");
    const micros = (name: "bare" | "octavo"): string => `${(cpu[name] / ROUNDS).toFixed(0)} µs of CPU with its client`;
    console.log(
      `${length} | ${best("bare").toFixed(0)}/s, ${micros("bare")} | ${best("octavo").toFixed(0)}/s, ${micros("octavo")} | ${ratio.toFixed(2)}`,
    );
  }
  await worker.terminate();
  await ours.close();
  plain.closeAllConnections();
  plain.close();
  rmSync(folder, { recursive: true });
}

await main();
