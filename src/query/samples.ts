/**
 * What cutting leaves: samples of lines and triangles. A sample knows its position and from which rows it came with which
 * weights, so that every attribute follows afterwards, whatever its type:
 *
 * | sample of          | a, b, c        | value                          |
 * |--------------------|----------------|--------------------------------|
 * | a vertex           | row, row, row  | a                              |
 * | an edge            | from, to, from | a + u (b − a), v = 0           |
 * | a face             | its corners    | a + u (b − a) + v (c − a)      |
 *
 * Positions have the type of the rows they came from and are stored here because a cut is put exactly on the region's face,
 * which the formula alone would miss by a rounding.
 */
import type { NumericArray } from "../codec/types.js";
import type { Positions } from "./region.js";

export interface Samples {
  readonly dims: number;
  count: number;
  a: Uint32Array;
  b: Uint32Array;
  c: Uint32Array;
  u: Float64Array;
  v: Float64Array;
  /** `count` × `dims`; the arrays are longer than `count`. */
  positions: Positions;
}

export interface Faces {
  readonly min: readonly number[];
  readonly max: readonly number[];
}

export const Samples = {
  /** None yet, of positions such as these. */
  like(positions: Positions, dims: number): Samples {
    return {
      dims,
      count: 0,
      a: new Uint32Array(64),
      b: new Uint32Array(64),
      c: new Uint32Array(64),
      u: new Float64Array(64),
      v: new Float64Array(64),
      positions: positions instanceof Float32Array ? new Float32Array(64 * dims) : new Float64Array(64 * dims),
    };
  },

  /** Adds a sample, whose position is to be filled in; gives its number. */
  add(samples: Samples, a: number, b: number, c: number, u: number, v: number): number {
    const at = samples.count++;
    if (at >= samples.a.length) {
      samples.a = grown(samples.a, at + 1);
      samples.b = grown(samples.b, at + 1);
      samples.c = grown(samples.c, at + 1);
      samples.u = grown(samples.u, at + 1);
      samples.v = grown(samples.v, at + 1);
    }
    samples.positions = grown(samples.positions, (at + 1) * samples.dims);
    samples.a[at] = a;
    samples.b[at] = b;
    samples.c[at] = c;
    samples.u[at] = u;
    samples.v[at] = v;
    return at;
  },

  /** Gives sample `at` the position of a row. */
  place({ dims, positions }: Samples, at: number, from: Positions, row: number): void {
    for (let i = 0; i < dims; i++) positions[at * dims + i] = from[row * dims + i]!;
  },
};

/**
 * The faces at which positions of this type are cut: the outermost values that the type can hold and that are inside. For the
 * positions themselves the two boxes are the same.
 */
export function facesFor(box: Faces, positions: Positions): Faces {
  if (positions instanceof Float64Array) return box;
  return { min: box.min.map(above32), max: box.max.map((high) => -above32(-high)) };
}

/** The smallest float32 that is not below. */
function above32(value: number): number {
  const near = Math.fround(value);
  if (near >= value) return near;
  if (near === 0) return 2 ** -149;
  const bits = new Int32Array(Float32Array.of(near).buffer);
  bits[0]! += near > 0 ? 1 : -1;
  return new Float32Array(bits.buffer)[0]!;
}

/**
 * The values of a column (rows of `channels`) at each sample, into `out`. Floats are interpolated linearly, in float64.
 * Everything else (integers, bools, codes, strings, times) has no value in between: the row with the largest weight gives
 * its own, the first of them where weights are equal. Columns of float16 are widened before.
 */
export function interpolate<T extends NumericArray | unknown[]>(
  values: T,
  channels: number,
  samples: Samples,
  out: T,
): T {
  const { a, b, c, u, v, count } = samples;
  if (values instanceof Float32Array || values instanceof Float64Array) {
    const floats = out as Positions;
    for (let k = 0, at = 0; k < count; k++)
      for (let i = 0; i < channels; i++, at++)
        floats[at] = blend(
          values[a[k]! * channels + i]!,
          values[b[k]! * channels + i]!,
          values[c[k]! * channels + i]!,
          u[k]!,
          v[k]!,
        );
    return out;
  }
  const from = values as unknown[];
  const to = out as unknown[];
  for (let k = 0, at = 0; k < count; k++) {
    const first = 1 - u[k]! - v[k]!;
    const row = first >= u[k]! && first >= v[k]! ? a[k]! : u[k]! >= v[k]! ? b[k]! : c[k]!;
    for (let i = 0; i < channels; i++, at++) to[at] = from[row * channels + i];
  }
  return out;
}

function blend(a: number, b: number, c: number, u: number, v: number): number {
  if (v === 0) return lerp(a, b, u);
  return a === b && a === c ? a : a + u * (b - a) + v * (c - a);
}

/** From a (t = 0) to b (t = 1): exact at both ends, never outside of them, and equal ends stay what they are. */
export function lerp(a: number, b: number, t: number): number {
  if (a === b || t === 0) return a;
  if (t === 1) return b;
  const step = b - a;
  if (!Number.isFinite(step)) return (1 - t) * a + t * b;
  return t < 0.5 ? a + t * step : b - (1 - t) * step;
}

/** The array, or a copy with room for `count` elements and for as many again. */
export function grown<T extends Float32Array | Float64Array | Uint32Array>(array: T, count: number): T {
  if (count <= array.length) return array;
  const Same = array.constructor as new (length: number) => T;
  const larger = new Same(2 * count);
  larger.set(array);
  return larger;
}
