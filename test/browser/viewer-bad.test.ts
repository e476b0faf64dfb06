/** Bad input in the viewer, in a real Chromium: what is wrong is a sentence in the page, what can be shown is shown, and text stays text. */
import { cpSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { convert } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { columnsOf, info } from "../zarr-vectors-scenes.js";
import { FRONT, makeStore, ON_A, pictureOf } from "./viewer-data.js";
import { colourAt, GROUND, picture, seenAt, stranger } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const HTML = "<img src=x onerror=alert(1)>";

const { data, own, suite } = viewerTests(async (data) => {
  const at = (name: string): string => join(data, name);
  await makeStore(at("fibres.zv"), "streamlines", "nanometer");
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
});

/** What the page says of an address; the browser's own complaints about refused requests are its business. */
async function said(url: string): Promise<string> {
  await own.show({ layers: [{ url }], camera: FRONT });
  const messages = await own.messages();
  own.complaints();
  expect(messages).toHaveLength(1);
  return messages[0]!;
}

suite("bad input in the viewer", () => {
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
    const closed = await stranger(data, { cors: false });
    expect(await said(`${closed.url}/fibres.zv`)).toMatch(/fibres\.zv\/zarr\.json.*CORS/);
    expect(await said("http://127.0.0.1:9/fibres.zv")).toMatch(/127\.0\.0\.1:9\/fibres\.zv/);
    // Of a server without ranges a value is read whole for a part of it, up to 8 MiB; beyond that it is said.
    const { url: whole, close } = await stranger(data, { ranges: false });
    await own.show({ layers: [{ url: `${whole}/points.ptree`, look: { mark: 8 } }], camera: FRONT });
    expect(await own.messages()).toEqual([]);
    expect(colourAt(await picture(own.page), FRONT, ON_A)).not.toEqual(GROUND);
    expect(await said(`${whole}/large.ptree`)).toBe(
      `${whole}/large.ptree was asked for bytes=0-7 and answered with the whole value of ${9 << 20} bytes. ` +
        "Use a server that answers Range requests, or copy the data first.",
    );
    await Promise.all([closed.close(), close()]);
  });

  test("a server that goes away before a click", async () => {
    const { url, close } = await stranger(data);
    await own.show({ layers: [{ url: `${url}/fibres.zv`, look: { mark: 5 } }], camera: FRONT });
    expect(await own.messages()).toEqual([]);
    await close();
    const { x, y } = seenAt(FRONT, ON_A);
    await own.page.mouse.click(x, y);
    await expect
      .poll(own.messages, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+\/fibres\.zv\/.* cannot be reached/)]);
    expect(colourAt(await picture(own.page), FRONT, ON_A)[0]).toBeGreaterThan(180); // what is there stays
    own.complaints();
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
    await expect.poll(() => own.page.locator(".picked td").allTextContents()).toContain(`${HTML}A`);
    expect(await own.page.locator(".picked th").allTextContents()).toContain(HTML);
    expect(await own.page.locator("#panel img, #panel b, .picked img, .picked b, #messages img").count()).toBe(0);
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
});
