/**
 * The two first formats. v0 is that of zarr 0.4.0 (and 0.3.0, whose `__zmeta__` is a pickle of the same things), v1 that
 * of zarr 1.x.
 *
 * | v0 `__zmeta__`            | v1 `meta`                                             |
 * |---------------------------|-------------------------------------------------------|
 * | shape, chunks, dtype, fill_value | the same                                       |
 * | cname, clevel, shuffle    | compression "blosc", compression_opts {cname, clevel, shuffle} |
 * | —                         | compression "zlib" "bz2", compression_opts: the level |
 * | —                         | compression "lzma", compression_opts {check, filters, format, preset} |
 * | —                         | compression "none", compression_opts null             |
 * | C order always            | order "C" or "F"                                      |
 * | —                         | zarr_format 1                                         |
 *
 * All of them are mandatory. v0 stores no version number: the first byte is "{" for JSON, "(" for a pickle.
 */
import type { FixedDataType } from "../../bytes/dtype.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import type { CodecSpec } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { bloscSpec, bytesSpec, chainFromV2 } from "./chain.js";
import {
  asChunkShape,
  asInteger,
  asObject,
  asShape,
  asString,
  checkChunkBytes,
  readAttributes,
  readDocument,
  show,
  wrong,
} from "./document.js";
import { parseNumpyDtype } from "./dtype-numpy.js";
import { parseNumpyFill } from "./fill-numpy.js";
import { parsePickle } from "./pickle.js";
import type { ArrayMeta, Attributes, ChunkKeys } from "./types.js";

/** What blosc can decode by name; zarr 0.4.0 itself refuses to write zstd. */
const cnames = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

export function parseV0(zmeta: Uint8Array, zattr: Uint8Array | undefined, limits: Limits, where: string): ArrayMeta {
  const attributes = readAttributes(zattr, limits, where);
  const isPickle = zmeta[0] === 0x28;
  const document = isPickle
    ? asObject(parsePickle(zmeta, limits, where), "a dict", where)
    : readDocument(zmeta, limits, where);
  const common = parseCommon(document, 0, attributes, limits, where);
  const cname = asString(document.cname, "the name of a compressor as cname", where);
  if (!cnames.includes(cname))
    throw new Unsupported(`${where} has the compressor ${show(cname)}, blosc has ${cnames.join(" ")}`, { where });
  const clevel = asInteger(document.clevel, 0, 9, "a clevel", where);
  const shuffle = asInteger(document.shuffle, 0, 2, "a shuffle", where);
  const codecs = [bytesSpec(common.dtype), bloscSpec(cname, clevel, shuffle, 0, common.dtype.size, where)];
  const notes = isPickle ? ["The metadata is a pickle of zarr 0.3.0."] : [];
  return array(common, codecs, { kind: "v0" }, notes);
}

export function parseV1(meta: Uint8Array, attrs: Uint8Array | undefined, limits: Limits, where: string): ArrayMeta {
  const document = readDocument(meta, limits, where);
  if (document.zarr_format !== 1) throw wrong(where, "zarr_format 1", document.zarr_format);
  const common = parseCommon(document, 1, readAttributes(attrs, limits, where), limits, where);
  const { order } = document;
  if (order !== "C" && order !== "F") throw wrong(where, 'an order of "C" or "F"', order);
  const compressor = parseCompression(document, where);
  const codecs = chainFromV2(null, compressor, common.dtype, order, common.shape.length, where);
  return array(common, codecs, { kind: "v2", separator: "." }, []);
}

/** v1's compression as v2 has it: the same codecs under other names. */
function parseCompression(document: JsonObject, where: string): Json {
  const { compression, compression_opts: options = null } = document;
  switch (compression) {
    case "blosc":
    case "lzma":
      return { id: compression, ...asObject(options, "an object as compression_opts", where) };
    case "zlib":
    case "bz2":
      return { id: compression, level: asInteger(options, 0, 9, "compression_opts", where) };
    case "none":
      return null;
  }
  const name = asString(compression, "a compression", where);
  throw new Unsupported(`${where} has the compression ${show(name)}, Octavo knows blosc zlib bz2 lzma none`, { where });
}

type Common = Pick<
  ArrayMeta,
  "version" | "shape" | "chunkShape" | "fill" | "fillIsNull" | "fillAs" | "attributes" | "notes"
> & {
  readonly dtype: FixedDataType;
};

function parseCommon(
  document: JsonObject,
  version: 0 | 1,
  attributes: Attributes,
  limits: Limits,
  where: string,
): Common {
  const shape = asShape(document.shape, "shape", where);
  const chunkShape = asChunkShape(document.chunks, shape, "chunks", where);
  const dtype = parseNumpyDtype(document.dtype, where);
  checkChunkBytes(chunkShape, dtype, limits, where);
  const value = document.fill_value;
  if (value === undefined) throw wrong(where, "a fill_value", value);
  const { fill, notes } = parseNumpyFill(value, dtype, version, where);
  const fillIsNull = value === null;
  const fillAs = { version, value };
  return { version, shape, chunkShape, dtype, fill, fillIsNull, fillAs, notes, attributes };
}

function array(common: Common, codecs: readonly CodecSpec[], keys: ChunkKeys, notes: readonly string[]): ArrayMeta {
  const rest = { dimensionNames: undefined, storageTransformers: [] };
  return { node: "array", ...common, codecs, keys, ...rest, notes: [...common.notes, ...notes] };
}
