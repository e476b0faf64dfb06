#!/usr/bin/env node
/**
 * Runs one TypeScript program of this repository: `node scripts/ts.mjs FILE.ts arguments…`; with `--bundle` before the file it
 * only makes the bundle and says where: for measurements, in which esbuild should have no part.
 *
 * The file is bundled with esbuild into .cache/ts (packages stay outside) and imported into this very process, so that
 * signals, stdin and exit codes are the program's own. The bundle's name holds a hash of its text: programs that start
 * at the same moment share it or do not touch each other.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as esbuild from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A bundled module must still find its neighbours: `import.meta` keeps speaking of the source file. */
const sourceUrls = {
  name: "source-urls",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const meta = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const contents = text.replace(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) =>
        JSON.stringify(meta[name]),
      );
      return contents === text ? undefined : { contents, loader: "ts" };
    });
  },
};

/** The path of a JavaScript file that does what the TypeScript file says. */
export async function bundle(file) {
  const result = await esbuild.build({
    entryPoints: [resolve(file)],
    absWorkingDir: root,
    outfile: join(root, ".cache/ts/out.mjs"),
    bundle: true,
    write: false,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "error",
    plugins: [sourceUrls],
  });
  const text = result.outputFiles[0].contents;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const path = join(root, ".cache/ts", `${basename(file, ".ts")}-${hash}.mjs`);
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    const partial = `${path}.${process.pid}.partial`;
    writeFileSync(partial, text);
    renameSync(partial, path);
  }
  return path;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const only = process.argv[2] === "--bundle";
  const [file, ...rest] = process.argv.slice(only ? 3 : 2);
  if (file === undefined) {
    console.error("usage: node scripts/ts.mjs [--bundle] FILE.ts arguments…");
    process.exit(2);
  }
  const path = await bundle(file).catch(() => process.exit(1)); // esbuild has printed what is wrong and where
  esbuild.stop();
  if (only) console.log(path);
  else {
    process.argv = [process.argv[0], resolve(file), ...rest];
    process.setSourceMapsEnabled(true);
    await import(pathToFileURL(path).href);
  }
}
