/**
 * Cutting triangles at the planes between cells, on a grid of whole numbers. Neuroglancer draws each eighth of a cell of lod 1 and
 * up by itself, so that these are cut in their middle too, at step 2^(bits − 1), where its decoder parts them: there, and at the
 * sides of cells, no triangle has corners on both sides. The slabs between planes are numbered from 0 on each axis.
 *
 * No cracks: where an edge meets a plane is computed from the edge alone, and an edge that crosses several planes is cut at the
 * one with the most zeros at the end of its number first. Of the planes that an edge crosses, that is the first one that any
 * triangle around it is cut at; so all of them cut it at the same points, and rounding adds up to half a step for each of the few
 * halvings, not for each plane.
 */
import { LimitExceeded } from "../../../errors.js";

/** A growing list of three whole numbers each. */
export class Triples {
  data: Int32Array;
  count = 0;

  constructor(capacity: number) {
    this.data = new Int32Array(3 * Math.max(16, capacity));
  }

  static of(data: Int32Array): Triples {
    const all = new Triples(0);
    all.data = data;
    all.count = data.length / 3;
    return all;
  }

  add(a: number, b: number, c: number): number {
    const at = 3 * this.count;
    if (at === this.data.length) {
      const grown = new Int32Array(2 * at + 48);
      grown.set(this.data);
      this.data = grown;
    }
    this.data[at] = a;
    this.data[at + 1] = b;
    this.data[at + 2] = c;
    return this.count++;
  }
}

/** The planes of a lod. */
export class Planes {
  readonly #steps: number;
  readonly #middle: number;
  readonly #halves: boolean;

  constructor(lod: number, bits: number) {
    this.#steps = 2 ** bits - 1;
    this.#middle = 2 ** (bits - 1);
    this.#halves = lod > 0;
  }

  /** The step of a plane. */
  at(plane: number): number {
    if (!this.#halves) return plane * this.#steps;
    return (plane >> 1) * this.#steps + (plane & 1) * this.#middle;
  }

  /** The slab of a step; of one on a plane, the upper. */
  slab(step: number): number {
    const cell = Math.floor(step / this.#steps);
    if (!this.#halves) return cell;
    return 2 * cell + (step - cell * this.#steps >= this.#middle ? 1 : 0);
  }
}

/**
 * The same surface, of triangles that lie in one slab on each axis; the vertices that this takes are added. Triangles of which
 * two corners are at the same place are left out. `most` is how many bytes it may become, of 24 for a vertex and 12 for a face.
 */
export function split(vertices: Triples, faces: Triples, planes: Planes, most: number): Triples {
  let cut = faces;
  for (let axis = 0; axis < 3; axis++) cut = splitAxis(vertices, cut, planes, axis, most);
  return cut;
}

function splitAxis(vertices: Triples, faces: Triples, planes: Planes, axis: number, most: number): Triples {
  const out = new Triples(faces.count);
  const waiting: number[] = [];
  for (let i = 0; i < faces.count; i++) {
    waiting.push(faces.data[3 * i]!, faces.data[3 * i + 1]!, faces.data[3 * i + 2]!);
    while (waiting.length > 0) {
      const [c, b, a] = [waiting.pop()!, waiting.pop()!, waiting.pop()!];
      const { data } = vertices;
      if (collapsed(data, a, b, c)) continue;
      const [p, q, r] = [data[3 * a + axis]!, data[3 * b + axis]!, data[3 * c + axis]!];
      const plane = planeWithin(planes, Math.min(p, q, r), Math.max(p, q, r));
      if (plane === undefined) {
        out.add(a, b, c);
        continue;
      }
      if (24 * vertices.count + 12 * out.count > most)
        throw new LimitExceeded(`a mesh that is cut at the sides of its cells should take at most ${most} bytes`);
      cutFace(vertices, waiting, axis, planes.at(plane), a, b, c);
    }
  }
  return out;
}

/** The number of the plane to cut at first; undefined where none is strictly between. */
function planeWithin(planes: Planes, low: number, high: number): number | undefined {
  const below = planes.slab(low);
  let plane = planes.slab(high);
  if (plane > below && planes.at(plane) === high) plane--;
  if (plane <= below) return undefined;
  for (let bit = 1; plane - (plane & bit) > below; bit *= 2) plane -= plane & bit;
  return plane;
}

/** The faces whose corners are at three places. */
export function withArea(vertices: Triples, faces: Triples): Triples {
  const out = new Triples(faces.count);
  for (let i = 0; i < faces.count; i++) {
    const [a, b, c] = [faces.data[3 * i]!, faces.data[3 * i + 1]!, faces.data[3 * i + 2]!];
    if (!collapsed(vertices.data, a, b, c)) out.add(a, b, c);
  }
  return out;
}

const collapsed = (data: Int32Array, a: number, b: number, c: number): boolean =>
  same(data, a, b) || same(data, b, c) || same(data, c, a);

const same = (data: Int32Array, a: number, b: number): boolean =>
  data[3 * a] === data[3 * b] && data[3 * a + 1] === data[3 * b + 1] && data[3 * a + 2] === data[3 * b + 2];

function cutFace(vertices: Triples, out: number[], axis: number, at: number, a: number, b: number, c: number): void {
  const side = (vertex: number): number => Math.sign(vertices.data[3 * vertex + axis]! - at);
  const meet = (one: number, other: number): number => meeting(vertices, one, other, axis, at);
  const sides = [side(a), side(b), side(c)];
  const sum = sides[0]! + sides[1]! + sides[2]!;
  // The corner on the plane, else the one that is alone on its side.
  const first = sum === 0 ? sides.indexOf(0) : sides.indexOf(-sum);
  const [lone, next, last] = first === 0 ? [a, b, c] : first === 1 ? [b, c, a] : [c, a, b];
  if (sum === 0) {
    const middle = meet(next, last);
    out.push(lone, next, middle, lone, middle, last);
    return;
  }
  const [left, right] = [meet(lone, next), meet(lone, last)];
  out.push(lone, left, right, left, next, last, left, last, right);
}

/** The vertex where an edge meets a plane. The end that lies lower comes first, so that it does not matter who asks. */
function meeting(vertices: Triples, one: number, other: number, axis: number, at: number): number {
  const { data } = vertices;
  const swap = data[3 * one + axis]! > data[3 * other + axis]!;
  const [low, high] = swap ? [3 * other, 3 * one] : [3 * one, 3 * other];
  const way = (at - data[low + axis]!) / (data[high + axis]! - data[low + axis]!);
  const on = (k: number): number =>
    k === axis ? at : Math.round(data[low + k]! + (data[high + k]! - data[low + k]!) * way);
  return vertices.add(on(0), on(1), on(2));
}
