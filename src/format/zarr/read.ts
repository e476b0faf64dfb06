/**
 * A region of an array, chunk by chunk, straight into the result: get, decode, copy; a few chunks at a time.
 *
 * A chunk that is absent is made of the fill value; where many are, the store's list tells which to ask for. Only keys inside the grid are ever asked for, so stale chunks, locks
 * and partial files have no way in.
 */
import { isFixed, memorySize } from "../../bytes/dtype.js";
import { withMissingCode } from "../../codec/on-demand.js";
import { fillStrided } from "../../codec/strided.js";
import type { ChunkData } from "../../codec/types.js";
import { InvalidInput, LimitExceeded, OctavoError } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { NdArray, Region } from "../../model/array.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { ReadArrayOptions, ReadPlan } from "../../model/dataset.js";
import { type Axis, select } from "../../model/region.js";
import { elementCount, strides } from "../../space/shape.js";
import { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { coderFor } from "./coder.js";
import { type ChunkCodec, chunkCodec } from "./decode.js";
import { chunkKey } from "./keys.js";
import type { ZarrArray } from "./node.js";
import { countParts, type Part, parts, sourceLayout, targetLayout } from "./plan.js";
import { readShard, storeSource, type Target } from "./shard.js";
import { storedPlaces } from "./stored.js";
import type { ArrayMeta } from "./types.js";

/** How to read a region. */
export interface ReadRegionOptions extends ReadArrayOptions {
  /** Chunks under way at once; by default as many as decode to 64 MiB, at least 2 and at most 32. */
  readonly concurrency?: number | undefined;
}

const IN_FLIGHT = 64 << 20;
/** So many absent chunks are asked for one by one; then the store is asked once which ones are there. */
const ABSENT = 256;

export async function readRegion(array: ZarrArray, region?: Region, options: ReadRegionOptions = {}): Promise<NdArray> {
  const { meta } = array;
  const limits = withLimits(options.limits);
  const { axes, shape } = select(region, meta.shape);
  const result = (data: ChunkData): NdArray => ({ shape, dtype: meta.dtype, data });
  checkResult(meta, axes, limits, array.url);
  if (shape.includes(0)) return result(filled(meta, 0));

  const codec = await chunkCodec(meta, array.url, { decodeOnly: true });
  const data = options.into === undefined ? blank(meta, elementCount(shape)) : checkInto(options.into, meta, shape);
  const fillMatters = options.into !== undefined || !isBlank(meta);
  const resultStrides = strides(axes.map((axis) => axis.count));
  let absent = 0;
  const target: Target = {
    coder: coderFor(meta, limits, options, data),
    move: (part, chunkShape) => ({
      from: sourceLayout(part.source, strides(chunkShape)),
      to: targetLayout(part.to, resultStrides),
      counts: part.source.map((axis) => axis.count),
    }),
    fill(part) {
      absent++;
      if (!fillMatters) return;
      const counts = part.source.map((axis) => axis.count);
      fillStrided(data, targetLayout(part.to, resultStrides), meta.fill, counts, meta.dtype);
    },
  };

  const total = countParts(axes, meta.chunkShape);
  let done = 0;
  let listing: Promise<void> | undefined;
  let there: ReadonlySet<string> | undefined;
  const wanted = function* (): Generator<Part> {
    for (const part of parts(axes, meta.chunkShape)) {
      if (there === undefined || there.has(String(part.chunk))) yield part;
      else {
        target.fill(part);
        done++;
      }
    }
  };
  await forEachConcurrent(wanted(), concurrency(array, options), async (part) => {
    options.signal?.throwIfAborted();
    const key = keyOf(array, part.chunk);
    await inChunk(`${array.store.url}/${key}`, () =>
      codec.shard === undefined
        ? readChunk(array.store, key, codec, part, target, mostOf(codec, limits), options)
        : readShard(codec, storeSource(array.store, key, options.signal), part, target, limits),
    );
    options.onProgress?.({ done: ++done, total, unit: "chunks" });
    if (absent < ABSENT) return;
    listing ??= storedPlaces(array, total, options).then((places) => {
      there = places;
    });
    await listing;
  });
  return result(data);
}

async function readChunk(
  store: Store,
  key: Key,
  codec: ChunkCodec,
  part: Part,
  { coder, move, fill }: Target,
  most: number,
  { signal }: ReadRegionOptions,
): Promise<void> {
  const own = move(part, codec.spec.shape);
  if (await coder.decodeFile(codec, store, key, own)) return;
  const bytes = await store.get(key, { signal, most });
  if (bytes === undefined) fill(part);
  else await coder.decode(codec, bytes, own);
}

/** No encoding doubles a chunk of fixed size: what is longer is not read into memory to find that out. */
const mostOf = ({ bytes, spec }: ChunkCodec, { chunkBytes }: Limits): number =>
  isFixed(spec.dtype) ? 2 * bytes + (64 << 10) : chunkBytes;

export const keyOf = (array: ZarrArray, chunk: readonly number[]): Key =>
  Key.join(array.at, chunkKey(array.meta.keys, chunk));

/** What a read costs. Shards whose parts are wanted are counted as their index and each inner chunk by itself. */
export async function planRegion(array: ZarrArray, region?: Region): Promise<ReadPlan> {
  const { meta } = array;
  const { axes } = select(region, meta.shape);
  const chunks = countParts(axes, meta.chunkShape);
  const inner = (await chunkCodec(meta, array.url, { decodeOnly: true })).shard?.inner.spec.shape;
  const pieces = inner === undefined ? chunks : countParts(axes, inner);
  const whole = inner === undefined || pieces === chunks * (elementCount(meta.chunkShape) / elementCount(inner));
  const elements = pieces * elementCount(inner ?? meta.chunkShape);
  return {
    requests: whole ? chunks : chunks + pieces,
    bytes: elements * memorySize(meta.dtype),
    exact: false,
  };
}

export function checkResult(
  meta: Pick<ArrayMeta, "dtype">,
  axes: readonly Axis[],
  limits: Limits,
  where: string,
): void {
  const size = memorySize(meta.dtype);
  const bytes = axes.reduce((product, axis) => product * axis.count, size);
  if (bytes > limits.resultBytes) {
    throw new LimitExceeded(
      `the region [${axes.map((axis) => axis.count).join(", ")}] of ${where} is ${bytes} bytes, at most ${limits.resultBytes} are allowed`,
      { where, reason: "result-bytes", hint: "Read a smaller region, or raise limits.resultBytes." },
    );
  }
}

export function checkInto(into: Uint8Array, { dtype }: Pick<ArrayMeta, "dtype">, shape: readonly number[]): Uint8Array {
  if (!isFixed(dtype)) throw new InvalidInput(`elements of kind ${dtype.kind} cannot be read into given memory`);
  const bytes = elementCount(shape) * dtype.size;
  if (into.length === bytes) return into;
  throw new InvalidInput(`the region [${shape}] takes ${bytes} bytes, but the memory for it has ${into.length}`);
}

/** What elements are made of where nothing is stored. */
type Filling = Pick<ArrayMeta, "dtype" | "fill">;

/** Whether `blank` already is fill. */
const isBlank = ({ dtype, fill }: Filling): boolean =>
  !isFixed(dtype) || (fill as Uint8Array).every((byte) => byte === 0);

/** Room for elements: zeros, or references to the fill value. */
function blank(meta: Filling, count: number): ChunkData {
  try {
    if (isFixed(meta.dtype)) return new Uint8Array(count * meta.dtype.size);
    return new Array<ChunkData[number]>(count).fill(meta.fill) as ChunkData;
  } catch (cause) {
    throw new LimitExceeded(`${count} elements do not fit into one buffer of this JavaScript engine`, {
      reason: "result-bytes",
      cause,
    });
  }
}

/** Elements that are all the fill value. */
export function filled(meta: Filling, count: number): ChunkData {
  const data = blank(meta, count);
  if (!isBlank(meta)) fillStrided(data, { offset: 0, strides: [1] }, meta.fill, [count], meta.dtype);
  return data;
}

/** How many chunks are under way at once. Beyond what keeps workers busy with local files, more only crowds the caches. */
export function concurrency({ meta, store }: ZarrArray, { concurrency, pool }: ReadRegionOptions): number {
  if (concurrency !== undefined) return concurrency;
  const size = memorySize(meta.dtype);
  const fit = Math.floor(IN_FLIGHT / (elementCount(meta.chunkShape) * size));
  const most = pool !== undefined && pool.size > 0 && "pathOf" in store ? 2 * pool.size + 1 : 32;
  return Math.max(2, Math.min(most, fit));
}

/** Errors that arise from a chunk's bytes say which chunk; code that only those bytes ask for is loaded. */
export async function inChunk<T>(where: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withMissingCode(work);
  } catch (error) {
    if (!(error instanceof OctavoError) || error.where !== undefined) throw error;
    const Kind = error.constructor as new (message: string, details: object) => OctavoError;
    throw new Kind(`chunk ${where}: ${error.message}`, { where, reason: error.reason, hint: error.hint, cause: error });
  }
}
