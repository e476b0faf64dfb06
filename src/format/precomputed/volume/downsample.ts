/**
 * A coarser volume: each voxel stands for a box of finer ones, those of them that there are. Boxes are counted from the origin
 * of space and not from the first voxel, so that voxels of all scales lie where their offset and resolution say.
 *
 * - mean, of images: of whole numbers rounded to the nearest, halves to the even one
 * - mode, of segmentations: the value that most voxels have; of several the smallest
 *
 * Both as tensorstore has them, value for value; sums of floats are kept in 64 bits and rounded once, where it rounds each time.
 */
import type { FixedDataType } from "../../../bytes/dtype.js";
import type { NumericArray } from "../../../codec/types.js";
import type { NdArray } from "../../../model/array.js";
import { typed } from "../../../model/elements.js";
import { elementCount } from "../../../space/shape.js";
import type { Triple } from "./types.js";

/** How a coarser scale is made: the mean of the voxels (images), or the most frequent one (segmentations). */
export type Method = "mean" | "mode";

/** Where the boxes lie: `factor` voxels each; the first one lacks its first `missing` voxels. */
export interface Boxes {
  readonly factor: Triple;
  readonly missing: Triple;
}

/** The coarser part of an array [x, y, z, channel]. */
export function downsample(fine: NdArray, { factor, missing }: Boxes, method: Method): NdArray {
  const [nx, ny, nz, channels] = fine.shape as [number, number, number, number];
  const size = [nx, ny, nz].map((length, axis) => Math.ceil((length + missing[axis]!) / factor[axis]!));
  const shape = [...size, channels];
  const dtype = fine.dtype as FixedDataType;
  const from = typed(fine);
  const data = new Uint8Array(elementCount(shape) * dtype.size);
  const to = typed({ shape, dtype, data });
  const reduce = reducer(from, to, method, factor[0] * factor[1] * factor[2]);
  const span = (axis: 0 | 1 | 2, i: number): readonly [number, number] => {
    const start = i * factor[axis] - missing[axis];
    return [Math.max(0, start), Math.min(fine.shape[axis]!, start + factor[axis])];
  };
  const places = new Uint32Array(factor[0] * factor[1] * factor[2]);
  let out = 0;
  for (let i = 0; i < size[0]!; i++) {
    const [x0, x1] = span(0, i);
    for (let j = 0; j < size[1]!; j++) {
      const [y0, y1] = span(1, j);
      for (let k = 0; k < size[2]!; k++) {
        const [z0, z1] = span(2, k);
        for (let channel = 0; channel < channels; channel++) {
          let n = 0;
          for (let x = x0; x < x1; x++)
            for (let y = y0; y < y1; y++)
              for (let z = z0; z < z1; z++) places[n++] = ((x * ny + y) * nz + z) * channels + channel;
          reduce(places, n, out++);
        }
      }
    }
  }
  return { shape, dtype, data };
}

/** Puts what the values at `n` places come to at a place of the result. */
type Reduce = (places: Uint32Array, n: number, out: number) => void;

function reducer(from: NumericArray, to: NumericArray, method: Method, most: number): Reduce {
  if (from instanceof BigUint64Array || from instanceof BigInt64Array) {
    return method === "mode" ? modeOfWords(from, to as typeof from, most) : meanOfWide(from, to as typeof from);
  }
  return method === "mode" ? modeOf(from, to as typeof from, most) : meanOf(from, to as typeof from);
}

type Narrow = Exclude<NumericArray, BigUint64Array | BigInt64Array>;

function meanOf(from: Narrow, to: Narrow): Reduce {
  const whole = !(to instanceof Float32Array || to instanceof Float64Array);
  return (places, n, out) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += from[places[i]!]!;
    to[out] = whole ? halfToEven(sum, n) : sum / n;
  };
}

/** Exact, as the sum is: a quotient of numbers may be rounded to a half that it is not. */
function halfToEven(sum: number, n: number): number {
  const low = Math.floor(sum / n);
  const rest = 2 * (sum - low * n);
  return rest > n || (rest === n && low % 2 !== 0) ? low + 1 : low;
}

function meanOfWide<T extends BigUint64Array | BigInt64Array>(from: T, to: T): Reduce {
  return (places, n, out) => {
    let sum = 0n;
    for (let i = 0; i < n; i++) sum += from[places[i]!]!;
    const count = BigInt(n);
    const low = sum / count - (sum % count < 0n ? 1n : 0n);
    const rest = 2n * (sum - low * count);
    to[out] = rest > count || (rest === count && low % 2n !== 0n) ? low + 1n : low;
  };
}

function modeOf(from: Narrow, to: Narrow, most: number): Reduce {
  const sorted = new Float64Array(most);
  return (places, n, out) => {
    for (let i = 0; i < n; i++) {
      const value = from[places[i]!]!;
      let at = i;
      for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
      sorted[at] = value;
    }
    let [best, longest, run] = [sorted[0]!, 0, 0];
    for (let i = 0; i < n; i++) {
      run = i > 0 && sorted[i] === sorted[i - 1] ? run + 1 : 1;
      if (run > longest) [longest, best] = [run, sorted[i]!];
    }
    to[out] = best;
  };
}

/** The same for 64 bits without a sign, word by word: a bigint for each voxel would take most of the time. */
function modeOfWords<T extends BigUint64Array | BigInt64Array>(from: T, to: T, most: number): Reduce {
  const words = new Uint32Array(from.buffer, from.byteOffset, 2 * from.length);
  const result = new Uint32Array(to.buffer, to.byteOffset, 2 * to.length);
  const low = new Uint32Array(most);
  const high = new Uint32Array(most);
  return (places, n, out) => {
    for (let i = 0; i < n; i++) {
      const [a, b] = [words[2 * places[i]!]!, words[2 * places[i]! + 1]!];
      let at = i;
      for (; at > 0 && (high[at - 1]! > b || (high[at - 1] === b && low[at - 1]! > a)); at--) {
        low[at] = low[at - 1]!;
        high[at] = high[at - 1]!;
      }
      low[at] = a;
      high[at] = b;
    }
    let [best, longest, run] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      run = i > 0 && low[i] === low[i - 1] && high[i] === high[i - 1] ? run + 1 : 1;
      if (run > longest) [longest, best] = [run, i];
    }
    result[2 * out] = low[best]!;
    result[2 * out + 1] = high[best]!;
  };
}
