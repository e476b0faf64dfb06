/**
 * What a user gets: packs the package, installs the tarball into an empty project, and uses it there: each entry point in
 * Node, the command, and pages in Chromium: one that reads arrays, and those of pages.ts, built by Vite and by webpack.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium } from "../browser/chromium.js";
import { runPage } from "../browser/harness.js";
import { fixtures } from "../fixtures.js";
import { checkPages } from "./pages.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "octavo-package-"));
const project = join(folder, "project");
const run = (command: string, args: readonly string[], cwd = project): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const SCRIPT = `
import { open } from "octavo/node";
import { Prefix } from "octavo";
import { memoryStore } from "octavo/stores";
import { createArray, writeRegion } from "octavo/zarr";
import * as testing from "octavo/testing";
import assert from "node:assert/strict";
const store = memoryStore();
const array = await createArray(store, Prefix.root, {
  shape: [4, 6], chunkShape: [2, 3], dtype: "int16", codecs: "blosc",
});
const values = Int16Array.from({ length: 24 }, (_, i) => i * i);
await writeRegion(array, undefined, { shape: [4, 6], dtype: array.dtype, data: new Uint8Array(values.buffer) });
const { data } = await array.read();
assert.deepEqual(new Int16Array(data.buffer, data.byteOffset, 24), values);
const golden = await open(process.argv[2]);
assert.deepEqual(golden.shape, [100, 200]);
assert.equal((await golden.read([0])).shape[0], 200);
assert.equal(typeof testing.runStoreSuite, "function");
assert.ok(import.meta.resolve("octavo/worker"));
`;

try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--silent", "--pack-destination", folder], root));
  const files: string[] = packed.files.map(({ path }: { path: string }) => path);
  const strange = files.filter(
    (path) => !/^(dist\/|package\.json$|[A-Z_]+(\.md)?$)/.test(path) || path.includes(".test."),
  );
  if (strange.length > 0) throw new Error(`the package holds ${strange.join(", ")}`);
  console.log(`packed: ${files.length} files, ${packed.size} bytes, ${packed.unpackedSize} unpacked`);

  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  writeFileSync(join(project, "use.js"), SCRIPT);
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", join(folder, packed.filename)]);
  run(process.execPath, ["use.js", join(fixtures("zarr"), "v3/gzip")]);
  console.log("Node: every entry point imports and works");

  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const said = run(join(project, "node_modules/.bin/octavo"), ["--version"]).trim();
  if (said !== version) throw new Error(`octavo --version says ${said}, expected ${version}`);
  run(join(project, "node_modules/.bin/octavo"), ["validate", "--json", join(fixtures("zarr"), "v3/gzip")]);
  console.log(`the command: octavo ${said}`);

  const chromium = findChromium();
  if (chromium !== undefined) {
    const entry = join(project, "node_modules/octavo/dist/index.js");
    const arrays = ["v3/gzip", "v3/blosc_lz4hc", "v3/sharded_zstd"];
    const { outcomes, complaints } = await runPage(chromium, entry, fixtures("zarr"), arrays);
    const errors = [
      ...complaints,
      ...outcomes.flatMap(({ path, error }) => (error === undefined ? [] : [`${path}: ${error}`])),
    ];
    if (errors.length > 0) throw new Error(`in the browser: ${errors.join("; ")}`);
    console.log(`a bundled page: ${arrays.length} arrays read in Chromium`);
  } else if (process.env.CI === "true") throw new Error("CI needs Chromium on the PATH or in CHROMIUM");
  else console.log("a bundled page: skipped, there is no Chromium");

  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--save-exact", `three@${devDependencies.three}`]);
  console.log(`pages: ${await checkPages(project, chromium)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
