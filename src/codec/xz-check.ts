/** The checks of .xz over the content of a block: none, crc32, crc64, SHA-256. */
import { crc32 } from "../bytes/hash/crc.js";
import { Corrupt, Unsupported } from "../errors.js";
import { builtin } from "../platform.js";

export interface ContentCheck {
  readonly name: string;
  readonly size: number;
  sum(bytes: Uint8Array): Uint8Array;
}

/** By the two flag bytes of a stream. */
export function contentCheck(flags: number): ContentCheck {
  const kind = flags >> 8;
  if (flags & 0xf0ff)
    throw new Corrupt(`the xz stream has flags 0x${flags.toString(16)}, of which some should be zero`);
  if (kind === 0) return { name: "check", size: 0, sum: () => new Uint8Array(0) };
  if (kind === 1) return { name: "crc32", size: 4, sum: (bytes) => words(crc32(bytes)) };
  if (kind === 4) return { name: "crc64", size: 8, sum: (bytes) => words(...crc64(bytes)) };
  const crypto = builtin("node:crypto");
  if (kind === 10 && crypto !== undefined)
    return { name: "SHA-256", size: 32, sum: (bytes) => crypto.createHash("sha256").update(bytes).digest() };
  throw new Unsupported(`the xz stream has a check of kind ${kind}, which cannot be verified here`);
}

/** Little-endian. */
const words = (...values: number[]): Uint8Array =>
  Uint8Array.from(values.flatMap((value) => [value, value >>> 8, value >>> 16, value >>> 24]));

let table: Uint32Array | undefined;

/** ECMA-182, reflected; low and high half. */
function crc64(bytes: Uint8Array): [low: number, high: number] {
  if (table === undefined) {
    table = new Uint32Array(512);
    for (let byte = 0; byte < 256; byte++) {
      let [low, high] = [byte, 0];
      for (let i = 0; i < 8; i++) {
        const carry = low & 1;
        low = (low >>> 1) | (high << 31);
        high >>>= 1;
        if (carry) {
          low ^= 0xd7870f42;
          high ^= 0xc96c5795;
        }
      }
      table[2 * byte] = low;
      table[2 * byte + 1] = high;
    }
  }
  let [low, high] = [-1, -1];
  for (let i = 0; i < bytes.length; i++) {
    const at = 2 * ((low ^ bytes[i]!) & 255);
    low = ((low >>> 8) | (high << 24)) ^ table[at]!;
    high = (high >>> 8) ^ table[at + 1]!;
  }
  return [~low, ~high];
}
