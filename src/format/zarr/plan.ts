/**
 * Which chunks a region touches, and what of each goes where. Pure: the same plan serves reading, writing, shards (whose
 * inner chunks are a grid inside a chunk) and the question what a read will cost.
 *
 * Along one axis a selection meets each chunk in one run, a `Piece`; a `Part` is the product of one piece per axis.
 */

import type { Layout } from "../../codec/strided.js";
import type { Axis } from "../../model/region.js";

/** What one axis of a selection has in one chunk. */
interface Piece {
  readonly chunk: number;
  /** Indices inside the chunk. */
  readonly source: Axis;
  /** The place of the first of them along the result's axis. */
  readonly to: number;
}

export interface Part {
  /** The chunk's place in the grid. */
  readonly chunk: readonly number[];
  /** What is asked of the chunk, per axis. */
  readonly source: readonly Axis[];
  /** Where that begins in the result, per axis. */
  readonly to: readonly number[];
}

function pieces(axis: Axis, chunkLength: number): Piece[] {
  const out: Piece[] = [];
  const { start, step, count } = axis;
  for (let k = 0; k < count; ) {
    const index = start + k * step;
    const chunk = Math.floor(index / chunkLength);
    const from = index - chunk * chunkLength;
    const room = step > 0 ? chunkLength - 1 - from : from;
    const run = Math.min(count - k, Math.floor(room / Math.abs(step)) + 1);
    out.push({ chunk, source: { start: from, step, count: run }, to: k });
    k += run;
  }
  return out;
}

/** The parts of a selection in C order of the result. */
export function* parts(axes: readonly Axis[], chunkShape: readonly number[]): Generator<Part> {
  if (axes.some((axis) => axis.count === 0)) return;
  const lists = axes.map((axis, i) => pieces(axis, chunkShape[i]!));
  const at = lists.map(() => 0);
  for (;;) {
    const row = lists.map((list, axis) => list[at[axis]!]!);
    yield { chunk: row.map((p) => p.chunk), source: row.map((p) => p.source), to: row.map((p) => p.to) };
    let axis = at.length - 1;
    while (axis >= 0 && ++at[axis]! === lists[axis]!.length) at[axis--] = 0;
    if (axis < 0) return;
  }
}

/** The number of parts, without making them. */
export function countParts(axes: readonly Axis[], chunkShape: readonly number[]): number {
  return axes.reduce((product, { start, step, count }, i) => {
    if (count === 0) return 0;
    const length = chunkShape[i]!;
    if (Math.abs(step) >= length) return product * count;
    const last = start + (count - 1) * step;
    return product * (Math.abs(Math.floor(last / length) - Math.floor(start / length)) + 1);
  }, 1);
}

/** Where a part's elements lie in its chunk, given the chunk's strides. */
export function sourceLayout(axes: readonly Axis[], chunkStrides: readonly number[]): Layout {
  let offset = 0;
  for (let i = 0; i < axes.length; i++) offset += axes[i]!.start * chunkStrides[i]!;
  return { offset, strides: axes.map((axis, i) => axis.step * chunkStrides[i]!) };
}

/** Where they lie in the result. */
export function targetLayout(to: readonly number[], resultStrides: readonly number[]): Layout {
  let offset = 0;
  for (let i = 0; i < to.length; i++) offset += to[i]! * resultStrides[i]!;
  return { offset, strides: resultStrides };
}

/** Whether a part asks for every element of its chunk, or of its first `lengths` elements on each axis. */
export function coversChunk(part: Part, lengths: readonly number[]): boolean {
  return part.source.every((axis, i) => axis.count === lengths[i]); // as many different indices as there are
}
