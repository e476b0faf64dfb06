/** What every format decodes into. Only arrays and their groups so far. */
import type { DataType } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import type { CodecSpec, Element } from "../codec/types.js";
import type { Limits } from "../limits.js";
import type { Key } from "../store/key.js";
import type { NdArray, Region } from "./array.js";

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly unit: "chunks" | "bytes" | "objects" | "files";
}

export interface ReadPlan {
  readonly requests: number;
  /** Encoded bytes where the store's directory tells, else the decoded size of the chunks touched. */
  readonly bytes: number;
  readonly exact: boolean;
}

export interface ArrayDataset {
  readonly kind: "array";
  readonly format: string;
  readonly version: string;
  readonly url: string;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly dtype: DataType;
  readonly fill: Element;
  readonly dimensionNames: readonly (string | null)[] | undefined;
  /** What a chunk goes through when it is written, first step first. */
  readonly codecs?: readonly CodecSpec[];
  readonly attributes: { readonly [key: string]: Json };
  /** What a person should know before trusting the data, in sentences. */
  readonly notes: readonly string[];
  read(region?: Region, options?: ReadOptions): Promise<NdArray>;
  plan(region?: Region): Promise<ReadPlan>;
  /** The chunks that are there, in no particular order; undefined where the store cannot list. */
  stored?(options?: ReadOptions): AsyncIterable<StoredChunk> | undefined;
}

export interface StoredChunk {
  /** Its place in the grid. */
  readonly index: readonly number[];
  readonly key: Key;
  readonly size?: number | undefined;
}

export interface GroupDataset {
  readonly kind: "group";
  readonly format: string;
  readonly version: string;
  readonly url: string;
  readonly attributes: { readonly [key: string]: Json };
  readonly notes: readonly string[];
  /** Names and kinds of the nodes directly below; undefined where neither metadata nor store can list them. */
  children(options?: ReadOptions): Promise<readonly Child[] | undefined>;
  open(path: string, options?: ReadOptions): Promise<Dataset>;
}

export interface Child {
  readonly name: string;
  readonly kind: "array" | "group";
}

export type Dataset = ArrayDataset | GroupDataset;
