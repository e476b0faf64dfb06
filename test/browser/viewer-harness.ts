/**
 * The viewer's page in a real browser: built, served beside data on 127.0.0.1, told what to show by its address, and asked what it
 * drew. Pictures are small and one page shows one thing after the other: a browser that draws in software takes its time.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Camera, lensOf, project, type Vector } from "../../src/scene/camera.js";
import { createHandler, listen, pageRoute, type Route, storeRoute } from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import type { Look } from "../../src/viewer/three/object.js";
import { serveFile } from "./harness.js";

const SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];

export interface Site {
  readonly url: string;
  readonly browser: Browser;
  /** The folder of the built page. */
  readonly built: string;
  close(): Promise<void>;
}

/** The page under /page/, files of `data` under /data/, as Octavo's server has them: its policy for pages holds here too. */
export async function site(executablePath: string, data: string, more: readonly Route[] = []): Promise<Site> {
  const built = mkdtempSync(join(tmpdir(), "octavo-page-"));
  execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/page.mjs", import.meta.url)), built]);
  const routes = [pageRoute("page/", fileStore(built)), storeRoute("data/", fileStore(data)), ...more];
  const server = await listen(createHandler({ routes }));
  const args = ["--no-sandbox", "--disable-dev-shm-usage", ...SOFTWARE];
  const browser = await chromium.launch({ executablePath, args });
  return {
    url: server.url.replace(/\/$/, ""),
    browser,
    built,
    async close() {
      await browser.close();
      await server.close();
      rmSync(built, { recursive: true, force: true });
    },
  };
}

/**
 * A web server of somebody else, which serves a folder as web servers do, to pages from elsewhere or not, with ranges or without; and lists it
 * as buckets are listed.
 */
export async function stranger(folder: string, { cors = true, ranges = true } = {}): Promise<Stranger> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const path = decodeURIComponent(pathname);
    if (cors) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "range");
      response.setHeader("access-control-expose-headers", "content-length, content-range, etag");
    }
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (searchParams.has("list-type")) return void response.end(bucketList(join(folder, path), searchParams));
    if (!ranges) request.headers.range = undefined;
    const type = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" }[extname(path) || ".html"];
    if (type !== undefined) response.setHeader("content-type", type);
    serveFile(join(folder, path.endsWith("/") ? `${path}index.html` : path), request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What S3 says of the keys below a prefix, in one page. */
function bucketList(folder: string, asked: URLSearchParams): string {
  const [prefix, delimiter] = [asked.get("prefix") ?? "", asked.get("delimiter") ?? ""];
  const [keys, groups] = [[] as string[], new Set<string>()];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const key = relative(folder, join(entry.parentPath, entry.name));
    if (!entry.isFile() || !key.startsWith(prefix)) continue;
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (end < 0) keys.push(key);
    else groups.add(key.slice(0, end + 1));
  }
  const contents = keys.map(
    (key) => `<Contents><Key>${key}</Key><Size>${statSync(join(folder, key)).size}</Size></Contents>`,
  );
  const prefixes = [...groups].map((group) => `<CommonPrefixes><Prefix>${group}</Prefix></CommonPrefixes>`);
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}${prefixes.join("")}</ListBucketResult>`;
}

export interface Stranger {
  readonly url: string;
  close(): Promise<void>;
}

/** A page that shows one thing after the other. */
export interface Viewer {
  readonly page: Page;
  /** What it complained about since the last call: errors and warnings in its console. */
  complaints(): string[];
  /** Shows this, and nothing else, when it has come. */
  show(state: Shown): Promise<void>;
  /** The sentences that it says. */
  messages(): Promise<string[]>;
}

export interface Shown {
  readonly layers: readonly { readonly url: string; readonly look?: Look; readonly hidden?: boolean }[];
  readonly camera?: Camera;
  readonly unit?: string;
  readonly theme?: "dark" | "light";
}

/** The stage beside the panel is 440 by 360 pixels. */
export const SIZE = { width: 440, height: 360 };

export async function viewer({ browser, url }: Site, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Viewer> {
  const viewport = { width: SIZE.width + 320, height: SIZE.height };
  const page = await browser.newPage({ viewport, colorScheme: "dark", ...options });
  let complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    const absent = /Failed to load resource.*404/.test(text); // a store asks for what may not be there
    if (["error", "warning"].includes(message.type()) && !absent && !/GPU stall|GL Driver/i.test(text))
      complaints.push(text);
  });
  await page.goto(`${url}/page/`);
  return {
    page,
    complaints() {
      const now = complaints;
      complaints = [];
      return now;
    },
    async show(state) {
      const layers = state.layers.map((layer) => ({
        look: {},
        ...layer,
        url: layer.url.startsWith("http") ? layer.url : `../data/${layer.url}`,
      }));
      const text = JSON.stringify({ theme: "dark", ...state, layers }, (_, value) =>
        typeof value === "bigint" ? `${value}n` : value,
      );
      await page.evaluate((hash) => {
        document.body.ariaBusy = "true";
        if (location.hash === `#${hash}`) dispatchEvent(new Event("hashchange"));
        else location.hash = hash;
      }, encodeURIComponent(text));
      await settled(page);
    },
    messages: () => page.locator("#messages > div > span").allTextContents(),
  };
}

/** Waits until nothing is on its way. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.body.ariaBusy === "false", undefined, { timeout: 60_000, polling: 50 });
}

/** A file or folder of this machine, dropped on the picture as by a hand. */
export async function drop(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: SIZE.width / 2, y: SIZE.height / 2, data });
  await session.detach();
}

/** What is drawn: pixels of four bytes, rows from the top. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export async function picture(page: Page): Promise<Picture> {
  const { width, height, base64 } = await page.evaluate(() => {
    const canvas = document.querySelector("canvas")!;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d")!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let text = "";
    for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
    return { width: copy.width, height: copy.height, base64: btoa(text) };
  });
  return { width, height, pixels: Buffer.from(base64, "base64") };
}

/** Where a place is seen, in pixels of the stage. */
export function seenAt(camera: Camera, [x, y, z]: Vector, { width, height } = SIZE): { x: number; y: number } {
  const out = new Float64Array(3);
  const [tx, ty, tz] = camera.target;
  project(lensOf(camera, width, height), x - tx, y - ty, z - tz, out);
  return { x: Math.round(out[0]!), y: Math.round(out[1]!) };
}

export type Colour = readonly [red: number, green: number, blue: number];

/** The colour there that differs most from the ground, within a few pixels: lines are thin. */
export function colourAt(picture: Picture, camera: Camera, place: Vector, ground: Colour = GROUND): Colour {
  const { x, y } = seenAt(camera, place, picture);
  let best: Colour = ground;
  for (let row = y - 2; row <= y + 2; row++)
    for (let column = x - 2; column <= x + 2; column++) {
      const colour = pixel(picture, column, row);
      if (far(colour, ground) > far(best, ground)) best = colour;
    }
  return best;
}

/** What the dark page has where nothing is. */
export const GROUND: Colour = [16, 21, 28];

export const pixel = ({ width, pixels }: Picture, x: number, y: number): Colour => {
  const at = 4 * (y * width + x);
  return [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!];
};

const far = (a: Colour, b: Colour): number =>
  Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[2] - b[2]));

/** The share of pixels that are not the ground. */
export function lit({ width, height, pixels }: Picture, ground: Colour = GROUND): number {
  let count = 0;
  for (let at = 0; at < pixels.length; at += 4)
    if (far([pixels[at]!, pixels[at + 1]!, pixels[at + 2]!], ground) > 8) count++;
  return count / (width * height);
}
