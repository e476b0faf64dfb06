/** What does the work for zlib and gzip: node:zlib, or deflate-plain.ts where that is not there. */
import { Corrupt } from "../errors.js";
import { builtin } from "../platform.js";
import type { Inflated } from "./inflate.js";
import { owned } from "./output.js";

export interface Deflate {
  /** A raw stream. */
  deflate(bytes: Uint8Array, level: number): Uint8Array;
  /** The raw stream at `start`; `guess` is the first allocation. "full" where the content would pass `cap`. */
  inflate(bytes: Uint8Array, start: number, guess: number, cap: number): Inflated | "full";
  /** The same for a zlib stream, whose header has been checked; verifies its checksum. */
  inflateZlib(bytes: Uint8Array, guess: number, cap: number): Inflated | "full";
  crc32(bytes: Uint8Array): number;
  /** A member of gzip, as gzip.ts makes it out of the two above; where the engine does that faster. */
  gzip?(bytes: Uint8Array, level: number): Uint8Array;
  /** The same in memory that the next call uses again, where the engine can: for who copies it at once. */
  lentGzip?(bytes: Uint8Array, level: number): Uint8Array | undefined;
}

export const loadDeflate = async (): Promise<Deflate> => nativeDeflate() ?? plainDeflate();

export const plainDeflate = async (): Promise<Deflate> => (await import("./deflate-plain.js")).plain;

export function nativeDeflate(): Deflate | undefined {
  const zlib = builtin("node:zlib");
  if (zlib === undefined) return undefined;
  type Call = typeof zlib.inflateSync;
  const run = (call: Call, bytes: Uint8Array, start: number, guess: number, cap: number): Inflated | "full" => {
    try {
      // `info` is not in the types: it adds the engine, which knows how much of the input it took.
      const options = { chunkSize: Math.max(64, guess), maxOutputLength: Math.max(1, cap), info: true };
      const { buffer, engine } = call(bytes.subarray(start), options) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      if (buffer.length > cap) return "full";
      return { content: owned(buffer), end: start + engine.bytesWritten };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ERR_BUFFER_TOO_LARGE") return "full";
      throw new Corrupt(`the deflate stream at byte ${start} is damaged: ${message}`, { cause: error });
    }
  };
  return {
    // Room for all that can come out: a value of a kilobyte takes 15 % less time than with Node's 16 KiB.
    deflate: (bytes, level) =>
      owned(zlib.deflateRawSync(bytes, { level, chunkSize: 64 + bytes.length + (bytes.length >> 10) })),
    inflate: (bytes, start, guess, cap) => run(zlib.inflateRawSync, bytes, start, guess, cap),
    inflateZlib: (bytes, guess, cap) => run(zlib.inflateSync, bytes, 0, guess, cap),
    crc32: (bytes) => zlib.crc32(bytes),
    gzip(bytes, level) {
      const member = owned(zlib.gzipSync(bytes, { level, chunkSize: 96 + bytes.length + (bytes.length >> 10) }));
      member.set([level === 9 ? 2 : level === 1 ? 4 : 0, 255], 8); // the system: the same everywhere
      return member;
    },
  };
}
