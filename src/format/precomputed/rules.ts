/**
 * The rules of `validate`, each with the level from which on it is checked, how bad it is, and what it says.
 * docs/formats/precomputed.md has this table; a test compares them.
 */
import type { Finding } from "../../model/format.js";
import { failureWith, type Rule, rule } from "../../model/rules.js";

export const rules = {
  info: rule(1, "error", "the info is damaged, or lacks what its type has"),
  unavailable: rule(1, "error", "the store did not give it: nothing is known about it"),
  undrawn: rule(2, "warning", "allowed by the format, and yet Neuroglancer does not draw it"),
  portable: rule(2, "warning", "read by some software and not by other, where a form that all read exists"),
  size: rule(2, "warning", "segment properties of more than 50 MB: a browser reads all of them at once"),
  bounds: rule(2, "warning", "an upper bound that lies below the lower one: regions are looked for in the wrong place"),
  grids: rule(
    2,
    "warning",
    "the grid of a level does not fill the bounds, or does not divide that of the level before",
  ),
  "segment-properties": rule(3, "error", "the segment properties that the info names are not there, or damaged"),
  "properties-ids": rule(3, "warning", "an id that has two rows of properties"),
  "values-listed": rule(3, "error", "the ids of the values cannot be listed: an index is damaged"),
  "chunk-missing": rule(3, "info", "chunks of a volume that are not there, and read as zeros"),
  "chunk-outside": rule(3, "warning", "a chunk that is none of the volume's grid: readers ignore it"),
  "value-decodes": rule(4, "error", "a value cannot be read or decoded"),
  "value-rest": rule(4, "warning", "bytes follow a skeleton: of attributes that the info does not name"),
  "fragment-order": rule(4, "warning", "fragments of a mesh that do not follow the z-curve, as the format asks"),
  "fragment-parent": rule(
    4,
    "warning",
    "fragments of a mesh that lie in no cell of the next coarser lod: Neuroglancer does not draw them",
  ),
  "fragment-decodes": rule(5, "error", "the geometry of a mesh cannot be read or decoded"),
  "fragment-split": rule(
    5,
    "warning",
    "faces of a mesh across the middle of their cell: Neuroglancer shows them with one of the halves",
  ),
  "vertex-finite": rule(5, "warning", "coordinates that are NaN or infinite"),
  alignment: rule(4, "error", "records as the Python writer of Neuroglancer up to 2.41.2 misplaces them"),
  "alignment-unknown": rule(4, "info", "records that may or may not be misplaced: their values do not tell"),
  "cell-limit": rule(5, "warning", "a cell of the spatial index with more annotations than its limit"),
  "cell-outside": rule(5, "error", "an annotation in a cell that not even the box around it meets"),
  "cell-missing": rule(5, "error", "an annotation that is missing from a cell that it touches, or from all levels"),
  "cell-repeats": rule(5, "error", "an annotation in two levels, or twice in one cell"),
  "index-differs": rule(5, "error", "an annotation is not the same in all indexes, or not in all of them"),
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof rules;

export function finding(id: RuleId, where: string, message: string, fix?: string): Finding {
  const { severity } = rules[id];
  return { severity, rule: `precomputed/${id}`, where, message, ...(fix !== undefined && { fix }) };
}

/** What went wrong as a finding; errors that are not Octavo's pass through. */
export const failure = failureWith<RuleId>(finding);
