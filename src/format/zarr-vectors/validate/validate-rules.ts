/**
 * The rules of `validate`, each with the level from which on it is checked, how bad it is, and what it says. docs/formats/zarr-vectors-rules.md
 * is this table; a test compares them, and another breaks each of them.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { Finding } from "../../../model/format.js";
import { failureWith, type Rule, rule } from "../../../model/rules.js";

export const rules = {
  metadata: rule(1, "error", "the document of the root or of a level is missing, damaged or not understood"),
  unavailable: rule(1, "error", "the store did not give it: nothing is known about it"),
  note: rule(1, "info", "something that a reader should know"),
  levels: rule(1, "error", "there is no level, or there is a gap in their numbers"),
  vertices: rule(1, "error", "a level has no vertices"),
  array: rule(1, "error", "the document of an array or group of a level is missing or cannot be used"),
  "object-index": rule(1, "error", "an object index lacks what its layout has, or its numbers, or has two layouts"),
  "object-index-absent": rule(1, "warning", "a kind that is made of objects has no object index"),
  "fragments-absent": rule(1, "warning", "a level has vertices but nothing that divides them into fragments"),
  "link-deltas": rule(1, "warning", "links without a delta, or to a level that is not there"),
  "ome-absent": rule(1, "info", "a store from 0.9.2 on without its ome node"),
  "torn-transaction": rule(1, "warning", "a change was committed and has not been brought to its place"),
  "leftover-partial": rule(1, "info", "a write that never ended left something behind"),

  version: rule(2, "warning", "the version and the structure of the store contradict each other"),
  "geometry-types": rule(2, "warning", "the store names no kind of geometry, or one that is unknown"),
  "links-convention": rule(2, "error", "the convention of links does not fit the kind of geometry"),
  capabilities: rule(2, "warning", "a capability is unknown, or missing although its feature is used"),
  axes: rule(2, "warning", "axes share a name, or are not in the order time, channel, others, space"),
  bins: rule(2, "error", "the bins of a level do not fill its chunks"),
  "level-metadata": rule(2, "warning", "a level says that it is another one, or has a parent that cannot be"),
  multiscales: rule(2, "warning", "the multiscales document and the levels that are there do not agree"),
  "arrays-present": rule(2, "warning", "a level names arrays that are not there"),
  "link-width": rule(2, "error", "links have too few ends for their kind, or say different numbers of ends"),
  "link-offsets": rule(2, "error", "the name of a link array is no list of offsets, or not in canonical order"),
  "attribute-metadata": rule(
    2,
    "error",
    "an attribute has no type that is known, or its categories are no list of different texts",
  ),
  grid: rule(2, "warning", "the grid of an array is not the one that the bounds ask for"),
  "bins-grow": rule(2, "warning", "a coarser level has smaller bins than its parent"),
  "consolidated-differs": rule(2, "warning", "consolidated metadata and the nodes' own do not agree"),

  directory: rule(3, "error", "the directory of an array is missing or leaves out chunks that are stored"),
  "directory-absent": rule(3, "warning", "an array has no directory of its chunks: who cannot list cannot read it"),
  "cell-missing": rule(3, "error", "a chunk that the directory names is not there"),
  "fragments-missing": rule(3, "error", "vertices and fragments are not there for the same chunks"),
  "object-count": rule(3, "error", "an object index has another number of objects than it says"),
  "object-ids": rule(3, "error", "object ids are not one for each object, not unique, or not sorted as they say"),
  "object-attribute-rows": rule(3, "error", "an attribute of objects has not one row for each"),
  "group-count": rule(3, "error", "there are more or fewer groups than said, or rows of their attributes"),

  "cell-decodes": rule(4, "error", "a chunk of an array cannot be decoded, or its checksum is wrong"),
  "vertices-decode": rule(4, "error", "the vertices of a chunk are not whole rows"),
  "fragments-decode": rule(4, "error", "a fragment index cannot be read or names rows that are not there"),
  "attribute-rows": rule(
    4,
    "error",
    "an attribute has not one row for each vertex, fragment or link, or a value that cannot be",
  ),
  "manifest-decodes": rule(4, "error", "a manifest, or the index of them, cannot be read"),
  "links-decode": rule(4, "error", "the links of a chunk cannot be read: rows, groups or orders"),
  "link-fragments": rule(4, "error", "the groups of a chunk's links are not those links"),
  "groups-decode": rule(4, "error", "groups cannot be read"),
  "object-attribute-decodes": rule(4, "error", "an attribute of objects or groups cannot be read"),
  parametric: rule(4, "error", "parametric objects cannot be read"),
  composite: rule(4, "error", "a further geometry of a composite store cannot be read"),

  "fragments-tile": rule(5, "error", "fragments are said to lie one after the other and do not"),
  "rows-unnamed": rule(5, "warning", "rows of vertices that no fragment names"),
  "vertex-chunk": rule(5, "error", "a vertex lies outside of its chunk"),
  "vertex-bin": rule(5, "warning", "a vertex lies outside of its bin"),
  "bin-fragments": rule(5, "error", "a chunk of points has more fragments than bins"),
  "vertex-finite": rule(5, "warning", "coordinates that are NaN or infinite"),
  bounds: rule(5, "error", "vertices lie outside of the bounds"),
  "vertex-count": rule(5, "error", "a level has another number of vertices than it says"),
  "vertex-count-unset": rule(5, "info", "a level says 0 vertices and has some: it was never counted"),
  "manifest-chunk": rule(5, "error", "a manifest names a chunk that has no vertices"),
  "manifest-fragment": rule(5, "error", "a manifest names a fragment that its chunk does not have"),
  "fragments-disjoint": rule(5, "error", "two manifests name one fragment in a level that does not share any"),
  "fragments-unowned": rule(5, "info", "fragments that no object has"),
  "present-count": rule(5, "error", "another number of objects has fragments than the index says"),
  "owner-column": rule(
    5,
    "warning",
    "the owners of fragments are not those of the manifests, or no longer sealed: all manifests are read",
  ),
  "owner-seal": rule(5, "error", "the owners of fragments are sealed, and not those of the manifests"),
  "group-members": rule(5, "error", "a group names an object that is not there"),
  "present-mask": rule(5, "error", "the mask of an object attribute has not one 0 or 1 for each object"),
  "link-ends": rule(5, "error", "a link ends at a vertex or in a chunk that is not there"),
  "link-order": rule(5, "error", "the ends of a link are not in canonical order"),
  "link-count": rule(5, "error", "there are more or fewer links than said"),
  "link-copies": rule(5, "error", "a link is not stored with each of its chunks, although links are said to be"),
  "vertex-count-grows": rule(5, "error", "a coarser level has more vertices than its parent"),
  "ids-stable": rule(5, "error", "a level that keeps the ids of its parent has others"),
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof rules;

/** What repairs something, in words and as a change: of a node's attributes, of the owners of a level, or of the log. */
export type Fix = { readonly says: string } & (
  | { readonly node: string; readonly change: (attributes: JsonObject) => JsonObject }
  | { readonly owners: number }
  | { readonly consolidated: true }
  | { readonly recover: true }
);

const fixes = new WeakMap<Finding, Fix>();

/** What would repair it; undefined where nothing does that is told by the rest. */
export const fixOf = (found: Finding): Fix | undefined => fixes.get(found);

/** Sets attributes of a node, or of an object in them. */
export const setting = (node: string, says: string, values: JsonObject, inside?: string): Fix => ({
  says,
  node,
  change: (attributes) =>
    inside === undefined
      ? { ...attributes, ...values }
      : { ...attributes, [inside]: { ...(attributes[inside] as JsonObject), ...values } },
});

export function finding(id: RuleId, where: string, message: string, fix?: Fix): Finding {
  const { severity } = rules[id];
  const found = { severity, rule: `zarr-vectors/${id}`, where, message, ...(fix && { fix: fix.says }) };
  if (fix !== undefined) fixes.set(found, fix);
  return found;
}

/** What went wrong as a finding; errors that are not Octavo's pass through. */
export const failure = failureWith<RuleId>(finding);

/** The value, or what went wrong. */
export async function attempt<T>(id: RuleId, where: string, work: () => Promise<T> | T): Promise<T | Finding> {
  try {
    return await work();
  } catch (error) {
    return failure(id, where, error);
  }
}

export const isFinding = (value: unknown): value is Finding =>
  typeof value === "object" && value !== null && "severity" in value && "rule" in value;
