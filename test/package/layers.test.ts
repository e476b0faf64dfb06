/**
 * The direction of the layers, held: a file imports only from its own layer and from those before it, and nothing that a
 * browser can reach imports a module of Node.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const src = fileURLToPath(new URL("../../src", import.meta.url));

/** In the order in which data flow. A name is a folder or a file of src. */
const LAYERS = [
  "errors",
  "limits",
  "platform",
  "signal",
  "bytes",
  "space",
  "kernel",
  "codec",
  "store",
  "model",
  "query",
  "worker", // the pool; the tasks that it runs are loaded by name, from wherever they live
  "format",
  "formats",
  "pyramid",
  "diff",
  "open",
  "convert",
  "scene", // what pictures and the viewer share: cameras, shapes, colours
  "render",
  "stores",
  "index",
  "node",
  "server",
  "viewer",
  "testing",
  "cli",
];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly lazy: boolean;
}

const sources = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith(join("kernel", "assembly")))
  .sort();

/** Imports that are there when the program runs: `import type` is gone by then. */
function importsOf(path: string, source = readFileSync(join(src, path), "utf8")): Import[] {
  const text = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const found: Import[] = [];
  const patterns = [
    [/^\s*(?:import|export)\s+(?!type\b)[^"';]*?from\s*"([^"]+)"/gm, false],
    [/^\s*import\s*"([^"]+)"/gm, false],
    [/(?<!typeof\s)\bimport\(\s*"([^"]+)"\s*\)/g, true],
  ] as const;
  for (const [pattern, lazy] of patterns) {
    for (const match of text.matchAll(pattern)) {
      const name = match[1]!;
      const to = name.startsWith(".") ? relative(src, join(src, dirname(path), name)).replace(/\.js$/, ".ts") : name;
      found.push({ from: path, to, lazy });
    }
  }
  return found;
}

const imports = sources.flatMap((path) => importsOf(path));
const layerOf = (path: string): string => path.split("/")[0]!.replace(/\.ts$/, "");
const rank = (path: string): number => LAYERS.indexOf(layerOf(path));

describe("the layers", () => {
  test("every file belongs to one", () => {
    expect(sources.filter((path) => rank(path) < 0)).toEqual([]);
  });

  test("static, dynamic and re-exporting imports are seen, types are not", () => {
    const text = `
      import { a, type B } from "./a.js";
      import "./b.js";
      export * from "./c.js";
      const d = await import("./d.js");
      import type { E } from "./e.js";
      type F = typeof import("./f.js");
      // import "./g.js"
    `;
    expect(importsOf("store/x.ts", text).map(({ to }) => to)).toEqual(["a", "c", "b", "d"].map((n) => `store/${n}.ts`));
  });

  test("no file imports from a later one", () => {
    const backwards = imports
      .filter(
        ({ from, to, lazy }) => to.endsWith(".ts") && rank(to) > rank(from) && !(lazy && layerOf(from) === "worker"),
      )
      .map(({ from, to }) => `${from} → ${to}`);
    expect(backwards).toEqual([]);
  });

  test("nothing that a browser's entry reaches imports a module of Node", () => {
    const reached = new Set<string>();
    const queue = ["index.ts", "stores.ts", "format/zarr/index.ts", "worker.ts"].filter((path) =>
      sources.includes(path),
    );
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (reached.has(path)) continue;
      reached.add(path);
      queue.push(...imports.filter(({ from, to }) => from === path && to.endsWith(".ts")).map(({ to }) => to));
    }
    const native = imports.filter(({ from, to }) => reached.has(from) && to.startsWith("node:"));
    expect(native.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
    expect(reached).toContain("errors.ts");
  });

  test("no file is longer than 400 lines", () => {
    const long = sources.filter((path) => readFileSync(join(src, path), "utf8").split("\n").length > 401);
    expect(long).toEqual([]);
  });
});
