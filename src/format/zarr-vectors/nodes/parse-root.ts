/**
 * The root's documents. From 0.4 they are the attributes of a Zarr v3 group, before that `.zattrs`:
 *
 * | key of the attributes | holds                                                                                        |
 * |-----------------------|----------------------------------------------------------------------------------------------|
 * | zarr_vectors          | `zv_version` (to 0.4 `format_version`), chunk_shape, bounds, geometry_types and conventions  |
 * | multiscales           | from 0.5: axes (before: `spatial_index_dims` of zarr_vectors), one dataset for each level    |
 * | user_metadata         | what applications keep                                                                       |
 *
 * A dataset's scale is its bin against that of level 0, its translation half a bin. Neither moves a vertex: vertices are in
 * world coordinates at every level. (Level 0 of skeleton stores has the coordinate offset as its translation, so the bin of
 * level 0 is never taken from there.)
 */
import { isJsonObject, type Json, type JsonObject, showJson } from "../../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../../errors.js";
import type { Axis } from "../../../model/vectors.js";
import { asInteger, asList, asObject, asString, wrong } from "../../zarr/document.js";
import type { LinksConvention, RootMeta } from "../types.js";
import { checkVersion, compareVersions, NEWEST } from "./version.js";

const MAX_DIMS = 16; // offsets of links, chunk keys and codes of permutations all grow with it; 5 is the most that is known
/** The capabilities that versions have named; of these the first are understood. Others may be required, and are refused by name. */
const UNDERSTOOD = [
  "fragment_index",
  "preserved_object_ids",
  "shared_fragments",
  "shared_vertex_groups",
  "multiscale_links",
  "vertex_count_cache",
  "cross_chunk_faces",
  "fragment_link_groups",
  "dense_manifests",
];
export const CAPABILITIES: readonly string[] = [
  ...UNDERSTOOD,
  "object_index_pending",
  "partitioned_cross_chunk_links",
  "additive_levels",
];
const CONVENTIONS: readonly LinksConvention[] = [
  "explicit",
  "implicit_sequential",
  "implicit_sequential_with_branches",
];

/** Whether attributes are those of a root at all. */
export const isRoot = (attributes: JsonObject): boolean => attributes.zarr_vectors !== undefined;

export function parseRoot(attributes: JsonObject, where: string): RootMeta {
  const own = asObject(attributes.zarr_vectors, "an object as zarr_vectors", where);
  const notes: string[] = [];
  const version = checkVersion(asString(own.zv_version ?? own.format_version, "a zv_version", where), where);
  if (compareVersions(version, NEWEST) > 0)
    notes.push(
      `The store says version ${version}; the newest that is known is ${NEWEST}. It is read by its structure.`,
    );
  const requiredCapabilities = optional(own.required_capabilities, (value) =>
    texts(value, "required_capabilities", where),
  );
  checkRequired(requiredCapabilities ?? [], where);

  const scales = parseMultiscales(attributes.multiscales, where);
  const axes = parseAxes(scales?.axes ?? own.spatial_index_dims, where);
  const dims = axes.length;
  const chunkShape = sizes(own.chunk_shape, dims, "chunk_shape", where);
  const baseBinShape = optional(own.base_bin_shape, (value) => sizes(value, dims, "base_bin_shape", where));
  if (baseBinShape !== undefined) checkDivides(baseBinShape, chunkShape, where);
  word(own.cross_chunk_strategy, ["explicit_links", "boundary_deduplication", "both"], "cross_chunk_strategy", where);
  const { bins, levels } = parseDatasets(scales?.datasets, baseBinShape ?? chunkShape, notes, where);

  return {
    version,
    axes,
    chunkShape,
    bounds: parseBounds(own.bounds, dims, where),
    geometryTypes: texts(own.geometry_types, "geometry_types", where),
    capabilities: optional(own.format_capabilities, (value) => texts(value, "format_capabilities", where)) ?? [],
    requiredCapabilities: requiredCapabilities ?? [],
    crs: own.crs ?? undefined,
    linksConvention: word(own.links_convention, CONVENTIONS, "links_convention", where) ?? "implicit_sequential",
    identityIndex:
      word(own.object_index_convention, ["standard", "identity"], "object_index_convention", where) === "identity",
    baseBinShape,
    crossLevelDepth: optional(own.cross_level_depth, (value) =>
      asInteger(value, -1, 2 ** 31, "a cross_level_depth", where),
    ),
    crossLevelStorage:
      word(own.cross_level_storage, ["none", "implicit", "explicit"], "cross_level_storage", where) ?? "explicit",
    reductionFactor: optional(own.reduction_factor, (value) =>
      asInteger(value, 2, 2 ** 53, "a reduction_factor", where),
    ),
    attributeSpecs: optional(own.attribute_specs, (value) => asObject(value, "an object as attribute_specs", where)),
    coordinateOffset: optional(own.coordinate_offset, (value) => numbers(value, dims, "coordinate_offset", where)),
    bins,
    levels,
    userMetadata: optional(attributes.user_metadata, (value) => asObject(value, "an object as user_metadata", where)),
    attributes,
    notes,
  };
}

function checkRequired(required: readonly string[], where: string): void {
  const unknown = required.filter((name) => !UNDERSTOOD.includes(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => showJson(name)).join(", ");
  throw new Unsupported(`${where} requires a reader to understand ${names}, which Octavo does not`, { where });
}

/** The one element of `multiscales`; to 0.4 there is none. */
function parseMultiscales(value: Json | undefined, where: string): JsonObject | undefined {
  if (value === undefined) return undefined;
  const [first] = asList(value, "a list as multiscales", where);
  return first === undefined ? undefined : asObject(first, "an object in multiscales", where);
}

function parseAxes(value: Json | undefined, where: string): Axis[] {
  const list = asList(value, "axes in multiscales", where);
  if (list.length === 0) throw wrong(where, "one axis or more", value);
  if (list.length > MAX_DIMS)
    throw new LimitExceeded(`${where} has ${list.length} axes, at most ${MAX_DIMS} are allowed`, { where });
  return list.map((entry) => {
    const { name, type = "space", unit } = asObject(entry, "axes as {name, type}", where);
    return {
      name: asString(name, "an axis with a name", where),
      type: asString(type ?? "space", "an axis with a type", where),
      // 0.2 and 0.3 write "unit" where they do not know any.
      unit: typeof unit === "string" && unit !== "" && unit !== "unit" ? unit : undefined,
    };
  });
}

function parseBounds(value: Json | undefined, dims: number, where: string): RootMeta["bounds"] {
  const corners = asList(value, "bounds as [lower corner, upper corner]", where);
  if (corners.length !== 2) throw wrong(where, "bounds as [lower corner, upper corner]", value);
  const [min, max] = corners.map((corner) => numbers(corner, dims, "bounds", where)) as [number[], number[]];
  if (min.some((low, axis) => low > max[axis]!))
    throw new Corrupt(`${where} has bounds from [${min}] to [${max}], whose corners are the wrong way round`, {
      where,
    });
  return { min, max };
}

function checkDivides(bin: readonly number[], chunk: readonly number[], where: string): void {
  const whole = chunk.every((size, axis) => isWhole(size / bin[axis]!));
  if (!whole)
    throw new Corrupt(`${where} has bins of [${bin}] in chunks of [${chunk}], which they do not fill`, { where });
}

/** A ratio of sizes that were computed as float64, perhaps by division. */
export const isWhole = (ratio: number): boolean => ratio > 0.5 && Math.abs(ratio - Math.round(ratio)) <= 1e-9 * ratio;

/** Bins by level, and the levels that have a dataset. */
function parseDatasets(
  value: Json | undefined,
  base: readonly number[],
  notes: string[],
  where: string,
): Pick<RootMeta, "bins" | "levels"> {
  const bins = new Map<number, readonly number[]>();
  if (value === undefined) return { bins, levels: undefined };
  for (const entry of asList(value, "a list as datasets", where)) {
    const { path, coordinateTransformations = [] } = asObject(entry, "datasets as {path, …}", where);
    const level = levelOf(asString(path, "a dataset with a path", where));
    if (level === undefined) {
      notes.push(`The dataset ${showJson(path!)} in multiscales is no level and is left out.`);
      continue;
    }
    if (bins.has(level)) throw new Corrupt(`${where} has two datasets for level ${level}`, { where });
    bins.set(level, level === 0 ? base : parseBin(coordinateTransformations, base, where));
  }
  return { bins, levels: [...bins.keys()].sort((a, b) => a - b) };
}

function parseBin(value: Json, base: readonly number[], where: string): readonly number[] {
  const vector = (type: "scale" | "translation"): number[] | undefined => {
    const list = asList(value, "a list as coordinateTransformations", where);
    const found = list.find((entry) => isJsonObject(entry) && entry.type === type) as JsonObject | undefined;
    return found && numbers(found[type], base.length, type, where);
  };
  const translation = vector("translation");
  if (translation?.every((half) => half > 0)) return translation.map((half) => 2 * half);
  const scale = vector("scale");
  if (scale?.every((ratio) => ratio > 0)) return scale.map((ratio, axis) => ratio * base[axis]!);
  throw wrong(where, "a scale or a translation above 0 for every level", value);
}

/** "3" (from 0.5) or "resolution_3". */
export function levelOf(name: string): number | undefined {
  const digits = /^(?:resolution_)?(0|[1-9]\d{0,8})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** What stands for "nothing is said" is undefined; null is the same in these documents. */
export const optional = <T>(value: Json | undefined, parse: (value: Json) => T): T | undefined =>
  value === undefined || value === null ? undefined : parse(value);

export function numbers(value: Json | undefined, count: number, what: string, where: string): number[] {
  const list = asList(value, `a list of numbers as ${what}`, where);
  if (list.length !== count)
    throw new Corrupt(`${where} has ${list.length} numbers in ${what} for ${count} axes`, { where });
  return list.map((entry) => {
    if (typeof entry !== "number" || !Number.isFinite(entry)) throw wrong(where, `finite numbers in ${what}`, entry);
    return entry;
  });
}

export function sizes(value: Json | undefined, count: number, what: string, where: string): number[] {
  const list = numbers(value, count, what, where);
  if (!list.every((size) => size > 0)) throw wrong(where, `sizes above 0 in ${what}`, value);
  return list;
}

export const texts = (value: Json | undefined, what: string, where: string): string[] =>
  asList(value, `a list of texts as ${what}`, where).map((entry) => asString(entry, `texts in ${what}`, where));

function word<W extends string>(
  value: Json | undefined,
  words: readonly W[],
  what: string,
  where: string,
): W | undefined {
  return optional(value, (given) => {
    const found = words.find((known) => known === given);
    if (found === undefined) throw wrong(where, `${words.join(", ")} as ${what}`, given);
    return found;
  });
}
