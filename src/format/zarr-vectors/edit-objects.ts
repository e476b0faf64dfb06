/**
 * The objects of a level under edit: ids, manifests, and the rows of their attributes. Rows are never taken away, so that the
 * numbers of all others stay; an object that was deleted has an empty manifest and can come again under the same id.
 */
import type { JsonObject } from "../../bytes/json.js";
import { bytesOf } from "../../codec/numeric.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { typed } from "../../model/elements.js";
import { describeArray } from "../zarr/create.js";
import { Blobs } from "./blobs.js";
import type { RowsEdit } from "./edit-rows.js";
import type { Tree } from "./edit-tree.js";
import { Manifests } from "./manifest.js";
import type { Block } from "./manifest-write.js";
import type { LevelMeta } from "./types.js";

export interface ObjectsEdit {
  readonly rows: number;
  readonly ids: readonly bigint[];
  /** −1: no such id. */
  rowOf(id: bigint): number;
  /** The manifests of these rows. */
  read(rows: readonly number[]): Promise<Manifests>;
  all(): Promise<Manifests>;
  set(row: number, blocks: readonly Block[]): Promise<void>;
  /** A row for a new id. */
  add(id: bigint): number;
  /** Tables of attributes by name, as long as there are rows. */
  attributes(): Promise<ReadonlyMap<string, RowsEdit>>;
  finish(): Promise<void>;
}

const RENUMBERED = "level0_object_id";
const MOST_GAPS = 2 ** 20;
const EMPTY = new Uint8Array(4);

/** undefined: the level has no objects. */
export async function editObjects(
  tree: Tree,
  { path, level, preservesObjectIds }: LevelMeta,
  rank: number,
): Promise<ObjectsEdit | undefined> {
  const where = `${tree.opened.url}/${path}/object_index`;
  const group = await tree.group(`${path}/object_index`);
  if (group === undefined) return undefined;
  const bytes = { kind: "vlen-bytes" } as const;
  const manifests =
    (await tree.rows(`${path}/object_index/manifests`)) ??
    tree.makeRows(
      `${path}/object_index/manifests`,
      describeArray({ shape: [0], chunkShape: [1], dtype: bytes, codecs: "zstd" }),
    );
  const layout = group.attributes.layout ?? "vlen_manifests_v2";
  const table =
    layout === "vlen_manifests_v1"
      ? undefined
      : ((await tree.rows(`${path}/object_index/object_ids`)) ??
        tree.makeRows(
          `${path}/object_index/object_ids`,
          describeArray({ shape: [0], chunkShape: [1], dtype: "int64", codecs: "zstd" }),
        ));
  const names = await tree.names(`${path}/object_attributes`);
  const renumbered =
    level > 0 && !preservesObjectIds && names.includes(RENUMBERED)
      ? await tree.rows(`${path}/object_attributes/${RENUMBERED}`)
      : undefined;
  const before = manifests.length;
  const idTable = renumbered ?? table;
  if (idTable !== undefined && idTable.length !== before)
    throw new Corrupt(`${where} has ${idTable.length} ids for ${before} objects`, { where, hint: "octavo repair" });
  const stored = idTable && (typed(await idTable.read(0, before)) as BigInt64Array);
  const ids = Array.from({ length: before }, (_, row) => (stored === undefined ? BigInt(row) : BigInt(stored[row]!)));
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const limits = withLimits(tree.options.limits);
  let present = Number(group.attributes.num_present ?? before);
  let attributes: Promise<Map<string, RowsEdit>> | undefined;

  async function parse(blobs: readonly Uint8Array[]): Promise<Manifests> {
    return Manifests.parse(
      Blobs.of(blobs.map((blob) => (blob.length === 0 ? EMPTY : blob))),
      rank,
      limits,
      `${where}/manifests`,
    );
  }
  async function blob(row: number): Promise<Uint8Array> {
    return ((await manifests.read(row, row + 1)).data as Uint8Array[])[0]!;
  }

  const edit: ObjectsEdit = {
    get rows() {
      return ids.length;
    },
    ids,
    rowOf: (id) => rowOf.get(id) ?? -1,
    read: async (rows) => parse(await Promise.all(rows.map(blob))),
    all: async () => parse((await manifests.read(0, ids.length)).data as Uint8Array[]),
    async set(row, blocks) {
      const was = (await blob(row)).subarray(0, 4).some((byte) => byte !== 0);
      present += (blocks.length > 0 ? 1 : 0) - (was ? 1 : 0);
      manifests.set(row, Manifests.encodeRow(Manifests.promote(Manifests.of([blocks], rank)), 0));
    },
    add(id) {
      if (table === undefined && (id < BigInt(ids.length) || id - BigInt(ids.length) > MOST_GAPS))
        throw new LimitExceeded(
          `${where} has a row for every id, and ${id} is far from the ${ids.length} that there are`,
          { where },
        );
      if (id < -(2n ** 63n) || id >= 2n ** 63n) throw new InvalidInput(`the id ${id} does not fit signed 64 bits`);
      for (let next = table === undefined ? BigInt(ids.length) : id; next <= id; next++) {
        const row = ids.push(next) - 1;
        rowOf.set(next, row);
        manifests.resize(ids.length);
        manifests.set(row, EMPTY);
        table?.resize(ids.length);
        table?.set(row, bytesOf(BigInt64Array.of(next)));
      }
      return ids.length - 1;
    },
    attributes() {
      attributes ??= Promise.all(
        names.map(async (name) => [name, await tree.rows(`${path}/object_attributes/${name}`)] as const),
      ).then((found) => new Map(found.filter((entry): entry is [string, RowsEdit] => entry[1] !== undefined)));
      return attributes;
    },
    async finish() {
      // Other software adds objects without their attributes: fill says that they have none.
      for (const table of (await edit.attributes()).values()) {
        if (table.length === ids.length) continue;
        table.resize(ids.length);
        if (table.meta.attributes.shape !== undefined)
          table.describe({ ...table.meta.attributes, shape: [...table.meta.shape] });
      }
      const sorted = ids.every((id, row) => row === 0 || ids[row - 1]! < id);
      const { object_ids_sorted: _, ...rest } = group.attributes;
      group.attributes = {
        zv_array: "object_index",
        ...rest,
        num_objects: ids.length,
        num_present: present,
        sid_ndim: rank,
        layout,
        ...(sorted && table !== undefined ? { object_ids_sorted: true } : {}),
      } as JsonObject;
    },
  };
  return edit;
}
