/**
 * Any array to Zarr, any Zarr tree to another version or store, in bounded memory.
 *
 * Chunks are copied byte for byte where source and target agree on chunk shape, type and chain; else the array goes through
 * memory in blocks of whole target chunks, as large as the memory allows, so that few source chunks are decoded twice. Only
 * chunks inside the grid are looked at: stale ones stay behind.
 *
 * The metadata comes last: a target that is only half there cannot be opened, and a journal marks it until then. What fails leaves
 * its chunks, so that another run can go on with them (stage.ts).
 */
import { isFixed } from "../bytes/dtype.js";
import { type Json, stringifyJson } from "../bytes/json.js";
import { InvalidInput } from "../errors.js";
import { writeDocuments } from "../format/zarr/create.js";
import { loadCodec } from "../format/zarr/decode.js";
import { encodeNode } from "../format/zarr/encode.js";
import { chunkKey } from "../format/zarr/keys.js";
import { arrayNode, type ZarrArray } from "../format/zarr/node.js";
import { parts } from "../format/zarr/plan.js";
import { keyOf, type ReadRegionOptions } from "../format/zarr/read.js";
import { clear, JOURNAL, refuseOverlap } from "../format/zarr/room.js";
import type { ArrayMeta } from "../format/zarr/types.js";
import { writeRegion } from "../format/zarr/write.js";
import type { NdArray, Region } from "../model/array.js";
import { forEachConcurrent } from "../model/concurrent.js";
import type { ArrayDataset, ReadOptions } from "../model/dataset.js";
import type { PyramidLevel } from "../pyramid/index.js";
import { Key, type Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { Pool } from "../worker/pool.js";
import { refuseLosses, type Strictness } from "./losses.js";
import { sameLayout, swapFields, type Target, type TargetOptions, targetOf } from "./target.js";

export interface ConvertOptions extends ReadOptions, TargetOptions, Strictness {
  /** Bytes that may be held at once, roughly; 256 MiB unless told otherwise. One target chunk or shard must fit. */
  readonly maxMemory?: number | undefined;
  readonly pool?: Pool | undefined;
  readonly overwrite?: boolean | undefined;
}

/** What a conversion did, and what it could not keep. */
export interface ConvertReport {
  /** Byte for byte. */
  chunksCopied: number;
  chunksRecoded: number;
  /** Of geometry: what was written, on all levels but those that were built. */
  readonly vertices?: number;
  readonly objects?: number;
  /** Of a part: which one it is, and what it wrote. */
  readonly part?: { readonly index: number; readonly of: number; readonly keys: number; readonly bytes: number };
  /** Coarser levels that were built. */
  readonly levels?: readonly PyramidLevel[];
  /** Sentences about what the target does not keep, each beginning with where. */
  readonly losses: string[];
  /** Where that was asked for: what was damaged and left out, and why. */
  readonly skipped?: readonly string[];
  /** Sentences about what a person should know of the target. */
  readonly notes?: string[];
}

const COPIES = 16;
const MEMORY = 256 << 20;

/** How many chunks may be under way: a chunk is there encoded and decoded, and they have a quarter of the memory. */
function atOnce({ chunkShape, dtype }: ArrayDataset, { maxMemory = MEMORY }: ConvertOptions, most: number): number {
  const bytes = chunkShape.reduce((product, n) => product * n, isFixed(dtype) ? dtype.size : 64);
  return Math.max(1, Math.min(most, Math.floor(maxMemory / 8 / bytes)));
}

/** What an array becomes, and how. */
export interface ArrayPlan extends Target {
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** What is decoded at a time; undefined where chunks are copied as they are. */
  readonly block: readonly number[] | undefined;
}

/** Whatever cannot be is refused here, before anything is written. */
export async function planArray(source: ArrayDataset, options: ConvertOptions): Promise<ArrayPlan> {
  const target = targetOf(source, options);
  const { meta } = target;
  const documents = encodeNode(meta);
  await loadCodec(meta);
  const zarr = source as ArrayDataset & Partial<ZarrArray>;
  const copied = isZarr(zarr) && copies(zarr.meta, meta);
  return { ...target, documents, block: copied ? undefined : blockShape(source, meta, options.maxMemory ?? MEMORY) };
}

export async function convertArray(
  source: ArrayDataset,
  store: Store,
  at: Prefix,
  options: ConvertOptions = {},
): Promise<{ readonly array: ZarrArray; readonly report: ConvertReport }> {
  refuseOverlap(source, store, at);
  const { meta, losses, documents, block } = await planArray(source, options);
  refuseLosses(options, losses);
  const report: ConvertReport = {
    chunksCopied: 0,
    chunksRecoded: 0,
    losses: losses.map((loss) => `${source.url}: ${loss}`),
  };
  await clear(store, at, options);
  const { signal } = options;
  const journal = Key.join(at, JOURNAL);
  // A store that cannot replace a value (a zip file under way) could not take the journal away again.
  if (store.can.conditional) await store.set(journal, new Uint8Array(), { signal });
  const target = arrayNode(store, at, meta);
  if (block === undefined) await copyChunks(source as ZarrArray, target, report, options);
  else await recode(source, target, block, report, options);
  await writeDocuments(store, at, documents, options);
  if (store.can.conditional) await store.delete(journal, { signal });
  return { array: target, report };
}

const isZarr = (array: ArrayDataset & Partial<ZarrArray>): array is ZarrArray =>
  array.format === "zarr" && "meta" in array;

/** Whether a chunk of one is a chunk of the other. What surrounds the data, keys and fill, does not matter. */
function copies(from: ArrayMeta, to: ArrayMeta): boolean {
  const parts = ({ chunkShape, dtype, codecs }: ArrayMeta) =>
    stringifyJson([chunkShape, JSON.stringify(dtype), codecs as unknown as Json], { tokens: true });
  return parts(from) === parts(to) && from.storageTransformers.length === 0;
}

/** The chunks that are there; all that could be where the store cannot list. */
async function* chunksOf(source: ZarrArray, options: ConvertOptions): AsyncGenerator<readonly number[]> {
  const stored = source.stored(options);
  if (stored !== undefined) {
    for await (const { index } of stored) yield index;
  } else {
    const whole = source.shape.map((length) => ({ start: 0, step: 1, count: length }));
    for (const { chunk } of parts(whole, source.chunkShape)) yield chunk;
  }
}

async function copyChunks(
  source: ZarrArray,
  target: ZarrArray,
  report: ConvertReport,
  options: ConvertOptions,
): Promise<void> {
  const { signal } = options;
  const total = source.shape.reduce((n, length, axis) => n * Math.ceil(length / source.chunkShape[axis]!), 1);
  const copy = async (chunk: readonly number[]): Promise<void> => {
    signal?.throwIfAborted();
    const to = Key.join(target.at, chunkKey(target.meta.keys, chunk));
    const bytes =
      target.store.wants?.(to) === false ? undefined : await source.store.get(keyOf(source, chunk), { signal });
    if (bytes === undefined) return;
    await target.store.set(to, bytes, { signal });
    report.chunksCopied++;
    options.onProgress?.({ done: report.chunksCopied, total, unit: "chunks" });
  };
  const copies = atOnce(source, options, COPIES);
  let batch: (readonly number[])[] = [];
  for await (const chunk of chunksOf(source, options)) {
    batch.push(chunk);
    if (batch.length < COPIES * 16) continue;
    await forEachConcurrent(batch, copies, copy);
    batch = [];
  }
  await forEachConcurrent(batch, copies, copy);
}

async function recode(
  source: ArrayDataset,
  target: ZarrArray,
  block: readonly number[],
  report: ConvertReport,
  options: ConvertOptions,
): Promise<void> {
  const { meta } = target;
  const total = target.shape.reduce((n, length, axis) => n * Math.ceil(length / meta.chunkShape[axis]!), 1);
  for await (const box of boxesOf(source, meta.chunkShape, block, options)) {
    options.signal?.throwIfAborted();
    const region: Region = box.map(({ start, stop }, axis) => ({ start, stop: Math.min(stop, source.shape[axis]!) }));
    const inBlock = [...parts(rangesOf(region), meta.chunkShape)].filter(
      ({ chunk }) => target.store.wants?.(keyOf(target, chunk)) !== false,
    );
    if (inBlock.length === 0) continue;
    const { signal, limits, pool } = options;
    const reading: ReadRegionOptions = { signal, limits, pool, concurrency: atOnce(source, options, 32) };
    const values = retyped(await source.read(region, reading), meta);
    await writeRegion(target, region, values, {
      signal,
      limits,
      pool,
      concurrency: atOnce(target, options, 32),
      fresh: true,
      writeEmptyChunks: meta.fillIsNull, // what is absent there is anything, for some readers
    });
    report.chunksRecoded += inBlock.length;
    options.onProgress?.({ done: report.chunksRecoded, total, unit: "chunks" });
  }
}

interface Span {
  readonly start: number;
  readonly stop: number;
}

/**
 * For every block that holds something of the source, the target chunks around all of that; every block where the store
 * cannot tell. The rest is fill.
 */
async function* boxesOf(
  source: ArrayDataset,
  chunkShape: readonly number[],
  block: readonly number[],
  options: ConvertOptions,
): AsyncGenerator<readonly Span[]> {
  const stored = source.stored?.(options);
  if (stored === undefined) {
    const whole = source.shape.map((length) => ({ start: 0, step: 1, count: length }));
    for (const { chunk } of parts(whole, block)) {
      yield chunk.map((at, axis) => ({ start: at * block[axis]!, stop: (at + 1) * block[axis]! }));
    }
    return;
  }
  const boxes = new Map<string, readonly Span[]>();
  for await (const { index } of stored) {
    const inside = index.map((at, axis) => {
      const start = at * source.chunkShape[axis]!;
      return { start, step: 1, count: Math.min(source.chunkShape[axis]!, source.shape[axis]! - start) };
    });
    for (const { chunk, source: part } of parts(inside, block)) {
      const known = boxes.get(String(chunk));
      const box = part.map(({ start: from, count }, axis): Span => {
        const length = chunkShape[axis]!;
        const first = chunk[axis]! * block[axis]! + from;
        const start = Math.floor(first / length) * length;
        const stop = Math.ceil((first + count) / length) * length;
        const before = known?.[axis] ?? { start, stop };
        return { start: Math.min(start, before.start), stop: Math.max(stop, before.stop) };
      });
      boxes.set(String(chunk), box);
    }
  }
  yield* boxes.values();
}

const rangesOf = (region: Region) =>
  (region as readonly { start: number; stop: number }[]).map(({ start, stop }) => ({
    start,
    step: 1,
    count: stop - start,
  }));

export function retyped(values: NdArray, meta: ArrayMeta): NdArray {
  if (sameLayout(values.dtype, meta.dtype)) return values;
  const data = values.dtype.kind === "struct" ? swapFields(values.data as Uint8Array, values.dtype) : values.data;
  return { ...values, dtype: meta.dtype, data };
}

/**
 * Whole target chunks: along each axis enough of them to hold a source chunk, then as many as there are, so that there is
 * work for all workers; both last axis first, while a block takes no more than a quarter of the memory: the block is there
 * twice, and chunks are under way on both sides.
 */
export function blockShape(
  source: Pick<ArrayDataset, "shape" | "chunkShape">,
  meta: Pick<ArrayMeta, "dtype" | "chunkShape">,
  maxMemory: number,
): number[] {
  const size = isFixed(meta.dtype) ? meta.dtype.size : 64;
  const block = [...meta.chunkShape];
  const bytes = () => block.reduce((product, n) => product * n, size);
  if (bytes() > maxMemory) {
    throw new InvalidInput(
      `one chunk of [${meta.chunkShape}] takes ${bytes()} bytes, but only ${maxMemory} may be used`,
    );
  }
  const grow = (axis: number, length: number): void => {
    const own = meta.chunkShape[axis]!;
    const wanted = Math.ceil(Math.min(length, source.shape[axis]!) / own);
    const fits = Math.floor(maxMemory / 4 / ((bytes() / block[axis]!) * own));
    block[axis] = own * Math.max(1, Math.min(wanted, fits));
  };
  const axes = block.map((_, axis) => axis).reverse();
  for (const axis of axes) grow(axis, source.chunkShape[axis]!);
  for (const axis of axes) grow(axis, Number.POSITIVE_INFINITY);
  return block;
}
