/** Levels by what a view shows: skeletons chunk by chunk, meshes of several resolutions object by object; what each look asks for. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { createMeshes, precomputed } from "../../format/precomputed/index.js";
import { createZarrVectors, openZarrVectors, publishZarrVectors } from "../../format/zarr-vectors/index.js";
import type { VectorDataset } from "../../model/vectors.js";
import { buildPyramid } from "../../pyramid/build.js";
import { type Bounds, fitted } from "../../scene/camera.js";
import { viewsOf } from "../../server/index.js";
import { fileStore } from "../../store/file.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { meterStore } from "../../store/meter.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { Engine } from "./engine.js";

const viewOf = (bounds: Bounds) => ({ camera: fitted(bounds, 0, 90, 1), width: 300, height: 300 });
/** As a web server: it cannot list. */
const metered = (store: Store) => meterStore(wrap(store, { can: { ...store.can, list: false } }));
const vertices = (engine: Engine, level?: number): number =>
  engine.pieces().reduce((sum, own) => sum + (own.level === (level ?? own.level) ? own.objects.length : 0), 0);

describe("skeletons", () => {
  const [COUNT, LONG] = [300, 500];

  /** Neurons along x, one beside the other, each a wave; and one that is a single vertex. */
  async function neurons(): Promise<Store> {
    const total = COUNT * LONG + 1;
    const positions = new Float32Array(3 * total);
    const ends: number[] = [];
    for (let n = 0; n < COUNT; n++)
      for (let v = 0; v < LONG; v++) {
        const at = n * LONG + v;
        positions.set([(100 * v) / LONG, (100 * (n + 0.5)) / COUNT, 50 + Math.sin(v / 20)], 3 * at);
        if (v > 0) ends.push(at, at - 1);
      }
    positions.set([50, 50, 49], 3 * (total - 1));
    const store = memoryStore();
    const writer = await createZarrVectors(store, Prefix.root, { geometry: "skeletons", dims: 3, chunkShape: 12.5 });
    await writer.add({
      positions,
      parts: Uint32Array.from({ length: COUNT + 2 }, (_, n) => Math.min(n * LONG, total)),
      objects: Int32Array.from({ length: COUNT + 1 }, (_, n) => n),
      ids: BigInt64Array.from({ length: COUNT + 1 }, (_, n) => BigInt(n + 1)),
      links: { width: 2, ends: Uint32Array.from(ends), columns: new Map() },
    });
    await writer.commit();
    await buildPyramid(store, Prefix.root, {});
    const to = memoryStore();
    await publishZarrVectors(await openZarrVectors(store, Prefix.root), to, Prefix.root);
    return to;
  }

  test("from close by the finest level is shown where the view is, each link once, and a lone vertex too", async () => {
    const store = metered(await neurons());
    const dataset = await openZarrVectors(store, Prefix.root);
    expect(dataset.levels.length).toBeGreaterThan(1);
    const engine = new Engine(dataset);
    await engine.look(viewOf({ min: [0, 0, 48], max: [100, 100, 52] }));
    const far = engine.status();
    expect(far.level).toBeGreaterThan(0);
    expect(far.vertices).toBeLessThanOrEqual(80_000);
    expect(store.counts().bytesRead).toBeLessThan(2e6);
    expect(store.counts().requests).toBeLessThanOrEqual(20);
    store.reset();
    await engine.look(viewOf({ min: [44, 44, 48], max: [56, 56, 52] }));
    expect(engine.status()).toMatchObject({ level: 0, missing: 0, truncated: false });
    expect(store.counts().requests).toBeLessThanOrEqual(25);
    expect(store.counts().bytesRead).toBeLessThan(1.5e6);

    const inside = (x: number, y: number): boolean => x > 44.1 && x < 55.9 && y > 44.1 && y < 55.9;
    const lines = new Map<string, number>();
    let dots = 0;
    for (const { level, positions, origin, index } of engine.pieces())
      for (let at = 0; at < index.length; at += 2) {
        const [a, b] = [index[at]!, index[at + 1]!].map((v) =>
          [0, 1].map((k) => positions[3 * v + k]! + origin[k]!),
        ) as [number[], number[]];
        if (!(inside(a[0]!, a[1]!) && inside(b[0]!, b[1]!))) continue;
        expect(level).toBe(0);
        if (index[at] === index[at + 1]) dots++;
        else {
          const key = [a, b].map((end) => end.map((value) => value.toFixed(2)).join()).join(" ");
          lines.set(key, (lines.get(key) ?? 0) + 1);
        }
      }
    expect(new Set(lines.values())).toEqual(new Set([1]));
    let steps = 0;
    for (let n = 0; n < COUNT; n++)
      for (let v = 1; v < LONG; v++) {
        const y = (100 * (n + 0.5)) / COUNT;
        if (inside((100 * v) / LONG, y) && inside((100 * (v - 1)) / LONG, y)) steps++;
      }
    expect([lines.size, dots]).toEqual([steps, 1]);
    store.reset();
    await engine.look(viewOf({ min: [0, 0, 48], max: [100, 100, 52] }));
    expect([engine.status().level, store.counts().requests]).toEqual([far.level, 0]);
  }, 120_000);
});

describe("precomputed meshes of several resolutions", () => {
  const SIDE = 161;

  /** Four sheets in the corners of a square of 200, 26,000 vertices each. */
  async function sheets(): Promise<Store> {
    const store = memoryStore();
    const writer = await createMeshes(store, Prefix.root, { levels: 4 });
    for (let id = 1; id <= 4; id++) {
      const [left, low] = [id % 2 === 0 ? 110 : 0, id > 2 ? 110 : 0];
      const positions = new Float32Array(3 * SIDE * SIDE);
      const faces: number[] = [];
      for (let v = 0; v < SIDE * SIDE; v++) {
        const [i, j] = [v % SIDE, Math.floor(v / SIDE)];
        const [x, y] = [left + (90 * i) / (SIDE - 1), low + (90 * j) / (SIDE - 1)];
        positions.set([x, y, 50 + 2 * Math.sin(x / 9) * Math.cos(y / 7)], 3 * v);
        if (i < SIDE - 1 && j < SIDE - 1) faces.push(v, v + 1, v + SIDE, v + 1, v + SIDE + 1, v + SIDE);
      }
      await writer.put(BigInt(id), { positions, faces: Uint32Array.from(faces) });
    }
    await writer.commit();
    return store;
  }

  test("from afar all are coarse; from close by what is seen is fine, and the others stay as they were", async () => {
    const made = await sheets();
    const store = meterStore(made); // the ids of objects are names of files
    const dataset = (await precomputed.open(store, Prefix.root, {})) as VectorDataset;
    const finest = 4 * SIDE * SIDE;
    expect(dataset.levels.length).toBe(4);
    const engine = new Engine(dataset);
    await engine.look(viewOf({ min: [0, 0, 48], max: [200, 200, 52] }));
    const far = engine.status();
    expect(far.level).toBeGreaterThan(0);
    expect(vertices(engine)).toBeLessThan(finest / 2);
    const first = store.counts();
    store.reset();
    await engine.look(viewOf({ min: [10, 10, 48], max: [40, 40, 52] }));
    const ids = (fine: boolean) =>
      new Set(
        engine
          .pieces()
          .filter(({ level, index }) => (level === 0) === fine && index.length > 0)
          .flatMap(({ ids, objects, index }) => [...new Set(Array.from(index, (v) => ids[objects[v]!]!))]),
      );
    expect([ids(true), ids(false)]).toEqual([new Set([1n]), new Set([2n, 3n, 4n])]);
    expect(vertices(engine, 0)).toBeGreaterThanOrEqual(SIDE * SIDE);
    const close = store.counts();
    const bytes = await sizeOf(made);
    expect(first.bytesRead).toBeLessThan(bytes / 2); // no finer level was read in vain
    expect(first.requests).toBeLessThanOrEqual(40);
    expect(close.requests).toBeLessThanOrEqual(20);
    expect(close.bytesRead).toBeLessThan(bytes / 2); // one of four
    store.reset();
    await engine.look(viewOf({ min: [10, 10, 48], max: [40, 40, 52] }));
    expect(store.counts().requests).toBe(0);
  }, 60_000);
});

async function sizeOf(store: Store): Promise<number> {
  let bytes = 0;
  for await (const { size = 0 } of store.list(Prefix.root)) bytes += size;
  return bytes;
}

describe("parametric objects", () => {
  test("lie beside what is drawn, in the viewer as in views for Neuroglancer", async () => {
    const store = memoryStore();
    const plane = { type: "plane", name: "cut", coefficients: [0, 0, 1, 5], coefficientNames: ["a", "b", "c", "d"] };
    const writer = await createZarrVectors(store, Prefix.root, {
      geometry: "points",
      axes: ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "um" })),
      chunkShape: 10,
      parametric: { objects: [plane], columns: new Map(), groups: [] },
    });
    await writer.add({ positions: Float32Array.of(1, 1, 1, 12, 3, 4, 8, 9, 19) });
    await writer.commit();
    const dataset = await openZarrVectors(store, Prefix.root);
    expect((await dataset.parametric!())!.objects).toMatchObject([{ type: "plane", name: "cut" }]);
    const errors: Error[] = [];
    const engine = new Engine(dataset, { onError: (error) => errors.push(error) });
    await engine.look(viewOf({ min: [0, 0, 0], max: [20, 20, 20] }));
    expect([errors, vertices(engine)]).toEqual([[], 3]);
    const { views, notes } = await viewsOf(dataset);
    expect(views.map(({ name }) => name)).toEqual(["annotations"]);
    expect(notes.join()).toMatch(/parametric/);
  });

  test("of the reference, too", async () => {
    const at = join(fixtures("zarr-vectors"), "v0.9.2/parametric/store.zarrvectors");
    const dataset = await openZarrVectors(fileStore(at), Prefix.root);
    const errors: Error[] = [];
    const engine = new Engine(dataset, { onError: (error) => errors.push(error) });
    await engine.look(viewOf(engine.bounds));
    expect([errors, vertices(engine)]).toEqual([[], dataset.levels[0]!.vertices]);
    const { views, notes } = await viewsOf(dataset);
    expect([views.length, notes.join()]).toEqual([1, expect.stringMatching(/its 2 parametric objects/)]);
  });
});
