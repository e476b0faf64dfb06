/**
 * v2: `.zarray`, `.zgroup`, `.zattrs` and `.zmetadata`.
 *
 * | .zarray             |                                                                                            |
 * |---------------------|--------------------------------------------------------------------------------------------|
 * | zarr_format         | 2                                                                                          |
 * | shape, chunks       | lists of integers                                                                          |
 * | dtype               | dtype-numpy.ts; "\|O" with a vlen filter                                                   |
 * | fill_value          | fill-numpy.ts                                                                              |
 * | order               | "C" or "F"                                                                                 |
 * | filters, compressor | [{id, …}] or null, {id, …} or null: chain.ts                                               |
 * | dimension_separator | "." (also when absent) or "/"                                                              |
 *
 * `.zmetadata` is {zarr_consolidated_format: 1, metadata: {"a/b/.zarray": document, …}}. Keys that are not listed here are
 * ignored: v2 has no rule against them, and libraries do add some.
 */
import type { DataType } from "../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { chainFromV2 } from "./chain.js";
import { type ConsolidatedDocument, consolidate } from "./consolidated.js";
import {
  asChunkShape,
  asObject,
  asShape,
  checkChunkBytes,
  readAttributes,
  readDocument,
  show,
  wrong,
} from "./document.js";
import { parseNumpyDtype } from "./dtype-numpy.js";
import { parseNumpyFill } from "./fill-numpy.js";
import type { ArrayMeta, Attributes, GroupMeta } from "./types.js";

export function parseV2Array(
  zarray: Uint8Array,
  zattrs: Uint8Array | undefined,
  limits: Limits,
  where: string,
): ArrayMeta {
  return parseArray(readDocument(zarray, limits, where), readAttributes(zattrs, limits, where), limits, where);
}

export function parseV2Group(
  zgroup: Uint8Array,
  zattrs: Uint8Array | undefined,
  limits: Limits,
  where: string,
): GroupMeta {
  return parseGroup(readDocument(zgroup, limits, where), readAttributes(zattrs, limits, where), where);
}

/** A group from its `.zmetadata` alone. */
export function parseV2Consolidated(zmetadata: Uint8Array, limits: Limits, where: string): GroupMeta {
  const document = readDocument(zmetadata, limits, where);
  if (document.zarr_consolidated_format !== 1)
    throw wrong(where, "zarr_consolidated_format 1", document.zarr_consolidated_format);
  const metadata = asObject(document.metadata, "an object as metadata", where);
  const place = (key: string): string => `${key} in ${where}`;
  const inner = (key: string): JsonObject => asObject(metadata[key], "a JSON object", place(key));
  const attributesOf = (base: string): Attributes => (`${base}.zattrs` in metadata ? inner(`${base}.zattrs`) : {});
  const groupAt = (base: string): GroupMeta =>
    parseGroup(inner(`${base}.zgroup`), attributesOf(base), place(`${base}.zgroup`));
  const arrayAt = (base: string): ArrayMeta =>
    parseArray(inner(`${base}.zarray`), attributesOf(base), limits, place(`${base}.zarray`));

  const documents: ConsolidatedDocument[] = [];
  for (const key of Object.keys(metadata)) {
    const [, base, node] = /^(|.*\/)\.z(array|group)$/s.exec(key) ?? [];
    if (base === undefined) continue;
    const path = base.slice(0, -1);
    if (node === "array") documents.push({ path, node, parse: () => arrayAt(base) });
    else documents.push({ path, node: "group", parse: () => groupAt(base) });
  }
  return { ...groupAt(""), consolidated: consolidate(documents) };
}

function parseGroup(document: JsonObject, attributes: Attributes, where: string): GroupMeta {
  if (document.zarr_format !== 2) throw wrong(where, "zarr_format 2", document.zarr_format);
  return { node: "group", version: 2, attributes, consolidated: undefined, notes: [] };
}

function parseArray(document: JsonObject, attributes: Attributes, limits: Limits, where: string): ArrayMeta {
  if (document.zarr_format !== 2) throw wrong(where, "zarr_format 2", document.zarr_format);
  const shape = asShape(document.shape, "shape", where);
  const chunkShape = asChunkShape(document.chunks, shape, "chunks", where);
  const dtype = document.dtype === "|O" ? objectType(document.filters, where) : parseNumpyDtype(document.dtype, where);
  checkChunkBytes(chunkShape, dtype, limits, where);
  const { order = "C", dimension_separator: separator = ".", fill_value: value = null } = document;
  if (order !== "C" && order !== "F") throw wrong(where, 'an order of "C" or "F"', order);
  if (separator !== "." && separator !== "/") throw wrong(where, 'a dimension_separator of "." or "/"', separator);
  const { fill, notes } = parseNumpyFill(value, dtype, 2, where);
  return {
    node: "array",
    version: 2,
    shape,
    chunkShape,
    dtype,
    fill,
    fillIsNull: value === null,
    fillAs: { version: 2, value },
    codecs: chainFromV2(document.filters, document.compressor, dtype, order, shape.length, where),
    keys: { kind: "v2", separator },
    dimensionNames: undefined,
    attributes,
    storageTransformers: [],
    notes,
  };
}

/** "|O" says nothing; the first filter that turns objects into bytes tells what they are. */
function objectType(filters: Json | undefined, where: string): DataType {
  for (const filter of Array.isArray(filters) ? (filters as readonly Json[]) : []) {
    if (!isJsonObject(filter)) continue;
    if (filter.id === "vlen-utf8") return { kind: "string" };
    if (filter.id === "vlen-bytes") return { kind: "vlen-bytes" };
    if (filter.id === "vlen-array") return { kind: "vlen-array", item: parseNumpyDtype(filter.dtype, where) };
  }
  throw new Unsupported(
    `${where} has Python objects as elements, which Octavo reads through vlen-utf8, vlen-bytes or vlen-array only, found the filters ${show(filters ?? null)}`,
    { where },
  );
}
