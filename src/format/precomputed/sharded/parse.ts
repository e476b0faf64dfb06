/**
 * The sharding specification of an info document, and the way back.
 *
 * Everything that the format names is checked; the bounds are those of tensorstore, the widest of the readers that check.
 * Words are taken in any case, as Neuroglancer does, and written in lower case, which everybody takes. Members that the
 * format does not name are refused: a spelling mistake in one of these would place every id wrongly.
 */
import { isJsonObject, type Json, showJson } from "../../../bytes/json.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import type { Encoding, Hash, Sharding, ShardingDocument } from "./types.js";

const TYPE = "neuroglancer_uint64_sharded_v1";
const HASHES: readonly (readonly [ShardingDocument["hash"], Hash])[] = [
  ["identity", "identity"],
  ["murmurhash3_x86_128", "murmur3"],
];
const KNOWN: ReadonlySet<string> = new Set<keyof ShardingDocument>([
  "@type",
  "hash",
  "preshift_bits",
  "minishard_bits",
  "shard_bits",
  "minishard_index_encoding",
  "data_encoding",
]);

/** The specification that a document holds; `what` names the document in errors. */
export function parseSharding(json: Json | undefined, what: string): Sharding {
  if (!isJsonObject(json)) throw wrong(what, "", "an object", json);
  if (json["@type"] !== TYPE) throw wrong(what, "@type", TYPE, json["@type"]);
  for (const name of Object.keys(json))
    if (!KNOWN.has(name))
      throw new Corrupt(`the sharding of ${what} has a member ${showJson(name)}, which the format does not have`, {
        where: what,
      });
  const word = <T>(name: string, choices: readonly (readonly [string, T])[], absent?: T): T => {
    const value = json[name];
    if (value === undefined && absent !== undefined) return absent;
    const found = typeof value === "string" ? choices.find(([spelled]) => spelled === value.toLowerCase()) : undefined;
    if (found === undefined) throw wrong(what, name, choices.map(([spelled]) => spelled).join(" or "), value);
    return found[1];
  };
  const bits = (name: string, most: number): number => {
    const value = json[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most)
      throw wrong(what, name, `a whole number from 0 to ${most}`, value);
    return value;
  };
  const encodings: readonly (readonly [Encoding, Encoding])[] = [
    ["raw", "raw"],
    ["gzip", "gzip"],
  ];
  const minishardBits = bits("minishard_bits", 32);
  return {
    hash: word("hash", HASHES),
    preshiftBits: bits("preshift_bits", 64),
    minishardBits,
    shardBits: bits("shard_bits", 64 - minishardBits),
    indexEncoding: word("minishard_index_encoding", encodings, "raw"),
    dataEncoding: word("data_encoding", encodings, "raw"),
  };
}

/** As it stands in an info document. */
export function formatSharding(sharding: Sharding): ShardingDocument {
  checkSharding(sharding);
  return {
    "@type": TYPE,
    hash: HASHES.find(([, hash]) => hash === sharding.hash)?.[0] ?? "identity",
    preshift_bits: sharding.preshiftBits,
    minishard_bits: sharding.minishardBits,
    shard_bits: sharding.shardBits,
    minishard_index_encoding: sharding.indexEncoding,
    data_encoding: sharding.dataEncoding,
  };
}

/** InvalidInput where a caller's own specification is none. */
export function checkSharding(sharding: Sharding): void {
  const { preshiftBits: p, minishardBits: m, shardBits: s } = sharding;
  const sound =
    [p, m, s].every((bits) => Number.isInteger(bits) && bits >= 0) &&
    p <= 64 &&
    m <= 32 &&
    m + s <= 64 &&
    HASHES.some(([, hash]) => hash === sharding.hash) &&
    [sharding.indexEncoding, sharding.dataEncoding].every((encoding) => encoding === "raw" || encoding === "gzip");
  if (!sound)
    throw new InvalidInput(
      `a sharding should have preshiftBits up to 64, minishardBits up to 32, shardBits up to 64 − minishardBits and known words, found ${JSON.stringify(sharding)}`,
    );
}

function wrong(what: string, member: string, expected: string, found: Json | undefined): Corrupt {
  const where = member === "" ? "" : ` ${member}`;
  return new Corrupt(`the sharding${where} of ${what} should be ${expected}, found ${showJson(found)}`, {
    where: what,
  });
}
