// Compiles src/kernel/assembly (AssemblyScript) to src/kernel/wasm.ts and …-wasm.ts: the modules as base64 text, so that
// Node, browsers and bundlers need no file beside the code. `--if-stale` does nothing when they are newer than their sources
// and this script.
import { readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = `${root}src/kernel/assembly/`;
/** What is compiled from which file, with which options of its own. */
const targets = {
  "wasm.ts": "index.ts",
  "deflate-wasm.ts": "deflate.ts",
  "labels-wasm.ts": "labels.ts",
  "tree-wasm.ts": ["tree.ts", "--importMemory", "--maximumMemory", "65536"],
  "vectors-wasm.ts": "vectors.ts",
  "zstd-encode-wasm.ts": "zstd-encode.ts",
};

export async function buildKernel({ ifStale = false } = {}) {
  for (const [name, what] of Object.entries(targets)) {
    const [entry, ...own] = [what].flat();
    const target = `${root}src/kernel/${name}`;
    if (ifStale && !isStale(target)) continue;
    const { default: asc } = await import("assemblyscript/asc");
    const { error, stderr, binary } = await compile(asc, entry, own);
    if (error) throw new Error(`the kernel does not compile: ${error.message}\n${stderr}`);
    const text = Buffer.from(binary).toString("base64");
    const note = `/** Made by scripts/kernel.mjs from src/kernel/assembly/${entry}; ${binary.length} bytes. */`;
    const partial = `${target}.${process.pid}.partial`; // renamed when whole: test runs may start together
    writeFileSync(partial, `${note}\nexport const wasm =\n  "${text}";\n`);
    renameSync(partial, target);
  }
}

function isStale(target) {
  const made = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const inputs = [fileURLToPath(import.meta.url), ...readdirSync(source).map((name) => source + name)];
  return inputs.some((path) => statSync(path).mtimeMs > made);
}

async function compile(asc, entry, own) {
  let binary;
  const options = ["--outFile", "out.wasm", "-O3", "--runtime", "stub", "--use", "abort=", ...own];
  const features = ["--enable", "simd", "--enable", "bulk-memory"];
  const { error, stderr } = await asc.main(
    [`src/kernel/assembly/${entry}`, "--baseDir", root, ...options, ...features],
    {
      writeFile: (name, contents) => {
        if (name === "out.wasm") binary = contents;
      },
    },
  );
  return { error, stderr: stderr.toString(), binary };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildKernel({ ifStale: process.argv.includes("--if-stale") });
}
