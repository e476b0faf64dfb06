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
import type { FixedDataType } from "../../bytes/dtype.js";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  showJson,
  stringifyJson,
  type WritableJson,
} from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { FormatOptions } from "../../model/format.js";
import { Affine } from "../../space/transform.js";
import { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { asList, readDocument, wrong } from "../zarr/document.js";
import { parseV3Dtype } from "../zarr/dtype-v3.js";
import { parseSharding } from "./sharded/parse.js";
import type { Sharding } from "./sharded/types.js";

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
  const bytes = await get(Key.join(at, "info"), { signal, most: withLimits(options.limits).metadataBytes });
  return bytes && infoOf(store, at, bytes, options);
}

/** What these bytes of an `info` say. */
export function infoOf(store: Store, at: Prefix, bytes: Uint8Array, options: FormatOptions): InfoAt {
  const where = `${store.url}/${Key.join(at, "info")}`;
  return { store, at, where, info: readDocument(bytes, withLimits(options.limits), where) };
}

/** The type that an `info` has, also where it does not say so; undefined where it is of another software. */
export function typeOf({ info }: InfoAt): string | undefined {
  const type = info["@type"];
  if (typeof type === "string") return type.startsWith("neuroglancer_") ? type : undefined;
  if (type !== undefined) return undefined;
  if (Array.isArray(info.scales)) return "neuroglancer_multiscale_volume";
  return info.sharding === undefined ? undefined : "neuroglancer_uint64_sharded_v1";
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

/** The numbers that attributes and properties are made of. */
export const NUMBER_TYPES = ["float32", "int8", "uint8", "int16", "uint16", "int32", "uint32"] as const;
export type NumberType = (typeof NUMBER_TYPES)[number];

const DTYPES = Object.fromEntries(
  NUMBER_TYPES.map((type) => [type, parseV3Dtype(type, "little", type) as FixedDataType]),
) as { readonly [T in NumberType]: FixedDataType };

export const numberDtype = (type: NumberType): FixedDataType => DTYPES[type];

/** One of some words. */
export function asWord<T extends string>(value: Json | undefined, words: readonly T[], what: string, where: string): T {
  const found = words.find((word) => word === value);
  if (found === undefined) throw wrong(where, `${what}, one of ${words.join(", ")}`, value);
  return found;
}

/** A member that may be absent, which is an empty list. */
export const asOptionalList = (value: Json | undefined, what: string, where: string): readonly Json[] =>
  value === undefined ? [] : asList(value, what, where);

/** How values lie. cloud-volume writes null for files of their own: read as that, though Neuroglancer does not open it. */
export function shardingOf({ sharding }: JsonObject, where: string): Sharding | null {
  return sharding === undefined || sharding === null ? null : parseSharding(sharding, where);
}

/** The transform that moves nothing. */
export const identityRows: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];

/** From stored coordinates to nanometres; undefined where the document has none, or one that moves nothing. */
export function transformOf({ transform }: JsonObject, where: string): Affine | undefined {
  if (transform === undefined) return undefined;
  const rows = asNumbers(transform, 12, "transform", where);
  return rows.every((value, i) => value === identityRows[i]) ? undefined : Affine.of(rows);
}

/** The folder that a member names, relative to that of the `info`; ".." leads up, but not out of the store. */
export function folderOf(at: Prefix, path: string, where: string): Prefix {
  const segments = at === "" ? [] : at.slice(0, -1).split("/");
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined)
      throw new Unsupported(`${where} names the folder ${showJson(path)}, which lies outside of the store`, {
        where,
        hint: "open the store further up, and this as a path in it",
      });
  }
  return Prefix.of(segments.join("/"));
}

/** The same document without members that say that nothing is sharded: Neuroglancer does not open it with them. */
export function withoutNullSharding(document: JsonObject): JsonObject {
  const clean = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(clean);
    return isJsonObject(value) ? withoutNullSharding(value) : value;
  };
  return Object.fromEntries(
    Object.entries(document)
      .filter(([name, value]) => name !== "sharding" || value !== null)
      .map(([name, value]) => [name, clean(value)]),
  );
}
