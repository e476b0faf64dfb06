/** What files cannot say of the units of axes. */
import type { Axis } from "../../model/vectors.js";
import { ratioOf } from "../../space/units.js";

/** Units that have no place in a file, or that cannot be brought to the one that all such files are in: a sentence for each. */
export function lostUnits(axes: readonly Axis[], own?: string | undefined): string[] {
  const lost = axes.filter(({ unit = "" }) => unit !== "" && ratioOf(unit, own) === undefined);
  return [...new Set(lost.map(({ unit }) => unit!))].map((unit) => {
    const names = lost.filter((axis) => axis.unit === unit).map(({ name }) => name);
    const kept = own === undefined ? "of which only the numbers are kept" : `which is taken for ${own}`;
    return `the unit ${unit} of ${names.join(", ")}, ${kept}`;
  });
}
