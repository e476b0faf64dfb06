/** Slices against the voxels that they must be, and the requests that they may take. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DataType } from "../../bytes/dtype.js";
import { createVolume, openVolume, type VolumeArray, volumeInfo } from "../../format/precomputed/volume/index.js";
import { createArray, createGroup, openZarr, writeRegion } from "../../format/zarr/index.js";
import type { ArrayDataset } from "../../model/dataset.js";
import { ndarray, typed } from "../../model/elements.js";
import { type Bounds, fitted, type Vector } from "../../scene/camera.js";
import { colourOfId } from "../../scene/palette.js";
import { axesAcross, type Plane } from "../../scene/slice.js";
import { type Volume, volumeOf } from "../../scene/volume.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { meterStore } from "../../store/meter.js";
import { readonlyStore } from "../../store/readonly.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import type { View } from "../engine/view.js";
import { type PlacedSlice, SliceEngine, type SliceEngineOptions } from "./engine.js";

const uint = (size: 1 | 2 | 4 | 8): DataType => ({ kind: "uint", size, endian: "little" }) as DataType;
const SIZE: Vector = [100, 80, 60];

/** Grey that tells each voxel from its neighbours. */
const grey = (x: number, y: number, z: number): number => (7 * x + 13 * y + 29 * z) % 251;

function filled(size: Vector, value: (x: number, y: number, z: number) => number): Uint8Array {
  const out = new Uint8Array(size[0] * size[1] * size[2]);
  let at = 0;
  for (let x = 0; x < size[0]; x++)
    for (let y = 0; y < size[1]; y++) for (let z = 0; z < size[2]; z++) out[at++] = value(x, y, z);
  return out;
}

/** Three scales in chunks of 16, not at the origin, with voxels that are no cubes. */
async function precomputed(store: Store = memoryStore()): Promise<VolumeArray> {
  const info = volumeInfo({
    size: SIZE,
    dtype: uint(1),
    resolution: [8, 8, 20],
    offset: [10, -4, 3],
    chunkSize: [16, 16, 16],
    scales: 3,
  });
  const writer = await createVolume(store, Prefix.root, info);
  await writer.write(undefined, ndarray([...SIZE, 1], filled(SIZE, grey)));
  return writer.commit();
}

/** From the front of an axis, so that a pixel is `pixel` units. */
const viewOf = (bounds: Bounds, axis: number, pixel: number, side = 400): View => {
  const [azimuth, elevation] = [
    [90, 0],
    [0, 0],
    [0, 90],
  ][axis] as [number, number];
  return { camera: { ...fitted(bounds, azimuth, elevation, 1), span: side * pixel }, width: side, height: side };
};

const engineOf = (volume: Volume, options: SliceEngineOptions = {}): SliceEngine =>
  new SliceEngine(volume, { range: [0, 255], ...options });

/** Reads the array as it is, and compares each pixel with the voxel at its middle. */
async function expectVoxels(slice: PlacedSlice, volume: Volume): Promise<void> {
  const { array, axes, voxel, corner, shape } = volume.levels[slice.level]!;
  const whole = await array.read();
  const values = typed(whole);
  const stride = (axis: number): number => whole.shape.slice(axis + 1).reduce((product, length) => product * length, 1);
  const [u, v] = axesAcross(slice.plane.axis);
  const [first, right, , below] = slice.corners;
  const wrong: string[] = [];
  for (let j = 0; j < slice.height; j++)
    for (let i = 0; i < slice.width; i++) {
      const at = [0, 0, 0];
      at[slice.plane.axis] = slice.plane.position;
      at[u] = first![u]! + ((i + 0.5) / slice.width) * (right![u]! - first![u]!);
      at[v] = first![v]! + ((j + 0.5) / slice.height) * (below![v]! - first![v]!);
      const cell = at.map((place, k) => Math.min(Math.floor((place - corner[k]!) / voxel[k]!), shape[k]! - 1));
      const value = values[cell.reduce((sum, own, k) => sum + (axes[k]! < 0 ? 0 : own * stride(axes[k]!)), 0)]!;
      const pixel = slice.pixels.subarray(4 * (j * slice.width + i), 4 * (j * slice.width + i) + 4);
      const colour = colourFor(value, volume.labels);
      if (String([...pixel]) !== String(colour)) wrong.push(`${i},${j}: ${[...pixel]}, expected ${colour}`);
    }
  expect(wrong.slice(0, 3)).toEqual([]);
}

function colourFor(value: number | bigint, labels: boolean): number[] {
  if (!labels) return [Number(value), Number(value), Number(value), 255];
  if (Number(value) === 0) return [0, 0, 0, 0];
  const colour = colourOfId(BigInt(value));
  return [colour >> 16, (colour >> 8) & 255, colour & 255, 255];
}

describe("pixels are voxels", () => {
  test("of a precomputed volume, at the level whose voxels are about a pixel, in nanometres", async () => {
    const volume = await volumeOf(await precomputed());
    expect(volume.unit).toBe("nm");
    expect(volume.bounds).toEqual({ min: [80, -32, 60], max: [880, 608, 1260] });
    for (const [pixel, level] of [
      [8, 0],
      [11, 0],
      [12, 1],
      [16, 1],
      [40, 2],
      [1000, 2],
      [1, 0],
    ] as const) {
      const engine = engineOf(volume);
      await engine.look(viewOf(volume.bounds, 2, pixel));
      const slices = engine.slices();
      const xy = slices.find(({ plane }) => plane.axis === 2)!;
      expect([pixel, xy.level]).toEqual([pixel, level]);
      for (const slice of slices) await expectVoxels(slice, volume);
    }
  });

  test("of any plane, from anywhere", async () => {
    const volume = await volumeOf(await precomputed());
    const { min, max } = volume.bounds;
    const engine = engineOf(volume, { memory: 1 << 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1, 2),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: -180, max: 180 }),
        fc.integer({ min: -90, max: 90 }),
        fc.double({ min: 1, max: 60, noNaN: true }),
        fc.boolean(),
        async (axis, share, azimuth, elevation, pixel, perspective) => {
          const position = min[axis]! + share * (max[axis]! - min[axis]!);
          engine.set({ planes: [{ axis, position } as Plane] });
          const camera = { ...fitted(volume.bounds, azimuth, elevation, 1, perspective), span: 200 * pixel };
          await engine.look({ camera, width: 200, height: 200 });
          for (const slice of engine.slices()) await expectVoxels(slice, volume);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("of a Zarr group with multiscales, its axes in any order, around its centres, in shards", async () => {
    const store = meterStore(memoryStore());
    const volume = await volumeOf(await multiscales(store));
    expect(volume.unit).toBe("micrometer");
    expect(volume.channels).toBe(2);
    // The first voxel of the finest level is around 100; one of the next is around 100.25, twice as large.
    expect(volume.levels.map(({ corner }) => corner[0])).toEqual([99.75, 99.75]);
    expect(volume.levels[0]!.brick).toEqual([8, 8, 4]);
    const engine = engineOf(volume, { channel: 1 });
    await engine.look(viewOf(volume.bounds, 2, 0.5, 100));
    const [, , xy] = engine.slices();
    expect([xy!.width, xy!.height, xy!.level]).toEqual([32, 32, 0]);
    const middle = 6; // of 12 planes
    for (const [x, y] of [
      [0, 0],
      [31, 5],
      [17, 31],
    ] as const)
      expect(xy!.pixels[4 * (y * 32 + x)]).toBe((grey(x, y, middle) + 1) % 251);
    // The index of a shard is read once, however many chunks are.
    const shards = 3 * 2 * 2;
    expect(store.counts().get).toBeLessThan(shards * 8);
  });

  test.each([4, 8] as const)("labels of %i bytes have their colours, and 0 none", async (size) => {
    const large = size === 8 ? 2n ** 60n : 2n ** 31n;
    const labels = Array.from({ length: 24 * 20 }, (_, i) => (i % 5 === 0 ? 0n : large + BigInt(i % 7)));
    const values = size === 8 ? BigUint64Array.from(labels) : Uint32Array.from(labels, Number);
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, {
      shape: [1, 20, 24],
      dtype: uint(size),
      chunkShape: [1, 8, 8],
    });
    await writeRegion(array, undefined, ndarray([1, 20, 24], values));
    const volume = await volumeOf((await openZarr(store)) as ArrayDataset);
    const engine = new SliceEngine(volume, { planes: [{ axis: 2, position: 0.5 }] });
    await engine.look(viewOf(volume.bounds, 2, 0.1));
    await expectVoxels(engine.slices()[0]!, volume);
  });

  test("what is no number is transparent, and the range is that of nearly all voxels", async () => {
    const store = memoryStore();
    const values = Float32Array.from({ length: 32 * 32 }, (_, i) => (i === 5 ? Number.NaN : i === 6 ? 1e9 : i % 100));
    const float: DataType = { kind: "float", size: 4, endian: "little" };
    const array = await createArray(store, Prefix.root, { shape: [32, 32], dtype: float, chunkShape: [16, 16] });
    await writeRegion(array, undefined, ndarray([32, 32], values));
    const engine = new SliceEngine(await volumeOf((await openZarr(store)) as ArrayDataset));
    await engine.look(viewOf(engine.bounds, 2, 0.1));
    expect(engine.range).toEqual([0, 99]);
    const xy = engine.slices().find(({ plane }) => plane.axis === 2)!;
    expect([...xy.pixels.subarray(20, 28)]).toEqual([0, 0, 0, 0, 255, 255, 255, 255]);
    expect(xy.pixels[4 * 50]).toBe(Math.round((50 / 99) * 255));
    engine.set({ range: [0, 50] });
    expect(engine.slices()[0]!.pixels.length).toBeGreaterThan(0);
    expect(engine.slices().find(({ plane }) => plane.axis === 2)!.pixels[4 * 51]).toBe(255);
  });
});

/** Channels first, then z, y, x; chunks of 4 × 8 × 8 in shards of 4 × 16 × 16. */
async function multiscales(store: Store): Promise<Parameters<typeof volumeOf>[0]> {
  const axes = ["c", "z", "y", "x"].map((name) =>
    name === "c" ? { name, type: "channel" } : { name, type: "space", unit: "micrometer" },
  );
  const step = (factor: number) => [
    { type: "scale", scale: [1, 2, 0.5 * factor, 0.5 * factor] },
    { type: "translation", translation: [0, 0, 0, 100 + 0.25 * (factor - 1)] },
  ];
  const datasets = [1, 2].map((factor, i) => ({ path: String(i), coordinateTransformations: step(factor) }));
  await createGroup(store, Prefix.root, { attributes: { ome: { version: "0.5", multiscales: [{ axes, datasets }] } } });
  for (const [i, factor] of [1, 2].entries()) {
    const [z, y, x] = [12, 32 / factor, 32 / factor];
    const shape = [2, z, y, x];
    const array = await createArray(store, Prefix.of(`${i}/`), {
      shape,
      dtype: uint(2),
      chunkShape: [1, 4, 8, 8],
      shardShape: [1, 4, 16, 16],
    });
    const values = new Uint16Array(2 * z * y * x);
    for (let at = 0; at < values.length; at++) {
      const [c, zz, yy, xx] = [
        Math.floor(at / (z * y * x)),
        Math.floor(at / (y * x)) % z,
        Math.floor(at / x) % y,
        at % x,
      ];
      values[at] = (grey(xx * factor, yy * factor, zz) + c) % 251;
    }
    await writeRegion(array, undefined, ndarray(shape, values));
  }
  return (await openZarr(store)) as Parameters<typeof volumeOf>[0];
}

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

describe("what is no volume", () => {
  test("says so", async () => {
    const store = memoryStore();
    const group = await createGroup(store, Prefix.root);
    await expect(volumeOf(group)).rejects.toThrow(/is a group without multiscales: give the address of an array/);
    const line = await createArray(store, Prefix.of("line/"), { shape: [5], dtype: uint(1) });
    await expect(volumeOf(line)).rejects.toThrow(/has 1 dimensions, and a slice is cut from two or more/);
    const complex = await createArray(store, Prefix.of("complex/"), {
      shape: [5, 5],
      dtype: { kind: "complex", size: 8, endian: "little" },
    });
    await expect(volumeOf(complex)).rejects.toThrow(/elements of type complex/);
    for (const [multiscales, message] of [
      [[{ datasets: [] }], /without a level/],
      [[{ datasets: [{}] }], /a level without a path/],
      [[{ datasets: [{ path: "line" }] }], /1 dimensions/],
      [[{ datasets: [{ path: "complex", coordinateTransformations: [{ type: "affine" }] }] }], /"affine"/],
      [
        [{ datasets: [{ path: "complex", coordinateTransformations: [{ type: "scale", scale: [0, 1] }] }] }],
        /a scale of 0 along an axis/,
      ],
    ] as const) {
      const hostile = await createGroup(
        store,
        Prefix.root,
        { attributes: { multiscales } as never },
        { overwrite: true },
      );
      await createArray(store, Prefix.of("line/"), { shape: [5], dtype: uint(1) });
      await createArray(store, Prefix.of("complex/"), {
        shape: [5, 5],
        dtype: { kind: "complex", size: 8, endian: "little" },
      });
      await expect(volumeOf(hostile)).rejects.toThrow(message);
    }
  });
});
