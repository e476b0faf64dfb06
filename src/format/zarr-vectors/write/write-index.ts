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
import { type Objects, type ObjectTable, tableOf } from "./write-objects.js";

const ROWS = 65536; // of a table in one chunk, as the reference has it
const WHOLE = 2 ** 31;

/** Members by id; or all ids from start up to, not with, stop. */
export type GroupMembers =
  | Iterable<number | bigint>
  | { readonly start: number | bigint; readonly stop: number | bigint };

export async function writeObjects(
  plan: Plan,
  arrays: Arrays,
  fragments: Fragments,
  layout: Layout,
  table: ObjectTable,
): Promise<Uint8Array> {
  const manifests = manifestsOf(plan, fragments, layout, table);
  let present = 0;
  for (let row = 0; row < table.rows; row++) if (manifests.offsets[row]! < manifests.offsets[row + 1]!) present++;
  const path = "object_index";
  await arrays.blobs(
    `${path}/manifests`,
    table.rows,
    (from, to, size) => Manifests.encodeChunk(manifests, from, to, size),
    {},
  );
  await arrays.table(`${path}/object_ids`, ndarray([table.rows], table.ids), 0, WHOLE, {});
  const document = sealedDocument({
    zv_array: "object_index",
    num_objects: table.rows,
    sid_ndim: plan.dims,
    ...(plan.formatVersion === "0.7.0"
      ? { layout: "vlen_manifests_v1" }
      : { num_present: present, layout: "vlen_manifests_v2", object_ids_sorted: true }),
  });
  await arrays.document(path, document);
  return document;
}

/** Row by row the fragments of the object: as they came along a path, else in the order of chunks. */
function manifestsOf(plan: Plan, { chunk, owner }: Fragments, layout: Layout, table: ObjectTable): Manifests {
  const { dims, kind } = plan;
  const { grid, rank, index, chunkCount } = layout;
  const count = chunk.length;
  const [chunkRanks, rows] = [new Uint32Array(count), new Uint32Array(count)];
  for (let f = 0; f < count; f++) {
    chunkRanks[f] = rank[chunk.values[f]!]!;
    if (owner.values[f] !== 0 && owner.values[f] !== AGAIN) rows[f] = table.rowOf[owner.values[f]! - 1]!;
  }
  const arrived = upTo(count);
  const inOrder = kind.path ? arrived : orderBy(arrived, chunkRanks, chunkCount).sorted;
  const owned = inOrder.filter((f) => owner.values[f] !== 0 && owner.values[f] !== AGAIN);
  const { sorted, offsets } = orderBy(owned, rows, table.rows);
  const chunks = new Int32Array(sorted.length * dims);
  const first = new Uint32Array(sorted.length);
  let next = false; // whether an object has two fragments of a chunk one after the other
  for (let b = 0; b < sorted.length; b++) {
    const f = sorted[b]!;
    first[b] = index[f]!;
    for (let axis = 0, from = chunk.values[f]! * dims; axis < dims; axis++)
      chunks[b * dims + axis] = grid.coords[from + axis]!;
    if (b > 0 && rows[f] === rows[sorted[b - 1]!] && chunkRanks[f] === chunkRanks[sorted[b - 1]!]) next = true;
  }
  const single = new Uint32Array(sorted.length).fill(1);
  const all: Manifests = { rows: table.rows, dims, offsets, chunks, first, count: single, modes: undefined };
  return next || plan.manifests?.forceExplicit === true ? Manifests.promote(all, plan.manifests) : all;
}

/** Whether there are any. */
export async function writeObjectAttributes(arrays: Arrays, objects: Objects, table: ObjectTable): Promise<boolean> {
  const columns = objects.columns(table);
  for (const [name, { info, values, fill }] of columns) {
    const { row_shape: _, ...more } = described(info);
    await arrays.table(`object_attributes/${name}`, values, fill, ROWS, {
      zv_array: "object_attribute",
      name,
      dtype: dtypeName(values.dtype),
      shape: values.shape,
      ...more,
      ...(fill === null || fill === false ? {} : { fill_sentinel_meaning: "absent" }),
    });
  }
  if (columns.size > 0) await arrays.document("object_attributes", groupDocument());
  return columns.size > 0;
}

export async function writeGroups(
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
  const blobs = Groups.encode(groups);
  const ranges = Object.fromEntries(
    Array.from(groups.ranges, ([group, { start, stop }]): [string, Json] => [`${group}`, [start, stop]]),
  );
  await arrays.blobs("groups", groups.count, (from, to, size) => Blobs.encodeChunk(blobs, from, to, size), {
    zv_array: "groups",
    num_groups: groups.count,
    ...(groups.ranges.size === 0 ? {} : { group_ranges: ranges }),
  });
  for (const [name, column] of columns) {
    const found = column.values.length / column.info.channels;
    if (found !== groups.count)
      throw new InvalidInput(`the group attribute ${name} should have ${groups.count} rows, found ${found}`);
    const numbers = Int32Array.from({ length: found }, (_, group) => group);
    const { info, values } = tableOf(column.info, column.values, { rows: found, numbers });
    const { row_shape: _, ...more } = described(info);
    const attributes = { zv_array: "groupings_attribute", name, dtype: dtypeName(values.dtype), shape: values.shape };
    await arrays.table(`group_attributes/${name}`, values, null, WHOLE, { ...attributes, ...more });
  }
  if (columns.size > 0) await arrays.document("group_attributes", groupDocument());
}
