/** `node scripts/ts.mjs test/fuzz/main.ts [--runs N] [--seed N] [target…]`: one line of JSON per target; exit code 1 on a find. */
import { parseArgs } from "node:util";
import { watch } from "./runner.js";
import { targets } from "./targets.js";

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
for (const target of targets) {
  if (positionals.length > 0 && !positionals.includes(target.name)) continue;
  const started = performance.now();
  const report = await watch(target, Number(values.runs), Number(values.seed));
  const finds = report.finds.map(({ run, problem }) => ({ run, problem }));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ target: target.name, ...report, slowest: Math.round(report.slowest), seconds, finds }));
  if (finds.length > 0) process.exitCode = 1;
}
