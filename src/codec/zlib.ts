/**
 * The zlib wrapper (RFC 1950), as bytes → bytes and as the inner codec of blosc.
 *
 * | bytes | meaning                                                                       |
 * |-------|-------------------------------------------------------------------------------|
 * | 1     | low 4 bits method 8, high 4 bits log2(window) − 8                             |
 * | 1     | bit 5 dictionary, bits 6–7 level; both bytes as a big-endian number divide by 31 |
 * | …     | deflate stream                                                                |
 * | 4     | adler32 of the content, big-endian                                            |
 */
import { adler32 } from "../bytes/hash/adler32.js";
import { Corrupt, Unsupported } from "../errors.js";
import type { Limits } from "../limits.js";
import { type Deflate, loadDeflate } from "./deflate.js";
import { integerOption } from "./options.js";
import { outputRoom } from "./output.js";
import type { CodecEntry } from "./types.js";

export interface Zlib {
  /** Levels 0 to 9. */
  compress(bytes: Uint8Array, level: number): Uint8Array;
  /** Exactly `expected` bytes, or Corrupt; where that is undefined, `limits` bound the result. */
  decompress(bytes: Uint8Array, expected: number | undefined, limits: Limits): Uint8Array;
}

export const loadZlib = (): Promise<Zlib> => loadDeflate().then(zlibWith);

export function zlibWith(engine: Deflate): Zlib {
  return {
    compress(bytes, level) {
      const stream = engine.deflate(bytes, level);
      const out = new Uint8Array(stream.length + 6);
      out[0] = 0x78;
      out[1] = level < 2 ? 0x01 : level < 6 ? 0x5e : level === 6 ? 0x9c : 0xda;
      out.set(stream, 2);
      new DataView(out.buffer).setUint32(out.length - 4, adler32(bytes), false);
      return out;
    },
    decompress(bytes, expected, limits) {
      checkHeader(bytes);
      const { guess, cap, wrong } = outputRoom("zlib data", bytes.length, expected, limits);
      const inflated = engine.inflateZlib(bytes, guess, cap);
      if (inflated === "full") throw wrong("more");
      const { content, end } = inflated;
      if (end !== bytes.length)
        throw new Corrupt(`the zlib stream should end at byte ${bytes.length}, found its end at ${end}`);
      if (expected !== undefined && content.length !== expected) throw wrong(`${content.length}`);
      return content;
    },
  };
}

function checkHeader(bytes: Uint8Array): void {
  const [method = 0, flags = 0] = bytes;
  if (bytes.length < 6 || (method & 15) !== 8 || method >> 4 > 7 || (method * 256 + flags) % 31 !== 0)
    throw new Corrupt(
      `zlib data should start with a zlib header, found ${bytes.length} bytes that start ${method}, ${flags}`,
    );
  if (flags & 32) throw new Unsupported("the zlib stream needs a dictionary, and none can be given");
}

export const zlibCodec: CodecEntry = {
  name: "zlib",
  async load(configuration) {
    const level = integerOption(configuration, "zlib", "level", [-1, 9], 1);
    const zlib = await loadZlib();
    return {
      kind: "bytes-bytes",
      decode: zlib.decompress,
      encode: (bytes) => zlib.compress(bytes, level < 0 ? 6 : level),
    };
  },
};
