/**
 * The document `info`, a JSON object that says what a place is and how its values are read. What it is stands in `@type`;
 * a volume may leave that out (its `scales` tell), and so does a bare map from ids to bytes, which has only `sharding`.
 *
 * | `@type`                                                    | what it is                                    |
 * |------------------------------------------------------------|-----------------------------------------------|
 * | neuroglancer_multiscale_volume, or absent with `scales`    | arrays, one for each scale                    |
 * | neuroglancer_skeletons                                     | a skeleton for each id                        |
 * | neuroglancer_legacy_mesh, neuroglancer_multilod_draco      | a mesh for each id                            |
 * | neuroglancer_annotations_v1                                | points, lines, boxes, ellipsoids, polylines   |
 * | neuroglancer_segment_properties                            | a table with a row for each id                |
 * | absent, with `sharding`                                    | bytes for each id                             |
 */
import { type Json, type JsonObject, stringifyJson, type WritableJson } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { withLimits } from "../../limits.js";
import type { FormatOptions } from "../../model/format.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { readDocument, wrong } from "../zarr/document.js";

/** A place, and what its `info` says. */
export interface InfoAt {
  readonly store: Store;
  readonly at: Prefix;
  readonly info: JsonObject;
  /** Where the document is, for sentences. */
  readonly where: string;
}

/** The document at a place; undefined where there is none. */
export async function readInfo(store: Store, at: Prefix, options: FormatOptions = {}): Promise<InfoAt | undefined> {
  const { signal, get = store.get.bind(store) } = options;
  const limits = withLimits(options.limits);
  const key = Key.join(at, "info");
  const bytes = await get(key, { signal, most: limits.metadataBytes });
  if (bytes === undefined) return undefined;
  const where = `${store.url}/${key}`;
  return { store, at, where, info: readDocument(bytes, limits, where) };
}

/** Writes the document: the last thing of every store, since whoever finds it expects the rest. */
export async function writeInfo(store: Store, at: Prefix, info: WritableJson, signal?: AbortSignal): Promise<void> {
  await store.set(Key.join(at, "info"), encodeUtf8(stringifyJson(info), "info"), { signal });
}

/** So many finite numbers. */
export function asNumbers(value: Json | undefined, count: number, what: string, where: string): number[] {
  const expected = `${count} finite numbers as ${what}`;
  if (!Array.isArray(value) || value.length !== count) throw wrong(where, expected, value);
  return (value as readonly Json[]).map((entry) => {
    const number = typeof entry === "bigint" ? Number(entry) : entry;
    if (typeof number !== "number" || !Number.isFinite(number)) throw wrong(where, expected, entry);
    return number;
  });
}
