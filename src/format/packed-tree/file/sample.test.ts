import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Positions } from "../../../model/vectors.js";
import { Key } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { buildTree } from "../build.js";
import { isLeaf, levelOf, META, NEXT, octantOf, ROW, START, STOP } from "../nodes.js";
import { joinParticles, type Particles } from "../particles.js";
import { openParticles } from "./dataset.js";
import { rowsInMemory } from "./rows.js";
import { levelByBirth, rankOf, sampleOf } from "./sample.js";
import { sampledPieces } from "./sampled.js";
import { writeParticles } from "./write.js";

const file = Key.of("some.ptree");

/** Numbers from 0 to 1, the same in each run. */
function draw(count: number, seed = 7): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

/** Half of them in a corner a hundred times smaller. */
const clustered = (count: number): Float64Array =>
  draw(3 * count).map((value, at) => (at < 1.5 * count ? value / 100 : value));

const joined = async (positions: Positions, threshold = 20): Promise<Particles> =>
  joinParticles(await buildTree(positions, { threshold, created: 5 }));

/** The halvings that lead to each particle, as text: those of the tree, then ten of its leaf along each axis. */
function cellsOf({ tree, positions, count }: Particles): string[] {
  const cells: string[] = new Array(count);
  const { rows } = tree.nodes;
  const visit = (row: number, path: string, origin: readonly number[]): void => {
    const size = tree.box.size.map((side) => side / 2 ** (levelOf(rows[row + META]!) - 1));
    if (isLeaf(rows[row + META]!)) {
      for (let i = rows[row + START]!; i < rows[row + STOP]!; i++) {
        const parts = origin.map((low, axis) =>
          Math.floor(Math.min(1023, Math.max(0, (positions[3 * i + axis]! - low) * (1024 / size[axis]!))))
            .toString(2)
            .padStart(10, "0"),
        );
        cells[i] = path + Array.from({ length: 10 }, (_, k) => parts[2]![k]! + parts[1]![k]! + parts[0]![k]!).join("");
      }
      return;
    }
    for (let child = row + ROW; child < ROW * rows[row + NEXT]!; child = ROW * rows[child + NEXT]!) {
      const octant = octantOf(rows[child + META]!);
      const corner = origin.map((low, axis) => low + ((octant >> axis) & 1 ? size[axis]! / 2 : 0));
      visit(child, path + octant.toString(2).padStart(3, "0"), corner);
    }
  };
  if (count > 0) visit(0, "", tree.box.origin);
  return cells;
}

/** The particles that stand for the cells of so many bits, ascending. */
function standing(cells: readonly string[], bits: number): number[] {
  const best = new Map<string, number>();
  for (const [i, cell] of cells.entries()) {
    const own = cell.slice(0, bits);
    const other = best.get(own);
    if (other === undefined || rankOf(i) < rankOf(other)) best.set(own, i);
  }
  return [...best.values()].sort((a, b) => a - b);
}

const inBox = (positions: Positions, i: number, box: readonly number[]): boolean =>
  [0, 1, 2].every((axis) => positions[3 * i + axis]! >= box[axis]! && positions[3 * i + axis]! <= box[axis + 3]!);

describe("a sample", () => {
  it("is of each cell the particle of the lowest rank", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.constantFrom(1, 7, 64, 1e9),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(),
        async (count, grid, threshold, seed) => {
          const positions = draw(3 * count, seed).map((value) => Math.floor(value * grid) / grid); // some of them equal
          const particles = await joined(positions, threshold);
          const { births, levels } = await sampleOf(rowsInMemory(particles));
          const cells = cellsOf(particles);
          for (const bits of [0, 1, 2, 3, 5, 8, 13, 21]) {
            const found = [...births.keys()].filter((i) => births[i]! <= bits);
            const deep = cells.every((cell) => cell.length >= bits);
            if (deep) expect(found).toEqual(standing(cells, bits));
          }
          for (const [i, level] of levels.entries()) {
            expect(level.count).toBe(standing(cells, level.bits).length);
            expect(level.count).toBeLessThanOrEqual(Math.max(1, (levels[i + 1]?.count ?? count) / 4));
          }
          expect(levels[0]?.count).toBe(count > 1 ? 1 : undefined);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("comes in the order of its levels, however much is collected at once", async () => {
    const particles = await joined(clustered(20_000));
    const sample = await sampleOf(rowsInMemory(particles));
    const levelOf = levelByBirth(sample.levels);
    const wanted = sample.levels.flatMap((_, level) =>
      [...sample.births.keys()].filter((i) => levelOf[sample.births[i]!] === level),
    );
    // Rows as wide as these are collected in several pieces.
    for (const bytes of [4, 40_000]) {
      const read = async (start: number, stop: number): Promise<Uint8Array> => {
        const out = new Uint8Array((stop - start) * bytes);
        const view = new DataView(out.buffer);
        for (let i = start; i < stop; i++) view.setUint32((i - start) * bytes, i);
        return out;
      };
      const found: number[] = [];
      let pieces = 0;
      for await (const { values, counts } of sampledPieces([{ bytes, read }], sample, 512)) {
        const view = new DataView(values[0]!.buffer);
        for (let i = 0; i < counts.reduce((a, b) => a + b); i++) found.push(view.getUint32(i * bytes));
        pieces++;
      }
      expect(found).toEqual(wanted);
      expect(pieces).toBe(bytes === 4 ? 1 : Math.max(pieces, 2));
    }
  });
});

describe("a view of at most n", () => {
  const boxes = [undefined, [0, 0, 0, 1, 1, 1], [0, 0, 0, 0.02, 0.02, 0.02], [0.2, 0.1, 0.3, 0.7, 0.8, 0.6]];

  it("is the finest level that has no more in the box, with attributes along", async () => {
    for (const positions of [draw(24_000), clustered(12_000)]) {
      const count = positions.length / 3;
      const store = memoryStore();
      const particles = await joined(positions, 50);
      const heat = {
        info: { name: "heat", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const,
        values: Float32Array.from({ length: count }, (_, i) => i / 2),
      };
      await writeParticles(store, file, particles, { attributes: [heat] });
      const dataset = await openParticles(store, file);
      const { levels } = dataset.file.description;
      const cells = cellsOf(particles);
      const choices = [...levels.map(({ bits }) => standing(cells, bits)), Array.from(cells.keys())];
      for (const box of boxes)
        for (const n of [1, 300, 5000, count]) {
          const fits = choices
            .map((all) => all.filter((i) => box === undefined || inBox(particles.positions, i, box)))
            .findLast((all) => all.length <= n)!;
          const selection = dataset.select({ maxVertices: n, ...(box && { box }) });
          const batch = await selection.read();
          const original = batch.vertexColumns.get("original")!.values as Uint32Array;
          expect([...original].sort((a, b) => a - b)).toEqual(
            fits.map((i) => particles.order![i]!).sort((a, b) => a - b),
          );
          expect([...(batch.vertexColumns.get("heat")!.values as Float32Array)]).toEqual(
            [...original].map((i) => i / 2),
          );
          expect([...batch.positions]).toEqual(
            Array.from(
              { length: 3 * original.length },
              (_, at) => positions[3 * original[Math.floor(at / 3)]! + (at % 3)]!,
            ),
          );
        }
    }
  });

  it("leaves no cell empty that has particles, as fine as n allows", async () => {
    const store = memoryStore();
    const positions = draw(120_000);
    await writeParticles(store, file, await joined(positions, 100));
    const dataset = await openParticles(store, file);
    for (const n of [600, 4000, 30_000]) {
      const batch = await dataset.select({ maxVertices: n }).read();
      const found = batch.positions.length / 3;
      expect(found).toBeLessThanOrEqual(n);
      expect(found).toBeGreaterThanOrEqual(n / 8);
      const { box } = dataset.file.description.tree;
      const side = 2 ** Math.floor(Math.log2(found) / 3); // a grid of at most as many cells
      const occupied = (all: Positions): Set<number> => {
        const cells = new Set<number>();
        for (let at = 0; at < all.length; at += 3) {
          const [x, y, z] = [0, 1, 2].map((axis) =>
            Math.floor(((all[at + axis]! - box.origin[axis]!) / box.size[axis]!) * side),
          );
          cells.add((x! * side + y!) * side + z!);
        }
        return cells;
      };
      expect(occupied(batch.positions)).toEqual(occupied(positions));
    }
  });

  it("is the same each time, and reads a small part of the file", async () => {
    const [store, again] = [memoryStore(), memoryStore()];
    const particles = await joined(draw(600_000), 400);
    await writeParticles(store, file, particles);
    await writeParticles(again, file, await joined(draw(600_000), 400));
    const bytes = (await store.get(file))!;
    expect(Buffer.compare(bytes, (await again.get(file))!)).toBe(0);
    let [requests, read] = [0, 0];
    const get: typeof store.get = async (...args) => {
      const found = await store.get(...args);
      requests++;
      read += found!.length;
      return found;
    };
    const dataset = await openParticles({ ...store, get }, file);
    const whole = await dataset.select({ maxVertices: 3000 }).read();
    expect(whole.positions.length / 3).toBeGreaterThan(1000);
    expect(requests).toBeLessThan(8);
    expect(read).toBeLessThan(bytes.length / 20);
    [requests, read] = [0, 0];
    const part = await dataset.select({ box: [0.1, 0.1, 0.1, 0.4, 0.4, 0.4], maxVertices: 1000 }).read();
    expect(part.positions.length / 3).toBeGreaterThan(250);
    expect(requests).toBeLessThan(40);
    expect(read).toBeLessThan(bytes.length / 20);
  });
});
