/** What a page downloads to open an array: the entry with what it needs at once, and what blosc adds on demand. */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { beforeAll, expect, test } from "vitest";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

interface Output {
  readonly inputs: readonly string[];
  readonly now: readonly string[];
  readonly later: readonly string[];
  readonly gzip: number;
}
const outputs = new Map<string, Output>();

beforeAll(async () => {
  const { metafile, outputFiles } = await esbuild.build({
    stdin: {
      contents: 'import { open } from "./index.js"; globalThis.open = open;',
      resolveDir: src,
      sourcefile: "page.js",
    },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    metafile: true,
    write: false,
    outdir: "/out",
    absWorkingDir: src,
    logLevel: "error",
  });
  for (const file of outputFiles) {
    const [name, about] = Object.entries(metafile.outputs).find(([path]) =>
      file.path.endsWith(path.replace(/^.*\/out\//, "/")),
    )!;
    const to = (kind: string) => about.imports.filter((i) => i.kind === kind && !i.external).map((i) => i.path);
    outputs.set(name, {
      inputs: Object.keys(about.inputs),
      now: to("import-statement"),
      later: to("dynamic-import"),
      gzip: gzipSync(file.contents, { level: 9 }).length,
    });
  }
});

/** The files that come with these, and those that come with them. */
function closure(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    closure(outputs.get(name)!.now, found);
  }
  return found;
}

const holding = (input: RegExp): string[] =>
  [...outputs].filter(([, { inputs }]) => inputs.some((path) => input.test(path))).map(([name]) => name);
const gzipped = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + outputs.get(name)!.gzip, 0);

test("before codecs: at most 40 kB", () => {
  const entry = closure(holding(/^page\.js$/));
  expect(gzipped(entry)).toBeGreaterThan(5_000);
  expect(gzipped(entry)).toBeLessThanOrEqual(40_000);
  const eager = [...entry]
    .flatMap((name) => outputs.get(name)!.inputs)
    .filter((path) => /kernel\/([\w-]+-)?wasm|zstd-engine|fflate|draco-\w+-wasm/.test(path));
  expect(eager).toEqual([]); // what a page may never need comes later
});

test("with blosc: at most 60 kB", () => {
  const blosc = holding(/^codec\/blosc/);
  const kernel = holding(/^kernel\/wasm/);
  expect(blosc.length * kernel.length).toBeGreaterThan(0);
  const all = closure([...holding(/^page\.js$/), ...blosc, ...kernel]);
  expect(gzipped(all)).toBeLessThanOrEqual(60_000);
});
