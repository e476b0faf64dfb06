/** Coordinates for files that are in millimetres whatever the dataset counts. */
import type { Axis, Positions } from "../../model/vectors.js";
import { measureOf } from "../../space/units.js";

/** Millimetres per unit of the axis; an axis without a unit that is a length is taken for millimetres. */
function millimetres({ unit }: Axis): number {
  const measure = measureOf(unit);
  return measure?.unit === "m" ? measure.scale / measureOf("mm")!.scale : 1;
}

/** Positions along these axes as millimetres. */
export function inMillimetres(positions: Positions, axes: readonly Axis[]): Positions {
  const scales = axes.map(millimetres);
  if (scales.every((scale) => scale === 1)) return positions;
  return positions.map((value, i) => value * scales[i % 3]!) as Positions;
}
