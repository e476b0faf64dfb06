/**
 * Faces that lead from where a coarse level is shown to where a finer one is, in smaller ones, so that little of them lies above the
 * finer level: each is halved along its sides a few times, and the small faces that lie there as a whole are left out.
 */
import type { Piece } from "./piece.js";

/** What is shown at a place: a finer level, this one, or whatever is around it. */
export const FINER = 1;
export const HERE = 0;
export const EITHER = 2;

const HALVED = 3; // times

/** Whether lines or faces of these states are shown finer as a whole. */
export const isFiner = (states: readonly number[]): boolean => !states.includes(HERE) && states.includes(FINER);

/** A piece without what is shown finer; lines that lead there stay. `states` are those of its vertices. */
export function toBorder(
  piece: Piece,
  states: Uint8Array,
  stateAt: (x: number, y: number, z: number) => number,
): Piece {
  const { form, index, positions, origin } = piece;
  const ends = form === "lines" ? 2 : 3;
  const [faces, state, places, corners]: [number[], number[], number[], number[]] = [[], [...states], [], []];
  const middles = new Map<number, number>();
  const placeOf = (vertex: number, k: number): number =>
    3 * vertex < positions.length ? positions[3 * vertex + k]! : places[3 * vertex + k - positions.length]!;

  /** The vertex in the middle of two, which has the attributes of one of them. */
  const middleOf = (a: number, b: number): number => {
    const key = Math.min(a, b) * 2 ** 26 + Math.max(a, b);
    const known = middles.get(key);
    if (known !== undefined) return known;
    const [x, y, z] = [0, 1, 2].map((k) => (placeOf(a, k) + placeOf(b, k)) / 2) as [number, number, number];
    places.push(x, y, z);
    const like = Math.min(a, b);
    corners.push(like < states.length ? like : corners[like - states.length]!);
    middles.set(key, state.length);
    return state.push(stateAt(x + origin[0], y + origin[1], z + origin[2])) - 1;
  };

  const take = (a: number, b: number, c: number, left: number): void => {
    const of = [state[a]!, state[b]!, state[c]!];
    if (isFiner(of)) return;
    if (left === 0 || !of.includes(FINER)) {
      faces.push(a, b, c);
      return;
    }
    const [ab, bc, ca] = [middleOf(a, b), middleOf(b, c), middleOf(c, a)];
    take(a, ab, ca, left - 1);
    take(ab, b, bc, left - 1);
    take(ca, bc, c, left - 1);
    take(ab, bc, ca, left - 1);
  };

  for (let at = 0; at < index.length; at += ends)
    if (ends === 3) take(index[at]!, index[at + 1]!, index[at + 2]!, HALVED);
    else if (!isFiner([states[index[at]!]!, states[index[at + 1]!]!])) faces.push(index[at]!, index[at + 1]!);
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
