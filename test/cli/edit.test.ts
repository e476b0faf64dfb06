/** The verbs that change a store of geometry. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-edit-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function json(...args: string[]) {
  const { code, stdout, stderr } = await octavo([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("append, delete and repair leave a store that is valid", { timeout: 120_000 }, async () => {
  const lines = join(fixtures("zarr-vectors"), "v0.9.2/polylines_2d/store.zarrvectors");
  const store = join(folder, "a.zv");
  expect((await octavo(["convert", lines, store])).code).toBe(0);
  expect((await json("append", store, lines)).appended).toEqual([5, 6, 7, 8, 9]);
  expect((await octavo(["append", store, lines, "--ids", "keep"])).code).toBe(2); // they are there
  expect((await json("delete", store, "--object", "1,2", "--dry-run")).deleted).toEqual([1, 2]);
  expect((await json("get", store, "--count")).objects).toBe(10);
  expect((await json("delete", store, "--object", "1,2")).deleted).toEqual([1, 2]);
  expect((await json("get", store, "--count")).objects).toBe(8);
  for (const gone of ["1", "99", "3,99"]) expect((await octavo(["delete", store, "--object", gone])).code).toBe(1);
  expect((await json("get", store, "--count")).objects).toBe(8);
  expect((await octavo(["delete", store])).code).toBe(2);
  expect((await json("append", store, lines)).appended).toEqual([10, 11, 12, 13, 14]);
  expect((await json("validate", store)).verdict).toBe("valid");

  const level = join(store, "0/zarr.json");
  writeFileSync(level, readFileSync(level, "utf8").replace(/"vertex_count": ?\d+/, '"vertex_count":1'));
  expect((await octavo(["validate", store])).code).toBe(1);
  expect((await json("repair", store, "--dry-run")).fixed).toHaveLength(1);
  expect((await octavo(["validate", store])).code).toBe(1);
  expect((await json("repair", store)).left.filter((f: { severity: string }) => f.severity === "error")).toEqual([]);
  expect((await json("validate", store)).verdict).toBe("valid");
});

test("what is no geometry is refused", async () => {
  const array = join(fixtures("zarr"), "v3/sharded_zstd");
  expect((await octavo(["repair", array])).code).toBe(3);
  expect((await octavo(["append", array, array])).code).toBe(2);
  const [mesh, points] = ["mesh_3d", "points_4d"].map((name) =>
    join(fixtures("zarr-vectors"), `v0.9.2/${name}/store.zarrvectors`),
  ) as [string, string];
  expect((await octavo(["append", mesh, points])).stderr).toMatch(
    /points_4d\S* holds points, and \S*mesh_3d\S* mesh\n/,
  );
});
