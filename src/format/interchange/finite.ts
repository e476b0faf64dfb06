/**
 * Coordinates that are no numbers. Nothing lies there, so a file that has one is damaged: that is an error which says where in the file it is,
 * or the points and paths that have one are left out, and each is told. All pieces of files pass here, except those that know better
 * (`FileContent.finite`): surfaces look themselves, because a face without one of its vertices is none.
 */
import { Corrupt } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Positions } from "../../model/vectors.js";
import type { Piece } from "../rows/row-source.js";
import { filtered, type Stays } from "./filter.js";
import type { OpenFileOptions, PieceIndex } from "./types.js";

const STRETCH = 256; // numbers that are looked at together

/**
 * The first number from `from` up to `to` that is none; −1 where all are. The sum of what is 0 of each is 0 then: no need to look at each.
 * Stretch by stretch, so that whoever asks for all of them does not look at all of the rest each time.
 */
export function notFinite(values: Positions, from = 0, to = values.length): number {
  for (let start = from; start < to; start += STRETCH) {
    const end = Math.min(to, start + STRETCH);
    let sum = 0;
    for (let i = start; i < end; i++) sum += values[i]! - values[i]!;
    if (sum === 0) continue;
    for (let i = start; i < end; i++) if (!Number.isFinite(values[i]!)) return i;
  }
  return -1;
}

/** The error that says so. */
export const noPlace = (where: string, sentence: string): Corrupt =>
  new Corrupt(`${where}, ${sentence}`, {
    where,
    hint: "Leave out what is damaged (--skip-bad) to go on with the rest.",
  });

/** What is said of the number at `at` of a piece. */
export async function sentenceAt(index: PieceIndex, dims: number, piece: number, own: Piece, at: number) {
  const { positions, parts } = own;
  const vertex = Math.floor(at / dims);
  const part = partOf(parts, vertex);
  const { place, found = positions[at]! } = await placeOf(index, { piece, vertex, part, axis: at % dims });
  const { objects } = index;
  const what = objects === undefined ? "a vertex" : `object ${objects.ids[objects.starts[piece]! + part]}`;
  return `${place}: ${what} has the coordinate ${found}`;
}

/** Where in its file a vertex is; by its number, where the file knows nothing better. */
function placeOf(index: PieceIndex, at: VertexAt): Blame | Promise<Blame> {
  if (index.place !== undefined) return index.place(at);
  const before = index.vertices.subarray(0, at.piece).reduce((sum, count) => sum + count, 0);
  return { place: `vertex ${before + at.vertex}, counted from 0` };
}

/** A coordinate: of which piece, of which of its vertices and parts, along which axis. */
export interface VertexAt {
  readonly piece: number;
  readonly vertex: number;
  readonly part: number;
  readonly axis: number;
}

/** A place for people, "line 7", and what is there where that is more than the number. */
export interface Blame {
  readonly place: string;
  readonly found?: string | undefined;
}

function partOf(parts: Uint32Array, vertex: number): number {
  let part = 0;
  while (part + 2 < parts.length && parts[part + 1]! <= vertex) part++;
  return part;
}

/** The index of a file whose pieces have no such coordinates, or say where they are. */
export function withPlaces(index: PieceIndex, dims: number, where: string): PieceIndex {
  return {
    ...index,
    async load(piece, options) {
      const own = await index.load(piece, options);
      const bad = notFinite(own.positions);
      if (bad >= 0) throw noPlace(where, await sentenceAt(index, dims, piece, own, bad));
      return own;
    },
  };
}

/** The index of a file without the points and paths that have such coordinates; each is told. */
export function withoutBad(
  index: PieceIndex,
  dims: number,
  where: string,
  onBad: NonNullable<OpenFileOptions["onBad"]>,
  options: ReadOptions,
): Promise<PieceIndex> {
  const stays: Stays = async (own, number) => {
    const { positions, parts } = own;
    const single = index.objects === undefined; // each point stands for itself
    const count = single ? positions.length / dims : parts.length - 1;
    const sound: number[] = [];
    const whole = notFinite(positions) < 0;
    for (let row = 0; row < count; row++) {
      const [from, to] = single ? [row, row + 1] : [parts[row]!, parts[row + 1]!];
      const bad = whole ? -1 : notFinite(positions, from * dims, to * dims);
      if (bad < 0) sound.push(row);
      else onBad(noPlace(where, await sentenceAt(index, dims, number, own, bad)));
    }
    return Uint32Array.from(sound);
  };
  return filtered(index, dims, stays, options);
}
