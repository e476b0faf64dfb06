/** A batch made coarser, whatever it holds, with everything that goes along. */
import type { Batch } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import { inlinePool } from "../worker/inline.js";
import type { Pool } from "../worker/pool.js";
import type { Coarse, Fine } from "./types.js";

/** What stays where nothing may move further than allowed (thin.ts), worked out by a worker where there is one. */
export function thinned(
  { geometry, dims, positions, parts, objects, links }: Batch,
  allowed: number,
  pool: Pool = inlinePool,
  signal?: AbortSignal,
): Promise<Coarse> {
  // A worker gets copies of its own: cloning would take along the buffers of which these may be a small part.
  const own = <T extends { slice(): T }>(list: T): T => (pool.size === 0 ? list : list.slice());
  const fine: Fine = {
    geometry,
    dims,
    positions: own(positions as Float32Array),
    parts: own(parts),
    objects: own(objects),
    links: links && { width: links.width, ends: own(links.ends), named: links.columns.size > 0 },
  };
  const lists = [fine.positions, fine.parts, fine.objects, fine.links?.ends];
  const transfer =
    pool.size === 0 ? [] : lists.flatMap((list) => (list === undefined ? [] : (list.buffer as ArrayBuffer)));
  return pool.run("pyramid.thin", { fine, allowed }, { signal, transfer });
}

/** The batch of what stays. */
export function coarseBatch(batch: Batch, { rows, links }: Coarse): Batch {
  const { positions, dims, parts } = batch;
  const own =
    positions instanceof Float32Array ? new Float32Array(rows.length * dims) : new Float64Array(rows.length * dims);
  for (let i = 0; i < rows.length; i++)
    for (let axis = 0; axis < dims; axis++) own[i * dims + axis] = positions[rows[i]! * dims + axis]!;
  const shorter = new Uint32Array(parts.length);
  for (let part = 0, at = 0; part < parts.length; part++) {
    while (at < rows.length && rows[at]! < parts[part]!) at++;
    shorter[part] = at;
  }
  const joined = batch.links && links;
  return {
    ...batch,
    positions: own,
    parts: shorter,
    links:
      batch.links &&
      (joined === undefined
        ? { ...batch.links, ends: new Uint32Array(), columns: pickRows(batch.links.columns, []) }
        : { ...batch.links, ends: joined.ends, columns: pickRows(batch.links.columns, joined.from) }),
    fragments: undefined,
    vertexColumns: pickRows(batch.vertexColumns, rows),
  };
}

/** Only these objects, by row, of a batch of which every part has one; their parts in the order they had. */
export function onlyObjects(batch: Batch, kept: (id: bigint) => boolean): Batch {
  const { positions, dims, parts, objects, ids, links } = batch;
  const rowOf = new Int32Array(ids.length).fill(-1);
  const staying: number[] = [];
  for (let row = 0; row < ids.length; row++)
    if (kept(ids[row]!)) {
      rowOf[row] = staying.length;
      staying.push(row);
    }
  if (staying.length === ids.length) return batch;
  const rows = new Uint32Array(positions.length / dims);
  const shorter = [0];
  const owners: number[] = [];
  const place = new Int32Array(rows.length).fill(-1);
  let count = 0;
  for (let part = 0; part < objects.length; part++) {
    const owner = objects[part]!;
    if (owner >= 0 && rowOf[owner]! < 0) continue;
    for (let vertex = parts[part]!; vertex < parts[part + 1]!; vertex++) {
      place[vertex] = count;
      rows[count++] = vertex;
    }
    shorter.push(count);
    owners.push(owner < 0 ? -1 : rowOf[owner]!);
  }
  const Type = ids instanceof BigInt64Array ? BigInt64Array : BigUint64Array;
  const coarse = coarseBatch(batch, {
    rows: rows.subarray(0, count),
    links: links && linksWithin(links, place),
    error: 0,
  });
  return {
    ...coarse,
    parts: Uint32Array.from(shorter),
    objects: Int32Array.from(owners),
    ids: Type.from(staying.map((row) => ids[row]!)),
    objectColumns: pickRows(batch.objectColumns, staying),
  };
}

/** The links of which every end has a place. */
function linksWithin({ width, ends }: NonNullable<Batch["links"]>, place: Int32Array): NonNullable<Coarse["links"]> {
  const joined = new Uint32Array(ends.length);
  const from = new Uint32Array(ends.length / width);
  let count = 0;
  for (let link = 0; link < from.length; link++) {
    let within = true;
    for (let k = 0; k < width; k++) {
      const end = place[ends[link * width + k]!]!;
      within &&= end >= 0;
      joined[count * width + k] = end;
    }
    if (within) from[count++] = link;
  }
  return { ends: joined.subarray(0, count * width), from: from.subarray(0, count) };
}
