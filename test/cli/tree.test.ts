/** `octavo tree` as a user runs it. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeNpy } from "../../src/format/interchange/npy.js";
import { ndarray } from "../../src/model/elements.js";
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
