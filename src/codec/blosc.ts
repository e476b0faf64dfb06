/** Blosc 1 as a codec: the words of zarr v3 and of numcodecs (v0 to v2), and what has to be loaded for them. */
import { InvalidInput } from "../errors.js";
import { loadKernel } from "../kernel/index.js";
import { builtin } from "../platform.js";
import { type BloscTools, decodeBlosc } from "./blosc-decode.js";
import { type BloscName, encodeBlosc } from "./blosc-encode.js";
import type { BloscShuffle } from "./blosc-header.js";
import { integerOption, wordOption } from "./options.js";
import type { CodecEntry, CodecSpec } from "./types.js";

export { type BloscTools, decodeBlosc } from "./blosc-decode.js";
export { type BloscName, type BloscOptions, encodeBlosc } from "./blosc-encode.js";
export { type BloscHeader, type BloscShuffle, parseBloscHeader } from "./blosc-header.js";

const names: readonly BloscName[] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/**
 * | key       | v3                                     | numcodecs                                          |
 * |-----------|----------------------------------------|----------------------------------------------------|
 * | cname     | a name                                 | a name, lz4 if absent                              |
 * | clevel    | 0 to 9                                 | 0 to 9, 5 if absent                                |
 * | shuffle   | noshuffle, shuffle, bitshuffle         | 0, 1, 2, or -1: bit if the elements are bytes      |
 * | typesize  | bytes per element, unless noshuffle    | only since 0.16: the reader of the array adds it   |
 * | blocksize | 0 for the level's own                  | 0 for the level's own                              |
 */
export const bloscCodec: CodecEntry = {
  name: "blosc",
  async load(configuration, { decodeOnly = false }) {
    const cname = wordOption(configuration, "blosc", "cname", names, "lz4");
    const clevel = integerOption(configuration, "blosc", "clevel", [0, 9], 5);
    const blocksize = integerOption(configuration, "blosc", "blocksize", [0, 2 ** 31 - 1], 0);
    const typesize = integerOption(configuration, "blosc", "typesize", [0, 2 ** 31 - 1], 0);
    const shuffle = shuffleOption(configuration, typesize);
    const tools = await loadTools(cname, decodeOnly);
    return {
      kind: "bytes-bytes",
      decode: (bytes, expected, limits, into) => decodeBlosc(bytes, expected, limits, tools, into),
      encode: (bytes) => {
        if (typesize === 0 && shuffle !== "none")
          throw new InvalidInput("the blosc codec's typesize should be the bytes per element, found nothing");
        return encodeBlosc(bytes, { cname, clevel, shuffle, typesize: typesize || 1, blocksize }, tools);
      },
    };
  },
};

function shuffleOption(configuration: CodecSpec["configuration"], typesize: number): BloscShuffle {
  if (typeof configuration.shuffle === "string") {
    const word = wordOption(configuration, "blosc", "shuffle", ["noshuffle", "shuffle", "bitshuffle"]);
    return word === "noshuffle" ? "none" : word === "shuffle" ? "byte" : "bit";
  }
  const number = integerOption(configuration, "blosc", "shuffle", [-1, 2], 1);
  const chosen = number === -1 ? (typesize === 1 ? 2 : 1) : number;
  return chosen === 0 ? "none" : chosen === 1 ? "byte" : "bit";
}

/**
 * A chunk's own header says how it is compressed, whatever the metadata name. The larger codecs are there from the start
 * where the metadata name them or Node has them in itself; any other is loaded when a chunk first asks for it.
 */
async function loadTools(cname: BloscName, decodeOnly: boolean): Promise<BloscTools> {
  const load = async (codec: keyof typeof larger): Promise<void> => {
    tools[codec] ??= await larger[codec](decodeOnly);
  };
  const tools: { -readonly [K in keyof BloscTools]: BloscTools[K] } = { kernel: await loadKernel(), load };
  const node = builtin("node:zlib");
  if (cname === "zlib" || node !== undefined) await load("zlib");
  if (cname === "zstd" || node?.zstdDecompressSync !== undefined) await load("zstd");
  return tools;
}

const larger = {
  zlib: async () => (await import("./zlib.js")).loadZlib(),
  zstd: async (decodeOnly: boolean) => {
    const { loadZstd, loadZstdDecoder } = await import("./zstd.js");
    return decodeOnly ? loadZstdDecoder() : loadZstd();
  },
};
