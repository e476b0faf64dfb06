/**
 * Bytes with a checksum of four bytes, little-endian: crc32c of v3 behind them, crc32 and adler32 of numcodecs in front,
 * unless `location` says otherwise. Verified when decoding.
 */
import { adler32 } from "../bytes/hash/adler32.js";
import { type Crc, crc32, crc32c } from "../bytes/hash/crc.js";
import { Corrupt } from "../errors.js";
import { foldedSum, loadKernel, type Places } from "../kernel/index.js";
import { wordOption } from "./options.js";
import type { CodecEntry } from "./types.js";

export const crc32cCodec = checksum("crc32c", crc32c, "end", [767, 2524, 5275]);
export const crc32Codec = checksum("crc32", crc32, "start", [140, 791, 3006]);
export const adler32Codec = checksum("adler32", adler32, "start");

function checksum(name: string, plain: Crc, usual: "start" | "end", places?: Places): CodecEntry {
  return {
    name,
    async load(configuration) {
      const location = wordOption(configuration, name, "location", ["start", "end"], usual);
      const sum = places === undefined ? plain : foldedSum(await loadKernel(), plain, places);
      return {
        kind: "bytes-bytes",
        decode: (bytes, expected) => {
          const size = bytes.length - 4;
          if (size < 0 || size !== (expected ?? size))
            throw new Corrupt(`data with a ${name} should have ${4 + (expected ?? 0)} bytes, found ${bytes.length}`);
          const content = location === "end" ? bytes.subarray(0, size) : bytes.subarray(4);
          const at = location === "end" ? size : 0;
          const stored = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
          const found = sum(content);
          if (stored !== found)
            throw new Corrupt(
              `the ${name} of ${size} bytes should be 0x${stored.toString(16)}, found 0x${found.toString(16)}`,
            );
          return content;
        },
        encode: (bytes) => {
          const out = new Uint8Array(bytes.length + 4);
          out.set(bytes, location === "end" ? 0 : 4);
          new DataView(out.buffer).setUint32(location === "end" ? bytes.length : 0, sum(bytes), true);
          return out;
        },
        encodedSize: (n) => n + 4,
      };
    },
  };
}
