/**
 * Bundles test/browser/page.ts against a given Octavo (the sources', or an installed package's entry), serves it beside the
 * golden data on 127.0.0.1, and answers what the page left behind.
 */
import { createReadStream, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { launch } from "./chromium.js";
import type { Outcome } from "./page.js";

const here = fileURLToPath(new URL(".", import.meta.url));

export interface PageRun {
  readonly outcomes: readonly Outcome[];
  /** Answers by status, data only: `206` shows that ranges were asked for. */
  readonly statuses: readonly number[];
  /** What the page printed as an error, and requests that failed. */
  readonly complaints: readonly string[];
}

export async function runPage(
  chromium: string,
  octavo: string,
  data: string,
  arrays: readonly string[],
): Promise<PageRun> {
  const built = await esbuild.build({
    entryPoints: [join(here, "page.ts")],
    plugins: [
      { name: "octavo", setup: (build) => build.onResolve({ filter: /src\/index\.js$/ }, () => ({ path: octavo })) },
    ],
    bundle: true,
    splitting: true, // as a real page: codecs are files of their own, asked for on demand
    format: "esm",
    target: "es2022",
    outdir: "/",
    write: false,
    logLevel: "error",
  });
  const files = new Map(built.outputFiles.map((file) => [normalize(file.path), file.contents]));
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const script = files.get(normalize(path));
    if (path === "/") send(response, "text/html", '<!doctype html><script type="module" src="/page.js"></script>');
    else if (script !== undefined) send(response, "text/javascript", script);
    else if (path === "/favicon.ico") response.writeHead(204).end();
    else statuses.push(serveFile(join(data, normalize(path)), request, response));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const browser = await launch(chromium);
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => void complaints.push(String(error)));
    const query = new URLSearchParams(arrays.map((path) => ["array", path]));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?${query}`);
    await page.waitForFunction("globalThis.outcomes !== undefined", undefined, { timeout: 60_000 });
    return { outcomes: (await page.evaluate("globalThis.outcomes")) as Outcome[], statuses, complaints };
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

function send(response: ServerResponse, type: string, body: string | Uint8Array): void {
  response.writeHead(200, { "content-type": type }).end(body);
}

/** GET and HEAD with one range, as any web server does it. */
export function serveFile(path: string, request: IncomingMessage, response: ServerResponse): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) {
    response.writeHead(404).end();
    return 404;
  }
  const match = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  const [, from = "", to = ""] = match ?? [];
  const start = from === "" && match !== null ? Math.max(0, found.size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? found.size - 1 : Math.min(found.size - 1, Number(to));
  const status = match === null ? 200 : start > end ? 416 : 206;
  const headers = { "accept-ranges": "bytes", etag: `"${found.size}-${found.mtimeMs}"` };
  if (status === 416) {
    response.writeHead(416, { ...headers, "content-range": `bytes */${found.size}` }).end();
    return status;
  }
  response.writeHead(status, {
    ...headers,
    "content-length": end - start + 1,
    ...(status === 206 ? { "content-range": `bytes ${start}-${end}/${found.size}` } : {}),
  });
  if (request.method === "HEAD" || end < start) response.end();
  else createReadStream(path, { start, end }).pipe(response);
  return status;
}
