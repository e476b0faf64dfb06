/**
 * A picture that is being drawn. Of each sample it knows how far away it is, its value and how bright it is lit; values become
 * colours when everything has been drawn and the range of them is known, so that data of any size are drawn as they come.
 * A pixel is four samples, whose mean smooths every edge.
 */
import { ABSENT, stepAt } from "../scene/palette.js";

/** Samples along each side of a pixel. */
export const FINE = 2;

export interface Frame {
  /** In samples. */
  readonly width: number;
  readonly height: number;
  /** How far; infinite where nothing is. */
  readonly depth: Float32Array;
  /** Of scene/colouring.ts. */
  readonly value: Float32Array;
  /** 0 dark, 255 as it is. */
  readonly shade: Uint8Array;
}

/** An image as PNG has it: red, green and blue of each pixel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** How values become colours. */
export interface Colours {
  /** Values are colours. */
  readonly direct: boolean;
  /** 256 of them, from `low` to `high`. */
  readonly steps: Uint32Array;
  readonly low: number;
  readonly high: number;
  readonly background: number;
}

export const Frame = {
  /** An empty one, for a picture of so many pixels. */
  of(width: number, height: number): Frame {
    const samples = width * height * FINE * FINE;
    return {
      width: width * FINE,
      height: height * FINE,
      depth: new Float32Array(samples).fill(Number.POSITIVE_INFINITY),
      value: new Float32Array(samples),
      shade: new Uint8Array(samples),
    };
  },

  /** Puts one sample, unless something nearer is there. */
  put({ depth, value, shade }: Frame, at: number, far: number, what: number, light: number): void {
    if (!(far < depth[at]!)) return;
    depth[at] = far;
    value[at] = what;
    shade[at] = light;
  },

  picture(frame: Frame, colours: Colours): Picture {
    const [width, height] = [frame.width / FINE, frame.height / FINE];
    const pixels = new Uint8Array(3 * width * height);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        let [red, green, blue] = [0, 0, 0];
        for (let k = 0; k < FINE * FINE; k++) {
          const [sx, sy] = [x * FINE + (k % FINE), y * FINE + Math.floor(k / FINE)];
          const at = sy * frame.width + sx;
          const empty = frame.depth[at] === Number.POSITIVE_INFINITY;
          const light = empty ? 1 : (frame.shade[at]! / 255) * openness(frame, at, sx, sy);
          const colour = empty ? colours.background : colourOf(frame.value[at]!, colours);
          red += ((colour >> 16) & 255) * light;
          green += ((colour >> 8) & 255) * light;
          blue += (colour & 255) * light;
        }
        const to = 3 * (y * width + x);
        pixels[to] = Math.round(red / FINE ** 2);
        pixels[to + 1] = Math.round(green / FINE ** 2);
        pixels[to + 2] = Math.round(blue / FINE ** 2);
      }
    return { width, height, pixels };
  },
};

function colourOf(value: number, { direct, steps, low, high }: Colours): number {
  if (direct) return value;
  return Number.isNaN(value) ? ABSENT : steps[stepAt(value, low, high)]!;
}

const REACH = 2 * FINE; // samples to the neighbours that are looked at
const STRENGTH = 6;

/** Darker next to what is nearer: so that one sees which of two lines or points is in front. */
function openness({ depth, width, height }: Frame, at: number, x: number, y: number): number {
  const own = depth[at]!;
  let over = 0;
  if (x >= REACH) over += covered(own, depth[at - REACH]!);
  if (x + REACH < width) over += covered(own, depth[at + REACH]!);
  if (y >= REACH) over += covered(own, depth[at - REACH * width]!);
  if (y + REACH < height) over += covered(own, depth[at + REACH * width]!);
  return over === 0 ? 1 : Math.exp(-STRENGTH * over);
}

const covered = (own: number, other: number): number => Math.min(0.1, Math.max(0, own - other - 0.004));
