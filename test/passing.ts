/** Files that are held and files that pass, side by side. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { converter } from "../src/convert/index.js";
import type { ConvertToOptions } from "../src/convert/options.js";
import { passingOf } from "../src/convert/passing.js";
import type { OpenFileOptions } from "../src/format/interchange/types.js";
import type { VectorDataset } from "../src/model/vectors.js";
import { open, Prefix } from "../src/node.js";
import { isPrivate } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import { random } from "./fuzz/mutate.js";

/** Where the files of a test are. */
export let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-passing-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a conversion says, and everything that it writes; nothing that was put aside is left. */
async function written(from: string, options: ConvertToOptions) {
  const store = memoryStore();
  const at = Prefix.of("out");
  const report = await converter(open, async () => ({ store, at }))(from, "out", options);
  const found: Record<string, string> = {};
  for await (const { key } of store.list(at)) {
    expect(isPrivate(key)).toBe(false);
    found[key] = createHash("sha1")
      .update((await store.get(key))!)
      .digest("hex");
  }
  return { report, found };
}

/** The store of a file, held and passing, which must be the same; what the reports say. */
export async function same(
  name: string,
  bytes: Uint8Array | string,
  options: ConvertToOptions = {},
  maxMemory = 30_000,
) {
  const from = join(folder, name);
  writeFileSync(from, bytes);
  const held = await written(from, options);
  expect(Object.keys(held.found).length).toBeGreaterThan(5);
  expect(passingOf((await open(from, { maxMemory } as OpenFileOptions)) as VectorDataset)).toBeDefined(); // else it is held both times
  expect(await written(from, { ...options, maxMemory })).toEqual(held);
  return held.report;
}

/** What is wrong with a file, held and passing, which must be the same; without it the same is left, and the same is told. */
export async function sameProblem(
  name: string,
  bytes: Uint8Array | string,
  maxMemory = 30_000,
  more: ConvertToOptions = {},
): Promise<string> {
  const from = join(folder, name);
  writeFileSync(from, bytes);
  const ways = [more, { ...more, maxMemory }].map(async (options) => [
    await written(from, options).catch((error: Error) => `${error}`),
    await written(from, { ...options, skipBad: true }).catch((error: Error) => `${error}`),
  ]);
  const [held, passing] = await Promise.all(ways);
  expect(passing).toEqual(held);
  return `${held![0]}`;
}

export const SIDE = 30;
/** A height for each place of a square, and two triangles for each of its cells. */
export function square(
  seed: number,
  side = SIDE,
): { readonly at: (vertex: number) => number[]; readonly faces: number[][] } {
  const dice = random(seed);
  const heights = Float32Array.from({ length: side * side }, () => dice.below(100) / 8);
  const faces: number[][] = [];
  for (let y = 0; y + 1 < side; y++)
    for (let x = 0; x + 1 < side; x++) {
      const v = y * side + x;
      faces.push([v, v + 1, v + side], [v + 1, v + side + 1, v + side]);
    }
  for (let i = faces.length - 1; i > 0; i--) {
    const other = dice.below(i + 1);
    [faces[i], faces[other]] = [faces[other]!, faces[i]!];
  }
  return { at: (v) => [v % side, Math.floor(v / side), heights[v]!], faces };
}
