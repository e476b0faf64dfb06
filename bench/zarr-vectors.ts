/**
 * `npm run bench zarr-vectors [1|4]…`: zarr-vectors 0.9.2 and Octavo on the inputs of zarr-vectors/inputs.ts, a cube of 1000 in
 * 8 × 8 × 8 chunks, in sizes of 1× and 4× (both unless one is named). Every case is a fresh process, timed after imports; CPU is
 * that of all threads, the peak is that of the process and stands beside what it held before the case began. `npm run peers`
 * puts the reference there. Its boxes have more objects: those of every chunk that the box meets.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pythonOf } from "../test/interop/peers.js";
import { inputFolder } from "./zarr-vectors/inputs.js";

const root = join(import.meta.dirname, "..");
const python = pythonOf("zarr-vectors-0.9");
const stores = join(root, ".cache/bench/zarr-vectors");

interface Result {
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
  readonly base: number;
}
type Run = (store: string, kind: string, count: number, what: string) => Result;

interface Contender {
  readonly name: string;
  /** Whose stores it reads; its own where nothing is said. */
  readonly reads?: string;
  readonly cases: readonly string[];
  readonly run: Run;
}

const sizes = process.argv.slice(2).map(Number);
const kinds = [
  { kind: "points", counts: [1_000_000, 4_000_000], cases: ["write", "read", "box", "validate"] },
  { kind: "streamlines", counts: [25_000, 100_000], cases: ["write", "read", "box", "object", "objects", "validate"] },
  { kind: "mesh", counts: [250_000, 1_000_000], cases: ["write", "read", "box", "validate"] },
];

const bundle = run(process.execPath, [
  join(root, "scripts/ts.mjs"),
  "--bundle",
  join(root, "bench/zarr-vectors/octavo.ts"),
]);
const reading = ["read", "box", "object", "objects", "validate"];
const octavo: Run = (store, kind, count, what) =>
  measured(process.execPath, [bundle, inputs, store, kind, String(count), what]);
const contenders: readonly Contender[] = [
  {
    name: "zarr-vectors 0.9.2",
    cases: ["write", ...reading],
    run: (store, kind, count, what) =>
      measured(python, [join(root, "bench/zarr-vectors/peer.py"), inputs, store, kind, String(count), what]),
  },
  { name: "octavo on its store", reads: "zarr-vectors 0.9.2", cases: reading, run: octavo },
  { name: "octavo", cases: ["write", ...reading], run: octavo },
];

if (!existsSync(python)) throw new Error(`no ${python}: run "npm run peers"`);
const inputs = inputFolder(join(root, ".cache/bench"));
mkdirSync(stores, { recursive: true });
console.log("| | | case | wall s | CPU s | peak MB | before MB |\n|---|---|---|---|---|---|---|");
for (const { kind, counts, cases } of kinds) {
  for (const [step, count] of counts.entries()) {
    if (sizes.length > 0 && !sizes.includes(step === 0 ? 1 : 4)) continue;
    for (const what of cases) {
      for (const { name, reads = name, cases: able, run } of contenders) {
        if (!able.includes(what)) continue;
        const store = join(stores, `${reads.replace(/\W+/g, "-")}-${kind}-${count}`);
        const { wall, cpu, peak, base } = run(store, kind, count, what);
        const numbers = [wall.toFixed(3), cpu.toFixed(3), Math.round(peak), Math.round(base)];
        console.log(`| ${[`${kind} ${count}`, name, what, ...numbers].join(" | ")} |`);
      }
    }
  }
}
rmSync(stores, { recursive: true, force: true });

function measured(command: string, args: string[]): Result {
  return JSON.parse(run(command, args).split("\n").at(-1)!) as Result;
}

function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.slice(-1000)}`);
  return stdout.trim();
}
