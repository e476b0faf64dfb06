/**
 * `npm run bench convert-long [GB] [millions]`: a TRK of 10 GB becomes a store, and 5 million skeletons become shards, both in processes of
 * less than 1 GB. Memory is the peak of the whole process. The TRK, the store and what is put aside on the way take three times the
 * size of the TRK on the disk of the system's temporary folder.
 */
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { walks } from "./convert/walks.js";

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

/** Voxels of 1 mm, whose corner is at 0, in the order of RAS; how many streamlines. */
function writeTrk(path: string, size: number): number {
  const file = openSync(path, "wx");
  const header = new DataView(new ArrayBuffer(1000));
  for (const [i, letter] of [..."TRACK"].entries()) header.setUint8(i, letter.charCodeAt(0));
  for (let axis = 0; axis < 3; axis++) {
    header.setInt16(6 + 2 * axis, 1000, true);
    header.setFloat32(12 + 4 * axis, 1, true);
    header.setUint8(948 + axis, "RAS".charCodeAt(axis));
  }
  for (let i = 0; i < 4; i++) header.setFloat32(440 + 20 * i, 1, true);
  const block = new Uint8Array(1 << 23);
  const words = new DataView(block.buffer);
  let [count, used, written] = [0, 1000, 0];
  for (const walk of walks(300)) {
    const length = 4 + walk.byteLength;
    if (used + length > block.length || written + used >= size) {
      written += writeSync(file, block, 0, used);
      used = 0;
    }
    if (written >= size) break;
    words.setInt32(used, walk.length / 3, true);
    block.set(new Uint8Array(walk.buffer, 0, walk.byteLength), used + 4);
    used += length;
    count++;
  }
  header.setInt32(988, count, true);
  header.setInt32(992, 2, true);
  header.setInt32(996, 1000, true);
  writeSync(file, header, 0, 1000, 0);
  closeSync(file);
  return count;
}
