/**
 * `npm run bench tree [COUNT…]`: trees over 100,000, 1,000,000 and 10,000,000 particles, uniform and clustered, beside packingcubes
 * 0.6.7 and scipy's cKDTree in one run: building, boxes, spheres, counts, the ten nearest, memory, and the first answer of a process
 * that has just begun. Everybody has the same particles, and all answers are compared; so are the bytes and the order of the trees.
 * Times are CPU, the best of several, where nothing else is said; packingcubes is asked from inside of its JIT, after everything
 * was compiled. `npm run peers` puts both there.
 */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeNpy } from "../src/format/interchange/npy.js";
import { ndarray } from "../src/model/elements.js";
import { missingPeer, pythonOf } from "../test/interop/peers.js";
import { workerUrl } from "../test/worker-url.js";
import { floats, particleFile, placeFile, SETS } from "./tree/inputs.js";

const root = join(import.meta.dirname, "..");
const folder = join(root, ".cache/bench/tree");
const missing = missingPeer("packed-tree");
if (missing !== undefined) {
  console.error(`nothing to compare with: ${missing}`);
  process.exit(1);
}
const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1e5, 1e6, 1e7];
const names = counts.flatMap((count) =>
  SETS.map((set) => {
    for (const places of ["singles", "batch"] as const) placeFile(folder, set, count, places);
    particleFile(folder, set, count);
    return `${set}_${count}`;
  }),
);

type Result = Record<string, number | string>;

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", cwd: root });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.slice(-2000)}`);
  return stdout.trim();
}
const results = (printed: string): Result[] => printed.split("\n").map((line) => JSON.parse(line) as Result);
const peer = (engine: string): Result[] =>
  results(run(pythonOf("packed-tree"), [join(root, "bench/tree/peer.py"), engine, folder, "1", ...names]));
const program = run(process.execPath, [join(root, "scripts/ts.mjs"), "--bundle", join(root, "bench/tree/octavo.ts")]);
const worker = (await workerUrl()).href;
const octavo = (name: string, workers: number): Result =>
  results(run(process.execPath, ["--expose-gc", program, folder, `${workers}`, name, worker]))[0]!;

const references = peer("packingcubes");
const scipys = peer("scipy");
for (const [i, name] of names.entries()) table(name, octavo(name, 0), octavo(name, 2), references[i]!, scipys[i]!);
cold(Math.max(...counts), references[0]!);

function table(name: string, ours: Result, shared: Result, theirs: Result, scipy: Result): void {
  for (const key of Object.keys(ours).filter((key) => /^(tree|order)$| found$/.test(key)))
    for (const other of [shared, theirs, scipy])
      if (other[key] !== undefined && other[key] !== ours[key]) throw new Error(`${name}: ${key} is not the same`);
  const [set, count] = name.split("_");
  console.log(`\n${Number(count).toLocaleString("en-US")} particles, ${set}\n`);
  console.log("| | octavo | packingcubes | cKDTree | ratio | goal |\n|---|---|---|---|---|---|");
  const line = (
    what: string,
    values: readonly (number | undefined)[],
    unit: string,
    ratio: number,
    goal?: number,
  ): void => {
    const cells = values.map((value) => (value === undefined ? "" : `${Number(value.toPrecision(3))} ${unit}`));
    const met = goal === undefined ? "" : `${goal}${ratio <= goal ? ", met" : ""}`;
    console.log(`| ${[what, ...cells, ratio.toFixed(2), met].join(" | ")} |`);
  };
  const of = (result: Result, key: string, scale: number): number | undefined =>
    result[key] === undefined ? undefined : (result[key] as number) * scale;
  /** Against packingcubes where it has that, else against cKDTree. */
  const compared = (what: string, key: string, scale: number, unit: string, goal?: number): void => {
    const values = [ours, theirs, scipy].map((result) => of(result, key, scale));
    line(what, values, unit, values[0]! / (values[1] ?? values[2]!), goal);
  };
  const large = Number(count) >= 1e7; // the goals of building are of that many
  compared("build, one thread", "build", 1, "s", large ? 0.4 : undefined);
  const walls = [shared, theirs, scipy].map((result) => of(result, "build wall", 1));
  line("build, two threads, by the clock", walls, "s", walls[0]! / walls[1]!, large ? 0.25 : undefined);
  const extra = Math.max(0, ours.memory as number, shared.memory as number);
  line(
    "memory beyond the arrays, of positions",
    [extra / 1e6, undefined, undefined],
    "MB",
    extra / (ours["bytes of positions"] as number),
    0.3,
  );
  for (const r of [0.01, 0.05, 0.1]) {
    compared(`sphere, r = ${r}`, `sphere ${r}`, 1e6 / 200, "µs", 0.7);
    compared(`box, half ${r}`, `box ${r}`, 1e6 / 200, "µs", 0.7);
    compared(`count, r = ${r}`, `count ${r}`, 1e6 / 200, "µs");
  }
  compared("10 nearest", "nearest", 1e6 / 200, "µs", 1);
  compared("10 nearest, batch of 20,000", "batch", 1e6 / 20_000, "µs", 1);
}

/** The first answer of a fresh process, from a file of uniform particles; by the clock, the best of several. */
function cold(count: number, theirs: Result): void {
  run(join(root, "octavo"), ["--version"]); // builds what is old
  const cli = (...args: string[]): string => run(process.execPath, [join(root, "dist/cli.cjs"), ...args]);
  const [npy, file] = [join(folder, "cold.npy"), join(folder, "cold.ptree")];
  writeFileSync(npy, writeNpy(ndarray([count, 3], floats(particleFile(folder, "uniform", count)))));
  cli("tree", "build", npy, file, "--overwrite");
  rmSync(npy);
  console.log(`\nfirst answer of a process, ${count.toLocaleString("en-US")} uniform particles\n`);
  console.log("| | octavo | packingcubes | goal |\n|---|---|---|---|");
  const region = ["--sphere", "0.5,0.5,0.5,0.02"];
  for (const [what, args] of [
    ["tree query, sphere", ["tree", "query", file, ...region]],
    ["tree query, count", ["tree", "query", file, ...region, "--count"]],
    ["tree query, 10 nearest", ["tree", "query", file, "--nearest", "0.5,0.5,0.5,10"]],
    ["get, box", ["get", file, "--box", "0.48,0.48,0.48,0.52,0.52,0.52", "--json"]],
  ] as const) {
    const times = Array.from({ length: 7 }, () => {
      const begun = performance.now();
      cli(...args);
      return (performance.now() - begun) / 1000;
    });
    const best = Math.min(...times);
    console.log(
      `| ${what} | ${best.toFixed(2)} s | ${Number(theirs.cold).toFixed(0)} s | 0.3${best <= 0.3 ? ", met" : ""} |`,
    );
  }
  rmSync(file);
}
