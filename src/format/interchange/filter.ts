/**
 * Files of points and paths with fewer of them: those that are damaged are left out. Each piece is read once to find out, and the objects that
 * stay keep their ids.
 */
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { copyRuns, pick, pickRows, roomLike } from "../../query/columns.js";
import type { Ids, Piece, RowGroups } from "../rows/row-source.js";
import type { PieceIndex } from "./types.js";

/** The parts of a piece that stay, ascending; of points that stand for themselves the vertices. */
export type Stays = (piece: Piece, number: number) => Promise<Uint32Array>;

export async function filtered(
  index: PieceIndex,
  dims: number,
  stays: Stays,
  options: ReadOptions,
): Promise<PieceIndex> {
  const { objects } = index;
  const count = index.vertices.length;
  const kept: Uint32Array[] = [];
  const vertices = new Uint32Array(count);
  for (let p = 0; p < count; p++) {
    options.signal?.throwIfAborted();
    const piece = await index.load(p, options);
    const rows = await stays(piece, p);
    if (objects === undefined) vertices[p] = rows.length;
    else for (const part of rows) vertices[p]! += piece.parts[part + 1]! - piece.parts[part]!;
    kept.push(rows);
  }
  const load = async (p: number, now: ReadOptions): Promise<Piece> => {
    const piece = await index.load(p, now);
    return objects === undefined ? pickPoints(piece, kept[p]!, dims) : pickParts(piece, kept[p]!, dims);
  };
  return objects === undefined
    ? { ...index, vertices, load }
    : { ...index, ...keptObjects(index, kept), vertices, load };
}

/** What is known of objects, of those that stay. */
function keptObjects(
  index: PieceIndex,
  kept: readonly Uint32Array[],
): Pick<PieceIndex, "objects" | "empty" | "groups"> {
  const { ids, starts } = index.objects!;
  const keptStarts = new Uint32Array(kept.length + 1);
  for (const [p, parts] of kept.entries()) keptStarts[p + 1] = keptStarts[p]! + parts.length;
  const rows = new Uint32Array(keptStarts[kept.length]!);
  for (const [p, parts] of kept.entries())
    for (const [i, part] of parts.entries()) rows[keptStarts[p]! + i] = starts[p]! + part;
  const keptIds = new (ids.constructor as new (length: number) => Ids)(rows.length);
  for (const [i, row] of rows.entries()) keptIds[i] = ids[row]!;
  return {
    objects: { ids: keptIds, starts: keptStarts },
    empty: index.empty && rowsAfter(index.empty, placeOf(rows, ids.length)),
    groups: index.groups && regrouped(index.groups, rows, ids.length),
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

/** These vertices of a piece of points that stand for themselves. */
export function pickPoints(piece: Piece, rows: Uint32Array, dims: number): Piece {
  if (rows.length === piece.positions.length / dims) return piece;
  return {
    positions: pick(piece.positions, dims, rows) as Positions,
    parts: Uint32Array.of(0, rows.length),
    vertexColumns: pickRows(piece.vertexColumns, rows),
    objectColumns: new Map(),
  };
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
