/**
 * `npm run conformance -- DIR [--list]`: the golden sets under DIR, ending with the line "N passed, N failed".
 *
 * The cases run in a child process, so that a hang can be ended and memory is measured from a clean start: a case that takes
 * over 5 s or 256 MB fails, and a new child takes the next one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Case, LIMITS, type Row, runCase } from "./case.js";
import { packedTreeCases } from "./packed-tree.js";
import { precomputedCases } from "./precomputed.js";
import { zarrCases } from "./zarr.js";
import { zarrVectorsCases } from "./zarr-vectors.js";

const runners: { readonly [set: string]: (folder: string) => Case[] } = {
  zarr: zarrCases,
  "zarr-vectors": zarrVectorsCases,
  precomputed: precomputedCases,
  "packed-tree": packedTreeCases,
};
const sets = ["zarr", "zarr-vectors", "precomputed", "packed-tree"];

function casesOf(folder: string): Case[] {
  return sets.flatMap((set) => (existsSync(join(folder, set)) ? (runners[set]?.(join(folder, set)) ?? []) : []));
}

/** In the child: the cases from `first` on, one message per case. */
async function child(folder: string, first: number): Promise<void> {
  const base = process.memoryUsage().rss;
  for (const one of casesOf(folder).slice(first)) {
    const row = await runCase(one);
    const grown = process.resourceUsage().maxRSS * 1024 - base;
    const heavy = grown > LIMITS.bytes;
    process.send!(heavy ? { ...row, passed: false, detail: `took ${Math.round(grown / 2 ** 20)} MB` } : row);
    if (heavy) break; // the high-water mark never falls again
  }
  process.disconnect();
}

/** Rows from a new child, until it ends or hangs. */
function batch(folder: string, first: number, cases: readonly Case[]): Promise<Row[]> {
  const tool = fileURLToPath(new URL("../../scripts/ts.mjs", import.meta.url));
  const self = fileURLToPath(import.meta.url);
  const rows: Row[] = [];
  return new Promise((done) => {
    const worker: ChildProcess = spawn(process.execPath, [tool, self, folder, "--from", String(first)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const wait = (milliseconds: number) => setTimeout(() => worker.kill("SIGKILL"), milliseconds);
    let clock = wait(60_000); // bundling and starting are not the case's fault
    worker.on("message", (row: Row) => {
      rows.push(row);
      clearTimeout(clock);
      clock = wait(LIMITS.milliseconds + 1_000); // the child itself reports what took over 5 s and ended
    });
    worker.on("exit", (code, signal) => {
      clearTimeout(clock);
      const next = cases[first + rows.length];
      if (next !== undefined && (code !== 0 || signal !== null || rows.length === 0)) {
        const detail = signal === "SIGKILL" ? "hangs" : `ended the process with ${signal ?? code}`;
        rows.push({ case: next.name, passed: false, detail });
      }
      done(rows);
    });
  });
}

async function main(args: readonly string[]): Promise<number> {
  const from = args.indexOf("--from");
  const [given] = args.filter((arg) => !arg.startsWith("--"));
  if (given === undefined || !existsSync(given)) {
    console.error("usage: npm run conformance -- DIR [--list]");
    return 2;
  }
  const folder = resolve(given);
  if (from >= 0) {
    await child(folder, Number(args[from + 1]));
    return 0;
  }
  const cases = casesOf(folder);
  const rows: Row[] = [];
  while (rows.length < cases.length) rows.push(...(await batch(folder, rows.length, cases)));
  for (const set of sets) {
    if (existsSync(join(folder, set)) && runners[set] === undefined) console.log(`skipped  ${set}: not read yet`);
  }
  for (const { case: name, passed, detail } of rows) {
    if (!passed || args.includes("--list")) console.log(`${passed ? "passed" : "FAILED"}  ${name}: ${detail}`);
  }
  const failed = rows.filter((row) => !row.passed).length;
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
