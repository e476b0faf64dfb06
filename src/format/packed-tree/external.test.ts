import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { alike, goldenNames, goldenTree } from "../../../test/packed-tree.js";
import { InvalidInput, LimitExceeded } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Positions } from "../../model/vectors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { scratchFile } from "../../store/scratch-file.js";
import { buildTree } from "./build.js";
import { encodeTree } from "./encode.js";
import { type BuildOnDiskOptions, buildTreeOnDisk, type TreeOnDisk } from "./external.js";
import type { ParticleBatch, ParticleStream } from "./external-types.js";
import { openParticles } from "./file/dataset.js";
import { writeRows } from "./file/write.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "octavo-external-"));
});
afterAll(() => {
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
const scratch = () => scratchFile(folder);

/** Batches of so many particles. */
const inBatches = (positions: Positions, size: number, columns: readonly Column[] = []): ParticleStream => ({
  count: positions.length / 3,
  async *batches() {
    for (let at = 0; at === 0 || at < positions.length / 3; at += size)
      yield {
        positions: positions.subarray(3 * at, 3 * (at + size)),
        columns: columns.map(({ info, values }) => ({
          info,
          values: (values as Float32Array).subarray(at * info.channels, (at + size) * info.channels),
        })),
      };
  },
});

async function built<T>(
  stream: ParticleStream,
  options: Omit<BuildOnDiskOptions, "scratch">,
  look: (tree: TreeOnDisk) => T | Promise<T>,
): Promise<T> {
  const tree = await buildTreeOnDisk(stream, { ...options, scratch, created: 0 });
  try {
    return await look(tree);
  } finally {
    tree.close();
  }
}

/** Memory for so many particles at a time. */
const memoryFor = (particles: number, bytes: number): number => Math.ceil((particles * (3 * bytes + 8)) / 0.7);

describe("the tree of the reference, with memory for a few particles", () => {
  const golden = fixtures("packed-tree");
  it.each(goldenNames(golden))("%s", async (name) => {
    const { positions, box, threshold, bytes, order } = goldenTree(golden, name);
    const maxMemory = memoryFor(positions.length / 3 / 5, positions.BYTES_PER_ELEMENT) + 1;
    await built(inBatches(positions, 97), { box, threshold, maxMemory }, (tree) => {
      expect(alike(encodeTree(tree.tree), bytes)).toBe(true);
      expect(alike(tree.order(0, tree.count) as Uint32Array, order)).toBe(true);
    });
  });
});

it("any particles, with any memory, have the tree and the order that they have in memory, and take their attributes along", async () => {
  const value = fc.oneof(fc.constantFrom(0, 0.125, 0.5, 0.75, 1, -1e6), fc.double({ min: -1, max: 1, noNaN: true }));
  const set = fc.oneof(
    fc.array(fc.tuple(value, value, value), { maxLength: 300 }),
    fc.tuple(fc.tuple(value, value, value), fc.nat(60)).map(([one, n]) => Array.from({ length: n }, () => one)),
  );
  await fc.assert(
    fc.asyncProperty(
      set,
      fc.nat(9),
      fc.boolean(),
      fc.integer({ min: 1, max: 90 }),
      async (list, threshold, narrow, few) => {
        const positions = narrow ? Float32Array.from(list.flat()) : Float64Array.from(list.flat());
        const count = list.length;
        const columns: Column[] = [
          {
            info: { name: "a", dtype: { kind: "uint", size: 1, endian: "little" }, channels: 3 },
            values: Uint8Array.from({ length: 3 * count }, (_, i) => i),
          },
          {
            info: { name: "b", dtype: { kind: "float", size: 8, endian: "little" }, channels: 1 },
            values: Float64Array.from({ length: count }, (_, i) => -i),
          },
        ];
        const wanted = await buildTree(positions, { threshold, created: 0 });
        await built(inBatches(positions, few, columns), { threshold, maxMemory: few * 60 }, (tree) => {
          expect(encodeTree(tree.tree)).toEqual(encodeTree(wanted.tree));
          expect(tree.order(0, count)).toEqual(wanted.order);
          expect(tree.positions(0, count)).toEqual(wanted.positions);
          expect(tree.values(0, 0, count)).toEqual(
            Uint8Array.from({ length: 3 * count }, (_, i) => 3 * wanted.order[Math.floor(i / 3)]! + (i % 3)),
          );
          expect(tree.values(1, 0, count)).toEqual(Float64Array.from(wanted.order, (i) => -i));
          const [from, to] = [Math.floor(count / 3), Math.ceil(count / 2)];
          expect(tree.positions(from, to)).toEqual(wanted.positions.slice(3 * from, 3 * to));
        });
      },
    ),
    { numRuns: 50 },
  );
});

it("planes that leave all on one side take no pass, nor do leaves that are larger than memory", async () => {
  const count = 3000;
  const positions = new Float32Array(3 * count).fill(0.3);
  positions.set([-1e6, -1e6, -1e6], 3 * 1000); // so that thirty levels lie above the others
  let read = 0;
  const counting = () => {
    const file = scratchFile(folder);
    const own = file.read;
    return Object.assign(file, {
      read(at: number, into: Uint8Array) {
        read += into.length;
        own(at, into);
      },
    });
  };
  const tree = await buildTreeOnDisk(inBatches(positions, 500), {
    scratch: counting,
    maxMemory: memoryFor(300, 4),
    threshold: 400,
  });
  expect(tree.tree.nodes.length).toBeGreaterThan(20);
  tree.close();
  expect(read).toBeLessThan(3 * 2 * 16 * count);
});

it("a leaf of more particles than a piece has is written and read piece by piece, with attributes", async () => {
  const count = 2 ** 20 + 1000;
  const number: Column = {
    info: { name: "number", dtype: { kind: "uint", size: 4, endian: "little" }, channels: 1 },
    values: Uint32Array.from({ length: count }, (_, i) => i),
  };
  const [store, key] = [memoryStore(), Key.of("one.ptree")];
  const longest: number[] = [];
  await built(inBatches(new Float32Array(3 * count).fill(0.3), 77_777, [number]), { maxMemory: 1e5 }, async (tree) => {
    const positions = (start: number, stop: number) => {
      longest.push(stop - start);
      return tree.positions(start, stop);
    };
    await writeRows(store, key, { ...tree, positions });
  });
  expect(Math.max(...longest)).toBeLessThanOrEqual(2 ** 18);
  const batch = await (await openParticles(store, key)).select({}).read();
  expect(alike(batch.vertexColumns.get("number")!.values as Uint32Array, number.values as Uint32Array)).toBe(true);
});

describe("what is no set of particles is refused, and no file stays behind", () => {
  const three = Float64Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2);
  const heat = { name: "heat", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
  const from = (...batches: ParticleBatch[]): ParticleStream => ({
    async *batches() {
      yield* batches;
    },
  });
  it.each<[string, ParticleStream, object, new (message: string) => Error]>([
    ["NaN", from({ positions: Float32Array.of(0, Number.NaN, 0), columns: [] }), {}, InvalidInput],
    ["four numbers", from({ positions: new Float64Array(4), columns: [] }), {}, InvalidInput],
    ["another count than was said", { ...inBatches(three, 2), count: 4 }, {}, InvalidInput],
    [
      "float64 behind float32",
      from({ positions: new Float32Array(3), columns: [] }, { positions: three, columns: [] }),
      {},
      InvalidInput,
    ],
    [
      "a column of another length",
      from({ positions: three, columns: [{ info: heat, values: new Float32Array(2) }] }),
      {},
      InvalidInput,
    ],
    [
      "a column of words",
      from({ positions: three, columns: [{ info: heat, values: ["a", "b", "c"] }] }),
      {},
      InvalidInput,
    ],
    [
      "a column that is not in every batch",
      from(
        { positions: three, columns: [{ info: heat, values: new Float32Array(3) }] },
        { positions: three, columns: [] },
      ),
      {},
      InvalidInput,
    ],
    [
      "a column that changes",
      from(
        { positions: three, columns: [{ info: heat, values: new Float32Array(3) }] },
        { positions: three, columns: [{ info: { ...heat, name: "cold" }, values: new Float32Array(3) }] },
      ),
      {},
      InvalidInput,
    ],
    ["an inverted box", inBatches(three, 1), { box: { origin: [0, 0, 0], size: [1, 1, -1] } }, InvalidInput],
    ["no memory", inBatches(three, 1), { maxMemory: 0 }, InvalidInput],
    ["half a particle as threshold", inBatches(three, 1), { threshold: 0.5 }, InvalidInput],
    [
      "more nodes than memory",
      inBatches(
        Float64Array.from({ length: 9000 }, (_, i) => (i * 7919) % 10007),
        500,
      ),
      { threshold: 0, maxMemory: 1e5 },
      LimitExceeded,
    ],
  ])("%s", async (_, stream, options, kind) => {
    await expect(buildTreeOnDisk(stream, { ...options, scratch })).rejects.toThrow(kind);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("a source that fails, and a caller who has had enough", async () => {
    const open = new Set<object>();
    const watched = () => {
      const file = scratchFile(folder);
      open.add(file);
      return { ...file, close: () => open.delete(file) && file.close() };
    };
    const failing: ParticleStream = {
      async *batches() {
        yield { positions: three, columns: [] };
        throw new Error("the line is cut");
      },
    };
    await expect(buildTreeOnDisk(failing, { scratch: watched })).rejects.toThrow("the line is cut");
    const enough = new AbortController();
    const many = inBatches(
      Float64Array.from({ length: 3e4 }, (_, i) => (i * 7919) % 10007),
      500,
    );
    const build = buildTreeOnDisk(many, {
      scratch: watched,
      maxMemory: 1e5,
      signal: enough.signal,
      onProgress: () => enough.abort(),
    });
    await expect(build).rejects.toThrow("abort");
    expect(open.size).toBe(0);
  });
});
