/** Which paths touch a mask, or leave the grid of an image. Vertices decide, by the voxel whose centre is nearest. */
import { InvalidInput } from "../../errors.js";
import type { Positions } from "../../model/vectors.js";
import { MASK_BITS, type Mask } from "./nifti.js";
import { inverse3, linearOf } from "./orientation.js";
import type { ImageSpace } from "./types.js";

/** A question about the vertices from … to of positions in RAS+ millimetres. */
export type PathTest = (positions: Positions, from: number, to: number) => boolean;

/** Whether any vertex lies in a voxel of the mask; with `endsOnly`, the first or the last one. */
export function touches({ blocks, ...space }: Mask, endsOnly = false): PathTest {
  const voxelAt = voxelFinder(space);
  const isIn = (positions: Positions, vertex: number): boolean => {
    const voxel = voxelAt(positions, 3 * vertex);
    return voxel >= 0 && blocks[Math.floor(voxel / 2 ** MASK_BITS)]![voxel % 2 ** MASK_BITS] === 1;
  };
  return (positions, from, to) => {
    if (endsOnly) return to > from && (isIn(positions, from) || isIn(positions, to - 1));
    for (let vertex = from; vertex < to; vertex++) if (isIn(positions, vertex)) return true;
    return false;
  };
}

/** Whether any vertex lies outside of all voxels. */
export function leaves(space: ImageSpace): PathTest {
  const voxelAt = voxelFinder(space);
  return (positions, from, to) => {
    for (let vertex = from; vertex < to; vertex++) if (voxelAt(positions, 3 * vertex) < 0) return true;
    return false;
  };
}

/** The number of the voxel of a place, the first axis being the fastest; −1 outside. */
function voxelFinder({ affine, dimensions }: ImageSpace): (positions: Positions, at: number) => number {
  const m = inverse3(linearOf(affine));
  if (m === undefined) throw new InvalidInput("the axes of the image do not span space");
  const [tx, ty, tz] = [affine[3]!, affine[7]!, affine[11]!];
  const [width, height, depth] = dimensions as readonly [number, number, number];
  return (positions, at) => {
    const x = positions[at]! - tx;
    const y = positions[at + 1]! - ty;
    const z = positions[at + 2]! - tz;
    const i = Math.floor(m[0]! * x + m[1]! * y + m[2]! * z + 0.5);
    const j = Math.floor(m[3]! * x + m[4]! * y + m[5]! * z + 0.5);
    const k = Math.floor(m[6]! * x + m[7]! * y + m[8]! * z + 0.5);
    const isInside = i >= 0 && j >= 0 && k >= 0 && i < width && j < height && k < depth; // false of NaN
    return isInside ? i + width * (j + height * k) : -1;
  };
}
