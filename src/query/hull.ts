/** Whether what lies between two chunks may meet a region: the hull of both holds every straight line from one to the other. */
import type { ChunkTable } from "../model/source.js";
import { Region } from "./region.js";

/** Whether a closed box meets the region. */
export const meeting =
  (region: Region) =>
  (min: Float64Array, max: Float64Array): boolean =>
    Region.relation(region, min, max) !== "outside";

/**
 * For each chunk on which sides of the region it lies, a bit for each: wholly below it on axis i (bit 2 i), wholly above (2 i + 1). What
 * chunks with a side in common have between them does not meet it.
 */
export function sidesOf(
  table: ChunkTable,
  dims: number,
  meets: (min: Float64Array, max: Float64Array) => boolean,
): Uint32Array {
  const sides = new Uint32Array(table.count);
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  const [low, high] = [new Float64Array(dims).fill(-Infinity), new Float64Array(dims).fill(Infinity)];
  const known = new Map<number, boolean>(); // many chunks have a side at the same place
  for (let axis = 0; axis < Math.min(dims, 16); axis++) {
    for (const [bit, at, half, end] of [
      [2 * axis, max, high, Infinity],
      [2 * axis + 1, min, low, -Infinity],
    ] as const) {
      known.clear();
      for (let chunk = 0; chunk < table.count; chunk++) {
        table.box(chunk, min, max);
        const border = at[axis]!;
        half[axis] = border;
        const beyond = known.get(border) ?? !meets(low, high);
        known.set(border, beyond);
        if (beyond) sides[chunk]! |= 1 << bit;
      }
      half[axis] = end;
    }
  }
  return sides;
}

/** Chunks up to which every pair has its byte. */
const FEW = 4096;

/** The test for pairs of chunks. Pairs repeat: every object that crosses the same border asks the same. */
export function hullTest(
  table: ChunkTable,
  dims: number,
  meets: (min: Float64Array, max: Float64Array) => boolean,
): (a: number, b: number) => boolean {
  const known = table.count <= FEW ? new Uint8Array(table.count ** 2) : new Map<number, number>();
  const [min, max, lowB, highB] = [0, 1, 2, 3].map(() => new Float64Array(dims)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  /** 2 where the hull of both meets, 1 where it does not. */
  const look = (a: number, b: number): number => {
    table.box(a, min, max);
    table.box(b, lowB, highB);
    for (let axis = 0; axis < dims; axis++) {
      min[axis] = Math.min(min[axis]!, lowB[axis]!);
      max[axis] = Math.max(max[axis]!, highB[axis]!);
    }
    return meets(min, max) ? 2 : 1;
  };
  if (known instanceof Uint8Array)
    return (a, b) => {
      const pair = a * table.count + b;
      if (known[pair] === 0) known[pair] = look(a, b);
      return known[pair] === 2;
    };
  return (a, b) => {
    const pair = Math.min(a, b) * table.count + Math.max(a, b);
    const answer = known.get(pair) ?? look(a, b);
    known.set(pair, answer);
    return answer === 2;
  };
}
