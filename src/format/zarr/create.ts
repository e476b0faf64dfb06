/**
 * New arrays and groups. The metadata is written on the condition that nothing is there yet; `overwrite` first deletes what
 * is.
 *
 * What a description leaves out, and why it is chosen so:
 *
 * | left out   | becomes                                                                                           |
 * |------------|---------------------------------------------------------------------------------------------------|
 * | version    | 3                                                                                                 |
 * | chunkShape | the shape, its longest axis halved until a chunk is at most 2 MiB: few requests, little waste     |
 * | fill       | zeros, or empty                                                                                   |
 * | codecs v3  | bytes, blosc (lz4, level 5, shuffle), crc32c: numbers shrink when shuffled, lz4 decodes fastest,  |
 * |            | and blosc itself notices no damage. Values of variable size: vlen, zstd with its checksum.        |
 * | codecs v2  | blosc (lz4, level 5, shuffle), zarr-python's own choice; zstd for values of variable size         |
 * | codecs v0  | blosc (blosclz, level 5, shuffle), as zarr 0.4.0                                                  |
 */
import { type DataType, isFixed } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import type { CodecSpec, Element } from "../../codec/types.js";
import { Conflict, Corrupt, InvalidInput, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { bloscSpec, bytesSpec } from "./chain.js";
import { loadCodec } from "./decode.js";
import { asChunkShape, asShape, checkChunkBytes } from "./document.js";
import { formatNumpyDtype, parseNumpyDtype } from "./dtype-numpy.js";
import { parseV3Dtype } from "./dtype-v3.js";
import { deleteNode } from "./edit.js";
import { zeroElement } from "./element.js";
import { encodeNode } from "./encode.js";
import { parseV3Fill } from "./fill-v3.js";
import { arrayNode, groupNode, urlOf, type ZarrArray, type ZarrGroup } from "./node.js";
import { detectZarr } from "./open.js";
import type { ArrayMeta, Attributes, ChunkKeys, GroupMeta } from "./types.js";

/** The versions that are written; v1 is read only. */
export type WritableVersion = 0 | 2 | 3;
/** A word for a usual chain of codecs. */
export type Compressor = "blosc" | "zstd" | "gzip" | "none";

/** A new array; what is left out is chosen as docs/formats/zarr.md says. */
export interface ArrayDescription {
  /** 3 unless told otherwise. */
  readonly version?: WritableVersion | undefined;
  readonly shape: readonly number[];
  /** A type, its v3 name ("float32"), or numpy's ("<f4"). */
  readonly dtype: DataType | string;
  /** By default the shape, its longest axis halved until a chunk is at most 2 MiB. */
  readonly chunkShape?: readonly number[] | undefined;
  /** v3: chunks lie in shards of this shape, a multiple of `chunkShape`, one key each. */
  readonly shardShape?: readonly number[] | undefined;
  /** One element as bytes, or a value as v3 spells fill values: 3, true, "NaN", [re, im], text. */
  readonly fill?: Element | Json | undefined;
  /** The chain, v3 style, or one word for its compressor; inside shards where there are shards. */
  readonly codecs?: readonly CodecSpec[] | Compressor | undefined;
  /** Between the indices in the key of a chunk; "/" in v3 and "." in v2 unless told otherwise. */
  readonly separator?: "." | "/" | undefined;
  /** v3: one per axis; null for one without a name. */
  readonly dimensionNames?: readonly (string | null)[] | undefined;
  readonly attributes?: Attributes | undefined;
}

/** What may happen to what is already there. */
export interface CreateOptions extends ReadOptions {
  /** Delete what is there first; else Conflict. */
  readonly overwrite?: boolean | undefined;
}

/** Makes an array without chunks; Conflict where something is. */
export async function createArray(
  store: Store,
  at: Prefix,
  description: ArrayDescription,
  options: CreateOptions = {},
): Promise<ZarrArray> {
  const meta = describeArray(description);
  checkChunkBytes(meta.chunkShape, meta.dtype, withLimits(options.limits), "the description");
  await loadCodec(meta); // refuses a chain that cannot work before anything is written
  const documents = encodeNode(meta);
  await makeRoom(store, at, options);
  await writeDocuments(store, at, documents, options);
  return arrayNode(store, at, meta);
}

/** Makes a group; Conflict where something is. */
export async function createGroup(
  store: Store,
  at: Prefix,
  description: { readonly version?: 2 | 3 | undefined; readonly attributes?: Attributes | undefined } = {},
  options: CreateOptions = {},
): Promise<ZarrGroup> {
  const { version = 3, attributes = {} } = description;
  const meta: GroupMeta = { node: "group", version, attributes, consolidated: undefined, notes: [] };
  const documents = encodeNode(meta);
  await makeRoom(store, at, options);
  await writeDocuments(store, at, documents, options);
  return groupNode(store, at, meta);
}

/** Conflict where something is, unless it may go. */
export async function makeRoom(store: Store, at: Prefix, options: CreateOptions): Promise<void> {
  const match = await detectZarr(store, at, options);
  if (match === undefined) return;
  if (options.overwrite !== true) {
    const where = urlOf(store, at);
    throw new Conflict(`${where} already holds a ${match.summary}`, {
      where,
      hint: "Choose another place, or replace it: { overwrite: true }, --overwrite.",
    });
  }
  await deleteNode(store, at, options);
}

/** The document that makes the node visible comes last. */
export async function writeDocuments(
  store: Store,
  at: Prefix,
  documents: ReadonlyMap<string, Uint8Array>,
  options: CreateOptions,
): Promise<void> {
  const condition = store.can.conditional ? ({ absent: true } as const) : undefined;
  for (const [name, bytes] of [...documents].reverse()) {
    await store.set(Key.join(at, name), bytes, { signal: options.signal, if: condition });
  }
}

/** The full metadata that a description stands for. What would be damage in a document is a wrong argument here. */
export function describeArray(description: ArrayDescription): ArrayMeta {
  try {
    return metaOf(description);
  } catch (error) {
    throw error instanceof Corrupt ? new InvalidInput(error.message, { cause: error }) : error;
  }
}

function metaOf(description: ArrayDescription): ArrayMeta {
  const where = "the description";
  const { version = 3, attributes = {}, dimensionNames, shardShape } = description;
  const shape = asShape(description.shape, "shape", where);
  const dtype = typeof description.dtype === "string" ? parseDtype(description.dtype) : description.dtype;
  const chunkShape =
    description.chunkShape === undefined
      ? chooseChunkShape(shardShape ?? shape, dtype)
      : asChunkShape(description.chunkShape, shape, "chunkShape", where);
  if (dimensionNames !== undefined && dimensionNames.length !== shape.length) {
    throw new InvalidInput(`${where} has ${dimensionNames.length} dimension names for ${shape.length} axes`);
  }
  if (shardShape !== undefined && version !== 3) throw new Unsupported(`Zarr v${version} has no shards`);
  const { codecs: chain } = description;
  const codecs = typeof chain === "object" ? chain : codecsFor(version, dtype, chain);
  return {
    node: "array",
    version,
    shape,
    chunkShape: shardShape === undefined ? chunkShape : asChunkShape(shardShape, shape, "shardShape", where),
    dtype,
    fill: elementOf(description.fill, dtype),
    fillIsNull: false,
    codecs: shardShape === undefined ? codecs : [shardOf(chunkShape, codecs)],
    keys: keysOf(version, description.separator),
    dimensionNames,
    attributes,
    storageTransformers: [],
    notes: [],
  };
}

function parseDtype(text: string): DataType {
  return /^[<>|=]/.test(text)
    ? parseNumpyDtype(text, "the description")
    : parseV3Dtype(text, "little", "the description");
}

function elementOf(fill: Element | Json | undefined, dtype: DataType): Element {
  if (fill === undefined || fill === null) return zeroElement(dtype);
  if (!ArrayBuffer.isView(fill)) return parseV3Fill(fill as Json, dtype, "the description");
  if (isFixed(dtype) && fill.byteLength !== dtype.size) {
    throw new InvalidInput(`the fill value has ${fill.byteLength} bytes, an element has ${dtype.size}`);
  }
  return fill as Element;
}

export function keysOf(version: WritableVersion, separator?: "." | "/"): ChunkKeys {
  if (version === 0) return { kind: "v0" };
  return version === 2 ? { kind: "v2", separator: separator ?? "." } : { kind: "default", separator: separator ?? "/" };
}

const TARGET = 2 << 20;

export function chooseChunkShape(shape: readonly number[], dtype: DataType): number[] {
  const size = isFixed(dtype) ? dtype.size : 64; // a guess: variable values are mostly short texts
  const chunk = shape.map((length) => (length === 0 ? TARGET : length)); // an axis of 0 is there to grow
  while (chunk.reduce((product, n) => product * n, size) > TARGET && chunk.some((n) => n > 1)) {
    const longest = chunk.indexOf(Math.max(...chunk));
    chunk[longest] = Math.ceil(chunk[longest]! / 2);
  }
  return chunk;
}

/** A chain for elements of this type, with the compressor that is asked for. */
export function codecsFor(version: WritableVersion, dtype: DataType, compressor?: Compressor): CodecSpec[] {
  const chosen = compressor ?? (isFixed(dtype) ? "blosc" : "zstd");
  const checksum: CodecSpec[] = version === 3 && chosen !== "zstd" ? [{ name: "crc32c", configuration: {} }] : [];
  return [toBytes(dtype), ...compression(chosen, version, dtype), ...checksum];
}

function toBytes(dtype: DataType): CodecSpec {
  if (isFixed(dtype)) return bytesSpec(dtype);
  if (dtype.kind === "vlen-array")
    return { name: "vlen-array", configuration: { dtype: formatNumpyDtype(dtype.item) } };
  return { name: dtype.kind === "string" ? "vlen-utf8" : "vlen-bytes", configuration: {} };
}

function compression(compressor: Compressor, version: WritableVersion, dtype: DataType): CodecSpec[] {
  const size = isFixed(dtype) ? dtype.size : 1;
  switch (compressor) {
    case "none":
      return [];
    case "gzip":
      return [{ name: "gzip", configuration: { level: 5 } }];
    case "zstd":
      return [{ name: "zstd", configuration: { level: 3, checksum: true } }];
    case "blosc":
      return [bloscSpec(version === 0 ? "blosclz" : "lz4", 5, size === 1 && version !== 0 ? 0 : 1, 0, size, "")];
  }
}

export function shardOf(chunkShape: readonly number[], codecs: readonly CodecSpec[]): CodecSpec {
  const index = [
    { name: "bytes", configuration: { endian: "little" } },
    { name: "crc32c", configuration: {} },
  ];
  return {
    name: "sharding_indexed",
    configuration: {
      chunk_shape: [...chunkShape],
      codecs: codecs as unknown as Json,
      index_codecs: index,
      index_location: "end",
    },
  };
}
