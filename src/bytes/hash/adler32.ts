/** The checksum of zlib (RFC 1950): two sums modulo 65521, the plain one in the low half. `before` continues a sum. */
export function adler32(bytes: Uint8Array, before = 1): number {
  let low = before & 0xffff;
  let high = before >>> 16;
  for (let i = 0; i < bytes.length; ) {
    const stop = Math.min(i + 5552, bytes.length); // the longest run whose sums stay below 2^32
    for (; i < stop; i++) {
      low += bytes[i]!;
      high += low;
    }
    low %= 65521;
    high %= 65521;
  }
  return high * 65536 + low;
}
