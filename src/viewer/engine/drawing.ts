/**
 * Pieces become one drawing, so that what is drawn is one call however many chunks it comes from: vertices one after the other,
 * relative to one origin near the camera's target. The sum is made in 64 bits.
 */
import type { Vector } from "../../scene/camera.js";
import { directionsOf, type Form } from "../../scene/shape.js";
import type { Piece } from "./piece.js";

export interface Drawing {
  readonly form: Form;
  readonly origin: Vector;
  /** Three per vertex. */
  readonly positions: Float32Array;
  readonly index: Uint32Array;
  readonly values: Float32Array;
  readonly direct: boolean;
  /** 0 to 1, the same for all of an object: what a random subset is chosen by. */
  readonly seeds: Float32Array;
  /** In units of the data; 0 where vertices have none. */
  readonly radii: Float32Array;
  /** Of triangles. */
  readonly normals: Float32Array | undefined;
  /** Where each piece begins. */
  readonly starts: Uint32Array;
  readonly pieces: readonly Piece[];
}

export function drawingOf(form: Form, pieces: readonly Piece[], origin: Vector): Drawing {
  const vertices = pieces.reduce((sum, { objects }) => sum + objects.length, 0);
  const ends = pieces.reduce((sum, { index }) => sum + index.length, 0);
  const positions = new Float32Array(3 * vertices);
  const [values, seeds, radii] = [0, 1, 2].map(() => new Float32Array(vertices)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const index = new Uint32Array(ends);
  const normals = form === "triangles" ? new Float32Array(3 * vertices) : undefined;
  const starts = new Uint32Array(pieces.length + 1);
  let [vertex, end] = [0, 0];
  for (const [i, piece] of pieces.entries()) {
    starts[i] = vertex;
    for (let k = 0; k < 3; k++) {
      const shift = piece.origin[k]! - origin[k]!;
      for (let at = k; at < piece.positions.length; at += 3) positions[3 * vertex + at] = piece.positions[at]! + shift;
    }
    values.set(piece.values, vertex);
    if (piece.radius !== undefined) radii.set(piece.radius, vertex);
    normals?.set(directionsOf(piece), 3 * vertex);
    seed(piece, seeds, vertex);
    for (let at = 0; at < piece.index.length; at++) index[end + at] = piece.index[at]! + vertex;
    vertex += piece.objects.length;
    end += piece.index.length;
  }
  starts[pieces.length] = vertex;
  const direct = pieces[0]?.direct ?? true;
  return { form, origin, positions, index, values, direct, seeds, radii, normals, starts, pieces };
}

/** By the object where it is known, else by the part; of points without objects each by itself. */
function seed({ form, objects, ids, parts, chunk = 0 }: Piece, seeds: Float32Array, from: number): void {
  const own = Float32Array.from({ length: ids.length }, (_, row) => hashed(Number(BigInt.asUintN(32, ids[row]!))));
  for (let v = 0; v < objects.length; v++) {
    const row = objects[v]!;
    seeds[from + v] = row >= 0 ? own[row]! : hashed(form === "points" ? v + 7919 * chunk : parts[v]! + 7919 * chunk);
  }
}

function hashed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
