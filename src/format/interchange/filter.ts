/**
 * Files of paths with fewer objects: those that a question leaves out, or that are damaged. Each piece is read once to find out, and the objects that
 * stay keep their ids.
 */
import { Corrupt } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { copyRuns, pickRows, roomLike } from "../../query/columns.js";
import type { Ids, Piece, RowGroups } from "../rows/row-source.js";
import type { OpenFileOptions, PieceIndex } from "./types.js";

/** The parts of a piece that stay, ascending; `first` is the row of its first object. */
export type Stays = (piece: Piece, first: number) => Uint32Array;

export async function filtered(
  index: PieceIndex,
  dims: number,
  stays: Stays,
  options: ReadOptions,
): Promise<PieceIndex> {
  const { objects } = index;
  if (objects === undefined) return index;
  const { ids, starts } = objects;
  const count = index.vertices.length;
  const kept: Uint32Array[] = [];
  const vertices = new Uint32Array(count);
  const keptStarts = new Uint32Array(count + 1);
  for (let p = 0; p < count; p++) {
    options.signal?.throwIfAborted();
    const piece = await index.load(p, options);
    const parts = stays(piece, starts[p]!);
    for (const part of parts) vertices[p]! += piece.parts[part + 1]! - piece.parts[part]!;
    kept.push(parts);
    keptStarts[p + 1] = keptStarts[p]! + parts.length;
  }
  if (keptStarts[count] === ids.length) return index;
  const rows = new Uint32Array(keptStarts[count]!);
  for (const [p, parts] of kept.entries())
    for (const [i, part] of parts.entries()) rows[keptStarts[p]! + i] = starts[p]! + part;
  const keptIds = new (ids.constructor as new (length: number) => Ids)(rows.length);
  for (const [i, row] of rows.entries()) keptIds[i] = ids[row]!;
  return {
    ...index,
    objects: { ids: keptIds, starts: keptStarts },
    empty: index.empty && rowsAfter(index.empty, placeOf(rows, ids.length)),
    vertices,
    groups: index.groups && regrouped(index.groups, rows, ids.length),
    load: async (p, now) => pickParts(await index.load(p, now), kept[p]!, dims),
  };
}

/** Groups of the rows that stay, as new rows. */
function regrouped({ members, columns }: RowGroups, rows: Uint32Array, before: number): RowGroups {
  const place = placeOf(rows, before);
  return { members: members.map((group) => rowsAfter(group, place)), columns };
}

/** Where each of the rows before is among those that stay; −1 where it is not. */
function placeOf(rows: Uint32Array, before: number): Int32Array {
  const place = new Int32Array(before).fill(-1);
  for (const [i, row] of rows.entries()) place[row] = i;
  return place;
}

const rowsAfter = (rows: Uint32Array, place: Int32Array): Uint32Array =>
  rows.filter((row) => place[row]! >= 0).map((row) => place[row]!);

/** These parts of a piece of paths. */
export function pickParts(piece: Piece, parts: Uint32Array, dims: number): Piece {
  if (parts.length === piece.parts.length - 1) return piece;
  return { ...pickPaths(piece, parts, dims), objectColumns: pickRows(piece.objectColumns, parts) };
}

/** These paths, and the attributes of their vertices. */
export function pickPaths(
  from: Pick<Piece, "positions" | "parts" | "vertexColumns">,
  parts: Uint32Array,
  dims: number,
): Pick<Piece, "positions" | "parts" | "vertexColumns"> {
  const count = parts.length;
  const offsets = new Uint32Array(count + 1);
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + from.parts[part + 1]! - from.parts[part]!;
  const order = Uint32Array.from(parts, (_, i) => i);
  const runs = { order, first: 0, last: count, from: Uint32Array.from(parts, (part) => from.parts[part]!), offsets };
  const positions = roomLike(from.positions, offsets[count]! * dims) as Positions;
  copyRuns(from.positions, positions, dims, runs);
  const vertexColumns: Columns = new Map(
    [...from.vertexColumns].map(([name, { info, values }]) => {
      const own = roomLike(values, offsets[count]! * info.channels);
      copyRuns(values, own, info.channels, runs);
      return [name, { info, values: own }];
    }),
  );
  return { positions, parts: offsets, vertexColumns };
}

/** Without the objects that have coordinates which are no numbers; each is told. */
export function withoutBad(
  index: PieceIndex,
  dims: number,
  where: string,
  onBad: OpenFileOptions["onBad"],
  options: ReadOptions,
): Promise<PieceIndex> | PieceIndex {
  if (onBad === undefined) return index;
  const stays: Stays = ({ positions, parts }, first) => {
    const sound: number[] = [];
    for (let part = 0; part + 1 < parts.length; part++) {
      if (isFinitePart(positions, parts[part]! * dims, parts[part + 1]! * dims)) sound.push(part);
      else {
        const id = index.objects!.ids[first + part];
        onBad(new Corrupt(`${where}: object ${id} has coordinates that are no numbers, and is left out`, { where }));
      }
    }
    return Uint32Array.from(sound);
  };
  return filtered(index, dims, stays, options);
}

function isFinitePart(positions: Positions, from: number, to: number): boolean {
  let sum = 0;
  for (let i = from; i < to; i++) sum += positions[i]! * 0; // NaN once one is not finite
  return sum === 0;
}
