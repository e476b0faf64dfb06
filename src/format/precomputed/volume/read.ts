/**
 * A region of a scale, chunk by chunk, straight into the result. The result is [x, y, z, channel] in C order, a chunk has x
 * fastest: elements are turned while they are copied. A chunk that is absent is zeros, as the format says; one that is there
 * and cannot be decoded to exactly its voxels is Corrupt.
 */
import { fillStrided, type Move } from "../../../codec/strided.js";
import { withLimits } from "../../../limits.js";
import type { NdArray, Region } from "../../../model/array.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadArrayOptions, ReadOptions, ReadPlan, StoredChunk } from "../../../model/dataset.js";
import { select } from "../../../model/region.js";
import { elementCount, strides } from "../../../space/shape.js";
import { Key } from "../../../store/key.js";
import { type Coder, coderFor } from "../../zarr/coder.js";
import { countParts, type Part, parts, sourceLayout, targetLayout } from "../../zarr/plan.js";
import { checkInto, checkResult, filled, inChunk } from "../../zarr/read.js";
import { costOf } from "../ids.js";
import { placeAll, shardName } from "../sharded/place.js";
import { openValues, type ValueReader } from "../values.js";
import type { VolumeArray } from "./array.js";
import { chunkLimits, codingOf, type ScaleCoding } from "./coding.js";
import type { Triple } from "./types.js";

/** Chunks that are asked for together. */
const TOGETHER = 512;
/** Chunks that are decoded at once, where there are workers for them. */
const DECODES = 8;
/** Chunks whose cost is looked up one by one. */
const LOOKED_UP = 4096;

/** Strides of a chunk in memory, by the axes of the array. */
export const chunkStrides = ([x, y, z]: Triple): number[] => [1, x, x * y, x * y * z];

export const chunkUrl = ({ store, chunksAt, grid }: VolumeArray, cell: readonly number[]): string =>
  `${store.url}/${chunksAt}${grid.nameOf(cell)}`;

const readers = new WeakMap<VolumeArray, Promise<ValueReader>>();

/**
 * The map from ids to chunks, with the indexes that it keeps: one for each volume, unless there are limits for this call, or the
 * store can be written to and would not notice that a shard has changed.
 */
export function chunksOf(volume: VolumeArray, options: ReadOptions = {}): Promise<ValueReader> {
  const open = (signal?: AbortSignal): Promise<ValueReader> => {
    const { store, chunksAt, scale, grid, info } = volume;
    const limits = chunkLimits(info, scale, withLimits(options.limits));
    return openValues(store, chunksAt, scale.sharding, { signal, limits, names: grid.names });
  };
  const lasting = volume.store.open !== undefined || !volume.store.can.write;
  if (options.limits !== undefined || !lasting) return open(options.signal);
  const known = readers.get(volume) ?? open();
  readers.set(volume, known);
  known.catch(() => readers.delete(volume));
  return known;
}

export async function readVolume(
  volume: VolumeArray,
  region?: Region,
  options: ReadArrayOptions = {},
): Promise<NdArray> {
  const { dtype, grid, info, scale } = volume;
  const limits = withLimits(options.limits);
  const { axes, shape } = select(region, volume.shape);
  checkResult(volume, axes, limits, volume.url);
  const { into } = options;
  const data = into === undefined ? filled(volume, elementCount(shape)) : checkInto(into, volume, shape);
  const result: NdArray = { shape, dtype, data };
  if (data.length === 0) return result;

  const coding = await codingOf(info, scale, volume.url);
  const coder = coderFor({ codecs: coding.codecs, dtype }, limits, options, data);
  const reader = await chunksOf(volume, options);
  const resultStrides = strides(axes.map((axis) => axis.count));
  const place = async (part: Part, bytes: Uint8Array | undefined): Promise<void> => {
    const counts = part.source.map((axis) => axis.count);
    const to = targetLayout(part.to, resultStrides);
    if (bytes !== undefined) {
      const extent = grid.extentOf(part.chunk);
      const move: Move = { from: sourceLayout(part.source, chunkStrides(extent)), to, counts };
      await decodePart(volume, coding, coder, part.chunk, bytes, move);
    } else if (into !== undefined) fillStrided(data, to, volume.fill, counts, dtype);
  };
  const total = countParts(axes, volume.chunkShape);
  const ask = { signal: options.signal, limits: chunkLimits(info, scale, limits) };
  let done = 0;
  for (const some of together(parts(axes, volume.chunkShape))) {
    const ids = BigUint64Array.from(some, ({ chunk }) => grid.idOf(chunk));
    for await (const { rows, values } of reader.getMany(ids, ask)) {
      options.signal?.throwIfAborted();
      await forEachConcurrent(rows.keys(), DECODES, (i) => place(some[rows[i]!]!, values[i]));
      done += rows.length;
      options.onProgress?.({ done, total, unit: "chunks" });
    }
  }
  return result;
}

const decodePart = (
  volume: VolumeArray,
  coding: ScaleCoding,
  coder: Coder,
  cell: readonly number[],
  bytes: Uint8Array,
  move: Move,
): Promise<void> =>
  inChunk(chunkUrl(volume, cell), () => coder.decode(coding.codecOf(volume.grid.extentOf(cell)), bytes, move));

function* together(all: Iterable<Part>): Generator<Part[]> {
  let some: Part[] = [];
  for (const part of all) {
    some.push(part);
    if (some.length < TOGETHER) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** What a read costs: where the chunks are few, by the files that they lie in. */
export async function planVolume(volume: VolumeArray, region?: Region): Promise<ReadPlan> {
  const { store, chunksAt: at, scale, grid, dtype } = volume;
  const { axes } = select(region, volume.shape);
  const chunks = countParts(axes, volume.chunkShape);
  if (chunks > LOOKED_UP)
    return { requests: chunks, bytes: chunks * elementCount(volume.chunkShape) * dtype.size, exact: false };
  const ids = BigUint64Array.from(parts(axes, volume.chunkShape), ({ chunk }) => grid.idOf(chunk));
  return costOf({ store, at, sharding: scale.sharding, names: grid.names }, ids);
}

/** The chunks that are there; in shards, with the file that each lies in. */
export function storedVolume(volume: VolumeArray, options: ReadOptions = {}): AsyncIterable<StoredChunk> | undefined {
  return volume.store.can.list ? listed(volume, options) : undefined;
}

async function* listed(volume: VolumeArray, options: ReadOptions): AsyncGenerator<StoredChunk> {
  const { store, chunksAt, grid, scale } = volume;
  if (scale.sharding === null) {
    for await (const { key, size } of store.list(chunksAt, { signal: options.signal })) {
      const cell = grid.cellOfName(key.slice(chunksAt.length).replace(/\.gz$/, ""));
      if (cell !== undefined) yield { index: [...cell, 0], key, size };
    }
    return;
  }
  for await (const ids of (await chunksOf(volume, options)).ids({ signal: options.signal, limits: options.limits })) {
    const { shardLow, shardHigh } = placeAll(ids, scale.sharding);
    for (let i = 0; i < ids.length; i++) {
      const cell = grid.cellOf(ids[i]!);
      if (cell === undefined) continue; // nobody reads it; `validate` says so
      const name = shardName({ low: shardLow[i]!, high: shardHigh[i]! }, scale.sharding);
      yield { index: [...cell, 0], key: Key.join(chunksAt, `${name}.shard`) };
    }
  }
}
