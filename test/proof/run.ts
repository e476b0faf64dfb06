/**
 * `npm run proof [-- --runs N] [--seed N] [R3 R8 …]`: the promises with the large numbers. Writes docs/proof.md when all rows ran.
 * A million inputs per decoder take some hours; --runs makes that shorter, and the table says how many it was.
 */
import { execSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { found, fuzzing } from "./fuzzing.js";
import { reference, stores } from "./reference.js";
import type { Outcome, Row } from "./row.js";
import { rows } from "./rows.js";

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
const root = join(import.meta.dirname, "../..");
const number = (row: Row): number => Number(row.id.slice(1));
const all = [fuzzing(Number(values.runs), Number(values.seed)), found, reference, stores, ...rows].sort(
  (a, b) => number(a) - number(b),
);
const chosen = all.filter(({ id }) => positionals.length === 0 || positionals.includes(id));

const lines: string[] = [];
let failures = 0;
for (const row of chosen) {
  const started = performance.now();
  const outcome: Outcome = await row.run("proof").catch((error: Error) => ({ tried: "", broken: [`${error.stack}`] }));
  const seconds = Math.round((performance.now() - started) / 1000);
  failures += outcome.broken.length;
  const verdict = outcome.broken.length === 0 ? "kept" : `broken ${outcome.broken.length} times`;
  console.log(`${row.id} ${row.promise}: ${verdict} (${outcome.tried}, ${seconds} s)`);
  if (outcome.note !== undefined) console.log(`   ${outcome.note}`);
  for (const line of outcome.broken.slice(0, 10)) console.log(`   ${line}`);
  lines.push(`| ${row.id} | ${row.promise} | ${outcome.tried} | ${verdict} | ${seconds} s | ${outcome.note ?? ""} |`);
}

if (positionals.length === 0) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const commit = execSync("git rev-parse --short HEAD", { cwd: root, encoding: "utf8" }).trim();
  const page = `# Proof

Written by \`npm run proof\`: octavo ${version} at ${commit}, Node ${process.version}, ${process.platform} ${process.arch}, ${new Date().toISOString().slice(0, 10)}.

| # | promise | tried | outcome | time | |
|---|---|---|---|---|---|
${lines.join("\n")}

R12 and R13 are about the server, which does not exist yet.
`;
  writeFileSync(join(root, "docs/proof.md"), page);
}
process.exitCode = failures === 0 ? 0 : 1;
