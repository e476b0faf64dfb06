/** The viewer's page in a real browser: built, served beside data on 127.0.0.1, opened, and asked what it drew. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launch } from "./chromium.js";
import { serveFile } from "./harness.js";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export interface Site {
  readonly url: string;
  readonly browser: Browser;
  /** Requests for data since the last call, by path. */
  asked(): string[];
  close(): Promise<void>;
}

/** The page under /page/, files of `data` under /data/. */
export async function site(chromium: string, data: string): Promise<Site> {
  const page = mkdtempSync(join(tmpdir(), "octavo-page-"));
  execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/page.mjs", import.meta.url)), page]);
  let asked: string[] = [];
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname));
    if (path.startsWith("/data/")) {
      asked.push(path);
      serveFile(join(data, path.slice(6)), request, response);
    } else if (path.startsWith("/page/")) {
      try {
        const file = join(page, path === "/page/" ? "index.html" : path.slice(6));
        response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
        response.end(readFileSync(file));
      } catch {
        response.writeHead(404).end();
      }
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const browser = await launch(chromium);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    browser,
    asked() {
      const now = asked;
      asked = [];
      return now;
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      server.close();
      rmSync(page, { recursive: true, force: true });
    },
  };
}

/** A page, and whatever it complains about: errors, warnings, requests for what is not there are data's own business. */
export async function opened(site: Site, address: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await site.browser.newPage({ viewport: { width: 1100, height: 700 }, colorScheme: "dark" });
  const complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    const absent = /Failed to load resource.*404/.test(text); // a store asks for what may not be there
    if (["error", "warning"].includes(message.type()) && !absent && !/GPU stall|swiftshader|GL Driver/i.test(text))
      complaints.push(text);
  });
  await page.goto(address);
  return { page, complaints };
}

/** Waits until a layer says how much it shows, and nothing is loading. */
export async function settled(page: Page, layers = 1): Promise<void> {
  await page.waitForFunction(
    (count) => {
      const cards = [...document.querySelectorAll(".card > .quiet:last-child")].map((own) => own.textContent ?? "");
      return cards.length >= count && cards.every((text) => /vertices/.test(text) && !/loading/.test(text));
    },
    layers,
    { timeout: 60_000 },
  );
  await page.waitForTimeout(400); // the frame that draws it
}

/** The share of pixels of the canvas by a test of their colour. */
export function share(page: Page, test: (red: number, green: number, blue: number) => boolean): Promise<number> {
  return page.evaluate((source) => {
    const is = new Function(`return ${source}`)() as (r: number, g: number, b: number) => boolean;
    const canvas = document.querySelector("canvas")!;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d")!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (is(data[at]!, data[at + 1]!, data[at + 2]!)) count++;
    return count / (data.length / 4);
  }, test.toString());
}
