/** What has links is refined where the view is: no gap, nothing twice, few requests, bounded memory, also beside damage. */
import { beforeAll, describe, expect, test } from "vitest";
import { createZarrVectors, openZarrVectors, publishZarrVectors } from "../../format/zarr-vectors/index.js";
import { buildPyramid } from "../../pyramid/build.js";
import { type Bounds, fitted } from "../../scene/camera.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { type MeteredStore, meterStore } from "../../store/meter.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { Engine, type EngineOptions } from "./engine.js";
import type { Piece } from "./piece.js";

const SIDE = 401;
const heightAt = (x: number, y: number): number => 50 + 2 * Math.sin(x / 9) * Math.cos(y / 7);

/** A sheet over a square of 100, as a mesh or as lines along x. */
async function sheet(geometry: "mesh" | "graph", side = SIDE): Promise<Store> {
  const positions = new Float32Array(3 * side * side);
  const ends: number[] = [];
  const step = 100 / (side - 1);
  for (let v = 0; v < side * side; v++) {
    const [x, y] = [(v % side) * step, Math.floor(v / side) * step];
    positions.set([x, y, heightAt(x, y)], 3 * v);
    if (v % side === side - 1) continue;
    if (geometry === "graph") ends.push(v, v + 1);
    else if (v < side * (side - 1)) ends.push(v, v + 1, v + side, v + 1, v + side + 1, v + side);
  }
  const store = memoryStore();
  const sharding = side === SIDE ? undefined : "none";
  const writer = await createZarrVectors(store, Prefix.root, { geometry, dims: 3, chunkShape: 12.5, sharding });
  const links = { width: geometry === "mesh" ? 3 : 2, ends: Uint32Array.from(ends), columns: new Map() };
  await writer.add({ positions, ids: BigInt64Array.of(7n), links });
  await writer.commit();
  return store;
}

/** With levels, published. */
async function published(geometry: "mesh" | "graph"): Promise<Store> {
  const made = await sheet(geometry);
  await buildPyramid(made, Prefix.root, {});
  const to = memoryStore();
  await publishZarrVectors(await openZarrVectors(made, Prefix.root), to, Prefix.root);
  return to;
}

let mesh: Store;
beforeAll(async () => {
  mesh = await published("mesh");
}, 180_000);

async function opened(store: Store, options?: EngineOptions): Promise<{ engine: Engine; metered: MeteredStore }> {
  const metered = meterStore(wrap(store, { can: { ...store.can, list: false } }));
  return { engine: new Engine(await openZarrVectors(metered, Prefix.root), options), metered };
}

const all: Bounds = { min: [0, 0, 48], max: [100, 100, 52] };
const around = (x: number, y: number): Bounds => ({ min: [x - 8, y - 8, 46], max: [x + 8, y + 8, 54] });
const viewOf = (bounds: Bounds) => ({ camera: fitted(bounds, 0, 90, 1), width: 300, height: 300 });

/** How many faces are above each of these places, of all levels and of the finest. */
function facesAt(pieces: readonly Piece[], places: readonly (readonly [number, number])[]): [number, number][] {
  const found = places.map((): [number, number] => [0, 0]);
  for (const { positions, origin, index, level } of pieces)
    for (let at = 0; at < index.length; at += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => {
        const v = 3 * index[at + k]!;
        return [positions[v]! + origin[0], positions[v + 1]! + origin[1]] as const;
      }) as [readonly [number, number], readonly [number, number], readonly [number, number]];
      const area = (p: readonly [number, number], q: readonly [number, number], [x, y]: readonly [number, number]) =>
        (q[0] - p[0]) * (y - p[1]) - (x - p[0]) * (q[1] - p[1]);
      for (const [i, place] of places.entries()) {
        if (place[0] < Math.min(a[0], b[0], c[0]) || place[0] > Math.max(a[0], b[0], c[0])) continue;
        const sides = [area(a, b, place), area(b, c, place), area(c, a, place)];
        if (!(sides.every((side) => side > 0) || sides.every((side) => side < 0))) continue;
        found[i]![0]++;
        if (level === 0) found[i]![1]++;
      }
    }
  return found;
}

describe("a mesh of 160,000 vertices, published", () => {
  test("from close by the finest level is shown where the view is, without gaps or faces that are there twice", async () => {
    const { engine, metered } = await opened(mesh);
    await engine.look(viewOf(all));
    const far = engine.status();
    expect(far.level).toBeGreaterThan(0);
    expect(metered.counts().bytesRead).toBeLessThan(2e6);
    metered.reset();
    await engine.look(viewOf(around(37.5, 50)));
    expect(engine.status()).toMatchObject({ level: 0, missing: 0, truncated: false });
    expect(metered.counts().requests).toBeLessThanOrEqual(25);
    expect(metered.counts().bytesRead).toBeLessThan(1.5e6);
    const places: [number, number][] = [];
    for (let x = 0.6113; x < 100; x += 2.13427) for (let y = 0.3739; y < 100; y += 2.17193) places.push([x, y]);
    const near: [number, number][] = [];
    for (let x = 30.1127; x < 45; x += 0.41421) for (let y = 42.0713; y < 58; y += 0.43589) near.push([x, y]);
    for (const [count] of facesAt(engine.pieces(), places)) expect(count).toBeGreaterThan(0);
    for (const counts of facesAt(engine.pieces(), near)) expect(counts).toEqual([1, 1]);
    metered.reset();
    await engine.look(viewOf(all));
    expect(engine.status().level).toBe(far.level);
    await engine.look(viewOf(around(37.5, 50)));
    expect(metered.counts().requests).toBe(0); // what was there is there
  });

  test("what was shown stays until what comes instead is there", async () => {
    const { engine } = await opened(mesh);
    await engine.look(viewOf(around(30, 30)));
    const before = engine.pieces();
    const next = engine.look(viewOf(around(60, 60)));
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve));
      if (engine.status().loading) expect(engine.pieces()).toEqual(before);
    }
    await next;
    expect(engine.pieces()).not.toEqual(before);
  });

  test("other detail is another level", async () => {
    const { engine } = await opened(mesh);
    const fine = async (detail: number): Promise<number> => {
      engine.set({ detail });
      await engine.look({ ...viewOf(all), width: 1500, height: 1500 });
      return engine.pieces().reduce((sum, { level, objects }) => sum + (level === 0 ? objects.length : 0), 0);
    };
    expect(await fine(1 / 200)).toBeLessThan(120_000);
    expect(await fine(1 / 6)).toBeGreaterThan(160_000);
    expect(await fine(1 / 200)).toBeLessThan(120_000);
  });

  test("memory is held to: what is not seen goes", async () => {
    const { engine } = await opened(mesh, { memory: 3e6 });
    for (let x = 10; x < 90; x += 10) await engine.look(viewOf(around(x, x)));
    const needed = engine.pieces().reduce((sum, { bytes }) => sum + bytes, 0);
    expect(engine.status().bytes).toBeLessThanOrEqual(3e6);
    expect(needed).toBeLessThan(3e6);
    expect(engine.timeline.entries().some(({ what }) => what === "drop")).toBe(true);
  });

  test("one object that is too much for the finest level is told to be coarse, and with more detail is not", async () => {
    const { engine } = await opened(mesh, { filter: { object: [7n] } });
    await engine.look(viewOf(all));
    expect(engine.status().coarse).toBe(true);
    engine.set({ detail: 1 });
    await engine.look(viewOf(all));
    expect(engine.status()).toMatchObject({ level: 0, coarse: false, vertices: SIDE * SIDE });
  });
});

test("a graph is drawn from chunk to chunk, each link once", async () => {
  const { engine } = await opened(await published("graph"));
  await engine.look(viewOf(around(37.5, 50)));
  const lines = new Map<string, number>();
  for (const { level, positions, origin, index } of engine.pieces())
    for (let at = 0; level === 0 && at < index.length; at += 2) {
      const ends = [0, 1].map((k) => [0, 1].map((axis) => positions[3 * index[at + k]! + axis]! + origin[axis]!));
      if (!ends.flat().every((value, i) => (i % 2 === 0 ? value > 31.1 && value < 43.9 : value > 43.1 && value < 56.9)))
        continue;
      const key = ends.map((end) => end.map((value) => value.toFixed(2)).join()).join(" ");
      lines.set(key, (lines.get(key) ?? 0) + 1);
    }
  expect(new Set(lines.values())).toEqual(new Set([1]));
  expect(lines.size).toBe(50 * 55); // of 51 × 55 vertices
}, 60_000);

test("beside a damaged chunk all faces without a corner in it are there, and it alone is told", async () => {
  const store = await sheet("mesh", 41);
  const broken = wrap(store, {
    async get(key, options) {
      const value = await store.get(key, options);
      return /^0\/vertices\/c\/3\/3\/[01]/.test(key) ? value?.map((byte) => byte ^ 0x55) : value;
    },
  });
  const errors: string[] = [];
  const engine = new Engine(await openZarrVectors(broken, Prefix.root), {
    onError: ({ message }) => errors.push(message),
  });
  await engine.look(viewOf(all));
  expect(errors.length).toBeGreaterThan(0);
  for (const message of errors) expect(message).toMatch(/3\/3\/[01]/);
  expect(engine.status()).toMatchObject({ missing: errors.length, loading: false });
  const places: [number, number][] = [];
  for (let x = 0.6113; x < 100; x += 2.13427) for (let y = 0.3739; y < 100; y += 2.17193) places.push([x, y]);
  // Gone are the faces that have a corner in the damaged chunk, from 37.5 to 50 along x and y: those, and no other.
  const isDamaged = ([x, y]: readonly number[]): boolean => [x!, y!].every((at) => at >= 37.5 && at < 50);
  const counts = facesAt(engine.pieces(), places);
  for (const [i, [x, y]] of places.entries()) {
    const [left, low] = [2.5 * Math.floor(x / 2.5), 2.5 * Math.floor(y / 2.5)];
    const ends = [
      [left + 2.5, low],
      [left, low + 2.5],
      x - left + y - low > 2.5 ? [left + 2.5, low + 2.5] : [left, low],
    ];
    expect(counts[i]![0], `${x}, ${y}`).toBe(ends.some(isDamaged) ? 0 : 1);
  }
});
