/**
 * A level of points without objects, or of objects of one point each. Where bins are not larger than the chunks that they come from, chunk by chunk; else what
 * stays of each chunk is held, which is little, and thinned once more in the end.
 */
import type { VectorLevelWriter } from "../format/zarr-vectors/write/write.js";
import type { Batch } from "../model/vectors.js";
import { ColumnsBuilder, pickRows, roomLike } from "../query/columns.js";
import { coarseBatch } from "./coarsen.js";
import { averaged } from "./mean.js";
import type { LevelPlan, PyramidOptions } from "./plan.js";
import { thinPoints } from "./points.js";

/** A batch of a coarser level, and how far what it leaves out is from it. */
export interface Made {
  readonly batch: Batch;
  readonly error: number;
}

export function cloudLevel(
  { bin }: LevelPlan,
  chunkShape: readonly number[],
  { attributes }: PyramidOptions,
  done: (made: Made, writer: VectorLevelWriter) => Promise<void>,
) {
  const within = bin.every((size, axis) => size <= chunkShape[axis]!);
  const held: { readonly made: Made; readonly weights: Float64Array }[] = [];
  const origin = bin.map(() => 0);

  function thin(
    batch: Batch,
    before: number,
    weights: Float64Array,
  ): { readonly made: Made; readonly weights: Float64Array } {
    const found = thinPoints(batch.positions, batch.dims, origin, bin);
    const coarse = coarseBatch(batch, found);
    const parts = Uint32Array.of(0, found.rows.length);
    const vertexColumns = attributes === "mean" ? averaged(batch.vertexColumns, found, weights) : coarse.vertexColumns;
    const sums = new Float64Array(found.rows.length);
    for (let point = 0; point < found.bins.length; point++) sums[found.bins[point]!]! += weights[point]!;
    const own =
      batch.ids.length === 0
        ? { ...coarse, parts, objects: Int32Array.of(-1), vertexColumns }
        : { ...withObjects(batch, coarse, found.rows), vertexColumns };
    return { made: { batch: own, error: before + found.error }, weights: sums };
  }
  return {
    async add(batch: Batch, writer: VectorLevelWriter): Promise<void> {
      const own = thin(batch, 0, new Float64Array(batch.positions.length / batch.dims).fill(1));
      if (within) await done(own.made, writer);
      else held.push(own);
    },
    async finish(writer: VectorLevelWriter): Promise<void> {
      if (held.length === 0) return;
      const count = held.reduce((sum, { weights }) => sum + weights.length, 0);
      const first = held[0]!.made.batch;
      const columns = new ColumnsBuilder(count);
      const positions = roomLike(first.positions, count * first.dims);
      const weights = new Float64Array(count);
      let at = 0;
      for (const { made, weights: own } of held) {
        positions.set(made.batch.positions, at * first.dims);
        columns.put(made.batch.vertexColumns, 0, own.length, at);
        weights.set(own, at);
        at += own.length;
      }
      const before = held.reduce((most, { made }) => Math.max(most, made.error), 0);
      const all = {
        ...first,
        positions,
        vertexColumns: columns.done(),
        ...objectsOf(held.map(({ made }) => made.batch)),
      };
      await done(thin(all, before, weights).made, writer);
    },
  };
}

/** The objects of the points that stay: those next to each other that are of one object are its part. */
function withObjects(batch: Batch, coarse: Batch, rows: ArrayLike<number>): Batch {
  const owner = new Uint32Array(batch.positions.length / batch.dims);
  for (let part = 0; part < batch.objects.length; part++)
    owner.fill(batch.objects[part]!, batch.parts[part], batch.parts[part + 1]);
  const [staying, parts]: [number[], number[]] = [[], []];
  for (let i = 0; i < rows.length; i++) {
    const own = owner[rows[i]!]!;
    if (staying.at(-1) === own) continue;
    staying.push(own);
    parts.push(i);
  }
  const ids =
    batch.ids instanceof BigInt64Array ? new BigInt64Array(staying.length) : new BigUint64Array(staying.length);
  for (const [i, row] of staying.entries()) ids[i] = batch.ids[row]!;
  return {
    ...coarse,
    parts: Uint32Array.from([...parts, rows.length]),
    objects: Int32Array.from(staying, (_, i) => i),
    ids,
    objectColumns: pickRows(batch.objectColumns, staying),
  };
}

/** The objects of several batches as those of one; nothing where there are none. */
function objectsOf(batches: readonly Batch[]): Partial<Batch> {
  const count = batches.reduce((sum, { ids }) => sum + ids.length, 0);
  if (count === 0) return {};
  const ids = batches[0]!.ids instanceof BigInt64Array ? new BigInt64Array(count) : new BigUint64Array(count);
  const parts = new Uint32Array(count + 1);
  const columns = new ColumnsBuilder(count);
  let [at, vertices] = [0, 0];
  for (const own of batches) {
    ids.set(own.ids as BigInt64Array, at);
    columns.put(own.objectColumns, 0, own.ids.length, at);
    for (let i = 0; i < own.ids.length; i++) parts[at + i] = vertices + own.parts[i]!;
    at += own.ids.length;
    vertices += own.positions.length / own.dims;
  }
  parts[count] = vertices;
  return { ids, parts, objects: Int32Array.from(ids, (_, i) => i), objectColumns: columns.done() };
}
