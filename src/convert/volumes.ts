/**
 * Any array to a precomputed volume, in bounded memory: blocks of whole chunks are read, turned to [x, y, z, channel] where the
 * source has another order, and written; coarser scales are made from them. The info comes last.
 *
 * Axes are told by their names; without names they are x, y, z and channel in this order. What the attributes of a volume said
 * (`resolution`, `voxel_offset`, `type`), arrays keep under these names, so that a volume comes back from Zarr as it was.
 */
import type { FixedDataType } from "../bytes/dtype.js";
import { isFixed } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import { copyStrided } from "../codec/strided.js";
import { Conflict, InvalidInput, Unsupported } from "../errors.js";
import {
  createVolume,
  type Triple,
  type VolumeDescription,
  type VolumeEncoding,
  type VolumeInfo,
  volumeInfo,
} from "../format/precomputed/volume/index.js";
import { urlOf } from "../format/zarr/node.js";
import { parts } from "../format/zarr/plan.js";
import { JOURNAL, REMAINS, refuseOverlap } from "../format/zarr/room.js";
import type { NdArray, Region } from "../model/array.js";
import type { ArrayDataset, ReadArrayOptions, ReadOptions } from "../model/dataset.js";
import { elementCount, strides } from "../space/shape.js";
import { Key, type Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { Pool } from "../worker/pool.js";
import { blockShape, type ConvertReport } from "./arrays.js";
import { journaled } from "./journal.js";
import { refuseLosses, type Strictness } from "./losses.js";

/** The encodings that can be written, by name. */
export const ENCODINGS = ["raw", "compressed_segmentation", "png"] as const;

/** What the volume is to be, and how to get there. */
export interface ConvertVolumeOptions extends ReadOptions, Strictness {
  /** Along x, y and z; 64, 64, 64 unless told. */
  readonly chunkShape?: readonly number[] | undefined;
  /** compressed_segmentation for uint32 and uint64, else raw, unless told. */
  readonly encoding?: (typeof ENCODINGS)[number] | undefined;
  /** Into shards, with parameters that suit the size. */
  readonly sharded?: boolean | undefined;
  /** How many scales, each from the one before; 1 unless told. */
  readonly scales?: number | undefined;
  /** Nanometres; the attribute of that name, or 1, 1, 1, unless told. */
  readonly resolution?: readonly number[] | undefined;
  readonly maxMemory?: number | undefined;
  readonly pool?: Pool | undefined;
  readonly overwrite?: boolean | undefined;
}

const MEMORY = 256 << 20;
/** The axes of a volume. */
export const AXES = ["x", "y", "z", "channel"] as const;
/** Names that they go by. */
const NAMES = [["x"], ["y"], ["z"], ["channel", "channels", "c"]];

/** What the array becomes, and what of it the volume does not keep. */
export interface VolumePlan {
  readonly info: VolumeInfo;
  /** For x, y, z and channel, the axis of the source; undefined where there is none. */
  readonly axes: readonly (number | undefined)[];
  readonly losses: readonly string[];
}

export function planVolume(source: ArrayDataset, options: ConvertVolumeOptions): VolumePlan {
  const losses: string[] = [];
  const axes = axesOf(source, losses);
  const lengths = axes.map((axis) => (axis === undefined ? 1 : source.shape[axis]!));
  const { dtype, attributes } = source;
  const { resolution: _r, voxel_offset, type, units: _u, key: _k, encoding: _e, ...rest } = attributes;
  const lost = Object.keys(rest);
  if (lost.length > 0) losses.push(`the attributes ${lost.join(", ")}, which a volume has no place for`);
  const volume = volumeInfo({
    size: lengths.slice(0, 3) as unknown as Triple,
    channels: lengths[3]!,
    dtype: isFixed(dtype) && "endian" in dtype ? { ...dtype, endian: "little" } : dtype,
    type: type === "image" || type === "segmentation" ? type : undefined,
    resolution: asTriple(options.resolution, "resolution") ?? numbersOf(attributes.resolution),
    offset: numbersOf(voxel_offset),
    chunkSize: asTriple(options.chunkShape?.slice(0, 3), "chunk shape"),
    encoding: options.encoding && ENCODING_OF[options.encoding],
    sharding: options.sharded,
    scales: options.scales,
  } satisfies VolumeDescription);
  return { info: volume, axes, losses: losses.map((loss) => `${source.url}: ${loss}`) };
}

const ENCODING_OF: { readonly [name in (typeof ENCODINGS)[number]]: VolumeEncoding } = {
  raw: { name: "raw" },
  compressed_segmentation: { name: "compressed_segmentation", block: [8, 8, 8] },
  png: { name: "png" },
};

function asTriple(given: readonly number[] | undefined, what: string): Triple | undefined {
  if (given === undefined || given.length === 3) return given as Triple | undefined;
  throw new InvalidInput(`the ${what} of a volume should be three numbers, for x, y and z, found [${given}]`);
}

export const numbersOf = (value: Json | undefined): Triple | undefined =>
  Array.isArray(value) && value.length === 3 && value.every((entry) => typeof entry === "number")
    ? (value as unknown as Triple)
    : undefined;

/** For x, y, z and channel, the axis of an array; undefined where it has none. */
export function spatialAxes({ shape, dimensionNames }: ArrayDataset): (number | undefined)[] {
  const names = shape.map((_, axis) => dimensionNames?.[axis]?.toLowerCase());
  const named = NAMES.map((known) => names.findIndex((name) => name !== undefined && known.includes(name)));
  return named.some((axis) => axis >= 0)
    ? named.map((axis) => (axis < 0 ? undefined : axis))
    : NAMES.map((_, axis) => (axis < shape.length ? axis : undefined));
}

function axesOf(source: ArrayDataset, losses: string[]): (number | undefined)[] {
  const { shape, dimensionNames, url } = source;
  const axes = spatialAxes(source);
  shape.forEach((length, axis) => {
    if (axes.includes(axis)) return;
    const name = dimensionNames?.[axis] ?? `${axis}`;
    if (length !== 1)
      throw new Unsupported(`${url} has the axis ${name} of ${length}, and a volume has only x, y, z and channel`, {
        where: url,
        hint: "Convert one index of it at a time, with the option slice, or name its axes.",
      });
    losses.push(`the axis ${name}, of length 1`);
  });
  return axes;
}

export async function convertVolume(
  source: ArrayDataset,
  store: Store,
  at: Prefix,
  options: ConvertVolumeOptions = {},
): Promise<ConvertReport> {
  refuseOverlap(source, store, at);
  const { info, axes, losses } = planVolume(source, options);
  refuseLosses(options, losses);
  const { signal, limits, pool, maxMemory = MEMORY, onProgress } = options;
  const isLeft = async (name: string) => (await store.stat(Key.join(at, name), { signal })) !== undefined;
  if (options.overwrite !== true && !(await isLeft("info")) && (await isLeft(JOURNAL))) {
    const where = urlOf(store, at);
    throw new Conflict(`${where} holds an interrupted conversion`, { where, hint: REMAINS });
  }
  const writer = await createVolume(store, at, info, { signal, limits, pool, maxMemory, overwrite: options.overwrite });
  const work = async (): Promise<ConvertReport> => {
    const [volume] = writer.levels;
    const { shape, chunkShape, dtype } = volume!;
    const view = turned(source, axes, info.dtype);
    const block = blockShape(view, { dtype, chunkShape }, maxMemory);
    const total = volume!.grid.count;
    const report: ConvertReport = { chunksCopied: 0, chunksRecoded: 0, losses: [...losses] };
    const whole = shape.map((count) => ({ start: 0, step: 1, count }));
    for (const { chunk } of parts(whole, block)) {
      signal?.throwIfAborted();
      const region = chunk.map((index, axis) => ({
        start: index * block[axis]!,
        stop: Math.min((index + 1) * block[axis]!, shape[axis]!),
      }));
      await writer.write(region, await view.read(region, { signal, limits, pool }));
      report.chunksRecoded += region.reduce(
        (product, { start, stop }, axis) => product * Math.ceil((stop - start) / chunkShape[axis]!),
        1,
      );
      onProgress?.({ done: report.chunksRecoded, total, unit: "chunks" });
    }
    await writer.commit();
    return report;
  };
  return journaled(store, at, signal, work, async () => {
    await writer.abort();
    await store.delete(Key.join(at, JOURNAL));
  });
}

/** The source as [x, y, z, channel]: what `blockShape` asks of an array, and its elements. */
function turned(source: ArrayDataset, axes: readonly (number | undefined)[], dtype: FixedDataType) {
  const along = (lengths: readonly number[]): number[] => axes.map((axis) => (axis === undefined ? 1 : lengths[axis]!));
  const straight = source.shape.length === 4 && axes.every((axis, i) => axis === i);
  return {
    shape: along(source.shape),
    chunkShape: along(source.chunkShape),
    async read(region: readonly { start: number; stop: number }[], options: ReadArrayOptions): Promise<NdArray> {
      const own: Region = source.shape.map((_, axis) => {
        const to = axes.indexOf(axis);
        return to < 0 ? { start: 0, stop: 1 } : region[to]!;
      });
      const { data, shape } = await source.read(own, options);
      const counts = region.map(({ start, stop }) => stop - start);
      if (straight) return { shape: counts, dtype, data };
      const out = new Uint8Array(elementCount(counts) * dtype.size);
      const lies = strides(shape);
      const from = { offset: 0, strides: axes.map((axis) => (axis === undefined ? 0 : lies[axis]!)) };
      copyStrided(out, { offset: 0, strides: strides(counts) }, data, from, counts, dtype);
      return { shape: counts, dtype, data: out };
    },
  };
}
