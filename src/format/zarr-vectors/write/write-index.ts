/** The object index of a new store, the attributes of its objects, and its groups. */
import type { Json } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import { ndarray } from "../../../model/elements.js";
import type { Columns } from "../../../model/vectors.js";
import { Blobs } from "../payload/blobs.js";
import { Groups } from "../payload/groups.js";
import type { Plan } from "./description.js";
import type { Arrays } from "./write-arrays.js";
import { described, dtypeName } from "./write-columns.js";
import { groupDocument, sealedDocument } from "./write-documents.js";
import { type Table, tableOf } from "./write-objects.js";

const ROWS = 65536; // of a table in one chunk, as the reference has it
const WHOLE = 2 ** 31;

/** Members by id; or all ids from start up to, not with, stop. */
export type GroupMembers =
  | Iterable<number | bigint>
  | { readonly start: number | bigint; readonly stop: number | bigint };

/** The manifests of all objects, of which only some are made at a time. */
export interface Indexed {
  readonly dims: number;
  /** Object i has blocks where offsets[i] is below offsets[i + 1]. */
  readonly offsets: Uint32Array;
  /** Those of the rows from, up to as a vlen chunk of so many elements. */
  chunk(from: number, to: number, size: number): Uint8Array | Promise<Uint8Array>;
}

/** The index of objects, row by row; its document. */
export async function writeIndex(
  { formatVersion }: Plan,
  arrays: Arrays,
  { dims, offsets, chunk }: Indexed,
  ids: BigInt64Array,
): Promise<Uint8Array> {
  const rows = ids.length;
  let present = 0;
  let sorted = true;
  for (let row = 0; row < rows; row++) {
    if (offsets[row]! < offsets[row + 1]!) present++;
    if (row > 0 && ids[row]! <= ids[row - 1]!) sorted = false;
  }
  const path = "object_index";
  const bytes = 4 + (offsets[rows]! / Math.max(1, rows)) * (8 * dims + 9);
  await arrays.blobs(`${path}/manifests`, rows, chunk, {}, bytes);
  await arrays.table(`${path}/object_ids`, ndarray([rows], ids), 0, WHOLE, {});
  const document = sealedDocument({
    zv_array: "object_index",
    num_objects: rows,
    sid_ndim: dims,
    ...(formatVersion === "0.7.0"
      ? { layout: "vlen_manifests_v1" }
      : { num_present: present, layout: "vlen_manifests_v2", ...(sorted ? { object_ids_sorted: true } : {}) }),
  });
  await arrays.document(path, document);
  return document;
}

/** Attributes with a row for each object or group; whether there are any. */
export async function writeTables(
  { formatVersion }: Plan,
  arrays: Arrays,
  domain: "object" | "group",
  tables: ReadonlyMap<string, Table>,
): Promise<boolean> {
  const isObject = domain === "object";
  for (const [name, { info, values, fill }] of tables) {
    const { row_shape: _, ...more } = described(info);
    // What says in 0.7.0 that a value is absent is a mask, which only what can be absent has.
    const absent =
      isObject && fill !== null && fill !== false && (formatVersion !== "0.7.0" || info.absent !== undefined);
    await arrays.table(`${domain}_attributes/${name}`, values, isObject ? fill : null, isObject ? ROWS : WHOLE, {
      zv_array: isObject ? "object_attribute" : "groupings_attribute",
      name,
      dtype: dtypeName(values.dtype),
      shape: values.shape,
      ...more,
      ...(absent ? { fill_sentinel_meaning: "absent" } : {}),
    });
  }
  if (tables.size > 0) await arrays.document(`${domain}_attributes`, groupDocument());
  return tables.size > 0;
}

/** Columns as they are, a row for each. */
export function tablesOf(columns: Columns, rows: number): Map<string, Table> {
  const numbers = Int32Array.from({ length: rows }, (_, row) => row);
  return new Map([...columns].map(([name, { info, values }]) => [name, tableOf(info, values, { rows, numbers })]));
}

export async function writeGroups(
  plan: Plan,
  arrays: Arrays,
  members: readonly GroupMembers[],
  columns: Columns,
  idsOf: (ids: BigInt64Array) => readonly (bigint | undefined)[],
): Promise<void> {
  const known = (group: number, given: BigInt64Array): bigint[] => {
    const ids = idsOf(given);
    return Array.from(given, (id, i) => {
      const own = ids[i];
      if (own === undefined) throw new InvalidInput(`group ${group} names the object ${id}, which there is not`);
      return own;
    });
  };
  const groups = Groups.of(
    members.map((own, group) => {
      if (!("start" in own)) return known(group, BigInt64Array.from(own, BigInt));
      const [start, stop] = [BigInt(own.start), BigInt(own.stop)];
      const given = BigInt64Array.from({ length: Math.max(0, Number(stop - start)) }, (_, i) => start + BigInt(i));
      const ids = known(group, given);
      return ids.every((id, i) => id === given[i]) ? { start, stop } : ids; // one that got other ids is no longer a range
    }),
  );
  for (const [name, { info, values }] of columns) {
    const found = values.length / info.channels;
    if (found !== groups.count)
      throw new InvalidInput(`the group attribute ${name} should have ${groups.count} rows, found ${found}`);
  }
  await writeGroupBlobs(arrays, groups);
  await writeTables(plan, arrays, "group", tablesOf(columns, groups.count));
}

export async function writeGroupBlobs(arrays: Arrays, groups: Groups): Promise<void> {
  const { count, ranges } = groups;
  const blobs = Groups.encode(groups);
  const listed = Array.from(ranges, ([group, { start, stop }]): [string, Json] => [`${group}`, [start, stop]]);
  await arrays.blobs("groups", count, (from, to, size) => Blobs.encodeChunk(blobs, from, to, size), {
    zv_array: "groups",
    num_groups: count,
    ...(ranges.size === 0 ? {} : { group_ranges: Object.fromEntries(listed) }),
  });
}
