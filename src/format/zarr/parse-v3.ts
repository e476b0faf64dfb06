/**
 * `zarr.json`: an array or a group of v3.
 *
 * | key                    | array | group | here                                                                |
 * |------------------------|-------|-------|---------------------------------------------------------------------|
 * | zarr_format, node_type | must  | must  | 3; "array" or "group"                                               |
 * | attributes             | may   | may   |                                                                     |
 * | shape                  | must  |       |                                                                     |
 * | data_type, fill_value  | must  |       | dtype-v3.ts, fill-v3.ts                                             |
 * | chunk_grid             | must  |       | "regular" {chunk_shape} only                                        |
 * | chunk_key_encoding     | must  |       | "default" or "v2" {separator}                                       |
 * | codecs                 | must  |       | chain.ts                                                            |
 * | dimension_names        | may   |       | a name or null per dimension                                        |
 * | storage_transformers   | may   |       | none is known, so only []                                           |
 * | consolidated_metadata  |       | may   | {kind: "inline", metadata: {path: document}}; zarr-python's own     |
 *
 * Any other key must say `must_understand: false`, else the node is Unsupported; it is kept for writing back.
 */
import { type DataType, isFixed, swapUnit } from "../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { CodecSpec } from "../../codec/types.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { chainFromV3, endianOf, withEndian } from "./chain.js";
import { consolidate } from "./consolidated.js";
import {
  asChunkShape,
  asList,
  asObject,
  asShape,
  asString,
  checkChunkBytes,
  readDocument,
  show,
  wrong,
} from "./document.js";
import { parseV3Dtype } from "./dtype-v3.js";
import { zeroElement } from "./element.js";
import { parseV3Fill } from "./fill-v3.js";
import type { ArrayMeta, Attributes, ChunkKeys, Consolidated, GroupMeta, NodeMeta } from "./types.js";

const arrayKeys = ["shape", "data_type", "fill_value", "chunk_grid", "chunk_key_encoding", "codecs"];
const known = {
  array: ["zarr_format", "node_type", "attributes", "dimension_names", "storage_transformers", ...arrayKeys],
  group: ["zarr_format", "node_type", "attributes", "consolidated_metadata"],
};

export function parseV3(bytes: Uint8Array, limits: Limits, where: string): NodeMeta {
  return parseNode(readDocument(bytes, limits, where), limits, where);
}

function parseNode(document: JsonObject, limits: Limits, where: string): NodeMeta {
  if (document.zarr_format !== 3) throw wrong(where, "zarr_format 3", document.zarr_format);
  const node = document.node_type;
  if (node !== "array" && node !== "group") throw wrong(where, 'a node_type of "array" or "group"', node);
  const { attributes = {} } = document;
  const common = {
    version: 3,
    attributes: asObject(attributes, "an object as attributes", where),
    extensions: parseExtensions(document, known[node], where),
  } as const;
  return node === "array"
    ? { ...common, ...parseArray(document, limits, where) }
    : { ...common, ...parseGroup(document, limits, where) };
}

function parseExtensions(document: JsonObject, keys: readonly string[], where: string): Attributes | undefined {
  const others = Object.entries(document).filter(([key]) => !keys.includes(key));
  for (const [key, value] of others) {
    if (!isJsonObject(value) || value.must_understand !== false)
      throw new Unsupported(`${where} has the key ${show(key)}, which Octavo does not know and must understand`, {
        where,
      });
  }
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

type Own<T extends NodeMeta> = Omit<T, "version" | "attributes" | "extensions">;

function parseArray(document: JsonObject, limits: Limits, where: string): Own<ArrayMeta> {
  for (const key of arrayKeys) if (document[key] === undefined) throw wrong(where, `the key ${show(key)}`, undefined);
  const notes: string[] = [];
  const shape = asShape(document.shape, "shape", where);
  const chunkShape = parseGrid(document.chunk_grid, shape, where);
  const little = parseV3Dtype(document.data_type, "little", where);
  const chain = chainFromV3(document.codecs, shape.length, isFixed(little) ? little.size : 1, where);
  const endian = endianOf(chain, where);
  const dtype = endian === "big" ? parseV3Dtype(document.data_type, endian, where) : little;
  const isBare = endian === undefined && isFixed(dtype) && swapUnit(dtype) > 1;
  if (isBare) notes.push("The bytes codec names no byte order; little-endian is assumed.");
  const codecs = isBare ? withEndian(chain, "little") : chain;
  checkChunkBytes(parseShards(codecs, chunkShape, dtype, limits, where), dtype, limits, where);
  const fillIsNull = document.fill_value === null;
  if (fillIsNull) notes.push("The fill value is null, which Zarr v3 does not have; zeros are assumed.");
  const fill = fillIsNull ? zeroElement(dtype) : parseV3Fill(document.fill_value!, dtype, where);
  return {
    node: "array",
    shape,
    chunkShape,
    dtype,
    fill,
    fillIsNull,
    fillAs: { version: 3, value: document.fill_value! },
    codecs,
    keys: parseKeys(document.chunk_key_encoding, where),
    dimensionNames: parseNames(document.dimension_names, shape.length, where),
    storageTransformers: parseTransformers(document.storage_transformers, where),
    notes,
  };
}

/** "name" or {name, configuration} */
function parseNamed(value: Json | undefined, what: string, where: string): { name: string; configuration: JsonObject } {
  const { name, configuration = {} } = isJsonObject(value) ? value : { name: value, configuration: {} };
  return {
    name: asString(name, `${what} as text or as {name, configuration}`, where),
    configuration: asObject(configuration, "an object as configuration", where),
  };
}

function parseGrid(value: Json | undefined, shape: readonly number[], where: string): number[] {
  const { name, configuration } = parseNamed(value, "a chunk grid", where);
  if (name !== "regular")
    throw new Unsupported(`${where} has a chunk grid of the kind ${show(name)}, Octavo knows "regular"`, { where });
  return asChunkShape(configuration.chunk_shape, shape, "chunk_shape", where);
}

function parseKeys(value: Json | undefined, where: string): ChunkKeys {
  const { name, configuration } = parseNamed(value, "a chunk key encoding", where);
  if (name !== "default" && name !== "v2")
    throw new Unsupported(`${where} has the chunk key encoding ${show(name)}, Octavo knows "default" and "v2"`, {
      where,
    });
  const { separator = name === "v2" ? "." : "/" } = configuration;
  if (separator !== "." && separator !== "/") throw wrong(where, 'a separator of "." or "/"', separator);
  return { kind: name, separator };
}

function parseNames(value: Json | undefined, rank: number, where: string): (string | null)[] | undefined {
  if (value === undefined || value === null) return undefined;
  const names = asList(value, "a list of dimension_names", where);
  if (names.length !== rank)
    throw new Corrupt(`${where} has ${names.length} dimension_names for ${rank} dimensions`, { where });
  return names.map((name) => (name === null ? null : asString(name, "dimension_names as text or null", where)));
}

function parseTransformers(value: Json | undefined, where: string): readonly CodecSpec[] {
  for (const entry of value === undefined ? [] : asList(value, "a list of storage_transformers", where)) {
    const { name } = parseNamed(entry, "a storage transformer", where);
    throw new Unsupported(`${where} has the storage transformer ${show(name)}, Octavo knows none`, { where });
  }
  return [];
}

/** The shape of what is decoded in one piece: the innermost chunk. Each grid must fill the one around it exactly. */
function parseShards(
  codecs: readonly CodecSpec[],
  outer: readonly number[],
  dtype: DataType,
  limits: Limits,
  where: string,
): readonly number[] {
  const shard = codecs.find(({ name }) => name === "sharding_indexed");
  if (shard === undefined) return outer;
  const inner = asChunkShape(shard.configuration.chunk_shape, outer, "chunk_shape of sharding_indexed", where);
  if (inner.some((length, axis) => outer[axis]! % length !== 0))
    throw new Corrupt(`${where} has chunks of [${inner}] in shards of [${outer}], which they do not fill`, { where });
  const counts = outer.map((length, axis) => length / inner[axis]!);
  checkChunkBytes([...counts, 2], { kind: "uint", size: 8, endian: "little" }, limits, where); // its index
  return parseShards(shard.configuration.codecs as unknown as CodecSpec[], inner, dtype, limits, where);
}

function parseGroup(document: JsonObject, limits: Limits, where: string): Own<GroupMeta> {
  const notes: string[] = [];
  const value = document.consolidated_metadata;
  let consolidated: Consolidated | undefined;
  if (isJsonObject(value) && value.kind === "inline" && isJsonObject(value.metadata)) {
    consolidated = consolidate(
      Object.entries(value.metadata).map(([path, inner]) => ({
        path,
        node: isJsonObject(inner) && inner.node_type === "array" ? "array" : "group",
        parse: () => {
          const place = `${path} in ${where}`;
          return parseNode(asObject(inner, "a JSON object", place), limits, place);
        },
      })),
    );
  } else if (value !== undefined && value !== null) {
    notes.push("The consolidated metadata is of an unknown kind and is ignored.");
  }
  return { node: "group", consolidated, notes };
}
