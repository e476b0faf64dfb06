/**
 * A `.ptree` file: a packed tree, its particles in its order, and whatever belongs to each of them, laid out so that a question over
 * HTTP costs few requests. The particles are cut into blocks, each of them a node of the tree or a few neighbours, so that a block lies in
 * a small box. Some particles are there twice: those that stand for all where a view can do with fewer.
 *
 * | bytes            | holds                                                                                              |
 * |------------------|----------------------------------------------------------------------------------------------------|
 * | 8                | 89 50 54 52 45 45 0d 0a, "\x89PTREE\r\n"                                                            |
 * | tree             | the packed tree, byte for byte as encode.ts has it; padded to 8 bytes                               |
 * | for each column  | for each block its values, then u64 XXH3 of these; a column begins at a multiple of 8               |
 * | the same again   | of the sample: blocks of 512 particles, those of the coarsest level first, then what each one adds   |
 * | pages            | tables of the blocks: blocks.ts                                                                    |
 * | description      | JSON: what is where (description.ts); blanks behind it up to 8 bytes                                |
 * | table of pages   | blocks.ts; zeros behind it up to 8 bytes                                                            |
 * | 32               | u64 where the description begins, u32 its bytes, u32 those of the table, u64 XXH3 of both, and      |
 * |                  | the eight bytes of the beginning again                                                             |
 *
 * All is little-endian. The end is read first: one request for all that a reader must know, in files of up to 1e8 particles.
 */

import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { parseJson, stringifyJson } from "../../../bytes/json.js";
import { Reader } from "../../../bytes/reader.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Writer } from "../../../bytes/writer.js";
import { Corrupt } from "../../../errors.js";
import type { Limits } from "../../../limits.js";
import { BLOCK_BYTES, type Pages, parsePages } from "./blocks.js";
import { ALL, countOf, Description, SAMPLE } from "./description.js";
import { isMagic, MAGIC } from "./magic.js";

export const TRAILER_BYTES = 32;

/** All that a reader must know before it asks for particles. */
export interface Head {
  readonly description: Description;
  /** Of all particles, and of the sample. */
  readonly pages: readonly [all: Pages, sample: Pages];
  /** The bytes of the file, as its end tells. */
  readonly size: number;
}

/** Where the head is, by the last bytes of a file. */
export interface Trailer {
  /** Where the head begins. */
  readonly offset: number;
  readonly bytes: number;
  readonly descriptionBytes: number;
  readonly sum: bigint;
}

/** The last bytes of a file; Corrupt where it does not end as it should. */
export function parseTrailer(end: Uint8Array, limits: Limits, where: string): Trailer {
  if (!isMagic(end, end.length - MAGIC.length) || end.length < TRAILER_BYTES)
    throw new Corrupt(`${where} does not end as a ptree file does: it is cut off, or none`, { where });
  const reader = new Reader(end.subarray(-TRAILER_BYTES), `the end of ${where}`);
  const [offset, descriptionBytes, tableBytes, sum] = [reader.size(), reader.u32(), reader.u32(), reader.u64()];
  const bytes = descriptionBytes + tableBytes;
  if (bytes > limits.metadataBytes || descriptionBytes % 8 !== 0 || offset % 8 !== 0)
    throw new Corrupt(`the end of ${where} says that ${bytes} bytes at ${offset} describe it`, { where });
  return { offset, bytes, descriptionBytes, sum };
}

export function parseHead(bytes: Uint8Array, trailer: Trailer, limits: Limits, where: string): Head {
  if (xxh3(bytes) !== trailer.sum)
    throw new Corrupt(`the description of ${where} has another checksum than the end of the file says`, { where });
  const json = parseJson(bytes.subarray(0, trailer.descriptionBytes), limits, `the description of ${where}`);
  const description = Description.parse(json, trailer.offset, where);
  const { blocks, pages } = description;
  const until = pages.offset + (blocks[ALL] + blocks[SAMPLE]) * BLOCK_BYTES;
  if (until > trailer.offset)
    throw new Corrupt(`the pages of ${where} should end before byte ${trailer.offset}, found ${until}`, { where });
  const reader = new Reader(bytes.subarray(trailer.descriptionBytes), `the table of pages of ${where}`);
  return {
    description,
    pages: [
      parsePages(reader, blocks[ALL], description.count, where),
      parsePages(reader, blocks[SAMPLE], countOf(description, SAMPLE), `the sample of ${where}`),
    ],
    size: trailer.offset + trailer.bytes + TRAILER_BYTES,
  };
}

/** Head and trailer of a file whose head begins at `offset`. */
export function encodeEnd(description: Description, tables: readonly Uint8Array[], offset: number): Uint8Array {
  const text = encodeUtf8(stringifyJson(Description.format(description)), "the description");
  const writer = new Writer("little", text.length + 128);
  const pad = (length: number, byte: number): number => {
    const padding = (8 - (length % 8)) % 8;
    for (let i = 0; i < padding; i++) writer.u8(byte);
    return length + padding;
  };
  writer.bytes(text);
  const descriptionBytes = pad(text.length, 0x20);
  for (const table of tables) writer.bytes(table);
  const tableBytes = pad(
    tables.reduce((sum, { length }) => sum + length, 0),
    0,
  );
  const sum = xxh3(writer.finish());
  writer.size(offset);
  writer.u32(descriptionBytes);
  writer.u32(tableBytes);
  writer.u64(sum);
  writer.bytes(MAGIC);
  return writer.finish();
}
