/** What is promised of Neuroglancer precomputed where it is written: the same as of arrays, each as a row of its own. */
import { killWriters, writeAtOnce } from "./precomputed-edits.js";
import { failWriters } from "./precomputed-failing.js";
import { manyAnnotations } from "./precomputed-memory.js";
import { many, type Row } from "./row.js";

const kills: Row = {
  id: "R8p",
  promise: "kill -9 leaves a store that opens and validates",
  async run(scale) {
    const count = scale === "proof" ? 1_000 : 12;
    return { tried: `${many(count)} kills during edits and whole writes`, broken: await killWriters(count) };
  },
};

const failing: Row = {
  id: "R9p",
  promise: "failing storage",
  async run(scale) {
    const { tried, broken } = await failWriters(scale === "proof" ? 1 : 7);
    return { tried: `${many(tried)} failing operations of edits and whole writes`, broken };
  },
};

const writers: Row = {
  id: "R10p",
  promise: "concurrent writers lose nothing",
  async run(scale) {
    const [processes, count] = scale === "proof" ? [8, 250] : [2, 10];
    const broken = await writeAtOnce(processes, count);
    return { tried: `${processes} processes × ${many(count)} values, and as many voxels of shared chunks`, broken };
  },
};

const memory: Row = {
  id: "R11p",
  promise: "bounded memory",
  run: (scale) => manyAnnotations(32e6, scale === "proof" ? 20 : 2),
};

export const precomputedRows: readonly Row[] = [kills, failing, writers, memory];
