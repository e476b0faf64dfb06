/**
 * A slice of a volume: the voxels that a plane across an axis goes through, as a picture that lies in space.
 *
 * | normal | u, to the right in the picture | v, from its first row on |
 * |--------|--------------------------------|--------------------------|
 * | x (0)  | y                              | z                        |
 * | y (1)  | x                              | z                        |
 * | z (2)  | x                              | y                        |
 *
 * Its pixels are the voxels of one level; of what has not come yet they are those of a coarser one, so that a picture is whole
 * soon and sharp later. Amounts are grey or in a palette between the ends of a range, labels have colours of their own; what is
 * absent, not a number, or label 0 is transparent.
 */
import { halfToNumber } from "../bytes/half.js";
import type { NdArray } from "../model/array.js";
import { typed } from "../model/elements.js";
import type { Vector } from "./camera.js";
import { colourOfId, paletteNamed, stepsOf } from "./palette.js";
import type { VolumeLevel } from "./volume.js";

/** A plane: its normal is an axis, which it cuts at a position in units of the data. */
export interface Plane {
  readonly axis: 0 | 1 | 2;
  readonly position: number;
}

/** Values as colours. */
export interface Paint {
  readonly labels: boolean;
  readonly low: number;
  readonly high: number;
  /** From black to white unless told. */
  readonly palette?: string | undefined;
}

/** Values of a box of voxels of a level. */
export interface Brick {
  readonly level: number;
  /** Its first voxel. */
  readonly start: Vector;
  readonly shape: Vector;
  readonly values: Values;
  /** From one value to the next along x, y, z. */
  readonly strides: Vector;
}

export type Values = Exclude<ReturnType<typeof typed>, BigInt64Array>;

/** A picture in space; pixels are red, green, blue and opacity, row after row. */
export interface Slice {
  readonly plane: Plane;
  readonly level: number;
  /** Along u and v: the first voxel, and how many there are. */
  readonly from: readonly [u: number, v: number];
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export const axesAcross = (axis: Plane["axis"]): readonly [u: number, v: number] => [
  axis === 0 ? 1 : 0,
  axis === 2 ? 1 : 2,
];

/** The voxel that a plane goes through; undefined where it goes past the volume. */
export function voxelAt({ voxel, corner, shape }: VolumeLevel, { axis, position }: Plane): number | undefined {
  const at = Math.floor((position - corner[axis]!) / voxel[axis]!);
  const end = corner[axis]! + shape[axis]! * voxel[axis]!;
  if (position === end) return shape[axis]! - 1; // both sides of a box belong to it
  return at >= 0 && at < shape[axis]! ? at : undefined;
}

/** Where the corners of a slice are: of its first pixel, to the right, opposite, and below. */
export function cornersOf({ plane, from, width, height }: Slice, { voxel, corner }: VolumeLevel): Vector[] {
  const [u, v] = axesAcross(plane.axis);
  return [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ].map(([i, j]) => {
    const at = [0, 0, 0];
    at[plane.axis] = plane.position;
    at[u] = corner[u]! + (from[0] + i!) * voxel[u]!;
    at[v] = corner[v]! + (from[1] + j!) * voxel[v]!;
    return at as unknown as Vector;
  });
}

/** Elements as numbers that can be drawn: bits of halves become numbers, and amounts of 64 bits are rounded. */
export function valuesOf(array: NdArray, labels: boolean): Values {
  const values = typed(array);
  if (values instanceof BigUint64Array && labels) return values;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    if (labels) return new BigUint64Array(values.buffer, values.byteOffset, values.length);
    return Float64Array.from(values, Number);
  }
  const { kind, size } = array.dtype as { kind: string; size: number };
  return kind === "float" && size === 2 ? Float32Array.from(values, halfToNumber) : values;
}

/** Draws what a brick has of a slice; `levels` are those of the volume. */
export function paintBrick(slice: Slice, brick: Brick, levels: readonly VolumeLevel[], painter: Painter): void {
  const { plane, pixels, width } = slice;
  const [fine, own] = [levels[slice.level]!, levels[brick.level]!];
  const across = voxelAt(own, plane);
  const { start, shape, strides, values } = brick;
  if (across === undefined || across < start[plane.axis]! || across >= start[plane.axis]! + shape[plane.axis]!) return;
  const [u, v] = axesAcross(plane.axis);
  const columns = span(slice.from[0], width, fine, own, brick, u);
  const rows = span(slice.from[1], slice.height, fine, own, brick, v);
  const base = (across - start[plane.axis]!) * strides[plane.axis]!;
  const to = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
  const line = new Int32Array(columns.places.length);
  for (let j = 0; j < rows.places.length; j++) {
    const row = base + rows.places[j]!;
    for (let i = 0; i < line.length; i++) line[i] = row + columns.places[i]!;
    painter(values, line, to, (rows.first + j) * width + columns.first);
  }
}

/** The pixels of a picture along one axis that a brick covers, and where in the brick each of them is. */
function span(
  from: number,
  count: number,
  fine: VolumeLevel,
  own: VolumeLevel,
  { start, shape, strides }: Brick,
  k: number,
): { readonly first: number; readonly places: Int32Array } {
  // Only where it can be is looked, one pixel more on both sides: what is left is the work of the comparison.
  const pixelAt = (voxel: number): number =>
    (own.corner[k]! + voxel * own.voxel[k]! - fine.corner[k]!) / fine.voxel[k]! - from;
  const last = Math.min(count, Math.ceil(pixelAt(start[k]! + shape[k]!)) + 1);
  let first = -1;
  const places: number[] = [];
  for (let i = Math.max(0, Math.floor(pixelAt(start[k]!)) - 1); i < last; i++) {
    const middle = fine.corner[k]! + (from + i + 0.5) * fine.voxel[k]!;
    const at = (fine === own ? from + i : Math.floor((middle - own.corner[k]!) / own.voxel[k]!)) - start[k]!;
    if (at < 0 || at >= shape[k]!) continue;
    if (first < 0) first = i;
    places.push(at * strides[k]!);
  }
  return { first, places: Int32Array.from(places) };
}

/** Colours the values at `places`, one pixel after the other. */
export type Painter = (values: Values, places: Int32Array, pixels: Uint32Array, at: number) => void;

const OPAQUE = 0xff000000;
/** 0xRRGGBB as the bytes of a pixel lie in memory. */
const packed = (colour: number): number => (OPAQUE | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;

export function painterOf({ labels, low, high, palette }: Paint): Painter {
  if (labels) return labelPainter;
  const steps = stepsOf(palette === undefined ? [0x000000, 0xffffff] : paletteNamed(palette)).map(packed);
  const scale = high > low ? 255 / (high - low) : 0;
  return (values, places, pixels, at) => {
    const amounts = values as Exclude<Values, BigUint64Array>;
    for (let i = 0; i < places.length; i++) {
      const step = (amounts[places[i]!]! - low) * scale;
      // A comparison with what is not a number is false.
      pixels[at + i] = step >= 255 ? steps[255]! : step >= 0 ? steps[Math.round(step)]! : step < 0 ? steps[0]! : 0;
    }
  };
}

const labelColours = new Map<number | bigint, number>();
const MOST = 1 << 16;

function labelColour(label: number | bigint): number {
  if (Number(label) === 0) return 0;
  const known = labelColours.get(label);
  if (known !== undefined) return known;
  if (labelColours.size >= MOST) labelColours.clear();
  const colour = packed(colourOfId(BigInt(label)));
  labelColours.set(label, colour);
  return colour;
}

/** Neighbours mostly are of one thing: its colour is looked up once. */
const labelPainter: Painter = (values, places, pixels, at) => {
  let [last, colour]: [number | bigint, number] = [0, 0];
  for (let i = 0; i < places.length; i++) {
    const label = values[places[i]!]!;
    if (label !== last) [last, colour] = [label, labelColour(label)];
    pixels[at + i] = colour;
  }
};

/** The ends of a range that leaves out what few voxels have; those of the type where there are no data. */
export function rangeOf(bricks: readonly Brick[]): readonly [low: number, high: number] {
  const some: number[] = [];
  for (const { values } of bricks) {
    const every = Math.max(1, Math.floor((values.length * bricks.length) / SAMPLED));
    for (let at = 0; at < values.length; at += every) {
      const value = Number(values[at]);
      if (Number.isFinite(value)) some.push(value);
    }
  }
  some.sort((a, b) => a - b);
  const [low, high] = [0.005, 0.995].map((share) => some[Math.round(share * (some.length - 1))] ?? 0) as [
    number,
    number,
  ];
  return low < high ? [low, high] : [low, low + 1];
}

const SAMPLED = 1 << 16;
