/**
 * `npm run bench convert-long [GB] [millions]`: a TRK of 10 GB becomes a store, and 5 million skeletons become shards, both in processes of
 * less than 1 GB. Memory is the peak of the whole process. The TRK, the store and what is put aside on the way take three times the
 * size of the TRK on the disk of the system's temporary folder.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeTrk } from "./convert/trk.js";

const [bytes, skeletons] = [Number(process.argv[2] ?? 10) * 1e9, Number(process.argv[3] ?? 5) * 1e6];
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "octavo-bench-"));
const [trk, store, shards] = [join(folder, "long.trk"), join(folder, "store"), join(folder, "shards")];

try {
  if (bytes > 0) {
    const count = writeTrk(trk, bytes);
    console.log(`TRK of ${(statSync(trk).size / 1e9).toFixed(1)} GB, ${count} streamlines, generated`);
    tell(
      "to a store",
      count,
      "convert",
      trk,
      store,
      JSON.stringify({ to: "zarr-vectors", chunkShape: 100, maxMemory: 128e6 }),
    );
    console.log(`store of ${(sizeOf(store) / 1e9).toFixed(1)} GB`);
    rmSync(trk);
    rmSync(store, { recursive: true });
  }
  if (skeletons > 0) {
    tell("skeletons to shards", skeletons, "skeletons", `${skeletons}`, shards, "{}");
    console.log(`shards of ${(sizeOf(shards) / 1e9).toFixed(1)} GB`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tell(what: string, count: number, ...args: string[]): void {
  const bundle = run(join(root, "scripts/ts.mjs"), "--bundle", join(root, "bench/convert/octavo.ts"));
  const { wall, cpu, peak } = JSON.parse(run(bundle, ...args)) as { wall: number; cpu: number; peak: number };
  const rate = (seconds: number): string => (count / seconds / 1000).toFixed(1);
  console.log(
    `${what}: ${wall.toFixed(0)} s, processor ${cpu.toFixed(0)} s, peak ${((peak * 2 ** 20) / 1e6).toFixed(0)} MB, ${rate(wall)} thousand a second, ${rate(cpu)} for each second of processor`,
  );
}

function run(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.slice(-1500)}`);
  return stdout.trim();
}

function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
