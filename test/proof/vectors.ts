/** What is promised of Zarr Vectors: the same as of arrays, each as a row of its own. */

import { many, type Row } from "./row.js";
import { damageVectors } from "./vector-damage.js";
import { appendAtOnce, killEdits } from "./vector-edits.js";
import { failVectors } from "./vector-failing.js";
import { convertStreamlines, convertTrk } from "./vector-memory.js";
import { tryVectors } from "./vector-round-trip.js";

const roundTrip: Row = {
  id: "R5v",
  promise: "round trip",
  async run(scale) {
    const count = scale === "proof" ? 10_000 : 40;
    const broken: string[] = [];
    for (let seed = 1; seed <= count; seed++) {
      const wrong = await tryVectors(seed).catch((error: Error) => `${error.name}: ${error.message}`);
      if (wrong !== undefined) broken.push(`seed ${seed}: ${wrong}`);
    }
    return { tried: `${many(count)} datasets of every kind`, broken };
  },
};

const kills: Row = {
  id: "R8v",
  promise: "kill -9 leaves a store that opens and validates",
  async run(scale) {
    const count = scale === "proof" ? 1_000 : 10;
    return { tried: `${many(count)} kills during edits`, broken: await killEdits(count) };
  },
};

const failing: Row = {
  id: "R9v",
  promise: "failing storage",
  async run(scale) {
    const { tried, broken } = await failVectors(scale === "proof" ? 1 : 23);
    return { tried: `${many(tried)} failing operations of edits and of a writer`, broken };
  },
};

const writers: Row = {
  id: "R10v",
  promise: "concurrent writers lose nothing",
  async run(scale) {
    const [processes, appends] = scale === "proof" ? [8, 250] : [2, 10];
    const broken = await appendAtOnce(processes, appends);
    return { tried: `${processes} processes × ${many(appends)} appends of objects`, broken };
  },
};

const damage: Row = { id: "R3v", promise: "damage is noticed", run: damageVectors };

const memory: Row = {
  id: "R11v",
  promise: "bounded memory",
  async run(scale) {
    const [MB, cap] = [1e6, scale === "proof" ? 32e6 : 4e6];
    const { bytes, peak } = await convertStreamlines(cap);
    const over = `${Math.round(peak / MB)} MB over the start`;
    return {
      tried: `${Math.round(bytes / MB)} MB of streamlines under ${cap / MB} MB`,
      broken: peak <= cap + 100 * MB ? [] : [`${over} with a cap of ${cap / MB} MB`],
      note: `peak ${over}`,
    };
  },
};

/** What the process needs for itself, however little it may take: Node, code, and what was thrown away and is not yet given back. */
const FLOOR = 250e6;

const memoryOfFiles: Row = {
  id: "R11f",
  promise: "bounded memory",
  async run(scale) {
    const [MB, cap] = [1e6, scale === "proof" ? 512e6 : 4e6];
    const { bytes, peak } = await convertTrk(cap);
    const all = `${Math.round(peak / MB)} MB in all`;
    return {
      tried: `a TRK of ${Math.round(bytes / MB)} MB under ${cap / MB} MB`,
      broken: peak <= Math.max(cap, FLOOR + cap / 2) ? [] : [`${all} with a cap of ${cap / MB} MB`],
      note: `peak ${all}`,
    };
  },
};

export const vectorRows: readonly Row[] = [damage, roundTrip, kills, failing, writers, memory, memoryOfFiles];
