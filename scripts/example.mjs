#!/usr/bin/env node
/**
 * Runs an example on the sources as they are, without a build: `node scripts/example.mjs read-over-http`. What a user's
 * bundler does, esbuild does here: one file, with the worker's program beside it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bundles examples, by name, into a folder; "octavo" is src, as tsconfig.json says. */
export async function bundleExamples(names, folder) {
  await esbuild.build({
    entryPoints: [
      ...names.map((name) => ({ in: join(root, "examples", `${name}.ts`), out: name })),
      { in: join(root, "src/worker.ts"), out: "worker" },
    ],
    outdir: folder,
    tsconfig: join(root, "tsconfig.json"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outExtension: { ".js": ".js" },
    logLevel: "error",
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined) {
    console.error("usage: node scripts/example.mjs NAME arguments…");
    process.exit(2);
  }
  const folder = mkdtempSync(join(tmpdir(), "octavo-example-"));
  try {
    await bundleExamples([name.replace(/^.*\/|\.ts$/g, "")], folder);
    esbuild.stop();
    const file = join(folder, `${name}.js`);
    process.exitCode = spawnSync(process.execPath, [file, ...args], { stdio: "inherit" }).status ?? 3;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
