/**
 * How a store spells things, told from what is there. Structure comes first; the version number decides only what structure
 * leaves open, because version numbers were reused (0.5.0 twice, 0.8.0 for three layouts) and edited stores keep old ones.
 *
 * | what is there                                                  | is                                                |
 * |----------------------------------------------------------------|---------------------------------------------------|
 * | no zarr.json at the root, but `.zattrs`                        | files (0.2, 0.3)                                  |
 * | `vertices` is a group, or only a folder                        | blobs (0.4 – 0.8)                                 |
 * | `vertices` is an array                                         | cells (from 0.9)                                  |
 * | `vertex_fragments`                                             | a fragment index (from 0.6)                       |
 * | `vertex_group_offsets` with `vertex_counts` or old names       | paired offsets (to early 0.5)                     |
 * | `vertex_group_offsets` alone                                   | offsets (late 0.5)                                |
 * | `attributes`, `groupings`, `groupings_attributes`              | old names (to early 0.5)                          |
 * | `layout` of `object_index`                                     | vlen or dense manifests; else blobs or tuples     |
 * | an attribute of `object_attributes` is an array                | an array (from 0.8.1)                             |
 * | `cross_chunk_links/<delta>` with anything but `data`           | one of the layouts of 0.8, Unsupported            |
 */
import { type JsonObject, showJson } from "../../../bytes/json.js";
import { Unsupported } from "../../../errors.js";
import type { Dialect } from "../types.js";
import { compareVersions } from "./version.js";

/** What a level is told by. */
export interface Evidence {
  readonly version: string;
  readonly capabilities: readonly string[];
  readonly container: Dialect["container"];
  /** Names directly below the level; undefined where nothing can tell (never for blobs and files). */
  readonly names: readonly string[] | undefined;
  /** The attributes of `object_index`, where there is one. */
  readonly index: JsonObject | undefined;
  /** Whether an attribute of objects is an array. */
  readonly denseAttributes: boolean;
  readonly where: string;
}

const OLD_NAMES = ["attributes", "groupings", "groupings_attributes", "vertex_counts"];

export function dialectOf(evidence: Evidence): Dialect {
  const { container, names = [], capabilities } = evidence;
  if (container === "cells")
    return {
      container,
      fragments: "index",
      manifests: manifestsOf(evidence, true),
      crossLinks: "offsets",
      names: "new",
      objectAttributes: "array",
    };
  const before = (version: string): boolean => compareVersions(evidence.version, version) < 0;
  const early =
    container === "files" ||
    before("0.5.0") ||
    OLD_NAMES.some((name) => names.includes(name)) ||
    (before("0.6.0") && capabilities.includes("vertex_count_cache"));
  const indexed = names.includes("vertex_fragments") || (!names.includes("vertex_group_offsets") && !before("0.6.0"));
  return {
    container,
    fragments: indexed ? "index" : early ? "paired-offsets" : "offsets",
    manifests: manifestsOf(evidence, indexed),
    crossLinks: "flat",
    names: early && !indexed ? "old" : "new",
    objectAttributes: evidence.denseAttributes ? "array" : "blobs",
  };
}

function manifestsOf({ index, container, where }: Evidence, indexed: boolean): Dialect["manifests"] {
  if (index?.sid_ndim === undefined && index?.layout === undefined) return "none"; // or made and never written
  switch (index.layout) {
    case undefined:
      return container === "cells" ? "vlen" : indexed ? "blobs" : "tuples";
    case "vlen_manifests_v1":
    case "vlen_manifests_v2":
      return "vlen";
    case "dense_manifests_v1":
      return "dense";
    default:
      throw new Unsupported(
        `the object index of ${where} has the layout ${showJson(index.layout)}, Octavo knows vlen_manifests_v1, vlen_manifests_v2 and dense_manifests_v1`,
        { where },
      );
  }
}

/** Three layouts of cross-chunk links carried the number 0.8.0, none was released, and no reader of them exists. */
export function refuseLinksOf08(attributes: JsonObject, names: readonly string[], where: string): void {
  const { layout } = attributes;
  const found =
    layout === "partitioned_v1"
      ? 'layout "partitioned_v1", a tree of arrays by the chunks of all ends'
      : layout === "sharded_v1"
        ? 'layout "sharded_v1", arrays k1, k2 … by the number of chunks'
        : layout !== undefined
          ? `layout ${showJson(layout)}`
          : names.some((name) => name !== "data")
            ? "one array for each tuple of chunks"
            : undefined;
  if (found === undefined) return;
  throw new Unsupported(
    `${where} has cross-chunk links as 0.8 had them before its release (${found}), which Octavo does not read`,
    { where },
  );
}
