/**
 * `npm run bench viewer [STREAMLINES]`: what the viewer's page costs in a real Chromium, beside a store of generated streamlines: the page
 * itself, the first picture, a close look at 1 % of the volume, and our own time on the page's thread.
 *
 * Frames cannot be judged where a processor draws them. Counted are bytes and requests, at the server; and times of the thread's own
 * clock, from Chromium's trace: what else the machine does is not in them.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { type Bounds, fitted } from "../src/scene/camera.js";
import { createHandler, listen, pageRoute, type Route, storeRoute } from "../src/server/index.js";
import { fileStore } from "../src/store/file.js";
import { findChromium, launch } from "../test/browser/chromium.js";
import { publishedStreamlines } from "../test/streamlines.js";

const SIZE = { width: 1000, height: 800 };
const PANEL = 320;
const ALL: Bounds = { min: [0, 0, 0], max: [100, 100, 100] };
const CLOSE: Bounds = { min: [40, 40, 40], max: [61.5, 61.5, 61.5] }; // 1 % of it
const FRAMES = 40;
const LATENCY = 200; // ms, of data
const CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "__metadata"];

interface Answered {
  readonly at: number;
  readonly bytes: number;
  readonly path: string;
}

/** A route that counts what it answers, each time after so many milliseconds, as a server far away. */
function counted(route: Route, latency = 0) {
  let answered: Answered[] = [];
  const answer: Route["answer"] = async (asked) => {
    if (latency > 0) await new Promise((go) => setTimeout(go, latency));
    const reply = await route.answer(asked);
    answered.push({ at: Date.now(), bytes: Number(reply.headers["content-length"] ?? 0), path: asked.rest });
    return reply;
  };
  /** Since the last time, up to a time. */
  const taken = (until = Number.POSITIVE_INFINITY): Answered[] => {
    const now = answered.filter(({ at }) => at <= until);
    answered = answered.filter(({ at }) => at > until);
    return now;
  };
  return { route: { at: route.at, answer }, taken };
}

interface Trace {
  readonly traceEvents: readonly {
    name: string;
    ph: string;
    pid: number;
    tid: number;
    tdur?: number;
    args: { name?: string };
  }[];
}

/** Milliseconds of the page's main thread, of each task and of each frame. */
function mainThread(trace: Trace) {
  const { traceEvents: events } = trace;
  const named = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const own = (name: string): number[] =>
    events
      .filter((event) => event.name === name && named.some(({ pid, tid }) => pid === event.pid && tid === event.tid))
      .map(({ tdur = 0 }) => tdur / 1000);
  return { tasks: [...own("RunTask"), ...own("ThreadControllerImpl::RunTask")], frames: own("FireAnimationFrame") };
}

const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.body.ariaBusy === "false", undefined, { timeout: 300_000, polling: 50 });

/** In the page: when a layer first said that it shows something. */
function noteFirst(): void {
  const noting = globalThis as { firstShown?: number };
  new MutationObserver(() => {
    const said = [...document.querySelectorAll(".card .quiet")].map(({ textContent }) => textContent ?? "").join(" ");
    if (/[1-9][\d,]* vertices/.test(said)) noting.firstShown ??= Date.now();
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

async function main(count: number): Promise<void> {
  const chromium = findChromium();
  if (chromium === undefined) throw new Error("this needs Chromium on the PATH or in CHROMIUM");
  const folder = mkdtempSync(join(tmpdir(), "octavo-bench-viewer-"));
  execFileSync(process.execPath, [fileURLToPath(new URL("../scripts/page.mjs", import.meta.url)), folder]);
  const store = await publishedStreamlines(count);
  const [page, data] = [
    counted(pageRoute("", fileStore(folder))),
    counted(storeRoute("data/", store, { list: false }), LATENCY),
  ];
  const server = await listen(createHandler({ routes: [page.route, data.route] }));
  const browser = await launch(chromium);
  const row = (what: string, ...found: string[]) => console.log([what, ...found].join(" | "));
  const traffic = (answered: readonly Answered[]): string =>
    `${answered.length} requests, ${(answered.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6).toFixed(2)} MB`;
  try {
    const tab = await browser.newPage({ viewport: { width: SIZE.width + PANEL, height: SIZE.height } });
    await tab.addInitScript(noteFirst);
    await tab.goto(`${server.url}/`);
    await tab.waitForLoadState("networkidle");
    const packed = (answered: readonly Answered[]): string => {
      const files = [...new Set(answered.map(({ path }) => (path === "" ? "index.html" : path)))];
      const bytes = files.map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
      return `${(bytes.reduce((sum, one) => sum + one, 0) / 1000).toFixed(0)} kB gzipped in ${files.length} files`;
    };
    row("the page, before data", packed(page.taken()));

    const show = async (bounds: Bounds): Promise<void> => {
      const camera = fitted(bounds, 30, 20, SIZE.width / SIZE.height, true);
      const state = { theme: "dark", layers: [{ url: "data/", look: {} }], camera };
      await tab.evaluate(
        (hash) => {
          document.body.ariaBusy = "true";
          location.hash = hash;
        },
        encodeURIComponent(JSON.stringify(state)),
      );
    };
    await browser.startTracing(tab, { categories: CATEGORIES });
    await show(ALL);
    await settled(tab);
    const first = data.taken(await tab.evaluate(() => (globalThis as { firstShown?: number }).firstShown));
    const rest = data.taken();
    row("its worker and what reads this store", packed(page.taken()));
    row(`${count} streamlines, first picture`, traffic(first));
    row("then, until the overview is as fine as its pixels", traffic(rest));

    const overview = fitted(ALL, 30, 20, SIZE.width / SIZE.height, true);
    const close = fitted(CLOSE, 30, 20, SIZE.width / SIZE.height, true);
    await comeCloser(tab, overview.span / close.span);
    await settled(tab);
    row("a close look at 1 % of the volume, more", traffic(data.taken()));
    const loading = mainThread(JSON.parse(String(await browser.stopTracing())) as Trace);
    row("longest task of the page's thread until then", `${Math.max(0, ...loading.tasks).toFixed(0)} ms`);

    await browser.startTracing(tab, { categories: CATEGORIES });
    await tab.mouse.move(SIZE.width / 2, SIZE.height / 2);
    await tab.mouse.down();
    for (let i = 0; i < FRAMES; i++) await tab.mouse.move(SIZE.width / 2 + 3 * i, SIZE.height / 2 + i);
    await tab.mouse.up();
    await settled(tab);
    const { frames } = mainThread(JSON.parse(String(await browser.stopTracing())) as Trace);
    const mean = frames.reduce((sum, one) => sum + one, 0) / Math.max(1, frames.length);
    row(`while it is turned, ${frames.length} frames`, `${mean.toFixed(1)} ms of our time each`);
    row("data asked for meanwhile", traffic(data.taken()));
  } finally {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By the wheel, as a hand does it. */
async function comeCloser(page: Page, times: number): Promise<void> {
  await page.mouse.move(SIZE.width / 2, SIZE.height / 2);
  for (let scale = 1; scale < times; scale *= Math.exp(0.25)) await page.mouse.wheel(0, -100);
}

await main(Number(process.argv[2] ?? 100_000));
