/** How a dataset is dressed for a picture, and what must be read of it for that. */
import type { AttributeInfo } from "../model/attributes.js";
import type { Axis, Batch, Geometry } from "../model/vectors.js";
import { inRatio, type Ratio, ratioOf } from "../space/units.js";
import { attributesFor, type Colouring, numbers } from "./colouring.js";
import { type Outline, RADII } from "./outline.js";

const RADIUS = "radius";

export interface Dress {
  readonly colouring: Colouring;
  /** From the radius of vertices to units of coordinates; undefined where none is wanted. */
  readonly radius: Ratio | undefined;
  readonly outline: Outline | undefined;
}

/** The attributes that must be read for it, as `select` names them. */
export const attributesOf = ({ colouring, radius, outline }: Dress): string[] => [
  ...new Set([
    ...attributesFor(colouring),
    ...(radius === undefined ? [] : [`vertex.${RADIUS}`]),
    ...(outline === "ellipsoids" ? [`object.${RADII}`] : []),
  ]),
];

/** The radius that skeletons are drawn with; one without a unit of length counts what coordinates do. */
export function radiusOf(
  geometry: Geometry | undefined,
  attributes: readonly AttributeInfo[],
  axes: readonly Axis[],
): Ratio | undefined {
  const own = geometry === "skeletons" ? attributes.find(({ name }) => name === RADIUS) : undefined;
  return own && (ratioOf(own.unit, axes[0]?.unit) ?? { times: 1, per: 1 });
}

/** In units of coordinates, per vertex; 0 where there is none. */
export function radiiOf({ vertexColumns, positions, dims }: Batch, ratio: Ratio | undefined): Float32Array | undefined {
  const column = ratio && vertexColumns.get(RADIUS);
  return column && numbers(column, undefined, positions.length / dims).map((value) => inRatio(value, ratio!) || 0);
}
