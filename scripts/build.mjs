#!/usr/bin/env node
/**
 * Builds dist: the WASM kernel and Draco, one JavaScript file and one declaration per module (tsc), and the bundles (esbuild).
 *
 *   dist/command.cjs the command: ONE file, whose verbs are functions that run when they are called for; opening more files
 *                    costs more at start-up than skipping their text. CommonJS, because in an ES module the imports of
 *                    every verb (node:http, node:crypto …) would be loaded before the first line runs
 *   dist/cli.cjs     what starts it (src/cli/start.ts), from what V8 kept of an earlier run
 *   dist/hdf5.cjs    h5wasm, 4 MB of text that the command requires when it meets an HDF5 file
 *   dist/laz.cjs     laz-perf, and its WASM beside it, for files of LAZ
 *   dist/page        the viewer's web page: static files that work wherever they lie (scripts/page.mjs)
 *   dist/worker.js   what a worker thread runs: one file, so that a page can start it from one URL
 *
 * `--cli` builds the bundles and the page only: what the launcher needs on first use, in two seconds instead of ten.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { buildPage } from "./page.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bundlesOnly = process.argv.includes("--cli");
const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: "inherit" });
const packageJson = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

async function bundle(source, target, options) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(root, source)],
    outfile: join(root, target),
    bundle: true,
    write: false,
    format: "esm",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true, // half the text to read at start-up; names stay, for stack traces
    logLevel: "error",
    ...options,
  });
  // Written beside, then renamed: whoever starts it now gets the old file or the new one, whole.
  const partial = join(root, `${target}.${process.pid}.partial`);
  mkdirSync(dirname(partial), { recursive: true });
  writeFileSync(partial, outputFiles[0].contents);
  chmodSync(partial, 0o755);
  renameSync(partial, join(root, target));
  return outputFiles[0].contents;
}

node("scripts/kernel.mjs", "--if-stale");
node("scripts/draco.mjs", "--if-stale");
// A whole build is made beside dist and takes its place at the end: who runs the command meanwhile has the old one.
const dist = bundlesOnly ? "dist" : `.cache/dist-${process.pid}`;
if (!bundlesOnly) node("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", dist);
await bundle("src/worker.ts", `${dist}/worker.js`, {
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2022",
});
const cjs = { format: "cjs", platform: "node", target: "node20" };
// The command is compiled by vm.Script, where import() of a package does not work: it becomes require of a file beside it.
const beside = {
  h5wasm: {
    file: "hdf5.cjs",
    entry: "node_modules/h5wasm/dist/esm/hdf5_hl.js",
    charset: "utf8", // its WASM is a text of characters that escapes would make half as long again
    define: { "import.meta.url": "undefined" }, // and so it looks for no file
  },
  "laz-perf": { file: "laz.cjs", entry: "node_modules/laz-perf/lib/node/index.js" },
};
const packagesBeside = {
  name: "packages-beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`^(${Object.keys(beside).join("|")})$`) }, ({ path }) => ({
      path: `./${beside[path].file}`,
      external: true,
    })),
};
for (const { file, entry, ...options } of Object.values(beside))
  await bundle(entry, `${dist}/${file}`, { ...cjs, ...options });
copyFileSync(join(root, "node_modules/laz-perf/lib/node/laz-perf.wasm"), join(root, dist, "laz-perf.wasm"));
const command = await bundle("src/cli/main.ts", `${dist}/command.cjs`, {
  ...cjs,
  plugins: [packagesBeside],
  supported: { "dynamic-import": false },
  define: { OCTAVO_VERSION: JSON.stringify(packageJson.version), "import.meta.url": "OCTAVO_URL" },
  banner: { js: `const OCTAVO_URL=require("node:url").pathToFileURL(__filename).href;` },
});
// A two-byte text takes twice the time and memory to read: esbuild escapes all but regular expressions.
if (command.some((byte) => byte > 127)) throw new Error("a regular expression in the command is not ASCII");
await bundle("src/cli/start.ts", `${dist}/cli.cjs`, {
  ...cjs,
  define: { OCTAVO_BUILD: JSON.stringify(createHash("sha256").update(command).digest("hex").slice(0, 16)) },
  banner: { js: "#!/usr/bin/env node" },
});
const page = `.cache/page-${process.pid}`;
await buildPage(join(root, page));
esbuild.stop();
replace(page, `${dist}/page`);
if (!bundlesOnly) replace(dist, "dist");

/** A folder takes the place of another. */
function replace(made, place) {
  const old = `${made}-old`;
  if (existsSync(join(root, place))) renameSync(join(root, place), join(root, old));
  renameSync(join(root, made), join(root, place));
  rmSync(join(root, old), { recursive: true, force: true });
}
