/**
 * What an array becomes in another Zarr version, and what is lost on the way.
 *
 * The chain of codecs is kept where the target can say it, so that chunks can be copied as they are. What the versions say
 * differently is carried over by conventions that both sides know:
 *
 * | in one                          | in the other                                                              |
 * |---------------------------------|---------------------------------------------------------------------------|
 * | v3 dimension_names              | `_ARRAY_DIMENSIONS` in v2's attributes, as xarray has it                   |
 * | a null fill value (v0–v2)       | zeros, and `octavo:fill_value_was_null` in v3's attributes                 |
 * | bare NaN, Infinity in attributes| the texts "NaN", "Infinity": v2 and v3 JSON is strict                      |
 * | big-endian fields of a struct   | little-endian in v3, which has no way to say otherwise                     |
 * | snappy inside blosc             | lz4: zarr-python cannot decode snappy                                      |
 */
import { type DataType, type Field, isFixed, swapUnit } from "../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import type { CodecSpec } from "../codec/types.js";
import { OctavoError } from "../errors.js";
import { bytesSpec } from "../format/zarr/chain.js";
import { type ArrayDescription, describeArray, keysOf, shardOf, type WritableVersion } from "../format/zarr/create.js";
import { encodeNode } from "../format/zarr/encode.js";
import { zerosAreNull } from "../format/zarr/fill-numpy.js";
import type { ArrayMeta, Attributes } from "../format/zarr/types.js";
import type { ArrayDataset } from "../model/dataset.js";

/** What may be asked of the target; everything else is as in the source. */
export type TargetOptions = Pick<ArrayDescription, "version" | "chunkShape" | "shardShape" | "codecs" | "separator">;

export interface Target {
  readonly meta: ArrayMeta;
  /** Sentences about what the target does not keep. */
  readonly losses: readonly string[];
}

export const DIMENSIONS = "_ARRAY_DIMENSIONS";
const NULL_FILL = "octavo:fill_value_was_null";

/** `source.meta` is there for Zarr arrays; other arrays have no chain to keep. */
export function targetOf(source: ArrayDataset & { readonly meta?: ArrayMeta }, wanted: TargetOptions): Target {
  const { version = 3 } = wanted;
  const losses: string[] = [];
  const dtype = version === 3 ? littleEndianFields(source.dtype) : source.dtype;
  const { attributes, dimensionNames, fillIsNull } = carryOver(source, version, losses);
  if (version === 0 && !fillIsNull && zerosAreNull(dtype))
    losses.push("that absent chunks are zeros: of this type Zarr v0 has only null, which zarr 0.4 takes for anything");
  const fill = sameLayout(dtype, source.dtype) ? source.fill : swapFields(source.fill as Uint8Array, source.dtype);
  const described = describeArray({
    ...wanted,
    version,
    shape: source.shape,
    dtype,
    chunkShape: wanted.chunkShape ?? innerChunkShape(source, wanted),
    attributes,
    ...(dimensionNames === undefined ? {} : { dimensionNames }),
  });
  const kept = wanted.codecs === undefined ? keptCodecs(source, wanted, dtype) : undefined;
  const meta: ArrayMeta = {
    ...described,
    fill,
    fillIsNull,
    codecs: kept ?? described.codecs,
    keys: keysOf(version, wanted.separator),
  };
  if (expressible(meta)) return { meta, losses };
  return { meta: { ...meta, codecs: described.codecs }, losses };
}

/** Whether the version has words for all of it; what is not about codecs fails again, and louder, on writing. */
function expressible(meta: ArrayMeta): boolean {
  try {
    encodeNode(meta);
    return true;
  } catch (error) {
    if (error instanceof OctavoError) return false;
    throw error;
  }
}

/** The chunks of a shard are what readers want small; shards stay shards only where that is asked for or kept. */
function innerChunkShape(
  source: ArrayDataset & { readonly meta?: ArrayMeta },
  wanted: TargetOptions,
): readonly number[] {
  const [only] = source.codecs ?? [];
  const isSharded = only?.name === "sharding_indexed";
  const inner = only?.configuration.chunk_shape as readonly number[] | undefined;
  const keepsShards = (wanted.version ?? 3) === 3 && wanted.shardShape === undefined && wanted.codecs === undefined;
  return isSharded && inner !== undefined && !keepsShards ? inner : source.chunkShape;
}

/** The source's own chain as far as the target may have it; undefined where a new one is needed. */
function keptCodecs(source: ArrayDataset, wanted: TargetOptions, dtype: DataType): CodecSpec[] | undefined {
  const { version = 3, chunkShape, shardShape } = wanted;
  const codecs = source.codecs;
  if (codecs === undefined || codecs.length === 0) return undefined;
  if (codecs[0]!.name === "sharding_indexed") {
    if (version === 3 && chunkShape === undefined && shardShape === undefined) return [...codecs];
    const inner = codecs[0]!.configuration.codecs as unknown as CodecSpec[];
    return wrapped(inner, chunkShape ?? (codecs[0]!.configuration.chunk_shape as unknown as number[]), shardShape);
  }
  const own = codecs.map((spec) => {
    if (spec.name === "bytes" && !sameLayout(dtype, source.dtype)) return bytesSpec(dtype);
    if (spec.name === "blosc" && spec.configuration.cname === "snappy" && version !== 0) {
      return { ...spec, configuration: { ...spec.configuration, cname: "lz4" } };
    }
    return spec;
  });
  const decodeOnly = own.some(({ name }) => ["bz2", "lzma", "fixedscaleoffset", "packbits"].includes(name));
  return decodeOnly ? undefined : wrapped(own, chunkShape ?? source.chunkShape, shardShape);
}

const wrapped = (
  codecs: readonly CodecSpec[],
  chunkShape: readonly number[],
  shardShape: readonly number[] | undefined,
): CodecSpec[] => (shardShape === undefined ? [...codecs] : [shardOf(chunkShape, codecs)]);

function carryOver(
  source: ArrayDataset & { readonly meta?: ArrayMeta },
  version: WritableVersion,
  losses: string[],
): { attributes: Attributes; dimensionNames: ArrayMeta["dimensionNames"]; fillIsNull: boolean } {
  const attributes: { [key: string]: Json } = { ...source.attributes };
  let dimensionNames = source.dimensionNames;
  let fillIsNull = source.meta?.fillIsNull ?? false;

  if (version === 3) {
    const names = attributes[DIMENSIONS];
    if (dimensionNames === undefined && isNames(names, source.shape.length)) {
      dimensionNames = names;
      delete attributes[DIMENSIONS];
    }
    if (fillIsNull) attributes[NULL_FILL] = true;
    fillIsNull = false;
  } else {
    if (attributes[NULL_FILL] === true) {
      fillIsNull = true;
      delete attributes[NULL_FILL];
    }
    if (dimensionNames?.some((name) => name !== null) === true) {
      if (!isNames(dimensionNames, source.shape.length) || version === 0) {
        losses.push(`the dimension names ${JSON.stringify(dimensionNames)}, which Zarr v${version} cannot express`);
      } else {
        attributes[DIMENSIONS] = dimensionNames;
      }
    }
    dimensionNames = undefined;
  }
  return { attributes: version === 0 ? attributes : strict(attributes, losses), dimensionNames, fillIsNull };
}

export const isNames = (value: Json | undefined, rank: number): value is readonly string[] =>
  Array.isArray(value) && value.length === rank && value.every((name) => typeof name === "string");

/** Attributes as strict JSON can hold them. */
export function strict(attributes: Attributes, losses: string[]): Attributes {
  const visit = (value: Json, path: string): Json => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      losses.push(`the attribute ${path} is ${value}, which JSON cannot express; it became the text "${value}"`);
      return String(value);
    }
    if (Array.isArray(value)) return value.map((entry: Json, i) => visit(entry, `${path}[${i}]`));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, visit(entry, `${path}.${key}`)]));
  };
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, visit(value, key)])) as JsonObject;
}

/** Whether elements of both types are the same bytes in memory. */
export const sameLayout = (a: DataType, b: DataType): boolean => JSON.stringify(a) === JSON.stringify(b);

function littleEndianFields(dtype: DataType): DataType {
  if (dtype.kind !== "struct") return dtype;
  const turned = (field: Field): Field => {
    const inner = littleEndianFields(field.dtype);
    return { ...field, dtype: "endian" in inner ? { ...inner, endian: "little" } : inner };
  };
  return { ...dtype, fields: dtype.fields.map(turned) };
}

/** Elements of a struct with every big-endian field turned round, in place of a copy. */
export function swapFields(elements: Uint8Array, dtype: DataType): Uint8Array {
  const out = elements.slice();
  if (dtype.kind === "struct") for (let at = 0; at < out.length; at += dtype.size) swapElement(out, at, dtype);
  return out;
}

function swapElement(out: Uint8Array, at: number, dtype: DataType): void {
  if (dtype.kind !== "struct") return;
  for (const { offset, shape = [], dtype: type } of dtype.fields) {
    if (!isFixed(type)) continue;
    const count = shape.reduce((product, n) => product * n, 1);
    for (let i = 0; i < count; i++) {
      const start = at + offset + i * type.size;
      if (type.kind === "struct") swapElement(out, start, type);
      else if ("endian" in type && type.endian === "big")
        reverseUnits(out.subarray(start, start + type.size), swapUnit(type));
    }
  }
}

function reverseUnits(bytes: Uint8Array, unit: number): void {
  for (let at = 0; at < bytes.length; at += unit) bytes.subarray(at, at + unit).reverse();
}
