/** A worker's program for tests, bundled as scripts/build.mjs bundles dist/worker.js, into .cache. */
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

export async function workerUrl(entry = "src/worker.ts"): Promise<URL> {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    logLevel: "error",
  });
  const { contents } = outputFiles[0]!;
  const name = createHash("sha256").update(contents).digest("hex").slice(0, 16);
  const path = join(root, ".cache", "workers", `${name}.js`);
  mkdirSync(join(root, ".cache", "workers"), { recursive: true });
  writeFileSync(`${path}.${process.pid}.partial`, contents);
  renameSync(`${path}.${process.pid}.partial`, path); // tests run beside each other
  return pathToFileURL(path);
}
