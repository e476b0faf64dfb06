/** A volume in our words: arrays [x, y, z, channel] of one type, the same space at one or more scales, finest first. */
import type { FixedDataType } from "../../../bytes/dtype.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { Sharding } from "../sharded/types.js";

/** One number for each axis of space. */
export type Triple = readonly [x: number, y: number, z: number];

/** The element types of volumes, by the name that files have. */
export const DATA_TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32"] as const;
export type VolumeDataType = (typeof DATA_TYPES)[number];

/** How a chunk is stored. */
export type VolumeEncoding =
  | { readonly name: "raw" }
  | { readonly name: "compressed_segmentation"; readonly block: Triple }
  | { readonly name: "png"; readonly level?: number | undefined }
  | { readonly name: "jpeg" }
  /** Known to others; chunks cannot be read. */
  | { readonly name: "other"; readonly spelled: string };

/** One scale. */
export interface Scale {
  /** The folder of its chunks, relative to the volume. */
  readonly key: string;
  /** Voxels. */
  readonly size: Triple;
  /** The first voxel, in voxels of this scale. */
  readonly offset: Triple;
  /** The size of a voxel in nanometres. */
  readonly resolution: Triple;
  /** Usually one; each is a whole copy of the data, cut differently. */
  readonly chunkSizes: readonly Triple[];
  readonly encoding: VolumeEncoding;
  /** null for a file of its own for each chunk. */
  readonly sharding: Sharding | null;
  /** What else the document says, kept as it is. */
  readonly extras: JsonObject;
}

/** Everything that the info of a volume says. */
export interface VolumeInfo {
  readonly type: "image" | "segmentation";
  readonly dtype: FixedDataType;
  readonly channels: number;
  readonly scales: readonly Scale[];
  /** What else the document says: `mesh`, `skeletons`, `segment_properties`, …; kept as it is. */
  readonly extras: JsonObject;
}
