/** What is promised of packed trees: answers as of a test of every particle, and builds in little memory with the bytes of any other. */
import { many, type Row } from "./row.js";
import { manyParticles, trySmall } from "./tree-memory.js";
import { tryQueries } from "./tree-queries.js";

async function each(count: number, attempt: (seed: number) => Promise<string | undefined>): Promise<string[]> {
  const broken: string[] = [];
  for (let seed = 1; seed <= count; seed++) {
    const wrong = await attempt(seed).catch((error: Error) => `set ${seed}: ${error.stack}`);
    if (wrong !== undefined) broken.push(wrong);
  }
  return broken;
}

const queries: Row = {
  id: "Q2",
  promise: "queries of particles are exact",
  async run(scale) {
    const count = scale === "proof" ? 10_000 : 100;
    const broken = await each(count, tryQueries);
    return { tried: `boxes, spheres, nearest, counts, batches, periods and slices of ${many(count)} sets`, broken };
  },
};

const identical: Row = {
  id: "R5t",
  promise: "trees built in little memory are the same",
  async run(scale) {
    const count = scale === "proof" ? 10_000 : 100;
    return { tried: `${many(count)} sets of particles`, broken: await each(count, trySmall) };
  },
};

const memory: Row = {
  id: "R11t",
  promise: "bounded memory",
  run: (scale) => (scale === "proof" ? manyParticles(1e8, 512e6) : manyParticles(1e6, 16e6)),
};

export const treeRows: readonly Row[] = [identical, memory, queries];
