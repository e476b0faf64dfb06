/** Batches one after the other as one. */
import type { LevelSource } from "../model/source.js";
import type { Batch, Columns } from "../model/vectors.js";
import { ColumnsBuilder } from "./columns.js";

export function joinBatches(batches: readonly Batch[], { level, geometry, dims, objects }: LevelSource): Batch {
  if (batches.length === 1) return batches[0]!;
  const first = batches[0];
  if (first === undefined) {
    return {
      level,
      geometry,
      dims,
      positions: new Float32Array(),
      parts: Uint32Array.of(0),
      objects: new Int32Array(),
      ids: objects === undefined ? new BigInt64Array() : new BigInt64Array(),
      links: undefined,
      fragments: undefined,
      vertexColumns: new Map(),
      objectColumns: new Map(),
      chunk: undefined,
    };
  }
  const sum = (of: (batch: Batch) => number): number => batches.reduce((total, batch) => total + of(batch), 0);
  const rowsOf = (batch: Batch): number => batch.positions.length / dims;
  const positions = stack(batches.map((batch) => batch.positions));
  const parts = new Uint32Array(sum((batch) => batch.objects.length) + 1);
  const owners = new Int32Array(parts.length - 1);
  let [part, vertex, id] = [0, 0, 0];
  for (const batch of batches) {
    for (let p = 0; p < batch.objects.length; p++, part++) {
      parts[part] = batch.parts[p]! + vertex;
      owners[part] = batch.objects[p]! < 0 ? -1 : batch.objects[p]! + id;
    }
    vertex += rowsOf(batch);
    id += batch.ids.length;
  }
  parts[part] = vertex;
  const columns = (of: (batch: Batch) => Columns | undefined, rows: (batch: Batch) => number): Columns => {
    const builder = new ColumnsBuilder(sum(rows));
    let at = 0;
    for (const batch of batches) {
      const own = of(batch);
      if (own !== undefined) builder.put(own, 0, rows(batch), at);
      at += rows(batch);
    }
    return builder.done();
  };
  const linkRows = ({ links }: Batch): number => (links === undefined ? 0 : links.ends.length / links.width);
  return {
    ...first,
    positions,
    parts,
    objects: owners,
    ids: stack(batches.map((batch) => batch.ids)),
    links: first.links && {
      width: first.links.width,
      ends: shifted(batches.map((batch) => [batch.links?.ends ?? new Uint32Array(), rowsOf(batch)] as const)),
      columns: columns((batch) => batch.links?.columns, linkRows),
    },
    fragments: first.fragments && {
      offsets: Uint32Array.of(
        0,
        ...shifted(batches.map((batch) => [batch.fragments!.offsets.subarray(1), rowsOf(batch)] as const)),
      ),
      columns: columns(
        (batch) => batch.fragments?.columns,
        (batch) => batch.fragments!.offsets.length - 1,
      ),
    },
    vertexColumns: columns((batch) => batch.vertexColumns, rowsOf),
    objectColumns: columns(
      (batch) => batch.objectColumns,
      (batch) => batch.ids.length,
    ),
    chunk: undefined,
  };
}

type Numbers = Float32Array | Float64Array | BigInt64Array | BigUint64Array;

function stack<T extends Numbers>(arrays: readonly T[]): T {
  const out = new (arrays[0]!.constructor as new (length: number) => T)(
    arrays.reduce((sum, array) => sum + array.length, 0),
  );
  let at = 0;
  for (const array of arrays) {
    (out as Float64Array).set(array as Float64Array, at);
    at += array.length;
  }
  return out;
}

/** Lists of vertex numbers one after the other, each moved by the vertices before it. */
function shifted(lists: readonly (readonly [Uint32Array, number])[]): Uint32Array {
  const out = new Uint32Array(lists.reduce((sum, [list]) => sum + list.length, 0));
  let [at, by] = [0, 0];
  for (const [list, rows] of lists) {
    for (let i = 0; i < list.length; i++) out[at++] = list[i]! + by;
    by += rows;
  }
  return out;
}
