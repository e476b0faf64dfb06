/**
 * Links between the infos of one publication: a volume of labels names the folders of its meshes, its skeletons and the table of
 * its segments; skeletons and meshes name that of theirs. Who opens one of them in Neuroglancer then sees the others.
 *
 * | info                | members                                      |
 * |---------------------|----------------------------------------------|
 * | volume of labels    | `mesh`, `skeletons`, `segment_properties`    |
 * | skeletons, meshes   | `segment_properties`                         |
 */
import type { JsonObject } from "../../bytes/json.js";
import { InvalidInput, NotFound } from "../../errors.js";
import type { FormatOptions } from "../../model/format.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { folderOf, type InfoAt, readInfo, typeOf, writeInfo } from "./info.js";

const VOLUME = "neuroglancer_multiscale_volume";

/** The types that a member may lead to. */
export const LINKED: { readonly [member: string]: readonly string[] } = {
  mesh: ["neuroglancer_multilod_draco", "neuroglancer_legacy_mesh"],
  skeletons: ["neuroglancer_skeletons"],
  segment_properties: ["neuroglancer_segment_properties"],
};

/** The folders to name, relative to that of the info. */
export interface InfoLinks {
  readonly mesh?: string | undefined;
  readonly skeletons?: string | undefined;
  readonly segmentProperties?: string | undefined;
}

/** Names what belongs to the data at a place in their info. What is named must be there, as far as the store reaches. */
export async function linkInfo(
  store: Store,
  at: Prefix,
  { mesh, skeletons, segmentProperties }: InfoLinks,
  options: FormatOptions = {},
): Promise<void> {
  const place = await linkable(store, at, options);
  const links = Object.entries({ mesh, skeletons, segment_properties: segmentProperties });
  const members: { [member: string]: string } = {};
  for (const [member, path] of links) {
    if (path === undefined) continue;
    mayHave(place, member);
    if (leadsInside(at, path)) await expectLinked(place, member, path, options);
    members[member] = path;
  }
  await writeInfo(store, at, { ...place.info, ...members }, options.signal);
}

/** The info of data that others can be linked to; NotFound where there is none. */
export async function linkable(store: Store, at: Prefix, options: FormatOptions = {}): Promise<InfoAt> {
  const place = await readInfo(store, at, options);
  if (place !== undefined && typeOf(place) !== undefined) return place;
  const where = `${store.url}/${at}info`;
  throw new NotFound(`${where} should be the info of precomputed data, but it is not there, or another`, { where });
}

/** The member of an info that leads to data of this type; undefined where nothing leads there. */
export const memberFor = (type: string | undefined): string | undefined =>
  Object.keys(LINKED).find((member) => type !== undefined && LINKED[member]!.includes(type));

/** InvalidInput where the info has no such member. */
export function mayHave(place: InfoAt, member: string): void {
  const { info, where } = place;
  const type = typeOf(place);
  const isLabels = type === VOLUME && String(info.type).toLowerCase() === "segmentation";
  const isObjects = type !== undefined && [...LINKED.mesh!, ...LINKED.skeletons!].includes(type);
  if (isLabels || (isObjects && member === "segment_properties")) return;
  throw new InvalidInput(`${where} is the info of ${type === VOLUME ? "an image" : type}, which has no ${member}`, {
    where,
  });
}

/** What a member leads to; NotFound where that is not there, or something else. */
export async function expectLinked(
  place: InfoAt,
  member: string,
  path: string,
  options: FormatOptions,
): Promise<InfoAt> {
  const { store, at, where } = place;
  const found = await readInfo(store, folderOf(at, path, where), options);
  const type = found && typeOf(found);
  if (found !== undefined && type !== undefined && LINKED[member]!.includes(type)) return found;
  throw new NotFound(
    `${where} names ${path} as ${member}, where ${LINKED[member]!.join(" or ")} should be, found ${type ?? "nothing"}`,
    { where },
  );
}

/** The members of an info that lead elsewhere. */
export const linksOf = (info: JsonObject): (readonly [member: string, path: string])[] =>
  Object.keys(LINKED).flatMap((member) => {
    const path = info[member];
    return typeof path === "string" ? [[member, path] as const] : [];
  });

/** Whether the way stays in the store. */
function leadsInside(at: Prefix, path: string): boolean {
  let depth = at.split("/").length - 1;
  for (const segment of path.split("/")) {
    if (segment === "..") depth--;
    else if (segment !== "" && segment !== ".") depth++;
    if (depth < 0) return false;
  }
  return true;
}

/** The way from one folder to another, both as URLs of one place; undefined where there is none. */
export function pathBetween(from: string, to: string): string | undefined {
  const [a, b] = [from, to].map((url) => url.replace(/\/+$/, "").split("/"));
  let same = 0;
  while (same < a!.length && same < b!.length && a![same] === b![same]) same++;
  const root = from.includes("://") ? 3 : 1; // "file:", "", host; or what begins all paths
  if (same < Math.min(root, a!.length)) return undefined;
  return [...a!.slice(same).map(() => ".."), ...b!.slice(same)].join("/") || ".";
}
