/**
 * Points and lines on a frame. A point is a disc; a line is as wide as it is said, along the axis of the screen along which it is
 * longer. What reaches before the eye is left out.
 */
import { type Lens, project } from "../scene/camera.js";
import type { Shape } from "../scene/shape.js";
import { Frame } from "./frame.js";

/** How large marks are: pixels of samples, and units of the data where vertices have their own. */
export interface Sizes {
  /** The diameter of points and the width of lines, in samples. */
  readonly mark: number;
  /** Of each vertex, in units of the data; never thinner than `mark`. */
  readonly radius?: ArrayLike<number> | undefined;
}

const FULL = 255;

export function drawPoints(frame: Frame, lens: Lens, shape: Shape, values: Float32Array, sizes: Sizes): void {
  const { positions } = shape;
  const at = new Float64Array(3);
  const [ox, oy, oz] = offsetOf(lens, shape);
  for (let v = 0; v < values.length; v++) {
    const scale = project(lens, positions[3 * v]! + ox, positions[3 * v + 1]! + oy, positions[3 * v + 2]! + oz, at);
    if (Number.isNaN(scale)) continue;
    const own = Math.abs(sizes.radius?.[v] ?? 0) * scale;
    disc(frame, at[0]!, at[1]!, at[2]!, Math.max(sizes.mark / 2, own), values[v]!);
  }
}

function disc(frame: Frame, x: number, y: number, depth: number, radius: number, value: number): void {
  const { width, height } = frame;
  const [top, bottom] = [Math.max(0, Math.ceil(y - radius - 0.5)), Math.min(height - 1, Math.floor(y + radius - 0.5))];
  for (let row = top; row <= bottom; row++) {
    const reach = Math.sqrt(Math.max(0, radius * radius - (row + 0.5 - y) ** 2));
    const [left, right] = [Math.max(0, Math.ceil(x - reach - 0.5)), Math.min(width - 1, Math.floor(x + reach - 0.5))];
    for (let column = left; column <= right; column++) Frame.put(frame, row * width + column, depth, value, FULL);
  }
}

/** `direct`: values are colours, between which there is nothing. */
export function drawLines(
  frame: Frame,
  lens: Lens,
  shape: Shape,
  values: Float32Array,
  sizes: Sizes,
  direct: boolean,
): void {
  const { positions, index } = shape;
  const [ox, oy, oz] = offsetOf(lens, shape);
  const ends = new Float64Array(6);
  for (let line = 0; line + 1 < index.length; line += 2) {
    const [a, b] = [index[line]!, index[line + 1]!];
    const near = project(lens, positions[3 * a]! + ox, positions[3 * a + 1]! + oy, positions[3 * a + 2]! + oz, ends, 0);
    const far = project(lens, positions[3 * b]! + ox, positions[3 * b + 1]! + oy, positions[3 * b + 2]! + oz, ends, 3);
    if (Number.isNaN(near + far)) continue;
    // As near as its front: a thick vertex is before the thin lines that end in it.
    if (sizes.radius !== undefined) {
      ends[2] = nearer(lens, ends[2]!, Math.abs(sizes.radius[a]!) || 0);
      ends[5] = nearer(lens, ends[5]!, Math.abs(sizes.radius[b]!) || 0);
    }
    const thickOf = (v: number, scale: number): number =>
      Math.max(sizes.mark, 2 * Math.abs(sizes.radius?.[v] ?? 0) * scale || 0);
    const thick = [thickOf(a, near), thickOf(b, far)] as const;
    const [from, to] = [values[a]!, values[b]!];
    segment(
      frame,
      ends,
      direct ? (share) => (share < 0.5 ? from : to) : (share) => from + share * (to - from),
      thick,
      sizes.radius !== undefined,
    );
  }
}

/** The depth of what is so much nearer to the eye. */
function nearer({ camera, distance }: Lens, depth: number, by: number): number {
  if (!camera.perspective) return depth - by / distance;
  const away = -distance / depth;
  return away > by ? -distance / (away - by) : depth;
}

/**
 * Step by step along the longer axis of the screen, and across it as wide as it must be: from one thickness to the other. What has
 * a radius has round ends, so that bends have no teeth and a thick vertex is a ball.
 */
function segment(
  frame: Frame,
  ends: Float64Array,
  valueAt: (share: number) => number,
  [first, second]: readonly [number, number],
  round: boolean,
): void {
  const { width, height } = frame;
  const [dx, dy, dd] = [ends[3]! - ends[0]!, ends[4]! - ends[1]!, ends[5]! - ends[2]!];
  const flat = Math.abs(dx) >= Math.abs(dy);
  const [start, delta, other, slope] = flat ? [ends[0]!, dx, ends[1]!, dy] : [ends[1]!, dy, ends[0]!, dx];
  if (round || delta === 0) {
    disc(frame, ends[0]!, ends[1]!, ends[2]!, first / 2, valueAt(0));
    disc(frame, ends[3]!, ends[4]!, ends[5]!, second / 2, valueAt(1));
  }
  if (delta === 0) return;
  const steep = Math.hypot(1, slope / delta);
  // A quarter of its width beyond ends that are not round, so that joined lines have no gap between them.
  const beyond = round ? 0 : first / 4;
  const [low, high] = [Math.min(start, start + delta) - beyond, Math.max(start, start + delta) + beyond];
  const [along, across] = flat ? [width, height] : [height, width];
  const last = Math.min(along - 1, Math.ceil(high - 0.5));
  for (let step = Math.max(0, Math.ceil(low - 0.5)); step <= last && step + 0.5 <= high; step++) {
    const share = Math.max(0, Math.min(1, (step + 0.5 - start) / delta));
    const centre = other + slope * ((step + 0.5 - start) / delta);
    const depth = ends[2]! + dd * share;
    const value = valueAt(share);
    const half = ((first + (second - first) * share) / 2) * steep;
    const stop = Math.min(across - 1, Math.floor(centre + half - 0.5));
    for (let k = Math.max(0, Math.ceil(centre - half - 0.5)); k <= stop; k++)
      Frame.put(frame, flat ? k * width + step : step * width + k, depth, value, FULL);
  }
}

/** From the lens' target to the origin of the shape, in 64 bits. */
export function offsetOf({ camera }: Lens, { origin }: Shape): [number, number, number] {
  return [origin[0] - camera.target[0], origin[1] - camera.target[1], origin[2] - camera.target[2]];
}
