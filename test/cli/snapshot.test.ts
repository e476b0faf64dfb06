/** Snapshots of particles on the command line: the HDF5 library is a file beside the command. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-snapshot-"));
const snap = join(fixtures("hdf5"), "snap_010.0.hdf5");
beforeAll(build, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

test("a halo is selected, written as a snapshot, and valid", { timeout: 60_000 }, async () => {
  const target = join(folder, "halo.hdf5");
  const select = ["get", snap, "--type", "dm", "--sphere", "50,50,50,20"];
  const counted = await octavo([...select, "--count", "--json"]);
  expect(JSON.parse(counted.stdout)).toMatchObject({ level: 0, objects: 0 });
  const { vertices } = JSON.parse(counted.stdout);
  expect(vertices).toBeGreaterThan(5);
  expect(await octavo([...select, "-o", target])).toMatchObject({ code: 0, stdout: "" });
  const info = JSON.parse((await octavo(["info", target, "--json"])).stdout);
  expect(info).toMatchObject({
    format: "snapshot",
    attributes: { particles: { PartType1: vertices }, scaleFactor: 0.5, h: 0.7 },
  });
  expect(await octavo(["validate", target])).toMatchObject({ code: 0 });
});

test("what is no snapshot says so", { timeout: 60_000 }, async () => {
  const links = await octavo(["info", join(fixtures("hdf5"), "links.hdf5")]);
  expect(links).toMatchObject({ code: 3, stderr: expect.stringContaining("links.hdf5 has no particles") });
  const type = await octavo(["info", folder, "--type", "gas"]);
  expect(type).toMatchObject({ code: 2, stderr: expect.stringContaining("--type is about a snapshot") });
});
