/**
 * `npm run bench precomputed [COUNT…]`: sharded values beside tensorstore and cloud-volume, 100,000 and 1,000,000 of them unless told,
 * raw and gzip (a million: raw only); and skeletons that are decoded. Every measurement is a process of its own that begins to
 * count after its imports; readers read the shards that tensorstore wrote, with the page cache emptied. CPU is what to compare
 * where the machine has other work to do, as all of them wait for the same disk.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { missingPeer, pythonOf } from "../test/interop/peers.js";

const root = join(import.meta.dirname, "..");
const cache = join(root, ".cache/bench/precomputed");
const missing = missingPeer("precomputed");
if (missing !== undefined) {
  console.error(`nothing to compare with: ${missing}`);
  process.exit(1);
}
const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100_000, 1_000_000];

interface Result {
  readonly wall: number;
  readonly cpu: number;
  readonly memory: number;
  readonly count?: number;
  readonly bytes?: number;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout;
}
const peer = (...args: string[]): string =>
  run(pythonOf("precomputed"), [join(root, "bench/precomputed/peer.py"), ...args]);
const program = run(process.execPath, [
  join(root, "scripts/ts.mjs"),
  "--bundle",
  join(root, "bench/precomputed/octavo.ts"),
]).trim();

function table(count: number, encoding: "raw" | "gzip"): void {
  const inputs = join(cache, `inputs-${count}`);
  if (!existsSync(join(inputs, "skeletons.u32"))) peer("inputs", "-", `${count}`, encoding, "-", inputs);
  const folder = (who: string): string => join(cache, `${count}-${encoding}-${who}`);
  const measured = (op: string, who: string): Result => {
    const at = folder(op === "write" ? who : "tensorstore");
    if (op !== "write") peer("uncache", "-", "0", "-", at, "-");
    const printed =
      who === "octavo"
        ? run(process.execPath, [program, op, `${count}`, encoding, at, inputs])
        : peer(op, who, `${count}`, encoding, at, inputs);
    return JSON.parse(printed) as Result;
  };
  console.log(`\n${count.toLocaleString("en-US")} values, ${encoding}\n`);
  console.log(
    "| | octavo: s, CPU s, MB | tensorstore: s, CPU s, MB | cloud-volume: s, CPU s, MB | octavo / tensorstore, CPU |",
  );
  console.log("|---|---|---|---|---|");
  for (const op of ["write", "read", "list", "scan"]) {
    const results = ["tensorstore", "octavo", "cloud-volume"].map((who) => measured(op, who));
    const [theirs, ours, others] = results as [Result, Result, Result];
    if (op !== "write" && (ours.bytes !== theirs.bytes || ours.count !== theirs.count))
      throw new Error(`${op} gave other values`);
    const cell = ({ wall, cpu, memory }: Result): string =>
      `${wall.toFixed(2)}, ${cpu.toFixed(2)}, ${Math.round(memory / 1e6)}`;
    const name = { write: "write", read: "10,000 at random, cold", list: "list ids", scan: "read all" }[op];
    console.log(
      `| ${name} | ${cell(ours)} | ${cell(theirs)} | ${cell(others)} | ${(ours.cpu / theirs.cpu).toFixed(2)} |`,
    );
  }
}

/** Skeletons as bytes in memory, to vertices, edges and radii. */
function skeletons(): void {
  const inputs = join(cache, `inputs-${counts[0]}`);
  const ours = JSON.parse(run(process.execPath, [program, "decode", "0", "raw", "-", inputs])) as Result;
  const theirs = JSON.parse(peer("decode", "cloud-volume", "0", "raw", "-", inputs)) as Result;
  if (ours.count !== theirs.count) throw new Error("skeletons were decoded to other vertices");
  console.log("\n| | octavo: CPU s | cloud-volume: CPU s | octavo / cloud-volume |\n|---|---|---|---|");
  const [a, b] = [ours.cpu, theirs.cpu];
  console.log(`| 10,000 skeletons decoded | ${a.toFixed(3)} | ${b.toFixed(3)} | ${(a / b).toFixed(2)} |`);
}

for (const count of counts)
  for (const encoding of count >= 1e6 ? (["raw"] as const) : (["raw", "gzip"] as const)) table(count, encoding);
skeletons();
