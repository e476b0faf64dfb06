/** Conversions that several processes share, and that are killed: really, with the signal that nobody can handle. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../zarr-vectors-scenes.js";
import { build, octavo } from "./run.js";

let folder = "";
let input = "";
beforeAll(() => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-shares-"));
  input = join(folder, "paths.tck");
  writeFileSync(input, tck(600, 40));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Streamlines that wander about. */
function tck(count: number, length: number): Uint8Array {
  const next = random(5);
  const numbers = new Float32Array(3 * (count * (length + 1) + 1));
  let at = 0;
  for (let s = 0; s < count; s++) {
    const place = [0, 0, 0].map(() => 100 * next());
    for (let v = 0; v < length; v++)
      for (let axis = 0; axis < 3; axis++) numbers[at++] = place[axis]! += 2 * next() - 1;
    for (let axis = 0; axis < 3; axis++) numbers[at++] = Number.NaN;
  }
  numbers.fill(Number.POSITIVE_INFINITY, at);
  const header = `mrtrix tracks\ndatatype: Float32LE\ncount: ${count}\nfile: . 100\nEND\n`.padEnd(100, " ");
  return Buffer.concat([Buffer.from(header), Buffer.from(numbers.buffer)]);
}

const filesIn = (path: string): string[] => {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".partial")) // which the file store hides, and takes away later
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
      .sort();
  } catch {
    return []; // it is not there yet
  }
};

function mustEqual(a: string, b: string): void {
  expect(filesIn(a)).toEqual(filesIn(b));
  for (const name of filesIn(a))
    expect(readFileSync(join(a, name)).equals(readFileSync(join(b, name))), name).toBe(true);
}

const TARGETS: readonly [string, readonly string[]][] = [
  ["a.zv", ["--chunk", "10,10,10"]],
  ["b.zv", ["--chunk", "10,10,10", "--pyramid=1", "--max-memory", "1M"]],
  ["skeletons", ["--to", "precomputed", "--sharded=no"]],
];

describe("a conversion that is killed", { timeout: 120_000 }, () => {
  it.each(TARGETS)("goes on to the same bytes: %s", async (name, options) => {
    const whole = join(folder, "whole", name);
    expect((await octavo(["convert", input, whole, ...options])).stderr).toBe("");
    const all = filesIn(whole).length;
    let stopped = 0;
    for (const share of [0, 0.3, 0.9]) {
      const out = join(folder, `killed-${share}`, name);
      const { code } = await octavo(["convert", input, out, ...options], {
        started(kill) {
          const watch = setInterval(() => {
            if (filesIn(out).length <= share * all) return;
            clearInterval(watch);
            kill("SIGKILL");
          }, 1);
          setTimeout(() => clearInterval(watch), 30_000).unref();
        },
      });
      const before = filesIn(out).filter((file) => !/octavo|json$|info$/.test(file));
      if (code === null) {
        stopped++;
        expect((await octavo(["info", out])).code).not.toBe(0);
        const again = await octavo(["convert", input, out, ...options]);
        expect(again).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/holds an interrupted[^\n]*\n.*--resume.*--overwrite/),
        });
        const times = new Map(before.map((file) => [file, stamp(join(out, file))]));
        const resumed = await octavo(["convert", input, out, ...options, "--resume"]);
        expect(resumed).toMatchObject({ code: 0, stderr: "" });
        for (const [file, time] of times) expect(stamp(join(out, file)), file).toBe(time); // not written again
      }
      mustEqual(out, whole);
    }
    expect(stopped).toBeGreaterThan(0);
  });

  it("goes on only with the same input", async () => {
    const own = join(folder, "own.tck");
    writeFileSync(own, tck(200, 40));
    const out = join(folder, "changed.zv");
    mkdirSync(out);
    await octavo(["convert", own, out, "--part", "1/2"]); // which leaves a journal, as a kill does
    const bytes = readFileSync(own);
    bytes[5000]! ^= 1;
    writeFileSync(own, bytes);
    const { code, stderr } = await octavo(["convert", own, out, "--part", "2/2"]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("its input own.tck was another, or has changed"),
    });
  });
});

const stamp = (file: string): string => execFileSync("stat", ["-c", "%i %y", file], { encoding: "utf8" });

describe("a conversion in parts", { timeout: 120_000 }, () => {
  it.each(TARGETS.filter(([, options]) => !options.includes("--pyramid=1")))(
    "at the same time, one of them killed and run again: %s",
    async (name, options) => {
      const whole = join(folder, "parts-whole", name);
      await octavo(["convert", input, whole, ...options]);
      const out = join(folder, "parts", name);
      const part = (index: number, started?: (kill: (signal: NodeJS.Signals) => void) => void) =>
        octavo(["convert", input, out, ...options, "--part", `${index}/3`], started && { started });
      const kill = (end: (signal: NodeJS.Signals) => void): void => {
        const watch = setInterval(() => {
          if (filesIn(out).length < 4) return;
          clearInterval(watch);
          end("SIGKILL");
        }, 1);
      };
      const [one, two, three] = await Promise.all([part(1), part(2, kill), part(3)]);
      expect([one, three]).toMatchObject([
        { code: 0 },
        { code: 0, stdout: expect.stringMatching(/^part 3 of 3: \d+ keys/) },
      ]);
      expect((await octavo(["info", out])).code).not.toBe(0);
      if (two.code === null) {
        const early = await octavo(["convert", input, out, ...options, "--finish"]);
        expect(early).toMatchObject({
          code: 3,
          stderr: expect.stringMatching(/part 2 of 3 is missing\n.*--part 2\/3/),
        });
      }
      expect((await part(2)).code).toBe(0);
      expect((await octavo(["convert", input, out, ...options, "--finish"])).stderr).toBe("");
      mustEqual(out, whole);
    },
  );
});
