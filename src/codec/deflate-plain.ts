/**
 * Deflate in plain TypeScript: our own decoder and fflate's encoder. docs/decisions/deflate.md says why fflate does not
 * decode. A file of its own, so that a bundler takes from fflate only what is used, and only where it is.
 */
import { deflateSync } from "fflate";
import { adler32 } from "../bytes/hash/adler32.js";
import { crc32 } from "../bytes/hash/crc.js";
import { Corrupt } from "../errors.js";
import type { Deflate } from "./deflate.js";
import { inflate } from "./inflate.js";

export const plain: Deflate = {
  deflate: (bytes, level) => deflateSync(bytes, { level: level as 0 }),
  inflate,
  inflateZlib: (bytes, guess, cap) => {
    const inflated = inflate(bytes, 2, guess, cap);
    if (inflated === "full") return inflated;
    const { content, end } = inflated;
    if (end + 4 > bytes.length) throw new Corrupt(`the zlib stream ends within its checksum at byte ${bytes.length}`);
    const stored = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end, false);
    const found = adler32(content);
    if (stored !== found) throw new Corrupt(`the zlib stream's adler32 should be ${stored}, found ${found}`);
    return { content, end: end + 4 };
  },
  crc32,
};
