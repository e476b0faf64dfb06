/**
 * The info of a volume, and the way back.
 *
 * | member                                | what                                                                        |
 * |---------------------------------------|-----------------------------------------------------------------------------|
 * | `type`                                | image or segmentation                                                       |
 * | `data_type`, `num_channels`           | the elements                                                                |
 * | `scales`, finest first: `key`         | the folder                                                                  |
 * | … `size`, `voxel_offset`, `resolution`| voxels, the first voxel (0, 0, 0 where absent), nanometres                   |
 * | … `chunk_sizes`                       | one or more triples; one where there is `sharding`                          |
 * | … `encoding`                          | raw, compressed_segmentation, png, jpeg; others are named and not read       |
 * | … `compressed_segmentation_block_size`| of that encoding                                                            |
 *
 * Words are taken in any case, as Neuroglancer does. What contradicts itself is Corrupt: an encoding that cannot hold the type,
 * a shard without a chunk size of its own. Members that the format does not name are kept.
 */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { Corrupt, InvalidInput, Unsupported } from "../../../errors.js";
import { Prefix } from "../../../store/key.js";
import { asInteger, asList, asObject, asString, wrong } from "../../zarr/document.js";
import { parseV3Dtype } from "../../zarr/dtype-v3.js";
import { asNumbers, asWord, type InfoAt, shardingOf } from "../info.js";
import { formatSharding } from "../sharded/parse.js";
import {
  DATA_TYPES,
  type Scale,
  type Triple,
  type VolumeDataType,
  type VolumeEncoding,
  type VolumeInfo,
} from "./types.js";

export const VOLUME_TYPE = "neuroglancer_multiscale_volume";

export function parseVolume({ info, where }: Pick<InfoAt, "info" | "where">): VolumeInfo {
  const { "@type": _type, type, data_type, num_channels, scales, ...extras } = info;
  const dataType = asWord(lower(data_type), DATA_TYPES, "a data_type", where);
  const channels = asInteger(num_channels, 1, 2 ** 31, "num_channels", where);
  const list = asList(scales, "a list as scales", where);
  if (list.length === 0) throw wrong(where, "at least one scale", list);
  return {
    type: asWord(lower(type), ["image", "segmentation"], "a type", where),
    dtype: dtypeOf(dataType),
    channels,
    scales: list.map((scale, i) => parseScale(scale, dataType, channels, `scale ${i} of ${where}`)),
    extras,
  };
}

export const dtypeOf = (name: VolumeDataType) => parseV3Dtype(name, "little", name) as VolumeInfo["dtype"];

/** The name of the type; undefined where volumes have none for it. */
export const dataTypeOf = (dtype: { readonly kind: string; readonly size?: number }): VolumeDataType | undefined =>
  DATA_TYPES.find((name) => name === `${dtype.kind}${8 * (dtype.size ?? 0)}`);

const lower = (value: Json | undefined): Json | undefined => (typeof value === "string" ? value.toLowerCase() : value);

function parseScale(json: Json, dataType: VolumeDataType, channels: number, where: string): Scale {
  const { key, size, voxel_offset, resolution, chunk_sizes, encoding, sharding, ...rest } = asObject(
    json,
    "an object",
    where,
  );
  const chunkSizes = asList(chunk_sizes, "a list as chunk_sizes", where).map((one) =>
    asTriple(one, 1, "a chunk size", where),
  );
  if (chunkSizes.length === 0) throw wrong(where, "at least one chunk size", chunk_sizes);
  const scale = {
    key: asString(key, "a key", where),
    size: asTriple(size, 0, "size", where),
    offset:
      voxel_offset === undefined ? ([0, 0, 0] as const) : asTriple(voxel_offset, -(2 ** 53), "voxel_offset", where),
    resolution: asNumbers(resolution, 3, "resolution", where) as unknown as Triple,
    chunkSizes,
    sharding: shardingOf(sharding === undefined ? {} : { sharding }, where),
  };
  if (!scale.resolution.every((length) => length > 0)) throw wrong(where, "a resolution above 0", resolution);
  if (scale.sharding !== null && chunkSizes.length > 1)
    throw wrong(where, "one chunk size, being sharded", chunk_sizes);
  const { encoding: found, extras } = parseEncoding(asString(lower(encoding), "an encoding", where), rest, where);
  const problem = cannotHold(found, dataType, channels);
  if (problem !== undefined) throw new Corrupt(`${where} has the encoding ${found.name}, which ${problem}`, { where });
  return { ...scale, encoding: found, extras };
}

function asTriple(value: Json | undefined, least: number, what: string, where: string): Triple {
  const numbers = asNumbers(value, 3, what, where) as unknown as Triple;
  if (!numbers.every((n) => Number.isSafeInteger(n) && n >= least && Number.isSafeInteger(2 * n)))
    throw wrong(where, `three whole numbers${least >= 0 ? ` from ${least} on` : ""} as ${what}`, value);
  return numbers;
}

function parseEncoding(
  name: string,
  rest: JsonObject,
  where: string,
): { encoding: VolumeEncoding; extras: JsonObject } {
  if (name === "compressed_segmentation") {
    const { compressed_segmentation_block_size: size, ...extras } = rest;
    return { encoding: { name, block: asTriple(size, 1, "compressed_segmentation_block_size", where) }, extras };
  }
  if (name === "png") {
    const { png_level: level, ...extras } = rest;
    if (level === undefined) return { encoding: { name }, extras };
    return { encoding: { name, level: asInteger(level, 0, 9, "png_level", where) }, extras };
  }
  if (name === "raw" || name === "jpeg") return { encoding: { name }, extras: rest };
  return { encoding: { name: "other", spelled: name }, extras: rest };
}

/** Why chunks of this type cannot be stored so, as the end of a sentence. */
export function cannotHold({ name }: VolumeEncoding, dataType: VolumeDataType, channels: number): string | undefined {
  const holds = (types: readonly VolumeDataType[], counts?: readonly number[]): string | undefined =>
    types.includes(dataType) && (counts === undefined || counts.includes(channels))
      ? undefined
      : `holds ${types.join(" and ")}${counts === undefined ? "" : ` of ${counts.join(", ")} channels`}, found ${dataType} of ${channels}`;
  switch (name) {
    case "compressed_segmentation":
      return holds(["uint32", "uint64"]);
    case "png":
      return holds(["uint8", "uint16"], [1, 2, 3, 4]);
    case "jpeg":
      return holds(["uint8"], [1, 3]);
    default:
      return undefined;
  }
}

/** As it stands in the document; in the order in which people read it. */
export function formatVolume({ type, dtype, channels, scales, extras }: VolumeInfo): JsonObject {
  return {
    "@type": VOLUME_TYPE,
    type,
    data_type: dataTypeOf(dtype)!,
    num_channels: channels,
    scales: scales.map(formatScale),
    ...extras,
  };
}

function formatScale({ key, size, offset, resolution, chunkSizes, encoding, sharding, extras }: Scale): JsonObject {
  return {
    key,
    size: [...size],
    voxel_offset: [...offset],
    resolution: [...resolution],
    chunk_sizes: chunkSizes.map((chunk) => [...chunk]),
    encoding: encoding.name === "other" ? encoding.spelled : encoding.name,
    ...(encoding.name === "compressed_segmentation" && { compressed_segmentation_block_size: [...encoding.block] }),
    ...(encoding.name === "png" && encoding.level !== undefined && { png_level: encoding.level }),
    ...(sharding !== null && { sharding: { ...formatSharding(sharding) } }),
    ...extras,
  };
}

/** Where the chunks of a scale are. A key is a relative URL: it may climb with "..", but not out of the store. */
export function scalePrefix(at: Prefix, key: string, where: string): Prefix {
  const path = at.split("/").slice(0, -1);
  if (key.startsWith("/") || key.includes("://"))
    throw new Unsupported(`${where} has the key ${JSON.stringify(key)}, which leads out of its store`, { where });
  for (const segment of key.split("/")) {
    if (segment === "..") {
      if (path.pop() === undefined)
        throw new Unsupported(`${where} has the key ${JSON.stringify(key)}, which leads out of its store`, { where });
    } else if (segment !== "." && segment !== "") path.push(segment);
  }
  try {
    return Prefix.of(path.join("/"));
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new Corrupt(`${where} has a key that cannot be one: ${error.message}`, { where, cause: error });
  }
}
