/** Which map a call of `octavo shard` is about: of an info that has one, or one of those that an info names. */
import { isJsonObject, type Json, type JsonObject, parseJson } from "../bytes/json.js";
import { InvalidInput, NotFound } from "../errors.js";
import { parseSharding, type Sharding } from "../format/precomputed/index.js";
import { type InfoAt, readInfo } from "../format/precomputed/info.js";
import { defaultLimits } from "../limits.js";
import { Prefix } from "../store/key.js";
import type { Place } from "./source.js";

export interface Map {
  readonly at: Prefix;
  readonly sharding: Sharding;
}

/** `key` names one of several, `given` is a sharding as JSON, for a folder that has no info. */
export async function mapAt(
  { store, at }: Pick<Place, "store" | "at">,
  url: string,
  key: string | undefined,
  given: string | undefined,
  signal: AbortSignal,
): Promise<Map> {
  if (given !== undefined) return { at: key === undefined ? at : Prefix.join(at, key), sharding: shardingOf(given) };
  const info = await readInfo(store, at, { signal });
  if (info === undefined)
    throw new NotFound(`${url} has no info that says how it is sharded`, {
      where: url,
      hint: "Give the folder above and --key, or say it with --sharding.",
    });
  const named = mapsIn(info.info);
  if (key === undefined) {
    if (info.info.sharding !== undefined) return { at, sharding: parseSharding(info.info.sharding, info.where) };
    throw new InvalidInput(`${url} is not sharded itself`, {
      hint: named.size > 0 ? `Choose one of its maps with --key: ${[...named.keys()].join(", ")}` : "",
    });
  }
  return { at: Prefix.join(at, key), sharding: namedIn(info, named, key) };
}

export const shardingOf = (text: string): Sharding => {
  try {
    return parseSharding(parseJson(text, defaultLimits, "--sharding"), "--sharding");
  } catch (error) {
    throw new InvalidInput(`${(error as Error).message}`, { cause: error });
  }
};

function namedIn(info: InfoAt, named: ReadonlyMap<string, Json | undefined>, key: string): Sharding {
  if (!named.has(key))
    throw new InvalidInput(`${info.where} names no map ${JSON.stringify(key)}`, {
      hint: named.size > 0 ? `There are ${[...named.keys()].join(", ")}.` : "",
    });
  return parseSharding(named.get(key), `${key} in ${info.where}`);
}

/** The maps of annotations and the scales of volumes, by their keys. */
function mapsIn(info: JsonObject): ReadonlyMap<string, Json | undefined> {
  const all = [info.by_id, info.relationships, info.spatial, info.scales].flat();
  const maps = all.filter((entry): entry is JsonObject => isJsonObject(entry) && typeof entry.key === "string");
  return new Map(maps.map((entry) => [entry.key as string, entry.sharding]));
}
