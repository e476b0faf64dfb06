/** R1 and R2: no bytes crash, hang or swell a decoder, and every find stays found. The tests run the same driver (test/fuzz). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { observe } from "../fuzz/driver.js";
import { foundFolder, watch } from "../fuzz/runner.js";
import { targets } from "../fuzz/targets.js";
import { many, type Row } from "./row.js";

export const fuzzing = (runs: number, seed: number): Row => ({
  id: "R1",
  promise: "no decoder crashes, hangs or over-allocates on any bytes",
  async run() {
    const broken: string[] = [];
    let slowest = { name: "", ms: 0 };
    for (const target of targets) {
      const report = await watch(target, runs, seed);
      if (report.slowest > slowest.ms) slowest = { name: target.name, ms: report.slowest };
      for (const { run, problem } of report.finds) broken.push(`${target.name}, seed ${seed}, run ${run}: ${problem}`);
      console.error(
        `  R1 ${target.name}: ${many(report.runs)} inputs, ${report.finds.length} finds, slowest ${Math.round(report.slowest)} ms`,
      );
    }
    return {
      tried: `${many(runs)} mutated inputs for each of ${targets.length} decoders, seed ${seed}`,
      broken,
      note: `slowest input: ${Math.round(slowest.ms)} ms (${slowest.name})`,
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
