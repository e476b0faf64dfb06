/**
 * A per-chunk array under edit: payloads are read when asked for, changed in memory, and written by `flush`. Chunks go by their
 * names, "0.-1.12". Cells that share a key (a shard, or a chunk of several cells) are put in together, what is not changed as it
 * lies. The document is written only where the directory, the grid or the attributes have become others: so an edit of cells
 * that are there touches nothing but these cells.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { VlenValue } from "../../../codec/types.js";
import { Unsupported } from "../../../errors.js";
import { type Limits, withLimits } from "../../../limits.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { elementCount, strides } from "../../../space/shape.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { chunkCodec } from "../../zarr/decode.js";
import { encodeNode } from "../../zarr/encode.js";
import { chunkKey } from "../../zarr/keys.js";
import type { ArrayMeta } from "../../zarr/types.js";
import { compare, Directory } from "../nodes/nodes-directory.js";
import type { Cells } from "../types.js";

/** Where the cells of a level lie: chunk coordinates from `origin` on, `shape` of them along each axis. */
export interface CellGrid {
  readonly origin: readonly number[];
  readonly shape: readonly number[];
}

export interface CellsEdit {
  readonly attributes: JsonObject;
  readonly meta: ArrayMeta;
  readonly grid: CellGrid;
  /** The chunks that have a payload now. */
  chunks(): Promise<ReadonlySet<string>>;
  get(chunk: string): Promise<Uint8Array | undefined>;
  /** An empty payload is none. */
  set(chunk: string, payload: Uint8Array): void;
  /** Other attributes; directory and origin are kept. */
  describe(attributes: JsonObject): void;
  /** Another grid, or shards of another shape (undefined: none); holds the array in memory. */
  regrid(grid: CellGrid, shard: readonly number[] | undefined): Promise<void>;
  /** Another grid with nothing in it. */
  clear(grid: CellGrid): Promise<void>;
  /** Writes it, after which it is not read again. */
  flush(): Promise<void>;
}

const AT_ONCE = 8;

export const parseChunk = (chunk: string): number[] => chunk.split(".").map(Number);

/** Chunks in the order of their coordinates. */
export function byPlace(a: string, b: string): number {
  const [x, y] = [parseChunk(a), parseChunk(b)];
  return compare(x, 0, y, 0, x.length);
}

export const gridOf = ({ shape, attributes }: ArrayMeta): CellGrid => ({
  shape,
  origin: (attributes.chunk_grid_origin as readonly number[] | undefined) ?? shape.map(() => 0),
});

/** `cells` reads what is there; a new array has none. */
export function editCells(
  store: Store,
  at: Prefix,
  first: ArrayMeta,
  cells: Cells | undefined,
  options: ReadOptions,
): CellsEdit {
  let meta = first;
  let stale = cells === undefined;
  const rank = meta.shape.length;
  const limits = withLimits(options.limits);
  const changes = new Map<string, Uint8Array>();
  let present: Promise<Set<string>> | undefined;

  async function read(): Promise<Set<string>> {
    if (cells === undefined) return new Set();
    const { count, coords } = await cells.directory(options);
    return new Set(Array.from({ length: count }, (_, i) => Directory.key(coords, i * rank, rank)));
  }
  /** Those that are in the store. */
  const stored = (): Promise<Set<string>> => {
    present ??= read();
    return present;
  };
  async function chunks(): Promise<Set<string>> {
    const named = new Set(await stored());
    for (const [chunk, payload] of changes) {
      if (payload.length > 0) named.add(chunk);
      else named.delete(chunk);
    }
    return named;
  }
  async function get(chunk: string): Promise<Uint8Array | undefined> {
    const changed = changes.get(chunk);
    if (changed !== undefined) return changed.length === 0 ? undefined : changed;
    if (!(await stored()).has(chunk)) return undefined;
    return (await cells!.read(Int32Array.from(parseChunk(chunk)), options))[0];
  }

  /** The array with another grid and other shards. */
  function laidOut({ origin, shape }: CellGrid, shard: readonly number[] | undefined): ArrayMeta {
    const { chunk_grid_origin: _, ...attributes } = meta.attributes;
    const moved = origin.some((n) => n !== 0) ? { ...attributes, chunk_grid_origin: origin } : attributes;
    return sharded({ ...meta, shape, attributes: moved }, shard);
  }
  async function removeStored(): Promise<void> {
    const keys = new Set([...(await stored())].map((chunk) => placeOf(meta, parseChunk(chunk)).key));
    for (const key of keys) await store.delete(Key.join(at, key), { signal: options.signal });
  }

  const edit: CellsEdit = {
    get attributes() {
      return meta.attributes;
    },
    get meta() {
      return meta;
    },
    get grid() {
      return gridOf(meta);
    },
    chunks,
    get,
    set: (chunk, payload) => void changes.set(chunk, payload),
    describe(attributes) {
      meta = { ...meta, attributes };
      stale = true;
    },
    async regrid(grid, shard) {
      const moved = grid.origin.some((first, axis) => first !== gridOf(meta).origin[axis]);
      const next = laidOut(grid, shard);
      stale = true;
      if (moved || `${next.chunkShape}` !== `${meta.chunkShape}`) {
        for (const chunk of await stored()) if (!changes.has(chunk)) changes.set(chunk, (await get(chunk))!);
        await removeStored();
      }
      meta = next;
    },
    async clear(grid) {
      stale = true;
      await removeStored();
      changes.clear();
      present = Promise.resolve(new Set());
      meta = laidOut(grid, shardOf(meta));
    },
    async flush() {
      const [before, named] = await Promise.all([stored(), chunks()]);
      if (named.size !== before.size || [...named].some((chunk) => !before.has(chunk))) stale = true;
      await putCells(store, at, meta, changes, limits, options.signal);
      changes.clear();
      present = Promise.resolve(named);
      if (!stale) return;
      stale = false;
      meta = { ...meta, attributes: { ...meta.attributes, nonempty_chunks: [...named].sort() } };
      await store.set(Key.join(at, "zarr.json"), encodeNode(meta).get("zarr.json")!, { signal: options.signal });
    },
  };
  return edit;
}

/** The cells of a shard along each axis; undefined: there are none. */
export const shardOf = ({ codecs, chunkShape }: ArrayMeta): readonly number[] | undefined =>
  codecs[0]?.name === "sharding_indexed" ? chunkShape : undefined;

/** The key that a chunk lies in, and its number there. */
function placeOf(meta: ArrayMeta, coords: readonly number[]): { readonly key: string; readonly inner: number } {
  const { origin } = gridOf(meta);
  const step = strides(meta.chunkShape);
  let inner = 0;
  const outer = coords.map((coord, axis) => {
    const cell = coord - origin[axis]!;
    inner += (cell % meta.chunkShape[axis]!) * step[axis]!;
    return Math.floor(cell / meta.chunkShape[axis]!);
  });
  return { key: chunkKey(meta.keys, outer), inner };
}

async function putCells(
  store: Store,
  at: Prefix,
  meta: ArrayMeta,
  changes: ReadonlyMap<string, Uint8Array>,
  limits: Limits,
  signal: AbortSignal | undefined,
): Promise<void> {
  const codec = await chunkCodec(meta, `${store.url}/${at}`);
  const { shard } = codec;
  if (shard !== undefined && elementCount(shard.inner.spec.shape) !== 1)
    throw new Unsupported(`${store.url}/${at} keeps several cells together within a shard, which Octavo does not edit`);
  const keys = new Map<string, Map<number, Uint8Array>>();
  for (const [chunk, payload] of changes) {
    const { key, inner } = placeOf(meta, parseChunk(chunk));
    const cells = keys.get(key) ?? new Map<number, Uint8Array>();
    keys.set(key, cells.set(inner, payload));
  }
  const size = elementCount(meta.chunkShape);
  await forEachConcurrent(keys, AT_ONCE, async ([name, cells]) => {
    const key = Key.join(at, name);
    const old = cells.size === size ? undefined : await store.get(key, { signal });
    let bytes: Uint8Array | undefined;
    if (shard !== undefined) {
      const entries = shard.index.split(old, limits);
      for (const [inner, payload] of cells)
        entries[inner] = payload.length > 0 ? shard.inner.encode([payload]) : undefined;
      if (entries.some((entry) => entry !== undefined)) bytes = shard.index.join(entries);
    } else {
      const none = new Uint8Array();
      const values =
        old === undefined ? new Array<VlenValue>(size).fill(none) : (codec.decode(old, limits) as VlenValue[]);
      for (const [inner, payload] of cells) values[inner] = payload;
      if (values.some(({ length }) => length > 0)) bytes = codec.encode(values);
    }
    await (bytes === undefined ? store.delete(key, { signal }) : store.set(key, bytes, { signal }));
  });
}

/** The same array with shards of this shape, or without. */
function sharded(meta: ArrayMeta, shard: readonly number[] | undefined): ArrayMeta {
  const [outer] = meta.codecs;
  const inside = outer?.name === "sharding_indexed";
  const codecs = inside ? (outer.configuration.codecs as unknown as ArrayMeta["codecs"]) : meta.codecs;
  const single = meta.shape.map(() => 1);
  if (shard === undefined) return { ...meta, chunkShape: single, codecs };
  const configuration = {
    chunk_shape: single,
    codecs: codecs.map(({ name, configuration }) => ({ name, configuration })),
    index_codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "crc32c", configuration: {} },
    ],
    index_location: "end",
  };
  return { ...meta, chunkShape: shard, codecs: [{ name: "sharding_indexed", configuration }] };
}
