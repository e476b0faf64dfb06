/** The boxes of chunks, or of the nodes of an octree, in the space that is drawn. */
import type { ReadOptions } from "../../model/dataset.js";
import type { VectorDataset } from "../../model/vectors.js";
import type { Piece } from "./piece.js";
import type { Boxes } from "./plan.js";

/** Those of a level, asked for once; `axes` are x, y and z. */
export function boxesOnce(
  dataset: VectorDataset,
  axes: readonly number[],
): (level: number, signal: AbortSignal) => Promise<Boxes> {
  const boxes = new Map<number, Promise<Boxes>>();
  return (level, signal) => {
    const known = boxes.get(level);
    if (known !== undefined) return known;
    const asked = boxesAt(dataset, level, axes, { signal });
    boxes.set(level, asked);
    asked.catch(() => boxes.delete(level));
    return asked;
  };
}

async function boxesAt(
  dataset: VectorDataset,
  level: number,
  axes: readonly number[],
  options: ReadOptions,
): Promise<Boxes> {
  const source = await dataset.source(level, options);
  const table = await source.chunks(options);
  const boxes = new Float64Array(6 * table.count);
  const [min, max] = [new Float64Array(source.dims), new Float64Array(source.dims)];
  for (let chunk = 0; chunk < table.count; chunk++) {
    table.box(chunk, min, max);
    for (let k = 0; k < 3; k++) {
      boxes[6 * chunk + k] = min[axes[k] ?? -1] ?? 0;
      boxes[6 * chunk + 3 + k] = max[axes[k] ?? -1] ?? 0;
    }
  }
  return { count: table.count, boxes };
}

const MOST = 4096;

/** Those of the chunks that are shown, 6 numbers each, low corner first; of what was read as a whole, those of its level. */
export async function shownBoxes(
  pieces: readonly Piece[],
  boxesOf: (level: number) => Promise<Boxes>,
): Promise<Float64Array> {
  const wholes = new Set(pieces.flatMap(({ chunk, level }) => (chunk === undefined ? [level] : [])));
  const out: number[] = [];
  const add = ({ boxes }: Boxes, chunk: number): void => {
    const box = boxes.subarray(6 * chunk, 6 * chunk + 6);
    if (out.length < 6 * MOST && box.every(Number.isFinite)) out.push(...box);
  };
  for (const level of wholes) {
    const boxes = await boxesOf(level);
    for (let chunk = 0; chunk < boxes.count; chunk++) add(boxes, chunk);
  }
  for (const { chunk, level } of pieces)
    if (chunk !== undefined && !wholes.has(level)) add(await boxesOf(level), chunk);
  return Float64Array.from(out);
}
