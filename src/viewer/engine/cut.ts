/**
 * A piece that is too much for one drawing, in several: a surface of a million triangles goes to the graphics card over some frames,
 * not in one that is felt. Points and lines are rows of the same arrays; of triangles each part has the vertices that it uses.
 */
import { directionsOf } from "../../scene/shape.js";
import type { Piece } from "./piece.js";

/** A piece, or a part of one. */
export interface Drawable extends Piece {
  /** The place of its first vertex in the piece that it is of. */
  readonly first?: number | undefined;
  /** Of triangles: as they are in the piece, so that no seam is seen. */
  readonly normals?: Float32Array | undefined;
}

const ROWS = 1 << 17; // points, lines or triangles of a drawing

/** Itself, where it is not too much. */
export function cut(piece: Piece): readonly Drawable[] {
  const { form, index, objects } = piece;
  const ends = form === "points" ? 1 : form === "lines" ? 2 : 3;
  const rows = form === "points" ? objects.length : index.length / ends;
  if (rows <= ROWS) return [piece];
  const normals = form === "triangles" ? directionsOf(piece) : undefined;
  const place = new Uint32Array(normals === undefined ? 0 : objects.length);
  return Array.from({ length: Math.ceil(rows / ROWS) }, (_, part) => {
    const [from, to] = [part * ROWS, Math.min(rows, (part + 1) * ROWS)];
    if (form === "points") return { ...rowsOf(piece, from, to), first: from };
    const own = index.subarray(ends * from, ends * to);
    return normals === undefined ? { ...piece, index: own } : trianglesOf(piece, own, normals, place);
  });
}

function rowsOf(piece: Piece, from: number, to: number): Piece {
  const { positions, objects, parts, values, radius } = piece;
  return {
    ...piece,
    positions: positions.subarray(3 * from, 3 * to),
    objects: objects.subarray(from, to),
    parts: parts.subarray(from, to),
    values: values.subarray(from, to),
    radius: radius?.subarray(from, to),
  };
}

/** `place` is room for a number per vertex, 0 before and after. */
function trianglesOf(piece: Piece, index: Uint32Array, normals: Float32Array, place: Uint32Array): Drawable {
  const own = new Uint32Array(index.length);
  const used = new Uint32Array(index.length);
  let count = 0;
  for (let at = 0; at < index.length; at++) {
    const vertex = index[at]!;
    if (place[vertex] === 0) {
      used[count] = vertex;
      place[vertex] = ++count;
    }
    own[at] = place[vertex]! - 1;
  }
  for (let v = 0; v < count; v++) place[used[v]!] = 0;
  const picked = <T extends Float32Array | Int32Array | Uint32Array>(from: T, into: T, width = 1): T => {
    for (let v = 0; v < count; v++) for (let k = 0; k < width; k++) into[width * v + k] = from[width * used[v]! + k]!;
    return into;
  };
  const { positions, objects, parts, values } = piece;
  return {
    ...piece,
    index: own,
    positions: picked(positions, new Float32Array(3 * count), 3),
    normals: picked(normals, new Float32Array(3 * count), 3),
    objects: picked(objects, new Int32Array(count)),
    parts: picked(parts, new Uint32Array(count)),
    values: picked(values, new Float32Array(count)),
  };
}
