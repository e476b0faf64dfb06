/** The kinds of geometry, as the format spells them and as the model does. */
import type { Geometry } from "../../../model/vectors.js";

const GEOMETRIES: { readonly [type: string]: Geometry } = {
  point_cloud: "points",
  line: "lines",
  polyline: "polylines",
  streamline: "streamlines",
  graph: "graph",
  skeleton: "skeletons",
  mesh: "mesh",
  parametric: "parametric",
};

/** undefined: a word that the format does not know. */
export const geometryOf = (type: string | undefined): Geometry | undefined =>
  type !== undefined && Object.hasOwn(GEOMETRIES, type) ? GEOMETRIES[type] : undefined;

export const typeOf = (geometry: Geometry): string =>
  Object.keys(GEOMETRIES).find((type) => GEOMETRIES[type] === geometry)!;
