/** An opened array or group: its place, its metadata as of opening, and the questions every dataset answers. */

import type { NdArray, Region } from "../../model/array.js";
import type { ArrayDataset, Child, GroupDataset, ReadOptions, ReadPlan, StoredChunk } from "../../model/dataset.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { listChildren, openBelow } from "./open.js";
import { planRegion, type ReadRegionOptions, readRegion } from "./read.js";
import { storedChunks } from "./stored.js";
import type { ArrayMeta, GroupMeta } from "./types.js";

interface Place {
  readonly format: "zarr";
  readonly store: Store;
  readonly at: Prefix;
}

/** An opened Zarr array. */
export interface ZarrArray extends ArrayDataset, Place {
  readonly format: "zarr";
  readonly meta: ArrayMeta;
  /** The elements of a region, or of the whole array. */
  read(region?: Region, options?: ReadRegionOptions): Promise<NdArray>;
  /** What `read` of the same region would cost. */
  plan(region?: Region): Promise<ReadPlan>;
  stored(options?: ReadOptions): AsyncIterable<StoredChunk> | undefined;
}

/** An opened Zarr group. */
export interface ZarrGroup extends GroupDataset, Place {
  readonly format: "zarr";
  readonly meta: GroupMeta;
  children(options?: ReadOptions): Promise<readonly Child[] | undefined>;
  /** The array or group at a path below. */
  open(path: string, options?: ReadOptions): Promise<ZarrArray | ZarrGroup>;
}

/** An array or a group. */
export type ZarrNode = ZarrArray | ZarrGroup;

/** Where a node is, for people. */
export const urlOf = (store: Store, at: Prefix): string => (at === "" ? store.url : `${store.url}/${at.slice(0, -1)}`);

export function arrayNode(store: Store, at: Prefix, meta: ArrayMeta): ZarrArray {
  const node: ZarrArray = {
    kind: "array",
    format: "zarr",
    version: String(meta.version),
    url: urlOf(store, at),
    store,
    at,
    meta,
    shape: meta.shape,
    chunkShape: meta.chunkShape,
    dtype: meta.dtype,
    fill: meta.fill,
    dimensionNames: meta.dimensionNames,
    codecs: meta.codecs,
    attributes: meta.attributes,
    notes: meta.notes,
    read: (region, options) => readRegion(node, region, options),
    plan: (region) => planRegion(node, region),
    stored: (options) => storedChunks(node, options),
  };
  return node;
}

export function groupNode(store: Store, at: Prefix, meta: GroupMeta): ZarrGroup {
  const node: ZarrGroup = {
    kind: "group",
    format: "zarr",
    version: String(meta.version),
    url: urlOf(store, at),
    store,
    at,
    meta,
    attributes: meta.attributes,
    notes: meta.notes,
    children: (options) => listChildren(node, options),
    open: (path, options) => openBelow(node, path, options),
  };
  return node;
}
