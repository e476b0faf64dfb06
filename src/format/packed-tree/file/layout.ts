/**
 * A `.ptree` file: a packed tree, its particles in its order, and whatever belongs to each of them, laid out so that a question over
 * HTTP costs few requests. The particles are cut into blocks, each of them all of one node, so that a block lies in a small box.
 *
 * | bytes            | holds                                                                                            |
 * |------------------|--------------------------------------------------------------------------------------------------|
 * | 8                | 89 50 54 52 45 45 0d 0a, "\x89PTREE\r\n"                                                          |
 * | tree             | the packed tree, byte for byte as encode.ts has it, with its own checksum; padded to 8 bytes      |
 * | for each column  | for each block its values, then u64 XXH3 of these; a column begins at a multiple of 8             |
 * | description      | JSON: count, where the tree and the columns begin, what they are; blanks behind it up to 8 bytes  |
 * | 56 for each block | 6 f64: the lower and the upper corner around its particles; u32 the first particle, u32 how many |
 * | 32               | u64 where the description begins, u32 its bytes, u32 number of blocks, u64 XXH3 of description    |
 * |                  | and blocks, and the eight bytes of the beginning again                                           |
 *
 * All is little-endian. The end is read first: one request for all that a reader must know, in files of up to a million particles.
 */

import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { parseJson, stringifyJson } from "../../../bytes/json.js";
import { Reader } from "../../../bytes/reader.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Writer } from "../../../bytes/writer.js";
import { Corrupt } from "../../../errors.js";
import type { Limits } from "../../../limits.js";
import { Description } from "./description.js";
import { isMagic, MAGIC } from "./magic.js";
import type { Blocks } from "./plan.js";

export const TRAILER_BYTES = 32;
const BLOCK_BYTES = 56;

/** All that a reader must know before it asks for particles. */
export interface Head {
  readonly description: Description;
  readonly blocks: Blocks;
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
  const [offset, descriptionBytes, blocks, sum] = [reader.size(), reader.u32(), reader.u32(), reader.u64()];
  const bytes = descriptionBytes + BLOCK_BYTES * blocks;
  if (bytes > limits.metadataBytes || descriptionBytes % 8 !== 0 || offset % 8 !== 0)
    throw new Corrupt(`the end of ${where} says that ${bytes} bytes at ${offset} describe it`, { where });
  return { offset, bytes, descriptionBytes, sum };
}

export function parseHead(bytes: Uint8Array, trailer: Trailer, limits: Limits, where: string): Head {
  if (xxh3(bytes) !== trailer.sum)
    throw new Corrupt(`the description of ${where} has another checksum than the end of the file says`, { where });
  const json = parseJson(bytes.subarray(0, trailer.descriptionBytes), limits, `the description of ${where}`);
  const reader = new Reader(bytes.subarray(trailer.descriptionBytes), `the blocks of ${where}`);
  const count = reader.length / BLOCK_BYTES;
  const boxes = new Float64Array(6 * count);
  const starts = new Uint32Array(count + 1);
  for (let block = 0; block < count; block++) {
    for (let k = 0; k < 6; k++) boxes[6 * block + k] = reader.f64();
    const [start, size] = [reader.u32(), reader.u32()];
    const box = boxes.subarray(6 * block, 6 * block + 6);
    const sound = [0, 1, 2].every(
      (axis) => Number.isFinite(box[axis]! - box[axis + 3]!) && box[axis]! <= box[axis + 3]!,
    );
    if (start !== starts[block] || size === 0 || start + size > 0xffffffff || !sound)
      throw new Corrupt(
        `block ${block} of ${where} should begin with particle ${starts[block]}, found ${size} from ${start} on`,
        {
          where,
        },
      );
    starts[block + 1] = start + size;
  }
  const blocks = { count, boxes, starts };
  const size = trailer.offset + trailer.bytes + TRAILER_BYTES;
  return { description: Description.parse(json, blocks, trailer.offset, where), blocks, size };
}

/** Head and trailer of a file whose head begins at `offset`. */
export function encodeEnd({ description, blocks }: Omit<Head, "size">, offset: number): Uint8Array {
  const text = encodeUtf8(stringifyJson(Description.format(description)), "the description");
  const padded = Math.ceil(text.length / 8) * 8;
  const writer = new Writer("little", padded + BLOCK_BYTES * blocks.count + TRAILER_BYTES);
  writer.bytes(text);
  for (let i = text.length; i < padded; i++) writer.u8(0x20);
  for (let block = 0; block < blocks.count; block++) {
    for (let k = 0; k < 6; k++) writer.f64(blocks.boxes[6 * block + k]!);
    writer.u32(blocks.starts[block]!);
    writer.u32(blocks.starts[block + 1]! - blocks.starts[block]!);
  }
  const sum = xxh3(writer.finish());
  writer.size(offset);
  writer.u32(padded);
  writer.u32(blocks.count);
  writer.u64(sum);
  writer.bytes(MAGIC);
  return writer.finish();
}
