/**
 * From coefficients to pixels, exactly as libjpeg does it by default: components that are stored smaller are enlarged by
 * triangles where they are half as wide, or as wide and half as high, else by repetition; then colours.
 */
import { Unsupported } from "../errors.js";
import type { Jpeg } from "./jpeg-frame.js";
import { idct } from "./jpeg-idct.js";
import type { Component } from "./jpeg-scan.js";

/** Samples in rows. */
interface Plane {
  readonly samples: Uint8ClampedArray;
  readonly stride: number;
  /** Those that count. */
  readonly width: number;
  readonly height: number;
}

/** Width × height pixels, the samples of each together. */
export function pixelsOf(jpeg: Jpeg): Uint8Array {
  const { width, height, components, quantisation, ycc } = jpeg;
  const most = Math.max(...components.map(({ h }) => h));
  const tallest = Math.max(...components.map(({ v }) => v));
  const planes = components.map((component, i) =>
    enlarged(samplesOf(component, quantisation[i]!), most / component.h, tallest / component.v),
  );
  const count = planes.length;
  const out = new Uint8ClampedArray(width * height * count);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) for (const { samples, stride } of planes) out[at++] = samples[y * stride + x]!;
  }
  if (ycc) toRgb(out);
  return new Uint8Array(out.buffer);
}

function samplesOf({ across, down, width, height, coefficients }: Component, factors: Uint16Array): Plane {
  const stride = 8 * across;
  const samples = new Uint8ClampedArray(stride * 8 * down);
  const block = new Int32Array(64);
  for (let y = 0, from = 0; y < down; y++) {
    for (let x = 0; x < across; x++, from += 64) {
      for (let k = 0; k < 64; k++) block[k] = coefficients[from + k]! * factors[k]!;
      idct(block, samples, 8 * (y * stride + x), stride);
    }
  }
  return { samples, stride, width, height };
}

function enlarged(plane: Plane, wider: number, higher: number): Plane {
  if (!Number.isInteger(wider) || !Number.isInteger(higher))
    throw new Unsupported(`jpeg data with components that are ${wider} × ${higher} smaller cannot be read`);
  if (wider === 1 && higher === 1) return plane;
  if (wider === 2 && higher <= 2 && plane.width > 2) return triangles(plane, higher);
  if (wider === 1 && higher === 2) return between(plane);
  const { samples, stride, width, height } = plane;
  const out = new Uint8ClampedArray(width * wider * height * higher);
  for (let y = 0, at = 0; y < height * higher; y++) {
    const row = Math.floor(y / higher) * stride;
    for (let x = 0; x < width * wider; x++) out[at++] = samples[row + Math.floor(x / wider)]!;
  }
  return { samples: out, stride: width * wider, width: width * wider, height: height * higher };
}

/** The row itself and the nearer one of its neighbours; at the edges the row stands for those that are not there. */
const neighbours = ({ stride, height }: Plane, y: number, higher: number): [near: number, far: number] => {
  const near = Math.floor(y / higher);
  const far = Math.min(height - 1, Math.max(0, near + (y % 2 === 0 ? -1 : 1)));
  return [near * stride, far * stride];
};

/** Twice as high: three quarters of the row and one of its neighbour. */
function between(plane: Plane): Plane {
  const { samples, width, height } = plane;
  const out = new Uint8ClampedArray(width * 2 * height);
  for (let y = 0, at = 0; y < 2 * height; y++) {
    const [near, far] = neighbours(plane, y, 2);
    const bias = y % 2 === 0 ? 1 : 2;
    for (let x = 0; x < width; x++) out[at++] = (3 * samples[near + x]! + samples[far + x]! + bias) >> 2;
  }
  return { samples: out, stride: width, width, height: 2 * height };
}

/** Twice as wide and, where `higher` is 2, as high: the same along rows, of sums of rows. Halves are rounded up and down in turns. */
function triangles(plane: Plane, higher: number): Plane {
  const { samples, width, height } = plane;
  const [left, right, first, last, shift] = higher === 2 ? [8, 7, 8, 7, 4] : [1, 2, 0, 0, 2];
  const row = new Int32Array(width);
  const out = new Uint8ClampedArray(2 * width * higher * height);
  for (let y = 0, at = 0; y < height * higher; y++) {
    const [near, far] = neighbours(plane, y, higher);
    for (let x = 0; x < width; x++)
      row[x] = higher === 2 ? 3 * samples[near + x]! + samples[far + x]! : samples[near + x]!;
    for (let x = 0; x < width; x++) {
      const value = row[x]!;
      out[at++] = (x > 0 ? 3 * value + row[x - 1]! + left : 4 * value + first) >> shift;
      out[at++] = (x < width - 1 ? 3 * value + row[x + 1]! + right : 4 * value + last) >> shift;
    }
  }
  return { samples: out, stride: 2 * width, width: 2 * width, height: height * higher };
}

/** Brightness and differences to red, green and blue, in place, with 16 bits for the factors. */
function toRgb(pixels: Uint8ClampedArray): void {
  for (let at = 0; at < pixels.length; at += 3) {
    const y = pixels[at]!;
    const blue = pixels[at + 1]! - 128;
    const red = pixels[at + 2]! - 128;
    pixels[at] = y + ((91881 * red + 32768) >> 16);
    pixels[at + 1] = y + ((-22554 * blue - 46802 * red + 32768) >> 16);
    pixels[at + 2] = y + ((116130 * blue + 32768) >> 16);
  }
}
