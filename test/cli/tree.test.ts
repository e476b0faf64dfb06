/** `octavo tree` as a user runs it. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeNpy } from "../../src/format/interchange/npy.js";
import { openParticleFile } from "../../src/format/packed-tree/index.js";
import { createArray, createGroup, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Key, Prefix } from "../../src/store/key.js";
import { fixtures } from "../fixtures.js";
import { alike, goldenTree } from "../packed-tree.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-tree-"));
const golden = goldenTree(fixtures("packed-tree"), "u20k_t16");
const at = (name: string): string => join(folder, name);
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function json(...args: string[]) {
  const { code, stdout, stderr } = await octavo([...args, "--json", "-q"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("build, query, verify, and the verbs for every dataset", { timeout: 120_000 }, async () => {
  writeFileSync(at("positions.npy"), writeNpy(ndarray([20_000, 3], golden.positions)));
  const built = await octavo(["tree", "build", at("positions.npy"), at("packed.bin"), "--threshold", "16"]);
  expect([built.code, built.stdout]).toEqual([0, "20,000 particles, 4,646 nodes: 93.1 kB\n"]);
  expect(alike(readFileSync(at("packed.bin")).fill(0, 8, 16), golden.bytes)).toBe(true);
  expect((await octavo(["tree", "build", at("positions.npy"), at("packed.bin")])).code).toBe(2);
  expect(await json("tree", "build", at("positions.npy"), at("some.ptree"))).toMatchObject({
    particles: 20_000,
    left: [],
  });

  const ball = ["--sphere", "0.5,0.5,0.5,0.2"];
  const inside = Array.from({ length: 20_000 }, (_, i) => i).filter((i) => {
    const [x, y, z] = golden.positions.subarray(3 * i, 3 * i + 3);
    return (0.5 - x!) * (0.5 - x!) + (0.5 - y!) * (0.5 - y!) + (0.5 - z!) * (0.5 - z!) <= 0.2 * 0.2;
  });
  const { numbers } = await json("tree", "query", at("some.ptree"), ...ball);
  expect(numbers.sort((a: number, b: number) => a - b)).toEqual(inside);
  expect((await octavo(["tree", "query", at("some.ptree"), ...ball, "--count"])).stdout).toBe(`${inside.length}\n`);
  const { nearest } = await json("tree", "query", at("some.ptree"), "--nearest", "0,0,0,3", "--periodic", "1,1,1");
  expect(nearest.length).toBe(3);
  const { slices } = await json("tree", "query", at("packed.bin"), ...ball, "--slices");
  expect(slices.length).toBeGreaterThan(10);
  expect(await octavo(["tree", "query", at("packed.bin"), ...ball])).toMatchObject({ code: 3, stdout: "" });
  expect((await octavo(["tree", "query", at("some.ptree")])).code).toBe(2);

  expect(await json("info", at("some.ptree"))).toMatchObject({ format: "packed-tree" });
  const counted = await octavo(["get", at("some.ptree"), ...ball, "--count"]);
  expect(counted.stdout).toContain("vert");
  expect(await json("tree", "verify", at("some.ptree"))).toMatchObject({ valid: true, findings: [] });
  expect(await json("tree", "verify", at("packed.bin"))).toMatchObject({ valid: true, findings: [] });
  copyFileSync(join(fixtures("packed-tree"), "corrupt/skip_huge.bin"), at("damaged.bin"));
  const damaged = await octavo(["tree", "verify", at("damaged.bin")]);
  expect(damaged.code).toBe(1);
  expect(damaged.stdout).toContain("packed-tree/tree-skip");
  expect((await octavo(["tree", "verify", at("absent.ptree")])).code).toBe(3);
});

test("a file is asked for what it has, and no more than that is read", { timeout: 120_000 }, async () => {
  const ball = ["--sphere", "0.5,0.5,0.5,0.1"];
  const all = await json("tree", "query", at("some.ptree"), ...ball);
  const few = await json("tree", "query", at("some.ptree"), ...ball, "--limit", "3");
  expect(few.numbers).toEqual(all.numbers.slice(0, 3));
  const { numbers } = await json("tree", "query", at("some.ptree"), ...ball, "--tree");
  expect(numbers).toEqual(numbers.toSorted((a: number, b: number) => a - b));
  const { nearest } = await json("tree", "query", at("some.ptree"), "--nearest", "0.3,0.3,0.3,5");
  const distance = (i: number): number => Math.hypot(...[0, 1, 2].map((axis) => golden.positions[3 * i + axis]! - 0.3));
  const wanted = Array.from({ length: 20_000 }, (_, i) => i).sort((a, b) => distance(a) - distance(b));
  expect(nearest.map((own: { number: number }) => own.number)).toEqual(wanted.slice(0, 5));

  const plan = await json("get", at("some.ptree"), ...ball, "--plan", "--requests", "1");
  expect(plan.requests).toBe(1);
  const view = await json("get", at("some.ptree"), "--max-vertices", "100", "--count");
  expect(view.vertices).toBeGreaterThan(10);
  expect(view.vertices).toBeLessThanOrEqual(100);
});

test("a packed tree alone is asked together with its positions", { timeout: 120_000 }, async () => {
  const ball = ["--sphere", "0.5,0.5,0.5,0.1"];
  expect(await json("info", at("packed.bin"))).toMatchObject({ format: "tree", attributes: { particles: 20_000 } });
  const nodes = await octavo(["get", at("packed.bin"), "--limit", "1", "--to", "csv"]);
  expect([nodes.code, nodes.stdout.split("\n")[0]]).toEqual([0, expect.stringContaining("particles")]);
  expect(nodes.stderr).toContain("no positions");
  expect(await json("validate", at("packed.bin"))).toMatchObject({ findings: [] });
  const damaged = await octavo(["validate", at("damaged.bin")]);
  expect([damaged.code, damaged.stdout]).toEqual([3, expect.stringContaining("the node at byte")]); // it cannot be read at all

  const opened = await openParticleFile(fileStore(folder), Key.of("some.ptree"));
  await octavo(["tree", "build", at("positions.npy"), at("same.bin")]);
  const { positions, order } = await opened.particles();
  writeFileSync(at("sorted.npy"), writeNpy(ndarray([20_000, 3], Float64Array.from(positions))));
  const paired = await json("tree", "query", at("same.bin"), ...ball, "--positions", at("sorted.npy"));
  const known = await json("tree", "query", at("some.ptree"), ...ball);
  expect(paired.numbers.map((i: number) => order![i])).toEqual(known.numbers);
  const wrong = await octavo(["tree", "query", at("same.bin"), ...ball, "--positions", at("positions.npy")]);
  expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining("do not belong to the tree")]);
  await octavo(["tree", "build", at("same.bin"), at("paired.ptree"), "--positions", at("sorted.npy")]);
  expect(await json("tree", "verify", at("paired.ptree"))).toMatchObject({ valid: true });
});

test("trees are built from snapshots, arrays, one for each axis, tables and any points", {
  timeout: 120_000,
}, async () => {
  const count = 500;
  const axes = ["x", "y", "z"].map((_, axis) => golden.positions.filter((_, i) => i % 3 === axis).slice(0, count));
  const store = fileStore(folder);
  await createGroup(store, Prefix.of("axes.zarr"), {});
  for (const [axis, values] of axes.entries()) {
    const array = { shape: [count], chunkShape: [200], dtype: "float64" } as const;
    const made = await createArray(store, Prefix.of(`axes.zarr/${"xyz"[axis]}`), array);
    await writeRegion(made, [], ndarray([count], Float64Array.from(values)));
  }
  expect(await json("tree", "build", at("axes.zarr"), at("axes.ptree"))).toMatchObject({ particles: count });
  const table = ["x,y,z,heat", ...Array.from(axes[0]!, (x, i) => [x, axes[1]![i], axes[2]![i], i].join(","))].join(
    "\n",
  );
  writeFileSync(at("table.csv"), `${table}\n`);
  expect(await json("tree", "build", at("table.csv"), at("table.ptree"))).toMatchObject({ particles: count });
  writeFileSync(at("bad.csv"), "x,y,z\n1,2,3\n4,nan,6\n7,8,9\n");
  expect((await octavo(["tree", "build", at("bad.csv"), at("bad.ptree")])).code).toBe(3);
  const skipped = await octavo(["tree", "build", at("bad.csv"), at("bad.ptree"), "--skip-bad", "--json"]);
  expect(JSON.parse(skipped.stdout)).toMatchObject({ particles: 2 });
  expect(skipped.stderr).toMatch(/^skipped .*bad\.csv/m);
  const rows = await createArray(store, Prefix.of("rows.zarr"), {
    shape: [count, 3],
    chunkShape: [200, 3],
    dtype: "float64",
  });
  await writeRegion(rows, [], ndarray([count, 3], Float64Array.from(golden.positions.slice(0, 3 * count))));
  expect((await octavo(["convert", at("table.csv"), at("table.parquet")])).code).toBe(0);
  for (const [input, output] of [
    ["rows.zarr", "rows.ptree"],
    ["table.parquet", "parquet.ptree"],
  ] as const) {
    await octavo(["tree", "build", at(input), at(output)]);
    const box = ["--box", "0,0,0,0.5,0.5,0.5"];
    const [own, known] = [
      await json("tree", "query", at(output), ...box),
      await json("tree", "query", at("axes.ptree"), ...box),
    ];
    expect(known.numbers.length).toBeGreaterThan(0);
    expect(own.numbers).toEqual(known.numbers);
  }
  const heat = await json("get", at("table.ptree"), "--limit", "1");
  expect(JSON.stringify(heat)).toContain("heat");
  const snapshot = join(fixtures("packed-tree"), "cubes/snapshot.hdf5");
  const { particles } = await json("tree", "build", snapshot, at("gas.ptree"), "--type", "gas");
  const gas = await json("get", snapshot, "--type", "gas", "--count");
  expect(particles).toBe(gas.vertices);
  const everywhere = ["--box", "-1e9,-1e9,-1e9,1e9,1e9,1e9", "--count"];
  expect(await json("tree", "query", snapshot, "--type", "gas", ...everywhere)).toMatchObject({ particles });
  expect(await json("tree", "query", at("gas.ptree"), ...everywhere)).toMatchObject({ particles });
  expect(await json("tree", "build", at("gas.ptree"), at("again.ptree"))).toMatchObject({ particles });
  await octavo(["convert", at("gas.ptree"), at("gas.zv")]);
  expect(await json("tree", "build", at("gas.zv"), at("back.ptree"))).toMatchObject({ particles });
});

test("build with little memory, from several files: the same bytes, and nothing else in the folder", {
  timeout: 120_000,
}, async () => {
  writeFileSync(at("first.npy"), writeNpy(ndarray([7000, 3], golden.positions.slice(0, 21_000))));
  writeFileSync(at("second.npy"), writeNpy(ndarray([13_000, 3], golden.positions.slice(21_000))));
  mkdirSync(at("out"));
  const small = [at("first.npy"), at("second.npy"), "--threshold", "16"];
  const options = ["--max-memory", "100k"];
  await octavo(["tree", "build", ...small, at("out/packed.bin"), ...options]);
  expect(alike(readFileSync(at("out/packed.bin")).fill(0, 8, 16), golden.bytes)).toBe(true);
  expect(await json("tree", "build", ...small, at("out/some.ptree"), ...options)).toMatchObject({ particles: 20_000 });
  expect(await json("tree", "verify", at("out/some.ptree"))).toMatchObject({ valid: true, findings: [] });
  expect(await octavo(["tree", "build", ...small, at("out/some.ptree"), ...options])).toMatchObject({ code: 2 });
  const damaged = golden.positions.slice();
  damaged[50_000] = Number.NaN;
  writeFileSync(at("damaged.npy"), writeNpy(ndarray([20_000, 3], damaged)));
  expect(await octavo(["tree", "build", at("damaged.npy"), at("out/none.ptree"), ...options])).toMatchObject({
    code: 2,
  });
  expect(readdirSync(at("out")).sort()).toEqual(["packed.bin", "some.ptree"]);
});

test.each(["SIGINT", "SIGKILL"] as const)(
  "a build that ends with %s leaves no half file and no scratch",
  { timeout: 120_000 },
  async (signal) => {
    const positions = Float32Array.from({ length: 900_000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 8);
    writeFileSync(at("many.npy"), writeNpy(ndarray([300_000, 3], positions)));
    const out = at(signal);
    mkdirSync(out);
    const { code } = await octavo(
      ["tree", "build", at("many.npy"), join(out, "many.ptree"), "--max-memory", "20k", "--threshold", "5000"],
      {
        started: async (kill) => {
          while (readdirSync(out).length === 0) await new Promise((done) => setTimeout(done, 5));
          setTimeout(() => kill(signal), 150);
        },
      },
    );
    expect(code).toBe(signal === "SIGINT" ? 4 : null);
    const left = readdirSync(out).filter((name) => !/^many\.ptree\..*\.partial$/.test(name)); // swept by a later writer
    expect(left).toEqual([]);
    if (signal === "SIGINT") expect(readdirSync(out)).toEqual([]);
  },
);

test("what has no place in a tree is told, and what a snapshot says about itself comes along", {
  timeout: 120_000,
}, async () => {
  const rows = ["x,y,z,id,heat,name,original", "0,0,0,11,1,a,5", "1,1,1,12,2,b,6"];
  writeFileSync(at("ids.csv"), `${rows.join("\n")}\n`);
  const ids = await json("tree", "build", at("ids.csv"), at("ids.ptree"));
  expect(ids.left.sort()).toEqual(["name", "original", "the ids of objects"]);
  const told = await octavo(["tree", "build", at("ids.csv"), at("ids.ptree"), "--overwrite", "--max-memory", "1M"]);
  expect(told.stderr).toContain("the ids of objects");

  const snapshot = join(fixtures("packed-tree"), "cubes/snapshot.hdf5");
  const { attributes, axes } = await json("info", snapshot, "--type", "gas");
  expect(attributes).toHaveProperty("box");
  for (const options of [[], ["--max-memory", "1M"]]) {
    await octavo(["tree", "build", snapshot, at("about.ptree"), "--type", "gas", "--overwrite", ...options]);
    const info = await json("info", at("about.ptree"));
    expect([info.attributes, info.axes.length]).toEqual([expect.objectContaining(attributes), axes.length]);
  }

  writeFileSync(at("bare.npy"), writeNpy(ndarray([1, 3], Float64Array.of(2, 2, 2))));
  for (const from of [
    [at("bare.npy"), at("ids.csv")],
    [at("ids.csv"), at("bare.npy")],
  ]) {
    const { code, stderr } = await octavo(["tree", "build", ...from, at("both.ptree")]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("the attribute heat")]);
  }
  writeFileSync(at("nan.npy"), writeNpy(ndarray([2, 3], Float64Array.of(0, 0, 0, 1, Number.NaN, 1))));
  for (const options of [[], ["--max-memory", "1M"]])
    expect(await octavo(["tree", "build", at("nan.npy"), at("nan.ptree"), ...options])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("NaN as y of particle 1"),
    });
});

test.each([
  [["query", "--sphere", "0,0,0,1", "--threshold", "3"], "--threshold is an option of octavo tree build"],
  [["verify", "--count"], "--count is an option of octavo tree query"],
  [["verify", "--positions", "a.npy"], "--positions is an option"],
  [["query", "--sphere", "0,0,0,1", "--within", "3"], "--within is about --nearest"],
  [["query", "--sphere", "0,0,0,1", "--slices", "--periodic", "1,1,1"], "does not repeat"],
  [["query", "--sphere", "0,0,0,1", "--slices", "--count"], "not counted"],
  [["bild"], "expected build, query or verify"],
])("an option that would do nothing is refused: %j", async ([action, ...options], says) => {
  const { code, stderr } = await octavo(["tree", action!, at("some.ptree"), ...options]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
});
