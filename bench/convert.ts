/**
 * `npm run bench convert [CASE…]`: Octavo beside zvtools 0.3.0, nibabel and cloud-volume on the files of convert/peer.py, which lie in a cube of
 * 1000, in 8 × 8 × 8 chunks. Every run is a fresh process with workers as the command has them, timed after imports; CPU is that of all
 * threads, the peak that of the process. What takes less than 20 s is run up to three times, and the best is told. "= input" is what
 * `octavo diff` says of what Octavo wrote beside the input, or beside what the peer made of it: nibabel's TRK, cloud-volume's skeletons.
 * `npm run peers zarr-vectors-tools precomputed` puts the peers there.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Peer, pythonOf } from "../test/interop/peers.js";
import { workerUrl } from "../test/worker-url.js";
import { hash32, inputFolder } from "./zarr-vectors/inputs.js";

const root = join(import.meta.dirname, "..");
const folder = join(root, ".cache/bench/convert");
const at = (name: string): string => join(folder, name);
const CHUNK = 125;
const EDGE = 1000 * 0.01 ** (1 / 3);
const SOME_SWC = 100; // of 1000: zvtools takes as long for each

interface Result {
  readonly wall: number;
  readonly cpu: number;
  readonly peak: number;
}

interface Case {
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly options: object;
  /** Who else, and how; what it takes may stand for `times` as much. */
  readonly peers: { readonly [name: string]: () => Result };
  /** What Octavo's target must be equal to, and what may differ. */
  readonly same?: readonly [string, object];
}

const bundle = run(process.execPath, [join(root, "scripts/ts.mjs"), "--bundle", join(root, "bench/convert/octavo.ts")]);
const worker = await workerUrl();
const octavo = (what: string, source: string, target: string, options: object): string =>
  run(process.execPath, [bundle, what, source, target, JSON.stringify(options), worker.href]);
const peer =
  (name: Peer, ...args: string[]) =>
  (): Result =>
    JSON.parse(
      run(pythonOf(name), [join(root, "bench/convert/peer.py"), ...args])
        .split("\n")
        .at(-1)!,
    ) as Result;
const zvtools = (source: string, target: string, ...args: string[]): (() => Result) =>
  peer("zarr-vectors-tools", "zvtools", "convert", at(source), at(target), "--overwrite", ...args);
const chunks = `${CHUNK},${CHUNK},${CHUNK}`;
const levels = (share: number): string[] => ["--coarsen", "2,2", "--sparsity", `${share},${share}`];
const store = { to: "zarr-vectors", chunkShape: CHUNK };
const skipLevels = { ignore: ["levels"] };

const box = [300, 300, 300, 300 + EDGE, 300 + EDGE, 300 + EDGE];
const numbers = [...new Set(Array.from({ length: 1000 }, (_, i) => hash32(i, 30) % 100_000))].sort((a, b) => a - b);
const extracts = Object.entries({ "1 % box": { box }, "1,000 streamlines": { object: numbers } });

function trk(size: string): Case {
  const [source, target] = [`${size}.trk`, `${size}.octavo`];
  const args = ["--num-chunks", "8,8,8", "--apply-affine", ...levels(2)];
  return {
    name: `TRK, ${size} streamlines, 2 levels`,
    source: at(source),
    target: at(target),
    options: { ...store, pyramid: { levels: 2 } },
    peers: size === "2k" ? { "zvtools 0.3.0": zvtools(source, `${size}.zvtools`, ...args) } : {}, // more take it hours
    same: [at(source), skipLevels],
  };
}

const cases: readonly Case[] = [
  trk("2k"),
  trk("100k"),
  {
    name: "SWC, 1,000 files",
    source: at("swc"),
    target: at("swc.octavo"),
    options: store,
    peers: { [`zvtools 0.3.0, ${1000 / SOME_SWC} × ${SOME_SWC} of them`]: someSwc },
  },
  {
    name: "OBJ, 1,002,252 faces, 2 levels",
    source: at("1m.obj"),
    target: at("obj.octavo"),
    options: { ...store, pyramid: { levels: 2 } },
    peers: {
      "zvtools 0.3.0": zvtools(
        ...(["1m.obj", "obj.zvtools", "--chunk-shape", chunks, "--cross-level-storage", "none"] as const),
        ...levels(1),
      ),
    },
    same: [at("1m.obj"), skipLevels],
  },
  ...["ply", "las"].map(
    (kind): Case => ({
      name: `${kind.toUpperCase()}, 5,000,000 points`,
      source: at(`5m.${kind}`),
      target: at(`${kind}.octavo`),
      options: store,
      peers: { "zvtools 0.3.0": zvtools(`5m.${kind}`, `${kind}.zvtools`, "--chunk-shape", chunks) },
      same: [at(`5m.${kind}`), {}],
    }),
  ),
  {
    name: "100k streamlines → sharded skeletons",
    source: at("100k.octavo"),
    target: at("skeletons.octavo"),
    options: { to: "precomputed", sharded: true, resolution: [1, 1, 1] },
    peers: { "zarr-vectors 0.9.2 reads, cloud-volume 12.15.2 writes": skeletons },
    same: [at("skeletons.peer"), {}],
  },
  ...extracts.map(([what, query], i): Case => {
    const [file, target] = [at(`extract${i}.json`), at(`nibabel${i}.trk`)];
    return {
      name: `${what} of 100k → TRK`,
      source: at("100k.octavo"),
      target: at(`octavo${i}.trk`),
      options: { query },
      peers: {
        "nibabel 5.4.2, from TRK": () => {
          writeFileSync(file, JSON.stringify(query));
          return peer("zarr-vectors-tools", "extract", at("100k.trk"), target, file)();
        },
      },
      // nibabel's box has no streamlines that cross it between two vertices
      ...("object" in query && { same: [target, { ignore: ["ids"] }] as const }),
    };
  }),
];

const wanted = process.argv.slice(2);
for (const name of ["zarr-vectors-tools", "precomputed"] as const)
  if (!existsSync(pythonOf(name))) throw new Error(`no ${pythonOf(name)}: run "npm run peers ${name}"`);
const arrays = inputFolder(join(root, ".cache/bench"));
if (!existsSync(at("5m.las"))) {
  mkdirSync(folder, { recursive: true });
  peer("zarr-vectors-tools", "inputs", arrays, folder)();
}
console.log("| case | | wall s | CPU s | peak MB | Octavo / it, CPU | = input |\n|---|---|---|---|---|---|---|");
for (const { name, source, target, options, peers, same } of cases) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  const own = best(() => {
    rmSync(target, { recursive: true, force: true });
    return JSON.parse(octavo("convert", source, target, options)) as Result;
  });
  const others = Object.entries(peers).map(([who, work]) => [who, best(work)] as const);
  const report =
    same && (JSON.parse(octavo("diff", same[0], target, same[1])) as { equal: boolean; differences: object[] });
  row(
    name,
    "octavo",
    own,
    "",
    report === undefined ? "" : report.equal ? "yes" : JSON.stringify(report.differences[0]),
  );
  for (const [who, result] of others) row(name, who, result, (own.cpu / result.cpu).toPrecision(2), "");
}

function row(name: string, who: string, { wall, cpu, peak }: Result, ratio: string, equal: string): void {
  console.log(`| ${[name, who, wall.toFixed(2), cpu.toFixed(2), Math.round(peak), ratio, equal].join(" | ")} |`);
}

/** The least of each of up to three runs. */
function best(work: () => Result): Result {
  const results: Result[] = [];
  do results.push(work());
  while (results.length < 3 && results.reduce((sum, { wall }) => sum + wall, 0) < 20);
  const least = (key: keyof Result): number => Math.min(...results.map((result) => result[key]));
  return { wall: least("wall"), cpu: least("cpu"), peak: Math.max(...results.map((result) => result.peak)) };
}

function someSwc(): Result {
  rmSync(at("swc.zvtools"), { recursive: true, force: true });
  const files = readdirSync(at("swc")).sort().slice(0, SOME_SWC);
  const paths = files.map((file) => join(at("swc"), file));
  const { wall, cpu, peak } = peer("zarr-vectors-tools", "swc", ...paths, at("swc.zvtools"))();
  const times = 1000 / SOME_SWC;
  return { wall: wall * times, cpu: cpu * times, peak };
}

function skeletons(): Result {
  const [arrays, target] = [at("skeletons.npz"), at("skeletons.peer")];
  const reading = peer("zarr-vectors-tools", "skeletons-read", at("100k.octavo"), arrays)();
  mkdirSync(target, { recursive: true });
  copyFileSync(join(at("skeletons.octavo"), "info"), join(target, "info"));
  const writing = peer("precomputed", "skeletons-write", arrays, target)();
  const sum = (key: "wall" | "cpu"): number => reading[key] + writing[key];
  return { wall: sum("wall"), cpu: sum("cpu"), peak: Math.max(reading.peak, writing.peak) };
}

function run(command: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${args.join(" ").slice(0, 500)} ended with ${status}: ${stderr.slice(-1500)}`);
  return stdout.trim();
}
