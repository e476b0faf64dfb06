/** How a dataset is dressed for a picture, and what must be read of it for that. */
import { attributesFor, type Colouring } from "./colouring.js";
import { type Outline, RADII } from "./outline.js";

export interface Dress {
  readonly colouring: Colouring;
  /** Whether vertices have a radius that is wanted. */
  readonly radius: boolean;
  readonly outline: Outline | undefined;
}

/** The attributes that must be read for it, as `select` names them. */
export const attributesOf = ({ colouring, radius, outline }: Dress): string[] => [
  ...new Set([
    ...attributesFor(colouring),
    ...(radius ? ["vertex.radius"] : []),
    ...(outline === "ellipsoids" ? [`object.${RADII}`] : []),
  ]),
];
