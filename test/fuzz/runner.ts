/**
 * Runs the driver under a watchdog and keeps what it finds. The tests call it with thousands of runs, the proof with a
 * million; by hand: `node scripts/ts.mjs test/fuzz/main.ts --runs 100000 blosc zip`.
 */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { inputOf, type Report, type Target } from "./driver.js";
import type { Work } from "./worker.js";

export interface WatchOptions {
  /** Milliseconds without a new run; 20 s, because the driver itself calls 250 ms too slow and three tries are fair. */
  readonly hungAfter?: number;
}

const root = join(import.meta.dirname, "../..");

export const foundFolder = join(import.meta.dirname, "found");

let bundled: Promise<string> | undefined;

/** The worker as JavaScript, made once. */
function workerFile(): Promise<string> {
  // "?": ts.mjs itself may be what runs this, and a module that waits for itself never ends.
  bundled ??= import(/* @vite-ignore */ `${pathToFileURL(join(root, "scripts/ts.mjs"))}?again`).then(({ bundle }) =>
    bundle(join(import.meta.dirname, "worker.ts")),
  );
  return bundled;
}

export async function watch(target: Target, runs: number, seed: number, options: WatchOptions = {}): Promise<Report> {
  const hungAfter = options.hungAfter ?? 20_000;
  const current = new SharedArrayBuffer(4);
  const work: Work = { target: target.name, runs, seed, current };
  const worker = new Worker(await workerFile(), { workerData: work });
  const report = await new Promise<Report>((resolve, reject) => {
    const under = new Int32Array(current).fill(-1);
    /** The decoder took the thread with it; the run's number is enough to make its input again. */
    const broken = async (problem: string): Promise<Report> => {
      const run = under[0]!;
      const find = { run, problem, bytes: inputOf(await target.load(), seed, run) };
      return { runs: run, accepted: 0, slowest: hungAfter, finds: [find] };
    };
    let [last, since] = [-1, Date.now()];
    const timer = setInterval(() => {
      if (under[0] !== last) [last, since] = [under[0]!, Date.now()];
      else if (last >= 0 && Date.now() - since > hungAfter) resolve(broken(`did not end within ${hungAfter} ms`));
    }, 250);
    worker.once("message", resolve);
    worker.once("error", (error) => (under[0]! < 0 ? reject(error) : resolve(broken(`ended the thread: ${error}`))));
    worker.once("exit", () => clearInterval(timer));
  });
  await worker.terminate();
  for (const find of report.finds) keep(target, find.bytes);
  return report;
}

/** Every find becomes a file that is replayed from then on. */
export function keep(target: Target, bytes: Uint8Array): string {
  const path = join(foundFolder, target.name, createHash("sha256").update(bytes).digest("hex").slice(0, 16));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}
