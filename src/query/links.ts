/**
 * The links of a batch. Stored links name their ends by chunk and vertex; those whose ends are all in the batch become rows of it.
 * Skeletons join each vertex to the one before it in its fragment, unless a stored link (child, parent) says otherwise of it.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, LinkSet } from "../model/source.js";
import type { Links as BatchLinks, Columns } from "../model/vectors.js";
import type { Layout } from "./assemble.js";
import { absentValue, ColumnsBuilder, pickRows, roomLike } from "./columns.js";

/** Links between places: chunk and vertex of each end. */
export interface Links {
  readonly width: number;
  readonly count: number;
  readonly chunks: readonly number[];
  readonly vertices: readonly number[];
  readonly columns: Columns;
}

export async function joinLinks(
  source: LevelSource,
  layout: Layout,
  chunks: readonly number[],
  columns: readonly string[],
  options: ReadOptions,
): Promise<{ readonly inside: BatchLinks; readonly outward: Links | undefined }> {
  const find = finder(layout);
  const itemOf = (vertex: number): number => layout.item[runOf(layout.fragments, vertex)]!;
  const ends: number[] = [];
  const pieces: { readonly columns: Columns; readonly rows: readonly number[] }[] = [];
  const out = { chunks: [] as number[], vertices: [] as number[] };
  const outPieces: typeof pieces = [];
  let width = source.linkWidth;
  for await (const set of source.links({ chunks }, columns, options)) {
    width = set.width;
    const [rows, outRows] = take(set, find, itemOf, ends, out);
    if (set.columns.size > 0 && rows.length > 0) pieces.push({ columns: set.columns, rows });
    if (set.columns.size > 0 && outRows.length > 0) outPieces.push({ columns: set.columns, rows: outRows });
  }
  const stored = ends.length / width;
  const implied = source.sequential ? implicit(layout, ends, width) : 0;
  return {
    inside: { width, ends: Uint32Array.from(ends), columns: stack(pieces, stored, stored + implied) },
    outward:
      out.chunks.length === 0
        ? undefined
        : { width, count: out.chunks.length / width, ...out, columns: stack(outPieces, out.chunks.length / width) },
  };
}

/** Adds the links whose ends are all here to `ends`, those with only some of their ends here to `out`. */
function take(
  { width, count, chunks, vertices }: LinkSet,
  find: (chunk: number, vertex: number) => readonly number[] | number,
  itemOf: (vertex: number) => number,
  ends: number[],
  out: { chunks: number[]; vertices: number[] },
): [number[], number[]] {
  const [rows, outRows]: [number[], number[]] = [[], []];
  const at = new Array<readonly number[] | number>(width);
  for (let l = 0; l < count; l++) {
    let here = 0;
    let simple = true;
    for (let k = 0; k < width; k++) {
      at[k] = find(chunks[l * width + k]!, vertices[l * width + k]!);
      if (at[k] !== -1) here++;
      if (typeof at[k] !== "number") simple = false;
    }
    if (here < width) {
      if (here === 0) continue;
      for (let k = 0; k < width; k++) {
        out.chunks.push(chunks[l * width + k]!);
        out.vertices.push(vertices[l * width + k]!);
      }
      outRows.push(l);
    } else if (simple) {
      for (let k = 0; k < width; k++) ends.push(at[k] as number);
      rows.push(l);
    } else {
      // Shared fragments: one link for each object that has all of its ends.
      const lists = at.map((place) => (typeof place === "number" ? [place] : place));
      for (const first of lists[0]!) {
        const mates = lists.map((list) => list.find((place) => itemOf(place) === itemOf(first)));
        if (mates.includes(undefined)) continue;
        ends.push(...(mates as number[]));
        rows.push(l);
      }
    }
  }
  return [rows, outRows];
}

/** From a vertex of a chunk to that of the batch; a list where it is there more than once, −1 where it is not. */
function finder({
  byChunk,
  fragments,
  from,
  tileSizes,
}: Layout): (chunk: number, vertex: number) => readonly number[] | number {
  const tables = new Map<number, Int32Array>();
  const several = new Map<number, number[][]>();
  for (const [chunk, list] of byChunk) {
    const table = new Int32Array(tileSizes.get(chunk)!).fill(-1);
    for (const f of list) {
      const size = fragments[f + 1]! - fragments[f]!;
      for (let i = 0; i < size; i++) {
        const before = table[from[f]! + i]!;
        if (before === -1) table[from[f]! + i] = fragments[f]! + i;
        else {
          let lists = several.get(chunk);
          if (lists === undefined) {
            lists = [];
            several.set(chunk, lists);
          }
          if (before >= 0) {
            table[from[f]! + i] = -2 - lists.length;
            lists.push([before, fragments[f]! + i]);
          } else lists[-2 - before]!.push(fragments[f]! + i);
        }
      }
    }
    tables.set(chunk, table);
  }
  return (chunk, vertex) => {
    const place = tables.get(chunk)?.[vertex] ?? -1;
    return place >= -1 ? place : several.get(chunk)![-2 - place]!;
  };
}

/** The run (of offsets, empty ones among them) that a number falls into. */
export function runOf(offsets: Uint32Array, at: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** Adds (vertex, the one before it) for the vertices of which no link is stored; gives how many. */
function implicit({ count, fragments }: Layout, ends: number[], width: number): number {
  const hasParent = new Uint8Array(fragments[count]!);
  for (let at = 0; at < ends.length; at += width) hasParent[ends[at]!] = 1;
  const before = ends.length;
  for (let f = 0; f < count; f++)
    for (let v = fragments[f]! + 1; v < fragments[f + 1]!; v++) if (hasParent[v] === 0) ends.push(v, v - 1);
  return (ends.length - before) / width;
}

/** The rows of several sets one below the other; rows beyond have no value. */
function stack(
  pieces: readonly { columns: Columns; rows: readonly number[] }[],
  stored: number,
  rows = stored,
): Columns {
  const builder = new ColumnsBuilder(stored);
  let at = 0;
  for (const piece of pieces) {
    builder.put(pickRows(piece.columns, piece.rows), 0, piece.rows.length, at);
    at += piece.rows.length;
  }
  if (rows === stored) return builder.done();
  const padded = new Map<
    string,
    { info: Columns extends ReadonlyMap<string, infer C> ? C["info" & keyof C] : never; values: never }
  >();
  for (const [name, { info, values }] of builder.done()) {
    const absent = absentValue(info);
    const longer = roomLike(values, rows * info.channels) as unknown[];
    for (let i = 0; i < rows * info.channels; i++) longer[i] = i < values.length ? values[i] : absent;
    padded.set(name, { info: { ...info, absent: info.absent ?? absent }, values: longer as never });
  }
  return padded as Columns;
}
