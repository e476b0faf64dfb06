/** The worker pool and signed S3 requests in a real browser. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { availability, versitygw } from "../servers/binary.js";
import { credentials, startVersitygw } from "../servers/versitygw.js";
import { workerUrl } from "../worker-url.js";
import { findChromium, launch } from "./chromium.js";

const chromium = findChromium();
if (chromium === undefined && process.env.CI === "true")
  throw new Error("CI needs Chromium on the PATH or in CHROMIUM");
const s3 = availability(versitygw);

describe.skipIf(chromium === undefined)("a page (needs Chromium on the PATH or in CHROMIUM)", () => {
  let browser: Browser;
  let page: Page;
  const server = createServer();
  beforeAll(async () => {
    const entryPoints = [join(import.meta.dirname, "pool-page.ts")];
    const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
    const worker = readFileSync(await workerUrl());
    const files: Record<string, Uint8Array> = { "/page.js": built.outputFiles[0]!.contents, "/worker.js": worker };
    server.on("request", (request, response) => {
      const script = files[request.url ?? ""];
      if (script !== undefined) response.setHeader("content-type", "text/javascript").end(script);
      else if (request.url === "/")
        response.setHeader("content-type", "text/html").end('<script type="module" src="/page.js"></script>');
      else response.writeHead(404).end();
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    browser = await launch(chromium!);
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction("globalThis.usePool !== undefined");
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  test("decodes in Web Workers", async () => {
    expect(await page.evaluate("usePool()")).toEqual({
      decoded: [1, 2, 3, 4],
      detached: true,
      refused: expect.stringContaining("Corrupt"),
      died: "Unsupported worker-died",
    });
  });

  test.skipIf(s3.path === undefined)(`signs requests to S3: ${s3.title}`, async () => {
    const gateway = await startVersitygw(s3.path!, ["one"]);
    try {
      const call = `useS3(${JSON.stringify(gateway.url)}, ${JSON.stringify(credentials.accessKeyId)}, ${JSON.stringify(credentials.secretAccessKey)})`;
      expect(await page.evaluate(call)).toEqual({
        whole: [1, 2, 3, 4],
        part: [2, 3],
        absent: true,
        prefixes: ["a b/"],
        size: 4,
      });
    } finally {
      await gateway.close();
    }
  });
});
