/** The requests that slices take, the memory that they keep, and what is shown meanwhile. */
import { describe, expect, test } from "vitest";
import { engineOf, expectVoxels, precomputed, viewOf } from "../../../test/slices.js";
import { openVolume } from "../../format/precomputed/volume/index.js";
import { typed } from "../../model/elements.js";
import type { Plane } from "../../scene/slice.js";
import { volumeOf } from "../../scene/volume.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { meterStore } from "../../store/meter.js";
import { readonlyStore } from "../../store/readonly.js";
import { wrap } from "../../store/wrap.js";

describe("what is asked for", () => {
  const ready = async () => {
    const made = memoryStore();
    await precomputed(made);
    const store = meterStore(readonlyStore(made));
    const volume = await volumeOf(await openVolume(store));
    store.reset();
    return { store, volume };
  };
  const xy = (position: number): Plane => ({ axis: 2, position });

  test("the chunks that the plane goes through, those of the coarsest level first", async () => {
    const { store, volume } = await ready();
    const engine = engineOf(volume, { planes: [xy(100)] });
    await engine.look(viewOf(volume.bounds, 2, 8));
    const [fine, coarse] = [volume.levels[0]!, volume.levels[2]!].map(
      ({ shape, brick }) => Math.ceil(shape[0] / brick[0]) * Math.ceil(shape[1] / brick[1]),
    );
    expect(store.counts().requests).toBe(fine! + coarse!);
    store.reset();
    // Inside of the same chunks, and back: nothing.
    for (const position of [120, 360, 100]) {
      engine.set({ planes: [xy(position)] });
      await engine.look(viewOf(volume.bounds, 2, 8));
      expect(store.counts().requests).toBe(0);
      await expectVoxels(engine.slices()[0]!, volume);
      store.reset();
    }
  });

  test("of a close look few", async () => {
    const { store, volume } = await ready();
    const engine = engineOf(volume, { planes: [xy(100)] });
    await engine.look(viewOf(volume.bounds, 2, 1000));
    store.reset();
    await engine.look(viewOf(volume.bounds, 2, 0.25)); // 100 nm: at most two chunks of 128 along each side
    expect(store.counts().requests).toBeLessThanOrEqual(4);
    expect(store.counts().requests).toBeGreaterThan(0);
    const { width, height } = engine.slices()[0]!;
    expect(Math.max(width, height)).toBeLessThanOrEqual(32);
  });

  test("nothing of a plane beside the volume, or behind a clipping box", async () => {
    const { store, volume } = await ready();
    const engine = engineOf(volume, { planes: [xy(59), xy(1261)] });
    await engine.look(viewOf(volume.bounds, 2, 8));
    expect(engine.slices()).toEqual([]);
    engine.set({ planes: [xy(100)] });
    await engine.look({ ...viewOf(volume.bounds, 2, 8), clip: { min: [0, 0, 500], max: [900, 900, 900] } });
    expect(engine.slices()).toEqual([]);
    expect(store.counts().requests).toBe(0);
    engine.set({ planes: [xy(1260)] }); // both sides belong to it
    await engine.look(viewOf(volume.bounds, 2, 8));
    await expectVoxels(engine.slices()[0]!, volume);
  });

  test("memory is bounded: a coarser level where the finest is too much, and the longest unused go", async () => {
    const { volume } = await ready();
    const small = engineOf(volume, { planes: [xy(100)], memory: 100_000 });
    await small.look(viewOf(volume.bounds, 2, 8));
    expect(small.slices()[0]!.level).toBe(1); // 35 chunks of 4096 are more than half of it
    const engine = engineOf(volume, { planes: [xy(100)], memory: 400_000 });
    for (const position of [100, 400, 700, 1000, 1200]) {
      engine.set({ planes: [xy(position)] });
      await engine.look(viewOf(volume.bounds, 2, 8));
      expect(engine.status().bytes).toBeLessThanOrEqual(400_000);
    }
    await expectVoxels(engine.slices()[0]!, volume);
  });

  test("a look that is overtaken ends what nobody wants, and keeps what is wanted still", async () => {
    const store = memoryStore();
    await precomputed(store);
    let waiting: { readonly key: string; readonly go: () => void }[] = [];
    const ended: string[] = [];
    let slowly = true;
    const slow = wrap(readonlyStore(store), {
      async get(key, options) {
        if (slowly && key.includes("_")) {
          await new Promise<void>((resolve) => {
            waiting.push({ key, go: resolve });
            options?.signal?.addEventListener("abort", () => {
              ended.push(key);
              resolve();
            });
          });
          options?.signal?.throwIfAborted();
        }
        return store.get(key, options);
      },
    });
    const volume = await volumeOf(await openVolume(slow));
    const errors: Error[] = [];
    const engine = engineOf(volume, { planes: [xy(100)], onError: (error) => errors.push(error) });
    const tick = () => new Promise((resolve) => setTimeout(resolve, 5));
    const first = engine.look(viewOf(volume.bounds, 2, 8));
    await tick();
    expect(waiting.length).toBe(16);
    engine.set({ planes: [xy(1200)] });
    const second = engine.look(viewOf(volume.bounds, 2, 8));
    for (let i = 0; i < 100; i++) {
      await tick();
      const now = waiting;
      waiting = [];
      for (const { go } of now) go();
    }
    await Promise.all([first, second]);
    expect(ended.length).toBeGreaterThan(0);
    expect(errors).toEqual([]);
    expect(engine.status().loading).toBe(false);
    slowly = false;
    await expectVoxels(engine.slices()[0]!, volume);
  });

  test("a damaged chunk is told once, and what is coarser is there in its place", async () => {
    const store = memoryStore();
    await precomputed(store);
    await store.set(Key.of("8_8_20/10-26_-4-12_3-19"), new Uint8Array(5));
    const volume = await volumeOf(await openVolume(store));
    const errors: Error[] = [];
    const engine = engineOf(volume, { planes: [xy(100)], onError: (error) => errors.push(error) });
    for (const pixel of [8, 8.1, 8.2]) await engine.look(viewOf(volume.bounds, 2, pixel));
    expect(errors.length).toBe(1);
    expect(errors[0]!.message).toContain("10-26_-4-12_3-19");
    expect(engine.status().missing).toBe(1);
    const [slice] = engine.slices();
    expect(slice!.pixels.every((byte, at) => at % 4 !== 3 || byte === 255)).toBe(true);
  });

  test("a picture is there before it is sharp", async () => {
    const store = memoryStore();
    await precomputed(store);
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const gated = wrap(readonlyStore(store), {
      async get(key, options) {
        if (key.startsWith("8_8_20")) await gate;
        return store.get(key, options);
      },
    });
    const volume = await volumeOf(await openVolume(gated));
    const engine = engineOf(volume, { planes: [xy(100)] });
    const done = engine.look(viewOf(volume.bounds, 2, 8));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const [blurred] = engine.slices();
    expect(blurred!.pixels.every((byte, at) => at % 4 !== 3 || byte === 255)).toBe(true);
    const coarse = volume.levels[2]!;
    const array = await coarse.array.read();
    const z = Math.floor((100 - coarse.corner[2]) / coarse.voxel[2]);
    expect(blurred!.pixels[0]).toBe(typed(array)[z * array.shape[3]!]);
    open();
    await done;
    await expectVoxels(engine.slices()[0]!, volume);
  });
});
