/**
 * Codec chains: every version's way of naming them becomes one list in the order of encoding, as in v3:
 * array→array …, one array→bytes, bytes→bytes ….
 *
 * | v2                                         | here                                                             |
 * |--------------------------------------------|------------------------------------------------------------------|
 * | order "F" of two or more dimensions        | transpose {order: [n − 1, …, 0]}, first                          |
 * | filters on arrays (delta …)                | in their order, before `bytes`                                   |
 * | the byte order of the dtype                | bytes {endian}, of what the last filter gives                    |
 * | a vlen filter                              | instead of `bytes`                                               |
 * | filters on bytes (shuffle, crc32 …)        | in their order, after `bytes`                                    |
 * | compressor                                 | last                                                             |
 * | blosc {shuffle: −1 0 1 2}                  | blosc {shuffle: name, typesize}; −1 is bit for 1-byte types, else byte |
 *
 * Codecs that v3 does not know keep the configuration of numcodecs; in v3 documents their names begin with "numcodecs.".
 */
import { type DataType, type Endian, isFixed } from "../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { Codec, CodecSpec } from "../../codec/types.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { asInteger, asList, asObject, asString, wrong } from "./document.js";
import { parseNumpyDtype } from "./dtype-numpy.js";

/** All codecs that have a place in a document, whether or not Octavo can run them. */
const onArrays = ["transpose", "delta", "fixedscaleoffset", "packbits", "quantize", "bitround", "astype"];
const toBytes = ["bytes", "vlen-utf8", "vlen-bytes", "vlen-array", "sharding_indexed"];
const compressors = ["blosc", "zstd", "gzip", "zlib", "lz4", "bz2", "lzma"];
const notCompressors = ["shuffle", "crc32c", "crc32", "adler32", "fletcher32", "jenkins_lookup3"];
const kinds: ReadonlyMap<string, Codec["kind"]> = new Map([
  ...onArrays.map((name) => [name, "array-array"] as const),
  ...toBytes.map((name) => [name, "array-bytes"] as const),
  ...[...compressors, ...notCompressors].map((name) => [name, "bytes-bytes"] as const),
]);
const v3Names = [
  "transpose",
  "bytes",
  "vlen-utf8",
  "vlen-bytes",
  "sharding_indexed",
  "blosc",
  "zstd",
  "gzip",
  "crc32c",
];
/** What v3 requires to be said, and v2 does not. */
const defaults: ReadonlyMap<string, JsonObject> = new Map([
  ["zstd", { level: 0, checksum: false }],
  ["gzip", { level: 5 }],
]);
const shuffles = ["noshuffle", "shuffle", "bitshuffle"];

/** numcodecs' {id, …} as a codec of ours; `itemSize` is that of the array it works on. */
function fromNumcodecs(value: Json, itemSize: number, where: string): CodecSpec {
  const { id, ...rest } = asObject(value, "codecs as {id, …}", where);
  const name = asString(id, "a codec's id", where);
  if (name === "zstd") return { name, configuration: { checksum: true, ...rest } };
  if (name !== "blosc") return { name, configuration: rest };
  return bloscSpec(rest.cname ?? "lz4", rest.clevel ?? 5, rest.shuffle ?? 1, rest.blocksize ?? 0, itemSize, where);
}

export function bloscSpec(
  cname: Json | undefined,
  clevel: Json | undefined,
  shuffle: Json | undefined,
  blocksize: Json,
  itemSize: number,
  where: string,
): CodecSpec {
  const mode = asInteger(shuffle, -1, 2, "a shuffle", where);
  const configuration = {
    typesize: itemSize > 255 ? 1 : itemSize, // as c-blosc does
    cname: asString(cname, "the name of a compressor as cname", where),
    clevel: asInteger(clevel, 0, 9, "a clevel", where),
    shuffle: shuffles[mode >= 0 ? mode : itemSize === 1 ? 2 : 1]!,
    blocksize: asInteger(blocksize, 0, 2 ** 31 - 1, "a blocksize", where),
  };
  return { name: "blosc", configuration };
}

function toNumcodecs({ name, configuration }: CodecSpec): JsonObject {
  if (name === "zstd" && configuration.checksum === true) {
    // tensorstore refuses the key. A frame says itself whether it has a checksum, so no reader needs it.
    const { checksum: _, ...rest } = configuration;
    return { id: name, ...rest };
  }
  if (name !== "blosc") return { id: name, ...configuration };
  const { cname, clevel, shuffle, blocksize } = configuration;
  return {
    id: name,
    cname: cname!,
    clevel: clevel!,
    shuffle: shuffles.indexOf(`${shuffle}`),
    blocksize: blocksize ?? 0,
  };
}

export const bytesSpec = (dtype: DataType): CodecSpec => {
  const endian = "endian" in dtype && (dtype.kind === "utf32" || dtype.size > 1) ? dtype.endian : undefined;
  return { name: "bytes", configuration: endian === undefined ? {} : { endian } };
};

export const reversed = (rank: number): number[] => Array.from({ length: rank }, (_, axis) => rank - 1 - axis);

/** `filters` and `compressor` of v2; v1 has only the latter. */
export function chainFromV2(
  filters: Json | undefined,
  compressor: Json | undefined,
  dtype: DataType,
  order: "C" | "F",
  rank: number,
  where: string,
): CodecSpec[] {
  const before: CodecSpec[] =
    order === "F" && rank > 1 ? [{ name: "transpose", configuration: { order: reversed(rank) } }] : [];
  const after: CodecSpec[] = [];
  let middle: CodecSpec | undefined;
  let stored = dtype;
  const itemSize = (): number => (isFixed(stored) && after.length === 0 ? stored.size : 1);
  for (const filter of filters ? asList(filters, "a list of filters, or null", where) : []) {
    const spec = fromNumcodecs(filter, itemSize(), where);
    const kind = kinds.get(spec.name) ?? "bytes-bytes";
    if (kind === "bytes-bytes") {
      after.push(spec);
      continue;
    }
    if (middle !== undefined || after.length > 0)
      throw new Unsupported(`${where} has the filter ${spec.name}, which works on arrays, after one that gives bytes`, {
        where,
      });
    if (kind === "array-bytes") {
      middle = spec;
    } else {
      before.push(spec);
      const astype = spec.configuration.astype ?? spec.configuration.dtype;
      if (astype !== undefined) stored = parseNumpyDtype(astype, where);
    }
  }
  if (compressor) after.push(fromNumcodecs(compressor, itemSize(), where));
  return [...before, middle ?? bytesSpec(stored), ...after];
}

/** The same back: what v2 can say of a chain. */
export function chainToV2(
  codecs: readonly CodecSpec[],
  rank: number,
  where: string,
): { order: "C" | "F"; filters: Json; compressor: Json } {
  const [first, ...others] = codecs;
  const transposed = first?.name === "transpose" ? `${first.configuration.order}` : undefined;
  const order = transposed === `${reversed(rank)}` && rank > 1 ? "F" : "C";
  const rest = transposed === undefined ? codecs : others;
  if (transposed !== undefined && order === "C" && transposed !== `${reversed(rank).reverse()}`)
    throw new Unsupported(`${where} cannot have axes in the order [${transposed}]: Zarr v2 has C and F only`, {
      where,
    });
  for (const { name } of rest) {
    if (name === "transpose" || name === "sharding_indexed")
      throw new Unsupported(`${where} cannot have the codec ${name} here: Zarr v2 has no way to write it`, { where });
  }
  const steps = rest.filter(({ name }) => name !== "bytes");
  const compressed = steps.some(
    ({ name }) => !notCompressors.includes(name) && (kinds.get(name) ?? "bytes-bytes") === "bytes-bytes",
  );
  const compressor = compressed ? toNumcodecs(steps.pop()!) : null;
  return { order, filters: steps.length === 0 ? null : steps.map(toNumcodecs), compressor };
}

/** A v3 list, with inner lists of shards, in one spelling. */
export function chainFromV3(value: Json | undefined, rank: number, itemSize: number, where: string): CodecSpec[] {
  const specs = asList(value, "a list of codecs", where).map((entry) => fromV3(entry, rank, itemSize, where));
  const known = specs.map(({ name }) => kinds.get(name));
  const middle = known.indexOf("array-bytes");
  if (middle < 0 && !known.includes(undefined))
    throw new Corrupt(`${where} has no codec that turns arrays into bytes, such as "bytes"`, { where });
  known.forEach((kind, at) => {
    if (kind === undefined || middle < 0 || at === middle) return;
    if (kind !== (at < middle ? "array-array" : "bytes-bytes"))
      throw new Corrupt(
        `${where} has the codec ${specs[at]!.name} ${at < middle ? "before" : "after"} ${specs[middle]!.name}, where it cannot work`,
        { where },
      );
  });
  return specs;
}

function fromV3(entry: Json, rank: number, itemSize: number, where: string): CodecSpec {
  const { name, configuration: given } = isJsonObject(entry) ? entry : { name: entry, configuration: {} };
  const fullName = asString(name, "codecs as text or as {name, configuration}", where);
  const configuration = given === undefined ? {} : asObject(given, "an object as configuration", where);
  if (fullName.startsWith("numcodecs."))
    return fromNumcodecs({ id: fullName.slice(10), ...configuration }, itemSize, where);
  if (fullName === "packbits")
    throw new Unsupported(`${where} has the codec packbits of v3, which packs otherwise than that of numcodecs`, {
      where,
    });
  if (fullName === "transpose" && typeof configuration.order === "string") {
    // An early form, from before the specification settled on permutations.
    const order = configuration.order === "F" ? reversed(rank) : reversed(rank).reverse();
    return { name: fullName, configuration: { order } };
  }
  if (fullName === "endian") return { name: "bytes", configuration }; // its name in drafts of v3
  if (fullName !== "sharding_indexed") return { name: fullName, configuration };
  const inner = chainFromV3(configuration.codecs, rank, itemSize, where);
  const index = withEndian(chainFromV3(configuration.index_codecs, 1, 8, where), "little");
  return shardingSpec(configuration, inner, index);
}

// A list of codecs is JSON in all but its TypeScript type.
const asJson = (codecs: readonly CodecSpec[]): Json => codecs as unknown as Json;
const asCodecs = (value: Json | undefined): readonly CodecSpec[] => value as unknown as readonly CodecSpec[];

function shardingSpec(own: JsonObject, inner: readonly CodecSpec[], index: readonly CodecSpec[]): CodecSpec {
  return { name: "sharding_indexed", configuration: { ...own, codecs: asJson(inner), index_codecs: asJson(index) } };
}

/** The same codecs, with a byte order wherever `bytes` names none. */
export function withEndian(codecs: readonly CodecSpec[], endian: Endian): CodecSpec[] {
  return codecs.map((spec) => {
    const { name, configuration } = spec;
    if (name === "bytes") return { name, configuration: { ...configuration, endian: configuration.endian ?? endian } };
    if (name !== "sharding_indexed") return spec;
    const inner = withEndian(asCodecs(configuration.codecs), endian);
    return shardingSpec(configuration, inner, asCodecs(configuration.index_codecs));
  });
}

export function chainToV3(codecs: readonly CodecSpec[]): Json[] {
  return codecs.map(({ name, configuration: own }) => {
    const configuration: { [key: string]: Json } = { ...defaults.get(name), ...own };
    if (name === "sharding_indexed") {
      configuration.codecs = chainToV3(asCodecs(own.codecs));
      configuration.index_codecs = chainToV3(asCodecs(own.index_codecs));
    }
    // Only numcodecs' crc32c can lie elsewhere than at the end.
    const isCore = v3Names.includes(name) && configuration.location === undefined;
    const known = isCore || !kinds.has(name) ? name : `numcodecs.${name}`;
    return Object.keys(configuration).length === 0 ? { name: known } : { name: known, configuration };
  });
}

/** The byte order in which elements lie on disk, which v3 hides in its codecs. */
export function endianOf(codecs: readonly CodecSpec[], where: string): Endian | undefined {
  for (const { name, configuration } of codecs) {
    if (name === "sharding_indexed") return endianOf(asCodecs(configuration.codecs), where);
    if (name !== "bytes") continue;
    const { endian } = configuration;
    if (endian === "little" || endian === "big") return endian;
    if (endian === undefined || endian === null) return undefined;
    throw wrong(where, 'an endian of "little" or "big"', endian);
  }
  return undefined;
}
