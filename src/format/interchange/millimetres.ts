/** Coordinates for files that are in millimetres whatever the dataset counts. */
import type { Axis, Positions } from "../../model/vectors.js";
import { inRatio, ratioOf } from "../../space/units.js";

/** Positions along these axes as millimetres; an axis without a unit that is a length is taken for that. */
export function inMillimetres(positions: Positions, axes: readonly Axis[]): Positions {
  const ratios = axes.map(({ unit }) => ratioOf(unit, "mm") ?? { times: 1, per: 1 });
  if (ratios.every(({ times, per }) => times === per)) return positions;
  return positions.map((value, i) => inRatio(value, ratios[i % 3]!)) as Positions;
}
