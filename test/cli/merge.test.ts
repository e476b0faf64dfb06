/** `octavo merge` and `octavo split`, as a user runs them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { build, cli, octavo } from "./run.js";

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-merge-"));
  for (const x of [1, 2, 3]) writeFileSync(at(`${x}.swc`), `1 1 ${x} 0 0 1 -1\n2 3 ${x} 1 0 0.5 1\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("files become a store, which becomes files", { timeout: 120_000 }, async () => {
  const merged = await octavo(["merge", at("*.swc"), at("cells.zv"), "--pyramid=1"]);
  expect({ code: merged.code, stdout: merged.stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^6 vertices in 3 objects written\n/),
  });
  const { code, stdout } = await octavo(["split", at("cells.zv"), at("out"), "--by", "object", "--to", "swc"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^0\.swc: 2 vertices in 1 object\n/);
  expect(stdout).toMatch(/^loss .*its 1 coarser levels/m);
  expect(readdirSync(at("out")).sort()).toEqual(["0.swc", "1.swc", "2.swc"]);
  expect((await octavo(["merge", at("out"), at("again.zv"), "-q"])).code).toBe(0);
  expect((await octavo(["diff", at("cells.zv"), at("again.zv"), "--ignore", "levels"])).code).toBe(0);
});

test("dry runs say what would be there, and leave nothing", { timeout: 120_000 }, async () => {
  const merged = await octavo(["merge", at("1.swc"), at("2.swc"), at("dry.zv"), "--dry-run"]);
  expect([merged.code, merged.stdout]).toEqual([
    0,
    expect.stringMatching(/^to zarr-vectors\n2 files: 4 vertices in 2 objects\n[\s\S]*nothing was written\n$/),
  ]);
  const clash = await octavo(["merge", at("1.swc"), at("2.swc"), at("dry.zv"), "--ids", "keep", "--dry-run"]);
  expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining("the object 0 is in 1.swc and in 2.swc")]);
  const split = await octavo(["split", at("1.swc"), at("dry"), "--by", "object", "--to", "swc", "--dry-run"]);
  expect([split.code, split.stdout]).toEqual([0, "0.swc: 2 vertices in 1 object\n1 part, nothing written\n"]);
  expect(readdirSync(folder).filter((name) => name.startsWith("dry"))).toEqual([]);
});

test("a folder of files comes back as it was, with the folders in it", { timeout: 120_000 }, async () => {
  for (const name of ["a.swc", "left/a.swc", "left/deep/b.swc"]) {
    mkdirSync(dirname(at(`tree/${name}`)), { recursive: true });
    writeFileSync(at(`tree/${name}`), "1 1 1 0 0 1 -1\n2 3 1 1 0 0.5 1\n");
  }
  expect((await octavo(["convert", at("tree"), at("tree.zv"), "-q"])).code).toBe(0);
  const parts = ["split", at("tree.zv"), at("tree2"), "--by", "attribute:name", "--to", "swc", "-q"];
  expect((await octavo(parts)).code).toBe(0);
  expect((await octavo(["convert", at("tree2"), at("tree2.zv"), "-q"])).code).toBe(0);
  expect((await octavo(["diff", at("tree.zv"), at("tree2.zv")])).code).toBe(0);
  const text = readFileSync(at("tree2/left/deep/b.swc"), "utf8");
  expect(text).toBe(readFileSync(at("tree/left/deep/b.swc"), "utf8"));
});

test("merge goes through pipes", { timeout: 60_000 }, async () => {
  const piped = await octavo(["merge", at("1.swc"), at("2.swc"), "-", "--to", "csv"], { cwd: folder });
  expect(piped).toMatchObject({ code: 0, stderr: expect.stringContaining("4 vertices in 2 objects written") });
  expect((await octavo(["merge", at("1.swc"), at("2.swc"), at("both.csv"), "-q"])).code).toBe(0);
  expect(piped.stdout).toBe(readFileSync(at("both.csv"), "utf8"));
  expect(readdirSync(folder)).not.toContain("-");
  const none = await octavo(["merge", at("1.swc"), at("2.swc"), "-"]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("say which kind with --to")]);
  const pipe = `"${process.execPath}" "${cli}" merge - "${at("2.swc")}" - --as swc --to csv -q < "${at("1.swc")}"`;
  expect(execFileSync("sh", ["-c", pipe], { encoding: "utf8" })).toBe(piped.stdout);
});

test("wrong calls", { timeout: 120_000 }, async () => {
  const clash = await octavo(["merge", at("1.swc"), at("2.swc"), at("no.zv"), "--ids", "keep"]);
  expect([clash.code, clash.stderr]).toEqual([
    2,
    "octavo: the object 0 is in 1.swc and in 2.swc\n  Give all objects new ids: --ids new.\n",
  ]);
  expect((await octavo(["split", at("1.swc"), at("no")])).stderr).toMatch(/^octavo: by what\? --by is missing\n/);
  const typo = await octavo(["split", at("1.swc"), at("no"), "--by", "groups"]);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringMatching(/did you mean group\?/)]);
  expect(readdirSync(folder).filter((name) => name.startsWith("no"))).toEqual([]);
});
