/** The viewer in a real Chromium: every kind and format is opened, and what must be there is there. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { ABOVE, BETWEEN, FRONT, makeData, ON_A, ON_B } from "./viewer-data.js";
import { type Colour, colourAt, drop, GROUND, picture, settled } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const { data, own, suite } = viewerTests(makeData);

/** What a place looks like. */
const red = ([r, g, b]: Colour): boolean => r > 180 && g < 90 && b < 90;
const blue = ([r, g, b]: Colour): boolean => b > 180 && r < 90 && g < 90;
const plain = ([r, g, b]: Colour): boolean => b > 120 && g > 80 && r < b;

const CASES: readonly (readonly [url: string, a: (colour: Colour) => boolean, b: (colour: Colour) => boolean])[] = [
  ["points.zv", plain, plain],
  ["lines.zv", red, blue],
  ["polylines.zv", red, blue],
  ["streamlines.zv", red, blue],
  ["graph.zv", red, blue],
  ["skeletons.zv", red, blue],
  ["mesh.zv", plain, plain],
  ["skeletons.precomputed", red, blue],
  ["mesh.precomputed", plain, plain],
  ["legacy.precomputed", plain, plain],
  ["points.precomputed", plain, plain],
  ["lines.precomputed", red, blue],
  ["points.ptree", plain, plain],
];

/** What is dropped, or chosen, is read where it is. */
const FILES: typeof CASES = [
  ["fibres.trk", red, blue],
  ["fibres.tck", red, blue],
  ["fibres.trx", red, blue],
  ["neuron.swc", red, blue],
  ["mesh.obj", plain, plain],
  ["mesh.ply", plain, plain],
  ["mesh.stl", plain, plain],
  ["points.ptree", plain, plain],
  ["skeletons.zv", red, blue],
  ["mesh.precomputed", plain, plain],
];

suite("the viewer", () => {
  test.each(CASES)("%s is drawn where it is", async (url, a, b) => {
    await own.show({ layers: [{ url, look: { mark: 5 } }], camera: FRONT });
    const drawn = await picture(own.page);
    const at = (place: typeof ON_A) => colourAt(drawn, FRONT, place);
    expect(await own.messages()).toEqual([]);
    expect(await own.page.locator(".card [role=status]").textContent()).toMatch(/^\d+ vertices, level 0$/);
    expect(at(ON_A)).toSatisfy(a);
    expect(at(ON_B)).toSatisfy(b);
    expect([at(BETWEEN), at(ABOVE)]).toEqual([GROUND, GROUND]);
  });

  test.each(FILES)("%s is dropped", async (name, a, b) => {
    await own.show({ layers: [], camera: FRONT });
    await drop(own.page, join(data, name));
    await expect.poll(() => own.page.locator(".card").count(), { timeout: 20_000 }).toBe(1);
    await settled(own.page);
    const drawn = await picture(own.page);
    expect(await own.messages()).toEqual([]);
    expect(colourAt(drawn, FRONT, ON_A)).toSatisfy(a);
    expect(colourAt(drawn, FRONT, ON_B)).toSatisfy(b);
  });

  test("files and folders are chosen with the keyboard as well", async () => {
    await own.show({ layers: [], camera: FRONT });
    const [files] = await Promise.all([
      own.page.waitForEvent("filechooser"),
      own.page.getByText("Choose files …").press("Enter"),
    ]);
    await files.setFiles([join(data, "fibres.trk"), join(data, "mesh.obj")]);
    await expect.poll(() => own.page.locator(".card").count(), { timeout: 20_000 }).toBe(2);
    const [folder] = await Promise.all([
      own.page.waitForEvent("filechooser"),
      own.page.getByText("Choose a folder …").press("Enter"),
    ]);
    await folder.setFiles(join(data, "points.zv"));
    await expect.poll(() => own.page.locator(".card h3").allTextContents(), { timeout: 20_000 }).toContain("points.zv");
    expect(await own.messages()).toEqual([]);
  });
});
