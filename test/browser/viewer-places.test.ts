/** Where the page and its data may lie, in a real Chromium: any folder of any web server, a public bucket. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { FRONT, makeStore, ON_A, ON_B } from "./viewer-data.js";
import { colourAt, picture, settled, stranger, viewer } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const { data, own, served, suite } = viewerTests(async (data) => {
  await makeStore(join(data, "fibres.zv"), "streamlines", "millimeter");
});

const both = async (page = own.page) => {
  const drawn = await picture(page);
  return { a: colourAt(drawn, FRONT, ON_A), b: colourAt(drawn, FRONT, ON_B) };
};
const DRAWN = { a: [255, 0, 0], b: [0, 0, 255] };

suite("the viewer, wherever it lies", () => {
  test("a public bucket is typed into the page, and nothing is signed", async () => {
    const { url, close } = await stranger(data);
    const asked: string[] = [];
    const bucket = async (route: Route): Promise<void> => {
      const request = route.request();
      const headers = await request.allHeaders();
      const { host, pathname, search } = new URL(request.url());
      asked.push(`${host} ${headers.authorization ?? "unsigned"}`);
      const response = await fetch(url + pathname + search, {
        method: request.method(),
        headers: { range: headers.range ?? "" },
      });
      const body = Buffer.from(await response.arrayBuffer());
      return route.fulfill({ status: response.status, headers: Object.fromEntries(response.headers), body });
    };
    await own.page.context().route(/amazonaws\.com/, bucket);
    await own.show({ layers: [], camera: FRONT });
    await own.page.getByLabel("Address of data").fill("s3://open-data/fibres.zv");
    await own.page.getByLabel("Address of data").press("Enter");
    await expect.poll(() => own.page.locator(".card").count(), { timeout: 60_000 }).toBe(1);
    await settled(own.page);
    expect(await own.messages()).toEqual([]);
    expect(await both()).toEqual(DRAWN);
    expect(new Set(asked)).toEqual(new Set(["open-data.s3.us-east-1.amazonaws.com unsigned"]));
    await own.page.context().unroute(/amazonaws\.com/);
    await close();
  });

  test("so is one of another server, by its path", async () => {
    mkdirSync(join(data, "bucket"));
    cpSync(join(data, "fibres.zv"), join(data, "bucket/fibres.zv"), { recursive: true });
    const { url, close } = await stranger(data);
    await own.show({ layers: [], camera: FRONT });
    await own.page.getByLabel("Address of data").fill(`s3+${url}/bucket/fibres.zv`);
    await own.page.getByLabel("Address of data").press("Enter");
    await expect.poll(() => own.page.locator(".card").count(), { timeout: 60_000 }).toBe(1);
    await settled(own.page);
    expect(await own.messages()).toEqual([]);
    expect(await both()).toEqual(DRAWN);
    await close();
  });

  test("the page is copied to a folder of any web server, beside data, and loads nothing from elsewhere", async () => {
    cpSync(served().built, join(data, "lab/tools/viewer"), { recursive: true });
    const host = await stranger(data, { cors: false });
    const elsewhere: string[] = [];
    const other = await viewer(served());
    other.page.context().on("request", (request) => {
      if (!request.url().startsWith(host.url)) elsewhere.push(request.url());
    });
    await other.page.goto("about:blank");
    await other.page.goto(`${host.url}/lab/tools/viewer/?url=../../../fibres.zv`);
    await expect.poll(() => other.page.locator(".card").count(), { timeout: 60_000 }).toBe(1);
    const state = { layers: [{ url: "../../../fibres.zv", look: { mark: 5 } }], camera: FRONT, theme: "dark" };
    await other.page.goto(`${host.url}/lab/tools/viewer/#${encodeURIComponent(JSON.stringify(state))}`);
    await expect.poll(() => both(other.page), { timeout: 60_000 }).toEqual(DRAWN);
    expect(other.page.workers().map((worker) => worker.url())).toEqual([`${host.url}/lab/tools/viewer/worker.js`]);
    expect([elsewhere, await other.messages(), other.complaints()]).toEqual([[], [], []]);
    await other.page.close();
    await host.close();
  });
});
