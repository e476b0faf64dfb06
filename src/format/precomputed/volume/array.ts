/** A scale of a volume as an array [x, y, z, channel], and a volume as its scales. */
import type { JsonObject } from "../../../bytes/json.js";
import { NotFound } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { NdArray, Region } from "../../../model/array.js";
import type { ArrayDataset, ReadArrayOptions, ReadOptions, ReadPlan, StoredChunk } from "../../../model/dataset.js";
import type { FormatOptions } from "../../../model/format.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { checkChunkBytes } from "../../zarr/document.js";
import { urlOf } from "../../zarr/node.js";
import { type InfoAt, readInfo } from "../info.js";
import { ChunkGrid } from "./chunks.js";
import { parseVolume, scalePrefix } from "./info.js";
import { planVolume, readVolume, storedVolume } from "./read.js";
import type { Scale, VolumeInfo } from "./types.js";

/** An opened scale of a volume: an array [x, y, z, channel] whose first voxel is `scale.offset`. */
export interface VolumeArray extends ArrayDataset {
  readonly format: "precomputed";
  readonly store: Store;
  /** The folder of the volume. */
  readonly at: Prefix;
  /** The folder of the chunks. */
  readonly chunksAt: Prefix;
  readonly info: VolumeInfo;
  readonly scale: Scale;
  readonly grid: ChunkGrid;
  readonly dtype: VolumeInfo["dtype"];
  readonly levels: readonly VolumeArray[];
  read(region?: Region, options?: ReadArrayOptions): Promise<NdArray>;
  plan(region?: Region): Promise<ReadPlan>;
  stored(options?: ReadOptions): AsyncIterable<StoredChunk> | undefined;
}

/** The finest scale of the volume at a place; `levels` has all of them. */
export async function openVolume(
  store: Store,
  at: Prefix = Prefix.root,
  options: FormatOptions = {},
): Promise<VolumeArray> {
  const place = await readInfo(store, at, options);
  if (place !== undefined) return volumeAt(place, options);
  const where = `${store.url}/${at}info`;
  throw new NotFound(`${where} should be the info of a volume, but is not there`, { where });
}

/** The same where the info has been read. */
export async function volumeAt(place: InfoAt, options: FormatOptions = {}): Promise<VolumeArray> {
  const info = parseVolume(place);
  const limits = withLimits(options.limits);
  for (const scale of info.scales)
    for (const chunk of scale.chunkSizes) checkChunkBytes([...chunk, info.channels], info.dtype, limits, place.where);
  return volumeArrays(place.store, place.at, info, place.where)[0]!;
}

/** All scales, finest first; whether or not there is an info that says so already. */
export function volumeArrays(store: Store, at: Prefix, info: VolumeInfo, where: string): VolumeArray[] {
  const levels: VolumeArray[] = [];
  for (const scale of info.scales) levels.push(scaleArray(store, at, info, scale, levels, where));
  return levels;
}

function scaleArray(
  store: Store,
  at: Prefix,
  info: VolumeInfo,
  scale: Scale,
  levels: readonly VolumeArray[],
  where: string,
): VolumeArray {
  const chunksAt = scalePrefix(at, scale.key, where);
  const grid = new ChunkGrid(scale);
  const array: VolumeArray = {
    kind: "array",
    format: "precomputed",
    version: "1",
    url: urlOf(store, at),
    store,
    at,
    chunksAt,
    info,
    scale,
    grid,
    shape: [...scale.size, info.channels],
    chunkShape: [...grid.chunk, info.channels],
    dtype: info.dtype,
    fill: new Uint8Array(info.dtype.size),
    dimensionNames: ["x", "y", "z", "channel"],
    attributes: attributesOf(info, scale),
    notes: notesOf(scale),
    levels,
    read: (region, options) => readVolume(array, region, options),
    plan: (region) => planVolume(array, region),
    stored: (options) => storedVolume(array, options),
  };
  return array;
}

/** What the info says besides shape and type, by the names that it has there. */
function attributesOf({ type, extras }: VolumeInfo, scale: Scale): JsonObject {
  return {
    type,
    key: scale.key,
    resolution: [...scale.resolution],
    voxel_offset: [...scale.offset],
    units: ["nm", "nm", "nm"],
    encoding: scale.encoding.name === "other" ? scale.encoding.spelled : scale.encoding.name,
    ...scale.extras,
    ...extras,
  };
}

function notesOf({ encoding, chunkSizes }: Scale): string[] {
  const notes: string[] = [];
  if (encoding.name === "other")
    notes.push(`the encoding ${JSON.stringify(encoding.spelled)} is known to other software; chunks cannot be read`);
  if (chunkSizes.length > 1)
    notes.push(`the scale is stored ${chunkSizes.length} times, in chunks of different sizes; the first are read`);
  return notes;
}
