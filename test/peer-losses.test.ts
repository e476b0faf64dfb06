/**
 * What tensorstore, cloud-volume, igneous, packingcubes, zarrita and the early zarr lose or answer wrongly without a word, and Octavo
 * does not: the rows of docs/conformance.md that no other test shows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeSegmentation } from "../src/codec/compressed-segmentation.js";
import { buildTree, countIn, joinParticles, nearestParticles, particlesIn } from "../src/format/packed-tree/index.js";
import { createMeshes, openMeshes, openValues, parseSharding } from "../src/format/precomputed/index.js";
import { createArray, writeRegion } from "../src/format/zarr/index.js";
import { loadLabelKernel } from "../src/kernel/labels.js";
import type { ArrayDataset } from "../src/model/dataset.js";
import { convert, open } from "../src/node.js";
import { fileStore } from "../src/store/file.js";
import { Key, Prefix } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import { fixtures } from "./fixtures.js";
import { goldenTree } from "./packed-tree.js";

const SHARDED = {
  hash: "murmur3",
  preshiftBits: 0,
  minishardBits: 1,
  shardBits: 1,
  indexEncoding: "gzip",
  dataEncoding: "gzip",
} as const;

/** A ball of so many faces, in its middle 0. */
function ball(rows: number) {
  const positions: number[] = [];
  const faces: number[] = [];
  for (let i = 0; i <= rows; i++)
    for (let j = 0; j < 2 * rows; j++) {
      const [u, v] = [(Math.PI * i) / rows, (Math.PI * j) / rows];
      positions.push(Math.sin(u) * Math.cos(v), Math.sin(u) * Math.sin(v), Math.cos(u));
      const [a, next] = [2 * rows * i + j, 2 * rows * i + ((j + 1) % (2 * rows))];
      if (i < rows) faces.push(a, next, a + 2 * rows, next, next + 2 * rows, a + 2 * rows);
    }
  return { positions: Float32Array.from(positions, (value) => 1000 * value), faces: Uint32Array.from(faces) };
}

describe("precomputed", () => {
  it.each(["shared_range", "adjacent_empty_values"])("%s: many values that are asked for at once", async (folder) => {
    const root = join(fixtures("precomputed"), "odd");
    const wanted: Record<string, string> = JSON.parse(readFileSync(join(root, "expected.json"), "utf8"))[folder].want;
    const { sharding } = JSON.parse(readFileSync(join(root, folder, "info"), "utf8"));
    const values = await openValues(fileStore(join(root, folder)), Prefix.root, parseSharding(sharding, folder));
    const ids = BigUint64Array.from(Object.keys(wanted), BigInt);
    const found = new Map<string, string>();
    for await (const { rows, values: bytes } of values.getMany(ids))
      for (const [i, row] of rows.entries()) found.set(`${ids[row]}`, Buffer.from(bytes[i]!).toString("hex"));
    expect(Object.fromEntries(found)).toEqual(wanted);
    expect(found.size).toBeGreaterThan(1);
  });

  it("meshes in shards that are compressed, of ids beyond 2^63, each with as many levels as it has", async () => {
    const store = memoryStore();
    const writer = await createMeshes(store, Prefix.root, { sharding: SHARDED });
    const ids = [5n, 2n ** 63n + 1n, 2n ** 64n - 1n];
    const [small, large] = [ball(4), ball(100)];
    for (const [i, id] of ids.entries()) await writer.put(id, i === 1 ? large : small);
    await writer.commit();
    const meshes = await openMeshes(store);
    const levels: number[] = [];
    for await (const { outline } of meshes.outlines(BigUint64Array.from(ids))) {
      levels.push(outline!.levels);
      expect((await outline!.read(outline!.levels - 1)).faces.length).toBeGreaterThan(0);
      expect((await outline!.read(0)).faces.length).toBeGreaterThanOrEqual(small.faces.length / 2);
    }
    expect(new Set(levels).size).toBeGreaterThan(1);
  });

  it("labels of a chunk whose values lie beyond 2^24 words", async () => {
    const far = 2 ** 24 + 5;
    const words = new Uint32Array(far + 2);
    words.set([1, 2 | (1 << 24), far, 7, 9]); // the channel at word 1, its table 2 words on, its values far away
    words[far + 1] = 0b10;
    const spec = {
      shape: [1, 1, 1, 2],
      dtype: { kind: "uint", size: 4, endian: "little" },
      fill: new Uint8Array(4),
    } as const;
    const labels = decodeSegmentation(new Uint8Array(words.buffer), spec, [2, 1, 1], await loadLabelKernel());
    expect([...new Uint32Array(labels.slice().buffer)]).toEqual([7, 9]);
  });
});

describe("PackedTree", () => {
  it("particles on the faces of a box that has drifted", async () => {
    const { positions, threshold, box } = goldenTree(fixtures("packed-tree"), "grid_drift_t1");
    const particles = await joinParticles(await buildTree(positions, { threshold, box }));
    const { origin, size } = particles.tree.box;
    const [low, high] = [origin, origin.map((value, axis) => value + size[axis]!)];
    let inside = 0;
    for (let i = 0; i < particles.count; i++)
      if ([0, 1, 2].every((k) => positions[3 * i + k]! >= low[k]! && positions[3 * i + k]! <= high[k]!)) inside++;
    expect(inside).toBe(512); // the reference answers with 729
    expect(countIn(particles, { box: [...low, ...high] })).toBe(512);
  });

  it("no particles are none", async () => {
    const none = await joinParticles(await buildTree(new Float64Array()));
    expect([...particlesIn(none, { box: [0, 0, 0, 1, 1, 1] })]).toEqual([]);
    expect([...nearestParticles(none, [0, 0, 0], 2).numbers]).toEqual([]);
  });

  it("the nearest from far beyond the upper faces, and only those within the bound", async () => {
    const particles = await joinParticles(
      await buildTree(Float64Array.of(0, 0, 0, 1, 1, 1, 0.5, 0.5, 0.5), { threshold: 1 }),
    );
    const near = (place: number[], within = Number.POSITIVE_INFINITY) =>
      [...nearestParticles(particles, place, 2, { within, numbers: "original" }).numbers].map(Number);
    expect(near([50, 50, 50])).toEqual([1, 2]);
    expect(near([1.1, 1, 1], 0.2)).toEqual([1]);
    expect(near([-50, -50, -50], 1)).toEqual([]);
    expect(() => near([Number.NaN, 0, 0])).toThrow();
  });
});

describe("Zarr", () => {
  it("a fill value of 2^64 − 1, through every version", async () => {
    let from = join(fixtures("zarr"), "v0/fill_bigint_u8");
    for (const version of ["zarr3", "zarr2", "zarr0"] as const) {
      const to = `memory:peers/fill/${version}`;
      expect((await convert(from, to, { to: version })).losses).toEqual([]);
      const { data } = await ((await open(to)) as ArrayDataset).read();
      expect(new BigUint64Array((data as Uint8Array).slice().buffer).at(-1)).toBe(2n ** 64n - 1n);
      from = to;
    }
  });

  it.each([
    ["noshuffle", 0],
    ["shuffle", 1],
    ["bitshuffle", 4],
  ] as const)("blosc with %s is written as declared", async (shuffle, flag) => {
    const store = memoryStore();
    const configuration = { cname: "lz4", clevel: 5, shuffle, typesize: 4, blocksize: 0 };
    const array = await createArray(store, Prefix.root, {
      shape: [4096],
      chunkShape: [4096],
      dtype: "int32",
      codecs: [
        { name: "bytes", configuration: { endian: "little" } },
        { name: "blosc", configuration },
      ],
    });
    await writeRegion(array, undefined, {
      shape: [4096],
      dtype: array.dtype,
      data: new Uint8Array(Int32Array.from({ length: 4096 }, (_, i) => i % 100).buffer),
    });
    const chunk = (await store.get(Key.of("c/0")))!;
    expect(chunk[2]! & 7).toBe(flag);
  });
});
