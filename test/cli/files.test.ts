/** Files of other software on the command line: in and out, many at once, through pipes. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeNpy } from "../../src/format/interchange/npy.js";
import { ndarray } from "../../src/model/elements.js";
import { build, cli, octavo } from "./run.js";

const cell = (x: number): string =>
  `# cell at ${x}\n1 1 ${x} 0.00 0 1.0 -1\n2 3 ${x} 1.50 0 0.5 1\n3 3 ${x} 2.25 0 0.5 2\n`;

let folder = "";
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-cli-files-"));
  mkdirSync(at("cells/left"), { recursive: true });
  for (const [i, name] of ["left/a", "left/b", "c"].entries()) writeFileSync(at(`cells/${name}.swc`), cell(i));
  mkdirSync(at("bad"));
  writeFileSync(at("bad/loop.swc"), "1 1 0 0 0 1 2\n2 1 0 0 0 1 1\n");
  writeFileSync(at("bad/good.swc"), cell(9));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("files", () => {
  it("become one store, and each comes out again", async () => {
    const { code, stdout } = await octavo(["convert", at("cells"), at("cells.zv"), "--strict"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "9 vertices in 3 objects written\nnothing was lost\n" });
    const one = await octavo(["convert", at("cells.zv"), at("b.swc"), "--where", "object.name = 'left/b.swc'"]);
    expect(one).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^3 vertices in 1 object written\nloss .*id 2 of/),
    });
    expect(readFileSync(at("b.swc"), "utf8")).toBe(cell(1));
    const got = await octavo(["get", at("cells.zv"), "--object", "0", "-o", at("c.swc.gz"), "--strict"]);
    expect(got).toMatchObject({ code: 0, stderr: "" });
    expect(gunzipSync(readFileSync(at("c.swc.gz"))).toString()).toBe(cell(2));
    const several = await octavo(["get", at("cells.zv"), "-o", at("all.swc")]);
    expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("SWC holds one tree") });
    expect(existsSync(at("all.swc"))).toBe(false);
    const strict = await octavo(["get", at("cells.zv"), "--object", "2", "-o", at("c.swc"), "--strict"]);
    expect(strict).toMatchObject({ code: 3, stderr: expect.stringContaining("the id 2 of the object") });
    expect(existsSync(at("c.swc"))).toBe(false);
  });

  it("that are damaged are told by line, or left out and listed", async () => {
    const failed = await octavo(["convert", at("bad/*.swc"), at("bad.zv")]);
    expect(failed).toMatchObject({ code: 3, stderr: expect.stringMatching(/loop\.swc, line \d: node \d is its own/) });
    expect(existsSync(at("bad.zv"))).toBe(false);
    const went = await octavo(["convert", at("bad/*.swc"), at("bad.zv"), "--skip-bad", "--json"]);
    expect(went.code).toBe(0);
    expect(JSON.parse(went.stdout)).toMatchObject({ objects: 1, skipped: [expect.stringContaining("loop.swc")] });
    expect(JSON.parse(went.stdout).losses).toEqual(["what is damaged: 1 skipped"]);
    expect(went.stderr).toMatch(/^skipped .*loop\.swc, line/m);
    for (const from of ["bad/*.swc", "bad/loop.swc"]) {
      const strict = await octavo(["convert", at(from), at("strict.zv"), "--skip-bad", "--strict"]);
      expect(strict).toMatchObject({ code: 3, stderr: expect.stringMatching(/would be lost.*loop\.swc, line/) });
      expect(existsSync(at("strict.zv"))).toBe(false);
    }
    expect(readdirSync(at("bad")).sort()).toEqual(["good.swc", "loop.swc"]);
  });

  it("of a folder are what the store made of them is", async () => {
    expect((await octavo(["diff", at("cells"), at("cells.zv")])).code).toBe(0);
    expect((await octavo(["diff", at("cells.zv"), at("cells/**/*.swc")])).code).toBe(0);
    const missing = await octavo(["diff", at("cells.zv"), at("nowhere")]);
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining("nowhere") });
  });

  it("go through pipes", () => {
    const run = (args: readonly string[], input: string | Buffer): Buffer =>
      execFileSync(process.execPath, [cli, ...args], { input, stdio: ["pipe", "pipe", "ignore"] });
    expect(run(["convert", "-", "-", "--as", "swc", "--to", "swc"], cell(5)).toString()).toBe(cell(5));
    expect(run(["get", "-", "--as", "swc", "--to", "swc"], gzip(cell(5))).toString()).toBe(cell(5));
    expect(JSON.parse(run(["info", "-", "--as", "swc", "--json"], cell(5)).toString())).toMatchObject({
      format: "swc",
    });
    expect(() => run(["convert", "-", "-", "--as", "swc"], cell(5))).toThrow();
    const { status, stderr } = spawnSync(process.execPath, [cli, "info", "-"], { input: cell(5), encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(
        /^octavo: what comes through the pipe is of no kind .*\n {2}Say what it is: --as csv/,
      ),
    });
  });

  it("say what they would become", async () => {
    const dry = await octavo(["convert", at("cells"), at("dry.zv"), "--dry-run", "--json"]);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      dryRun: true,
      files: 3,
      objects: 3,
      vertices: 9,
      requests: 3,
      scratch: 0,
      bytesWritten: expect.any(Number),
      bytesWrittenExact: false,
    });
    const csv = await octavo(["convert", at("cells/c.swc"), at("dry.csv"), "--dry-run", "--json"]);
    const { bytesWritten, bytesWrittenExact } = JSON.parse(csv.stdout);
    expect(existsSync(at("dry.csv"))).toBe(false);
    await octavo(["convert", at("cells/c.swc"), at("wet.csv")]);
    expect([bytesWritten, bytesWrittenExact]).toEqual([statSync(at("wet.csv")).size, true]);
    rmSync(at("wet.csv"));
    const file = await octavo(["convert", at("cells/c.swc"), at("cells/left/a.swc"), "--dry-run"]);
    expect(file).toMatchObject({ code: 2, stdout: expect.stringContaining("OUT holds a SWC: add --overwrite") });
    expect(existsSync(at("dry.zv"))).toBe(false);
  });

  it("give groups that are asked for by name, also by one with a comma", async () => {
    for (const [i, name] of ["a, b", "c"].entries()) {
      mkdirSync(at(`named/${name}`), { recursive: true });
      writeFileSync(at(`named/${name}/${i}.swc`), cell(i));
    }
    expect((await octavo(["convert", at("named"), at("named.zv"), "-q"])).code).toBe(0);
    const counted = async (...groups: string[]) =>
      (await octavo(["get", at("named.zv"), "--count", ...groups.flatMap((group) => ["--group", group])])).stdout;
    expect(await counted('"a, b"')).toBe("level 0: 3 vertices in 1 object\n");
    expect(await counted("c", '"a, b"')).toBe("level 0: 6 vertices in 2 objects\n");
    const open = await octavo(["get", at("named.zv"), "--group", '"a, b']);
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("is in quotes, which are doubled inside") });
  });

  it("of arrays go through pipes as .npy", async () => {
    const npy = Buffer.from(writeNpy(ndarray([2, 2], Uint8Array.of(65, 66, 67, 68))));
    writeFileSync(at("n.npy"), npy);
    expect((await octavo(["convert", at("n.npy"), at("n.zarr"), "--as", "npy-array", "--to", "zarr3"])).code).toBe(0);
    const piped = (...more: string[]) =>
      execFileSync(process.execPath, [cli, "convert", at("n.zarr"), "-", "--to", "npy", "-q", ...more]);
    expect(piped().equals(npy)).toBe(true);
    expect(piped("--slice", "1,:").subarray(-2).toString()).toBe("CD");
  });

  it("are described", async () => {
    const { stdout } = await octavo(["info", at("cells/c.swc")]);
    expect(stdout).toMatch(/^SWC {2}file:.*c\.swc$/m);
    expect(stdout).toMatch(/x {2}2 … 2 micrometer/);
    expect(stdout).toMatch(/0 +3 +1/);
  });
});

const gzip = (text: string): Buffer => execFileSync("gzip", ["-c"], { input: text });
