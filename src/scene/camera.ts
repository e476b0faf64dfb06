/**
 * A camera around a place, as people turn things in their hands. Angles are degrees; at 0, 0 it stands in front (at −y) and sees x
 * to the right and z up; azimuth goes round to the right, elevation up. What it sees of the plane through its target is `span`
 * high. On the screen, in pixels, x goes right and y down from the upper left corner; `depth` grows away from the camera and is
 * linear on the screen, so that whoever fills triangles may interpolate it: the distance where rays are parallel, −1 over it
 * where they meet.
 */
import { InvalidInput } from "../errors.js";

/** Three numbers: a place or a direction. */
export type Vector = readonly [number, number, number];
/** Both corners belong to it. */
export interface Bounds {
  readonly min: Vector;
  readonly max: Vector;
}

/** Where a picture is taken from. */
export interface Camera {
  readonly target: Vector;
  readonly azimuth: number;
  readonly elevation: number;
  /** Height of what is seen at the target, in units of the data. */
  readonly span: number;
  /** Off: parallel rays, so that lengths are the same everywhere. */
  readonly perspective: boolean;
  /** The angle between the lowest and the highest ray of a perspective: 40 degrees unless told. */
  readonly field?: number | undefined;
}

export const FIELD = 40;

const VIEWS: { readonly [name: string]: readonly [number, number] } = {
  front: [0, 0],
  back: [180, 0],
  left: [-90, 0],
  right: [90, 0],
  top: [0, 90],
  bottom: [0, -90],
};

/** The names of views. */
export const views: readonly string[] = Object.keys(VIEWS);

/** Azimuth and elevation of "front", "top" … or of "30,20". */
export function viewOf(text: string): readonly [azimuth: number, elevation: number] {
  const named = VIEWS[text];
  if (named !== undefined) return named;
  const [azimuth = Number.NaN, elevation = Number.NaN, ...more] = text.split(",").map((part) => Number(part || "?"));
  if (more.length === 0 && Number.isFinite(azimuth) && Math.abs(elevation) <= 90) return [azimuth, elevation];
  throw new InvalidInput(
    `a view is ${views.join(", ")} or azimuth,elevation such as 30,20, found ${JSON.stringify(text)}`,
  );
}

/** The directions of a camera: right and up on the screen, and back towards the eye. */
export interface Basis {
  readonly right: Vector;
  readonly up: Vector;
  readonly back: Vector;
}

export function basisOf({ azimuth, elevation }: Pick<Camera, "azimuth" | "elevation">): Basis {
  const [a, e] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
  const [ca, sa, ce, se] = [Math.cos(a), Math.sin(a), Math.cos(e), Math.sin(e)];
  return { right: [ca, sa, 0], up: [-se * sa, se * ca, ce], back: [ce * sa, -ce * ca, se] };
}

/** How far the eye is from the target. */
export const distanceOf = ({ span, field = FIELD }: Pick<Camera, "span" | "field">): number =>
  span / 2 / Math.tan((field * Math.PI) / 360);

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** The corners of a box, low ones first. */
export function corners({ min, max }: Bounds): Vector[] {
  return Array.from({ length: 8 }, (_, i) => [
    (i & 1) === 0 ? min[0] : max[0],
    (i & 2) === 0 ? min[1] : max[1],
    (i & 4) === 0 ? min[2] : max[2],
  ]);
}

/** A margin around what is shown, so that nothing touches the border of the picture. */
const MARGIN = 1.08;
/** The eye is at least so many times as far away as what is nearest to it, also of a plane that is seen from its edge. */
const APART = 1.25;

/** The camera from these angles that has all of a box in its picture; `aspect` is width over height. */
export function fitted(
  bounds: Bounds,
  azimuth: number,
  elevation: number,
  aspect: number,
  perspective = false,
): Camera {
  const { right, up, back } = basisOf({ azimuth, elevation });
  const target = middle(bounds);
  // Seen in perspective, what is nearer is larger: the eye is as far away as the corner that needs it most.
  const nearer = perspective ? Math.tan((FIELD * Math.PI) / 360) : 0;
  let half = 0;
  for (const corner of corners(bounds)) {
    const at: Vector = [corner[0] - target[0], corner[1] - target[1], corner[2] - target[2]];
    const out = Math.max(Math.abs(dot(at, up)), Math.abs(dot(at, right)) / aspect);
    const before = dot(at, back) * nearer;
    half = Math.max(half, out * MARGIN + before, before * APART);
  }
  const span = 2 * half;
  return { target, azimuth, elevation, span: span > 0 ? span : 1, perspective };
}

export const middle = ({ min, max }: Bounds): Vector => [
  min[0] + (max[0] - min[0]) / 2,
  min[1] + (max[1] - min[1]) / 2,
  min[2] + (max[2] - min[2]) / 2,
];

/** A camera and a picture of so many pixels, ready to put places on it. */
export interface Lens extends Basis {
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
  /** Pixels of one unit of the data, at the target. */
  readonly scale: number;
  /** From the eye to the target. */
  readonly distance: number;
}

/** `basis` says how the camera is held where azimuth and elevation do not. */
export function lensOf(camera: Camera, width: number, height: number, basis: Basis = basisOf(camera)): Lens {
  return {
    ...basis,
    camera,
    width,
    height,
    scale: height / camera.span,
    distance: distanceOf(camera),
  };
}

/** Nearer to the eye than this share of the way to the target, nothing is drawn. */
export const NEAR = 1 / 64;

/** Where a place (relative to `origin`) is seen: x, y, depth into `out`, and the size of a unit there; NaN before the eye. */
export function project(lens: Lens, x: number, y: number, z: number, out: Float64Array, at = 0): number {
  const { right, up, back, camera, width, height, distance } = lens;
  const away = distance - (x * back[0] + y * back[1] + z * back[2]);
  const scale = !camera.perspective ? lens.scale : away < distance * NEAR ? Number.NaN : (lens.scale * distance) / away;
  out[at] = width / 2 + scale * (x * right[0] + y * right[1] + z * right[2]);
  out[at + 1] = height / 2 - scale * (x * up[0] + y * up[1] + z * up[2]);
  out[at + 2] = camera.perspective ? -distance / away : away / distance;
  return scale;
}
