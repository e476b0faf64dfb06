/**
 * The size of chunks where nobody has said one: about 64k vertices in each chunk that has any, told from a sample of them. The
 * longest side of space is halved until that is so; then chunks are nearly cubes, whatever the extent. Never one chunk for
 * everything: who asks for a corner should not get it all.
 */
import type { Axis, Positions } from "../../../model/vectors.js";
import { numbering } from "./write-numbering.js";

export const CHUNK_VERTICES = 1 << 16;
const SAMPLE = 1 << 16;

/** Every n-th vertex, n doubling as they become too many. */
export interface Sample {
  readonly count: number;
  readonly positions: Float64Array;
  /** All that have been seen. */
  readonly seen: number;
  add(positions: Positions): void;
}

export function sampleOf(dims: number): Sample {
  const kept = new Float64Array(SAMPLE * dims);
  let [count, step, seen] = [0, 1, 0];
  return {
    get count() {
      return count;
    },
    get seen() {
      return seen;
    },
    positions: kept,
    add(positions) {
      for (let v = (step - (seen % step)) % step; v < positions.length / dims; v += step) {
        if (count === SAMPLE) {
          // Every second of those that are kept is what twice the step would have kept.
          for (let i = 0; i < SAMPLE / 2; i++)
            for (let axis = 0; axis < dims; axis++) kept[i * dims + axis] = kept[2 * i * dims + axis]!;
          count = SAMPLE / 2;
          step *= 2;
          if ((seen + v) % step !== 0) v += step / 2;
          if (v >= positions.length / dims) break;
        }
        for (let axis = 0; axis < dims; axis++) kept[count * dims + axis] = positions[v * dims + axis]!;
        count++;
      }
      seen += positions.length / dims;
    },
  };
}

export function chooseShape(
  sample: Sample,
  { min, max }: { readonly min: ArrayLike<number>; readonly max: ArrayLike<number> },
  axes: readonly Axis[],
  binShape: readonly number[] | undefined,
): number[] {
  const dims = axes.length;
  const extent = axes.map((_, axis) => Math.max(0, max[axis]! - min[axis]!));
  const longest = Math.max(...extent);
  const whole = longest > 0 && Number.isFinite(longest) ? longest : 1;
  const shape = extent.map((size) => (size > 0 && Number.isFinite(size) ? size : whole));
  const space = axes.some(({ type }) => type === "space");
  const halve = (): void => {
    let axis = -1;
    for (let a = 0; a < dims; a++)
      if ((!space || axes[a]!.type === "space") && (axis < 0 || shape[a]! > shape[axis]!)) axis = a;
    shape[axis]! /= 2;
  };
  halve();
  // A sample cannot tell chunks apart that have fewer vertices than it leaves out, so it is not asked beyond that.
  while (sample.count > 0 && sample.seen / occupied(sample, shape) > CHUNK_VERTICES) halve();
  return shape.map((size, axis) => readable(size, binShape?.[axis]));
}

/** Chunks of this shape that have any vertex of the sample. */
function occupied({ positions, count }: Sample, shape: readonly number[]): number {
  const dims = shape.length;
  const chunks = numbering(dims);
  const here = new Int32Array(dims);
  for (let v = 0; v < count; v++) {
    for (let axis = 0; axis < dims; axis++) here[axis] = Math.floor(positions[v * dims + axis]! / shape[axis]!);
    chunks.of(here);
  }
  return chunks.count;
}

/** A whole number of bins, or two digits: people will read it. */
function readable(size: number, bin: number | undefined): number {
  if (bin !== undefined) return bin * Math.max(1, Math.round(size / bin));
  const unit = 10 ** (Math.floor(Math.log10(size)) - 1);
  return Number((Math.ceil(size / unit) * unit).toPrecision(2));
}
