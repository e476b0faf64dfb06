/** The verbs on precomputed volumes, as a user runs them. */
import { cpSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-volumes-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const golden = (name: string): string => join(fixtures("precomputed"), "volumes", name);
const labels = golden("seg64_cseg_sharded");
const image = golden("img8x3_raw_unsharded");

async function json(...args: string[]) {
  const { code, stdout, stderr } = await octavo([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("info, ls and get: a volume is an array, at its scales", async () => {
  expect(await json("info", labels)).toMatchObject({
    kind: "array",
    format: "precomputed",
    shape: [100, 77, 53, 1],
    dimensionNames: ["x", "y", "z", "channel"],
    chunks: { grid: 24, stored: 24 },
    attributes: { voxel_offset: [10, 20, 30], encoding: "compressed_segmentation" },
  });
  expect(await json("ls", image)).toEqual([{ name: "4_4_40", kind: "array", dtype: "uint8", shape: [40, 33, 9, 3] }]);
  const chunks = await json("ls", image, "--chunks");
  expect(chunks[0]).toMatchObject({ index: [0, 0, 0, 0], key: "4_4_40/-5-27_0-32_3-12" });
  const part = await json("get", image, "--slice", "0:2,0,0,:");
  expect(part.data).toEqual([
    [123, 123, 123],
    [153, 153, 153],
  ]);
});

test("convert: to a volume with scales, one of them to Zarr", { timeout: 120_000 }, async () => {
  const plane = ["--slice", "::7,3,:,0"];
  const volume = join(folder, "volume");
  const planned = await json("convert", labels, volume, "--to", "precomputed", "--scales", "3", "--dry-run");
  expect(planned.info.scales.map(({ key }: { key: string }) => key)).toEqual(["4_4_40", "8_8_40", "16_16_40"]);
  await json("convert", labels, volume, "--to", "precomputed", "--scales", "3", "--sharded");
  const about = await json("info", volume);
  expect(about.levels.map(({ shape }: { shape: number[] }) => shape.slice(0, 3))).toEqual([
    [100, 77, 53],
    [50, 39, 53],
    [26, 20, 53],
  ]);
  const [mine, theirs] = [await octavo(["get", volume, ...plane]), await octavo(["get", labels, ...plane])];
  expect(mine.stdout).toBe(theirs.stdout);
  const zarr = join(folder, "coarse.zarr");
  await json("convert", volume, zarr, "--level", "1");
  const [coarse, again] = [
    await octavo(["get", volume, "--level", "1", ...plane]),
    await octavo(["get", zarr, ...plane]),
  ];
  expect(coarse.stdout).toBe(again.stdout);
  expect((await octavo(["get", volume, "--level", "3"])).code).toBe(2);
  const refused = await octavo(["convert", labels, volume, "--to", "precomputed"]);
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining("already there")]);
});

test("validate: valid, and what is damaged", async () => {
  expect((await octavo(["validate", labels])).stdout).toMatch(/^valid/m);
  const damaged = join(folder, "damaged");
  cpSync(image, damaged, { recursive: true });
  truncateSync(join(damaged, "4_4_40/27-35_0-32_3-12"), 100);
  const { code, stdout } = await octavo(["validate", damaged]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/27-35_0-32_3-12.*bytes, found 100.*precomputed\/value-decodes/);
});
