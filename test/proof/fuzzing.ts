/** R1 and R2: no bytes crash, hang or swell a decoder, and every find stays found. The tests run the same driver (test/fuzz). */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { observe } from "../fuzz/driver.js";
import { foundFolder, watch } from "../fuzz/runner.js";
import { targets } from "../fuzz/targets.js";
import { many, type Row } from "./row.js";

/** What one decoder stood, kept as it ends: a million inputs for every decoder take hours, and need not be one sitting. */
interface Stood {
  readonly runs: number;
  readonly seed: number;
  readonly slowest: number;
  readonly finds: readonly string[];
}

const stoodFile = join(import.meta.dirname, "results/R1-decoders.json");

export const fuzzing = (runs: number, seed: number, again: boolean): Row => ({
  id: "R1",
  promise: "no decoder crashes, hangs or over-allocates on any bytes",
  async run() {
    const kept = new Map<string, Stood>();
    if (existsSync(stoodFile)) {
      for (const [name, stood] of Object.entries(
        JSON.parse(readFileSync(stoodFile, "utf8")) as Record<string, Stood>,
      )) {
        if (!again && stood.runs >= runs && stood.seed === seed && stood.finds.length === 0) kept.set(name, stood);
      }
    }
    const known = kept.size;
    for (const target of targets) {
      if (kept.has(target.name)) continue;
      const report = await watch(target, runs, seed);
      const finds = report.finds.map(({ run, problem }) => `${target.name}, seed ${seed}, run ${run}: ${problem}`);
      kept.set(target.name, { runs: report.runs, seed, slowest: Math.round(report.slowest), finds });
      mkdirSync(dirname(stoodFile), { recursive: true });
      writeFileSync(stoodFile, `${JSON.stringify(Object.fromEntries(kept), null, 1)}\n`);
      console.error(`  R1 ${target.name}: ${many(report.runs)} inputs, ${finds.length} finds`);
    }
    const stood = targets.map(({ name }) => ({ name, ...kept.get(name)! }));
    const slowest = stood.reduce((a, b) => (b.slowest > a.slowest ? b : a));
    return {
      tried: `${many(runs)} mutated inputs for each of ${targets.length} decoders, seed ${seed}`,
      broken: stood.flatMap(({ finds }) => finds),
      note: `slowest input: ${slowest.slowest} ms (${slowest.name})${known > 0 ? `; ${known} of the decoders in an earlier run` : ""}`,
    };
  },
});

export const found: Row = {
  id: "R2",
  promise: "every find stays found",
  async run() {
    const broken: string[] = [];
    let tried = 0;
    for (const target of targets) {
      const folder = join(foundFolder, target.name);
      if (!existsSync(folder)) continue;
      const decoder = await target.load();
      for (const name of readdirSync(folder)) {
        tried++;
        const { problem } = await observe(target, decoder, new Uint8Array(readFileSync(join(folder, name))));
        if (problem !== undefined) broken.push(`${target.name}/${name}: ${problem}`);
      }
    }
    return { tried: `${many(tried)} inputs replayed`, broken };
  },
};
