/** HDF5 in a real browser: a snapshot is asked, and neither damage nor a crash of the library is the end. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { findChromium, launch } from "./chromium.js";

const chromium = findChromium();

test.skipIf(chromium === undefined && process.env.CI !== "true")(
  "a page asks a snapshot over HTTP (needs Chromium on the PATH or in CHROMIUM)",
  async () => {
    if (chromium === undefined) throw new Error("CI needs Chromium on the PATH or in CHROMIUM");
    const entryPoints = [join(import.meta.dirname, "snapshot-page.ts")];
    const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
    const whole = readFileSync(join(fixtures("hdf5"), "swift.hdf5"));
    const files: Record<string, [type: string, body: string | Uint8Array]> = {
      "/": ["text/html", '<script type="module" src="/page.js"></script>'],
      "/page.js": ["text/javascript", built.outputFiles[0]!.contents],
      "/swift.hdf5": ["application/x-hdf5", whole],
      "/cut.hdf5": ["application/x-hdf5", whole.subarray(0, 3000)],
    };
    const server = createServer((request, response) => {
      const [type, body] = files[request.url ?? ""] ?? [];
      if (type === undefined) response.writeHead(404).end();
      else response.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(body!) }).end(body);
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    const browser = await launch(chromium);
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await page.waitForFunction("globalThis.askSnapshot !== undefined", undefined, { timeout: 60_000 });
      const turn = [
        "Corrupt: it is odd: the HDF5 library crashed on it (memory access out of bounds)",
        expect.stringMatching(/^Corrupt: \/cut.hdf5 is not a whole HDF5 file: truncated file/),
        6,
      ];
      expect(await page.evaluate("askSnapshot()")).toEqual([...turn, ...turn]);
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
  },
  120_000,
);
