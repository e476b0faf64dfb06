/** Zarr arrays and groups of every version: v0 (the original), v1, v2, v3. */
export {
  type ArrayDescription,
  type Compressor,
  type CreateOptions,
  codecsFor,
  createArray,
  createGroup,
  type WritableVersion,
} from "./create.js";
export { append, consolidate, deleteNode, resize, setAttributes } from "./edit.js";
export { zarr } from "./format.js";
export type { ZarrArray, ZarrGroup, ZarrNode } from "./node.js";
export { detectZarr, type OpenOptions, openZarr } from "./open.js";
export type { ReadRegionOptions } from "./read.js";
export type { ArrayMeta, Attributes, ChunkKeys, GroupMeta, NodeMeta, ZarrVersion } from "./types.js";
export { type WriteOptions, writeRegion } from "./write.js";
