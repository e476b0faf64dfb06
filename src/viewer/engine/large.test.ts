/**
 * A store that says it has 100 million vertices, in as many chunks as such a store has, opens after a few requests. Each chunk of its
 * finest level holds a hundredth of what it is said to hold: reading that level as a whole would still be far more than is allowed.
 */
import { expect, test } from "vitest";
import { createZarrVectors, openZarrVectors, publishZarrVectors } from "../../format/zarr-vectors/index.js";
import { buildPyramid } from "../../pyramid/build.js";
import { type Bounds, fitted } from "../../scene/camera.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { meterStore } from "../../store/meter.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { Engine } from "./engine.js";

const REAL = 1_000_000;
const TIMES = 100;

/** Published, with the count of its finest level as it would be. */
async function large(): Promise<Store> {
  const made = memoryStore();
  const writer = await createZarrVectors(made, Prefix.root, { geometry: "points", dims: 3, chunkShape: 6.25 });
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  await writer.add({ positions: Float32Array.from({ length: 3 * REAL }, () => 100 * random()) });
  await writer.commit();
  await buildPyramid(made, Prefix.root, { levels: 3 });
  const store = memoryStore();
  const dataset = await openZarrVectors(made, Prefix.root);
  await publishZarrVectors(dataset, store, Prefix.root);
  for await (const { key } of store.list(Prefix.root)) {
    if (!key.endsWith(".json")) continue;
    const text = new TextDecoder().decode(await store.get(key));
    const said = text.replaceAll(new RegExp(`("vertex_count": ?)${REAL}\\b`, "g"), `$1${TIMES * REAL}`);
    if (said !== text) await store.set(key, new TextEncoder().encode(said));
  }
  return store;
}

const viewOf = (bounds: Bounds) => ({ camera: fitted(bounds, 30, 20, 1.25, true), width: 1000, height: 800 });

test("100 million vertices: at most 20 requests and 2 MB until a picture is there, and as many for a close look", async () => {
  const store = await large();
  const metered = meterStore(wrap(store, { can: { ...store.can, list: false } }));
  const dataset = await openZarrVectors(metered, Prefix.root);
  expect(dataset.levels[0]!.vertices).toBe(TIMES * REAL);
  const finest = await (await openZarrVectors(store, Prefix.root)).source(0);
  expect((await finest.chunks()).count).toBe(4096);
  const engine = new Engine(dataset);
  await engine.look(viewOf({ min: [0, 0, 0], max: [100, 100, 100] }));
  expect(engine.status()).toMatchObject({ loading: false, missing: 0 });
  expect(engine.status().level).toBeGreaterThan(0);
  expect(engine.status().vertices).toBeGreaterThan(10_000);
  expect(metered.counts().requests).toBeLessThanOrEqual(20);
  expect(metered.counts().bytesRead).toBeLessThanOrEqual(2e6);
  metered.reset();
  await engine.look(viewOf({ min: [50, 50, 50], max: [54, 54, 54] }));
  expect(engine.status().level).toBe(0);
  expect(metered.counts().requests).toBeLessThanOrEqual(20);
  expect(metered.counts().bytesRead).toBeLessThanOrEqual(2e6);
}, 120_000);
