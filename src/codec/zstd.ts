/**
 * Zstandard, as bytes → bytes and as the inner codec of blosc. Frames are walked first (zstd-frame.ts), so sizes are
 * compared with what is expected before anything is allocated; concatenated and skippable frames are content and padding
 * as RFC 8878 says; checksums are verified where a frame has one.
 */
import { concat } from "../bytes/concat.js";
import { Corrupt } from "../errors.js";
import { loadWasmKernel, plainKernel } from "../kernel/index.js";
import type { Limits } from "../limits.js";
import { booleanOption, integerOption } from "./options.js";
import { outputRoom } from "./output.js";
import { placeFor } from "./room.js";
import type { CodecEntry, Into } from "./types.js";
import { kernelZstd, laterZstd, nativeZstd, numberZstd, wasmZstd, type ZstdEngine } from "./zstd-engine.js";
import { scanZstd } from "./zstd-frame.js";

export interface Zstd {
  /** Level 0 is zstd's default (3); negative levels are faster still. */
  compress(bytes: Uint8Array, level: number, checksum?: boolean): Uint8Array;
  /** Exactly `expected` bytes, or Corrupt; where that is undefined, `limits` bound the result. */
  decompress(bytes: Uint8Array, expected: number | undefined, limits: Limits, into?: Into): Uint8Array;
}

let decoder: Promise<ZstdEngine> | undefined;
let encoder: Promise<ZstdEngine> | undefined;
let loaded: Promise<Zstd> | undefined;
let later: Promise<Zstd> | undefined;

/** To encode, too. */
export function loadZstd(): Promise<Zstd> {
  loaded ??= loadOther().then(({ compress }) => withEncoder(compress));
  return loaded;
}

/** The same, without what most numbers never need: it is loaded where that is missed (`withMissingCode`). */
export function loadZstdOnDemand(): Promise<Zstd> {
  later ??= withEncoder(laterZstd(loadOther));
  return later;
}

function loadOther(): Promise<ZstdEngine> {
  encoder ??= Promise.resolve(nativeZstd() ?? wasmZstd());
  return encoder;
}

async function withEncoder(other: ZstdEngine["compress"]): Promise<Zstd> {
  const [{ decompress }, { loadZstdEncodeKernel }] = await Promise.all([
    loadDecoder(),
    import("../kernel/zstd-encode.js"),
  ]);
  return zstdWith({ compress: numberZstd(await loadZstdEncodeKernel(), other), decompress });
}

/** Only to decode: an encoder is thirty times as much code. */
export const loadZstdDecoder = async (): Promise<Zstd> => zstdWith(await loadDecoder());

/** In a memory of its own: blosc has its blocks in the kernel's while it asks for the next. */
function loadDecoder(): Promise<ZstdEngine> {
  decoder ??= loadWasmKernel().then((kernel) => kernelZstd(kernel ?? plainKernel, nativeZstd()));
  return decoder;
}

export function zstdWith(engine: ZstdEngine): Zstd {
  return {
    compress: (bytes, level, checksum = false) => engine.compress(bytes, level, checksum),
    decompress: (bytes, expected, limits, into) => {
      const frames = scanZstd(bytes);
      const { cap, wrong } = outputRoom("zstd data", bytes.length, expected, limits);
      const declared = frames.reduce((sum, frame) => sum + (frame.contentSize ?? 0), 0);
      if (declared > cap) throw wrong(`${declared} declared`);
      const place = frames.length === 1 ? placeFor(into, expected ?? frames[0]!.contentSize ?? 0) : undefined;
      const parts: Uint8Array[] = [];
      let size = 0;
      for (const { start, end, contentSize, bound } of frames) {
        const capacity = Math.min(bound, cap - size);
        const part = engine.decompress(bytes.subarray(start, end), capacity, place);
        // "full" below the blocks' own bound means that the cap was in the way, at the bound that the frame lied.
        if (part === "full" && capacity < bound) throw wrong("more");
        if (typeof part === "string") throw new Corrupt(`the zstd frame at byte ${start} is damaged: ${part}`);
        if (contentSize !== undefined && part.length !== contentSize)
          throw new Corrupt(`the zstd frame at byte ${start} declares ${contentSize} bytes, found ${part.length}`);
        size += part.length;
        parts.push(part);
      }
      if (expected !== undefined && size !== expected) throw wrong(`${size}`);
      return parts.length === 1 ? parts[0]! : concat(parts);
    },
  };
}

export const zstdCodec: CodecEntry = {
  name: "zstd",
  async load(configuration, { decodeOnly, onDemand }) {
    const level = integerOption(configuration, "zstd", "level", [-131072, 22], 0);
    const checksum = booleanOption(configuration, "zstd", "checksum", false);
    const zstd = await (decodeOnly === true ? loadZstdDecoder() : onDemand === true ? loadZstdOnDemand() : loadZstd());
    return {
      kind: "bytes-bytes",
      decode: zstd.decompress,
      encode: (bytes) => zstd.compress(bytes, level, checksum),
    };
  },
};
