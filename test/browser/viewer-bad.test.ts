/** Bad input in the viewer, in a real Chromium: what is wrong is a sentence in the page, what can be shown is shown, and text stays text. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { convert } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { columnsOf, info } from "../zarr-vectors-scenes.js";
import { findChromium } from "./chromium.js";
import { serveFile } from "./harness.js";
import { FRONT, makeStore, ON_A, pictureOf } from "./viewer-data.js";
import { colourAt, GROUND, picture, type Site, seenAt, site, type Viewer, viewer } from "./viewer-harness.js";

const chromium = findChromium();
const needed = process.env.CI === "true" || chromium !== undefined;
const data = mkdtempSync(join(tmpdir(), "octavo-bad-"));
const HTML = "<img src=x onerror=alert(1)>";
let served: Site;
let own: Viewer;
const strangers: Server[] = [];

/** A web server of somebody else. */
async function stranger(answer: (path: string) => { cors: boolean; ranges: boolean }): Promise<string> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const { cors, ranges } = answer(path);
    if (cors) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "range");
      response.setHeader("access-control-expose-headers", "content-length, content-range");
    }
    if (request.method === "OPTIONS") response.writeHead(204).end();
    else {
      if (!ranges) request.headers.range = undefined;
      serveFile(join(data, path), request, response);
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  strangers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  if (!needed) return;
  const at = (name: string): string => join(data, name);
  [served] = await Promise.all([site(chromium!, data), makeStore(at("fibres.zv"), "streamlines", "nanometer")]);
  cpSync(at("fibres.zv"), at("damaged.zv"), { recursive: true });
  const chunks = readdirSync(at("damaged.zv/0/vertices"), { recursive: true, encoding: "utf8" })
    .filter((name) => /^c\b/.test(name) && statSync(at(`damaged.zv/0/vertices/${name}`)).isFile())
    .sort();
  writeFileSync(at(`damaged.zv/0/vertices/${chunks.at(-1)!}`), "not a chunk"); // the upper end of B
  const writer = await createZarrVectors(fileStore(at("html.zv")), Prefix.root, {
    geometry: "streamlines",
    dims: 3,
    chunkShape: 100,
  });
  await writer.add({
    ...pictureOf("streamlines"),
    vertexColumns: new Map(),
    objectColumns: columnsOf([info(HTML, { kind: "string" }), [`${HTML}A`, "<b>B</b>"]]),
  });
  await writer.commit();
  mkdirSync(at("huge.zv"));
  writeFileSync(at("huge.zv/zarr.json"), `{"zarr_format": 3, "x": "${"x".repeat(96 << 20)}"}`);
  writeFileSync(at("words.bin"), "nothing that anybody knows");
  await makeStore(at("points.zv"), "points", "nanometer");
  await convert(at("points.zv"), at("points.ptree"));
  cpSync(at("points.ptree"), at("large.ptree"));
  truncateSync(at("large.ptree"), 9 << 20);
  own = await viewer(served);
}, 180_000);
afterAll(async () => {
  await served?.close();
  for (const server of strangers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(data, { recursive: true, force: true });
});

/** What the page says of an address; the browser's own complaints about refused requests are its business. */
async function said(url: string): Promise<string> {
  await own.show({ layers: [{ url }], camera: FRONT });
  const messages = await own.messages();
  own.complaints();
  expect(messages).toHaveLength(1);
  return messages[0]!;
}

describe.skipIf(!needed)(
  "bad input in the viewer (needs Chromium on the PATH or in CHROMIUM)",
  { timeout: 120_000 },
  () => {
    test("of a store that is damaged in one chunk the rest is shown, and what is missing is said", async () => {
      await own.show({ layers: [{ url: "damaged.zv", look: { mark: 5 } }], camera: FRONT });
      const drawn = await picture(own.page);
      expect(colourAt(drawn, FRONT, ON_A)[0]).toBeGreaterThan(180);
      expect(colourAt(drawn, FRONT, [70, 0, 60])[2]).toBeGreaterThan(180);
      expect(colourAt(drawn, FRONT, [70, 0, 79])).toEqual(GROUND);
      expect(await own.messages()).toEqual([expect.stringMatching(/damaged\.zv\/0\/vertices\/c\/2\/0\/3.*zstd/)]);
      expect(await own.page.locator(".card [role=status]").textContent()).toMatch(/1 damaged chunk is missing/);
      expect(own.complaints()).toEqual([]);
    });

    test("nothing there, nothing known, no geometry, too much", async () => {
      expect(await said("nothing.zv")).toMatch(/nothing\.zv holds nothing that is/);
      expect(await said("words.bin")).toMatch(/words\.bin/);
      expect(await said("fibres.zv/0/vertices")).toMatch(/fibres\.zv\/0\/vertices/);
      expect(await said("huge.zv")).toMatch(/huge\.zv\/zarr\.json.*(limit|more than|at most)/);
      expect(await own.page.locator(".empty strong").textContent()).toBe("Drop a file or a folder here");
    });

    test("servers that let no page read, that are not there, that have no ranges", async () => {
      const closed = await stranger(() => ({ cors: false, ranges: true }));
      expect(await said(`${closed}/fibres.zv`)).toMatch(/fibres\.zv\/zarr\.json.*CORS/);
      expect(await said("http://127.0.0.1:9/fibres.zv")).toMatch(/127\.0\.0\.1:9\/fibres\.zv/);
      // Of a server without ranges a value is read whole for a part of it, up to 8 MiB; beyond that it is said.
      const whole = await stranger(() => ({ cors: true, ranges: false }));
      await own.show({ layers: [{ url: `${whole}/points.ptree`, look: { mark: 8 } }], camera: FRONT });
      expect(await own.messages()).toEqual([]);
      expect(colourAt(await picture(own.page), FRONT, ON_A)).not.toEqual(GROUND);
      expect(await said(`${whole}/large.ptree`)).toBe(
        `${whole}/large.ptree was asked for bytes=0-7 and answered with the whole value of ${9 << 20} bytes. ` +
          "use a server that answers Range requests, or copy the data first",
      );
    });

    test("names and values with HTML are text", async () => {
      let alerted = false;
      own.page.on("dialog", (dialog) => {
        alerted = true;
        void dialog.dismiss();
      });
      await own.show({ layers: [{ url: "html.zv", look: { mark: 5, color: `object.${HTML}` } }], camera: FRONT });
      await expect.poll(() => own.page.locator(".kinds li").allTextContents()).toEqual([`${HTML}A`, "<b>B</b>"]);
      const { x, y } = seenAt(FRONT, ON_A);
      await own.page.mouse.click(x, y);
      await expect.poll(() => own.page.locator("#panel td").allTextContents()).toContain(`${HTML}A`);
      expect(await own.page.locator("#panel th").allTextContents()).toContain(HTML);
      expect(await own.page.locator("#panel img, #panel b, #messages img").count()).toBe(0);
      await own.show({ layers: [{ url: `${HTML}.zv` }] });
      expect(await own.page.locator("#messages img").count()).toBe(0);
      expect(alerted).toBe(false);
      expect(own.complaints()).toEqual([]);
    });

    test("an address that is damaged", async () => {
      await own.page.evaluate(() => {
        location.hash = "%7Bbroken";
      });
      await expect.poll(own.messages).toEqual([expect.stringMatching(/^The address of this page is damaged/)]);
    });
  },
);
