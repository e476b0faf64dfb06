/** The verbs on geometry: golden stores of every version, every query, every output. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readNpy } from "../../src/format/interchange/npy.js";
import { typed } from "../../src/model/elements.js";
import { serveFile } from "../browser/harness.js";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-vectors-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = (name: string): string => join(fixtures("zarr-vectors"), name, "store.zarrvectors");
const [sparse, pyramid, lines] = [
  "v0.9.2/points_sparse_ids",
  "v0.9.2/pyramid_points_objects_sparse",
  "v0.9.2/polylines_2d",
].map(store) as [string, string, string];

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await octavo(args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}
const json = async (...args: string[]) => JSON.parse(await ok(...args));
const withoutUrl = (text: string): string => text.replace(/file:\S+/g, "URL");

describe("info", () => {
  test.each([
    "v0.9.2/crs_headers_units",
    "v0.9.2/pyramid_points_objects_sparse",
    "v0.9.2/points_categorical",
    "v0.5.0-late/mesh_3d",
    "v0.2-early/streamlines_3d",
    "v0.9.2/parametric",
  ])("%s, for people", async (name) => {
    expect(withoutUrl(await ok("info", store(name)))).toMatchSnapshot();
  });

  test("for programs; with --full counts and ranges are those of the data", async () => {
    const brief = await json("info", pyramid, "--json");
    expect(brief).toMatchObject({ kind: "vectors", format: "zarr-vectors", version: "0.9.2", geometries: ["points"] });
    expect(brief.levels.map((level: { objects: number }) => level.objects)).toEqual([16, 8, 8]);
    expect(brief.schema.object).toMatchObject([
      { name: "k", dtype: "int16" },
      { name: "s", dtype: "float32" },
    ]);
    expect(brief.schema.object[0]).not.toHaveProperty("range");
    const full = await json("info", pyramid, "--json", "--full");
    expect(full.levels.map((level: { vertices: number }) => level.vertices)).toEqual([80, 30, 7]);
    const { items } = await json("get", pyramid, "--attributes", "k");
    const values = items.map((item: { attributes: { k: number } }) => item.attributes.k);
    expect(full.schema.object[0].range).toEqual({ min: Math.min(...values), max: Math.max(...values) });
  });

  test("--as zarr takes the store for the group that it also is", async () => {
    expect(await json("info", sparse, "--as", "zarr", "--json")).toMatchObject({ kind: "group", format: "zarr" });
  });

  test("over HTTP, where nothing can be listed", async () => {
    const server = createServer((request, response) => serveFile(join(sparse, request.url!), request, response));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const found = await json("info", url, "--json");
      expect(found.levels).toMatchObject([{ level: 0, vertices: 12, objects: 3 }]);
      expect(found.levels[0]).not.toHaveProperty("stored");
      expect(found.notes).toEqual([expect.stringMatching(/cannot list/)]);
      const { stdout, stderr } = await octavo(["get", url]);
      expect(stdout).toBe(await ok("get", sparse, "--attributes", ""));
      expect(stderr).toBe(`note: ${found.notes[0]}\n`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

test("data one folder further down are found", async () => {
  const { code, stderr } = await octavo(["info", join(sparse, "..")]);
  expect(code).toBe(3);
  expect(stderr).toMatch(/Did you mean file:\S+store\.zarrvectors\? That is a Zarr Vectors 0\.9\.2, points\./);
});

describe("ls", () => {
  test("levels, objects, groups, chunks", async () => {
    for (const what of [[], ["--objects"], ["--groups"], ["--chunks", "--level", "2"]])
      expect(await ok("ls", pyramid, ...what)).toMatchSnapshot();
    expect(await json("ls", sparse, "--objects", "--json")).toEqual([
      { id: 5, attributes: { a: 1 } },
      { id: 42, attributes: { a: 2 } },
      { id: "900719925474099301", attributes: { a: 3 } },
    ]);
    expect(await json("ls", pyramid, "--chunks", "--json", "--level", "2")).toContainEqual({
      index: [0, 0, 1],
      vertices: 1,
      min: [0, 0, 50],
      max: [50, 50, 100],
    });
    expect((await ok("ls", sparse, "--keys")).split("\n").length).toBeGreaterThan(20);
  });

  test("wrong questions", async () => {
    expect(await octavo(["ls", pyramid, "--level", "9"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "octavo: there is no level 9, only 0, 1, 2\n",
    });
    const array = join(fixtures("zarr"), "v3/gzip");
    expect((await octavo(["ls", array, "--objects"])).stderr).toMatch(
      /--objects is about geometry, and .* is an array/,
    );
    expect((await octavo(["get", array, "--box", "1,2,3,4"])).stderr).toMatch(
      /--box has no meaning for .*, which is an array/,
    );
    expect((await octavo(["get", sparse, "--slice", "0"])).stderr).toMatch(
      /--slice has no meaning for .*, which is geometry/,
    );
  });
});

describe("get", () => {
  test.each([
    ["v0.9.2/points_sparse_ids", []],
    ["v0.9.2/points_categorical", ["--limit", "3"]],
    ["v0.9.2/mesh_two_objects", ["--limit", "1"]],
    ["v0.9.2/points_fragment_attributes", []],
    ["v0.9.2/graph_2d", []],
    ["v0.9.2/lines_3d", ["--object", "1,0", "--object", "1"]],
    ["v0.4/streamlines_3d", ["--where", "len >= 10", "--attributes", "fa,len"]],
  ])("%s %j as JSON", async (name, query) => {
    const text = await ok("get", store(name), ...query);
    expect(text).toMatchSnapshot();
    const lines = await ok("get", store(name), ...query, "--to", "ndjson");
    expect(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(JSON.parse(text).items);
  });

  test("CSV: a row for each vertex, as convert writes it", async () => {
    const text = await ok("get", lines, "--box", "20,20,60,60", "--clip", "--to", "csv", "-q");
    expect(text).toMatchSnapshot();
    const rows = text
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => row.split(",").map(Number));
    for (const [, , x = Number.NaN, y = Number.NaN] of rows) {
      expect([x >= 20 && x <= 60, y >= 20 && y <= 60]).toEqual([true, true]);
    }
    const { items } = await json("get", lines, "--box", "20,20,60,60", "--clip");
    expect(Float32Array.from(rows.flatMap((row) => row.slice(2)))).toEqual(
      Float32Array.from(items.flatMap((item: { positions: number[][] }) => item.positions.flat())),
    );
    const file = join(folder, "part.csv");
    await ok("convert", lines, file, "--box", "20,20,60,60", "--clip", "-q");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("a column for each channel, also where the store does not say how many there are", async () => {
    const mesh = store("v0.9.2/mesh_3d");
    const [titles = "", ...rows] = (await ok("get", mesh, "--to", "csv", "-q")).trimEnd().split("\n");
    const { items } = await json("get", mesh);
    const first = titles.split(",").indexOf("normal.0");
    expect(titles.split(",").slice(first, first + 3)).toEqual(["normal.0", "normal.1", "normal.2"]);
    const numbers = rows.map((row) =>
      row
        .split(",")
        .slice(first, first + 3)
        .map(Number),
    );
    expect(numbers).toEqual(
      items.flatMap((item: { vertexAttributes: { normal: number[][] } }) => item.vertexAttributes.normal),
    );
    expect(await ok("info", mesh)).toMatch(/normal +float32 × 3\n/);
    expect(await ok("info", mesh)).toMatch(/\n *codecs +vlen-bytes\n/);
    expect(await ok("info", store("v0.9.2/points_sharded_zstd"))).toMatch(
      /\n *codecs +vlen-bytes → zstd.*, in shards of \d.* chunks\n/,
    );
  });

  test("parametric objects, alone or beside others", async () => {
    const alone = store("v0.9.2/parametric");
    const found = await json("get", alone, "--geometry", "parametric");
    expect(found.items.map(({ type }: { type: string }) => type)).toEqual(["plane", "sphere"]);
    expect(await ok("get", alone, "--geometry", "parametric", "--to", "csv")).toMatchSnapshot();
    expect((await json("get", alone, "--geometry", "parametric", "--object", "1")).items).toEqual([found.items[1]]);
    expect(await ok("get", alone, "--geometry", "parametric", "--count")).toBe("2 parametric objects\n");
    const wrong = await octavo(["get", alone, "--geometry", "parametric", "--box", "0,0,0,1,1,1"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^octavo: --box has no meaning for param/)]);
    expect((await octavo(["get", alone, "--geometry", "parametric", "--object", "2"])).code).toBe(1);
    expect((await octavo(["get", lines, "--geometry", "parametric"])).code).toBe(2);
  });

  test(".npy has the positions that JSON has, and says what it leaves out", async () => {
    const file = join(folder, "positions.npy");
    const { code, stderr } = await octavo(["get", lines, "-o", file]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^loss .*: which points belong to which object$/m)]);
    const array = readNpy(readFileSync(file));
    const { items } = await json("get", lines);
    const all = items.flatMap((item: { positions: number[][] }) => item.positions);
    expect(array.shape).toEqual([all.length, 2]);
    expect(typed(array)).toEqual(Float32Array.from(all.flat()));
    expect((await octavo(["get", lines, "-o", file])).code).toBe(2);
    const points = join(folder, "points.npy");
    expect(await ok("get", store("v0.9.2/points_4d"), "-q", "-o", points)).toBe("");
    expect(readNpy(readFileSync(points)).shape[1]).toBe(4);
  });

  test("every option of a query", async () => {
    const count = async (...query: string[]): Promise<number> =>
      (await json("get", pyramid, ...query, "--count", "--json")).vertices;
    expect(await count()).toBe(80);
    expect(await count("--level", "1")).toBe(40); // of 30: objects share fragments there
    expect(await count("--max-vertices", "40")).toBe(40);
    expect(await count("--resolution", "30")).toBe(40);
    expect(await count("--resolution", "13")).toBe(80);
    expect(await count("--group", "0")).toBe(40);
    expect(await count("--group", "0", "--where", "k < 2")).toBeLessThan(40);
    expect(await count("--nearest", "0,0,0,3")).toBe(3);
    expect(await count("--sphere", "50,50,50,500")).toBe(80);
    expect(await count("--sphere", "50,50,50,20", "--clip=vertices")).toBeLessThan(80);
    expect(await count("--limit", "2")).toBe(10);
    expect(await count("--box", "1e6,1e6,1e6,2e6,2e6,2e6")).toBe(0);
  });

  test("one geometry of several; one that is not there is refused", async () => {
    const composite = store("v0.9.2/composite");
    const of = async (geometry: string) => (await json("get", composite, "--geometry", geometry)).items;
    expect((await of("points"))[0]).toHaveProperty("position");
    for (const item of await of("mesh")) expect(item.links.every((face: number[]) => face.length === 3)).toBe(true);
    const { code, stderr } = await octavo(["get", composite, "--geometry", "graph"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/has no graph; it has points, mesh, streamlines\n$/)]);
  });

  test("a store or particles of what is found, as convert makes them", async () => {
    const asked = ["--box", "0,0,0,90,90,90", "--clip", "--attributes", "s"];
    const found = join(folder, "found.zv");
    const { stderr } = await octavo(["get", pyramid, ...asked, "-o", found]);
    expect(stderr).toMatch(/its 2 coarser levels/);
    const [from, to] = await Promise.all([json("get", pyramid, ...asked), json("get", found)]);
    expect(from.items.length).toBeGreaterThan(1);
    expect(to.items).toEqual(from.items);
    const again = await octavo(["get", pyramid, ...asked, "-o", found]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("already holds") });
    const particles = join(folder, "found.ptree");
    expect((await octavo(["get", pyramid, ...asked, "-o", particles])).code).toBe(0);
    const { vertices } = await json("get", particles, "--count", "--json");
    expect(vertices).toBe((await json("get", found, "--count", "--json")).vertices);
    const pipe = await octavo(["get", pyramid, "--to", "zarr-vectors"]);
    expect(pipe).toMatchObject({ code: 2, stderr: expect.stringContaining("more than a pipe takes") });
  });

  test("--plan reads no data and is an upper bound", async () => {
    const query = ["--box", "0,0,0,40,40,40"];
    const plan = await json("get", pyramid, ...query, "--plan", "--json");
    const { vertices } = await json("get", pyramid, ...query, "--count", "--json");
    expect(plan.atMost.vertices).toBeGreaterThanOrEqual(vertices);
    expect(plan.requests).toBeGreaterThan(0);
    expect(await ok("get", pyramid, "--count")).toBe("level 0: 80 vertices in 16 objects\n");
    expect(await ok("get", pyramid, "--plan")).toMatch(/^level 0: 80 vertices in 16 objects\n(about )?\d+ requests, /);
  });

  test("nothing found is an empty answer, and no failure", async () => {
    const nowhere = ["get", lines, "--box", "1e6,1e6,2e6,2e6"];
    expect((await json(...nowhere)).items).toEqual([]);
    expect(await ok(...nowhere, "--to", "ndjson")).toBe("");
    expect(await ok(...nowhere, "--to", "csv", "-q")).toBe("object,part,x,y\n");
  });

  test.each([
    [["--object", "12345"], 1, "octavo: level 0 has no object 12345\n"],
    [["--object", "5,6,7"], 1, "octavo: level 0 has no object 6, 7\n"],
    [["--group", "3"], 1, "octavo: level 0 has no group 3\n"],
    [["--where", "foo > 3"], 2, "octavo: there is no attribute foo; there are object.a\n"],
    [["--attributes", "foo"], 2, "octavo: there is no attribute foo; there are object.a\n"],
    [["--clip"], 2, "octavo: --clip cuts to a region: say which, with --box or --sphere\n"],
    [["--box", "0,0,0,50,50"], 2, "octavo: a box in 3 dimensions has 6 numbers, both corners; found 5\n"],
    [["--level", "0", "--max-vertices", "3"], 2, /^octavo: a query has a level, maxVertices or a resolution/],
  ])("%j ends with %i and leaves no file", async (query, code, message) => {
    const file = join(folder, "never.json");
    const found = await octavo(["get", sparse, ...query, "-o", file]);
    expect([found.code, found.stdout]).toEqual([code, ""]);
    if (typeof message === "string") expect(found.stderr).toBe(message);
    else expect(found.stderr).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });
});
