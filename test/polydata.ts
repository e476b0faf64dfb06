/** Polydata to be written in the forms of VTK. */
import { SIDE, square } from "./passing.js";

export interface PolyParts {
  readonly verts?: readonly number[][];
  readonly lines?: readonly number[][];
  readonly polys?: readonly number[][];
  readonly strips?: readonly number[][];
  /** Data of points and cells. */
  readonly data?: boolean;
  /** `object_id` of cells. */
  readonly ids?: (cell: number) => number;
  readonly double?: boolean;
  readonly z?: (vertex: number, z: number) => number;
}

export const POINTS = SIDE * SIDE;
export const KINDS = ["verts", "lines", "polys", "strips"] as const;
export const { at, faces } = square(4);
export const triangles = faces.map((face, f) =>
  f % 5 === 0 ? [...face, (face[0]! + 3) % POINTS] : f % 7 === 0 ? [0, 1] : face,
);
export const strips = Array.from({ length: 60 }, (_, i) =>
  Array.from({ length: i % 6 }, (_, k) => (i * 13 + k * 7) % POINTS),
);
/** Some share points, some go back, one is empty, and some points are on none. */
export const lines = Array.from({ length: 140 }, (_, i) =>
  Array.from({ length: (i * 5) % 17 }, (_, k) => ((i * 29) % 500) + (i % 2 === 0 ? k : 16 - k)),
);

/** The points one after the other. */
export const pointsOf = ({ z }: PolyParts): number[] =>
  Array.from({ length: POINTS }, (_, v) => v).flatMap((v) => {
    const [x, y, own] = at(v) as [number, number, number];
    return [x, y, z?.(v, own) ?? own];
  });

export const numbers = (count: number, of: (i: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => of(i));
