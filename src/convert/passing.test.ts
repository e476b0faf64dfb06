/** Files that are too large to be held become the same stores as those that are not. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../test/fuzz/mutate.js";
import { open, Prefix } from "../node.js";
import { isPrivate } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { converter } from "./index.js";
import type { ConvertToOptions } from "./options.js";

let folder = "";
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
    found[key] = Buffer.from((await store.get(key))!).toString("base64");
  }
  return { report, found };
}

/** The store of a file, held and passing, which must be the same; what the reports say. */
async function same(name: string, bytes: Uint8Array | string, options: ConvertToOptions = {}, maxMemory = 30_000) {
  const from = join(folder, name);
  writeFileSync(from, bytes);
  const held = await written(from, options);
  expect(Object.keys(held.found).length).toBeGreaterThan(5);
  expect(bytes.length).toBeGreaterThan(maxMemory / 10); // else it is held both times
  expect(await written(from, { ...options, maxMemory })).toEqual(held);
  return held.report;
}

const SIDE = 30;
/** A height for each place of a square, and two triangles for each of its cells. */
function square(seed: number): { readonly at: (vertex: number) => number[]; readonly faces: number[][] } {
  const dice = random(seed);
  const heights = Float32Array.from({ length: SIDE * SIDE }, () => dice.below(100) / 8);
  const faces: number[][] = [];
  for (let y = 0; y + 1 < SIDE; y++)
    for (let x = 0; x + 1 < SIDE; x++) {
      const v = y * SIDE + x;
      faces.push([v, v + 1, v + SIDE], [v + 1, v + SIDE + 1, v + SIDE]);
    }
  for (let i = faces.length - 1; i > 0; i--) {
    const other = dice.below(i + 1);
    [faces[i], faces[other]] = [faces[other]!, faces[i]!];
  }
  return { at: (v) => [v % SIDE, Math.floor(v / SIDE), heights[v]!], faces };
}

function binaryStl(normals: boolean, more: boolean): Buffer {
  const { at, faces } = square(1);
  const bytes = Buffer.alloc(84 + 50 * faces.length, 0);
  bytes.write("made here");
  bytes.writeUInt32LE(faces.length, 80);
  for (const [i, face] of faces.entries()) {
    const start = 84 + 50 * i;
    for (let k = 0; k < 3; k++) bytes.writeFloatLE(normals ? i / (k + 1) : 0, start + 4 * k);
    for (const [corner, v] of face.entries())
      for (const [k, value] of at(v).entries())
        bytes.writeFloatLE(value === 0 && i % 2 === 1 ? -0 : value, start + 12 + 12 * corner + 4 * k);
    bytes.writeUInt16LE(more ? i : 0, start + 48);
  }
  return bytes;
}

function solid(name: string, seed: number, count: number): string {
  const { at, faces } = square(seed);
  const text = faces.slice(0, count).map((face) => {
    const corners = face.map((v) => `vertex ${at(v).join(" ")}\n`).join("");
    return `facet normal 0 0 1\nouter loop\n${corners}endloop\nendfacet\n`;
  });
  return `solid ${name}\n${text.join("")}endsolid ${name}\n`;
}

describe("STL", () => {
  it.each([
    [false, false],
    [true, true],
  ])("binary, normals %s, attributes %s", async (normals, more) => {
    expect((await same("a.stl", binaryStl(normals, more))).vertices).toBe(SIDE * SIDE);
  });
  it("binary, in format 0.7.0, with chunks that are asked for", async () => {
    await same("a.stl", binaryStl(true, false), { formatVersion: "0.7.0", chunkShape: [7, 7, 7] });
  });
  it("binary, with coarser levels", async () => {
    await same("a.stl", binaryStl(true, false), { chunkShape: [9, 9, 9], pyramid: { levels: 1 } });
  });
  it.each([["a", "b"], ["12", "7"], [""]])("text with the solids %s, %s", async (...names) => {
    const text = names.map((name, i) => solid(name, i, 300 + i)).join("");
    await same("a.stl", `${text}solid empty\nendsolid\n`);
    await same("a.stl", text, { ids: "dense" });
  });
});
