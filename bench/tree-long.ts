/**
 * `npm run bench tree-long [particles] [memory]`: a `.ptree` file of 1e9 particles, which are generated as they are read, under 4 GB of
 * memory. Scratch and file take 16 bytes for each particle on the disk of the system's temporary folder, and a fifth more. Memory is that
 * of the whole process; `memory` is in MB.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTreeOnDisk, writeRows } from "../src/format/packed-tree/index.js";
import { fileStore } from "../src/store/file.js";
import { Key } from "../src/store/key.js";
import { scratchFile } from "../src/store/scratch-file.js";
import { generated } from "../test/proof/tree-memory.js";

const [count, memory] = [Number(process.argv[2] ?? 1e9), Number(process.argv[3] ?? 4000)];
const folder = mkdtempSync(join(tmpdir(), "octavo-bench-"));
const started = performance.now();
let before = 0;

function lap(what: string): void {
  const { user, system } = process.cpuUsage();
  const [wall, cpu] = [(performance.now() - started) / 1000, (user + system) / 1e6];
  const peak = (process.resourceUsage().maxRSS * 1024) / 1e6;
  console.log(
    `${what.padEnd(40)} ${wall.toFixed(0).padStart(6)} s, processor ${(cpu - before).toFixed(0).padStart(5)} s, peak ${peak.toFixed(0)} MB`,
  );
  before = cpu;
}

try {
  let seen = 0;
  const stream = generated(count);
  const batches = async function* () {
    for await (const batch of stream.batches()) {
      yield batch;
      seen += batch.positions.length / 3;
      if (seen === count) lap("generated, and on disk");
    }
  };
  const maxMemory = memory * 1e6 - 100e6; // what Node takes for itself
  const tree = await buildTreeOnDisk({ count, batches }, { scratch: () => scratchFile(folder), maxMemory });
  lap(`${tree.tree.nodes.length} nodes built`);
  await writeRows(fileStore(folder, { durability: "none" }), Key.of("long.ptree"), tree);
  tree.close();
  lap(`file of ${(statSync(join(folder, "long.ptree")).size / 1e9).toFixed(1)} GB written`);
  const { user, system } = process.cpuUsage();
  console.log(`${(count / ((performance.now() - started) / 1000) / 1e6).toFixed(2)} million particles a second,`);
  console.log(`${(count / ((user + system) / 1e6) / 1e6).toFixed(2)} million for each second of processor`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
