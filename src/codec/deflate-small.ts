/**
 * Deflate for values of a few kilobytes, of which there are many: the kernel encodes them, about as small as level 6 of zlib and in a
 * third of its time, most of which it takes to begin. Whatever is larger, or asks for another level, is for the other engine. Not
 * loaded by who only reads.
 */
import { type DeflateKernel, loadDeflateKernel } from "../kernel/deflate.js";
import { slack } from "../kernel/types.js";
import { type Deflate, loadDeflate } from "./deflate.js";
import { gzipWith, HEAD, member, TAIL } from "./gzip.js";

/** Beyond this, node:zlib is as fast. */
const LARGE = 1 << 16;
const LEVEL = 6;
const TRIES = 8;

/** One kernel for all: it is used from start to end within a call. */
let kernel: Promise<DeflateKernel> | undefined;

export async function loadSmallDeflate(): Promise<Deflate> {
  kernel ??= loadDeflateKernel();
  return smallDeflate(await kernel, await loadDeflate());
}

export function smallDeflate(kernel: DeflateKernel, other: Deflate): Deflate {
  /** The stream in the kernel's memory, with room for so many bytes before and after it. */
  const lent = (bytes: Uint8Array, level: number, before = 0, after = 0): Uint8Array<ArrayBuffer> | undefined => {
    if (level !== LEVEL || bytes.length > LARGE) return undefined;
    const { memory, start, deflate } = kernel.reserve(2 * bytes.length + (bytes.length >> 10) + 4 * slack);
    if (deflate === undefined) return undefined;
    memory.set(bytes, start);
    const to = start + bytes.length + slack;
    const size = deflate(start, bytes.length, to, TRIES);
    return memory.subarray(to - before, to + size + after) as Uint8Array<ArrayBuffer>;
  };
  const lentGzip = (bytes: Uint8Array, level: number): Uint8Array | undefined => {
    const room = lent(bytes, level, HEAD, TAIL);
    return room && member(room, bytes, level, other.crc32(bytes));
  };
  return {
    ...other,
    deflate: (bytes, level) => lent(bytes, level)?.slice() ?? other.deflate(bytes, level),
    gzip: (bytes, level) => lentGzip(bytes, level)?.slice() ?? gzipWith(other).compress(bytes, level),
    lentGzip,
  };
}
