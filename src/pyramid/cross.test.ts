/** Links between levels: every vertex has one, to where it should be, both ways; and they go with the levels. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../test/properties.js";
import { KINDS, random, scene } from "../../test/zarr-vectors-scenes.js";
import { openZarrVectors, zarrVectors } from "../format/zarr-vectors/index.js";
import { linksBetween } from "../format/zarr-vectors/read/link-levels.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { buildPyramid } from "./build.js";
import { nearestOf } from "./nearest.js";

const at = Prefix.of("a.zv");

async function stored(kind: (typeof KINDS)[number] | "cloud") {
  const store = memoryStore();
  const geometry = kind === "cloud" ? "points" : kind;
  const writer = await createZarrVectors(store, at, { geometry, dims: 3, chunkShape: 10 });
  const next = random(4);
  if (kind === "cloud") await writer.add({ positions: Float32Array.from({ length: 3000 }, () => 40 * next()) });
  else await writer.add(scene(kind, 5, 20));
  await writer.commit();
  return store;
}

/** Every vertex by its chunk and its number there: its object and its place. */
async function verticesOf(store: ReturnType<typeof memoryStore>, level: number) {
  const source = await (await openZarrVectors(store, at)).source(level);
  const table = await source.chunks();
  const found = new Map<string, { readonly owner: bigint | undefined; readonly place: readonly number[] }>();
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  for await (const { chunk, parts, positions } of source.tiles(all, { positions: true, vertex: [], fragment: [] })) {
    const numbers = Uint32Array.from({ length: parts.length - 1 }, (_, part) => part);
    const owners = await source.objects?.owners({ chunk: new Int32Array(numbers.length).fill(chunk), part: numbers });
    const ids = await source.objects?.ids();
    for (const part of numbers)
      for (let v = parts[part]!; v < parts[part + 1]!; v++)
        found.set(`${table.coords.subarray(chunk * 3, chunk * 3 + 3)}:${v}`, {
          owner: owners && ids![owners.rows[owners.offsets[part]!]!],
          place: [...positions.subarray(3 * v, 3 * v + 3)],
        });
  }
  return found;
}

async function linksOf(store: ReturnType<typeof memoryStore>, level: number, delta: number) {
  const { opened } = await openZarrVectors(store, at);
  const links: (readonly [string, string])[] = [];
  for await (const { chunks, vertices } of linksBetween(opened, level, delta))
    for (let l = 0; l < vertices.length; l += 2) {
      const end = (k: number): string => `${chunks.subarray(3 * (l + k), 3 * (l + k) + 3)}:${vertices[l + k]}`;
      links.push([end(0), end(1)]);
    }
  return links;
}

describe.each([...KINDS, "cloud"] as const)("%s", (kind) => {
  it("have a link from every vertex to the one that stands for it, and back", async () => {
    const store = await stored(kind);
    await buildPyramid(store, at, { levels: 2, keep: 0.5, error: 4, crossLinks: true });
    const found: string[] = [];
    for await (const { severity, message } of zarrVectors.validate(store, at))
      if (severity === "error") found.push(message);
    expect(found).toEqual([]);
    for (const level of [0, 1]) {
      const [fine, coarse] = [await verticesOf(store, level), await verticesOf(store, level + 1)];
      const up = await linksOf(store, level, 1);
      const down = await linksOf(store, level + 1, -1);
      expect(down.map(([a, b]) => `${b} ${a}`).sort()).toEqual(up.map(([a, b]) => `${a} ${b}`).sort());
      const kept = new Set([...coarse.values()].map(({ owner }) => owner));
      const linked = new Map(up);
      expect(linked.size).toBe(up.length);
      const far = (a: readonly number[], b: readonly number[]): number => Math.hypot(...a.map((x, i) => x - b[i]!));
      for (const [name, { owner, place }] of fine) {
        if (!kept.has(owner)) expect(linked.has(name)).toBe(false);
        else {
          const other = coarse.get(linked.get(name)!)!;
          expect(other.owner).toBe(owner);
          if (kind === "cloud") continue;
          const nearer = [...coarse.values()].find(
            (one) => one.owner === owner && far(place, one.place) < far(place, other.place),
          );
          expect(nearer).toBeUndefined();
        }
      }
    }
    const { root } = (await openZarrVectors(store, at)).opened;
    expect([root.crossLevelDepth, root.crossLevelStorage]).toEqual([1, "explicit"]);
    await buildPyramid(store, at, { levels: 1 });
    expect(await linksOf(store, 0, 1)).toEqual([]);
  });
});

it("the nearest is the nearest", () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 4 }), (seed, count, dims) => {
      const next = random(seed + 1);
      const some = (n: number, flat: boolean) =>
        Float64Array.from({ length: n * dims }, (_, i) => (flat && i % dims > 0 ? 3 : 10 * next()));
      for (const flat of [false, true]) {
        const [fine, coarse] = [some(40, false), some(count, flat)];
        const found = nearestOf({ positions: fine, from: 0, to: 40 }, { positions: coarse, from: 0, to: count }, dims);
        const far = (a: number, b: number): number => {
          let sum = 0;
          for (let axis = 0; axis < dims; axis++) sum += (fine[a * dims + axis]! - coarse[b * dims + axis]!) ** 2;
          return sum;
        };
        let wrong = 0;
        for (let a = 0; a < 40; a++) for (let b = 0; b < count; b++) if (far(a, b) < far(a, found[a]!)) wrong++;
        expect(wrong).toBe(0);
      }
    }),
    { numRuns: 30 },
  );
});
