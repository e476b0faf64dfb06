/**
 * How long `octavo info` takes on a small store, over bare node: the promise is 70 ms.
 *
 * Both are started by turns, so that whatever else the machine does falls on both; the middle of the runs counts.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const RUNS = 21;
const PROMISE = 70;

execFileSync(`${root}octavo`, ["--version"]); // builds what is old
const store = `${root}.cache/bench/startup.zarr`;
rmSync(store, { recursive: true, force: true });
mkdirSync(`${store}/c/0`, { recursive: true });
const metadata = {
  zarr_format: 3,
  node_type: "array",
  shape: [4, 4],
  data_type: "int32",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 4] } },
  chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  fill_value: 0,
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
  attributes: {},
};
writeFileSync(`${store}/zarr.json`, JSON.stringify(metadata));
writeFileSync(`${store}/c/0/0`, new Uint8Array(64));

const contenders: Record<string, readonly string[]> = {
  "node -e 0": ["-e", "0"],
  "octavo --version": ["dist/cli.cjs", "--version"],
  "octavo info": ["dist/cli.cjs", "info", store],
  "octavo get": ["dist/cli.cjs", "get", store, "--json"],
};
const times: Record<string, number[]> = {};
for (let run = 0; run < RUNS; run++) {
  for (const [name, args] of Object.entries(contenders)) {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
    times[name] = [...(times[name] ?? []), performance.now() - started];
  }
}
const middle = (name: string): number => times[name]!.sort((a, b) => a - b)[RUNS >> 1]!;
const bare = middle("node -e 0");
console.log("| command | ms | over bare node |\n|---|---|---|");
for (const name of Object.keys(contenders)) {
  console.log(`| ${name} | ${middle(name).toFixed(1)} | ${(middle(name) - bare).toFixed(1)} |`);
}
const over = middle("octavo info") - bare;
console.log(`\noctavo info starts ${over.toFixed(0)} ms after bare node; ${PROMISE} ms are promised`);
