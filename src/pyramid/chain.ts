/**
 * A chain of vertices with fewer of them (Douglas and Peucker): the one that is furthest from the straight line between the ends
 * stays, as long as that is further than allowed, and both halves are looked at in the same way. No vertex that goes is further
 * than that from the segment that takes its place.
 */
import type { Positions } from "../model/vectors.js";

/** Marks who stays in `kept`, by vertex; the ends always do. Gives the largest distance of those that do not. */
export function thinChain(
  positions: Positions,
  dims: number,
  chain: ArrayLike<number>,
  allowed: number,
  kept: Uint8Array,
): number {
  const last = chain.length - 1;
  kept[chain[0]!] = 1;
  kept[chain[last]!] = 1;
  let worst = 0;
  const most = allowed * allowed;
  const open = [0, last];
  while (open.length > 0) {
    const to = open.pop()!;
    const from = open.pop()!;
    if (to - from < 2) continue;
    let furthest = -1;
    let distance = -1;
    const a = chain[from]!;
    const b = chain[to]!;
    for (let i = from + 1; i < to; i++) {
      const away = fromSegment(positions, dims, chain[i]!, a, b);
      if (away > distance) {
        furthest = i;
        distance = away;
      }
    }
    if (!(distance <= most)) {
      // also where a coordinate is no number: then the vertex in the middle stays
      const middle = furthest < 0 ? (from + to) >> 1 : furthest;
      kept[chain[middle]!] = 1;
      open.push(from, middle, middle, to);
    } else if (distance > worst) worst = distance;
  }
  return Math.sqrt(worst);
}

/** The square of the distance of a vertex from the segment between two others. */
export function fromSegment(positions: Positions, dims: number, vertex: number, a: number, b: number): number {
  const p = vertex * dims;
  const q = a * dims;
  const r = b * dims;
  let along = 0;
  let length = 0;
  for (let axis = 0; axis < dims; axis++) {
    const side = positions[r + axis]! - positions[q + axis]!;
    along += side * (positions[p + axis]! - positions[q + axis]!);
    length += side * side;
  }
  const t = length > 0 ? Math.min(1, Math.max(0, along / length)) : 0;
  let away = 0;
  for (let axis = 0; axis < dims; axis++) {
    const start = positions[q + axis]!;
    const offset = positions[p + axis]! - (start + t * (positions[r + axis]! - start));
    away += offset * offset;
  }
  return away;
}

/** The vertices with a mark. */
export function marked(kept: Uint8Array): Uint32Array {
  let count = 0;
  for (let vertex = 0; vertex < kept.length; vertex++) count += kept[vertex]!;
  const rows = new Uint32Array(count);
  for (let vertex = 0, at = 0; vertex < kept.length; vertex++) if (kept[vertex] === 1) rows[at++] = vertex;
  return rows;
}
