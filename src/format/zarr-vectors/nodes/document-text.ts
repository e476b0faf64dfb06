/**
 * A `zarr.json` as text that Python reads as it was: what it wrote as 50.0 is written so again, where the format means a float.
 * Without white space: by that the owners of fragments know Octavo's own object index (owner-column.ts).
 */
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { JsonFloat, stringifyJson, type WritableJson } from "../../../bytes/json-write.js";

const OURS = new Set(["zarr_vectors", "zarr_vectors_level", "multiscales"]);
const FLOATS = new Set([
  "chunk_shape",
  "bounds",
  "base_bin_shape",
  "coordinate_offset",
  "object_sparsity",
  "scale",
  "translation",
]);

export const documentText = (document: JsonObject): string =>
  stringifyJson(spelled(document), { ascii: true, tokens: true });

/** A document whose floats are written as such. */
export const spelled = ({ attributes, ...rest }: JsonObject): WritableJson => ({
  ...(attributes === undefined ? {} : { attributes: ours(attributes as JsonObject) }),
  ...rest,
});

const ours = (attributes: JsonObject): WritableJson =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, OURS.has(key) ? withFloats(value) : value]),
  );

function withFloats(value: Json, float = false): WritableJson {
  if (typeof value === "number") return float ? new JsonFloat(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => withFloats(item, float));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withFloats(item, FLOATS.has(key))]));
}
