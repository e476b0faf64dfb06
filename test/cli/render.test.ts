/** `octavo render`: a picture of every kind, and the words for what cannot be one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeNeuron, makeSurface, makeTracts } from "../../src/cli/demo-data.js";
import { loadDeflate } from "../../src/codec/deflate.js";
import { decodePng } from "../../src/codec/png.js";
import { defaultLimits } from "../../src/limits.js";
import { build, octavo } from "./run.js";

const dir = mkdtempSync(join(tmpdir(), "octavo-render-"));
const { signal } = new AbortController();

beforeAll(async () => {
  build();
  await makeTracts(join(dir, "tracts.zv"), 200, signal);
  await makeNeuron(join(dir, "neuron.zv"), signal);
  await makeSurface(join(dir, "surface.zv"), signal);
  writeFileSync(join(dir, "points.csv"), "x,y,z,kind\n0,0,0,a\n10,0,0,b\n0,10,0,a\n5,5,9,c\n");
});
afterAll(() => rmSync(dir, { recursive: true }));

/** The share of pixels that are not background, and how many colours there are. */
async function looked(file: string, width: number, height: number) {
  const spec = { shape: [3, 1, height, width], dtype: { kind: "uint", size: 1 }, fill: 0 };
  const planar = decodePng(readFileSync(join(dir, file)), spec as never, defaultLimits, await loadDeflate());
  const colours = new Map<number, number>();
  for (let at = 0; at < width * height; at++) {
    const colour = (planar[at]! << 16) | (planar[width * height + at]! << 8) | planar[2 * width * height + at]!;
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  return { share: 1 - (colours.get(0xffffff) ?? 0) / (width * height), colours };
}

test.each([
  ["tracts.zv", ["--color", "fa"], 0.05, 0.6],
  ["neuron.zv", ["--view", "top", "--color", "radius", "--palette", "inferno"], 0.01, 0.3],
  ["surface.zv", ["--perspective", "--color", "orange"], 0.08, 0.6],
  ["points.csv", ["--mark", "9", "--color", "kind", "--view", "top"], 0.005, 0.1],
])("%s", async (name, options, least, most) => {
  const target = join(dir, `${name}.png`);
  const args = ["render", join(dir, name), target, "--size", "320x240", "--background", "white", ...options];
  const { code, stdout, stderr } = await octavo([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ width: 320, height: 240, level: 0 });
  const { share, colours } = await looked(`${name}.png`, 320, 240);
  expect(share).toBeGreaterThan(least);
  expect(share).toBeLessThan(most);
  expect(colours.size).toBeGreaterThan(4);
  expect((await octavo(args)).code).toBe(2); // nothing is replaced unasked
});

test("wrong calls leave nothing behind", async () => {
  const tracts = join(dir, "tracts.zv");
  for (const [args, said] of [
    [[tracts, "x.jpg"], /x\.jpg does not end in \.png/],
    [[tracts, join(dir, "x.png"), "--color", "nope"], /there are: vertex\.fa, object\.length/],
    [[tracts, join(dir, "x.png"), "--size", "3x3x3"], /--size is a width and a height/],
    [[tracts, join(dir, "x.png"), "--range", "2,1"], /--range is two numbers/],
  ] as const) {
    const { code, stderr } = await octavo(["render", ...args]);
    expect([code, said.test(stderr)]).toEqual([2, true]);
  }
  expect(() => readFileSync(join(dir, "x.png"))).toThrow();
});
