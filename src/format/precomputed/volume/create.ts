/**
 * A new volume: chunks first, its info last, so that whoever finds the info finds the rest. Scales that nobody writes to are
 * made from the finer ones when the volume is committed.
 */
import { Conflict } from "../../../errors.js";
import type { NdArray, Region } from "../../../model/array.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { Progress } from "../../../model/dataset.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { parts } from "../../zarr/plan.js";
import { readInfo, writeInfo } from "../info.js";
import { createValues, type ValueWriter } from "../values.js";
import { type VolumeArray, volumeArrays } from "./array.js";
import { downsample } from "./downsample.js";
import { formatVolume, parseVolume, scalePrefix } from "./info.js";
import type { Triple, VolumeInfo } from "./types.js";
import { encodeRegion, type WriteVolumeOptions } from "./write.js";

/** How to create a volume. */
export interface CreateVolumeOptions extends WriteVolumeOptions {
  /** Replace the volume that is there; else Conflict. */
  readonly overwrite?: boolean | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told. */
  readonly maxMemory?: number | undefined;
}

/** A volume on its way. */
export interface VolumeWriter {
  /** The scales, finest first; not yet to be read. */
  readonly levels: readonly VolumeArray[];
  /** Writes a region of the finest scale, or of another; whole chunks, each of them once. */
  write(region: Region | undefined, values: NdArray, level?: number): Promise<void>;
  /** Makes the scales that were not written to, then the info. */
  commit(): Promise<VolumeArray>;
  /** Removes what was written. */
  abort(): Promise<void>;
}

const MEMORY = 256 << 20;

/**
 * Begins a new volume. Regions are written in any order, each chunk once; `commit` makes the scales that nobody wrote, and the info
 * last: before that there is nothing that a reader would take for a volume. Conflict where one is, unless it may be overwritten.
 */
export async function createVolume(
  store: Store,
  at: Prefix,
  info: VolumeInfo,
  options: CreateVolumeOptions = {},
): Promise<VolumeWriter> {
  const { signal, overwrite } = options;
  const where = `${store.url}/${at}info`;
  await makeRoom(store, at, options);
  const levels = volumeArrays(store, at, info, where);
  const writers = new Map<number, ValueWriter>();
  const writerOf = async (level: number): Promise<ValueWriter> => {
    const known = writers.get(level);
    if (known !== undefined) return known;
    const { chunksAt, scale, grid } = levels[level]!;
    const memory = Math.floor((options.maxMemory ?? MEMORY) / 4);
    const work = { signal, names: grid.names, overwrite, maxMemory: memory };
    const writer = await createValues(store, chunksAt, scale.sharding, work);
    writers.set(level, writer);
    return writer;
  };
  const write = async (
    region: Region | undefined,
    values: NdArray,
    level: number,
    onProgress?: (progress: Progress) => void,
  ): Promise<void> => {
    const writer = await writerOf(level);
    await encodeRegion(
      levels[level]!,
      region,
      values,
      { ...options, onProgress },
      {
        old: undefined,
        put: (id, bytes) => writer.put(id, bytes),
        wants: (id) => writer.wants?.(id) !== false,
        empty: async () => {},
      },
    );
  };
  return {
    levels,
    write: (region, values, level = 0) => write(region, values, level, options.onProgress),
    async commit() {
      for (let level = 0; level < levels.length; level++) {
        if (level > 0 && !writers.has(level)) {
          for await (const { region, values } of coarserBlocks(levels[level - 1]!, levels[level]!, options))
            await write(region, values, level);
        }
        await (await writerOf(level)).commit();
      }
      await writeInfo(store, at, formatVolume(info), signal);
      return levels[0]!;
    },
    async abort() {
      for (const writer of writers.values()) await writer.abort();
    },
  };
}

/** An info that is there is deleted before anything else, and its chunks with it. */
async function makeRoom(store: Store, at: Prefix, { signal, overwrite }: CreateVolumeOptions): Promise<void> {
  const place = await readInfo(store, at, { signal });
  if (place === undefined) return;
  if (overwrite !== true)
    throw new Conflict(`${place.where} is already there`, {
      where: place.where,
      hint: "Choose another place, or overwrite (--overwrite).",
    });
  const { scales } = parseVolume(place);
  await store.delete(Key.join(at, "info"), { signal });
  for (const { key } of scales) {
    const keys: Key[] = [];
    for await (const listed of store.list(scalePrefix(at, key, place.where), { signal })) keys.push(listed.key);
    await forEachConcurrent(keys, 16, (listed) => store.delete(listed, { signal }));
  }
}

/** The coarser scale in blocks of whole chunks, each made from the part of the finer one that it stands for. */
export async function* coarserBlocks(
  fine: VolumeArray,
  coarse: VolumeArray,
  options: CreateVolumeOptions,
): AsyncGenerator<{ region: Region; values: NdArray }> {
  const factor = coarse.scale.resolution.map((length, axis) =>
    Math.round(length / fine.scale.resolution[axis]!),
  ) as unknown as Triple;
  const method = fine.info.type === "segmentation" ? "mode" : "mean";
  const { signal, limits, pool } = options;
  const whole = coarse.shape.map((count) => ({ start: 0, step: 1, count }));
  const block = blockOf(coarse, factor, options.maxMemory ?? MEMORY);
  for (const { chunk } of parts(whole, block)) {
    const region = chunk.map((at, axis) => ({
      start: at * block[axis]!,
      stop: Math.min((at + 1) * block[axis]!, coarse.shape[axis]!),
    }));
    // In voxels of space: the boxes of the block, and what there is of them.
    const first = [0, 1, 2].map((axis) => (coarse.scale.offset[axis]! + region[axis]!.start) * factor[axis]!);
    const last = [0, 1, 2].map((axis) => (coarse.scale.offset[axis]! + region[axis]!.stop) * factor[axis]!);
    const start = first.map((from, axis) => Math.max(from, fine.scale.offset[axis]!));
    const values = await fine.read(
      start.map((from, axis) => {
        const origin = fine.scale.offset[axis]!;
        return { start: from - origin, stop: Math.min(last[axis]! - origin, fine.shape[axis]!) };
      }),
      { signal, limits, pool },
    );
    const missing = start.map((from, axis) => from - first[axis]!) as unknown as Triple;
    yield { region, values: downsample(values, { factor, missing }, method) };
  }
}

/** As many chunks along each axis as let the finer part take an eighth of the memory; last axis first. */
function blockOf({ chunkShape, shape, dtype }: VolumeArray, factor: Triple, memory: number): number[] {
  const block = [...chunkShape];
  const finer = factor[0] * factor[1] * factor[2] * dtype.size;
  for (let axis = 2; axis >= 0; axis--) {
    const bytes = block.reduce((product, length) => product * length, finer);
    const wanted = Math.ceil(shape[axis]! / chunkShape[axis]!);
    block[axis] = chunkShape[axis]! * Math.max(1, Math.min(wanted, Math.floor(memory / 8 / bytes)));
  }
  return block;
}
