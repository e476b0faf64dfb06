/**
 * Copies between arrays that lie differently in memory: chunk to result, result to chunk, fill to either.
 *
 * A copy is a count per axis and, on both sides, where the first element lies and how far apart the elements are on each
 * axis. Strides may be negative (reversed axes) and, on the source side, zero (one element everywhere: a fill).
 * Elements become words of 4, 2 or 1 bytes, axes that continue each other on both sides are joined, and what is left is
 * a plane of rows and columns in two loops, or one `set` per row where rows are long.
 */
import type { DataType } from "../bytes/dtype.js";
import { isFixed } from "../bytes/dtype.js";
import type { ChunkData, Element } from "./types.js";

/** Offset and strides in elements. */
export interface Layout {
  readonly offset: number;
  readonly strides: readonly number[];
}

/** From a part of one array to a part of another. */
export interface Move {
  readonly from: Layout;
  readonly to: Layout;
  readonly counts: readonly number[];
}

export const copyMove = (target: ChunkData, source: ChunkData, { from, to, counts }: Move, dtype: DataType): void =>
  copyStrided(target, to, source, from, counts, dtype);

type Words = Uint8Array | Uint16Array | Uint32Array | ChunkData[number][];

/** Above this many words one `set` is faster than a loop. */
const LONG_ROW = 64;

export function copyStrided(
  target: ChunkData,
  to: Layout,
  source: ChunkData,
  from: Layout,
  counts: readonly number[],
  dtype: DataType,
): void {
  if (counts.includes(0)) return;
  const [into, out, perElement] = wordsOf(target, source, isFixed(dtype) ? dtype.size : undefined);
  if (perElement === 0) return;

  // Innermost axis first. The words of one element are an axis of their own.
  const count: number[] = [perElement];
  const step: number[] = [1];
  const read: number[] = [1];
  for (let axis = counts.length - 1; axis >= 0; axis--) {
    const n = counts[axis]!;
    if (n === 1) continue;
    const toStride = to.strides[axis]! * perElement;
    const fromStride = from.strides[axis]! * perElement;
    const last = count.length - 1;
    if (count[last] === 1) {
      count[last] = n;
      step[last] = toStride;
      read[last] = fromStride;
    } else if (toStride === step[last]! * count[last]! && fromStride === read[last]! * count[last]!) {
      count[last] = count[last]! * n;
    } else {
      count.push(n);
      step.push(toStride);
      read.push(fromStride);
    }
  }

  const rows = count[1] ?? 1;
  const at = new Array<number>(count.length).fill(0);
  let t = to.offset * perElement;
  let s = from.offset * perElement;
  for (;;) {
    copyPlane(into, t, step[1] ?? 0, step[0]!, out, s, read[1] ?? 0, read[0]!, rows, count[0]!);
    let axis = 2;
    for (; axis < count.length; axis++) {
      t += step[axis]!;
      s += read[axis]!;
      at[axis]!++;
      if (at[axis]! < count[axis]!) break;
      t -= step[axis]! * count[axis]!;
      s -= read[axis]! * count[axis]!;
      at[axis] = 0;
    }
    if (axis >= count.length) return;
  }
}

/** Puts one element everywhere in a region of the target. */
export function fillStrided(
  target: ChunkData,
  to: Layout,
  fill: Element,
  counts: readonly number[],
  dtype: DataType,
): void {
  const source = isFixed(dtype) ? (fill as Uint8Array) : [fill];
  copyStrided(target, to, source, { offset: 0, strides: counts.map(() => 0) }, counts, dtype);
}

/** Both sides as arrays of the widest word that fits the element and both alignments; values are their own words. */
function wordsOf(target: ChunkData, source: ChunkData, size: number | undefined): [Words, Words, number] {
  if (size === undefined) return [target as Words, source as Words, 1];
  const a = target as Uint8Array;
  const b = source as Uint8Array;
  const odd = size | a.byteOffset | b.byteOffset;
  if ((odd & 3) === 0) {
    return [
      new Uint32Array(a.buffer, a.byteOffset, Math.floor(a.byteLength / 4)),
      new Uint32Array(b.buffer, b.byteOffset, Math.floor(b.byteLength / 4)),
      size / 4,
    ];
  }
  if ((odd & 1) === 0) {
    return [
      new Uint16Array(a.buffer, a.byteOffset, Math.floor(a.byteLength / 2)),
      new Uint16Array(b.buffer, b.byteOffset, Math.floor(b.byteLength / 2)),
      size / 2,
    ];
  }
  return [a, b, size];
}

function copyPlane(
  into: Words,
  t: number,
  tRow: number,
  tCol: number,
  out: Words,
  s: number,
  sRow: number,
  sCol: number,
  rows: number,
  cols: number,
): void {
  if (cols >= LONG_ROW && tCol === 1 && sCol < 2 && sCol >= 0 && !Array.isArray(into)) {
    for (let row = 0; row < rows; row++) {
      if (sCol === 1) into.set((out as Uint8Array).subarray(s, s + cols), t);
      else into.fill((out as Uint8Array)[s]!, t, t + cols);
      t += tRow;
      s += sRow;
    }
    return;
  }
  for (let row = 0; row < rows; row++) {
    let a = t;
    let b = s;
    for (let col = 0; col < cols; col++) {
      into[a] = out[b]!;
      a += tCol;
      b += sCol;
    }
    t += tRow;
    s += sRow;
  }
}
