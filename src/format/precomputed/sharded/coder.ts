/**
 * How indexes and values are encoded: as they are, or each as one member of gzip. Several members and bytes after the member
 * are Corrupt: tensorstore and Neuroglancer refuse them, cloud-volume reads only a part.
 *
 * No reader that we know of bounds what comes out. Here a value is bounded by the limits and, beyond 16 MiB, by a ratio that
 * real data of that size do not reach; an index by the file around it, which has at least a byte for each value that matters.
 */
import { loadDeflate } from "../../../codec/deflate.js";
import { gzipWith } from "../../../codec/gzip.js";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { decodedCap, type Limits, withLimits } from "../../../limits.js";
import { ROW } from "./shard-index.js";
import type { Encoding, Sharding } from "./types.js";

export interface Coder {
  encodeIndex(bytes: Uint8Array): Uint8Array;
  /** Bytes of their own. `fileSize` is asked for only where the index claims to be unusually large. */
  decodeIndex(bytes: Uint8Array, limits: Limits, fileSize: () => Promise<number>): Promise<Uint8Array>;
  /** In memory that the next call may use again. */
  encodeValue(bytes: Uint8Array): Uint8Array;
  decodeValue(bytes: Uint8Array, limits: Limits): Uint8Array;
}

/** tensorstore and cloud-volume take 9, which for an index takes ten times as long and saves a byte in a thousand. */
const LEVEL = 6;
/** A chunk of one label shrinks by 1000, but is far below the 16 MiB from which on this counts. */
const VALUE_RATIO = 256;
const USUAL = 16 << 20;

export const limitsFor = (limits: Partial<Limits> | undefined): Limits => withLimits({ ratio: VALUE_RATIO, ...limits });

/** Who writes passes `loadSmallDeflate`. */
export async function coderFor(
  { indexEncoding, dataEncoding }: Pick<Sharding, "indexEncoding" | "dataEncoding">,
  deflate = loadDeflate,
): Promise<Coder> {
  const engine = indexEncoding === "gzip" || dataEncoding === "gzip" ? await deflate() : undefined;
  const gzip = engine && gzipWith(engine, "one");
  const encoder = (encoding: Encoding) => (bytes: Uint8Array) =>
    encoding === "gzip" ? gzip!.compress(bytes, LEVEL) : bytes;
  return {
    encodeIndex: encoder(indexEncoding),
    encodeValue: (bytes) =>
      (dataEncoding === "gzip" ? engine!.lentGzip?.(bytes, LEVEL) : undefined) ?? encoder(dataEncoding)(bytes),
    async decodeIndex(bytes, limits, fileSize) {
      if (indexEncoding === "raw") return new Uint8Array(bytes);
      const claimed = claimedSize(bytes);
      const most = Math.min(limits.chunkBytes, claimed <= USUAL ? USUAL : ROW * (await fileSize()));
      mustFit("a minishard index", claimed, most);
      return gzip!.decompress(bytes, claimed, limits);
    },
    decodeValue(bytes, limits) {
      if (dataEncoding === "raw") return bytes;
      const claimed = claimedSize(bytes);
      mustFit("a value", claimed, decodedCap(bytes.length, limits));
      return gzip!.decompress(bytes, limits.chunkBytes < 2 ** 32 ? claimed : undefined, limits);
    },
  };
}

function mustFit(what: string, claimed: number, most: number): void {
  if (claimed > most) throw new LimitExceeded(`${what} should decode to at most ${most} bytes, found ${claimed}`);
}

/** What the last four bytes of a member say, modulo 2^32; the decoder holds it to that. */
function claimedSize(bytes: Uint8Array): number {
  if (bytes.length < 18) throw new Corrupt(`a member of gzip should have 18 bytes or more, found ${bytes.length}`);
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4).getUint32(0, true);
}
