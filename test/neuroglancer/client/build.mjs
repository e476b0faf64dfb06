/**
 * Builds the real Neuroglancer client into a folder, once per what it is built from: its packages exactly as locked here, then
 * the page, its two workers and their WebAssembly side by side, which is where each looks for the other.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const sources = ["package.json", "package-lock.json", ".npmrc", "nothing", "page.js"];
const workers = ["chunk_worker.bundle.js", "async_computation.bundle.js"];
const wasm = [
  "mesh/draco/neuroglancer_draco",
  "sliceview/png/libpng",
  "sliceview/compresso/compresso",
  "sliceview/jxl/jxl_decoder",
];
const html =
  '<!doctype html><meta charset="utf-8"><title>Neuroglancer</title><link rel="icon" href="data:,">' +
  '<link rel="stylesheet" href="page.css"><style>body,#neuroglancer-container{margin:0;width:100vw;height:100vh}</style>' +
  '<div id="neuroglancer-container"></div><script type="module" src="page.js"></script>';

/** Icons are left out: they come from a package that is on no registry in the version that is asked for. */
const icons = {
  name: "icons",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ikonate\// }, ({ path }) => ({ path, namespace: "icon" }));
    onLoad({ filter: /./, namespace: "icon" }, () => ({ contents: "<svg></svg>", loader: "text" }));
  },
};

export async function buildClient(folder) {
  const hash = createHash("sha256");
  for (const file of ["build.mjs", "package-lock.json", "page.js"]) hash.update(readFileSync(join(here, file)));
  const wanted = hash.digest("hex");
  const mark = join(folder, "built"); // written last: an interrupted build is made again
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  rmSync(folder, { recursive: true, force: true });
  for (const name of sources) cpSync(join(here, name), join(folder, name), { recursive: true });
  // It asks for Node 22 to be developed with; its files are built by any.
  const flags = ["--engine-strict=false", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", ["ci", ...flags], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) throw new Error(`npm ci in ${folder} ended with ${npm.status ?? npm.error?.message}`);
  const lib = join(folder, "node_modules/neuroglancer/lib");
  await build({
    entryPoints: [join(folder, "page.js"), ...workers.map((file) => join(lib, file))],
    entryNames: "[name]",
    outdir: join(folder, "dist"),
    bundle: true,
    format: "esm",
    target: "es2022",
    plugins: [icons],
    logLevel: "error",
  });
  for (const file of wasm) copyFileSync(join(lib, `${file}.wasm`), join(folder, "dist", `${basename(file)}.wasm`));
  writeFileSync(join(folder, "dist/index.html"), html);
  rmSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(mark, wanted);
}
