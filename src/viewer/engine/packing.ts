/**
 * Which pieces are drawn together. Pieces come a few at a time and go one by one; a drawing is made once and stays as long as all
 * its pieces are wanted. It is as large as can be made and handed to a graphics card within a few milliseconds, and made one per
 * step, so that who runs the steps has time for other things between them. What goes, goes last: nothing is empty meanwhile.
 */
import { cut, type Drawable } from "./cut.js";
import { type Drawing, drawingOf } from "./drawing.js";
import type { Piece } from "./piece.js";

const VERTICES = 1 << 16; // of a drawing; one piece may have some more
const SMALL = VERTICES / 8;
const FEW = 16; // small drawings of a level that are left as they are

interface Packed {
  readonly id: number;
  readonly level: number;
  readonly pieces: readonly Drawable[];
  readonly vertices: number;
}

/** What is to be drawn besides, or no longer. */
export interface Step {
  readonly add?: Drawing | undefined;
  readonly drop: readonly number[];
}

/** Answers the next step towards drawing these pieces, and nothing else; undefined when it is so. */
export function packing(): (pieces: readonly Piece[]) => Step | undefined {
  let there: Packed[] = [];
  const old = new Set<Packed>(); // small ones whose pieces are packed again
  const cuts = new WeakMap<Piece, readonly Drawable[]>();
  let last = 0;

  const partsOf = (piece: Piece): readonly Drawable[] => {
    const known = cuts.get(piece) ?? cut(piece);
    cuts.set(piece, known);
    return known;
  };

  return function step(whole): Step | undefined {
    const pieces = whole.flatMap(partsOf);
    const wanted = new Set(pieces);
    const live = there.filter((packed) => !old.has(packed) && packed.pieces.every((piece) => wanted.has(piece)));
    const drawn = new Set(live.flatMap((packed) => packed.pieces));
    const next = together(pieces.filter((piece) => !drawn.has(piece) && piece.objects.length > 0));
    if (next !== undefined) {
      const packed = { id: ++last, level: next[0].level, pieces: next, vertices: verticesOf(next) };
      there.push(packed);
      return { add: drawingOf(packed.id, next), drop: [] };
    }
    if (live.length < there.length) {
      const drop = there.filter((packed) => !live.includes(packed)).map(({ id }) => id);
      there = live;
      old.clear();
      return { drop };
    }
    for (const packed of tooMany(live)) old.add(packed);
    return old.size > 0 ? step(whole) : undefined;
  };
}

const verticesOf = (pieces: readonly Drawable[]): number =>
  pieces.reduce((sum, { objects }) => sum + objects.length, 0);

/** The first of them, and others of its level as far as there is room. */
function together([first, ...rest]: readonly Drawable[]): [Drawable, ...Drawable[]] | undefined {
  if (first === undefined) return undefined;
  const chosen: [Drawable, ...Drawable[]] = [first];
  let room = VERTICES - first.objects.length;
  for (const piece of rest) {
    if (piece.level !== first.level || piece.direct !== first.direct) continue;
    room -= piece.objects.length;
    if (room < 0) break;
    chosen.push(piece);
  }
  return chosen;
}

/** The small drawings of a level that has more than a few. Packed again, one of them at most is small. */
function tooMany(live: readonly Packed[]): Packed[] {
  const small = live.filter(({ vertices }) => vertices < SMALL);
  return small.filter(({ level }) => small.filter((other) => other.level === level).length > FEW);
}
