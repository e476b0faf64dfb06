/**
 * Builds the viewer's page (src/viewer/page) to static files that work wherever they lie: index.html, page.css, page.js, the
 * worker.js that reads for it, and what they load on demand, each under a name that holds its hash.
 *
 * Scripts are few, since each is a request: what page and worker share is one file, and so is what many of the parts have in
 * common that are loaded on demand. esbuild makes a file for each set of parts that share something, which are hundreds.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const source = join(dirname(dirname(fileURLToPath(import.meta.url))), "src/viewer/page");
const MANY = 8; // parts: with fewer, the first view takes more than it needs; with more, more files

export async function buildPage(outdir) {
  mkdirSync(outdir, { recursive: true });
  const page = await rolldown({
    input: { page: join(source, "page.ts"), worker: join(source, "../worker.ts") },
    external: /^node:/,
    preserveEntrySignatures: false,
    transform: { target: "es2022" },
    checks: { ineffectiveDynamicImport: false }, // other programs of the library have use for them
  });
  await page.write({
    dir: outdir,
    format: "esm",
    minify: true,
    comments: { legal: false },
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      groups: [
        { name: "core", tags: ["$initial"], minShareCount: 2 },
        { name: "shared", minShareCount: MANY },
      ],
    },
  });
  await page.close();
  for (const name of ["index.html", "page.css"]) copyFileSync(join(source, name), join(outdir, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage(process.argv[2] ?? "dist/page");
