/**
 * Images as chunks: what png and jpeg have in common. A chunk [channel, z, y, x] is an image whose pixels, row after row, are
 * the voxels with x fastest. Written, a row is a row along x; read, any width and height will do whose product is right.
 */
import { isFixed } from "../bytes/dtype.js";
import { Corrupt, InvalidInput } from "../errors.js";
import type { ChunkSpec } from "./types.js";

export interface ImageSpec {
  readonly channels: number;
  /** Of a channel. */
  readonly voxels: number;
  readonly width: number;
  readonly height: number;
  /** Bytes of a sample. */
  readonly size: number;
}

/** What the chunk is as an image, where an image of this kind has such channels and samples. */
export function imageOf(
  name: string,
  { shape, dtype }: ChunkSpec,
  channels: readonly number[],
  sizes: readonly number[],
): ImageSpec {
  const [c = 0, z = 0, y = 0, x = 0] = shape;
  const size = isFixed(dtype) && dtype.kind === "uint" ? dtype.size : 0;
  if (shape.length !== 4 || !channels.includes(c) || !sizes.includes(size))
    throw new InvalidInput(
      `${name} takes chunks [channel, z, y, x] of ${channels.join(", ")} channels of uint${sizes.map((n) => 8 * n).join(" or uint")}, found [${shape}] of ${dtype.kind} of ${size} bytes`,
    );
  return { channels: c, voxels: x * y * z, width: x, height: y * z, size };
}

/** Before anything is allocated for it. */
export function checkImage(
  name: string,
  spec: ImageSpec,
  { width, height, channels }: { readonly width: number; readonly height: number; readonly channels: number },
): void {
  if (width * height !== spec.voxels || channels !== spec.channels)
    throw new Corrupt(
      `the ${name} image of a chunk should have ${spec.voxels} pixels of ${spec.channels} channels, found ${width} × ${height} of ${channels}`,
    );
}

/** Samples of a pixel lie together in an image, those of a channel in a chunk. */
export function planar(pixels: Uint8Array, { channels, voxels, size }: ImageSpec): Uint8Array {
  if (channels === 1) return pixels;
  const out = new Uint8Array(pixels.length);
  for (let at = 0, i = 0; i < voxels; i++) {
    for (let channel = 0; channel < channels; channel++)
      for (let k = 0; k < size; k++) out[(channel * voxels + i) * size + k] = pixels[at++]!;
  }
  return out;
}

export function interleaved(data: Uint8Array, { channels, voxels, size }: ImageSpec): Uint8Array {
  if (data.length !== channels * voxels * size)
    throw new InvalidInput(
      `an image of ${voxels} pixels should have ${channels * voxels * size} bytes, found ${data.length}`,
    );
  if (channels === 1) return data;
  const out = new Uint8Array(data.length);
  for (let at = 0, i = 0; i < voxels; i++) {
    for (let channel = 0; channel < channels; channel++)
      for (let k = 0; k < size; k++) out[at++] = data[(channel * voxels + i) * size + k]!;
  }
  return out;
}
