/**
 * The seam under everything precomputed: a map from uint64 ids to bytes. Skeletons, meshes, annotations and the chunks of
 * volumes are such maps, stored in shards (sharded/) or in one file per id (unsharded.ts); what is built on top does not see
 * the difference.
 *
 * Some values own bytes that lie before them: the fragments of a multi-resolution mesh, directly before its manifest in the
 * shard, or in a file of their own. They are given to `put`, read with `before`, and go with their value wherever it goes.
 */
import type { ReadOptions } from "../../model/dataset.js";
import type { Finding, RepairOptions, RepairReport, ValidateOptions } from "../../model/format.js";
import type { Prefix } from "../../store/key.js";
import type { ScratchPlace } from "../../store/scratch.js";
import type { Store } from "../../store/types.js";
import type { Compacted, CompactOptions } from "./sharded/edit.js";
import type { Sharding } from "./sharded/types.js";

/** Some ids of all: from `from` up to, not including, `to`. */
export interface IdRange {
  /** 0 unless told. */
  readonly from?: bigint | undefined;
  /** 2^64 unless told. */
  readonly to?: bigint | undefined;
}

/** Which ids, and in which order. */
export interface ScanOptions extends ReadOptions {
  /** All unless told. */
  readonly range?: IdRange | undefined;
  /**
   * "stored", unless told: shard after shard, in a shard minishard after minishard, in a minishard ascending; needs the
   * memory of one shard's index. "id": ascending throughout; needs 8 bytes of memory for each id.
   */
  readonly order?: "stored" | "id" | undefined;
}

/** Values with their ids. */
export interface ValueBatch {
  readonly ids: BigUint64Array;
  /** One for each id. Those of one batch may share their memory. */
  readonly values: readonly Uint8Array[];
}

/** Answers to some of the ids that were asked for. */
export interface FoundValues {
  /** Their places among the ids that were asked for. */
  readonly rows: Uint32Array;
  /** One for each of these; undefined where there is none. */
  readonly values: readonly (Uint8Array | undefined)[];
}

/** A map from uint64 to bytes that is read. */
export interface ValueReader {
  /** null where each value is a file. */
  readonly sharding: Sharding | null;
  /** The value of an id; undefined where there is none. */
  get(id: bigint, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /**
   * `length` of the bytes that lie before the value of an id, from `back` bytes before it on; stored bytes as they are,
   * without decoding. Undefined where there is no such value.
   */
  before(id: bigint, back: number, length: number, options?: ReadOptions): Promise<Uint8Array | undefined>;
  /** The values of many ids, in batches as they arrive, with few requests. Each id is answered once. */
  getMany(ids: BigUint64Array, options?: ReadOptions): AsyncIterable<FoundValues>;
  /** The ids that there are, without touching values. Unsupported where the store cannot tell. */
  ids(options?: ScanOptions): AsyncIterable<BigUint64Array>;
  /** Every value with its id. */
  entries(options?: ScanOptions): AsyncIterable<ValueBatch>;
}

/** What a writer has written. */
export interface ValuesWritten {
  readonly values: number;
  /** Bytes of all files together. */
  readonly bytes: number;
  readonly files: number;
}

/** A map from uint64 to bytes that is written. */
export interface ValueWriter {
  /**
   * Takes a value, in any order of ids; an id may come once. `before` is stored directly before it, as it is. Both may be
   * used again once the promise settles.
   */
  put(id: bigint, bytes: Uint8Array, before?: Uint8Array): Promise<void>;
  /** False: the store throws away what this id would be written to, so that its value need not be made. */
  wants?(id: bigint): boolean;
  /** Writes what was put; InvalidInput where an id came twice, and then nothing of it stays. */
  commit(): Promise<ValuesWritten>;
  /** Removes everything that was written; safe to call twice and after commit. */
  abort(): Promise<void>;
}

/** Changes of a map that is there: `put` adds and replaces. Together or not at all, where the store writes on a condition. */
export interface ValueEditor extends ValueWriter {
  /** Takes a value away, with the bytes before it; no error where there is none. */
  delete(id: bigint): Promise<void>;
}

/** The files of values that are not sharded. */
export interface ValueNames {
  /** The name of the file that holds the value of an id. */
  nameOf(id: bigint): string;
  /** Undefined for files that are no value. */
  idOf(name: string): bigint | undefined;
  /** The file of the bytes that belong before a value. Without it values have none. */
  beforeOf?(id: bigint): string;
}

/** How to open a map. */
export interface OpenValuesOptions extends ReadOptions {
  /** Of values that are not sharded; decimal ids unless told. */
  readonly names?: ValueNames | undefined;
  /** Bytes of indexes of shards that are kept; 64 MiB unless told, which is the index of 2.8 million values. */
  readonly cacheBytes?: number | undefined;
}

/** How to write a map. */
export interface WriteValuesOptions extends OpenValuesOptions {
  /** Bytes that may be held before values are put aside; 32 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** Where they are put aside; by default below `.octavo/` of the place itself. */
  readonly scratch?: ScratchPlace | undefined;
  /** Delete what is there first; else Conflict. Means nothing to edits. */
  readonly overwrite?: boolean | undefined;
  /** Off where `store` is already that of a transaction: these are not nested, and `scratch` must be elsewhere. */
  readonly transaction?: boolean | undefined;
}

/** Opens the map below a prefix; null for one file per id. Nothing is read before it is asked for. */
export async function openValues(
  store: Store,
  at: Prefix,
  sharding: Sharding | null,
  options: OpenValuesOptions = {},
): Promise<ValueReader> {
  if (sharding === null) return (await import("./unsharded.js")).openUnsharded(store, at, options);
  return (await import("./sharded/read.js")).openSharded(store, at, sharding, options);
}

/** Begins a new map; Conflict where one is. Its info, which the caller writes after `commit`, is what makes it visible. */
export async function createValues(
  store: Store,
  at: Prefix,
  sharding: Sharding | null,
  options: WriteValuesOptions = {},
): Promise<ValueWriter> {
  if (sharding === null) return (await import("./unsharded.js")).createUnsharded(store, at, options);
  return (await import("./sharded/write.js")).createSharded(store, at, sharding, options);
}

/** Begins changes of a map that is there. */
export async function editValues(
  store: Store,
  at: Prefix,
  sharding: Sharding | null,
  options: WriteValuesOptions = {},
): Promise<ValueEditor> {
  if (sharding === null) return (await import("./unsharded.js")).editUnsharded(store, at, options);
  return (await import("./sharded/edit.js")).editSharded(store, at, sharding, options);
}

/** Everything that can be said against the shards of a map; the rules are in SPEC.md. */
export async function* verifyValues(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: ValidateOptions = {},
): AsyncGenerator<Finding> {
  yield* (await import("./sharded/verify.js")).verifySharded(store, at, sharding, options);
}

/** Writes shards again that hold everything, but not as they should; together or not at all. */
export async function repairValues(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: RepairOptions = {},
): Promise<RepairReport> {
  return (await import("./sharded/repair.js")).repairSharded(store, at, sharding, options);
}

/** Writes every shard again, in the usual order, without gaps; shards of two files become one, empty ones go. */
export async function compactValues(
  store: Store,
  at: Prefix,
  sharding: Sharding,
  options: CompactOptions = {},
): Promise<Compacted> {
  return (await import("./sharded/edit.js")).compactSharded(store, at, sharding, options);
}
