/** What every format decodes into: arrays and their groups here, geometry in vectors.ts. */
import type { DataType } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import type { CodecSpec, Element } from "../codec/types.js";
import type { Limits } from "../limits.js";
import type { Key } from "../store/key.js";
import type { Pool } from "../worker/pool.js";
import type { NdArray, Region } from "./array.js";
import type { VectorDataset } from "./vectors.js";

/** What every call that reads understands. */
export interface ReadOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** What may be allocated; `defaultLimits` has the rest. */
  readonly limits?: Partial<Limits> | undefined;
  /** Called whenever a piece of the work is done. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * At most so many requests for a million of particles, however much is read in vain between what is wanted: for servers that are
   * far away. Formats whose data are not in one file make as many as they need.
   */
  readonly requests?: number | undefined;
}

/** What reading elements understands besides. */
export interface ReadArrayOptions extends ReadOptions {
  /** Workers to decode in; without one, or with one of size 0, this thread does it. */
  readonly pool?: Pool | undefined;
  /**
   * Memory for the result, exactly as many bytes as it has; elements of fixed size only. Memory that is used again is
   * faster than new memory; into shared memory (a SharedArrayBuffer) the workers of a pool write by themselves.
   */
  readonly into?: Uint8Array | undefined;
}

/** How far a piece of work is. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly unit: "chunks" | "bytes" | "vertices" | "objects" | "files";
}

/** What a read will cost, known before any data is read. */
export interface ReadPlan {
  readonly requests: number;
  /** Encoded bytes where the store's directory tells, else the decoded size of the chunks touched. */
  readonly bytes: number;
  readonly exact: boolean;
}

/** An opened array, whatever its format. */
export interface ArrayDataset {
  readonly kind: "array";
  readonly format: string;
  readonly version: string;
  readonly url: string;
  readonly shape: readonly number[];
  /** What is stored under one key: the shard where there are shards. */
  readonly chunkShape: readonly number[];
  readonly dtype: DataType;
  /** What absent chunks are made of. */
  readonly fill: Element;
  readonly dimensionNames: readonly (string | null)[] | undefined;
  /** What a chunk goes through when it is written, first step first. */
  readonly codecs?: readonly CodecSpec[];
  readonly attributes: { readonly [key: string]: Json };
  /** What a person should know before trusting the data, in sentences. */
  readonly notes: readonly string[];
  /** The same at several scales, where the format has them: this one, then coarser ones. */
  readonly levels?: readonly ArrayDataset[];
  /** The elements of a region, or of the whole array. */
  read(region?: Region, options?: ReadArrayOptions): Promise<NdArray>;
  /** What `read` of the same region would cost. */
  plan(region?: Region): Promise<ReadPlan>;
  /** The chunks that are there, in no particular order; undefined where the store cannot list. */
  stored?(options?: ReadOptions): AsyncIterable<StoredChunk> | undefined;
}

/** A chunk that is there. */
export interface StoredChunk {
  /** Its place in the grid. */
  readonly index: readonly number[];
  readonly key: Key;
  readonly size?: number | undefined;
}

/** An opened group: attributes, and nodes below. */
export interface GroupDataset {
  readonly kind: "group";
  readonly format: string;
  readonly version: string;
  readonly url: string;
  readonly attributes: { readonly [key: string]: Json };
  readonly notes: readonly string[];
  /** Names and kinds of the nodes directly below; undefined where neither metadata nor store can list them. */
  children(options?: ReadOptions): Promise<readonly Child[] | undefined>;
  /** The array or group at a path below. */
  open(path: string, options?: ReadOptions): Promise<ArrayDataset | GroupDataset>;
}

/** A node directly below a group. */
export interface Child {
  readonly name: string;
  readonly kind: "array" | "group";
}

/** What `open` gives: ask `kind` first. */
export type Dataset = ArrayDataset | GroupDataset | VectorDataset;
