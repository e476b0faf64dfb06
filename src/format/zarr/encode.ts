/**
 * From the one description back to documents, each as its reference writes it.
 *
 * | version | documents                                | text                                                          |
 * |---------|------------------------------------------|---------------------------------------------------------------|
 * | 3       | `zarr.json`                              | indent 2, as zarr-python 3                                    |
 * | 2       | `.zarray` or `.zgroup`, `.zattrs`; `.zmetadata` | indent 4, sorted keys, as zarr-python 2                |
 * | 0       | `__zmeta__`, `__zattr__`                 | byte for byte as zarr 0.4.0: indent 4, sorted, ASCII, bare NaN |
 *
 * What a version cannot express is Unsupported; nothing is left out in silence. v1 is only read.
 */
import { type DataType, isFixed } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { type StringifyOptions, stringifyJson, type WritableJson } from "../../bytes/json-write.js";
import { Unsupported } from "../../errors.js";
import { chainToV2, chainToV3, endianOf } from "./chain.js";
import { formatNumpyDtype } from "./dtype-numpy.js";
import { formatV3Dtype } from "./dtype-v3.js";
import { sameElement } from "./element.js";
import { formatNumpyFill, parseNumpyFill } from "./fill-numpy.js";
import { formatV3Fill, parseV3Fill } from "./fill-v3.js";
import type { ArrayMeta, Attributes, Consolidated, GroupMeta, NodeMeta } from "./types.js";

type Document = { readonly [key: string]: WritableJson };

const styles: { readonly [version in 0 | 2 | 3]: StringifyOptions } = {
  0: { indent: 4, sortKeys: true, ascii: true, tokens: true },
  2: { indent: 4, sortKeys: true, ascii: true },
  3: { indent: 2, ascii: true },
};
const v0Compressors: readonly Json[] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib"]; // zarr 0.4.0 refuses zstd

/** Every document of a node, by its name. Attributes before v3 have their own only where there are any. */
export function encodeNode(meta: NodeMeta): ReadonlyMap<string, Uint8Array> {
  if (meta.version === 3) return new Map([["zarr.json", encodeV3(meta)]]);
  const documents = meta.version === 0 ? encodeV0(meta) : encodeV2(meta);
  return new Map(Object.entries(documents));
}

export function encodeV3(meta: NodeMeta): Uint8Array {
  return write(meta.node === "array" ? arrayV3(meta) : groupV3(meta), 3);
}

export function encodeV2(meta: NodeMeta): { [name: string]: Uint8Array } {
  const own =
    meta.node === "array" ? { ".zarray": write(arrayV2(meta), 2) } : { ".zgroup": write({ zarr_format: 2 }, 2) };
  const attributes = isEmpty(meta.attributes) ? {} : { ".zattrs": encodeAttributes(meta.attributes, 2) };
  const below =
    meta.node === "group" && meta.consolidated ? { ".zmetadata": encodeZmetadata(meta, meta.consolidated) } : {};
  return { ...own, ...attributes, ...below };
}

export function encodeV0(meta: ArrayMeta): { [name: string]: Uint8Array } {
  const attributes = isEmpty(meta.attributes) ? {} : { __zattr__: encodeAttributes(meta.attributes, 0) };
  return { __zmeta__: write(arrayV0(meta), 0), ...attributes };
}

/** `.zattrs` and `__zattr__` on their own: also `{}`, which is how both take the last attribute away. */
export function encodeAttributes(attributes: Attributes, version: 0 | 2): Uint8Array {
  return write(attributes, version);
}

const encoder = new TextEncoder();
const write = (document: Document, version: 0 | 2 | 3): Uint8Array =>
  encoder.encode(stringifyJson(document, styles[version]));
const isEmpty = (attributes: Attributes): boolean => Object.keys(attributes).length === 0;

function refuse(version: number, what: string): never {
  throw new Unsupported(`Zarr v${version} cannot express ${what}`);
}

function arrayV3(meta: ArrayMeta): Document {
  if (meta.keys.kind === "v0") refuse(3, "the chunk keys of v0");
  const { kind, separator } = meta.keys;
  return {
    shape: meta.shape,
    data_type: formatV3Dtype(meta.dtype, "zarr.json"),
    chunk_grid: { name: "regular", configuration: { chunk_shape: meta.chunkShape } },
    chunk_key_encoding: { name: kind, configuration: { separator } },
    fill_value: fillOf(meta, 3),
    codecs: chainToV3(meta.codecs),
    attributes: meta.attributes,
    ...(meta.dimensionNames === undefined ? {} : { dimension_names: meta.dimensionNames }),
    zarr_format: 3,
    node_type: "array",
    storage_transformers: [],
    ...meta.extensions,
  };
}

function groupV3(meta: GroupMeta): Document {
  const { attributes, consolidated, extensions } = meta;
  const below = consolidated === undefined ? {} : { consolidated_metadata: inline(consolidated) };
  return { attributes, zarr_format: 3, ...below, node_type: "group", ...extensions };
}

/** Groups inside carry an empty one of their own, which is how zarr-python marks that theirs is further up. */
function inline(nodes: Consolidated): Document {
  const metadata = Object.fromEntries(
    [...nodes].map(([path, node]) => {
      const meta = node.meta();
      return [path, meta.node === "array" ? arrayV3(meta) : groupV3({ ...meta, consolidated: new Map() })];
    }),
  );
  return { kind: "inline", must_understand: false, metadata };
}

function arrayV2(meta: ArrayMeta): Document {
  if (meta.keys.kind !== "v2") refuse(2, `chunk keys of the kind ${meta.keys.kind}`);
  refuseNames(meta, 2);
  return {
    shape: meta.shape,
    chunks: meta.chunkShape,
    dtype: formatNumpyDtype(onDisk(meta)),
    fill_value: fillOf(meta, 2),
    ...chainToV2(meta.codecs, meta.shape.length, ".zarray"),
    dimension_separator: meta.keys.separator,
    zarr_format: 2,
  };
}

function encodeZmetadata(group: GroupMeta, nodes: Consolidated): Uint8Array {
  const metadata: { [key: string]: WritableJson } = { ".zgroup": { zarr_format: 2 }, ".zattrs": group.attributes };
  for (const [path, node] of nodes) {
    const meta = node.meta();
    if (meta.node === "array") metadata[`${path}/.zarray`] = arrayV2(meta);
    else metadata[`${path}/.zgroup`] = { zarr_format: 2 };
    metadata[`${path}/.zattrs`] = meta.attributes;
  }
  return write({ metadata, zarr_consolidated_format: 1 }, 2);
}

function arrayV0(meta: ArrayMeta): Document {
  const [bytes, blosc, ...rest] = meta.codecs;
  if (bytes?.name !== "bytes" || blosc?.name !== "blosc" || rest.length > 0)
    refuse(0, `the codecs ${meta.codecs.map(({ name }) => name).join(", ")}: it has blosc only`);
  const { cname, clevel, shuffle } = blosc.configuration;
  if (!v0Compressors.includes(cname!)) refuse(0, `the compressor ${cname}: zarr 0.4.0 has ${v0Compressors.join(" ")}`);
  if (meta.keys.kind !== "v0") refuse(0, `chunk keys of the kind ${meta.keys.kind}`);
  if (meta.shape.length === 0) refuse(0, "an array without dimensions: it could have no chunk");
  if (!isFixed(meta.dtype)) refuse(0, "elements of variable size");
  refuseNames(meta, 0);
  return {
    shape: meta.shape,
    chunks: meta.chunkShape,
    dtype: formatNumpyDtype(onDisk(meta)),
    fill_value: fillOf(meta, 0),
    cname: cname!,
    clevel: clevel!,
    shuffle: ["noshuffle", "shuffle", "bitshuffle"].indexOf(`${shuffle}`),
  };
}

function refuseNames(meta: ArrayMeta, version: 0 | 2): void {
  if (meta.dimensionNames?.some((name) => name !== null)) refuse(version, "dimension names");
}

/** Before v3 the type itself says the byte order; the codec is what acts on it. */
function onDisk({ dtype, codecs }: ArrayMeta): DataType {
  const endian = codecs[0]?.name === "bytes" ? endianOf(codecs, "the array") : undefined;
  return endian !== undefined && "endian" in dtype ? { ...dtype, endian } : dtype;
}

/** Spelled as in the document it came from, where that was of the same version and still says the same. */
function fillOf(meta: ArrayMeta, version: 0 | 2 | 3): WritableJson {
  const { fill, fillIsNull, fillAs, dtype } = meta;
  const where = "the fill value";
  if (fillIsNull && version !== 3) return null;
  if (fillAs?.version === version && fillAs.value !== null) {
    const read =
      version === 3
        ? parseV3Fill(fillAs.value, dtype, where)
        : parseNumpyFill(fillAs.value, dtype, version, where).fill;
    if (sameElement(read, fill)) return fillAs.value;
  }
  return version === 3 ? formatV3Fill(fill, dtype, where) : formatNumpyFill(fill, dtype, version, where);
}
