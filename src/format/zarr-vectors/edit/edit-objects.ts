/**
 * The objects of a level under edit: ids, manifests, and the rows of their attributes. Rows are never taken away, so that the
 * numbers of all others stay; an object that was deleted has an empty manifest and can come again under the same id.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { bytesOf } from "../../../codec/numeric.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { typed } from "../../../model/elements.js";
import { describeArray } from "../../zarr/create.js";
import { Blobs } from "../payload/blobs.js";
import { Manifests } from "../payload/manifest.js";
import type { Block } from "../payload/manifest-write.js";
import type { LevelMeta } from "../types.js";
import type { RowsEdit } from "./edit-rows.js";
import type { Tree } from "./edit-tree.js";

export interface ObjectsEdit {
  readonly rows: number;
  /** Row by row; another one after `add`. */
  readonly ids: BigInt64Array;
  /** −1: no such id. */
  rowOf(id: bigint): number;
  /** The manifests of these rows. */
  read(rows: readonly number[]): Promise<Manifests>;
  all(): Promise<Manifests>;
  set(row: number, blocks: readonly Block[]): Promise<void>;
  /** The manifests of all rows. */
  setAll(rows: readonly (readonly Block[])[]): void;
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
  const numbers = idNumbers(stored ?? BigInt64Array.from({ length: before }, (_, row) => BigInt(row)));
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
      return numbers.count;
    },
    get ids() {
      return numbers.ids();
    },
    rowOf: numbers.rowOf,
    read: async (rows) => parse(await Promise.all(rows.map(blob))),
    all: async () => parse((await manifests.read(0, numbers.count)).data as Uint8Array[]),
    async set(row, blocks) {
      const was = (await blob(row)).subarray(0, 4).some((byte) => byte !== 0);
      present += (blocks.length > 0 ? 1 : 0) - (was ? 1 : 0);
      manifests.set(row, Manifests.encodeRow(Manifests.promote(Manifests.of([blocks], rank)), 0));
    },
    setAll(rows) {
      present = rows.filter((blocks) => blocks.length > 0).length;
      const all = Manifests.promote(Manifests.of(rows, rank));
      for (const row of rows.keys()) manifests.set(row, Manifests.encodeRow(all, row));
    },
    add(id) {
      const { count } = numbers;
      if (table === undefined && (id < BigInt(count) || id - BigInt(count) > MOST_GAPS))
        throw new LimitExceeded(`${where} has a row for every id, and ${id} is far from the ${count} that there are`, {
          where,
        });
      if (id < -(2n ** 63n) || id >= 2n ** 63n) throw new InvalidInput(`the id ${id} does not fit signed 64 bits`);
      for (let next = table === undefined ? BigInt(count) : id; next <= id; next++) {
        const row = numbers.add(next);
        manifests.resize(row + 1);
        manifests.set(row, EMPTY);
        table?.resize(row + 1);
        table?.set(row, bytesOf(BigInt64Array.of(next)));
      }
      return numbers.count - 1;
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
        if (table.length === numbers.count) continue;
        table.resize(numbers.count);
        if (table.meta.attributes.shape !== undefined)
          table.describe({ ...table.meta.attributes, shape: [...table.meta.shape] });
      }
      const { object_ids_sorted: _, ...rest } = group.attributes;
      group.attributes = {
        zv_array: "object_index",
        ...rest,
        num_objects: numbers.count,
        num_present: present,
        sid_ndim: rank,
        layout,
        ...(numbers.ascend() && table !== undefined ? { object_ids_sorted: true } : {}),
      } as JsonObject;
    },
  };
  return edit;
}

/** Ids by row, and rows by id: by bisection where they ascend, as in nearly every store. */
function idNumbers(stored: BigInt64Array) {
  let ids = stored;
  let count = stored.length;
  let sorted = ascend(stored);
  let rows: Map<bigint, number> | undefined;
  const find = (id: bigint): number => {
    let [low, high] = [0, count - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (ids[middle] === id) return middle;
      if (ids[middle]! < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  };
  return {
    get count() {
      return count;
    },
    ids: (): BigInt64Array => ids.subarray(0, count),
    ascend: (): boolean => sorted,
    rowOf(id: bigint): number {
      if (sorted) return find(id);
      if (rows === undefined) {
        rows = new Map();
        for (let row = 0; row < count; row++) rows.set(ids[row]!, row);
      }
      return rows.get(id) ?? -1;
    },
    add(id: bigint): number {
      if (count === ids.length) {
        const larger = new BigInt64Array(2 * count + 8);
        larger.set(ids);
        ids = larger;
      }
      if (count > 0 && id <= ids[count - 1]!) sorted = false;
      ids[count] = id;
      rows?.set(id, count);
      return count++;
    },
  };
}

/** Compared by halves: a bigint for each of a hundred thousand would cost more than all the rest of an edit. */
function ascend(ids: BigInt64Array): boolean {
  const low = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  const high = new Int32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  for (let i = 2; i < low.length; i += 2) {
    const step = high[i + 1]! - high[i - 1]!;
    if (step < 0 || (step === 0 && low[i]! <= low[i - 2]!)) return false;
  }
  return true;
}

/** The largest of all, −1 where there is none. */
export function largestOf(ids: BigInt64Array): bigint {
  if (ids.length > 0 && ascend(ids)) return ids[ids.length - 1]!;
  let most = -1n;
  for (const id of ids) if (id > most) most = id;
  return most;
}

/** Whether one is below 0. */
export function anyNegative(ids: BigInt64Array): boolean {
  const high = new Int32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  for (let i = 1; i < high.length; i += 2) if (high[i]! < 0) return true;
  return false;
}
