/**
 * A table under edit: manifests, groups, object ids, attributes of objects and groups. Rows are changed in memory and written by
 * `flush`, only the chunks that they lie in. A table that grows beyond its one small chunk gets a larger one, so that the
 * objects that come one by one do not become a key each.
 */
import { isFixed } from "../../../bytes/dtype.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { Element, VlenValue } from "../../../codec/types.js";
import type { NdArray } from "../../../model/array.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { elementCount } from "../../../space/shape.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { encodeNode } from "../../zarr/encode.js";
import { chunkKey } from "../../zarr/keys.js";
import { arrayNode } from "../../zarr/node.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { writeRegion } from "../../zarr/write.js";

export interface RowsEdit {
  readonly meta: ArrayMeta;
  readonly length: number;
  /** The rows as they are now; new ones that were not set are fill. */
  read(from: number, to: number): Promise<NdArray>;
  /** Bytes of a row of values of fixed size, or the value of a blob. */
  set(row: number, value: Element): void;
  /** Other rows at the end, or fewer. */
  resize(length: number): void;
  /** Elements of more bytes, of which those that are new are zeros: longer texts. */
  widen(size: number): void;
  describe(attributes: JsonObject): void;
  flush(): Promise<void>;
}

const LARGE = 16384; // rows of a chunk from which on a table just gets more of them

export function editRows(store: Store, at: Prefix, first: ArrayMeta, isNew: boolean, options: ReadOptions): RowsEdit {
  const { signal } = options;
  const before = first; // what is in the store
  let meta = first;
  let stale = isNew;
  const changes = new Map<number, Element>();
  const perRow = elementCount(first.shape.slice(1));
  const sizeOf = ({ dtype }: ArrayMeta): number => (isFixed(dtype) ? dtype.size : 0);

  /** Elements of the size that they have now. */
  function widened(bytes: Uint8Array, from: number): Uint8Array {
    const size = sizeOf(meta);
    if (size === from) return bytes;
    const out = new Uint8Array((bytes.length / from) * size);
    for (let i = 0; i * from < bytes.length; i++) out.set(bytes.subarray(i * from, (i + 1) * from), i * size);
    return out;
  }

  /** Rows with the changes in them. */
  async function read(from: number, to: number): Promise<NdArray> {
    const there = Math.min(to, isNew ? 0 : before.shape[0]!);
    const node = arrayNode(store, at, before);
    const old = there > from ? (await node.read([{ start: from, stop: there }], options)).data : undefined;
    const shape = [to - from, ...meta.shape.slice(1)];
    const rowBytes = perRow * sizeOf(meta);
    if (rowBytes > 0) {
      const data = new Uint8Array((to - from) * rowBytes);
      const fill = meta.fill as Uint8Array;
      for (let at = 0; at < data.length; at += fill.length) data.set(fill, at);
      if (old !== undefined) data.set(widened(old as Uint8Array, sizeOf(before)));
      for (const [row, value] of changes)
        if (row >= from && row < to) data.set(value as Uint8Array, (row - from) * rowBytes);
      return { shape, dtype: meta.dtype, data };
    }
    const data = Array.from(
      { length: to - from },
      (_, i): VlenValue => (old as VlenValue[])?.[i] ?? (meta.fill as VlenValue),
    );
    for (const [row, value] of changes) if (row >= from && row < to) data[row - from] = value;
    return { shape, dtype: meta.dtype, data };
  }

  const edit: RowsEdit = {
    get meta() {
      return meta;
    },
    get length() {
      return meta.shape[0]!;
    },
    read,
    set: (row, value) => void changes.set(row, value),
    resize(length) {
      if (length === meta.shape[0]) return;
      for (const row of changes.keys()) if (row >= length) changes.delete(row);
      meta = { ...meta, shape: [length, ...meta.shape.slice(1)] };
      stale = true;
    },
    widen(size) {
      const from = sizeOf(meta);
      meta = { ...meta, dtype: { ...meta.dtype, size } as ArrayMeta["dtype"], fill: new Uint8Array(size) };
      for (const [row, value] of changes) changes.set(row, widened(value as Uint8Array, from));
      stale = true;
    },
    describe(attributes) {
      meta = { ...meta, attributes };
      stale = true;
    },
    async flush() {
      const [length, old] = [meta.shape[0]!, before.shape[0]!];
      const [chunk, ...rest] = meta.chunkShape;
      const plain = meta.codecs[0]?.name !== "sharding_indexed";
      const wider = sizeOf(meta) !== sizeOf(before);
      const again = !isNew && (wider || length < old || (plain && chunk! < LARGE && length > Math.max(chunk!, old)));
      if (again || isNew) {
        const all = await read(0, length);
        const larger = Math.min(LARGE, 2 ** Math.ceil(Math.log2(Math.max(1, length))));
        if (!isNew)
          for (let i = 0; i * chunk! < old; i++)
            await store.delete(Key.join(at, chunkKey(meta.keys, [i, ...rest.map(() => 0)])), { signal });
        if (plain && length > chunk!) meta = { ...meta, chunkShape: [larger, ...rest] };
        if (length > 0) await writeRegion(arrayNode(store, at, meta), undefined, all, { fresh: true, signal });
      } else {
        for (const [from, to] of runsOf([...changes.keys()]))
          await writeRegion(arrayNode(store, at, meta), [{ start: from, stop: to }], await read(from, to), { signal });
      }
      changes.clear();
      if (stale) await store.set(Key.join(at, "zarr.json"), encodeNode(meta).get("zarr.json")!, { signal });
      stale = false;
    },
  };
  return edit;
}

/** Rows as ranges of rows that follow each other. */
function runsOf(rows: number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const row of rows.sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === row) last[1]++;
    else runs.push([row, row + 1]);
  }
  return runs;
}
