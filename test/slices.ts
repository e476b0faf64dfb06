/** A volume whose voxels are known, and slices of it against them: what the tests of slices share. */
import { expect } from "vitest";
import type { DataType } from "../src/bytes/dtype.js";
import { createVolume, type VolumeArray, volumeInfo } from "../src/format/precomputed/volume/index.js";
import { ndarray, typed } from "../src/model/elements.js";
import { type Bounds, fitted, type Vector } from "../src/scene/camera.js";
import { colourOfId } from "../src/scene/palette.js";
import { axesAcross } from "../src/scene/slice.js";
import type { Volume } from "../src/scene/volume.js";
import { Prefix } from "../src/store/key.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/types.js";
import type { View } from "../src/viewer/engine/view.js";
import { type PlacedSlice, SliceEngine, type SliceEngineOptions } from "../src/viewer/slices/engine.js";

export const uint = (size: 1 | 2 | 4 | 8): DataType => ({ kind: "uint", size, endian: "little" }) as DataType;
const SIZE: Vector = [100, 80, 60];

/** Grey that tells each voxel from its neighbours. */
export const grey = (x: number, y: number, z: number): number => (7 * x + 13 * y + 29 * z) % 251;

function filled(size: Vector, value: (x: number, y: number, z: number) => number): Uint8Array {
  const out = new Uint8Array(size[0] * size[1] * size[2]);
  let at = 0;
  for (let x = 0; x < size[0]; x++)
    for (let y = 0; y < size[1]; y++) for (let z = 0; z < size[2]; z++) out[at++] = value(x, y, z);
  return out;
}

/** Three scales in chunks of 16, not at the origin, with voxels that are no cubes. */
export async function precomputed(store: Store = memoryStore()): Promise<VolumeArray> {
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
export const viewOf = (bounds: Bounds, axis: number, pixel: number, side = 400): View => {
  const [azimuth, elevation] = [
    [90, 0],
    [0, 0],
    [0, 90],
  ][axis] as [number, number];
  return { camera: { ...fitted(bounds, azimuth, elevation, 1), span: side * pixel }, width: side, height: side };
};

export const engineOf = (volume: Volume, options: SliceEngineOptions = {}): SliceEngine =>
  new SliceEngine(volume, { range: [0, 255], ...options });

/** Reads the array as it is, and compares each pixel with the voxel at its middle. */
export async function expectVoxels(slice: PlacedSlice, volume: Volume): Promise<void> {
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
