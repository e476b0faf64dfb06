/**
 * Zarr Vectors in our words, for stores of every version. Parsing turns the documents of any version into these; what is left
 * of the differences is a handful of switches (`Dialect`), each named after what it changes, none after a number.
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import type { Room } from "../../codec/types.js";
import type { NdArray } from "../../model/array.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Axis } from "../../model/vectors.js";
import type { Blobs } from "./payload/blobs.js";

/** How a store spells things, told from its structure; the version number only decides where structure cannot. */
export interface Dialect {
  /** Raw files (0.2, 0.3); a Zarr array for each blob (0.4–0.8); a cell of one Zarr array (from 0.9). */
  readonly container: "files" | "blobs" | "cells";
  /** How a chunk's rows are grouped: (K, 2) or (K) byte offsets, or a fragment index (from 0.6). */
  readonly fragments: "paired-offsets" | "offsets" | "index";
  /** Tuples (to 0.5), manifests in two blobs, one vlen array (v1: row = id; v2: with ids), or dense arrays (0.9.4). */
  readonly manifests: "tuples" | "blobs" | "vlen" | "dense" | "none";
  /** One flat blob beside the links of each chunk (to 0.7), or links under their offsets (from 0.9). */
  readonly crossLinks: "flat" | "offsets";
  /** `groupings`, `attributes`, `groupings_attributes` (to early 0.5), or the names of today. */
  readonly names: "old" | "new";
  /** `data` and `present_mask` blobs (to 0.8.0), or an array. */
  readonly objectAttributes: "blobs" | "array";
}

/** What joins vertices: links alone; that they follow each other; or that, unless a link says otherwise. */
export type LinksConvention = "explicit" | "implicit_sequential" | "implicit_sequential_with_branches";

/** The root's documents. */
export interface RootMeta {
  readonly version: string;
  readonly axes: readonly Axis[];
  readonly chunkShape: readonly number[];
  readonly bounds: { readonly min: readonly number[]; readonly max: readonly number[] };
  /** As written: "point_cloud", "streamline" … */
  readonly geometryTypes: readonly string[];
  readonly capabilities: readonly string[];
  readonly requiredCapabilities: readonly string[];
  readonly crs: Json | undefined;
  readonly linksConvention: LinksConvention;
  readonly identityIndex: boolean;
  readonly baseBinShape: readonly number[] | undefined;
  readonly crossLevelDepth: number | undefined;
  readonly crossLevelStorage: "none" | "implicit" | "explicit";
  readonly reductionFactor: number | undefined;
  readonly attributeSpecs: JsonObject | undefined;
  readonly coordinateOffset: readonly number[] | undefined;
  /** By level number: from the multiscales document, whose translation is half a bin. */
  readonly bins: ReadonlyMap<number, readonly number[]>;
  /** The levels that the multiscales document names, ascending; undefined where there is none (to 0.4). */
  readonly levels: readonly number[] | undefined;
  readonly userMetadata: JsonObject | undefined;
  /** The whole attributes of the root, so that what is not understood is written back. */
  readonly attributes: JsonObject;
  readonly notes: readonly string[];
}

/** The documents of a level. */
export interface LevelMeta {
  readonly level: number;
  /** "0", or "resolution_0" before 0.5. */
  readonly path: string;
  readonly vertexCount: number | undefined;
  readonly arraysPresent: readonly string[];
  readonly objectSparsity: number | undefined;
  readonly coarseningMethod: string | undefined;
  readonly parentLevel: number | undefined;
  /** Its own, or the root's. */
  readonly chunkShape: readonly number[];
  readonly binShape: readonly number[];
  readonly preservesObjectIds: boolean;
  readonly inheritedNumObjects: number | undefined;
  readonly sharedFragments: boolean;
  readonly fragmentsTile: boolean;
  /** A level whose leading chunk axis is a categorical vertex attribute. */
  readonly chunkAttribute: { readonly name: string; readonly values: readonly Json[] } | undefined;
  readonly presenceDeferred: boolean;
  readonly attributes: JsonObject;
  readonly notes: readonly string[];
}

export interface CellOptions extends ReadOptions {
  /** Where payloads may be put, by who is done with them soon; otherwise each has memory of its own. */
  readonly room?: Room | undefined;
}

/** One logical array of blobs, one for each chunk that has any: vertices, fragments, links, attributes. */
export interface Cells {
  /** Below the level: "vertices", "vertex_attributes/fa", "links/0/+1.0.0". */
  readonly path: string;
  /** What its document says of it (`dtype`, `encoding`, `row_shape` …). */
  readonly attributes: JsonObject;
  /** Its blobs are files here: nobody waits for one while another is on its way. */
  readonly near?: boolean | undefined;
  /**
   * The chunks with a blob, as coordinates (rank numbers each) in ascending numeric order. From the array's own directory, else by
   * listing; Unsupported where neither can be had.
   */
  directory(
    options?: ReadOptions,
  ): Promise<{ readonly count: number; readonly rank: number; readonly coords: Int32Array }>;
  /** The chunks that lie in the store, whatever the array's directory says; there where both can be had. */
  stored?(
    options?: ReadOptions,
  ): Promise<{ readonly count: number; readonly rank: number; readonly coords: Int32Array }>;
  /** The payloads of chunks, by coordinates; undefined where there is none. A blob that the directory names and the store lacks is Corrupt. */
  read(coords: Int32Array, options?: CellOptions): Promise<readonly (Uint8Array | undefined)[]>;
  /** How many requests that would be, and encoded bytes as far as they are known: `exact` says whether all are. */
  cost(
    coords: Int32Array,
    options?: ReadOptions,
  ): Promise<{ readonly requests: number; readonly bytes: number; readonly exact: boolean }>;
}

/** A dense array of a level: object ids and attributes, group attributes. */
export interface Dense {
  readonly attributes: JsonObject;
  readonly shape: readonly number[];
  /** Rows from, up to; all of them where nothing is said. */
  read(from?: number, to?: number, options?: ReadOptions): Promise<NdArray>;
}

/** The nodes of one level (or of `parametric`) as they lie in the store, whatever the container. */
export interface LevelNodes {
  readonly dialect: Dialect;
  /** The attributes of a group or array; undefined where there is no such node. A group without a document has none. */
  attributes(path: string, options?: ReadOptions): Promise<JsonObject | undefined>;
  /** The document of a node as it lies in the store, where it has one of its own. */
  document(path: string, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** Names below a group, sorted: attribute names, deltas, offsets. From metadata where it tells, else by listing. */
  children(path: string, options?: ReadOptions): Promise<readonly string[]>;
  /**
   * With `fresh`, from the array's own document where consolidated metadata told of it before: for who meets a chunk that the
   * directory should have and has not, before calling that damage.
   */
  cells(path: string, options?: ReadOptions & { readonly fresh?: boolean | undefined }): Promise<Cells | undefined>;
  /** A single blob of bytes (`object_index/data`), whole. */
  blob(path: string, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** An ordinary array, or what plays its part (`data` with dtype and shape in the document). */
  dense(path: string, options?: ReadOptions): Promise<Dense | undefined>;
  /** The elements of a 1-D vlen array (manifests, groups), by row ranges. */
  vlen(path: string, options?: ReadOptions): Promise<VlenArray | undefined>;
}

/** A 1-D array of blobs. */
export interface VlenArray {
  readonly attributes: JsonObject;
  readonly length: number;
  /** Elements stored together: reading one reads all of its chunk. */
  readonly chunk: number;
  read(from: number, to: number, options?: ReadOptions): Promise<readonly Uint8Array[]>;
  /** The same in one piece of memory, without an object for each. */
  blobs(from: number, to: number, options?: CellOptions): Promise<Blobs>;
  /** The vlen chunk with elements from i × `chunk`, as payload/blobs.ts describes it; undefined where none is stored. */
  piece(i: number, options?: CellOptions): Promise<Uint8Array | undefined>;
}
