/**
 * Decoders that exist twice: the loops in WebAssembly and in TypeScript, deflate and zstd by Node and by ourselves. Both get
 * the same bytes and must say the same: the same value, or both no.
 */
import { isDeepStrictEqual } from "node:util";
import { concat } from "../../src/bytes/concat.js";
import { type BloscTools, decodeBlosc, encodeBlosc } from "../../src/codec/blosc.js";
import { decodeSegmentation, encodeSegmentation } from "../../src/codec/compressed-segmentation.js";
import { type Deflate, nativeDeflate, plainDeflate } from "../../src/codec/deflate.js";
import { decodeLz4, encodeLz4 } from "../../src/codec/lz4.js";
import type { ChunkSpec } from "../../src/codec/types.js";
import { zstdWith } from "../../src/codec/zstd.js";
import { nativeZstd, wasmZstd } from "../../src/codec/zstd-engine.js";
import { LimitExceeded, OctavoError } from "../../src/errors.js";
import { loadKernel, plainKernel } from "../../src/kernel/index.js";
import { loadLabelKernel, plainLabelKernel } from "../../src/kernel/labels.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import type { Decoder, Target } from "./driver.js";
import { chunks } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, chunkBytes: cap };
const SIZE = 2048; // of every chunk

type Decode = (bytes: Uint8Array, expected: number | undefined) => Uint8Array;

interface Twins {
  readonly seeds: Uint8Array[];
  readonly both: readonly [Decode, Decode];
  /** Damage that one of them may notice and the other not. */
  mayDiffer?(bytes: Uint8Array): boolean;
}

const twins = (name: string, load: () => Promise<Twins>): Target => ({
  name: `twins-${name}`,
  cap: 2 * cap,
  load: async (): Promise<Decoder> => {
    const { seeds, both, mayDiffer } = await load();
    const run = (bytes: Uint8Array): Uint8Array => {
      const expected = bytes.length & 1 ? undefined : SIZE;
      const [first, second] = both.map((decode) => attempt(decode, bytes.slice(), expected));
      const same = first instanceof OctavoError ? second instanceof OctavoError : isDeepStrictEqual(first, second);
      const oneRefuses = first instanceof OctavoError !== second instanceof OctavoError;
      if (!same && !(oneRefuses && mayDiffer?.(bytes)))
        throw new Error(`the twins differ: ${show(first!)} and ${show(second!)}`);
      if (first instanceof OctavoError) throw first;
      return first!;
    };
    return { seeds, run };
  },
});

function attempt(decode: Decode, bytes: Uint8Array, expected: number | undefined): Uint8Array | OctavoError {
  try {
    return Uint8Array.from(decode(bytes, expected));
  } catch (error) {
    if (error instanceof OctavoError) return error;
    throw error;
  }
}

const show = (outcome: Uint8Array | OctavoError): string =>
  outcome instanceof OctavoError
    ? outcome.message
    : `${outcome.length} bytes ${Buffer.from(outcome).toString("hex").slice(0, 200)}`;

export const twinTargets: readonly Target[] = [
  twins("blosc", async () => {
    const tools: BloscTools = { kernel: await loadKernel() };
    const seeds = (["blosclz", "lz4", "lz4hc", "snappy"] as const).flatMap((cname) =>
      (["none", "byte", "bit"] as const).flatMap((shuffle) =>
        chunks().map((chunk) => encodeBlosc(chunk, { cname, clevel: 5, shuffle, typesize: 4, blocksize: 1024 }, tools)),
      ),
    );
    const decode =
      (some: BloscTools): Decode =>
      (bytes, expected) =>
        decodeBlosc(bytes, expected, limits, some);
    return { seeds, both: [decode(tools), decode({ kernel: plainKernel })] };
  }),
  twins("lz4", async () => {
    const kernel = await loadKernel();
    return {
      seeds: chunks().map((chunk) => encodeLz4(chunk, 1, kernel)),
      both: [
        (bytes, expected) => decodeLz4(bytes, expected, limits, kernel),
        (bytes, expected) => decodeLz4(bytes, expected, limits, plainKernel),
      ],
    };
  }),
  twins("compressed_segmentation", async () => {
    const kernel = await loadLabelKernel();
    const chunk: ChunkSpec = {
      shape: [2, 4, 4, 8],
      dtype: { kind: "uint", size: 8, endian: "little" },
      fill: new Uint8Array(8),
    };
    return {
      seeds: chunks().map((data) => encodeSegmentation(data, chunk, [8, 4, 2], kernel)),
      both: [
        (bytes) => decodeSegmentation(bytes, chunk, [8, 4, 2], kernel),
        (bytes) => decodeSegmentation(bytes, chunk, [8, 4, 2], plainLabelKernel),
      ],
    };
  }),
  // Raw, because a checksum would refuse nearly everything before anything interesting happens.
  twins("deflate", async () => {
    const native = nativeDeflate()!;
    const decode =
      ({ inflate }: Deflate): Decode =>
      (bytes) => {
        const inflated = inflate(bytes, 0, SIZE, cap);
        if (inflated === "full") throw new LimitExceeded("full");
        return concat([Uint8Array.of(inflated.end >>> 8, inflated.end), inflated.content]);
      };
    return {
      seeds: [0, 1, 6].flatMap((level) => chunks().map((chunk) => native.deflate(chunk, level))),
      both: [decode(native), decode(await plainDeflate())],
    };
  }),
  twins("zstd", async () => {
    const wasm = zstdWith(await wasmZstd());
    const native = nativeZstd();
    const other = native === undefined ? wasm : zstdWith(native); // Node has zstd from 22.15
    return {
      seeds: chunks().flatMap((chunk) => [wasm.compress(chunk, 3), wasm.compress(chunk, 3, true)]),
      // libzstd for 64 bits, in Node as in numcodecs, lets through some damaged streams that its 32-bit form refuses. A
      // frame with a checksum is judged by that.
      mayDiffer: (bytes) => (bytes[4]! & 4) === 0,
      both: [
        (bytes, expected) => wasm.decompress(bytes, expected, limits),
        (bytes, expected) => other.decompress(bytes, expected, limits),
      ],
    };
  }),
];
