/**
 * The document of a level: `zarr_vectors_level` in the attributes of `<n>/zarr.json`, before 0.4 in `resolution_<n>/.zattrs`.
 *
 * | key                                        | here                                                                         |
 * |--------------------------------------------|------------------------------------------------------------------------------|
 * | level, vertex_count, arrays_present        | must be there                                                                |
 * | object_sparsity                            | above 0, at most 1; 1 where nothing is said                                  |
 * | chunk_shape                                | from 0.7, where it is not the root's: a whole multiple of it on each axis    |
 * | bin_shape, bin_ratio; bin_size (early 0.2) | to 0.5; the datasets of the root come first                                  |
 * | shared_fragments; shared_vertex_groups     | the same, before and from 0.6                                                |
 * | chunk_attribute_name, _values              | the leading chunk axis is this attribute, its coordinate a place in the list |
 * | refinement                                 | "replace"; a level that adds to another is Unsupported                       |
 */
import { type Json, type JsonObject, showJson } from "../../../bytes/json.js";
import { Corrupt, Unsupported } from "../../../errors.js";
import { asInteger, asList, asObject, asString, wrong } from "../../zarr/document.js";
import type { LevelMeta, RootMeta } from "../types.js";
import { isWhole, optional, sizes, texts } from "./parse-root.js";

const MOST = Number.MAX_SAFE_INTEGER;

export function parseLevel(
  attributes: JsonObject,
  level: number,
  path: string,
  root: RootMeta,
  where: string,
): LevelMeta {
  const own = asObject(attributes.zarr_vectors_level, "an object as zarr_vectors_level", where);
  const notes: string[] = [];
  const said = asInteger(own.level, 0, MOST, "a level", where);
  if (said !== level) notes.push(`The document of level ${level} says that it is level ${said}.`);
  if (own.refinement !== undefined && own.refinement !== null && own.refinement !== "replace")
    throw new Unsupported(
      `${where} has the refinement ${showJson(own.refinement)}: Octavo reads levels that stand for themselves`,
      { where },
    );
  const chunkShape = parseChunkShape(own.chunk_shape, root, where);
  return {
    level,
    path,
    vertexCount: asInteger(own.vertex_count, 0, MOST, "a vertex_count", where),
    arraysPresent: texts(own.arrays_present, "arrays_present", where),
    objectSparsity: optional(own.object_sparsity, (value) => parseSparsity(value, where)),
    coarseningMethod: optional(own.coarsening_method, (value) => asString(value, "a coarsening_method", where)),
    parentLevel: optional(own.parent_level, (value) => asInteger(value, 0, MOST, "a parent_level", where)),
    chunkShape,
    binShape: parseBinShape(own, level, root, where),
    preservesObjectIds: flag(own, "preserves_object_ids", where),
    inheritedNumObjects: optional(own.inherited_num_objects, (value) =>
      asInteger(value, 0, MOST, "an inherited_num_objects", where),
    ),
    sharedFragments: flag(own, "shared_fragments", where) || flag(own, "shared_vertex_groups", where),
    fragmentsTile: flag(own, "fragments_tile", where),
    chunkAttribute: optional(own.chunk_attribute_name, (name) => ({
      name: asString(name, "a chunk_attribute_name", where),
      values: asList(own.chunk_attribute_values, "a list as chunk_attribute_values", where),
    })),
    presenceDeferred: (attributes.zarr_vectors_presence ?? own.zarr_vectors_presence) === "deferred",
    attributes,
    notes,
  };
}

function parseSparsity(value: Json, where: string): number {
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw wrong(where, "an object_sparsity above 0 and at most 1", value);
}

function parseChunkShape(value: Json | undefined, root: RootMeta, where: string): readonly number[] {
  if (value === undefined || value === null) return root.chunkShape;
  const shape = sizes(value, root.axes.length, "chunk_shape", where);
  if (shape.every((size, axis) => isWhole(size / root.chunkShape[axis]!))) return shape;
  throw new Corrupt(
    `${where} has chunks of [${shape}], which are no whole multiples of the root's [${root.chunkShape}]`,
    {
      where,
    },
  );
}

function parseBinShape(own: JsonObject, level: number, root: RootMeta, where: string): readonly number[] {
  const dims = root.axes.length;
  const base = root.baseBinShape ?? root.chunkShape;
  return (
    root.bins.get(level) ??
    optional(own.bin_shape, (value) => sizes(value, dims, "bin_shape", where)) ??
    optional(own.bin_size, (value) => sizes(value, dims, "bin_size", where)) ??
    optional(own.bin_ratio, (value) => sizes(value, dims, "bin_ratio", where).map((r, axis) => r * base[axis]!)) ??
    base
  );
}

function flag(own: JsonObject, key: string, where: string): boolean {
  const value = own[key];
  if (value === undefined || value === null || value === false) return false;
  if (value === true) return true;
  throw wrong(where, `true or false as ${key}`, value);
}
