import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { drills } from "./drills.js";
import { fuzz, inputOf, observe } from "./driver.js";
import { mutate, random } from "./mutate.js";
import { foundFolder, keep, watch } from "./runner.js";

describe("the driver sees", () => {
  const finds = async (name: keyof typeof drills, runs: number) => (await fuzz(drills[name], { runs, seed: 1 })).finds;

  test("nothing wrong with a decoder that only throws Octavo's errors", async () => {
    const report = await fuzz(drills.good, { runs: 1000, seed: 1 });
    expect(report.finds).toEqual([]);
    expect(report.runs).toBe(1000);
    expect(report.accepted).toBeGreaterThan(100);
    expect(report.accepted).toBeLessThan(900);
  });
  test("any other error, also a late one", async () => {
    expect((await finds("crashes", 50)).length).toBe(20); // enough is enough
    expect((await finds("crashes", 50))[0]!.problem).toMatch(/^RangeError: Offset is outside/);
    expect((await finds("rejects", 1))[0]!.problem).toMatch(/^RangeError: late/);
  });
  test("a decoder that is slow three times", async () => {
    expect((await finds("dawdles", 1))[0]!.problem).toMatch(/^took \d+ ms$/);
  });
  test("memory beyond the cap, touched or not", async () => {
    expect((await finds("hoards", 1))[0]!.problem).toMatch(/^took 7\d MiB$/);
  });
  test("seeds that do not decode", async () => {
    const broken = { ...drills.good, load: async () => ({ seeds: [Uint8Array.of(1)], run: () => JSON.parse("{") }) };
    await expect(fuzz(broken, { runs: 1, seed: 1 })).rejects.toThrow(/seed 0 should decode/);
    const none = { ...drills.good, load: async () => ({ seeds: [], run: () => 0 }) };
    await expect(fuzz(none, { runs: 1, seed: 1 })).rejects.toThrow(/no seeds/);
  });
});

describe("the watchdog", () => {
  afterAll(() => rmSync(join(foundFolder, drills.hangs.name), { recursive: true, force: true }));

  test("ends a decoder that does not, and keeps the input", async () => {
    const report = await watch(drills.hangs, 10, 5, { hungAfter: 500 });
    expect(report.finds[0]!.problem).toMatch(/^did not end/);
    const decoder = await drills.hangs.load();
    expect(report.finds[0]!.bytes).toEqual(inputOf(decoder, 5, report.finds[0]!.run));
    expect(new Uint8Array(readFileSync(keep(drills.hangs, report.finds[0]!.bytes)))).toEqual(report.finds[0]!.bytes);
  });
  test("passes on what the driver reports", async () => {
    expect(await watch(drills.good, 500, 1)).toMatchObject({ runs: 500, finds: [] });
  });
});

describe("inputs", () => {
  test("follow from their numbers, and do not touch their seeds", async () => {
    const seed = Uint8Array.from({ length: 100 }, (_, i) => i);
    const before = seed.slice();
    const inputs = (start: number) =>
      Array.from({ length: 300 }, (_, run) => inputOf({ seeds: [seed], run: () => 0 }, start, run));
    expect(inputs(1)).toEqual(inputs(1));
    expect(inputs(2)).not.toEqual(inputs(1));
    expect(seed).toEqual(before);
    expect(new Set(inputs(1).map((bytes) => Buffer.from(bytes).toString("hex"))).size).toBeGreaterThan(280);
  });
  test("can be made of nothing", () => {
    for (let i = 0; i < 500; i++)
      expect(mutate(new Uint8Array(0), new Uint8Array(0), random(i)).length).toBeLessThan(5000);
  });
  test("are copies: a decoder that scribbles on its input does not change what is kept", async () => {
    const scribbler = { seeds: [], run: (bytes: Uint8Array) => bytes.fill(0) };
    const bytes = Uint8Array.of(1, 2, 3);
    await observe(drills.good, scribbler, bytes);
    expect([...bytes]).toEqual([1, 2, 3]);
  });
});
