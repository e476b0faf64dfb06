/**
 * Pieces become drawings, so that what is drawn is a few calls however many chunks it comes from: arrays as a graphics card takes
 * them, relative to one origin. The sums are made in 64 bits.
 *
 * | form      | per vertex                     | per line                                                              |
 * |-----------|--------------------------------|-----------------------------------------------------------------------|
 * | points    | position, value, seed, radius  |                                                                       |
 * | lines     |                                | from, to, lineValue and lineRadius of both ends, seed                 |
 * | triangles | position, normal, value, seed  | (an index of three vertices per triangle)                             |
 */
import type { Vector } from "../../scene/camera.js";
import { directionsOf, type Form } from "../../scene/shape.js";
import type { Drawable } from "./cut.js";

/** Numbers of a drawing, by the name that its shader has for them. */
export interface DrawnColumn {
  readonly name: string;
  /** Numbers per row. */
  readonly width: number;
  readonly values: Float32Array<ArrayBuffer>;
}

/** Something that is drawn with one call. */
export interface Drawing {
  readonly id: number;
  readonly form: Form;
  readonly origin: Vector;
  /** Its values are colours, not numbers for a palette. */
  readonly direct: boolean;
  readonly columns: readonly DrawnColumn[];
  /** Of triangles. */
  readonly index: Uint32Array<ArrayBuffer> | undefined;
}

/** Its memory, to be handed over. */
export const buffersOf = ({ columns, index }: Drawing): ArrayBuffer[] => [
  ...columns.map(({ values }) => values.buffer),
  ...(index === undefined ? [] : [index.buffer]),
];

/** Pieces of one form, as one drawing around the origin of the first. */
export function drawingOf(id: number, pieces: readonly [Drawable, ...Drawable[]]): Drawing {
  const { form, origin, direct } = pieces[0];
  const vertices = pieces.reduce((sum, { objects }) => sum + objects.length, 0);
  const ends = pieces.reduce((sum, { index }) => sum + index.length, 0);
  const base = { id, form, origin, direct };
  if (form === "lines") return { ...base, columns: linesOf(pieces, ends / 2), index: undefined };
  const position = new Float32Array(3 * vertices);
  const [value, seed, extra] = [1, 1, form === "points" ? 1 : 3].map((width) => new Float32Array(width * vertices));
  const index = form === "points" ? undefined : new Uint32Array(ends);
  let [vertex, end] = [0, 0];
  for (const piece of pieces) {
    const { positions, values, radius } = piece;
    for (let k = 0; k < 3; k++) {
      const shift = piece.origin[k]! - origin[k]!;
      for (let at = k; at < positions.length; at += 3) position[3 * vertex + at] = positions[at]! + shift;
    }
    value!.set(values, vertex);
    if (form === "triangles") extra!.set(piece.normals ?? directionsOf(piece), 3 * vertex);
    else if (radius !== undefined) extra!.set(radius, vertex);
    const seeds = seedsOf(piece);
    for (let v = 0; v < values.length; v++) seed![vertex + v] = seeds(v);
    if (index !== undefined)
      for (let at = 0; at < piece.index.length; at++) index[end + at] = piece.index[at]! + vertex;
    vertex += values.length;
    end += piece.index.length;
  }
  const columns = [
    { name: "position", width: 3, values: position },
    { name: "value", width: 1, values: value! },
    { name: "seed", width: 1, values: seed! },
    form === "points" ? { name: "radius", width: 1, values: extra! } : { name: "normal", width: 3, values: extra! },
  ];
  return { ...base, columns, index };
}

function linesOf(pieces: readonly [Drawable, ...Drawable[]], count: number): DrawnColumn[] {
  const { origin } = pieces[0];
  const column = (name: string, width: number) => ({ name, width, values: new Float32Array(width * count) });
  const columns = [
    column("from", 3),
    column("to", 3),
    column("lineValue", 2),
    column("lineRadius", 2),
    column("seed", 1),
  ];
  const [from, to, value, wide, seed] = columns.map(({ values }) => values) as [Float32Array, ...Float32Array[]];
  let line = 0;
  for (const { positions, index, values, radius, ...piece } of pieces) {
    const seeds = seedsOf(piece);
    const [x, y, z] = [0, 1, 2].map((k) => piece.origin[k]! - origin[k]!) as [number, number, number];
    for (let at = 0; at + 1 < index.length; at += 2, line++) {
      const [a, b] = [index[at]!, index[at + 1]!];
      from[3 * line] = positions[3 * a]! + x;
      from[3 * line + 1] = positions[3 * a + 1]! + y;
      from[3 * line + 2] = positions[3 * a + 2]! + z;
      to![3 * line] = positions[3 * b]! + x;
      to![3 * line + 1] = positions[3 * b + 1]! + y;
      to![3 * line + 2] = positions[3 * b + 2]! + z;
      value![2 * line] = values[a]!;
      value![2 * line + 1] = values[b]!;
      if (radius !== undefined) {
        wide![2 * line] = radius[a]!;
        wide![2 * line + 1] = radius[b]!;
      }
      seed![line] = seeds(a);
    }
  }
  return columns;
}

/**
 * A number from 0 to 1 per vertex, by which a random subset is chosen: by its object where it is known, else by its part; of
 * points without objects each by itself.
 */
export function seedsOf({
  form,
  objects,
  ids,
  parts,
  chunk = 0,
  first = 0,
}: Pick<Drawable, "form" | "objects" | "ids" | "parts" | "chunk" | "first">): (vertex: number) => number {
  const own = Float32Array.from({ length: ids.length }, (_, row) => hashed(Number(BigInt.asUintN(32, ids[row]!))));
  return (v) => {
    const row = objects[v]!;
    return row >= 0 ? own[row]! : hashed((form === "points" ? first + v : parts[v]!) + 7919 * chunk);
  };
}

function hashed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return Math.fround(((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32);
}
