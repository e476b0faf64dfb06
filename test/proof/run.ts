/**
 * `npm run proof [-- --runs N] [--seed N] [--again] [R3 R8 …]`: the promises with the large numbers. Each row is kept in test/proof/results as
 * it ends, and docs/proof.md is written anew from all that are there, so that rows can run on different days and machines.
 * A million inputs for every decoder take some hours: R1 goes on where it was interrupted, unless --again.
 */
import { execSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { found, fuzzing } from "./fuzzing.js";
import { reference, stores } from "./reference.js";
import type { Outcome, Row } from "./row.js";
import { rows } from "./rows.js";

const { values, positionals } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    again: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const root = join(import.meta.dirname, "../..");
/** Those of the reliability table first; what a row tries of Zarr Vectors (R8v) after what it tries of Zarr. */
const number = ({ id }: Row): number => (id.startsWith("R") ? 0 : 100) + Number.parseInt(id.slice(1), 10);
const all = [fuzzing(Number(values.runs), Number(values.seed), values.again), found, reference, stores, ...rows].sort(
  (a, b) => number(a) - number(b),
);
const chosen = all.filter(({ id }) => positionals.length === 0 || positionals.includes(id));

interface Kept extends Outcome {
  readonly seconds: number;
  readonly commit: string;
  readonly node: string;
  readonly date: string;
}

const folder = join(import.meta.dirname, "results");
const commit = execSync("git rev-parse --short HEAD", { cwd: root, encoding: "utf8" }).trim();
mkdirSync(folder, { recursive: true });

let failures = 0;
for (const row of chosen) {
  const started = performance.now();
  const outcome: Outcome = await row.run("proof").catch((error: Error) => ({ tried: "", broken: [`${error.stack}`] }));
  const seconds = Math.round((performance.now() - started) / 1000);
  failures += outcome.broken.length;
  console.log(`${row.id} ${row.promise}: ${verdict(outcome)} (${outcome.tried}, ${seconds} s)`);
  if (outcome.note !== undefined) console.log(`   ${outcome.note}`);
  for (const line of outcome.broken.slice(0, 10)) console.log(`   ${line}`);
  const kept: Kept = {
    ...outcome,
    seconds,
    commit,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
  };
  writeFileSync(join(folder, `${row.id}.json`), JSON.stringify(kept));
}
writeFileSync(join(root, "docs/proof.md"), page());
process.exitCode = failures === 0 ? 0 : 1;

function verdict({ broken }: Outcome): string {
  return broken.length === 0 ? "kept" : `**broken ${broken.length} times**`;
}

function page(): string {
  const lines = all.map(({ id, promise }) => {
    const file = join(folder, `${id}.json`);
    if (!existsSync(file)) return `| ${id} | ${promise} | not run | | | | |`;
    const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
    const by = `${kept.commit}, Node ${kept.node}, ${kept.date}`;
    return `| ${id} | ${promise} | ${kept.tried} | ${verdict(kept)} | ${kept.seconds} s | ${by} | ${kept.note ?? ""} |`;
  });
  return `# Proof

Written by \`npm run proof\`: what is promised, and what the programs in test/proof did to break it. The tests run the same
programs with smaller numbers. Rows with a v are about Zarr Vectors, with a p about Neuroglancer
precomputed, with a t about packed trees, R3 to R11 without one about Zarr. The programs have a young space of V8 of 8 MB; R11 and R11v were measured without that limit.

| # | promise | tried | outcome | time | commit | |
|---|---|---|---|---|---|---|
${lines.join("\n")}
`;
}
