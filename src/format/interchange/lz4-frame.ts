/**
 * LZ4 frames, as Arrow packs buffers: blocks that may look back into the ones before.
 *
 * | bytes | what                                                                                               |
 * |-------|----------------------------------------------------------------------------------------------------|
 * | 4     | 04 22 4d 18                                                                                        |
 * | 1, 1  | flags (bit 4 checksums of blocks, 3 size of the content, 2 checksum of it, 0 dictionary), largest block |
 * | 0, 8  | size of the content                                                                                |
 * | 0, 4  | number of the dictionary                                                                           |
 * | 1     | checksum of the header                                                                             |
 * | …     | blocks: u32 length (highest bit: stored), bytes, u32 checksum; a length of 0 ends                  |
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt, Unsupported } from "../../errors.js";

/** Exactly so many bytes; anything else is Corrupt. Checksums are not verified: the content's length is known. */
export function decodeLz4Frame(bytes: Uint8Array, size: number): Uint8Array {
  const reader = new Reader(bytes, "lz4 data");
  if (reader.u32() !== 0x184d2204) throw new Corrupt("lz4 data should begin with the mark of a frame");
  const flags = reader.u8();
  reader.skip(1 + (flags & 8 ? 8 : 0));
  if (flags & 1) throw new Unsupported("lz4 data with a dictionary");
  reader.skip(1);
  const out = new Uint8Array(size);
  let at = 0;
  for (;;) {
    const length = reader.u32();
    if (length === 0) break;
    const block = reader.bytes(length & 0x7fff_ffff);
    if (length >= 0x8000_0000) {
      if (at + block.length > size) throw tooLong(size);
      out.set(block, at);
      at += block.length;
    } else at = decodeBlock(block, out, at);
    if (flags & 16) reader.skip(4);
  }
  if (at !== size) throw new Corrupt(`lz4 data should decode to ${size} bytes, found ${at}`);
  return out;
}

const tooLong = (size: number) => new Corrupt(`lz4 data should decode to ${size} bytes, found more`);

/** Decodes a block behind what is there already; where it ends. */
function decodeBlock(block: Uint8Array, out: Uint8Array, start: number): number {
  const reader = new Reader(block, "an lz4 block");
  let to = start;
  const longer = (length: number): number => {
    let sum = length;
    for (let byte = 255; byte === 255; sum += byte) byte = reader.u8();
    return sum;
  };
  for (;;) {
    const token = reader.u8();
    const literals = token >> 4 === 15 ? longer(15) : token >> 4;
    if (to + literals > out.length) throw tooLong(out.length);
    out.set(reader.bytes(literals), to);
    to += literals;
    if (reader.remaining === 0) return to;
    const back = reader.u16();
    const length = 4 + ((token & 15) === 15 ? longer(15) : token & 15);
    if (back === 0 || back > to) throw new Corrupt(`an lz4 block points ${back} bytes back, behind ${to}`);
    if (to + length > out.length) throw tooLong(out.length);
    for (let i = 0; i < length; i++) out[to + i] = out[to + i - back]!;
    to += length;
  }
}
