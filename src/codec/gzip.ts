/**
 * gzip (RFC 1952): one or more members, each a header, a deflate stream and a trailer. Members one after another are one
 * content, as the RFC and gzip itself have it; anything else after the last trailer is Corrupt. What is written has no time
 * and no system in its header, so equal content gives equal bytes.
 *
 * | bytes | member                                                                                           |
 * |-------|--------------------------------------------------------------------------------------------------|
 * | 3     | 1f 8b, method 8                                                                                  |
 * | 1     | flags: 1 text, 2 header checksum, 4 extra, 8 name, 16 comment; the rest must be 0                |
 * | 6     | time, level, system                                                                              |
 * | …     | extra: u16 length and bytes · name, comment: bytes up to a zero · u16 low half of the header's crc32 |
 * | …     | deflate stream                                                                                   |
 * | 8     | u32 crc32 of the content, u32 its size modulo 2^32                                               |
 */
import { concat } from "../bytes/concat.js";
import { Reader } from "../bytes/reader.js";
import { Corrupt } from "../errors.js";
import { type Deflate, loadDeflate } from "./deflate.js";
import { integerOption } from "./options.js";
import { outputRoom, refuseCrumbs } from "./output.js";
import type { CodecEntry } from "./types.js";
import type { Zlib } from "./zlib.js";

/** Bytes of a member before and after the stream. */
export const HEAD = 10;
export const TAIL = 8;

/** Puts these bytes around a stream that has room for them. */
export function member(out: Uint8Array<ArrayBuffer>, content: Uint8Array, level: number, crc32: number): Uint8Array {
  out.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level === 9 ? 2 : level === 1 ? 4 : 0, 255]);
  const view = new DataView(out.buffer, out.byteOffset, out.length);
  view.setUint32(out.length - 8, crc32, true);
  view.setUint32(out.length - 4, content.length % 2 ** 32, true);
  return out;
}

/** `members`: "one" where the format around it has one member per value, as what comes after it is read differently. */
export function gzipWith(engine: Deflate, members: "one" | "any" = "any"): Zlib {
  return {
    compress(bytes, level) {
      if (engine.gzip !== undefined) return engine.gzip(bytes, level);
      const stream = engine.deflate(bytes, level);
      const out = new Uint8Array(HEAD + stream.length + TAIL);
      out.set(stream, HEAD);
      return member(out, bytes, level, engine.crc32(bytes));
    },
    decompress(bytes, expected, limits) {
      const { guess, cap, wrong } = outputRoom("gzip data", bytes.length, expected, limits);
      const reader = new Reader(bytes, "gzip data");
      const parts: Uint8Array[] = [];
      let size = 0;
      do {
        skipHeader(reader, bytes, engine);
        const room = parts.length === 0 ? guess : 1 << 14; // room for everything only once: members may be many, and empty
        const inflated = engine.inflate(bytes, reader.offset, Math.min(room, cap - size), cap - size);
        if (inflated === "full") throw wrong("more");
        const { content, end } = inflated;
        reader.seek(end);
        const [crc, length] = [reader.u32(), reader.u32()];
        const found = engine.crc32(content);
        if (crc !== found || length !== content.length % 2 ** 32)
          throw new Corrupt(
            `the gzip member that ends at byte ${reader.offset} should have crc32 ${crc} and ${length} bytes, found ${found} and ${content.length}`,
          );
        if (members === "one" && reader.remaining > 0)
          throw new Corrupt(
            `gzip data should end with its member at byte ${end + 8}, found ${reader.remaining} more bytes`,
          );
        parts.push(content);
        refuseCrumbs("gzip data", parts.length, bytes.length);
        size += content.length;
      } while (reader.remaining > 0);
      if (expected !== undefined && size !== expected) throw wrong(`${size}`);
      return parts.length === 1 ? parts[0]! : concat(parts);
    },
  };
}

function skipHeader(reader: Reader, bytes: Uint8Array, engine: Deflate): void {
  const start = reader.offset;
  const magic = reader.u16() | (reader.u8() << 16);
  const flags = reader.u8();
  if (magic !== 0x088b1f || flags > 31)
    throw new Corrupt(`gzip data should have the header of a member at byte ${start}, found 0x${magic.toString(16)}`);
  reader.skip(6);
  if (flags & 4) reader.skip(reader.u16());
  for (const flag of [8, 16]) if (flags & flag) while (reader.u8() !== 0);
  if (flags & 2) {
    const found = engine.crc32(bytes.subarray(start, reader.offset)) & 0xffff;
    if (reader.u16() !== found) throw new Corrupt(`the gzip header at byte ${start} does not match its checksum`);
  }
}

export const gzipCodec: CodecEntry = {
  name: "gzip",
  async load(configuration) {
    const level = integerOption(configuration, "gzip", "level", [0, 9], 5);
    const gzip = gzipWith(await loadDeflate());
    return { kind: "bytes-bytes", decode: gzip.decompress, encode: (bytes) => gzip.compress(bytes, level) };
  },
};
