/**
 * Which bricks a view needs of a plane: those that the plane goes through and the view sees, of the level whose voxels are about
 * a pixel; of a coarser one where that would be too many.
 */
import type { Bounds, Vector } from "../../scene/camera.js";
import { axesAcross, type Plane, voxelAt } from "../../scene/slice.js";
import type { VolumeLevel } from "../../scene/volume.js";
import { type Sight, sees } from "../engine/view.js";

/** A brick by its place in the grid of a level. */
export interface Cell {
  readonly level: number;
  readonly cell: Vector;
  readonly key: string;
}

/** What is to be read for a plane, nearest to the middle of the picture first, and what of the level its picture is of. */
export interface Planned {
  readonly level: number;
  readonly cells: readonly Cell[];
  /** Voxels along u and v: from, up to. */
  readonly from: readonly [u: number, v: number];
  readonly to: readonly [u: number, v: number];
}

/** Pixels that a voxel may have and still be small enough: between this and half of it, as each level is twice as coarse. */
const PIXELS = Math.SQRT2;
/** Bricks of one plane. */
export const MOST = 512;
/** Voxels along a side of its picture: what every graphics card takes. */
const LONGEST = 4096;

/** The level and the bricks of a plane; undefined where it is not seen. `bytes` is what they may take, decoded. */
export function planned(
  levels: readonly VolumeLevel[],
  plane: Plane,
  sight: Sight,
  bytes: number,
): Planned | undefined {
  const [u, v] = axesAcross(plane.axis);
  const { scale } = sight.lens;
  const fine = levels.findLastIndex(({ voxel }) => Math.max(voxel[u]!, voxel[v]!) * scale <= PIXELS);
  for (let level = Math.max(0, fine); level < levels.length; level++) {
    const seen = seenAt(levels[level]!, level, plane, sight);
    if (seen === undefined) return undefined;
    const side = Math.max(seen.to[0] - seen.from[0], seen.to[1] - seen.from[1]);
    const { brick, array } = levels[level]!;
    const size = brick[0] * brick[1] * brick[2] * (array.dtype as { size: number }).size;
    if (seen.cells.length <= MOST && side <= LONGEST && seen.cells.length * size <= bytes) return seen;
  }
  return undefined;
}

function seenAt(own: VolumeLevel, level: number, plane: Plane, sight: Sight): Planned | undefined {
  const across = voxelAt(own, plane);
  if (across === undefined) return undefined;
  const { axis } = plane;
  const [u, v] = axesAcross(axis);
  const { brick, shape, voxel, corner } = own;
  const count = (k: number): number => Math.ceil(shape[k]! / brick[k]!);
  const found: { readonly cell: Cell; readonly far: number }[] = [];
  const [from, to] = [
    [shape[u]!, shape[v]!],
    [0, 0],
  ] as [[number, number], [number, number]];
  const edge = (k: number, cell: number): number => corner[k]! + Math.min(cell * brick[k]!, shape[k]!) * voxel[k]!;
  const boxOf = (u0: number, u1: number, v0: number, v1: number): Bounds => {
    const [min, max] = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    min[axis] = max[axis] = plane.position;
    [min[u], max[u], min[v], max[v]] = [edge(u, u0), edge(u, u1), edge(v, v0), edge(v, v1)];
    return { min, max } as unknown as Bounds;
  };
  const { target } = sight.lens.camera;
  const walk = (u0: number, u1: number, v0: number, v1: number): void => {
    // By quarters: of a plane of a million bricks a view looks at few.
    const box = boxOf(u0, u1, v0, v1);
    if (found.length > MOST || !sees(sight, box)) return;
    if (u1 - u0 > 1 || v1 - v0 > 1) {
      const [um, vm] = [(u0 + u1 + 1) >> 1, (v0 + v1 + 1) >> 1];
      for (const [a, b] of [
        [u0, um],
        [um, u1],
      ] as const)
        for (const [c, d] of [
          [v0, vm],
          [vm, v1],
        ] as const)
          if (a < b && c < d) walk(a, b, c, d);
      return;
    }
    const cell = [0, 0, 0];
    [cell[axis], cell[u], cell[v]] = [Math.floor(across / brick[axis]!), u0, v0];
    const far = Math.hypot(...[u, v].map((k) => Math.max(box.min[k]! - target[k]!, 0, target[k]! - box.max[k]!)));
    found.push({ cell: { level, cell: cell as unknown as Vector, key: `${level}/${cell.join(",")}` }, far });
    for (const [i, [k, at]] of (
      [
        [u, u0],
        [v, v0],
      ] as const
    ).entries()) {
      from[i] = Math.min(from[i]!, at * brick[k]!);
      to[i] = Math.max(to[i]!, Math.min((at + 1) * brick[k]!, shape[k]!));
    }
  };
  walk(0, count(u), 0, count(v));
  if (found.length === 0) return undefined;
  found.sort((a, b) => a.far - b.far);
  return { level, cells: found.map(({ cell }) => cell), from, to };
}
