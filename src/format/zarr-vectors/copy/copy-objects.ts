/** The objects and groups of a level that is copied: rows stay rows, ids stay ids. */
import type { Json } from "../../../bytes/json.js";
import { bytesOf } from "../../../codec/numeric.js";
import { ndarray } from "../../../model/elements.js";
import type { Placement } from "../../../model/source.js";
import type { Columns, Schema } from "../../../model/vectors.js";
import { Blobs } from "../payload/blobs.js";
import { Groups } from "../payload/groups.js";
import { Manifests } from "../payload/manifest.js";
import { denseColumns } from "../read/object-columns.js";
import { readGroups } from "../read/read-groups.js";
import { folderOf } from "../read/schema.js";
import type { Arrays } from "../write/write-arrays.js";
import { described, dtypeName } from "../write/write-columns.js";
import { groupDocument, sealedDocument } from "../write/write-documents.js";
import { tableOf } from "../write/write-objects.js";
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

const [NOBODY, SEVERAL] = [-1, -2];

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
        const several = own[part] !== NOBODY; // a path that comes back to a part counts twice
        own[part] = several ? SEVERAL : row;
        shared ||= several;
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

export async function writeManifests(
  { arrays, old, grid, table }: LevelCopy,
  { ids, place }: ObjectRows,
): Promise<Uint8Array> {
  const { offsets, chunk, first, count } = place;
  const { dims } = grid;
  const chunks = new Int32Array(chunk.length * dims);
  for (let b = 0; b < chunk.length; b++)
    for (let axis = 0; axis < dims; axis++) chunks[b * dims + axis] = table.coords[chunk[b]! * dims + axis]!;
  const rows = ids.length;
  const manifests = Manifests.promote({ rows, dims, offsets, chunks, first, count, modes: undefined });
  let present = 0;
  let sorted = true;
  for (let row = 0; row < rows; row++) {
    if (offsets[row]! < offsets[row + 1]!) present++;
    if (row > 0 && ids[row]! <= ids[row - 1]!) sorted = false;
  }
  const path = "object_index";
  const chunkOf = (from: number, to: number, size: number) => Manifests.encodeChunk(manifests, from, to, size);
  await arrays.blobs(`${path}/manifests`, rows, chunkOf, {});
  await arrays.table(`${path}/object_ids`, ndarray([rows], ids), 0, WHOLE, {});
  const said = { zv_array: "object_index", num_objects: rows, sid_ndim: dims };
  const current = { num_present: present, layout: "vlen_manifests_v2", ...(sorted ? { object_ids_sorted: true } : {}) };
  const document = sealedDocument({ ...said, ...(old === undefined ? current : { layout: "vlen_manifests_v1" }) });
  await arrays.document(path, document);
  return document;
}

const ROWS = 65536; // of a table in one chunk, as the reference has it
const WHOLE = 2 ** 31;

/** Whether there are any. */
export async function copyObjectColumns(copy: LevelCopy, schema: Schema, { ids }: ObjectRows): Promise<boolean> {
  const names = schema.object.map(({ name }) => name);
  return writeTables(
    copy,
    "object",
    await copy.source.objects!.columns(names, upTo(ids.length), copy.options),
    ids.length,
  );
}

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
  return (await writeTables(copy, "group", columns, count)) ? ["groups", "group_attributes"] : ["groups"];
}

/** Members by row instead of id. */
async function byRow({ source, options }: LevelCopy, groups: Groups): Promise<Groups> {
  const members = Array.from({ length: groups.count }, (_, group) => source.objects!.group(group, options));
  return Groups.of((await Promise.all(members)).map((rows) => BigInt64Array.from(rows ?? [], BigInt)));
}

export async function writeGroupBlobs(arrays: Arrays, groups: Groups): Promise<void> {
  const { count, ranges } = groups;
  const blobs = Groups.encode(groups);
  const listed = Array.from(ranges, ([g, { start, stop }]): [string, Json] => [`${g}`, [start, stop]]);
  await arrays.blobs("groups", count, (from, to, size) => Blobs.encodeChunk(blobs, from, to, size), {
    zv_array: "groups",
    num_groups: count,
    ...(ranges.size === 0 ? {} : { group_ranges: Object.fromEntries(listed) }),
  });
}

export async function writeTables(
  { arrays, old }: Pick<LevelCopy, "arrays" | "old">,
  domain: "object" | "group",
  columns: Columns,
  rows: number,
): Promise<boolean> {
  const numbers = Int32Array.from({ length: rows }, (_, row) => row);
  const isObject = domain === "object";
  for (const [name, column] of columns) {
    const { info, values } = settled(column);
    const table = tableOf(info, values, { rows, numbers });
    const { row_shape: _, ...more } = described(table.info);
    const fill = isObject ? table.fill : null;
    const absent = fill !== null && fill !== false && (old === undefined || info.absent !== undefined);
    await arrays.table(`${domain}_attributes/${name}`, table.values, fill, isObject ? ROWS : WHOLE, {
      zv_array: isObject ? "object_attribute" : "groupings_attribute",
      name,
      dtype: dtypeName(table.values.dtype),
      shape: table.values.shape,
      ...more,
      ...(absent ? { fill_sentinel_meaning: "absent" } : {}),
    });
  }
  if (columns.size > 0) await arrays.document(`${domain}_attributes`, groupDocument());
  return columns.size > 0;
}
