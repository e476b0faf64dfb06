/** The object index of a new store, the attributes of its objects, and its groups. */
import type { Json } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import { ndarray } from "../../../model/elements.js";
import type { Columns } from "../../../model/vectors.js";
import { Blobs } from "../payload/blobs.js";
import { Groups } from "../payload/groups.js";
import { Manifests } from "../payload/manifest.js";
import type { Plan } from "./description.js";
import type { Arrays } from "./write-arrays.js";
import { described, dtypeName } from "./write-columns.js";
import { AGAIN, type Fragments } from "./write-cut.js";
import { groupDocument, sealedDocument } from "./write-documents.js";
import { type Layout, orderBy, upTo } from "./write-layout.js";
import { type ObjectTable, type Table, tableOf } from "./write-objects.js";

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
  chunk(from: number, to: number, size: number): Uint8Array;
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

/**
 * Row by row the fragments of the object: as they came along a path, else in the order of chunks. What is known of owners is no
 * longer: rows take its place, since there may be many millions of fragments.
 */
export function indexedBy(plan: Plan, { chunk, owner }: Fragments, layout: Layout, table: ObjectTable): Indexed {
  const { dims, kind } = plan;
  const { grid, index } = layout;
  const inOrder = kind.path ? upTo(chunk.length) : byChunk(layout);
  const rows = owner.values;
  let owned = 0;
  for (let i = 0; i < inOrder.length; i++) {
    const f = inOrder[i]!;
    if (rows[f] === 0 || rows[f] === AGAIN) continue;
    rows[f] = table.rowOf[rows[f]! - 1]!;
    inOrder[owned++] = f;
  }
  const { sorted, offsets } = orderBy(inOrder.subarray(0, owned), rows, table.rows);
  return {
    dims,
    offsets,
    chunk(from, to, size) {
      const [start, end] = [offsets[from]!, offsets[to]!];
      const chunks = new Int32Array((end - start) * dims);
      const first = new Uint32Array(end - start);
      let next = false; // whether an object has two fragments of a chunk one after the other
      for (let b = start; b < end; b++) {
        const f = sorted[b]!;
        first[b - start] = index[f]!;
        for (let axis = 0, at = chunk.values[f]! * dims; axis < dims; axis++)
          chunks[(b - start) * dims + axis] = grid.coords[at + axis]!;
        const before = sorted[b - 1];
        if (before !== undefined && rows[f] === rows[before] && chunk.values[f] === chunk.values[before]) next = true;
      }
      const all: Manifests = {
        rows: to - from,
        dims,
        offsets: offsets.subarray(from, to + 1).map((offset) => offset - start),
        chunks,
        first,
        count: new Uint32Array(end - start).fill(1),
        modes: undefined,
      };
      const packs = next || plan.manifests?.forceExplicit === true;
      return Manifests.encodeChunk(packs ? Manifests.promote(all, plan.manifests) : all, 0, to - from, size);
    },
  };
}

/** The fragments in the order of chunks. */
function byChunk({ rank, offsets, list }: Layout): Uint32Array {
  const order = new Uint32Array(rank.length);
  for (let chunk = 0; chunk < rank.length; chunk++) order[rank[chunk]!] = chunk;
  const out = new Uint32Array(list.length);
  let at = 0;
  for (const chunk of order) {
    out.set(list.subarray(offsets[chunk], offsets[chunk + 1]), at);
    at += offsets[chunk + 1]! - offsets[chunk]!;
  }
  return out;
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
