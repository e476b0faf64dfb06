/** The viewer reads in a worker: what the page's own thread still does, and what is left when it goes, in a real browser. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Camera } from "../../src/scene/camera.js";
import { PAGE_POLICY, pageRoute } from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import { Key, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { publishedStreamlines } from "../streamlines.js";
import { findChromium } from "./chromium.js";
import { tasksDuring } from "./tasks.js";
import { makeStore } from "./viewer-data.js";
import { colourAt, GROUND, picture, type Site, settled, site, viewer } from "./viewer-harness.js";

const chromium = findChromium();
if (chromium === undefined && process.env.CI === "true")
  throw new Error("CI needs Chromium on the PATH or in CHROMIUM");

/** The page of embed-page.ts, beside that of the viewer, whose worker it uses. */
async function embedding() {
  const source = fileURLToPath(new URL("embed-page.ts", import.meta.url));
  const options = { bundle: true, splitting: true, format: "esm", target: "es2022", logLevel: "error" } as const;
  const built = await build({ ...options, entryPoints: [source], outdir: "/", write: false });
  const store = memoryStore();
  const html =
    '<!doctype html><div id="app" style="width:320px;height:240px"></div><script type="module" src="embed-page.js">';
  await store.set(Key.of("index.html"), new TextEncoder().encode(`${html}</script>`));
  for (const { path, contents } of built.outputFiles) await store.set(Key.of(path.slice(1)), contents);
  return store;
}

describe.skipIf(chromium === undefined)("the viewer's worker (needs Chromium on the PATH or in CHROMIUM)", () => {
  const data = mkdtempSync(join(tmpdir(), "octavo-viewer-worker-"));
  let own: Site;
  beforeAll(async () => {
    await publishedStreamlines(100_000, fileStore(join(data, "tracts.zv")));
    const far = await createZarrVectors(fileStore(join(data, "far.zv")), Prefix.root, {
      geometry: "points",
      dims: 3,
      chunkShape: 10,
      dtype: "float64",
    });
    await far.add({ positions: Float64Array.of(FAR, FAR, FAR, FAR + 0.5, FAR, FAR, FAR + 2, FAR, FAR) });
    await far.commit();
    const page = await embedding();
    const forbidding = { "content-security-policy": PAGE_POLICY.replace(/worker-src [^;]*/, "worker-src 'none'") };
    own = await site(chromium!, data, [pageRoute("embed/", page), pageRoute("strict/", page, forbidding)]);
  }, 240_000);
  afterAll(async () => {
    await own?.close();
    rmSync(data, { recursive: true, force: true });
  });

  async function embedded<T>(at: string, act: (page: Page, data: string) => Promise<T>): Promise<T> {
    const page = await own.browser.newPage();
    try {
      await page.goto(`${own.url}/${at}/`);
      await page.waitForFunction("globalThis.mounted !== undefined");
      return await act(page, `${own.url}/data/`);
    } finally {
      await page.close();
    }
  }

  test("100,000 streamlines are opened and zoomed into: no task of the page's thread takes 50 ms of the processor", async () => {
    const view = await viewer(own, { viewport: { width: 1320, height: 800 } });
    const busy = await tasksDuring(own.browser, view.page, async () => void (await view.page.evaluate(spin)));
    expect(busy[0]).toBeGreaterThan(50); // the measure itself: such a task is seen
    const tasks = await tasksDuring(own.browser, view.page, async () => {
      await view.show({ layers: [{ url: "tracts.zv" }] });
      await view.page.mouse.move(500, 400);
      for (let i = 0; i < 8; i++) {
        await view.page.mouse.wheel(0, -240);
        await view.page.waitForTimeout(50);
      }
      await view.page.waitForTimeout(300);
      await settled(view.page);
    });
    expect(await view.page.locator(".card").allTextContents()).toEqual([expect.stringMatching(/, level 0/)]);
    expect(view.page.workers().map((worker) => worker.url())).toEqual([`${own.url}/page/worker.js`]);
    expect(tasks.length).toBeGreaterThan(100);
    expect(tasks[0]).toBeLessThan(50);
    expect([await view.messages(), view.complaints()]).toEqual([[], []]);
    await view.page.getByRole("button", { name: "Remove tracts.zv" }).click();
    await expect.poll(() => view.page.workers().length).toBe(0);
    await view.page.close();
  }, 180_000);

  test("the page takes at most 250 kB, packed, before it asks for data: its worker is in it", async () => {
    const page = await own.browser.newPage();
    const asked: string[] = [];
    page.context().on("request", (request) => void asked.push(request.url()));
    await page.goto(`${own.url}/page/?url=../data/far.zv`);
    const first = (): number => asked.findIndex((url) => url.startsWith(`${own.url}/data/`));
    await expect.poll(first, { timeout: 30_000 }).toBeGreaterThan(0);
    await page.close();
    const before = asked.slice(0, first());
    expect(before).toContain(`${own.url}/page/worker.js`);
    let bytes = 0;
    for (const url of new Set(before)) bytes += gzipSync(new Uint8Array(await (await fetch(url)).arrayBuffer())).length;
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThanOrEqual(250_000);
  }, 120_000);

  test("what lies far from the origin of space is seen where it is", async () => {
    const view = await viewer(own);
    const camera: Camera = { target: [FAR + 1, FAR, FAR], azimuth: 0, elevation: 0, span: 4, perspective: true };
    await view.show({ layers: [{ url: "far.zv", look: { color: "#ffffff", mark: 9 } }], camera });
    const seen = await picture(view.page);
    for (const x of [0, 0.5, 2]) expect(colourAt(seen, camera, [FAR + x, FAR, FAR])[0]).toBeGreaterThan(150);
    for (const x of [0.25, 1, 1.5]) expect(colourAt(seen, camera, [FAR + x, FAR, FAR])).toEqual(GROUND);
    await view.page.close();
  }, 120_000);

  test("a page of one's own: its fetch is asked, its worker ends with it, and nothing is left", async () => {
    await embedded("embed", async (page, url) => {
      const started: string[] = [];
      page.on("worker", (worker) => void started.push(worker.url()));
      const shown = await page.evaluate(`mounted("../data/tracts.zv")`);
      expect(shown).toMatchObject({ level: 2, vertices: 50_000, after: 0, errors: 0, left: 0 });
      const { through, traffic, progress } = shown as {
        through: number;
        traffic: { requests: number };
        progress: number;
      };
      expect([through > 3, traffic.requests === through, progress > 1]).toEqual([true, true, true]);
      expect(started).toEqual([`${own.url}/page/worker.js`]);
      await expect.poll(() => page.workers().length).toBe(0);
      const outcome = await page.evaluate(`aborted(${JSON.stringify(`${url}tracts.zv`)})`);
      expect(outcome).toEqual({ outcome: expect.stringMatching(/enough|abort/i), left: 0 });
      await expect.poll(() => page.workers().length).toBe(0);
    });
  }, 120_000);

  test("a scene of one's own: the graphics card gets back what it held", async () => {
    const { shown, near, left, children } = (await embedded("embed", (page, url) =>
      page.evaluate(`inScene(${JSON.stringify(`${url}tracts.zv`)})`),
    )) as Awaited<ReturnType<typeof scene>>;
    expect(shown.geometries).toBeGreaterThan(0);
    expect(shown.lines).toBeGreaterThan(10_000);
    expect(near.level).toBeLessThan(2);
    expect([left.geometries, left.textures, children]).toEqual([0, 0, 0]);
  }, 120_000);

  test("what is mounted together lies in one space, in the unit of the first", async () => {
    await makeStore(join(data, "near.zv"), "streamlines", "micrometer");
    await makeStore(join(data, "same.zv"), "mesh", "nanometer", 1000);
    const told = await embedded("embed", (page) =>
      page.evaluate(`together("../data/near.zv", "../data/same.zv", "../data/far.zv")`),
    );
    const thousandth = [0.001, 0.001, 0.001];
    expect(told).toMatchObject({
      unit: "micrometer",
      layers: [
        { factor: [1, 1, 1] },
        { factor: thousandth, scale: thousandth },
        { factor: [1, 1, 1] }, // without a unit
      ],
      bounds: { min: [10, 0, 20], max: [FAR + 2, FAR, FAR] },
    });
  }, 60_000);

  test.each([
    ["the program is not there", "embed", "/page/nowhere.js"],
    ["a policy forbids it", "strict", undefined],
    ["the page wants none", "embed", false],
  ] as const)(
    "without a worker the page's thread does it: %s",
    async (_, at, worker) => {
      await embedded(at, async (page, url) => {
        const shown = await page.evaluate(`mounted(${JSON.stringify(`${url}tracts.zv`)}, ${JSON.stringify(worker)})`);
        expect(shown).toMatchObject({ level: 2, vertices: 50_000, errors: 0, left: 0 });
        expect(page.workers()).toEqual([]);
      });
    },
    60_000,
  );
});

const FAR = 1e9;

/** Work for longer than any task should take, whatever else the machine does. */
function spin(): number {
  let sum = 0;
  for (let i = 0; i < 3e8; i++) sum = Math.sqrt(sum + i);
  return sum;
}

/** What embed-page.ts answers. */
declare function scene(): Promise<{
  shown: { geometries: number; textures: number; lines: number };
  near: { level: number };
  left: { geometries: number; textures: number };
  children: number;
}>;
