/** What a camera sees of space: which boxes. */
import {
  type Basis,
  type Bounds,
  type Camera,
  corners,
  type Lens,
  lensOf,
  NEAR,
  type Vector,
} from "../../scene/camera.js";

/** A camera and the picture that it makes. */
export interface View {
  readonly camera: Camera;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  /** How the camera is held, where its azimuth and elevation do not say it. */
  readonly basis?: Basis | undefined;
  /** Only what is inside of it is shown. */
  readonly clip?: Bounds | undefined;
}

export interface Sight {
  readonly lens: Lens;
  readonly clip: Bounds | undefined;
}

export const sightOf = ({ camera, width, height, basis, clip }: View): Sight => ({
  lens: lensOf(camera, width, height, basis),
  clip,
});

/** Whether any of a box may be in the picture: not where all its corners are beyond one side of it. */
export function sees({ lens, clip }: Sight, box: Bounds): boolean {
  if (clip !== undefined && [0, 1, 2].some((k) => box.min[k]! > clip.max[k]! || box.max[k]! < clip.min[k]!))
    return false;
  const { camera, right, up, back, width, height, distance, scale } = lens;
  const [halfWide, halfHigh] = [width / 2 / scale, height / 2 / scale];
  let [left, beyondRight, above, below, behind] = [0, 0, 0, 0, 0];
  for (const corner of corners(box)) {
    const at: Vector = [corner[0] - camera.target[0], corner[1] - camera.target[1], corner[2] - camera.target[2]];
    const along = (axis: Vector): number => at[0] * axis[0] + at[1] * axis[1] + at[2] * axis[2];
    const away = distance - along(back);
    // Without perspective nothing is behind the eye: the picture goes on in both directions.
    const wider = camera.perspective ? away / distance : 1;
    if (along(right) < -halfWide * wider) left++;
    if (along(right) > halfWide * wider) beyondRight++;
    if (along(up) > halfHigh * wider) above++;
    if (along(up) < -halfHigh * wider) below++;
    if (camera.perspective && away < distance * NEAR) behind++;
  }
  return Math.max(left, beyondRight, above, below, behind) < 8;
}

const PARTS = 16;

/** What of a box may be in the picture, in sixteenths of its sides; undefined where nothing is. */
export function seenOf(sight: Sight, bounds: Bounds): Bounds | undefined {
  const at = (cell: number, k: number): number =>
    cell === PARTS ? bounds.max[k]! : bounds.min[k]! + ((bounds.max[k]! - bounds.min[k]!) * cell) / PARTS;
  const [low, high] = [new Array<number>(3).fill(PARTS), new Array<number>(3).fill(0)];
  const visit = (from: readonly number[], size: number): void => {
    if (from.every((cell, k) => cell >= low[k]! && cell + size <= high[k]!)) return;
    const corner = (cells: number): Vector => from.map((cell, k) => at(cell + cells, k)) as unknown as Vector;
    if (!sees(sight, { min: corner(0), max: corner(size) })) return;
    const half = size / 2;
    if (size > 1)
      for (let octant = 0; octant < 8; octant++)
        visit(
          from.map((cell, k) => cell + ((octant >> k) & 1) * half),
          half,
        );
    else
      for (const [k, cell] of from.entries())
        [low[k], high[k]] = [Math.min(low[k]!, cell), Math.max(high[k]!, cell + 1)];
  };
  visit([0, 0, 0], PARTS);
  const corner = (cells: readonly number[]): Vector => cells.map(at) as unknown as Vector;
  return low[0]! < high[0]! ? { min: corner(low), max: corner(high) } : undefined;
}
