/**
 * Which vertex of one is which of the other. Where both have the same order, that is it. Else vertices are paired by where they are:
 * exactly, in the order of their coordinates; with a tolerance, each with the nearest one within it that is still free.
 *
 * Vertices at the same place are told apart by their attributes, and then by what they are linked with, three links far.
 */
import type { Positions } from "../model/vectors.js";

/** Vertices of a batch: which, and where. */
export interface Vertices {
  readonly positions: Positions;
  /** Their numbers in the batch. */
  readonly rows: Uint32Array;
  /** What coordinates are multiplied by. */
  readonly scale: readonly number[];
}

export const coordinate = ({ positions, rows, scale }: Vertices, vertex: number, axis: number): number =>
  positions[rows[vertex]! * scale.length + axis]! * scale[axis]!;

/** How far two vertices are apart along the axis where that is most; 0 where both are NaN. */
export function apart(a: Vertices, vertexA: number, b: Vertices, vertexB: number): number {
  let most = 0;
  for (let axis = 0; axis < a.scale.length; axis++) {
    const [x, y] = [coordinate(a, vertexA, axis), coordinate(b, vertexB, axis)];
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    const distance = Math.abs(x - y);
    most = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : Math.max(most, distance);
  }
  return most;
}

/** Whether the vertices are the same in the order in which they are. */
export function sameOrder(a: Vertices, b: Vertices, tolerance: number): boolean {
  if (a.rows.length !== b.rows.length) return false;
  for (let vertex = 0; vertex < a.rows.length; vertex++) if (!(apart(a, vertex, b, vertex) <= tolerance)) return false;
  return true;
}

/** Vertices in the order of their coordinates, then of what `twin` says of those at the same place. */
export function sorted(vertices: Vertices, twin: (vertex: number) => string): Uint32Array {
  const texts = new Map<number, string>();
  const textOf = (vertex: number): string => {
    const known = texts.get(vertex) ?? twin(vertex);
    texts.set(vertex, known);
    return known;
  };
  return Uint32Array.from(vertices.rows, (_, vertex) => vertex).sort((v, w) => {
    const order = compare(vertices, v, vertices, w);
    if (order !== 0) return order;
    const [a, b] = [textOf(v), textOf(w)];
    return a < b ? -1 : a > b ? 1 : v - w;
  });
}

/** Which of two places comes first: by the first coordinate that differs, NaN last. */
export function compare(a: Vertices, v: number, b: Vertices, w: number): number {
  for (let axis = 0; axis < a.scale.length; axis++) {
    const [x, y] = [coordinate(a, v, axis), coordinate(b, w, axis)];
    if (x < y) return -1;
    if (x > y) return 1;
    if (x !== y && Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  }
  return 0;
}

/** For each vertex of a the one of b, or −1. `orders` are those of `sorted`. */
export function paired(
  a: Vertices,
  b: Vertices,
  tolerance: number,
  orders: readonly [Uint32Array, Uint32Array],
): Int32Array {
  const pairs = new Int32Array(a.rows.length).fill(-1);
  const [ofA, ofB] = orders;
  if (tolerance === 0) {
    for (let i = 0, j = 0; i < ofA.length && j < ofB.length; ) {
      const order = compare(a, ofA[i]!, b, ofB[j]!);
      if (order === 0) pairs[ofA[i]!] = ofB[j]!;
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
    return pairs;
  }
  const taken = new Uint8Array(b.rows.length);
  let from = 0;
  for (const v of ofA) {
    const x = coordinate(a, v, 0);
    while (from < ofB.length && coordinate(b, ofB[from]!, 0) < x - tolerance) from++;
    let [best, distance] = [-1, Number.POSITIVE_INFINITY];
    for (let j = from; j < ofB.length && !(coordinate(b, ofB[j]!, 0) > x + tolerance); j++) {
      const w = ofB[j]!;
      const away = taken[w] === 1 ? Number.POSITIVE_INFINITY : apart(a, v, b, w);
      if (away <= tolerance && away < distance) [best, distance] = [w, away];
    }
    if (best < 0) continue;
    pairs[v] = best;
    taken[best] = 1;
  }
  return pairs;
}

/** What vertices are linked with, as texts: `classes` are numbers that are the same for vertices that look the same. */
export function surroundings(links: Uint32Array, width: number, classes: Uint32Array): (vertex: number) => string {
  const at: number[][] = Array.from(classes, () => []);
  for (let end = 0; end < links.length; end++) at[links[end]!]!.push(end);
  return (vertex) =>
    at[vertex]!.map((end) => {
      const first = end - (end % width);
      const turn = width > 2 ? end - first : 0; // a face may begin anywhere
      const ends = Array.from({ length: width }, (_, i) => classes[links[first + ((i + turn) % width)]!]!);
      return `${width > 2 ? 0 : end - first}:${ends.join(",")}`;
    })
      .sort()
      .join(" ");
}
