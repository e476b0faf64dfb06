/**
 * Fragments cut anew, because their vertices or the chunks have moved. A fragment falls into pieces, one for each chunk that it
 * lies in; where the order of vertices says something (paths, skeletons) one for each time that it comes into a chunk. Every
 * piece has what its fragment had: owners and attributes. What one object alone has in a chunk becomes one fragment again, where
 * nothing is lost by that.
 *
 * Vertices are numbered through the fragments in the order in which they are given.
 */
import { halfToNumber } from "../../../bytes/half.js";
import { numericView } from "../../../codec/numeric.js";
import { InvalidInput } from "../../../errors.js";
import type { Positions } from "../../../model/vectors.js";
import { type Dtype, dtypeSize } from "../write/write-batch.js";
import { addFragments, type ChunkEdit } from "./edit-chunks.js";

/** A fragment as it was: the chunk must not be changed before the pieces are put. */
export interface OldFragment {
  readonly chunk: ChunkEdit;
  readonly fragment: number;
  /** Its first entry there. */
  readonly entry: number;
}

export interface CutPlan {
  readonly fragments: readonly OldFragment[];
  /** The fragments of each object in its order; what is in none is nobody's. */
  readonly objects: readonly (readonly number[])[];
  readonly dtype: Dtype;
  readonly chunkShape: readonly number[];
  /** Points without objects: the fragments of a chunk are its bins. */
  readonly bins: readonly number[] | undefined;
  /** The order of vertices says something: whether one may follow another in a fragment. Else undefined. */
  readonly follows: ((before: At, after: At) => boolean) | undefined;
}

/** A vertex by its place. */
export interface At {
  readonly chunk: string;
  readonly entry: number;
}

/** Vertices of one fragment in one chunk: order[from] up to order[to]. */
interface Piece {
  readonly chunk: number;
  readonly fragment: number;
  readonly from: number;
  readonly to: number;
  /** The bin of the chunk, where it has bins. */
  readonly bin: number;
}

/** A fragment to be. */
interface NewFragment {
  readonly chunk: number;
  readonly pieces: Piece[];
}

export interface Cut {
  /** The chunks that have new fragments. */
  readonly names: readonly string[];
  readonly made: readonly NewFragment[];
  /** The new fragments of each object, in its order. */
  readonly objects: readonly (readonly number[])[];
  /** Vertices that followed each other in a fragment and are now in two: by number, and where the second one was. */
  readonly steps: readonly { readonly before: number; readonly after: number; readonly was: At }[];
  /** The first vertex of each old fragment, and the number of all. */
  readonly starts: Uint32Array;
  readonly order: Uint32Array;
}

export function cutFragments(plan: CutPlan): Cut {
  const { fragments, objects, bins, follows } = plan;
  const { names, pieces, first, starts, order, perChunk } = piecesOf(plan);
  const made: NewFragment[] = [];
  const target = new Int32Array(pieces.length).fill(-1);
  const make = (piece: number): number => {
    target[piece] = made.length;
    return made.push({ chunk: pieces[piece]!.chunk, pieces: [pieces[piece]!] }) - 1;
  };
  if (bins !== undefined) {
    for (const [chunk] of names.entries()) for (let bin = 0; bin < perChunk; bin++) made.push({ chunk, pieces: [] });
    for (const piece of pieces) made[piece.chunk * perChunk + piece.bin]!.pieces.push(piece);
    return { names, made, objects: [], steps: [], starts, order };
  }
  const placeOf = ({ fragment }: Piece, vertex: number): At => {
    const { chunk, entry } = fragments[fragment]!;
    return { chunk: chunk.name, entry: entry + vertex - starts[fragment]! };
  };
  const uses = new Uint32Array(fragments.length);
  for (const own of objects) for (const f of own) uses[f]!++;
  const moved = objects.map((own) => {
    const alone = own.every((f) => uses[f] === 1);
    const list: number[] = [];
    const inChunk = new Map<number, number>();
    for (const f of own)
      for (let p = first[f]!; p < first[f + 1]!; p++) {
        const piece = pieces[p]!;
        const near = follows === undefined ? inChunk.get(piece.chunk) : list.at(-1);
        const last = near === undefined ? undefined : made[near]!.pieces.at(-1)!;
        const joined =
          alone &&
          last?.chunk === piece.chunk &&
          sameRow(fragments[last.fragment]!, fragments[f]!) &&
          (follows?.(placeOf(last, last.to - 1), placeOf(piece, piece.from)) ?? true);
        if (joined) {
          made[near!]!.pieces.push(piece);
          target[p] = near!;
        } else {
          if (target[p]! < 0) make(p);
          list.push(target[p]!);
          inChunk.set(piece.chunk, target[p]!);
        }
      }
    return list;
  });
  for (let p = 0; p < pieces.length; p++) if (target[p]! < 0) make(p);
  const steps: { before: number; after: number; was: At }[] = [];
  for (let p = 1; follows !== undefined && p < pieces.length; p++) {
    const { fragment, from } = pieces[p]!;
    if (fragment === pieces[p - 1]!.fragment)
      steps.push({ before: from - 1, after: from, was: placeOf(pieces[p]!, from) });
  }
  return { names, made, objects: moved, steps, starts, order };
}

/** Whether two fragments have the same attributes. */
function sameRow(a: OldFragment, b: OldFragment): boolean {
  return a.chunk.fragmentColumns.every((column, c) => {
    const other = b.chunk.fragmentColumns[c]!;
    const width = column.length / a.chunk.sizes.length;
    for (let i = 0; i < width; i++) if (column[a.fragment * width + i] !== other[b.fragment * width + i]) return false;
    return true;
  });
}

function piecesOf({ fragments, dtype, chunkShape, bins, follows }: CutPlan) {
  const dims = chunkShape.length;
  const starts = new Uint32Array(fragments.length + 1);
  for (const [f, { chunk, fragment }] of fragments.entries()) starts[f + 1] = starts[f]! + chunk.sizes[fragment]!;
  const order = new Uint32Array(starts.at(-1)!);
  for (let v = 0; v < order.length; v++) order[v] = v;
  const first = new Uint32Array(fragments.length + 1);
  const pieces: Piece[] = [];
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const per = bins?.map((bin, axis) => Math.max(1, Math.round(chunkShape[axis]! / bin)));
  const perChunk = per?.reduce((product, n) => product * n, 1) ?? 1;
  const positions = new Map<ChunkEdit, Positions>();
  const at = new Float64Array(dims);

  for (const [f, { chunk, fragment, entry }] of fragments.entries()) {
    const values = positions.get(chunk) ?? numbersOf(chunk.columns[0]!, dtype);
    positions.set(chunk, values);
    const lead = chunk.name.split(".").slice(0, -dims); // the attribute that a level is chunked by stays
    const size = chunk.sizes[fragment]!;
    const places = new Uint32Array(size); // chunk × bins + bin
    for (let i = 0, number = -1; i < size; i++) {
      let same = number >= 0;
      let bin = 0;
      for (let axis = 0; axis < dims; axis++) {
        const value = values[(entry + i) * dims + axis]!;
        const place = Math.floor(value / chunkShape[axis]!);
        if (place !== (place | 0))
          throw new InvalidInput(
            `a vertex at ${value} in chunk ${chunk.name} would lie in no chunk of [${chunkShape}]`,
          );
        if (place !== at[axis]) same = false;
        at[axis] = place;
        if (per === undefined) continue;
        const inside = Math.floor(value / bins![axis]!) - Math.round((place * chunkShape[axis]!) / bins![axis]!);
        bin = bin * per[axis]! + Math.max(0, Math.min(per[axis]! - 1, inside));
      }
      if (!same) {
        const name = [...lead, ...at].join(".");
        number = numbers.get(name) ?? names.push(name) - 1;
        numbers.set(name, number);
      }
      places[i] = number * perChunk + bin;
    }
    const from = starts[f]!;
    if (follows === undefined) {
      const sorted = order.subarray(from, from + size);
      if (places.some((place) => place !== places[0]))
        sorted.sort((a, b) => places[a - from]! - places[b - from]! || a - b);
    }
    for (let i = 0, start = 0; i < size; i++) {
      const place = places[order[from + i]! - from]!;
      if (i + 1 < size && places[order[from + i + 1]! - from] === place) continue;
      const [chunk, bin] = [Math.floor(place / perChunk), place % perChunk];
      pieces.push({ chunk, bin, fragment: f, from: from + start, to: from + i + 1 });
      start = i + 1;
    }
    first[f + 1] = pieces.length;
  }
  return { names, pieces, first, starts, order, perChunk };
}

function numbersOf(bytes: Uint8Array, dtype: Dtype): Positions {
  const values = numericView({ kind: "float", size: dtypeSize(dtype) as 2 | 4 | 8, endian: "little" }, bytes);
  return dtype === "float16" ? Float64Array.from(values as Uint16Array, halfToNumber) : (values as Positions);
}

/** Where a vertex is now. */
export interface Place extends At {
  /** Among those made. */
  readonly fragment: number;
}

export interface Placed {
  /** Where what was at an entry of a chunk is now; undefined: it was not cut. */
  at(was: At): Place | undefined;
  /** The steps of the cut, by where their vertices are now. */
  readonly steps: readonly { readonly before: At; readonly after: At; readonly was: At }[];
  /** The number of each new fragment in its chunk. */
  readonly numbers: Uint32Array;
}

/** Puts the new fragments behind those that are there; `none` has a row of each fragment attribute for empty bins. */
export function placeFragments(
  { fragments }: CutPlan,
  { names, made, starts, order, steps }: Cut,
  into: readonly ChunkEdit[],
  none: readonly Uint8Array[],
): Placed {
  const numbers = new Uint32Array(made.length);
  const entries = new Uint32Array(order.length);
  const targets = new Uint32Array(order.length);
  const byChunk: number[][] = names.map(() => []);
  for (const [m, { chunk }] of made.entries()) byChunk[chunk]!.push(m);
  for (const [c, list] of byChunk.entries()) {
    const edit = into[c]!;
    let entry = edit.sizes.reduce((sum, size) => sum + size, 0);
    const pieces = list.flatMap((m) => made[m]!.pieces);
    for (const m of list)
      for (const { from, to } of made[m]!.pieces)
        for (let v = from; v < to; v++) {
          entries[order[v]!] = entry++;
          targets[order[v]!] = m;
        }
    const columns = edit.columns.map((_, i) => gather(fragments, starts, order, pieces, i));
    const rows = none.map((row, i) => {
      const out = new Uint8Array(row.length * list.length);
      for (const [k, m] of list.entries()) {
        const old = made[m]!.pieces[0] && fragments[made[m]!.pieces[0]!.fragment]!;
        const at = (old?.fragment ?? 0) * row.length;
        out.set(old === undefined ? row : old.chunk.fragmentColumns[i]!.subarray(at, at + row.length), k * row.length);
      }
      return out;
    });
    const sizes = list.map((m) => made[m]!.pieces.reduce((sum, { from, to }) => sum + to - from, 0));
    const number = addFragments(edit, sizes, columns, rows);
    for (const [k, m] of list.entries()) numbers[m] = number + k;
  }
  const vertices = new Map<string, Int32Array>();
  for (const [f, { chunk, entry }] of fragments.entries()) {
    const own = vertices.get(chunk.name) ?? new Int32Array(chunk.before).fill(-1);
    vertices.set(chunk.name, own);
    for (let v = starts[f]!; v < starts[f + 1]!; v++) own[entry + v - starts[f]!] = v;
  }
  const of = (vertex: number): Place => {
    const fragment = targets[vertex]!;
    return { chunk: names[made[fragment]!.chunk]!, entry: entries[vertex]!, fragment };
  };
  return {
    numbers,
    steps: steps.map(({ before, after, was }) => ({ before: of(before), after: of(after), was })),
    at({ chunk, entry }) {
      const vertex = vertices.get(chunk)?.[entry] ?? -1;
      return vertex < 0 ? undefined : of(vertex);
    },
  };
}

/** The rows of pieces, one after the other; neighbours are copied together. */
function gather(
  fragments: readonly OldFragment[],
  starts: Uint32Array,
  order: Uint32Array,
  pieces: readonly Piece[],
  column: number,
): Uint8Array {
  const some = pieces[0] && fragments[pieces[0].fragment]!.chunk;
  const width = some === undefined ? 0 : some.columns[column]!.length / some.before;
  const out = new Uint8Array(width * pieces.reduce((sum, { from, to }) => sum + to - from, 0));
  let to = 0;
  for (const { fragment, from, to: end } of pieces) {
    const { chunk, entry } = fragments[fragment]!;
    const source = chunk.columns[column]!;
    const shift = entry - starts[fragment]!;
    for (let v = from, next = v; v < end; v = next) {
      for (next = v + 1; next < end && order[next] === order[next - 1]! + 1; ) next++;
      const row = order[v]! + shift;
      out.set(source.subarray(row * width, (row + next - v) * width), to);
      to += (next - v) * width;
    }
  }
  return out;
}
