/**
 * Annotations that touch several cells are in each of them. Before they can be objects, each must be found once: here the
 * cells in question are read, and an annotation is taken to be in the first that has it. What is kept of each is its id and
 * the space that it takes; of the cells as much as fits.
 */
import { radixOrder } from "../../../bytes/radix.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Piece } from "../../rows/row-source.js";
import { wordsOf } from "../sharded/place.js";
import type { Annotations } from "./list.js";
import type { Shape } from "./shape.js";

const HELD_BYTES = 64 << 20;

export type ReadCells = (
  pieces: readonly number[],
  options: ReadOptions,
) => AsyncIterable<readonly [piece: number, annotations: Annotations]>;

export interface Discovered {
  readonly objects: { readonly ids: BigUint64Array; readonly starts: Uint32Array };
  /** Around the annotations that are taken from each piece. */
  readonly boxes: Float64Array;
  load(pieces: readonly number[], options: ReadOptions): AsyncIterable<readonly [number, Piece]>;
}

export async function discover(
  count: number,
  dims: number,
  shape: Shape,
  read: ReadCells,
  options: ReadOptions,
): Promise<Discovered> {
  const known: { ids: BigUint64Array; extents: Float32Array }[] = new Array(count);
  const held = new Map<number, Annotations>();
  let room = HELD_BYTES;
  for await (const [piece, annotations] of read(range(count), options)) {
    known[piece] = { ids: annotations.ids, extents: extentsOf(shape.piece(annotations), dims) };
    room -= annotations.points.byteLength + 64 * annotations.ids.length;
    if (room > 0) held.set(piece, annotations);
  }
  const rows = firstRows(known.map(({ ids }) => ids));
  const starts = new Uint32Array(count + 1);
  for (let piece = 0; piece < count; piece++) starts[piece + 1] = starts[piece]! + rows[piece]!.length;
  const ids = new BigUint64Array(starts[count]!);
  const boxes = new Float64Array(2 * dims * count);
  for (let piece = 0; piece < count; piece++) {
    const { ids: own, extents } = known[piece]!;
    for (const [i, row] of rows[piece]!.entries()) ids[starts[piece]! + i] = own[row]!;
    boxAround(extents, rows[piece]!, dims, boxes.subarray(2 * dims * piece, 2 * dims * (piece + 1)));
  }
  return {
    objects: { ids, starts },
    boxes,
    async *load(pieces, now) {
      const far: number[] = [];
      for (const piece of pieces) {
        const near = held.get(piece);
        if (near === undefined) far.push(piece);
        else yield [piece, shape.piece(near, rows[piece])] as const;
      }
      for await (const [piece, annotations] of read(far, now))
        yield [piece, shape.piece(annotations, rows[piece])] as const;
    },
  };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** min, then max of each object of a piece. */
function extentsOf({ positions, parts }: Piece, dims: number): Float32Array {
  const out = new Float32Array(2 * dims * (parts.length - 1));
  for (let part = 0; part + 1 < parts.length; part++)
    for (let axis = 0; axis < dims; axis++) {
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let v = parts[part]!; v < parts[part + 1]!; v++) {
        const value = positions[v * dims + axis]!;
        if (!(value >= low)) low = value; // NaN stays
        if (!(value <= high)) high = value;
      }
      out[2 * dims * part + axis] = low;
      out[2 * dims * part + dims + axis] = high;
    }
  return out;
}

function boxAround(extents: Float32Array, rows: Uint32Array, dims: number, box: Float64Array): void {
  box.fill(Number.POSITIVE_INFINITY, 0, dims);
  box.fill(Number.NEGATIVE_INFINITY, dims);
  for (const row of rows)
    for (let axis = 0; axis < dims; axis++) {
      box[axis] = Math.min(box[axis]!, extents[2 * dims * row + axis]!);
      box[dims + axis] = Math.max(box[dims + axis]!, extents[2 * dims * row + dims + axis]!);
    }
}

/** For each list the rows of those ids that no list before it has, nor an earlier row of its own. */
function firstRows(lists: readonly BigUint64Array[]): Uint32Array[] {
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const [low, high] = [new Uint32Array(total), new Uint32Array(total)];
  let at = 0;
  for (const list of lists) {
    const words = wordsOf(list);
    for (let i = 0; i < list.length; i++, at++) {
      low[at] = words[2 * i]!;
      high[at] = words[2 * i + 1]!;
    }
  }
  const order = radixOrder([low, high], total); // stable: of equal ids the first comes first
  const first = new Uint8Array(total);
  for (let i = 0; i < total; i++) {
    const [row, before] = [order[i]!, order[i - 1]];
    if (before === undefined || low[row] !== low[before] || high[row] !== high[before]) first[row] = 1;
  }
  at = 0;
  return lists.map((list) => {
    const start = at;
    at += list.length;
    return Uint32Array.from(list, (_, i) => i).filter((i) => first[start + i] === 1);
  });
}
