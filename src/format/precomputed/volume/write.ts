/**
 * Regions written to a scale. A chunk that the region covers is encoded as it is; of any other, what was there before is read
 * and changed. A chunk of nothing but zeros is not stored, since an absent one reads the same, unless that is asked for.
 *
 * Of a volume that is there, the chunks of one call are changed together or not at all; calls take turns.
 */
import { isFill } from "../../../codec/sharding.js";
import { copyStrided } from "../../../codec/strided.js";
import { InvalidInput } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { NdArray, Region } from "../../../model/array.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { select } from "../../../model/region.js";
import { elementCount, strides } from "../../../space/shape.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import type { Pool } from "../../../worker/pool.js";
import { coderFor } from "../../zarr/coder.js";
import { countParts, coversChunk, type Part, parts, sourceLayout, targetLayout } from "../../zarr/plan.js";
import { filled, inChunk } from "../../zarr/read.js";
import { checkValues, inTurn } from "../../zarr/write.js";
import { together } from "../together.js";
import { editValues } from "../values.js";
import type { VolumeArray } from "./array.js";
import { codingOf } from "./coding.js";
import { chunkStrides, chunksOf, chunkUrl } from "./read.js";

/** How to write a region. */
export interface WriteVolumeOptions extends ReadOptions {
  /** Workers to encode in; without one, or with one of size 0, this thread does it. */
  readonly pool?: Pool | undefined;
  /** Store chunks that are nothing but zeros. Off: absent ones read the same. */
  readonly writeEmptyChunks?: boolean | undefined;
}

/** Chunks that are encoded at once. */
const ENCODES = 8;

/** Where encoded chunks go. */
export interface ChunkSink {
  /** The chunk as it was; undefined where it must be covered whole, which a new volume asks for. */
  readonly old: ((id: bigint) => Promise<Uint8Array | undefined>) | undefined;
  put(id: bigint, bytes: Uint8Array): Promise<void>;
  /** False: it need not be made. */
  wants?(id: bigint): boolean;
  /** A chunk of nothing but zeros. */
  empty(id: bigint): Promise<void>;
}

/** Writes `values` to a region of a scale that is there; a value without axes goes to every voxel of it. */
export async function writeVolume(
  volume: VolumeArray,
  region: Region | undefined,
  values: NdArray,
  options: WriteVolumeOptions = {},
): Promise<void> {
  const { store, chunksAt, scale, grid } = volume;
  const { signal, limits } = options;
  const scratch = { store, at: Prefix.join(chunksAt, LOGS) };
  await inTurn(store, Key.join(chunksAt, "chunks"), () =>
    // Chunks are read where they are written: whoever changes one in between has this done again, on top of theirs.
    together(store, chunksAt, options, async (view) => {
      const reader = await chunksOf({ ...volume, store: view }, options);
      const work = { signal, limits, names: grid.names, transaction: false, scratch };
      const editor = await editValues(view, chunksAt, scale.sharding, work);
      try {
        await encodeRegion(volume, region, values, options, {
          old: (id) => reader.get(id, { signal, limits }),
          put: (id, bytes) => editor.put(id, bytes),
          empty: (id) => editor.delete(id),
        });
        await editor.commit();
      } catch (error) {
        await editor.abort();
        throw error;
      }
    }),
  );
}

/** Encodes the chunks of a region. */
export async function encodeRegion(
  volume: VolumeArray,
  region: Region | undefined,
  values: NdArray,
  options: WriteVolumeOptions,
  sink: ChunkSink,
): Promise<void> {
  const { dtype, grid, info, scale } = volume;
  const { axes, shape } = select(region, volume.shape);
  checkValues(values, shape, volume, volume.url);
  const counts = axes.map((axis) => axis.count);
  const valueStrides = values.shape.length === 0 ? counts.map(() => 0) : strides(counts);
  const limits = withLimits(options.limits);
  const coding = await codingOf(info, scale, volume.url);
  const coder = coderFor({ codecs: coding.codecs, dtype }, limits, options);
  const total = countParts(axes, volume.chunkShape);
  let done = 0;

  const encode = async (part: Part): Promise<void> => {
    const extent = grid.extentOf(part.chunk);
    const codec = coding.codecOf(extent);
    const id = grid.idOf(part.chunk);
    if (sink.wants?.(id) === false) return;
    const covered = coversChunk(part, [...extent, info.channels]);
    if (!covered && sink.old === undefined)
      throw new InvalidInput(
        `a new volume is written in whole chunks, but the region has a part of ${chunkUrl(volume, part.chunk)}`,
      );
    const old = covered ? undefined : await sink.old!(id);
    const data = covered
      ? coder.room(codec)
      : old === undefined
        ? filled(volume, elementCount(codec.spec.shape))
        : codec.decode(old, limits);
    copyStrided(
      data,
      sourceLayout(part.source, chunkStrides(extent)),
      values.data,
      targetLayout(part.to, valueStrides),
      part.source.map((axis) => axis.count),
      dtype,
    );
    if (options.writeEmptyChunks !== true && isFill(data, volume.fill)) await sink.empty(id);
    else await sink.put(id, await coder.encode(codec, data));
  };

  await forEachConcurrent(parts(axes, volume.chunkShape), ENCODES, async (part) => {
    options.signal?.throwIfAborted();
    await inChunk(chunkUrl(volume, part.chunk), () => encode(part));
    options.onProgress?.({ done: ++done, total, unit: "chunks" });
  });
}
