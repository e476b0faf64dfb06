/** LAZ and COPC in a real browser: laz-perf is loaded, and of an octree the nodes are read that a box meets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { LAYERS, OCTREE } from "../laz.js";
import { findChromium, launch } from "./chromium.js";
import { serveFile } from "./harness.js";

const chromium = findChromium();

test.skipIf(chromium === undefined && process.env.CI !== "true")(
  "a page asks LAZ and COPC over HTTP (needs Chromium on the PATH or in CHROMIUM)",
  async () => {
    if (chromium === undefined) throw new Error("CI needs Chromium on the PATH or in CHROMIUM");
    const folder = mkdtempSync(join(tmpdir(), "octavo-laz-"));
    await build({
      entryPoints: { page: join(import.meta.dirname, "laz-page.ts") },
      bundle: true,
      splitting: true,
      format: "esm",
      target: "es2022",
      outdir: folder,
      logLevel: "error",
    });
    const library = dirname(createRequire(import.meta.url).resolve("laz-perf"));
    writeFileSync(join(folder, "laz-perf.wasm"), readFileSync(join(library, "..", "web", "laz-perf.wasm")));
    writeFileSync(join(folder, "points.laz"), LAYERS);
    writeFileSync(join(folder, "octree.copc.laz"), OCTREE);
    writeFileSync(join(folder, "index.html"), '<!doctype html><script type="module" src="/page.js"></script>');
    const ranges: string[] = [];
    const server = createServer((request, response) => {
      const name = request.url === "/" ? "/index.html" : (request.url ?? "");
      if (name.endsWith(".html")) response.setHeader("content-type", "text/html");
      if (name.endsWith(".js")) response.setHeader("content-type", "text/javascript");
      if (name.endsWith(".wasm")) response.setHeader("content-type", "application/wasm");
      if (serveFile(join(folder, name), request, response) === 206) ranges.push(name);
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    const browser = await launch(chromium);
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await page.waitForFunction("globalThis.askLaz !== undefined", undefined, { timeout: 60_000 });
      expect(await page.evaluate("askLaz()")).toEqual([
        { version: "LAZ 1.4, point format 7", levels: [6], points: 6, inside: 6, requests: 1 },
        { version: "COPC, LAZ 1.4, point format 7", levels: [60, 42, 5], points: 60, inside: 5, requests: 10 },
      ]);
      expect(ranges).toContain("/octree.copc.laz");
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
