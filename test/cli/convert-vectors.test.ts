/** `octavo convert` on geometry, as a user runs it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const golden = fixtures("zarr-vectors");
const store = (path: string): string => join(golden, path, "store.zarrvectors");
let folder = "";
beforeAll(() => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-convert-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const infoOf = async (path: string) => JSON.parse((await octavo(["info", path, "--json"])).stdout);

describe("convert, of geometry", () => {
  it("upgrades an old store to 0.9.2, with all its levels", async () => {
    const out = join(folder, "upgraded.zarrvectors");
    const { code, stdout } = await octavo(["convert", store("v0.4/pyramid_streamlines"), out]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+ vertices in \d+ objects written\nnothing was lost\n$/),
    });
    expect(await infoOf(out)).toMatchObject({ format: "zarr-vectors", version: "0.9.2" });
    expect((await octavo(["validate", out])).code).toBe(0);
    const list = async (path: string) => (await octavo(["get", path, "--level", "1", "--format", "csv"])).stdout;
    expect(await list(out)).toBe(await list(store("v0.4/pyramid_streamlines")));
  });

  it("writes 0.7.0 where it is asked for, and says when it cannot", async () => {
    const out = join(folder, "old.zarrvectors");
    expect((await octavo(["convert", store("v0.9.2/lines_3d"), out, "--format-version", "0.7.0"])).code).toBe(0);
    expect(await infoOf(out)).toMatchObject({ version: "0.7.0" });
    const sparse = [store("v0.9.2/points_sparse_ids"), join(folder, "sparse"), "--format-version", "0.7.0"];
    const refused = await octavo(["convert", ...sparse]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("0.7.0 numbers objects 0, 1, 2") });
    expect(existsSync(join(folder, "sparse", "zarr.json"))).toBe(false);
    const dense = await octavo(["convert", ...sparse, "--ids", "dense", "--overwrite"]);
    expect(dense).toMatchObject({ code: 0, stdout: expect.stringMatching(/^loss .*the ids of objects/m) });
  });

  it("reports what new chunks leave out", async () => {
    const out = join(folder, "chunks.zarrvectors");
    const { code, stdout } = await octavo([
      "convert",
      store("v0.9.2/pyramid_points"),
      out,
      "--chunk",
      "12.5,12.5,12.5",
      "--json",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).losses).toEqual([expect.stringMatching(/links from level to level/)]);
  });

  it("takes one size of chunks for all axes", async () => {
    const out = join(folder, "cubes.zarrvectors");
    expect((await octavo(["convert", store("v0.9.2/lines_3d"), out, "--chunk", "20"])).code).toBe(0);
    expect((await infoOf(out)).levels[0].chunkShape).toEqual([20, 20, 20]);
  });

  it("says what would happen, and writes nothing", async () => {
    const out = join(folder, "dry.zarrvectors");
    const { code, stdout } = await octavo(["convert", store("v0.9.2/pyramid_points"), out, "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Zarr Vectors 0\.9\.2, with the same chunks, fragments and links\n {2}level 0: .*kept\n/);
    expect(stdout).toMatch(/ to read\nabout [\d.]+ [kM]?B to write\nno scratch space\n/);
    expect(existsSync(out)).toBe(false);
    const box = ["--box", "0,0,0,20,20,20", "--clip", "--dry-run"];
    const cut = await octavo(["convert", store("v0.3/streamlines_3d"), out, ...box]);
    expect(cut.stdout).toMatch(/^at most \d+ vertices in \d+ objects, before they are cut$/m);
    expect(cut.stdout).toMatch(/^(at most about )?[\d.]+ [kM]?B to write$|^about [\d.]+ [kM]?B to write$/m);
  });

  it("builds coarser levels where it is asked to", async () => {
    const out = join(folder, "levels.zarrvectors");
    const from = store("v0.3/streamlines_3d");
    const { code, stdout } = await octavo(["convert", from, out, "--pyramid=2", "--error", "0.5", "--by", "length"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /written\nlevel +vertices +objects +allowed +error\n +1 .* 0\.5 .*\n +2 .* 1 .*\nnothing was lost\n$/,
      ),
    });
    expect((await octavo(["validate", out])).code).toBe(0);
    const alone = await octavo(["convert", from, join(folder, "no"), "--error", "0.5"]);
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--error is for coarser levels: add --pyramid"),
    });
    const file = await octavo(["convert", from, join(folder, "no.trk"), "--pyramid"]);
    expect(file).toMatchObject({ code: 3, stderr: expect.stringContaining("with the option pyramid") });
    const dry = await octavo(["convert", from, join(folder, "no"), "--pyramid", "--dry-run"]);
    expect(dry.stdout).toMatch(/coarser levels would be built of it\nnothing was written\n$/);
    expect(existsSync(join(folder, "no"))).toBe(false);
  });

  it("builds the levels that octavo pyramid builds: with means of attributes and links between them", async () => {
    const [table, once, twice] = ["grid.csv", "once.zv", "twice.zv"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const rows = Array.from({ length: 20 }, (_, i) => `${i % 4},${Math.floor(i / 4)},0,${i}.5`);
    writeFileSync(table, ["x,y,z,v", ...rows, ""].join("\n"));
    const mean = ["--error", "4", "--thinned-attributes", "mean", "--cross-links"];
    expect((await octavo(["convert", table, once, "--pyramid=1", ...mean])).code).toBe(0);
    expect((await octavo(["convert", table, twice])).code).toBe(0);
    const both = await octavo(["pyramid", twice, ...mean, "--attributes", "pick"]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("give one of them") });
    const short = ["--error", "4", "--attributes", "mean", "--cross-links"];
    expect((await octavo(["pyramid", twice, "--levels", "1", ...short])).code).toBe(0);
    const coarse = async (path: string) => (await octavo(["get", path, "--level", "1", "--to", "csv", "-q"])).stdout;
    expect(await coarse(once)).toBe("x,y,z,v\n1,1,0,7.5\n3,1,0,9.5\n1,4,0,17.5\n3,4,0,19.5\n");
    expect(await coarse(twice)).toBe(await coarse(once));
    for (const path of [once, twice])
      for (const links of ["0/links/+1", "1/links/-1"]) expect(existsSync(join(path, links))).toBe(true);
  });

  it.each([
    [["--object", "12345"], "none.zarrvectors", "level 0 has no object 12345"],
    [["--object", "12345", "--dry-run"], "none.zarrvectors", "level 0 has no object 12345"],
    [["--group", "3"], "none.csv", "level 0 has no group 3"],
  ])("%j, which is not there, ends with 1 as in get", async (query, name, message) => {
    const out = join(folder, name);
    const { code, stderr } = await octavo(["convert", store("v0.9.2/points_sparse_ids"), out, ...query]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `octavo: ${message}\n` });
    expect(existsSync(out)).toBe(false);
  });

  it("takes groups by name", async () => {
    for (const [i, type] of ["basket", "pyramidal"].entries()) {
      mkdirSync(join(folder, "types", type), { recursive: true });
      writeFileSync(join(folder, "types", type, "cell.swc"), `1 1 ${i} 0 0 1 -1\n2 3 ${i} 1 0 1 1\n`);
    }
    const [cells, out] = [join(folder, "cells.zv"), join(folder, "one.csv")];
    expect((await octavo(["convert", join(folder, "types"), cells])).code).toBe(0);
    expect((await octavo(["convert", cells, out, "--group", "pyramidal"])).code).toBe(0);
    const [, ...rows] = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(rows.map((row) => /,1,[01],0\b/.test(row))).toEqual([true, true]);
    const count = async (group: string) => (await octavo(["get", cells, "--count", "--group", group])).stdout;
    expect(await count("basket")).toBe("level 0: 2 vertices in 1 object\n");
    expect(await count("basket,1")).toBe("level 0: 4 vertices in 2 objects\n");
    const none = await octavo(["get", cells, "--group", "stellate"]);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('there are "basket", "pyramidal"') });
  });

  it("keeps what is there, and refuses arrays for geometry", async () => {
    const out = join(folder, "twice.zarrvectors");
    expect((await octavo(["convert", store("v0.3/lines_3d"), out])).code).toBe(0);
    expect((await octavo(["convert", store("v0.3/lines_3d"), out])).code).toBe(2);
    expect((await octavo(["convert", store("v0.3/lines_3d"), out, "--overwrite", "--codec", "gzip"])).code).toBe(0);
    const arrays = await octavo(["convert", store("v0.3/lines_3d"), join(folder, "no"), "--to", "zarr2"]);
    expect(arrays.stderr).toContain("is geometry, and zarr2 holds arrays");
  });
});
