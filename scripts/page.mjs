/**
 * Builds the viewer's page (src/viewer/page) to static files that work wherever they lie: index.html, page.css, page.js, the
 * worker.js that reads for it, and what they load on demand, each under a name that holds its hash.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const source = join(dirname(dirname(fileURLToPath(import.meta.url))), "src/viewer/page");

/** Answers esbuild's account of what went where. */
export async function buildPage(outdir) {
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await esbuild.build({
    entryPoints: { page: join(source, "page.ts"), worker: join(source, "../worker.ts") },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outdir,
    chunkNames: "[name]-[hash]",
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    external: ["node:*"],
  });
  for (const name of ["index.html", "page.css"]) copyFileSync(join(source, name), join(outdir, name));
  return metafile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(process.argv[2] ?? "dist/page");
