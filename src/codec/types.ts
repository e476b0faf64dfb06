/**
 * What a codec is. A codec declares itself by name in the registry, is loaded on demand (that is where it waits), and from
 * then on works synchronously on bytes, so that it runs the same in a worker, in a test and in a browser.
 *
 * In memory, elements of fixed size are bytes in C order, little-endian; elements of variable size are values.
 */
import type { DataType } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import type { Limits } from "../limits.js";

/** A codec by its name, with its options, as v3 spells it. */
export interface CodecSpec {
  readonly name: string;
  readonly configuration: { readonly [key: string]: Json };
}

/** The chunk that a codec works on, as it is before encoding. */
export interface ChunkSpec {
  readonly shape: readonly number[];
  readonly dtype: DataType;
  /** One element, encoded as in memory; what missing parts are filled with. */
  readonly fill: Element;
}

/** A value of a variable-length element. */
export type VlenValue = string | Uint8Array | NumericArray;
/** The typed arrays that elements come in. */
export type NumericArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;
/** One element: the bytes of a fixed-size type as in memory, else its value. */
export type Element = Uint8Array | VlenValue;

/** The elements of a chunk: raw bytes for a fixed-size type, else one value per element. */
export type ChunkData = Uint8Array | VlenValue[];

/** Memory that many results go into, one after the other. */
export interface Room {
  take(bytes: number): Uint8Array;
}

/**
 * Memory for a result; fresh memory costs more than decoding. Bytes, exactly as many as are expected, may become the result.
 * "lend": the result may lie in the codec's own memory, where the next call overwrites it.
 */
export type Into = Uint8Array | "lend" | Room;

export interface BytesCodec {
  readonly kind: "bytes-bytes";
  /**
   * `expected` is the exact number of bytes that must come out, where it is known: anything else is Corrupt. Where it is
   * not known, `limits.chunkBytes` and `limits.ratio` bound it.
   */
  decode(bytes: Uint8Array, expected: number | undefined, limits: Limits, into?: Into): Uint8Array;
  encode(bytes: Uint8Array): Uint8Array;
  /** The size that `encode` gives for n bytes, where that does not depend on the bytes. */
  encodedSize?(n: number): number;
}

export interface ArrayCodec {
  readonly kind: "array-array";
  /** What the next codec in the chain sees. */
  encodedSpec(spec: ChunkSpec): ChunkSpec;
  /** `spec` is always the decoded side. */
  decode(data: ChunkData, spec: ChunkSpec, limits: Limits): ChunkData;
  encode(data: ChunkData, spec: ChunkSpec): ChunkData;
}

export interface ArrayBytesCodec {
  readonly kind: "array-bytes";
  decode(bytes: Uint8Array, spec: ChunkSpec, limits: Limits, into?: Into): ChunkData;
  encode(data: ChunkData, spec: ChunkSpec, options?: EncodeOptions): Uint8Array;
  /** The encoded size where the type is of fixed size and the encoding does not depend on the values. */
  encodedSize?(spec: ChunkSpec): number | undefined;
}

export interface EncodeOptions {
  /** Shards store inner chunks that are nothing but fill, too. Off: absent ones read the same. */
  readonly keepEmpty?: boolean | undefined;
}

export type Codec = BytesCodec | ArrayCodec | ArrayBytesCodec;

/** One entry of the registry; `load` checks the configuration (InvalidInput or Unsupported) and waits for code or WASM. */
export interface CodecEntry {
  readonly name: string;
  /** Other names under which files know it. */
  readonly aliases?: readonly string[];
  load(configuration: CodecSpec["configuration"], context: LoadContext): Promise<Codec>;
}

export interface LoadContext {
  /** Loads the chain inside a codec that has one (sharding_indexed). */
  chain(specs: readonly CodecSpec[]): Promise<readonly Codec[]>;
  /** Nothing will be encoded: what only that needs is not loaded. */
  readonly decodeOnly?: boolean | undefined;
  /** Whoever encodes loads what is missed then (`withMissingCode`). */
  readonly onDemand?: boolean | undefined;
}
