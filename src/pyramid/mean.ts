/** Attributes of points that stand for several: the mean of floats; of everything else the value of the one that stays. */
import { halfToNumber, numberToHalf } from "../bytes/half.js";
import type { Column } from "../model/attributes.js";
import type { Columns } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import type { Thinned } from "./points.js";

/** `weights`: of how many each point is the mean already. */
export function averaged(
  columns: Columns,
  { rows, bins }: Pick<Thinned, "rows" | "bins">,
  weights: Float64Array,
): Columns {
  return new Map(
    [...pickRows(columns, rows)].map(([name, picked]): [string, Column] => {
      const { dtype, channels, categories } = picked.info;
      if (dtype.kind !== "float" || categories !== undefined) return [name, picked];
      const values = columns.get(name)!.values as Float32Array | Float64Array | Uint16Array;
      const half = dtype.size === 2;
      const sums = new Float64Array(rows.length * channels);
      const counts = new Float64Array(rows.length * channels);
      for (let point = 0; point < bins.length; point++)
        for (let c = 0; c < channels; c++) {
          const value = half ? halfToNumber(values[point * channels + c]!) : values[point * channels + c]!;
          if (Number.isNaN(value)) continue; // absent
          sums[bins[point]! * channels + c]! += weights[point]! * value;
          counts[bins[point]! * channels + c]! += weights[point]!;
        }
      const means = (picked.values as Float32Array).slice();
      for (let i = 0; i < sums.length; i++) {
        const mean = sums[i]! / counts[i]!; // 0 / 0 where all are absent
        means[i] = half ? numberToHalf(mean) : mean;
      }
      return [name, { info: picked.info, values: means }];
    }),
  );
}
