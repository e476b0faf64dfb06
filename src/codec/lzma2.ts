/**
 * LZMA2, the filter of .xz: chunks of LZMA and of plain bytes.
 *
 * | first byte   | chunk                                                                                           |
 * |--------------|-------------------------------------------------------------------------------------------------|
 * | 0            | the end                                                                                         |
 * | 1, 2         | plain, with (1) or without (2) a new dictionary; u16 size − 1, bytes                            |
 * | 0x80 and up  | LZMA: low 5 bits and a u16 are size − 1, a u16 is compressed size − 1; bits 5–6: 0 go on, 1 new |
 * |              | state, 2 also a properties byte, 3 also a new dictionary                                        |
 *
 * Numbers are big-endian here. What can follow what is fixed: first a dictionary, then properties before LZMA.
 */
import { Reader } from "../bytes/reader.js";
import { Corrupt } from "../errors.js";
import { LzmaDecoder, lzmaProperties } from "./lzma-decoder.js";
import type { Output } from "./output.js";

/** Decodes from `at`; gives where it ended. */
export function decodeLzma2(bytes: Uint8Array, at: number, output: Output): number {
  const reader = new Reader(bytes, "LZMA2 data", "big");
  reader.seek(at);
  const decoder = new LzmaDecoder(bytes, output);
  let dictionary = false;
  let properties = false;
  for (;;) {
    const where = reader.offset;
    const control = reader.u8();
    if (control === 0) return reader.offset;
    if (control > 2 && control < 0x80) throw new Corrupt(`LZMA2 data has a chunk of kind ${control} at byte ${where}`);
    if (control === 1 || control >= 0xe0) {
      dictionary = true;
      decoder.start = output.size;
      properties = false;
    }
    const mode = control >= 0x80 ? (control >> 5) & 3 : 0;
    if (!dictionary || (control >= 0x80 && !properties && mode < 2))
      throw new Corrupt(`LZMA2 data has a chunk at byte ${where} that needs what was never set`);
    if (control < 0x80) {
      const size = reader.u16() + 1;
      output.reserve(size);
      output.bytes.set(reader.bytes(size), output.size);
      output.size += size;
      continue;
    }
    const size = (control & 31) * 65536 + reader.u16() + 1;
    const compressed = reader.u16() + 1;
    if (mode >= 2) {
      const found = lzmaProperties(reader.u8());
      if (found.lc + found.lp > 4)
        throw new Corrupt(`LZMA2 data has lc + lp = ${found.lc + found.lp}, at most 4 can be`);
      decoder.reset(found);
    } else if (mode === 1) decoder.reset();
    properties = true;
    const start = reader.offset;
    reader.skip(compressed);
    decoder.begin(start, reader.offset);
    if (decoder.decode(output.size + size) || !decoder.finished || decoder.at !== decoder.end)
      throw new Corrupt(`the LZMA2 chunk at byte ${where} does not end where it says`);
  }
}
