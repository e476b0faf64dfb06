/** Shapes of annotations, and what is highlighted, in a real Chromium: by pixels. */
import { expect, test } from "vitest";
import type { Vector } from "../../src/scene/camera.js";
import { PICKED } from "../../src/scene/palette.js";
import { FRONT, makeData, ON_A, ON_B } from "./viewer-data.js";
import { type Colour, colourAt, GROUND, picture, seenAt, settled } from "./viewer-harness.js";
import { viewerTests } from "./viewer-tests.js";

const { own, suite } = viewerTests(makeData);

const drawnAt = async (places: readonly Vector[]): Promise<boolean[]> => {
  const drawn = await picture(own.page);
  return places.map((place) => String(colourAt(drawn, FRONT, place)) !== String(GROUND));
};
const rgb = (colour: number): Colour => [colour >> 16, (colour >> 8) & 255, colour & 255];
const isPicked = (found: Colour): boolean => rgb(PICKED).every((channel, i) => Math.abs(channel - found[i]!) <= 40);
/** The same under a light, which makes all channels darker. */
const isLit = (found: Colour): boolean =>
  found[0] > 100 && rgb(PICKED).every((channel, i) => Math.abs(channel / rgb(PICKED)[0] - found[i]! / found[0]) < 0.1);
const at = async (place: Vector): Promise<Colour> => colourAt(await picture(own.page), FRONT, place);
const address = (): string => decodeURIComponent(own.page.url());

suite("shapes in the viewer", () => {
  test("boxes have their edges, and nothing inside", async () => {
    await own.show({ layers: [{ url: "axis_aligned_bounding_box.precomputed" }], camera: FRONT });
    const edges: Vector[] = [
      [25, 0, 45],
      [25, 0, 55],
      [10, 0, 50],
      [40, 0, 50],
      [65, 0, 50],
      [75, 0, 50],
      [70, 0, 20],
      [70, 0, 80],
    ];
    const empty: Vector[] = [ON_A, [70, 0, 50], [55, 0, 50]];
    expect(await drawnAt([...edges, ...empty])).toEqual([...edges.map(() => true), ...empty.map(() => false)]);
  });

  test("ellipsoids reach as far as their radii", async () => {
    await own.show({ layers: [{ url: "ellipsoid.precomputed" }], camera: FRONT });
    const rims: Vector[] = [
      [10, 0, 50],
      [40, 0, 50],
      [25, 0, 45],
      [25, 0, 55],
      [70, 0, 20],
      [70, 0, 80],
      [65, 0, 50],
      [75, 0, 50],
    ];
    const beside: Vector[] = [
      [11, 0, 54],
      [39, 0, 46],
      [65.5, 0, 75],
      [55, 0, 50],
    ];
    expect(await drawnAt([...rims, ...beside])).toEqual([...rims.map(() => true), ...beside.map(() => false)]);
  });

  test("what is clicked at is highlighted, all of it, until something else is, or Escape", async () => {
    await own.show({ layers: [{ url: "streamlines.zv", look: { mark: 3 } }], camera: FRONT });
    const click = async (place: Vector): Promise<void> => {
      const { x, y } = seenAt(FRONT, place);
      await own.page.mouse.click(x, y);
    };
    await click(ON_B);
    await expect.poll(() => at([70, 0, 75]), { timeout: 60_000 }).toSatisfy(isPicked);
    expect(await at(ON_A)).not.toSatisfy(isPicked);
    await expect.poll(address, { timeout: 60_000 }).toContain('"highlight":"8n"');
    await click(ON_A);
    await expect.poll(() => at(ON_A), { timeout: 60_000 }).toSatisfy(isPicked);
    expect(await at(ON_B)).not.toSatisfy(isPicked);
    await own.page.keyboard.press("Escape");
    await expect.poll(() => at(ON_A), { timeout: 60_000 }).not.toSatisfy(isPicked);
    expect(await own.page.getByLabel("Picked").isHidden()).toBe(true);
    await expect.poll(address, { timeout: 60_000 }).not.toContain("highlight");
  });

  test("what is found by its id, or said by the address, is highlighted too", async () => {
    const layer = { url: "mesh.zv", look: { highlight: 7n } };
    await own.show({ layers: [layer], camera: FRONT });
    await expect.poll(() => at(ON_A), { timeout: 60_000 }).toSatisfy(isLit);
    await own.page.getByText("Filter and find").click();
    await own.page.getByLabel("Find id").fill("8");
    await own.page.getByRole("button", { name: "Find", exact: true }).click();
    await expect.poll(address, { timeout: 60_000 }).toContain('"highlight":"8n"');
    await settled(own.page);
    await own.page.getByRole("button", { name: "Close", exact: true }).click();
    await expect.poll(address, { timeout: 60_000 }).not.toContain("highlight");
  });

  test("a point without an object is highlighted where it is", async () => {
    await own.show({ layers: [{ url: "points.precomputed", look: { mark: 3 } }], camera: FRONT });
    const { x, y } = seenAt(FRONT, ON_A);
    await own.page.mouse.click(x, y);
    await expect.poll(() => at(ON_A), { timeout: 60_000 }).toSatisfy(isPicked);
    expect(await at([35, 0, 50])).not.toSatisfy(isPicked);
  });
});
