/** The objects and groups of a level that is copied: rows stay rows, ids stay ids. */
import { bytesOf } from "../../../codec/numeric.js";
import type { Placement } from "../../../model/source.js";
import type { Columns, Schema } from "../../../model/vectors.js";
import { Groups } from "../payload/groups.js";
import { Manifests } from "../payload/manifest.js";
import { alsoOf, NOBODY, SEVERAL } from "../payload/owner-cell.js";
import { denseColumns } from "../read/object-columns.js";
import { readGroups } from "../read/read-groups.js";
import { folderOf } from "../read/schema.js";
import { tablesOf, writeGroupBlobs, writeIndex, writeTables } from "../write/write-index.js";
import { settled } from "./copy-columns.js";
import type { LevelCopy } from "./copy-level.js";

/** The rows of an object index. */
export interface ObjectRows {
  readonly ids: BigInt64Array;
  readonly place: Placement;
  /** The ids are rows, and those of level 0 an attribute. */
  readonly renumbered: boolean;
}

export async function rowsOf(
  { source, meta, plan, options, lose }: LevelCopy,
  schema: Schema,
): Promise<ObjectRows | undefined> {
  const { objects } = source;
  if (objects === undefined) return undefined;
  const rows = upTo(objects.rows);
  const isNew = meta.level > 0 && !meta.preservesObjectIds;
  const isDense = plan.ids === "dense";
  const renumbered = isNew && schema.object.some(({ name }) => name === "level0_object_id");
  const found = (await objects.ids(undefined, options)) as BigInt64Array;
  const ids = renumbered || isDense ? BigInt64Array.from(rows, BigInt) : found;
  const changed = !renumbered && isDense ? found.findIndex((id, row) => id !== BigInt(row)) : -1;
  if (changed >= 0)
    lose(`${meta.path}: the ids of objects, which are 0 to ${rows.length - 1} now: ${found[changed]} is ${changed}`);
  return { ids, place: await objects.place(rows, options), renumbered };
}

const upTo = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, row) => row);

/** Whose each part is, and whether any is named more than once. */
export function ownersOf({ ids, place: { offsets, chunk, first, count } }: ObjectRows, chunks: number) {
  const sizes = new Uint32Array(chunks);
  for (let b = 0; b < chunk.length; b++) sizes[chunk[b]!] = Math.max(sizes[chunk[b]!]!, first[b]! + count[b]!);
  const rows = Array.from(sizes, (size) => new Int32Array(size).fill(NOBODY));
  let shared = false;
  for (let row = 0; row < ids.length; row++)
    for (let b = offsets[row]!; b < offsets[row + 1]!; b++) {
      const own = rows[chunk[b]!]!;
      for (let part = first[b]!; part < first[b]! + count[b]!; part++) {
        own[part] = alsoOf(own[part]!, row);
        shared ||= own[part] === SEVERAL;
      }
    }
  return {
    shared,
    /** The cell of a chunk with so many parts. */
    column(chunk: number, parts: number): Uint8Array {
      const out = new BigInt64Array(parts).fill(BigInt(NOBODY));
      const own = rows[chunk]!;
      for (let part = 0; part < own.length; part++) out[part] = own[part]! < 0 ? BigInt(own[part]!) : ids[own[part]!]!;
      return bytesOf(out);
    },
  };
}

export function copyIndex({ plan, arrays, grid, table }: LevelCopy, { ids, place }: ObjectRows): Promise<Uint8Array> {
  const { offsets, chunk, first, count } = place;
  const { dims } = grid;
  const chunks = new Int32Array(chunk.length * dims);
  for (let b = 0; b < chunk.length; b++)
    for (let axis = 0; axis < dims; axis++) chunks[b * dims + axis] = table.coords[chunk[b]! * dims + axis]!;
  const manifests = Manifests.promote({ rows: ids.length, dims, offsets, chunks, first, count, modes: undefined });
  const chunkOf = (from: number, to: number, size: number) => Manifests.encodeChunk(manifests, from, to, size);
  return writeIndex(plan, arrays, { dims, offsets: manifests.offsets, chunk: chunkOf }, ids);
}

/** Whether there are any. */
export async function copyObjectColumns(copy: LevelCopy, schema: Schema, { ids }: ObjectRows): Promise<boolean> {
  const { plan, arrays, source, options } = copy;
  const names = schema.object.map(({ name }) => name);
  const columns = await source.objects!.columns(names, upTo(ids.length), options);
  return writeTables(plan, arrays, "object", tablesOf(allSettled(columns), ids.length));
}

/** Columns whose values are stored as they are. */
export const allSettled = (columns: Columns): Columns =>
  new Map([...columns].map(([name, column]) => [name, settled(column)]));

/** The names of the families, as the level names them. */
export async function copyGroups(copy: LevelCopy, schema: Schema): Promise<string[]> {
  const { opened, meta, plan, arrays, options } = copy;
  const nodes = await opened.nodes(meta.level, options);
  const found = await readGroups(nodes, options);
  if (found === undefined) return [];
  const groups = plan.ids === "dense" ? await byRow(copy, found) : found;
  const { count } = groups;
  await writeGroupBlobs(arrays, groups);
  const names = schema.group.map(({ name }) => name);
  const columns = await denseColumns(nodes, folderOf("group", nodes.dialect), names, upTo(count), count, options);
  const tables = tablesOf(allSettled(columns), count);
  return (await writeTables(plan, arrays, "group", tables)) ? ["groups", "group_attributes"] : ["groups"];
}

/** Members by row instead of id. */
async function byRow({ source, options }: LevelCopy, groups: Groups): Promise<Groups> {
  const members = Array.from({ length: groups.count }, (_, group) => source.objects!.group(group, options));
  return Groups.of((await Promise.all(members)).map((rows) => BigInt64Array.from(rows ?? [], BigInt)));
}
