/** What the engine reads for which view, counted; what it does when something is damaged, too much or no longer wanted. */
import { beforeAll, describe, expect, test } from "vitest";
import { publishedStreamlines } from "../../../test/streamlines.js";
import { type BatchParts, createZarrVectors, openZarrVectors } from "../../format/zarr-vectors/index.js";
import type { VectorDataset } from "../../model/vectors.js";
import { type Bounds, fitted } from "../../scene/camera.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { type Counts, type MeteredStore, meterStore } from "../../store/meter.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { Engine } from "./engine.js";
import type { Piece } from "./piece.js";

let published: Store;
beforeAll(async () => {
  published = await publishedStreamlines(100_000);
}, 180_000);

const size = { width: 1000, height: 800 };
const all: Bounds = { min: [0, 0, 0], max: [100, 100, 100] };
const close: Bounds = { min: [40, 40, 40], max: [61.5, 61.5, 61.5] }; // 1 % of it
const viewOf = (bounds: Bounds, clip?: Bounds) => ({ camera: fitted(bounds, 30, 20, 1.25, true), ...size, clip });

/** As a web server: it cannot list. */
async function opened(store: Store): Promise<{ dataset: VectorDataset; metered: MeteredStore }> {
  const metered = meterStore(wrap(store, { can: { ...store.can, list: false } }));
  return { dataset: await openZarrVectors(metered, Prefix.root), metered };
}

const vertices = (pieces: readonly Piece[]): number => pieces.reduce((sum, { objects }) => sum + objects.length, 0);

describe("100,000 streamlines, published", () => {
  test("the first picture costs at most 2 MB and 20 requests, a close look at 1 % at most 4 MB more", async () => {
    const { dataset, metered } = await opened(published);
    let first: Counts | undefined; // when all of the first level is there
    const engine: Engine = new Engine(dataset, {
      onChange() {
        if (vertices(engine.pieces()) >= dataset.levels[2]!.vertices!) first ??= metered.counts();
      },
    });
    await engine.look(viewOf(all));
    expect(first!.requests).toBeLessThanOrEqual(20);
    expect(first!.bytesRead).toBeLessThanOrEqual(2e6);
    metered.reset();
    await engine.look(viewOf(close));
    const next = metered.counts();
    expect(next.bytesRead).toBeGreaterThan(10_000);
    expect(next.bytesRead).toBeLessThanOrEqual(4e6);
    expect(next.requests).toBeLessThanOrEqual(20);
    expect(engine.status()).toMatchObject({ loading: false, missing: 0 });
    metered.reset();
    await engine.look(viewOf(all));
    expect(metered.counts().requests).toBe(0); // what was there is there
  });

  test("nothing finer is asked for before the first picture has been drawn, however long that takes", async () => {
    const { dataset, metered } = await opened(published);
    const read: number[] = [];
    const count = () => read.push(metered.counts().bytesRead);
    const engine = new Engine(dataset, {}, async () => {
      count();
      await new Promise((go) => setTimeout(go, 300));
      count();
    });
    await engine.look(viewOf(all));
    count();
    expect(read[0]).toBeLessThanOrEqual(2e6);
    expect(read[1]).toBe(read[0]);
    expect(read[2]).toBeGreaterThan(read[1]!);
  });

  test("every vertex of level 0 in view is drawn where it is", async () => {
    const { dataset } = await opened(published);
    const engine = new Engine(dataset, { color: "fa" });
    await engine.look(viewOf(close, close));
    const box = [45, 45, 45, 55, 55, 55];
    const expected = await dataset.select({ level: 0, box, clip: "vertices" }).count({ exact: true });
    let found = 0;
    for (const { level, positions, origin, values, direct } of engine.pieces()) {
      if (level !== 0) continue;
      expect(direct).toBe(false);
      for (let v = 0; v < values.length; v++) {
        const at = [0, 1, 2].map((k) => positions[3 * v + k]! + origin[k]!);
        if (at.every((x) => x >= 45 && x <= 55)) found++;
      }
    }
    expect(found).toBe(expected.vertices);
    expect(engine.legend.low).toBeGreaterThan(0);
    expect(engine.legend.high).toBeLessThan(1);
  });

  test("a later look ends the earlier one", async () => {
    const { dataset } = await opened(published);
    const engine = new Engine(dataset);
    const corner: Bounds = { min: [0, 0, 0], max: [20, 20, 20] };
    const looks = [all, close, corner].map((box) => engine.look(viewOf(box, box)));
    await Promise.all(looks);
    const detail = engine.pieces().filter(({ level }) => level === 0);
    expect(detail.length).toBeGreaterThan(0);
    for (const { origin } of detail) expect(Math.max(...origin)).toBeLessThan(34);
  });

  test("another colour reads its attribute, and until it is there what was shown stays, with its legend", async () => {
    const { dataset, metered } = await opened(published);
    let least = Number.POSITIVE_INFINITY;
    const engine: Engine = new Engine(dataset, {
      color: "orientation",
      onChange() {
        least = Math.min(least, vertices(engine.pieces()));
      },
    });
    await engine.look(viewOf(close));
    const [before, { bytesRead }] = [engine.pieces(), metered.counts()];
    least = Number.POSITIVE_INFINITY;
    metered.reset();
    engine.set({ color: "fa" });
    expect(engine.pieces()).toEqual(before);
    expect(engine.colouring.by).toBe("orientation");
    await engine.look(viewOf(close));
    expect(least).toBe(vertices(before));
    expect(engine.pieces().map(({ direct }) => direct)).not.toContain(true);
    expect(vertices(engine.pieces())).toBe(vertices(before));
    expect([engine.colouring.by, engine.legend.high > 0.5]).toEqual(["attribute", true]);
    expect(metered.counts().bytesRead).toBeLessThan(bytesRead / 2);
  });

  test("a filter is answered by the finest level at which its answer is not too much, whatever the store has", async () => {
    const { dataset } = await opened(published);
    const engine = new Engine(dataset, { filter: { where: "object_id in (1, 2, 3, 4, 5, 6, 7, 8)" } });
    await engine.look(viewOf(all));
    expect(engine.status()).toMatchObject({ level: 0, vertices: 64, coarse: false });
    const kept = new Set<bigint>(await dataset.objectIds(2));
    const thinned = (await dataset.objectIds(0)).find((id: bigint) => !kept.has(id))!;
    engine.set({ filter: { object: [thinned] } });
    await engine.look(viewOf(all));
    expect(engine.status()).toMatchObject({ level: 0, vertices: 8, coarse: false });
  });

  test("a filter that leaves too much is told, and objects in a close view are shown at a finer level, each once", async () => {
    const { dataset } = await opened(published);
    const filter = { where: "fa > 0.06" };
    const engine = new Engine(dataset, { filter });
    await engine.look(viewOf(all));
    expect(engine.status()).toMatchObject({ coarse: true, truncated: false, missing: 0 });
    expect(engine.status().level).toBeGreaterThan(0);
    const before = engine.pieces().map(({ key }) => key);
    await engine.look(viewOf(close, close));
    expect(engine.status()).toMatchObject({ level: 0, coarse: true });
    const drawn = (levels: (level: number) => boolean): bigint[] =>
      engine
        .pieces()
        .filter(({ level }) => levels(level))
        .flatMap(({ ids, objects, index }) => [...new Set(index)].map((vertex) => ids[objects[vertex]!]!));
    const fine = new Set(drawn((level) => level === 0));
    const box = [...close.min, ...close.max];
    for await (const { ids } of dataset.select({ ...filter, box, level: 0 }).batches({ attributes: [] }))
      for (const id of ids) expect(fine.has(id)).toBe(true);
    const coarse = new Set(drawn((level) => level > 0));
    expect(coarse.size).toBeGreaterThan(100);
    expect([...coarse].filter((id) => fine.has(id))).toEqual([]);
    await engine.look(viewOf(all));
    expect(engine.pieces().map(({ key }) => key)).toEqual(before);
  });

  test("memory is held to: what is not seen goes", async () => {
    const { dataset } = await opened(published);
    const engine = new Engine(dataset, { memory: 6e6 });
    for (let x = 10; x < 90; x += 10) await engine.look(viewOf({ min: [x, x, x], max: [x + 15, x + 15, x + 15] }));
    const needed = engine.pieces().reduce((sum, { bytes }) => sum + bytes, 0);
    expect(engine.status().bytes).toBeLessThanOrEqual(Math.max(6e6, needed));
    expect(engine.timeline.entries().some(({ what }) => what === "drop")).toBe(true);
  });
});

describe("small stores", () => {
  async function small(description: Parameters<typeof createZarrVectors>[2], input: BatchParts): Promise<Store> {
    const store = memoryStore();
    const writer = await createZarrVectors(store, Prefix.root, { dims: 3, sharding: "none", ...description });
    await writer.add(input);
    await writer.commit();
    return store;
  }
  const cube = (bounds: Bounds) => ({ camera: fitted(bounds, 0, 0, 1), width: 400, height: 400 });

  test("a damaged chunk is told, once, and the others are shown", async () => {
    const positions = Float32Array.from({ length: 3 * 800 }, (_, i) => ((i * 7919) % 1000) / 10);
    const store = await small({ geometry: "points", chunkShape: 50 }, { positions });
    const broken = wrap(store, {
      async get(key, options) {
        const value = await store.get(key, options);
        return key.startsWith("0/vertices/c/1/1/1") ? value?.map((byte) => byte ^ 0x55) : value;
      },
    });
    const errors: Error[] = [];
    const engine = new Engine(await openZarrVectors(broken, Prefix.root), { onError: (error) => errors.push(error) });
    await engine.look(cube(all));
    await engine.look(cube({ min: [0, 0, 0], max: [99, 99, 99] }));
    expect(errors.length).toBe(1);
    expect(errors[0]!.message).toMatch(/1\/1\/1/);
    expect(engine.status()).toMatchObject({ missing: 1, loading: false });
    expect(vertices(engine.pieces())).toBeGreaterThan(500);
    expect(vertices(engine.pieces())).toBeLessThan(800);
  });

  test("far from the origin of space, places keep their digits", async () => {
    const far = 1e8;
    const positions = Float64Array.of(far, far, far, far + 0.25, far, far, far + 0.5, far + 1, far);
    const store = await small({ geometry: "points", chunkShape: 10, dtype: "float64" }, { positions });
    const engine = new Engine(await openZarrVectors(store, Prefix.root));
    await engine.look(cube(engine.bounds));
    const [piece] = engine.pieces();
    const xs = [0, 1, 2].map((v) => piece!.positions[3 * v]! + piece!.origin[0]);
    for (const [v, x] of xs.entries()) expect(Math.abs(x - far - v / 4)).toBeLessThan(1e-6);
  });

  test("a mesh comes whole, with the faces between its chunks", async () => {
    const positions = Float32Array.of(0, 0, 0, 90, 0, 0, 0, 90, 0, 90, 90, 90);
    const links = { width: 3, ends: Uint32Array.of(0, 1, 2, 1, 3, 2), columns: new Map() };
    const store = await small({ geometry: "mesh", chunkShape: 30 }, { positions, ids: BigInt64Array.of(5n), links });
    const engine = new Engine(await openZarrVectors(store, Prefix.root), { color: "object" });
    await engine.look(cube(all));
    const [piece] = engine.pieces();
    expect([piece!.form, piece!.index.length, [...piece!.ids]]).toEqual(["triangles", 6, [5n]]);
  });

  test("a filter shows only what it says; one that is wrong is told", async () => {
    const positions = Float32Array.of(0, 0, 0, 90, 0, 0, 0, 90, 0, 90, 90, 90);
    const input = {
      positions,
      parts: Uint32Array.of(0, 2, 4),
      objects: Int32Array.of(0, 1),
      ids: BigInt64Array.of(3n, 4n),
    };
    const errors: string[] = [];
    const dataset = await openZarrVectors(await small({ geometry: "streamlines", chunkShape: 50 }, input), Prefix.root);
    const engine = new Engine(dataset, { filter: { object: [4n] }, onError: ({ message }) => errors.push(message) });
    await engine.look(cube(all));
    expect(engine.pieces().flatMap(({ ids }) => [...ids])).toEqual([4n]);
    engine.set({ filter: { where: "nothing > 3" } });
    await engine.look(cube(all));
    expect(errors).toEqual([expect.stringMatching(/nothing/)]);
    engine.set({ filter: undefined });
    await engine.look(cube(all));
    expect(vertices(engine.pieces())).toBe(4);
  });
});
