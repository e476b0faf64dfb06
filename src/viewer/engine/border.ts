/**
 * Coarse lines and faces beside chunks of a finer level. A face that lies in chunks that are shown finer and in others too, wherever its
 * corners are, is halved along its sides a few times: small faces that are shown finer as a whole are left out, so that little lies above
 * the finer level, and nothing is missing where it is not shown.
 */
import type { Vector } from "../../scene/camera.js";
import type { Piece } from "./piece.js";

/** What is shown of a finer level. */
export interface Finer {
  /** The chunk at a place; −1 where there is none: what lies there is drawn by those around it. */
  at(x: number, y: number, z: number): number;
  isShown(chunk: number): boolean;
  /** Whether any chunk that a box touches is shown, or is not. */
  some(min: Vector, max: Vector, isSo: (chunk: number) => boolean): boolean;
}

const HALVED = 3; // times

/** A piece without what is shown finer; lines that lead there stay. */
export function toBorder(piece: Piece, finer: Finer): Piece {
  const { form, index, positions, origin } = piece;
  const count = positions.length / 3;
  const [faces, places, corners]: [number[], number[], number[]] = [[], [], []];
  const middles = new Map<number, number>();
  const placeOf = (vertex: number, k: number): number =>
    vertex < count ? positions[3 * vertex + k]! : places[3 * (vertex - count) + k]!;
  const chunkAt = (x: number, y: number, z: number): number => finer.at(x + origin[0], y + origin[1], z + origin[2]);
  const chunks = Array.from({ length: count }, (_, v) => chunkAt(placeOf(v, 0), placeOf(v, 1), placeOf(v, 2)));

  /** Whether what has these ends is shown finer as a whole, but for what lies between them. */
  const isFiner = (ends: readonly number[]): boolean =>
    ends.some((end) => finer.isShown(chunks[end]!)) &&
    ends.every((end) => chunks[end]! < 0 || finer.isShown(chunks[end]!));

  /** Whether a face may lie in chunks of both kinds; in a chunk that has all of its corners, all of it lies. */
  const isBoth = (ends: readonly number[], isShown: boolean): boolean => {
    const [first] = ends;
    if (chunks[first!]! >= 0 && ends.every((end) => chunks[end] === chunks[first!])) return false;
    if (!isShown && ends.some((end) => finer.isShown(chunks[end]!))) return true;
    const corner = (most: typeof Math.min): Vector =>
      [0, 1, 2].map((k) => most(...ends.map((end) => placeOf(end, k))) + origin[k]!) as unknown as Vector;
    return finer.some(corner(Math.min), corner(Math.max), (chunk) => finer.isShown(chunk) !== isShown);
  };

  /** The vertex in the middle of two, which has the attributes of one of them. */
  const middleOf = (a: number, b: number): number => {
    const key = Math.min(a, b) * 2 ** 26 + Math.max(a, b);
    const known = middles.get(key);
    if (known !== undefined) return known;
    const [x, y, z] = [0, 1, 2].map((k) => (placeOf(a, k) + placeOf(b, k)) / 2) as [number, number, number];
    places.push(x, y, z);
    const like = Math.min(a, b);
    corners.push(like < count ? like : corners[like - count]!);
    middles.set(key, chunks.length);
    return chunks.push(chunkAt(x, y, z)) - 1;
  };

  const take = (a: number, b: number, c: number, left: number): void => {
    const ends = [a, b, c];
    const isShown = isFiner(ends);
    if (left === 0 || !isBoth(ends, isShown)) {
      if (!isShown) faces.push(a, b, c);
      return;
    }
    const [ab, bc, ca] = [middleOf(a, b), middleOf(b, c), middleOf(c, a)];
    take(a, ab, ca, left - 1);
    take(ab, b, bc, left - 1);
    take(ca, bc, c, left - 1);
    take(ab, bc, ca, left - 1);
  };

  if (form === "triangles")
    for (let at = 0; at < index.length; at += 3) take(index[at]!, index[at + 1]!, index[at + 2]!, HALVED);
  else
    for (let at = 0; at < index.length; at += 2)
      if (!isFiner([index[at]!, index[at + 1]!])) faces.push(index[at]!, index[at + 1]!);
  return faces.length === index.length && places.length === 0 ? piece : grownBy(piece, faces, places, corners);
}

/** With these faces, and more vertices, each with the attributes of a corner. */
function grownBy(piece: Piece, faces: number[], places: number[], corners: number[]): Piece {
  const index = Uint32Array.from(faces);
  if (places.length === 0) return { ...piece, index };
  const more = <T extends Float32Array | Int32Array | Uint32Array>(own: T): T => {
    const out = new (own.constructor as Uint32ArrayConstructor)(own.length + corners.length) as T;
    out.set(own);
    for (const [i, corner] of corners.entries()) out[own.length + i] = own[corner]!;
    return out;
  };
  const positions = new Float32Array(piece.positions.length + places.length);
  positions.set(piece.positions);
  positions.set(places, piece.positions.length);
  const [objects, parts, values] = [more(piece.objects), more(piece.parts), more(piece.values)];
  return {
    ...piece,
    index,
    positions,
    objects,
    parts,
    values,
    places: piece.places && more(piece.places),
    corners: Uint32Array.from(corners),
  };
}
