/** Trees over more particles than memory holds: the bytes and the order are those of a build in memory, and the peak stays below the cap. */
import { buildTreeOnDisk } from "../../src/format/packed-tree/external.js";
import type { ParticleStream } from "../../src/format/packed-tree/external-types.js";
import { writeRows } from "../../src/format/packed-tree/file/write.js";
import { buildTree, encodeTree, openParticleFile } from "../../src/format/packed-tree/index.js";
import { fileStore } from "../../src/store/file.js";
import { Key } from "../../src/store/key.js";
import { scratchFile } from "../../src/store/scratch-file.js";
import { alike } from "../packed-tree.js";
import { inFolder, start } from "./processes.js";
import { many, type Outcome } from "./row.js";
import { particleSet } from "./tree-sets.js";

const MB = 1e6;
const FILE = Key.of("all.ptree");

const BATCH = 2 ** 18;

/** So many particles: half of them everywhere, half in clusters, each of them around a place of its own. */
export const generated = (count: number): ParticleStream => ({
  count,
  async *batches() {
    for (let first = 0, seed = 1; first < count; first += BATCH, seed++)
      yield { positions: batchOf(seed, Math.min(BATCH, count - first)), columns: [] };
  },
});

function batchOf(seed: number, count: number): Float32Array {
  const positions = new Float32Array(3 * count);
  let state = Math.imul(seed, 0x9e3779b1);
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const half = 3 * (count >> 1);
  for (let i = 0; i < half; i++) positions[i] = uniform();
  const centre = [uniform(), uniform(), uniform()];
  for (let i = half; i < positions.length; i++) {
    const away = uniform() - 0.5;
    positions[i] = centre[i % 3]! + 0.1 * away * away * away;
  }
  return positions;
}

/** Builds a file of so many particles; the bytes of memory that it takes at most, over the start and in all. */
export async function buildMany(
  folder: string,
  count: number,
  maxMemory: number,
): Promise<[over: number, all: number]> {
  await write(folder, 1000, maxMemory); // code that loads with the first does not count
  const before = process.resourceUsage().maxRSS;
  await write(folder, count, maxMemory);
  const { maxRSS } = process.resourceUsage();
  return [(maxRSS - before) * 1024, maxRSS * 1024];
}

async function write(folder: string, count: number, maxMemory: number): Promise<void> {
  const tree = await buildTreeOnDisk(generated(count), { scratch: () => scratchFile(folder), maxMemory, created: 0 });
  await writeRows(fileStore(folder, { durability: "none" }), FILE, tree);
  tree.close();
}

/** More particles than the cap has room for, in a process of its own, beside a build in memory here. */
export async function manyParticles(count: number, cap: number): Promise<Outcome> {
  return inFolder(async (folder) => {
    const child = await start("tree-memory", folder, String(count), String(cap));
    const [over, all] = (await child.done).split(" ").map(Number) as [number, number];
    const broken: string[] = [];
    if (over > cap + 100 * MB) broken.push(`${Math.round(over / MB)} MB over the start with a cap of ${cap / MB} MB`);
    const positions = new Float32Array(3 * count);
    let at = 0;
    for await (const batch of generated(count).batches()) {
      positions.set(batch.positions, at);
      at += batch.positions.length;
    }
    const wanted = await buildTree(positions, { created: 0 });
    const found = await (await openParticleFile(fileStore(folder), FILE)).particles();
    if (!alike(encodeTree(found.tree), encodeTree(wanted.tree))) broken.push("the bytes of the tree are others");
    if (!alike(found.order!, wanted.order)) broken.push("the order of the particles is another");
    if (!alike(found.positions, wanted.positions)) broken.push("the positions are others");
    const note = `peak ${Math.round(over / MB)} MB over the start, ${Math.round(all / MB)} MB in all`;
    return { tried: `${many(count)} particles, ${(count * 16) / MB} MB, under ${cap / MB} MB`, broken, note };
  });
}

/** What differs between the set of this number built in memory, and built with room for a few of its particles; undefined: nothing. */
export async function trySmall(seed: number): Promise<string | undefined> {
  const { set, dice } = particleSet(seed);
  const { positions, threshold, box } = set;
  const size = 1 + dice.below(100);
  const stream: ParticleStream = {
    async *batches() {
      for (let at = 0; at < positions.length; at += 3 * size)
        yield { positions: positions.subarray(at, at + 3 * size), columns: [] };
    },
  };
  const options = { threshold, box, created: 0 };
  const wanted = await buildTree(positions, options);
  const tree = await buildTreeOnDisk(stream, { ...options, scratch: scratchFile, maxMemory: 1 + dice.below(5000) });
  const order = await tree.order(0, tree.count);
  const same = alike(encodeTree(tree.tree), encodeTree(wanted.tree)) && alike(order, wanted.order);
  tree.close();
  return same ? undefined : `set ${seed}, ${set.kind} of ${tree.count}`;
}
