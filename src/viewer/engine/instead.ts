/**
 * What is shown finer is left out of what is coarse: lines and faces all of whose ends are shown finer. Those that lead from the one
 * to the other stay, so that there is no gap. Points have nothing between them, and stay.
 */
import type { Bounds } from "../../scene/camera.js";
import type { Piece } from "./piece.js";

/** A piece without the lines or faces of these places in its index; itself, where all stay. */
export function without(piece: Piece, isLeftOut: (at: number) => boolean): Piece {
  const { form, index } = piece;
  const ends = form === "lines" ? 2 : 3;
  const left = new Uint32Array(index.length);
  let count = 0;
  for (let at = 0; at < index.length; at += ends) {
    if (isLeftOut(at)) continue;
    for (let k = 0; k < ends; k++) left[count + k] = index[at + k]!;
    count += ends;
  }
  return count === index.length ? piece : { ...piece, index: left.slice(0, count) };
}

/** Coarse pieces beside finer ones of some of their objects: those objects, and of what has no object what lies in the box, go. */
export function withoutObjects(coarse: readonly Piece[], fine: readonly Piece[], { min, max }: Bounds): Piece[] {
  const ids = new Set<bigint>();
  for (const piece of fine) for (const id of piece.ids) ids.add(id);
  return coarse.map((piece) => {
    const { positions, origin, objects, index, form } = piece;
    const finer = Array.from(piece.ids, (id) => ids.has(id));
    const isFiner = (vertex: number): boolean =>
      objects[vertex]! >= 0
        ? finer[objects[vertex]!]!
        : [0, 1, 2].every((k) => {
            const at = positions[3 * vertex + k]! + origin[k]!;
            return at >= min[k]! && at <= max[k]!;
          });
    const ends = form === "lines" ? 2 : 3;
    return without(piece, (at) => index.subarray(at, at + ends).every(isFiner));
  });
}
