/** Every example runs, in a process of its own, and prints what its reader expects; the page draws in a real browser. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { bundleExamples } from "../../scripts/example.mjs";
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { serveStore } from "../../src/testing/http-server.js";
import { findChromium, launch } from "../browser/chromium.js";

const examples = join(import.meta.dirname, "../../examples");
const folder = mkdtempSync(join(tmpdir(), "octavo-examples-"));
afterAll(() => rmSync(folder, { recursive: true }));

const expected: Record<string, readonly string[]> = {
  "read-over-http": [
    "1024 × 1024 of float",
    "planned: at most 4 requests",
    "read: 4 requests, under 50 kB",
    "shape 30 × 20, first value 509.9019470214844",
  ],
  "write-sharded": [
    "movie/c/0/0/0",
    "movie/c/1/0/0",
    "movie/c/2/0/0",
    "movie/zarr.json",
    "zarr.json",
    "40 × 96 × 128, last frame begins with 139 139 139 139",
  ],
  streamlines: [
    "180 vertices of 9 streamlines",
    "in the box: 1 2 3 4 5; of them 5 pieces lie inside",
    "now: 2 3 4 5 6 7 8 9",
    "valid",
  ],
  publish: [
    "some dozens of values",
    "open: 1",
    "the first of 50 vertices: at most 6",
    "the next: at most 3",
    "hundreds in a box: at most 24",
  ],
  "convert-old": [
    "12 of 12 chunks",
    "copied 12, encoded anew 0",
    'the attribute baseline is NaN, which JSON cannot express; it became the text "NaN"',
    "v0 → v3",
    "every element is the same",
  ],
  validate: ["Corrupt at memory:copy/c/1/0", "error zarr/chunk-decodes c/1/0", "fetched c/1/0 again", "valid"],
  workers: ["2 workers, 64 × 256 × 256: the same bytes"],
  "own-store": ["more than 60 behaviours shown", "row 2 is 8 9 10 11"],
};

describe("the examples", () => {
  const names = Object.keys(expected);
  beforeAll(() => bundleExamples(names, folder));

  it("are all here", () => {
    const files = readdirSync(examples).filter((name) => name.endsWith(".ts"));
    expect(files.map((name) => name.slice(0, -3)).sort()).toEqual([...names].sort());
    const readme = readFileSync(join(examples, "README.md"), "utf8");
    for (const name of files) expect(readme).toContain(`(${name})`);
  });

  it.each(names)("%s", async (name) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, `${name}.js`)]);
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toEqual(expected[name]);
  });
});

describe("the page", () => {
  const chromium = findChromium();
  const page = { bundle: true, write: false, format: "esm", outdir: "/", target: "es2022" } satisfies BuildOptions;

  it("bundles without anything of Node", async () => {
    const { outputFiles } = await build({ ...page, entryPoints: [join(examples, "browser/main.ts")], splitting: true });
    expect(outputFiles.length).toBeGreaterThan(10); // codecs are files of their own
    for (const { text } of outputFiles) expect(text).not.toMatch(/from ?"node:|import\("node:/);
  });

  // In CI there must be a browser: then launching says what is missing.
  it.skipIf(chromium === undefined && process.env.CI !== "true")("draws a plane", async () => {
    const site = memoryStore();
    const { outputFiles } = await build({
      ...page,
      entryPoints: {
        main: join(examples, "browser/main.ts"),
        worker: join(examples, "../src/worker.ts"),
      },
    });
    for (const { path, contents } of outputFiles) await site.set(Key.of(path.slice(1)), contents);
    await site.set(Key.of("index.html"), readFileSync(join(examples, "browser/index.html")));
    const array = await createArray(site, Prefix.of("image.zarr"), { shape: [2, 200, 300], dtype: "uint16" });
    await writeRegion(
      array,
      [1],
      ndarray(
        [200, 300],
        Uint16Array.from({ length: 60_000 }, (_, i) => i % 300),
      ),
    );

    const server = await serveStore(site);
    server.on = ({ url = "" }, response) => {
      const type = /\.html/.test(url) ? "text/html" : /\.js$/.test(url) ? "text/javascript" : undefined;
      if (type !== undefined) response.setHeader("content-type", type);
      return false;
    };
    const browser = await launch(chromium ?? "chromium");
    try {
      const tab = await browser.newPage();
      await tab.goto(`${server.url}/index.html?slice=1`);
      await tab.waitForFunction("document.querySelector('canvas').height === 200");
      const shown = await tab.evaluate(`[
        document.querySelector("#status").textContent,
        ...document.querySelector("canvas").getContext("2d").getImageData(299, 199, 1, 1).data,
      ]`);
      expect(shown).toEqual(["2 × 200 × 300 uint, 1 requests", 255, 255, 255, 255]);
      expect(server.log).toContain("GET /worker.js");
      await tab.goto(`${server.url}/index.html?url=nothing.zarr`);
      await tab.waitForFunction("/holds nothing/.test(document.querySelector('#status').textContent)");
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
