/**
 * One description for an array of any Zarr version. Only key names, the codec chain and the way a fill value is written
 * differ between v0 and v3; everything that reads or writes chunks works on this.
 */
import type { DataType } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import type { CodecSpec, Element } from "../../codec/types.js";

/** 0 is the original format, with `__zmeta__`. */
export type ZarrVersion = 0 | 1 | 2 | 3;
/** What users keep beside the data. */
export type Attributes = { readonly [key: string]: Json };

/** How a chunk's place in the grid becomes the key below the array. */
export type ChunkKeys =
  /** v0: `__zdata__/1.2.blosc` */
  | { readonly kind: "v0" }
  /** v1, v2 and v3's "v2": `1.2` or `1/2`; "0" for 0-d */
  | { readonly kind: "v2"; readonly separator: "." | "/" }
  /** v3's "default": `c/1/2`; "c" for 0-d */
  | { readonly kind: "default"; readonly separator: "." | "/" };

/** Everything that the documents of an array say. */
export interface ArrayMeta {
  readonly node: "array";
  readonly version: ZarrVersion;
  readonly shape: readonly number[];
  /**
   * The shape of what one key holds: the shard where there are shards. Chunks are always stored at full size; the overhang
   * at the edges is not data.
   */
  readonly chunkShape: readonly number[];
  readonly dtype: DataType;
  /** What an absent chunk is made of; all zeros where the document says null. */
  readonly fill: Element;
  /** The document says null (v0–v2): writers keep it that way. */
  readonly fillIsNull: boolean;
  /** How the document spelled it (0 or false, 3.7 on int32), so that the same version writes it back the same. */
  readonly fillAs?: { readonly version: ZarrVersion; readonly value: Json } | undefined;
  /** In the order of encoding, v3 style, whatever the version: [array→array…, array→bytes, bytes→bytes…]. F order is a transpose. */
  readonly codecs: readonly CodecSpec[];
  readonly keys: ChunkKeys;
  readonly dimensionNames: readonly (string | null)[] | undefined;
  readonly attributes: Attributes;
  readonly storageTransformers: readonly CodecSpec[];
  /** v3 keys that need not be understood; written back as they came. */
  readonly extensions?: Attributes | undefined;
  /** What a person should know, in sentences ("fill value 3.7 on int32 reads as 3"). */
  readonly notes: readonly string[];
}

/** Everything that the documents of a group say. */
export interface GroupMeta {
  readonly node: "group";
  readonly version: 2 | 3;
  readonly attributes: Attributes;
  /** Nodes below, by path relative to this group ("a", "a/b"), where consolidated metadata is there. */
  readonly consolidated: Consolidated | undefined;
  readonly extensions?: Attributes | undefined;
  readonly notes: readonly string[];
}

export type Consolidated = ReadonlyMap<string, ConsolidatedNode>;

/** A node in consolidated metadata. Its document is parsed when asked for, so that a broken one hurts nobody else. */
export interface ConsolidatedNode {
  readonly node: "array" | "group";
  /** Throws what parsing the node's own document would throw. */
  meta(): NodeMeta;
}

/** The metadata of a node. */
export type NodeMeta = ArrayMeta | GroupMeta;
