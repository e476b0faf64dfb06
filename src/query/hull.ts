/** Whether what lies between two chunks may meet a region: the hull of both holds every straight line from one to the other. */
import type { ChunkTable } from "../model/source.js";
import { Region } from "./region.js";

/** Whether a closed box meets the region. */
export const meeting =
  (region: Region) =>
  (min: Float64Array, max: Float64Array): boolean =>
    Region.relation(region, min, max) !== "outside";

/** The test for pairs of chunks. Pairs repeat: every object that crosses the same border asks the same. */
export function hullTest(
  table: ChunkTable,
  dims: number,
  meets: (min: Float64Array, max: Float64Array) => boolean,
): (a: number, b: number) => boolean {
  const known = new Map<number, boolean>();
  const [min, max, lowB, highB] = [0, 1, 2, 3].map(() => new Float64Array(dims)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return (a, b) => {
    const pair = Math.min(a, b) * table.count + Math.max(a, b);
    const before = known.get(pair);
    if (before !== undefined) return before;
    table.box(a, min, max);
    table.box(b, lowB, highB);
    for (let axis = 0; axis < dims; axis++) {
      min[axis] = Math.min(min[axis]!, lowB[axis]!);
      max[axis] = Math.max(max[axis]!, highB[axis]!);
    }
    const answer = meets(min, max);
    known.set(pair, answer);
    return answer;
  };
}
