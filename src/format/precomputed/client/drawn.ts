/** What Neuroglancer does not draw although the format allows it, beyond what `validate` says of the format itself. */
import { OctavoError } from "../../../errors.js";
import type { Finding, FormatOptions } from "../../../model/format.js";
import { Key } from "../../../store/key.js";
import { folderOf, type InfoAt, shardingOf, typeOf } from "../info.js";
import { expectLinked, linksOf } from "../link.js";
import { LEGACY, MULTI } from "../mesh/info.js";
import { LARGE, largeWarning } from "../properties/write.js";
import { failure, finding } from "../rules.js";
import { shardName } from "../sharded/place.js";
import type { Sharding } from "../sharded/types.js";
import { SkeletonInfo } from "../skeleton/info.js";
import { openValues } from "../values.js";
import { clientFinding } from "./rules.js";

const CODECS = ["raw", "jpeg", "png", "jxl", "compressed_segmentation", "compresso"];

export async function* checkDrawn(place: InfoAt, options: FormatOptions = {}): AsyncGenerator<Finding> {
  const { info, where } = place;
  const type = typeOf(place);
  if (type === "neuroglancer_skeletons") yield* checkAttributes(place);
  if (type === "neuroglancer_skeletons" || type === MULTI) yield* checkZero(place, options);
  for (const [i, scale] of (Array.isArray(info.scales) ? (info.scales as { encoding?: unknown }[]) : []).entries())
    if (!CODECS.includes(String(scale?.encoding).toLowerCase()))
      yield clientFinding(
        "codec",
        `${where} scale ${i}`,
        `scale ${i} has the encoding ${scale?.encoding}; Neuroglancer knows ${CODECS.join(", ")}`,
      );
  yield* checkLinks(place, options);
}

function* checkAttributes({ info, where }: InfoAt): Generator<Finding> {
  let attributes: SkeletonInfo["attributes"];
  try {
    ({ attributes } = SkeletonInfo.parse(info, where));
  } catch (error) {
    if (error instanceof OctavoError) return; // `validate` has said so
    throw error;
  }
  for (const { id, components } of attributes) {
    if (components > 4)
      yield clientFinding(
        "attribute",
        where,
        `the attribute ${id} has ${components} numbers, and a shader takes up to 4`,
        "split it",
      );
    if (!/^[A-Za-z_]\w*$/.test(id))
      yield clientFinding(
        "attribute",
        where,
        `the attribute ${JSON.stringify(id)} is not a name that a shader can have`,
        "rename it",
      );
  }
}

/** Looked for by its id, which costs a few requests at most. */
async function* checkZero({ store, at, info, where }: InfoAt, options: FormatOptions): AsyncGenerator<Finding> {
  try {
    const names = info["@type"] === MULTI ? (await import("../mesh/read.js")).multiNames : undefined;
    const values = await openValues(store, at, shardingOf(info, where), { ...options, names });
    if ((await values.get(0n)) === undefined) return;
  } catch (error) {
    yield failure("value-decodes", where, error);
    return;
  }
  yield clientFinding("id-zero", `${where.replace(/info$/, "")}0`, "the object 0 is never shown", "give it another id");
}

async function* checkLinks(place: InfoAt, options: FormatOptions): AsyncGenerator<Finding> {
  const { info, store, at, where } = place;
  for (const [member, path] of linksOf(info)) {
    try {
      await expectLinked(place, member, path, options);
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      // A folder of meshes needs no info: they are of the older form then.
      const isLegacy = member === "mesh" && /found nothing/.test(error.message);
      const says = isLegacy ? `${error.message}, by which Neuroglancer takes it for ${LEGACY}` : error.message;
      yield { ...clientFinding("linked", where, says), ...(isLegacy && { severity: "info" as const }) };
      continue;
    }
    const size = (await store.stat(Key.join(folderOf(at, path, where), "info"), options))?.size ?? 0;
    if (member === "segment_properties" && size > LARGE) yield finding("size", `${where} ${path}`, largeWarning(size));
  }
}

/** A file that is read by ranges, relative to the place, and whether there is any; the first shard that is there. */
export async function rangedFile(
  place: InfoAt,
  { signal }: FormatOptions = {},
): Promise<{ readonly ranged: string | undefined; readonly needsRanges: boolean }> {
  const sharded = shardings(place);
  for (const [folder, sharding] of sharded)
    for (let shard = 0; shard < Math.min(8, 2 ** sharding.shardBits); shard++) {
      const name = `${shardName({ low: shard, high: 0 }, sharding)}.shard`;
      const below = folderOf(place.at, folder, place.where);
      if ((await place.store.stat(Key.join(below, name), { signal })) === undefined) continue;
      return { ranged: folder === "" ? name : `${folder}/${name}`, needsRanges: true };
    }
  return { ranged: undefined, needsRanges: sharded.length > 0 || typeOf(place) === MULTI };
}

/** The folders of the place that have shards. */
function shardings({ info, where }: InfoAt): (readonly [string, Sharding])[] {
  const list = (value: unknown): { key?: unknown; sharding?: never }[] => (Array.isArray(value) ? value : []);
  const inner = [
    info.by_id as { key?: unknown; sharding?: never } | undefined,
    ...list(info.spatial),
    ...list(info.scales),
  ];
  const found: (readonly [string, Sharding])[] = [];
  for (const one of [{ ...info, key: "" } as { key?: unknown; sharding?: never }, ...inner]) {
    if (typeof one?.key !== "string" || one.sharding === undefined) continue;
    const sharding = shardingOf({ sharding: one.sharding }, where);
    if (sharding !== null) found.push([one.key, sharding]);
  }
  return found;
}
