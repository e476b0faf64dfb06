/** Hands on the viewer in a real Chromium: whatever can be clicked, dragged, typed or chosen, and what is seen then. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { kindPalettes, PICKED, palettes, RIM } from "../../src/scene/palette.js";
import { build, octavo } from "../cli/run.js";
import { FRONT, makeStore, ON_A, ON_B } from "./viewer-data.js";
import { type Colour, colourAt, GROUND, lit, picture, seenAt, settled, viewer } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const { data, own, served, suite } = viewerTests(async (data) => {
  build();
  await makeStore(join(data, "fibres.zv"), "streamlines", "nanometer");
  await makeStore(join(data, "picometres.zv"), "mesh", "picometer", 1000);
  writeFileSync(join(data, "loose.csv"), "x,y,z,size\n10,0,50,1\n70,0,20,2\n");
});

const start = (look: object = {}) =>
  own.show({ layers: [{ url: "fibres.zv", look: { mark: 5, ...look } }], camera: FRONT });
const colours = async (): Promise<{ a: Colour; b: Colour }> => {
  const drawn = await picture(own.page);
  return { a: colourAt(drawn, FRONT, ON_A), b: colourAt(drawn, FRONT, ON_B) };
};
const panel = (): Locator => own.page.locator("#panel");
const named = (label: string): Locator => panel().getByLabel(label, { exact: true });
const unfold = async (summary: string): Promise<void> => {
  const details = panel().locator("details", { has: own.page.getByText(summary, { exact: true }) });
  if ((await details.getAttribute("open")) === null) await details.locator("summary").first().click();
};
/** Moves a slider as its owner's hand would end up. */
const slide = async (label: string, value: number): Promise<void> => {
  await named(label).evaluate((input: HTMLInputElement, to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
  await settled(own.page);
};
/** Asks for a condition, and waits until it is in the address: it is checked first. */
const where = async (text: string): Promise<void> => {
  await named("Where").fill(text);
  await named("Where").press("Enter");
  const asked = () =>
    JSON.parse(decodeURIComponent(new URL(own.page.url()).hash.slice(1))).layers[0].look?.filter?.where;
  await expect.poll(asked).toBe(text === "" ? undefined : text);
  await settled(own.page);
};
const camera = () => JSON.parse(decodeURIComponent(new URL(own.page.url()).hash.slice(1))).camera as typeof FRONT;
const rgb = (colour: number): Colour => [colour >> 16, (colour >> 8) & 255, colour & 255];
const like = (wanted: Colour) => (found: Colour) => wanted.every((channel, i) => Math.abs(channel - found[i]!) <= 24);
const RED: Colour = [255, 0, 0];

suite("the viewer in hands", () => {
  afterEach(async () => expect(await own.messages()).toEqual([]));

  test("colours by numbers have a legend whose ends can be moved, and palettes", async () => {
    await start({ color: "vertex.value" });
    expect((await colours()).b).toSatisfy(([r, g, b]: Colour) => g > r && g > b); // 0.55 of viridis
    await expect.poll(() => panel().locator(".legend").textContent()).toBe("01");
    await slide("Highest value", 0.3);
    expect(await panel().locator(".legend").textContent()).toBe("00.3");
    expect((await colours()).b).toSatisfy(like(rgb(palettes.viridis!.at(-1)!)));
    await named("Palette").selectOption("inferno");
    await settled(own.page);
    expect((await colours()).b).toSatisfy(like(rgb(palettes.inferno!.at(-1)!)));
  });

  test("an arrow key moves one end of a range, and the other stays what the data have", async () => {
    await start({ color: "vertex.value", filter: { object: [7n] } });
    await expect.poll(() => panel().locator(".legend").textContent()).toBe("00.3");
    await named("Lowest value").press("ArrowRight");
    const range = () => JSON.parse(decodeURIComponent(new URL(own.page.url()).hash.slice(1))).layers[0].look.range;
    await expect.poll(range).toEqual([expect.closeTo(0.003), Math.fround(0.3)]);
  });

  test("colours by kinds of things have a list, and palettes of their own", async () => {
    await start();
    await named("Colour by").selectOption("object.kind");
    await settled(own.page);
    await expect.poll(() => panel().locator(".kinds li").allTextContents()).toEqual(["first", "second"]);
    for (const name of ["bold", "safe"]) {
      await named("Palette").selectOption(name);
      await settled(own.page);
      const { a, b } = await colours();
      expect([a, b], name).toSatisfy(
        () => like(rgb(kindPalettes[name]![0]!))(a) && like(rgb(kindPalettes[name]![1]!))(b),
      );
    }
    await named("Colour by").selectOption("#");
    await settled(own.page);
    await named("Colour").fill("#20e040");
    await settled(own.page);
    expect((await colours()).a).toSatisfy(like([0x20, 0xe0, 0x40]));
  });

  test("filters: by an expression, by groups; what is not shown is not there", async () => {
    await start();
    await unfold("Filter and find");
    await where("object.kind = 'second'");
    expect(await colours()).toEqual({ a: GROUND, b: expect.toSatisfy(like([0, 0, 255])) });
    await where("");
    await panel().getByText("lying (1)").click();
    await settled(own.page);
    expect(await colours()).toEqual({ a: expect.toSatisfy(like(RED)), b: GROUND });
  });

  test("groups that an address names have their boxes checked, and can be taken away", async () => {
    await start({ filter: { group: ["standing"] } });
    const box = (name: string): Locator => panel().getByRole("checkbox", { name: `${name} (1)` });
    await expect.poll(() => box("standing").isChecked()).toBe(true);
    expect(await box("lying").isChecked()).toBe(false);
    expect(await colours()).toEqual({ a: GROUND, b: expect.toSatisfy(like([0, 0, 255])) });
    await box("lying").check();
    await settled(own.page);
    expect(await colours()).toEqual({ a: expect.toSatisfy(like(RED)), b: expect.toSatisfy(like([0, 0, 255])) });
    await box("standing").uncheck();
    await settled(own.page);
    expect(await colours()).toEqual({ a: expect.toSatisfy(like(RED)), b: GROUND });
    expect(decodeURIComponent(own.page.url())).toContain('"filter":{"group":[0]}');
    await box("lying").uncheck();
    await settled(own.page);
    expect((await colours()).b).toSatisfy(like([0, 0, 255]));
    expect(own.page.url()).not.toContain("filter");
  });

  test("what cannot be understood changes nothing, and is said beside its field until it is mended", async () => {
    await start();
    await unfold("Filter and find");
    expect(await named("Where").getAttribute("placeholder")).toBe("value > 0");
    const before = await colours();
    const wrong = panel().locator(".wrong-field:visible");
    for (const [text, says] of [
      ["vale > 0.3", /^There is no attribute vale; there are .*vertex\.value/],
      ["value >", /^The where expression should have /],
    ] as const) {
      await named("Where").fill(text);
      await named("Where").press("Enter");
      await expect.poll(() => wrong.textContent()).toMatch(says);
      expect(await named("Where").getAttribute("aria-describedby")).toBe(await wrong.getAttribute("id"));
      await settled(own.page);
      expect(await colours()).toEqual(before);
    }
    await where("value > 0.35");
    expect([await wrong.count(), (await colours()).a]).toEqual([0, GROUND]);
    await named("Find id").fill("abc");
    await named("Find id").press("Enter");
    await expect.poll(() => wrong.textContent()).toBe("An id is a whole number, such as 42.");
  });

  test("where data lie in no chunks there are no boxes to choose, and it is said why", async () => {
    const boxes = () => named("boxes of chunks").isDisabled();
    await start();
    await unfold("Size, detail, export");
    expect(await boxes()).toBe(false);
    await own.show({ layers: [{ url: "loose.csv" }], camera: FRONT });
    await unfold("Size, detail, export");
    await expect.poll(boxes).toBe(true);
    expect(await panel().getByText("These data do not lie in chunks").isVisible()).toBe(true);
  });

  test("a click picks an object and shows what is known of it; it can be shown alone", async () => {
    await start();
    const { x, y } = seenAt(FRONT, ON_A);
    await own.page.mouse.click(x, y);
    const rows = async () =>
      Object.fromEntries(
        await own.page
          .locator("section[aria-label=Picked] tr")
          .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? ""))),
      );
    await expect
      .poll(rows, { timeout: 20_000 })
      .toMatchObject({ layer: "fibres.zv", object: "7", kind: "first", score: "10", at: "25, 0, 50 nm" });
    expect(Number((await rows()).value)).toBeCloseTo(0.15, 1);
    // It has a colour of its own, and a rim.
    await expect.poll(async () => (await colours()).a).toSatisfy(like(rgb(PICKED)));
    const { pixels } = await picture(own.page);
    let rim = 0;
    for (let at = 0; at < pixels.length; at += 4)
      if (rgb(RIM).every((channel, i) => Math.abs(channel - pixels[at + i]!) <= 4)) rim++;
    expect(rim).toBeGreaterThan(200);
    await unfold("Filter and find");
    await where("value < 0.9");
    await own.page.getByText("Show only this").click();
    await settled(own.page);
    expect((await colours()).b).toEqual(GROUND);
    expect(await named("Where").inputValue()).toBe("value < 0.9");
    expect(decodeURIComponent(own.page.url())).toContain('"filter":{"where":"value < 0.9","object":["7n"]}');
    await panel().getByText("Show all", { exact: true }).click();
    await settled(own.page);
    expect((await colours()).b).toSatisfy(like([0, 0, 255]));
    await own.page.mouse.click(5, 5);
    await expect.poll(() => own.page.locator("section[aria-label=Picked]").isVisible()).toBe(false);
  });

  test("what is known of it is in the window, whatever the window and the panel show", async () => {
    const inside = async (page: typeof own.page): Promise<void> => {
      const shown = page.locator("section[aria-label=Picked]");
      await expect.poll(() => shown.textContent(), { timeout: 20_000 }).toMatch(/object7.*Show only this/);
      const { x, y, width, height } = (await shown.boundingBox())!;
      const window = page.viewportSize()!;
      expect([x >= 0, y >= 0, x + width <= window.width, y + height <= window.height]).toEqual(Array(4).fill(true));
    };
    const phone = await viewer(served(), { viewport: { width: 400, height: 800 }, hasTouch: true });
    const layers = ["fibres.zv", "picometres.zv", "fibres.zv"].map((url) => ({ url, look: {} }));
    await phone.show({ layers, camera: FRONT });
    const card = phone.page.getByLabel("Layer fibres.zv").last();
    await card.locator("summary").first().click();
    await card.getByLabel("Find id").fill("7");
    await card.getByLabel("Find id").press("Enter");
    await inside(phone.page);
    await phone.page.setViewportSize({ width: 1280, height: 800 });
    await inside(phone.page);
    await phone.page.close();
  });

  test("an object is found by its id, and brought into view", async () => {
    await start();
    await unfold("Filter and find");
    await named("Find id").fill("8");
    await named("Find id").press("Enter");
    await expect.poll(() => camera().target.map(Math.round), { timeout: 20_000 }).toEqual([70, 0, 50]);
    expect(await own.page.locator("section[aria-label=Picked]").textContent()).toMatch(/object8.*second/);
    await named("Find id").fill("999");
    await named("Find id").press("Enter");
    await expect.poll(own.messages, { timeout: 20_000 }).toEqual(["fibres.zv has no object 999."]);
    await own.page.getByLabel("Close this message").click();
  });

  test("layers of different units lie in one space, and each keeps its own units", async () => {
    const first = { url: "fibres.zv", look: { mark: 5, color: "#ff0000", filter: { object: [7n] } } };
    const second = { url: "picometres.zv", look: { color: "#00ff00", filter: { object: [8n] } } };
    const green = ([r, g]: Colour): boolean => g > 120 && r < 30;
    const inNanometres = { layers: [first, second], camera: FRONT };
    const thousand = (camera: typeof FRONT) => ({
      ...camera,
      target: camera.target.map((at) => 1000 * at) as unknown as typeof FRONT.target,
      span: 1000 * camera.span,
    });
    const inPicometres = { layers: [second, first], camera: thousand(FRONT) };
    for (const state of [inNanometres, inPicometres, { ...inPicometres, camera: FRONT, unit: "nm" }]) {
      await own.show(state);
      expect(await colours()).toEqual({ a: expect.toSatisfy(like(RED)), b: expect.toSatisfy(green) });
      expect(await own.page.locator("#stage svg text").last().textContent()).toBe("20 nm");
    }
    await own.show(inNanometres);
    await named("Keep").selectOption("box");
    await slide("z from", 36); // cuts away the lower part of the mesh
    expect(colourAt(await picture(own.page), FRONT, ON_B)).toEqual(GROUND);
    const above: typeof ON_B = [70, 0, 60];
    expect(colourAt(await picture(own.page), FRONT, above)).toSatisfy(green);
    const [, mesh] = JSON.parse(decodeURIComponent(new URL(own.page.url()).hash.slice(1))).layers;
    expect(mesh.look.clip.min[2]).toBe(36_000); // in its own units, as an export has it
    await named("Keep").selectOption("off");
    await settled(own.page);
    const { x, y } = seenAt(FRONT, above);
    await own.page.mouse.click(x, y);
    const picked = own.page.locator("section[aria-label=Picked]");
    await expect.poll(() => picked.textContent(), { timeout: 20_000 }).toMatch(/picometres\.zv.*object8/);
    const card = panel().getByLabel("Layer picometres.zv");
    await card.getByLabel("Find id").fill("8");
    await card.getByLabel("Find id").press("Enter");
    await expect.poll(() => camera().target.map(Math.round), { timeout: 20_000 }).toEqual([70, 0, 50]);
    expect(camera().span).toBeLessThan(80);
  });

  test("opacity, subset and visibility", async () => {
    await start();
    await slide("Opacity", 0.5);
    expect((await colours()).a).toSatisfy(([r]: Colour) => r > 120 && r < 210); // half way, more where segments meet
    await slide("Opacity", 1);
    await slide("Subset", 0.01);
    expect(lit(await picture(own.page))).toBe(0);
    await expect
      .poll(() => panel().locator(".card [role=status]").textContent())
      .toBe("about 0 of 20 vertices, level 0");
    await slide("Subset", 1);
    expect((await colours()).a).toSatisfy(like(RED));
    await named("Show fibres.zv").uncheck();
    await settled(own.page);
    expect(lit(await picture(own.page))).toBe(0);
  });

  test("a box and a slab cut away what lies outside", async () => {
    await start();
    await named("Keep").selectOption("box");
    await slide("z to", 45);
    expect(await colours()).toEqual({ a: GROUND, b: expect.toSatisfy(like([0, 0, 255])) });
    await named("Keep").selectOption("slab");
    await slide("Place", 35);
    expect(await panel().getByLabel("Clip").locator("output").allTextContents()).toEqual(["35 nm", "6 nm"]);
    const drawn = await picture(own.page);
    expect(colourAt(drawn, FRONT, ON_A)).toEqual(GROUND);
    expect(colourAt(drawn, FRONT, ON_B)).toSatisfy(like([0, 0, 255]));
    expect(colourAt(drawn, FRONT, [70, 0, 70])).toEqual(GROUND);
    await named("Keep").selectOption("off");
    await settled(own.page);
    expect((await colours()).a).toSatisfy(like(RED));
  });

  test("a scale bar with units, axes, both kinds of cameras, views by name", async () => {
    await start();
    const words = () => own.page.locator("#stage svg text").allTextContents();
    expect(await words()).toEqual(["x", "y", "z", "20 nm"]);
    await named("Perspective").check();
    await expect.poll(() => camera().perspective).toBe(true);
    expect((await words()).at(-1)).toBe("20 nm at the centre");
    await named("From the top").click();
    await expect.poll(() => [camera().azimuth, camera().elevation]).toEqual([0, 90]);
  });

  test("keys: tab reaches the picture first, arrows turn, plus and minus zoom, f shows everything", async () => {
    await start();
    await own.page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
    });
    await own.page.keyboard.press("Tab");
    expect(await own.page.evaluate(() => document.activeElement?.tagName)).toBe("CANVAS");
    await own.page.keyboard.press("ArrowLeft");
    await expect.poll(() => camera().azimuth).not.toBe(0);
    await own.page.keyboard.press("+");
    await expect.poll(() => camera().span).toBeCloseTo(64);
    await own.page.keyboard.press("-");
    await expect.poll(() => camera().span).toBeCloseTo(80);
    await own.page.keyboard.press("Shift+ArrowRight");
    await expect.poll(() => camera().target[0]).not.toBe(FRONT.target[0]);
    for (const [key, far, times] of [
      ["-", 1000, 45],
      ["+", 1e-9, 150],
    ] as const) {
      for (let i = 0; i < times; i++) await own.page.keyboard.press(key);
      await expect.poll(() => camera().span / (far * Math.hypot(60, 60))).toBeCloseTo(1); // of the data's size
    }
    await own.page.keyboard.press("f");
    await expect.poll(() => camera().target).toEqual([40, 0, 50]);
    await own.page.keyboard.press("Tab");
    expect(await own.page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Address of data");
  });

  test("a drag turns, the wheel comes closer, and so do two fingers", async () => {
    await start();
    await own.page.mouse.move(200, 150);
    await own.page.mouse.down();
    await own.page.mouse.move(250, 150, { steps: 3 });
    await own.page.mouse.up();
    await expect.poll(() => camera().azimuth).toBeCloseTo(-20);
    await own.page.mouse.wheel(0, -400);
    await expect.poll(() => camera().span).toBeLessThan(40);
    await start();
    const session = await own.page.context().newCDPSession(own.page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart: number) =>
      session.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [-1, 1].map((side, id) => ({ x: 200 + side * apart, y: 150, id })),
      });
    await touch("touchStart", 30);
    await touch("touchMove", 60);
    await touch("touchEnd", 60);
    await expect.poll(() => camera().span).toBeCloseTo(40, 0);
    await session.detach();
  });

  test("the last layer that is removed is gone from the address too; what is no address is a sentence", async () => {
    await start();
    await named("Remove fibres.zv").click();
    expect(decodeURIComponent(own.page.url())).toContain('"layers":[]');
    await named("Address of data").fill("http://[bad");
    await named("Address of data").press("Enter");
    await expect.poll(own.messages).toEqual(["http://[bad is no address: one looks like https://host/data.zv."]);
    await own.page.getByLabel("Close this message").click();
  });

  test("light and dark; the address brings back the same picture elsewhere", async () => {
    await start({ color: "vertex.value", palette: "inferno", range: [0, 0.5] });
    await named("Light background").check();
    await settled(own.page);
    await expect
      .poll(async () => colourAt(await picture(own.page), FRONT, [55, 0, 50], [255, 255, 255]))
      .toEqual([255, 255, 255]);
    expect(await own.page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
    expect(await own.page.evaluate(() => getComputedStyle(document.querySelector("select")!).colorScheme)).toBe(
      "light",
    );
    const before = await picture(own.page);
    const other = await viewer(served());
    await other.page.goto(own.page.url());
    await other.page.reload(); // the address alone, without what the page had in its memory
    await settled(other.page);
    expect(Buffer.compare((await picture(other.page)).pixels, before.pixels)).toBe(0);
    expect(lit(before, [255, 255, 255])).toBeGreaterThan(0.005);
    expect(other.complaints()).toEqual([]);
    await other.page.close();
  });

  test("the picture and the selection can be saved: the latter as the command line writes it", async () => {
    await start({ filter: { group: [0] } });
    const saved = async (name: string): Promise<Buffer> => {
      const [download] = await Promise.all([
        own.page.waitForEvent("download"),
        panel().getByText(name, { exact: true }).click(),
      ]);
      return readFileSync(await download.path());
    };
    const png = await saved("Save picture");
    expect([...png.subarray(0, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
      0x89, 0x50, 0x4e, 0x47, 440, 360,
    ]);
    const at = (png: Buffer, x: number, y: number, high: number): Promise<number[]> =>
      own.page.evaluate(
        async ([base64, x, y, high]) => {
          const image = new Image();
          image.src = `data:image/png;base64,${base64}`;
          await image.decode();
          const context = document.createElement("canvas").getContext("2d")!;
          context.drawImage(image, x, y);
          return [...context.getImageData(0, 0, 1, high).data];
        },
        [png.toString("base64"), x, y, high] as const,
      );
    const bar = await at(png, -110, -333, 2); // a place on the scale bar
    expect(bar.some((channel) => channel > 180 && channel < 240)).toBe(true); // its ink, nowhere else in this picture
    await start({ color: "vertex.value" });
    await expect.poll(() => panel().locator(".legend").textContent()).toBe("01");
    const legend = await at(await saved("Save picture"), -(440 - 16 - 2), -40, 1);
    expect(legend.slice(0, 3)).toEqual([0xfd, 0xe7, 0x25]); // where the bar of viridis ends
    await start({ filter: { group: [0] } });
    await unfold("Size, detail, export");
    const asGot = async (file: string, ...selection: string[]): Promise<Buffer> => {
      const to = join(data, file);
      expect(await octavo(["get", join(data, "fibres.zv"), ...selection, "-o", to])).toMatchObject({ code: 0 });
      return readFileSync(to);
    };
    expect(Buffer.compare(await saved("Export"), await asGot("group.trk", "--group", "0"))).toBe(0);
    const clip = { min: [20, -1, 30], max: [80, 1, 65] };
    await start({ filter: { where: "value < 0.8" }, clip });
    await unfold("Size, detail, export");
    const cut = ["--where", "value < 0.8", "--box", "20,-1,30,80,1,65", "--clip"];
    expect(Buffer.compare(await saved("Export"), await asGot("cut.trk", ...cut))).toBe(0);
  });

  test("requests and memory are told, every control has a name, the picture has a role", async () => {
    await start();
    for (const details of await panel().locator("details").all())
      await details.evaluate((element: HTMLDetailsElement) => {
        element.open = true;
      });
    await expect
      .poll(() =>
        panel()
          .getByText(/\d+ requests, [\d.]+ MB · [\d.]+ MB in memory/)
          .count(),
      )
      .toBe(1);
    for (const name of ["asked", "memory"])
      expect(await panel().locator(`.timeline polyline.${name}`).getAttribute("points")).toMatch(/\d/);
    const drawn = panel().getByLabel("What is drawn").locator("li");
    expect(await drawn.allTextContents()).toEqual([
      expect.stringMatching(/^bytes in [\d.]+ s, the highest bar is [\d.]+ MB$/),
      expect.stringMatching(/^requests so far, up to \d+$/),
      expect.stringMatching(/^memory, up to [\d.]+ MB$/),
    ]);
    expect(await panel().locator(".timeline").getAttribute("aria-label")).toMatch(
      /^Over \d+ s: bytes in .*requests.*memory/,
    );
    const nameless = await own.page.evaluate(() =>
      [...document.querySelectorAll("input, select, button, canvas")]
        .filter((element) => {
          const labels = [...((element as HTMLInputElement).labels ?? [])].map((label) => label.textContent);
          return ![element.getAttribute("aria-label"), element.textContent, ...labels].some((text) => text?.trim());
        })
        .map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
    expect(await own.page.locator("canvas").getAttribute("role")).toBe("application");
  });
});
