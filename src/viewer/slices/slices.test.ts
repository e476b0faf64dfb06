/** Slices against the voxels that they must be. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engineOf, expectVoxels, grey, precomputed, uint, viewOf } from "../../../test/slices.js";
import type { DataType } from "../../bytes/dtype.js";
import { createArray, createGroup, openZarr, writeRegion } from "../../format/zarr/index.js";
import type { ArrayDataset } from "../../model/dataset.js";
import { ndarray } from "../../model/elements.js";
import { fitted } from "../../scene/camera.js";
import type { Plane } from "../../scene/slice.js";
import { volumeOf } from "../../scene/volume.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { meterStore } from "../../store/meter.js";
import type { Store } from "../../store/types.js";
import { SliceEngine } from "./engine.js";

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
