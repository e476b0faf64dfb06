/**
 * The info of annotations.
 *
 * | member                         | holds                                                                               |
 * |--------------------------------|-------------------------------------------------------------------------------------|
 * | `@type`                        | `neuroglancer_annotations_v1`                                                       |
 * | `dimensions`                   | name → [scale, unit], in order; their number is the rank                            |
 * | `lower_bound`, `upper_bound`   | a number for each dimension; `lower_bound` is the origin of all grids               |
 * | `annotation_type`              | POINT, LINE, AXIS_ALIGNED_BOUNDING_BOX, ELLIPSOID or POLYLINE                       |
 * | `properties`                   | `{id, type, description?, default?, enum_values?, enum_labels?}` each               |
 * | `relationships`                | `{id, key, sharding?}` each: object id → its annotations                            |
 * | `by_id`                        | `{key, sharding?}`: annotation id → the annotation                                  |
 * | `spatial`                      | `{key, sharding?, grid_shape, chunk_size, limit}` each, coarse to fine              |
 *
 * Two things are written in the one form that every reader takes: the type in upper case (cloud-volume knows no other;
 * Neuroglancer takes any, and its Python writer writes lower case), and properties in the order in which their values are
 * stored (cloud-volume and Neuroglancer's Python reader take the order of the info for that of the bytes).
 */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { asInteger, asList, asObject, asString, wrong } from "../../zarr/document.js";
import { asNumbers, asOptionalList, asWord, NUMBER_TYPES, type NumberType, shardingOf } from "../info.js";
import { formatSharding } from "../sharded/parse.js";
import type { Sharding } from "../sharded/types.js";

export const ANNOTATION_TYPES = ["point", "line", "axis_aligned_bounding_box", "ellipsoid", "polyline"] as const;
/** What the annotations of a collection are. */
export type AnnotationType = (typeof ANNOTATION_TYPES)[number];

/** bool is known to Neuroglancer since 2026, to nobody else. */
export const PROPERTY_TYPES = [...NUMBER_TYPES, "rgb", "rgba", "bool"] as const;
/** What a property is made of. */
export type PropertyType = NumberType | "rgb" | "rgba" | "bool";

/** A value that each annotation has. */
export interface AnnotationProperty {
  readonly id: string;
  readonly type: PropertyType;
  readonly description?: string | undefined;
  /** What the caller's new annotations begin with: a number, or "#rrggbb". */
  readonly default?: Json | undefined;
  /** Names of some values. */
  readonly enum?: { readonly values: readonly number[]; readonly labels: readonly string[] } | undefined;
}

/** Where a map of values lies. */
export interface ValuesAt {
  readonly key: string;
  readonly sharding: Sharding | null;
}

/** One level of the spatial index. */
export interface SpatialLevel extends ValuesAt {
  readonly gridShape: readonly number[];
  readonly chunkSize: readonly number[];
  /** At most so many annotations in a cell. */
  readonly limit: number;
}

/** What the info of annotations says. */
export interface AnnotationInfo {
  readonly type: AnnotationType;
  readonly dimensions: readonly { readonly name: string; readonly scale: number; readonly unit: string }[];
  readonly lower: readonly number[];
  readonly upper: readonly number[];
  readonly properties: readonly AnnotationProperty[];
  readonly relationships: readonly (ValuesAt & { readonly id: string })[];
  readonly byId: ValuesAt;
  /** Coarse to fine. */
  readonly spatial: readonly SpatialLevel[];
}

const MAX_RANK = 32; // Neuroglancer's own; a cell of the spatial index has a code of 64 bits anyhow

/** From the document, and to it. */
export const AnnotationInfo = {
  /** Corrupt where the document is none; `where` names it. */
  parse(info: JsonObject, where: string): AnnotationInfo {
    const dimensions = Object.entries(asObject(info.dimensions, "an object as dimensions", where)).map(
      ([name, value]) => {
        const [scale, unit] = asList(value, "[scale, unit] for each of dimensions", where);
        if (typeof scale !== "number" || !(scale > 0)) throw wrong(where, "a scale above 0 in each dimension", scale);
        return { name, scale, unit: asString(unit, "a unit in each dimension", where) };
      },
    );
    const rank = dimensions.length;
    if (rank < 1 || rank > MAX_RANK) throw wrong(where, `1 to ${MAX_RANK} dimensions`, info.dimensions);
    const type = asString(info.annotation_type, "an annotation_type", where).toLowerCase();
    return {
      type: asWord(type, ANNOTATION_TYPES, "an annotation_type", where),
      dimensions,
      lower: asNumbers(info.lower_bound, rank, "lower_bound", where),
      upper: asNumbers(info.upper_bound, rank, "upper_bound", where),
      properties: parseProperties(info.properties, where),
      relationships: asOptionalList(info.relationships, "a list as relationships", where).map((entry) => {
        const own = asObject(entry, "objects in relationships", where);
        return { id: asString(own.id, "an id in each of relationships", where), ...valuesAt(own, where) };
      }),
      byId: valuesAt(asObject(info.by_id, "an object as by_id", where), where),
      spatial: asOptionalList(info.spatial, "a list as spatial", where).map((entry) => parseLevel(entry, rank, where)),
    };
  },

  /** As all software reads it. */
  format(info: AnnotationInfo): JsonObject {
    const { type, dimensions, lower, upper, properties, relationships, byId, spatial } = info;
    return {
      "@type": "neuroglancer_annotations_v1",
      dimensions: Object.fromEntries(dimensions.map(({ name, scale, unit }) => [name, [scale, unit]])),
      lower_bound: [...lower],
      upper_bound: [...upper],
      annotation_type: type.toUpperCase(),
      properties: properties.map(formatProperty),
      relationships: relationships.map(({ id, ...at }) => ({ id, ...formatAt(at) })),
      by_id: formatAt(byId),
      spatial: spatial.map(({ gridShape, chunkSize, limit, ...at }) => ({
        ...formatAt(at),
        grid_shape: [...gridShape],
        chunk_size: [...chunkSize],
        limit,
      })),
    };
  },
};

/** Numbers per value. */
export const channelsOf = (type: PropertyType): number => (type === "rgb" ? 3 : type === "rgba" ? 4 : 1);

function parseProperties(value: Json | undefined, where: string): AnnotationProperty[] {
  const properties = asOptionalList(value, "a list as properties", where).map((entry): AnnotationProperty => {
    const own = asObject(entry, "objects in properties", where);
    const text = (value: Json | undefined): string => asString(value, "texts in each of properties", where);
    const values = asOptionalList(own.enum_values, "a list as enum_values", where);
    const labels = asOptionalList(own.enum_labels, "a list as enum_labels", where);
    if (labels.length !== values.length) throw wrong(where, "as many enum_labels as enum_values", own.enum_labels);
    const id = asString(own.id, "an id in each of properties", where);
    if (!ID.test(id)) throw wrong(where, "ids of properties that begin with a small letter", id);
    return {
      id,
      type: asWord(text(own.type).toLowerCase(), PROPERTY_TYPES, "a type in each of properties", where),
      ...(own.description !== undefined && { description: text(own.description) }),
      ...(own.default !== undefined && { default: own.default }),
      ...(own.enum_values !== undefined && {
        enum: { values: asNumbers(own.enum_values, values.length, "enum_values", where), labels: labels.map(text) },
      }),
    };
  });
  if (new Set(properties.map(({ id }) => id)).size < properties.length)
    throw wrong(where, "properties of different ids", value);
  return properties;
}

export const ID = /^[a-z][a-zA-Z0-9_]*$/;

const valuesAt = (own: JsonObject, where: string): ValuesAt => ({
  key: asString(own.key, "a key for each index", where),
  sharding: shardingOf(own, where),
});

function parseLevel(entry: Json, rank: number, where: string): SpatialLevel {
  const own = asObject(entry, "objects in spatial", where);
  const gridShape = asNumbers(own.grid_shape, rank, "grid_shape", where);
  const chunkSize = asNumbers(own.chunk_size, rank, "chunk_size", where);
  if (!gridShape.every((cells) => Number.isSafeInteger(cells) && cells >= 1))
    throw wrong(where, "whole numbers above 0 as grid_shape", own.grid_shape);
  if (!chunkSize.every((size) => size > 0)) throw wrong(where, "numbers above 0 as chunk_size", own.chunk_size);
  return {
    ...valuesAt(own, where),
    gridShape,
    chunkSize,
    limit: asInteger(own.limit, 0, Number.MAX_SAFE_INTEGER, "a limit", where),
  };
}

const formatAt = ({ key, sharding }: ValuesAt): JsonObject => ({
  key,
  ...(sharding && { sharding: { ...formatSharding(sharding) } }),
});

const formatProperty = ({ id, type, description, default: initial, enum: named }: AnnotationProperty): JsonObject => ({
  id,
  type,
  ...(description !== undefined && { description }),
  ...(initial !== undefined && { default: initial }),
  ...(named && { enum_values: [...named.values], enum_labels: [...named.labels] }),
});
