/**
 * A region of an array, written chunk by chunk.
 *
 * A chunk that the region covers is written without reading; any other is read, changed and written back, a shard inner
 * chunk by inner chunk: those that the region leaves alone are copied as they lie. A chunk at the edge that is covered only
 * as far as the array reaches is written without reading if it is new: if it is there, it may hold what somebody has just
 * appended to an array that this writer still knows as shorter.
 *
 * Nobody's change is lost: writers in this process take turns per chunk; others are noticed by conditional writes, where
 * the store has them, and the change is made again on top of theirs. A chunk that becomes nothing but fill is deleted when
 * it was covered, and stored as fill when it was changed, since a conditional delete does not exist.
 */
import { isFixed } from "../../bytes/dtype.js";
import { isFill } from "../../codec/sharding.js";
import { copyStrided, type Layout } from "../../codec/strided.js";
import type { ChunkData } from "../../codec/types.js";
import { Conflict, InvalidInput, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { NdArray, Region } from "../../model/array.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { ReadOptions } from "../../model/dataset.js";
import { select } from "../../model/region.js";
import { elementCount, strides } from "../../space/shape.js";
import type { Key } from "../../store/key.js";
import type { Condition, Store } from "../../store/types.js";
import type { Pool } from "../../worker/pool.js";
import { type Coder, coderFor } from "./coder.js";
import { type ChunkCodec, chunkCodec } from "./decode.js";
import type { ZarrArray } from "./node.js";
import { countParts, coversChunk, type Part, parts, sourceLayout, targetLayout } from "./plan.js";
import { concurrency, filled, inChunk, keyOf } from "./read.js";
import type { ArrayMeta } from "./types.js";

/** How to write a region. */
export interface WriteOptions extends ReadOptions {
  /** Chunks under way at once; by default as many as make 64 MiB, at least 2 and at most 32. */
  readonly concurrency?: number | undefined;
  /**
   * Store chunks that are nothing but fill. Off, since absent chunks read the same; on in v0, which always did, and where
   * the fill value is null, since other readers then give whatever was in memory.
   */
  readonly writeEmptyChunks?: boolean | undefined;
  /** The caller vouches that no chunk of the region is there yet: nothing is read, compared or deleted. */
  readonly fresh?: boolean | undefined;
  /** Workers to encode in; without one, or with one of size 0, this thread does it. */
  readonly pool?: Pool | undefined;
}

const TRIES = 50;
/** Inner chunks of one shard that are encoded at once, where there are workers for them. */
const ENCODES = 8;

/** Writes `values` to a region; an array without axes goes to every element of it. */
export async function writeRegion(
  array: ZarrArray,
  region: Region | undefined,
  values: NdArray,
  options: WriteOptions = {},
): Promise<void> {
  const { meta } = array;
  if (meta.version === 1) throw new Unsupported("Zarr v1 is read only; convert the array to v3", { where: array.url });
  const { axes, shape } = select(region, meta.shape);
  const counts = axes.map((axis) => axis.count);
  const spread = values.shape.length === 0;
  checkValues(values, shape, meta, array.url);
  const from: Values = { data: values.data, strides: spread ? counts.map(() => 0) : strides(counts) };

  const codec = await chunkCodec(meta, array.url);
  const limits = withLimits(options.limits);
  const keepEmpty = options.writeEmptyChunks ?? (meta.version === 0 || meta.fillIsNull);
  const change: Change = { meta, values: from, keepEmpty, limits, coder: coderFor(meta, limits, options) };
  const total = countParts(axes, meta.chunkShape);
  let done = 0;
  await forEachConcurrent(parts(axes, meta.chunkShape), concurrency(array, options), async (part) => {
    options.signal?.throwIfAborted();
    await writeChunk(array, codec, part, change, options);
    options.onProgress?.({ done: ++done, total, unit: "chunks" });
  });
}

/** What is written, and how its elements lie. */
interface Values {
  readonly data: ChunkData;
  readonly strides: readonly number[];
}

export function checkValues(
  values: NdArray,
  shape: readonly number[],
  meta: Pick<ArrayMeta, "dtype">,
  where: string,
): void {
  if (values.shape.length > 0 && `${values.shape}` !== `${shape}`) {
    throw new InvalidInput(`the values have shape [${values.shape}], but the region of ${where} has [${shape}]`, {
      where,
    });
  }
  if (!sameType(values.dtype, meta.dtype)) {
    throw new InvalidInput(
      `the values are ${describe(values.dtype)}, but the elements of ${where} are ${describe(meta.dtype)}`,
      { where },
    );
  }
}

/** Whether elements are the same in memory; how they lie on disk does not matter, except inside a struct. */
function sameType(a: NdArray["dtype"], b: NdArray["dtype"]): boolean {
  if (a.kind === "struct" || b.kind === "struct") return JSON.stringify(a) === JSON.stringify(b);
  const bare = (dtype: NdArray["dtype"]) => JSON.stringify({ ...dtype, endian: undefined });
  return bare(a) === bare(b);
}

const describe = (dtype: NdArray["dtype"]): string =>
  isFixed(dtype) ? `${dtype.kind} of ${dtype.size} bytes` : dtype.kind;

async function writeChunk(
  array: ZarrArray,
  codec: ChunkCodec,
  part: Part,
  change: Change,
  options: WriteOptions,
): Promise<void> {
  const { store, meta } = array;
  const key = keyOf(array, part.chunk);
  if (store.wants?.(key) === false) return;
  const signal = options.signal;
  const fresh = options.fresh === true;
  const covered = fresh || coversChunk(part, meta.chunkShape);
  const extent = meta.chunkShape.map((length, i) => Math.min(length, meta.shape[i]! - part.chunk[i]! * length));
  let isNew = coversChunk(part, extent); // to the edge: hoped for until the store says otherwise
  const make = (old: Uint8Array | undefined) => inChunk(`${store.url}/${key}`, () => changed(codec, old, part, change));
  const attempt = async (): Promise<void> => {
    if (covered || (isNew && !store.can.conditional)) {
      const bytes = await make(undefined);
      if (bytes !== undefined) return store.set(key, bytes, { signal });
      return fresh ? undefined : store.delete(key, { signal });
    }
    if (isNew) {
      isNew = false;
      const bytes = await make(undefined);
      if (bytes !== undefined) return store.set(key, bytes, { signal, if: { absent: true } });
    }
    const condition = await asItIs(store, key, signal);
    const old = await store.get(key, { signal });
    const bytes = await make(old);
    if (bytes !== undefined) return store.set(key, bytes, { signal, if: condition });
    if (old === undefined) return;
    const empty = codec.encode(filled(meta, elementCount(meta.chunkShape)), { keepEmpty: true });
    return store.set(key, empty, { signal, if: condition });
  };
  await inTurn(store, key, () => untilNoConflict(store, attempt));
}

interface Change {
  readonly meta: ArrayMeta;
  readonly values: Values;
  readonly keepEmpty: boolean;
  readonly limits: Limits;
  readonly coder: Coder;
}

/** The bytes of a chunk after the change, undefined if it holds nothing but fill. `old` are its bytes before. */
async function changed(
  codec: ChunkCodec,
  old: Uint8Array | undefined,
  part: Part,
  change: Change,
): Promise<Uint8Array | undefined> {
  const { shape } = codec.spec;
  if (codec.shard !== undefined) return changedShard(codec, old, part, change);
  const { meta, values, coder } = change;
  const data =
    old !== undefined
      ? codec.decode(old, change.limits)
      : isFixed(meta.dtype) && coversChunk(part, shape)
        ? coder.room(codec)
        : filled(meta, elementCount(shape));
  const into: Layout = sourceLayout(part.source, strides(shape));
  copyStrided(
    data,
    into,
    values.data,
    targetLayout(part.to, values.strides),
    part.source.map((axis) => axis.count),
    meta.dtype,
  );
  return change.keepEmpty || !isFill(data, meta.fill) ? coder.encode(codec, data) : undefined;
}

async function changedShard(
  codec: ChunkCodec,
  old: Uint8Array | undefined,
  part: Part,
  change: Change,
): Promise<Uint8Array | undefined> {
  const { inner, grid, index } = codec.shard!;
  const innerShape = inner.spec.shape;
  const place = strides(grid);
  const entries = index.split(old, change.limits);
  await forEachConcurrent(parts(part.source, innerShape), ENCODES, async (piece) => {
    const own: Part = { ...piece, to: piece.to.map((at, axis) => at + part.to[axis]!) };
    const at = piece.chunk.reduce((sum, n, axis) => sum + n * place[axis]!, 0);
    const before = coversChunk(piece, innerShape) ? undefined : entries[at];
    entries[at] = await changed(inner, before, own, change);
  });
  return entries.every((entry) => entry === undefined) ? undefined : index.join(entries);
}

const turns = new WeakMap<Store, Map<Key, Promise<unknown>>>();

/** Work on one key of one store, after all that was asked for before. */
export async function inTurn<T>(store: Store, key: Key, work: () => Promise<T>): Promise<T> {
  const keys = turns.get(store) ?? new Map<Key, Promise<unknown>>();
  turns.set(store, keys);
  const mine = (keys.get(key) ?? Promise.resolve()).catch(() => {}).then(work);
  keys.set(key, mine);
  try {
    return await mine;
  } finally {
    if (keys.get(key) === mine) keys.delete(key);
  }
}

/** Tries again on Conflict, for as long as that can help: longer waits each time, never the same for two writers. */
export async function untilNoConflict<T>(store: Store, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Conflict) || !store.can.conditional || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 2 ** tries)));
    }
  }
}

/** What a value must still be when it is replaced; undefined where the store cannot tell. */
export async function asItIs(store: Store, key: Key, signal: AbortSignal | undefined): Promise<Condition | undefined> {
  if (!store.can.conditional) return undefined;
  const version = (await store.stat(key, { signal }))?.version;
  return version === undefined ? { absent: true } : { version };
}
