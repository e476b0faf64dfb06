/**
 * From the coordinates of a TRK to millimetres (RAS+) and back.
 *
 * A TRK counts millimetres along the axes of its image, in the order of `voxel_order`, from the outer corner of the first voxel.
 * The way to RAS+ is: divided by the size of a voxel; half a voxel back, to its centre; axes turned from `voxel_order` to those of
 * `vox_to_ras`; then `vox_to_ras`. The product of these is rounded to float32 and applied in float32, by fused multiply-adds in the order x, y, z and
 * then a sum, as nibabel does with the numpy of today: both get the same bits.
 */
import { inverse3, linearOf, multiply, nearestOrientation, type Orientation } from "./orientation.js";

export interface TrkSpace {
  readonly dimensions: readonly number[];
  readonly voxelSize: readonly number[];
  readonly voxelOrder: Orientation;
  readonly voxToRas: ArrayLike<number>;
}

/** From the coordinates of the file to RAS+: 4 × 4 of float32; undefined where the axes of the image do not span space. */
export function trkToRas({ dimensions, voxelSize, voxelOrder, voxToRas }: TrkSpace): Float32Array | undefined {
  const target = nearestOrientation(voxToRas);
  if (target === undefined) return undefined;
  const toVoxel = new Float64Array(16);
  const turn = new Float64Array(16);
  for (let i = 0; i < 3; i++) {
    toVoxel[5 * i] = 1 / voxelSize[i]!;
    toVoxel[4 * i + 3] = -0.5;
    const other = target.findIndex(({ axis }) => axis === voxelOrder[i]!.axis);
    const flip = target[other]!.flip === voxelOrder[i]!.flip ? 1 : -1;
    const centre = -(dimensions[i]! - 1) / 2;
    turn[4 * i + other] = flip;
    turn[4 * i + 3] = flip * centre - centre;
  }
  toVoxel[15] = 1;
  turn[15] = 1;
  return Float32Array.from(multiply(voxToRas, multiply(turn, toVoxel)));
}

const f = Math.fround;

/** One coordinate; a sum in float64 with a product of float32, rounded to float32, is a fused multiply-add. */
const coordinate = (m: Float32Array, row: number, x: number, y: number, z: number): number =>
  f(f(f(f(x * m[row]!) + y * m[row + 1]!) + z * m[row + 2]!) + m[row + 3]!);

/** `count` vertices of `stride` numbers each, from the file to RAS+. */
export function forward(
  m: Float32Array,
  from: Float32Array,
  at: number,
  stride: number,
  count: number,
  out: Float32Array,
  outAt: number,
): void {
  for (let v = 0, source = at, target = outAt; v < count; v++, source += stride, target += 3) {
    const x = from[source]!;
    const y = from[source + 1]!;
    const z = from[source + 2]!;
    out[target] = coordinate(m, 0, x, y, z);
    out[target + 1] = coordinate(m, 4, x, y, z);
    out[target + 2] = coordinate(m, 8, x, y, z);
  }
}

/**
 * From RAS+ to the file: the float32 that `forward` takes back to exactly the same coordinates, where there are such within two steps of
 * the nearest ones. Coordinates that come from a TRK have them; of others most have none, because far from the corner of the image float32 is
 * coarser than near its middle. Looking for them ends where that turns out to be so, and the nearest ones are taken.
 */
export class Backward {
  readonly #m: Float32Array;
  readonly #inverse: Float64Array;
  #searches = 0;
  #found = 0;
  /** Vertices that are not exactly what they were, and by how much at most. */
  inexact = 0;
  error = 0;

  constructor(m: Float32Array) {
    this.#m = m;
    this.#inverse = inverse3(linearOf(m))!;
  }

  /** A vertex comes to `out` from `at` on. */
  put(x: number, y: number, z: number, out: Float32Array, at: number): void {
    const m = this.#m;
    const inverse = this.#inverse;
    const dx = x - m[3]!;
    const dy = y - m[7]!;
    const dz = z - m[11]!;
    out[at] = inverse[0]! * dx + inverse[1]! * dy + inverse[2]! * dz;
    out[at + 1] = inverse[3]! * dx + inverse[4]! * dy + inverse[5]! * dz;
    out[at + 2] = inverse[6]! * dx + inverse[7]! * dy + inverse[8]! * dz;
    const miss = missed(m, out[at]!, out[at + 1]!, out[at + 2]!, x, y, z);
    if (miss === 0) return;
    const isHopeless = this.#searches >= ENOUGH && this.#found < this.#searches / 2;
    const left = isHopeless ? miss : this.#search(x, y, z, out, at);
    if (left === 0) return;
    this.inexact++;
    this.error = Math.max(this.error, left);
  }

  #search(x: number, y: number, z: number, out: Float32Array, at: number): number {
    const m = this.#m;
    const [a, b, c] = [out[at]!, out[at + 1]!, out[at + 2]!];
    const far =
      ulp(Math.max(Math.abs(x), Math.abs(y), Math.abs(z), Math.abs(m[3]!), Math.abs(m[7]!), Math.abs(m[11]!))) / 2;
    stepsFrom(a, far, US);
    stepsFrom(b, far, VS);
    stepsFrom(c, far, WS);
    let best = Number.POSITIVE_INFINITY;
    for (const width of [NEAR, STEPS])
      for (let k = 0; k < width ** 3 && best > 0; k++) {
        const u = US[k % width]!;
        const v = VS[Math.floor(k / width) % width]!;
        const w = WS[Math.floor(k / width ** 2)]!;
        const miss = missed(m, u, v, w, x, y, z);
        if (!(miss < best)) continue;
        best = miss;
        out[at] = u;
        out[at + 1] = v;
        out[at + 2] = w;
      }
    this.#searches++;
    if (best === 0) this.#found++;
    return best;
  }
}

/** How far from where it should be `forward` takes a vertex. */
const missed = (m: Float32Array, u: number, v: number, w: number, x: number, y: number, z: number): number =>
  Math.abs(coordinate(m, 0, u, v, w) - x) +
  Math.abs(coordinate(m, 4, u, v, w) - y) +
  Math.abs(coordinate(m, 8, u, v, w) - z);

const ENOUGH = 256; // searches that show whether there is something to be found

/** The distance to the next float32. */
const ulp = (value: number): number => 2 ** (Math.floor(Math.log2(Math.abs(value) || 2 ** -126)) - 23);

const [NEAR, STEPS] = [9, 17]; // candidates along an axis: the likely ones, and all
const [US, VS, WS] = [new Float32Array(STEPS), new Float32Array(STEPS), new Float32Array(STEPS)];

/** The value, then others on both sides: its neighbours, and such as are farther, for values near 0, whose neighbours are too near to matter. */
function stepsFrom(value: number, far: number, out: Float32Array): void {
  const near = ulp(value);
  const sizes = [near, 2 * near, far / 2, far, 3 * near, 4 * near, far / 4, 2 * far];
  out[0] = value;
  for (let i = 0; i < sizes.length; i++) {
    out[2 * i + 1] = value + sizes[i]!;
    out[2 * i + 2] = value - sizes[i]!;
  }
}
