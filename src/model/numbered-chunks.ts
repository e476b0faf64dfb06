/** Chunks that are no cells of a grid: each has its number for a coordinate, and the box that it says it has. */
import type { ChunkTable } from "./source.js";

/** `boxes` has the lower and the upper corner of each chunk; without it they may lie anywhere in three dimensions. */
export function numberedChunks(count: number, boxes: Float64Array | undefined): ChunkTable {
  return {
    count,
    rank: 1,
    coords: Int32Array.from({ length: count }, (_, i) => i),
    find(place, at = 0) {
      const chunk = place[at]!;
      return chunk >= 0 && chunk < count ? chunk : -1;
    },
    box(chunk, min, max) {
      for (let axis = 0; axis < 3; axis++) {
        min[axis] = boxes?.[6 * chunk + axis] ?? Number.NEGATIVE_INFINITY;
        max[axis] = boxes?.[6 * chunk + 3 + axis] ?? Number.POSITIVE_INFINITY;
      }
    },
  };
}
