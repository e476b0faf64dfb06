/**
 * The real Neuroglancer client in a headless Chromium. It comes from one server and its data from another, a plain one: files
 * with ranges and the header that lets a page of another origin read them, and nothing of Octavo's.
 *
 * `show` opens a state and waits until the viewer says that it is ready and its picture has come to rest. What it answers is
 * the picture itself, as the drawing buffer holds it, every request for data, and whatever the client complained about.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { findChromium, launch } from "../browser/chromium.js";
import { serveFile } from "../browser/harness.js";
import { Picture, SIZE } from "./picture.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const built = join(process.env.OCTAVO_PEERS ?? join(root, ".cache/peers"), "neuroglancer");

/** Why the client cannot be asked; undefined when it can. With CI=true that is a failure. */
export function missingClient(): string | undefined {
  const reason = !existsSync(join(built, "built"))
    ? `no ${built}: run "npm run peers"`
    : findChromium() === undefined
      ? "no Chromium on the PATH or in CHROMIUM"
      : undefined;
  if (reason !== undefined && process.env.CI === "true") throw new Error(reason);
  return reason;
}

export interface Asked {
  readonly path: string;
  readonly range: string;
  readonly status: number;
}

export interface Shown {
  readonly picture: Picture;
  readonly asked: readonly Asked[];
  /** What the page printed, what it threw, sources that did not load, and requests that failed. */
  readonly complaints: readonly string[];
}

export interface State {
  readonly layers: readonly { readonly name: string; readonly [member: string]: unknown }[];
  readonly [member: string]: unknown;
}

export interface Client {
  /** Where the data is, for the sources of layers. */
  readonly url: string;
  show(state: State, look?: (page: Page) => Promise<void>): Promise<Shown>;
  close(): Promise<void>;
}

/** What the client adds of its own is off; it asks for what is in view only, and draws every pixel however long that takes. */
const PLAIN = {
  showAxisLines: false,
  showScaleBar: false,
  showDefaultAnnotations: false,
  showSlices: false,
  prefetch: false,
  enableAdaptiveDownsampling: false,
  crossSectionBackgroundColor: "#000000",
  projectionBackgroundColor: "#000000",
};
/** Long enough for a worker to answer, and to ask for what it needs next. */
const REST = 250;
const PATIENCE = Number(process.env.OCTAVO_PATIENCE ?? 60_000);

/** Answers that are errors, which are told from the log of the server; and what software drivers cannot do, or do slowly. */
const EXPECTED = /^Failed to load resource: the server responded|EXT_disjoint_timer_query_webgl2|due to ReadPixels/;

const READ_PIXELS = `new Promise((resolve) => {
  const { display } = globalThis.viewer;
  display.draw(); // the buffer holds the picture until this task ends
  const { gl, canvas: { width, height } } = display;
  const pixels = new Uint8Array(4 * width * height);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.split(",")[1]);
  reader.readAsDataURL(new Blob([pixels]));
})`;

/** The layers are there, their sources have loaded or failed, and nothing in view is on its way. */
const IS_READY = (names: readonly string[]): string => `(() => {
  const layers = new Map(globalThis.viewer.layerManager.managedLayers.map(({ name, layer }) => [name, layer]));
  return ${JSON.stringify(names)}.every((name) => layers.get(name)?.dataSources.every(({ loadState }) => loadState))
    && globalThis.viewer.isReady();
})()`;

const FAILED_SOURCES = `globalThis.viewer.layerManager.managedLayers.flatMap(({ name, layer }) =>
  (layer?.dataSources ?? []).flatMap(({ loadState }) => (loadState?.error ? [name + ": " + loadState.error] : [])))`;

/** `serveData` is for data of another server than a plain one of the folder's files. */
export async function openClient(
  folder: string,
  serveData = (log: Asked[]): Promise<Served> => serve(folder, log),
): Promise<Client> {
  const asked: Asked[] = [];
  const [pages, data] = await Promise.all([serve(join(built, "dist")), serveData(asked)]);
  const browser = await launch(findChromium()!);
  return {
    url: data.url,
    async show(state, look) {
      const page = await browser.newPage({ viewport: SIZE });
      const complaints: string[] = [];
      page.on("pageerror", (error) => void complaints.push(`thrown: ${error}`));
      page.on("requestfailed", (request) => {
        const text = request.failure()?.errorText;
        if (text !== "net::ERR_ABORTED") complaints.push(`${request.url()}: ${text}`); // that is: no longer wanted
      });
      page.on("console", (line) => {
        const text = line.text(); // whatever its level: a chunk that cannot be decoded is only logged
        if (!EXPECTED.test(text)) complaints.push(`${line.type()}: ${text}`);
      });
      const from = asked.length;
      try {
        await page.goto(`${pages.url}/index.html#!${encodeURIComponent(JSON.stringify({ ...PLAIN, ...state }))}`);
        const picture = await atRest(
          page,
          IS_READY(state.layers.map(({ name }) => name)),
          () => asked.length,
          complaints,
        );
        complaints.push(...((await page.evaluate(FAILED_SOURCES)) as string[]));
        await look?.(page);
        const mine = asked.slice(from);
        for (const { status, path } of mine) if (status >= 400) complaints.push(`${status}: ${path}`);
        return { picture, asked: mine, complaints };
      } finally {
        await page.close();
      }
    },
    async close() {
      await browser.close();
      await Promise.all([pages.close(), data.close()]);
    },
  };
}

/**
 * The picture once the viewer is ready, nothing more is asked for, and it is drawn the same again. A viewer that could not
 * load something never is: what it complained about is not waited for.
 */
async function atRest(page: Page, isReady: string, requests: () => number, complaints: string[]): Promise<Picture> {
  let last: Picture | undefined;
  for (const end = Date.now() + PATIENCE; ; await page.waitForTimeout(REST)) {
    const before = requests();
    const late = Date.now() > end;
    if (!late && complaints.length === 0 && !(await page.evaluate(isReady))) continue;
    const now = new Picture(Buffer.from((await page.evaluate(READ_PIXELS)) as string, "base64"));
    if (late) complaints.push(`not ready and at rest within ${PATIENCE} ms`);
    if (late || (last?.equals(now) && requests() === before)) return now;
    last = now;
  }
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The files of a folder; what is asked for goes into the log. */
async function serve(folder: string, log: Asked[] = []): Promise<Served> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    if (path.endsWith(".html")) response.setHeader("content-type", "text/html");
    if (path.endsWith(".css")) response.setHeader("content-type", "text/css");
    if (path.endsWith(".js")) response.setHeader("content-type", "text/javascript");
    if (path.endsWith(".wasm")) response.setHeader("content-type", "application/wasm");
    response.setHeader("access-control-allow-origin", "*");
    log.push({
      path,
      range: request.headers.range ?? "",
      status: serveFile(join(folder, normalize(path)), request, response),
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
