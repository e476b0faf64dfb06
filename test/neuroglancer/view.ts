/**
 * Where something must be seen. Without perspective, and with dimensions of 1 nm, the client's picture is as high as its
 * `projectionScale`, its middle is the position, and x runs to the right and y down until the view is turned.
 */
import { BLACK, type Colour, SIZE, type Wanted } from "./picture.js";

export type Point = readonly number[];
export type Quaternion = readonly [x: number, y: number, z: number, w: number];

export interface View {
  /** What is in the middle, in nanometres. */
  readonly position: Point;
  /** Nanometres from top to bottom. */
  readonly height: number;
  readonly turn?: Quaternion | undefined;
}

/** A quarter turn: x runs to the right and z down. */
export const FROM_THE_SIDE: Quaternion = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];

export const NANOMETRES = { x: [1e-9, "m"], y: [1e-9, "m"], z: [1e-9, "m"] };

/** The members of the client's state. */
export const stateOf = ({ position, height, turn = [0, 0, 0, 1] }: View): object => ({
  dimensions: NANOMETRES,
  position,
  projectionScale: height,
  projectionOrientation: turn,
  layout: { type: "3d", orthographicProjection: true },
});

/** The place in the picture that shows a point. */
export function project({ position, height, turn = [0, 0, 0, 1] }: View, point: Point): [x: number, y: number] {
  const [x = 0, y = 0, z = 0] = point.map((value, axis) => value - position[axis]!);
  const [a, b, c, w] = [-turn[0], -turn[1], -turn[2], turn[3]];
  const [p, q, r] = [b * z - c * y + w * x, c * x - a * z + w * y, a * y - b * x + w * z];
  const scale = SIZE.height / height;
  return [SIZE.width / 2 + (x + 2 * (b * r - c * q)) * scale, SIZE.height / 2 + (y + 2 * (c * p - a * r)) * scale];
}

/** A line of so many pixels, or a dot where its ends are one. */
export interface Stroke {
  readonly ends: readonly [Point, Point];
  readonly colours: readonly [Colour, Colour];
  readonly width: number;
}

/** Borders are smoothed, and lie between pixels. */
const BORDER = 1.5;

/** Each stroke in its colour and nothing where there is none; any colour at borders and ends, and where one hides another. */
export function strokes(view: View, all: readonly Stroke[]): Wanted {
  const drawn = all.map(({ ends: [a, b], colours, width }) => {
    const [[ax, ay], [bx, by]] = [project(view, a), project(view, b)];
    const length = Math.sqrt((bx - ax) ** 2 + (by - ay) ** 2);
    const [dx, dy] = [(bx - ax) / (length || 1), (by - ay) / (length || 1)];
    return { ax, ay, dx, dy, length, colours, reach: width / 2, isDot: a === b };
  });
  return (x, y) => {
    let colour: Colour | undefined = BLACK;
    for (const { ax, ay, dx, dy, length, colours, reach, isDot } of drawn) {
      const along = (x - ax) * dx + (y - ay) * dy;
      const near = Math.min(length, Math.max(0, along));
      const distance = Math.sqrt((x - ax - near * dx) ** 2 + (y - ay - near * dy) ** 2); // hypot is many times slower
      if (distance > reach + BORDER) continue;
      if (distance > reach - BORDER || !(isDot || (along > BORDER && along < length - BORDER))) return undefined;
      const own = mix(colours, near / (length || 1));
      if (colour !== BLACK && own.some((value, channel) => value !== colour![channel])) return undefined;
      colour = own;
    }
    return colour;
  };
}

const mix = ([a, b]: readonly [Colour, Colour], t: number): Colour => [
  a[0] + t * (b[0] - a[0]),
  a[1] + t * (b[1] - a[1]),
  a[2] + t * (b[2] - a[2]),
];
