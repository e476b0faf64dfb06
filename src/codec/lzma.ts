/**
 * `lzma` of numcodecs and zarr 1: Python's lzma module, whose configuration it has. Decoding only.
 *
 * | format   | bytes                                                                                        |
 * |----------|----------------------------------------------------------------------------------------------|
 * | 1, xz    | the .xz container; says everything itself                                                    |
 * | 2, alone | the old .lzma: u8 properties, u32 dictionary, u64 size or 2^64 − 1 (then a mark ends it), LZMA |
 * | 3, raw   | what `filters` say: deltas, then LZMA2 or LZMA with a mark at its end                        |
 */
import { isJsonObject, type Json } from "../bytes/json.js";
import { Reader } from "../bytes/reader.js";
import { toNumber, U64 } from "../bytes/u64.js";
import { Corrupt, InvalidInput, Unsupported } from "../errors.js";
import { decodeOnly } from "./decode-only.js";
import { LzmaDecoder, type LzmaProperties, lzmaProperties } from "./lzma-decoder.js";
import { decodeLzma2 } from "./lzma2.js";
import { integerOption } from "./options.js";
import { Output, outputRoom } from "./output.js";
import type { CodecEntry } from "./types.js";
import { decodeXz, undoDelta } from "./xz.js";

type Decode = (bytes: Uint8Array, output: Output) => void;

export const lzmaCodec: CodecEntry = {
  name: "lzma",
  async load(configuration) {
    const format = integerOption(configuration, "lzma", "format", [1, 3], 1);
    const decode: Decode = format === 1 ? decodeXz : format === 2 ? decodeAlone : rawDecoder(configuration.filters);
    return {
      kind: "bytes-bytes",
      decode: (bytes, expected, limits) => {
        const output = new Output(outputRoom("lzma data", bytes.length, expected, limits));
        decode(bytes, output);
        return output.finish(expected);
      },
      encode: decodeOnly("lzma"),
    };
  },
};

function decodeAlone(bytes: Uint8Array, output: Output): void {
  const reader = new Reader(bytes, "lzma data");
  const properties = lzmaProperties(reader.u8());
  reader.skip(4); // the dictionary is the whole content here
  const size = reader.u64();
  decodeLzma1(
    bytes,
    reader.offset,
    properties,
    size === U64.MAX ? undefined : toNumber(size, "the size of lzma data"),
    output,
  );
}

function decodeLzma1(
  bytes: Uint8Array,
  at: number,
  properties: LzmaProperties,
  size: number | undefined,
  output: Output,
): void {
  const decoder = new LzmaDecoder(bytes, output);
  decoder.reset(properties);
  decoder.begin(at, bytes.length);
  const marked = decoder.decode(size ?? Number.POSITIVE_INFINITY);
  if (size !== undefined && output.size !== size)
    throw new Corrupt(`the lzma data should decode to ${size} bytes, found a mark after ${output.size}`);
  if (!marked && !(decoder.finished && decoder.at === bytes.length)) decoder.mark(); // allowed, not needed
  if (!decoder.finished || decoder.at !== bytes.length)
    throw new Corrupt(`the lzma data should end at byte ${bytes.length}, found its end at ${decoder.at}`);
}

const LZMA1 = 2n ** 62n + 1n;

function rawDecoder(filters: Json | undefined): Decode {
  if (!Array.isArray(filters) || filters.length === 0)
    throw new InvalidInput("the lzma codec's filters should be a list for format 3, found none");
  const list = (filters as readonly Json[]).map((filter) => {
    if (!isJsonObject(filter)) throw new InvalidInput("the lzma codec's filters should be objects with an id");
    return filter;
  });
  const last = list.at(-1)!;
  const deltas = list.slice(0, -1).map((filter) => {
    if (filter.id !== 3) throw new Unsupported(`the lzma codec's filter ${filter.id} is not supported before the last`);
    return integerOption(filter, "lzma", "dist", [1, 256], 1);
  });
  deltas.reverse(); // the last one applied is the first undone
  const option = (key: string, high: number, absent: number): number =>
    integerOption(last, "lzma", key, [0, high], absent);
  let decode: Decode;
  if (last.id === 0x21)
    decode = (bytes, output) => {
      const end = decodeLzma2(bytes, 0, output);
      if (end !== bytes.length)
        throw new Corrupt(`the lzma data should end at byte ${bytes.length}, found its end at ${end}`);
    };
  else if (BigInt(typeof last.id === "number" || typeof last.id === "bigint" ? last.id : 0) === LZMA1) {
    const properties = { lc: option("lc", 4, 3), lp: option("lp", 4, 0), pb: option("pb", 4, 2) };
    decode = (bytes, output) => decodeLzma1(bytes, 0, properties, undefined, output);
  } else throw new Unsupported(`the lzma codec's last filter should be LZMA1 or LZMA2, found ${last.id}`);
  return (bytes, output) => {
    decode(bytes, output);
    for (const distance of deltas) undoDelta(output.bytes, 0, output.size, distance);
  };
}
