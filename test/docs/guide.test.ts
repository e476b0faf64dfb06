/**
 * What the pages show is true. Every ```ts block is a module that fits the types; those marked "run" run, one after another
 * in one process and one folder, and print what follows "// →".
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BuildOptions, build } from "esbuild";
import ts from "typescript";
import { afterAll, beforeAll, expect, it } from "vitest";
import { build as buildCli } from "../cli/run.js";
import { fixtures } from "../fixtures.js";
import { folderOf } from "../zarr-vectors-copy.js";
import { checkCommands, commandsOf } from "./commands.js";

const root = join(import.meta.dirname, "../..");
const pages = [
  "README.md",
  "docs/guide.md",
  "docs/stores.md",
  "docs/viewer.md",
  "docs/embedding.md",
  "docs/moving-from-zarr-vectors-py.md",
  "docs/particles.md",
  "docs/pyramids.md",
  "docs/formats/precomputed.md",
  "docs/formats/zarr-vectors.md",
]
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");
const here = join(root, ".cache/guide"); // inside the project, where its types are found
const blocks = [...pages.matchAll(/^```ts( run)?\n([\s\S]*?)^```$/gm)].map(([, run, code = ""], i) => ({
  path: join(here, `block-${i}.ts`),
  code,
  runs: run !== undefined,
}));
const folder = mkdtempSync(join(tmpdir(), "octavo-guide-"));

/** The stores that the page on zarr-vectors-py asks, by their names there. */
const stores = {
  cells: "v0.9.2/pyramid_points_objects_sparse",
  kinds: "v0.9.2/points_categorical",
  paths: "v0.9.2/polylines_2d",
  lines: "v0.9.2/lines_3d",
  graph: "v0.9.2/graph_2d",
  surfaces: "v0.9.2/mesh_two_objects",
  neuron: "v0.7.0-vlen/skeleton_3d",
  planes: "v0.9.2/parametric",
  tracts: "v0.3/streamlines_3d",
};

beforeAll(() => {
  mkdirSync(here, { recursive: true });
  for (const [name, path] of Object.entries(stores))
    cpSync(folderOf(path), join(folder, `${name}.zarrvectors`), { recursive: true });
  for (const i of [0, 1, 2]) cpSync(join(fixtures("hdf5"), `snap_010.${i}.hdf5`), join(folder, `snap_010.${i}.hdf5`));
  for (const { path, code } of blocks) writeFileSync(path, code);
  writeFileSync(join(here, "page.d.ts"), "declare function draw(values: unknown, shape: readonly number[]): void;");
});
afterAll(() => rmSync(folder, { recursive: true }));

it("fits the types", { timeout: 120_000 }, () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  const program = ts.createProgram([join(here, "page.d.ts"), ...blocks.map(({ path }) => path)], {
    ...options,
    noUnusedLocals: false,
  });
  const wrong = blocks.flatMap(({ path, code }) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => `${ts.flattenDiagnosticMessageText(messageText, "\n")} in:\n${code}`),
  );
  expect(wrong).toEqual([]);
});

it("prints what the page says", { timeout: 60_000 }, async () => {
  const running = blocks.filter(({ runs }) => runs);
  expect(running.length).toBeGreaterThan(10);
  const node = {
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
  } satisfies BuildOptions;
  const contents = running.map(({ path }) => `await import(${JSON.stringify(path)});`).join("\n");
  await build({ ...node, stdin: { contents, resolveDir: here }, tsconfig: join(root, "tsconfig.json") });
  await build({ ...node, entryPoints: [join(root, "src/worker.ts")] });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["stdin.js"], { cwd: folder });
  expect(stderr).toBe("");
  const said = running.flatMap(({ code }) => [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text));
  expect(stdout.trimEnd().split("\n")).toEqual(said);
});

it("the commands print what the page says", { timeout: 180_000 }, async () => {
  await buildCli();
  expect(commandsOf(pages).length).toBeGreaterThan(3);
  await checkCommands(pages, folder);
});
