/**
 * Points on the border of two cells. The format's cells are closed, so that a writer may put such a point into both; it is one
 * point all the same. A point is its own cell's, the one that touchedCells says; another cell that has it, too, does not count.
 */
import type { ReadOptions } from "../../../model/dataset.js";
import { Morton } from "../../../space/morton.js";
import { cellBox, touchedCells } from "./cells.js";
import type { AnnotationInfo } from "./info.js";
import { type Annotations, parseList, type RecordForm } from "./list.js";
import type { OpenedLevel } from "./read.js";

/** The rows of a cell without those that their own cell has as well; undefined where that is all of them. */
export async function ownPoints(
  annotations: Annotations,
  cell: readonly number[],
  info: AnnotationInfo,
  level: OpenedLevel,
  form: RecordForm,
  options: ReadOptions,
): Promise<Uint32Array | undefined> {
  const { gridShape, chunkSize, values, key } = level;
  const grid = { lower: info.lower, gridShape, chunkSize };
  const box = cellBox(info, level, cell);
  const elsewhere = new Map<bigint, number[]>();
  for (let row = 0; row < annotations.ids.length; row++) {
    if (isInside(annotations.points, row, box)) continue;
    touchedCells("point", annotations.points, row, row + 1, grid, (own) => {
      if (own.every((index, axis) => index === cell[axis])) return;
      const code = Morton.encode(own, gridShape);
      elsewhere.set(code, [...(elsewhere.get(code) ?? []), row]);
    });
  }
  const repeated = new Set<number>();
  for (const [code, rows] of elsewhere) {
    const bytes = await values.get(code, options);
    const ids = bytes && new Set(parseList(bytes, form, `${key}/${code}`).ids);
    for (const row of rows) if (ids?.has(annotations.ids[row]!)) repeated.add(row);
  }
  if (repeated.size === 0) return undefined;
  return Uint32Array.from(annotations.ids, (_, row) => row).filter((row) => !repeated.has(row));
}

/** In the cell, and not on one of its upper faces. */
function isInside(points: Float32Array, row: number, box: readonly number[]): boolean {
  const rank = box.length / 2;
  for (let axis = 0; axis < rank; axis++) {
    const value = points[row * rank + axis]!;
    if (!(value >= box[axis]! && value < box[rank + axis]!)) return false;
  }
  return true;
}
