/**
 * What is shown finer is left out of what is coarse: lines and faces all of whose ends are shown finer. Those that lead from the one
 * to the other stay, faces as far as the border (border.ts), so that there is no gap. Points have nothing between them, and stay.
 */
import type { Bounds } from "../../scene/camera.js";
import { toBorder } from "./border.js";
import { type Locator, locator } from "./locator.js";
import type { Piece } from "./piece.js";
import type { Boxes } from "./plan.js";

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

/** Gives what is drawn of coarse pieces beside chunks of a finer level, and of chunks beside each other. */
export type Refine = (coarse: readonly Piece[], fine: readonly Piece[], boxes: Boxes | undefined) => Piece[];

interface Drawn {
  readonly key: string;
  readonly drawn: Piece;
}

function drawnOf(last: WeakMap<Piece, Drawn>, piece: Piece, key: string, make: () => Piece): Piece {
  const known = last.get(piece);
  if (known?.key === key) return known.drawn;
  const drawn = make();
  last.set(piece, { key, drawn });
  return drawn;
}

/** What is as it was the last time is the same piece again. */
export function refining(): Refine {
  const [between, coarser] = [new WeakMap<Piece, Drawn>(), new WeakMap<Piece, Drawn>()];
  let of: Boxes | undefined;
  let find: Locator;

  /** Of two chunks that have the same link only the first draws it. */
  const apart = (pieces: readonly Piece[]): Piece[] => {
    const there = new Set(pieces.map(({ chunk }) => chunk));
    return pieces.map((piece) => {
      const { places: of, chunk, index, form } = piece;
      if (of === undefined) return piece;
      const before = new Set([...new Set(of)].filter((other) => other < chunk! && there.has(other)));
      const ends = form === "lines" ? 2 : 3;
      const isOfOther = (at: number): boolean => {
        for (let end = at; end < at + ends; end++) if (before.has(of[index[end]!]!)) return true;
        return false;
      };
      return drawnOf(between, piece, [...before].join(), () => without(piece, isOfOther));
    });
  };

  return (coarse, fine, boxes) => {
    const beneath = apart(coarse);
    if (boxes === undefined || fine.length === 0) return beneath;
    const shown = new Set(fine.map(({ chunk }) => chunk));
    const key = fine.map((piece) => piece.key).join();
    if (boxes !== of) [of, find] = [boxes, locator(boxes)];
    const finer = { ...find!, isShown: (chunk: number) => shown.has(chunk) };
    const around = beneath.map((piece) => drawnOf(coarser, piece, key, () => toBorder(piece, finer)));
    return [...around, ...apart(fine)];
  };
}
