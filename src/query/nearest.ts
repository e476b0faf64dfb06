/**
 * What is nearest: squared distances from a point to boxes, segments and triangles in any number of dimensions, and the k
 * best of any number of rows.
 *
 * Distances are float64, the axes added in their order. To a segment or triangle they are measured to a point that was
 * computed on it, so they are never below the true distance but for the rounding of that point, and never below
 * `distance2ToBox` of a box around it: a chunk that is skipped by its box could not have won. Where a vertex is not finite
 * the distance is NaN or infinite. Differences of coordinates are taken to stay below 1e76.
 */
import { InvalidInput } from "../errors.js";
import type { Positions } from "./region.js";
import { grown, lerp } from "./samples.js";

/** To a closed box; 0 inside. */
export function distance2ToBox(point: ArrayLike<number>, min: ArrayLike<number>, max: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < point.length; i++) {
    const away = point[i]! < min[i]! ? min[i]! - point[i]! : point[i]! > max[i]! ? point[i]! - max[i]! : 0;
    sum += away * away;
  }
  return sum;
}

/** To the segment between rows a and b. */
export function distance2ToSegment(
  point: ArrayLike<number>,
  positions: Positions,
  dims: number,
  a: number,
  b: number,
): number {
  const t = closestOnSegment(point, positions, dims, a, b);
  let sum = 0;
  for (let i = 0; i < dims; i++) {
    const away = point[i]! - lerp(positions[a * dims + i]!, positions[b * dims + i]!, t);
    sum += away * away;
  }
  return sum;
}

/** Where on a – b, from 0 to 1, the point is nearest. */
export function closestOnSegment(
  point: ArrayLike<number>,
  positions: Positions,
  dims: number,
  a: number,
  b: number,
): number {
  let along = 0;
  let length2 = 0;
  for (let i = 0; i < dims; i++) {
    const start = positions[a * dims + i]!;
    const edge = positions[b * dims + i]! - start;
    along += (point[i]! - start) * edge;
    length2 += edge * edge;
  }
  if (length2 === 0) return 0;
  return Math.min(Math.max(along / length2, 0), 1);
}

/** To the triangle of rows a, b and c: the nearest of its edges, or its interior where the point lies above it. */
export function distance2ToTriangle(
  point: ArrayLike<number>,
  positions: Positions,
  dims: number,
  a: number,
  b: number,
  c: number,
): number {
  const edges = Math.min(
    distance2ToSegment(point, positions, dims, a, b),
    distance2ToSegment(point, positions, dims, b, c),
    distance2ToSegment(point, positions, dims, c, a),
  );
  let bb = 0;
  let bc = 0;
  let cc = 0;
  let pb = 0;
  let pc = 0;
  for (let i = 0; i < dims; i++) {
    const start = positions[a * dims + i]!;
    const toB = positions[b * dims + i]! - start;
    const toC = positions[c * dims + i]! - start;
    const toP = point[i]! - start;
    bb += toB * toB;
    bc += toB * toC;
    cc += toC * toC;
    pb += toP * toB;
    pc += toP * toC;
  }
  const area = bb * cc - bc * bc;
  const u = (cc * pb - bc * pc) / area;
  const v = (bb * pc - bc * pb) / area;
  // A flat triangle has no interior (the weights are then NaN, infinite or noise); noise still names a point of the triangle.
  if (!(u > 0 && v > 0 && u + v < 1)) return edges;
  let sum = 0;
  for (let i = 0; i < dims; i++) {
    const x = positions[a * dims + i]!;
    const y = positions[b * dims + i]!;
    const z = positions[c * dims + i]!;
    const foot = x + u * (y - x) + v * (z - x);
    const away = point[i]! - Math.min(Math.max(foot, Math.min(x, y, z)), Math.max(x, y, z));
    sum += away * away;
  }
  return Math.min(edges, sum);
}

/**
 * The k nearest so far, as a heap with the worst on top. Equal distances are ordered by chunk, then by row, so the answer
 * does not depend on the order in which chunks arrive.
 */
export interface KNearest {
  readonly k: number;
  count: number;
  distance2: Float64Array;
  /** Safe integers: the chunk's ordinal, and the row in it. */
  chunk: Float64Array;
  row: Float64Array;
}

export const KNearest = {
  of(k: number): KNearest {
    if (!Number.isSafeInteger(k) || k < 1) throw new InvalidInput(`nearest needs a count of at least 1, found ${k}`);
    const room = Math.min(k, 64); // grows with what is found: k may be larger than the data
    return {
      k,
      count: 0,
      distance2: new Float64Array(room),
      chunk: new Float64Array(room),
      row: new Float64Array(room),
    };
  },

  /** What is further than this cannot come in any more; what is just as far still can, by its chunk and row. */
  bound: (heap: KNearest): number => (heap.count < heap.k ? Infinity : heap.distance2[0]!),

  /** Takes a candidate in if it is among the k best; NaN never is. */
  push(heap: KNearest, distance2: number, chunk: number, row: number): void {
    if (Number.isNaN(distance2)) return;
    if (heap.count === heap.k) {
      if (!before(heap, distance2, chunk, row, 0)) return;
      sink(heap, distance2, chunk, row);
      return;
    }
    let at = heap.count++;
    heap.distance2 = grown(heap.distance2, heap.count);
    heap.chunk = grown(heap.chunk, heap.count);
    heap.row = grown(heap.row, heap.count);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (before(heap, distance2, chunk, row, parent)) break;
      move(heap, parent, at);
      at = parent;
    }
    put(heap, at, distance2, chunk, row);
  },

  /** What was found, nearest first. */
  sorted(heap: KNearest): {
    readonly distance2: Float64Array;
    readonly chunk: Float64Array;
    readonly row: Float64Array;
  } {
    const order = Uint32Array.from({ length: heap.count }, (_, i) => i).sort((i, j) =>
      before(heap, heap.distance2[i]!, heap.chunk[i]!, heap.row[i]!, j) ? -1 : 1,
    );
    const pick = (values: Float64Array): Float64Array => Float64Array.from(order, (i) => values[i]!);
    return { distance2: pick(heap.distance2), chunk: pick(heap.chunk), row: pick(heap.row) };
  },
};

/** Offers rows from … to of a chunk; where `keep` is given, those whose `keep[row − from]` is not 0. */
export function nearestInRows(
  heap: KNearest,
  point: ArrayLike<number>,
  positions: Positions,
  dims: number,
  from: number,
  to: number,
  chunk: number,
  keep?: Uint8Array,
): void {
  let bound = KNearest.bound(heap);
  for (let row = from, at = from * dims; row < to; row++, at += dims) {
    if (keep !== undefined && keep[row - from] === 0) continue;
    let sum = 0;
    for (let i = 0; i < dims; i++) {
      const away = positions[at + i]! - point[i]!;
      sum += away * away;
    }
    if (sum <= bound) {
      KNearest.push(heap, sum, chunk, row);
      bound = KNearest.bound(heap);
    }
  }
}

/** Whether the candidate comes before the entry at `at`. */
function before(heap: KNearest, distance2: number, chunk: number, row: number, at: number): boolean {
  const other = heap.distance2[at]!;
  if (distance2 !== other) return distance2 < other;
  return chunk !== heap.chunk[at]! ? chunk < heap.chunk[at]! : row < heap.row[at]!;
}

/** Puts the candidate in the place of the worst. */
function sink(heap: KNearest, distance2: number, chunk: number, row: number): void {
  const { count } = heap;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= count) break;
    const right = child + 1;
    if (right < count && before(heap, heap.distance2[child]!, heap.chunk[child]!, heap.row[child]!, right))
      child = right;
    if (!before(heap, distance2, chunk, row, child)) break;
    move(heap, child, at);
    at = child;
  }
  put(heap, at, distance2, chunk, row);
}

const move = (heap: KNearest, from: number, to: number): void =>
  put(heap, to, heap.distance2[from]!, heap.chunk[from]!, heap.row[from]!);

function put(heap: KNearest, at: number, distance2: number, chunk: number, row: number): void {
  heap.distance2[at] = distance2;
  heap.chunk[at] = chunk;
  heap.row[at] = row;
}
