/**
 * The .xz container. Streams one after another are one content.
 *
 * | bytes | stream                                                                                            |
 * |-------|---------------------------------------------------------------------------------------------------|
 * | 8, 4  | fd "7zXZ" 00, 00, kind of check; crc32 of the last two                                            |
 * | …     | block header: u8 its size / 4 − 1, u8 flags (0–1 filters − 1, 6 and 7: the next two are there),   |
 * |       | compressed size, size, filters (id, size of properties, properties), zeros, crc32                 |
 * | …     | block: filtered data, zeros to a multiple of 4, check                                             |
 * | …     | index: 0, number of blocks, each with its size without zeros and its content's size; zeros, crc32 |
 * | 12    | crc32 of what follows, u32 size of the index / 4 − 1, 00, kind of check, "YZ"                     |
 *
 * Sizes and ids are in groups of seven bits, lowest first. Everything is compared with everything else.
 */
import { crc32 } from "../bytes/hash/crc.js";
import { Reader } from "../bytes/reader.js";
import { Corrupt, Unsupported } from "../errors.js";
import { decodeLzma2 } from "./lzma2.js";
import type { Output } from "./output.js";
import { type ContentCheck, contentCheck } from "./xz-check.js";

interface Block {
  readonly unpadded: number;
  readonly size: number;
}

export function decodeXz(bytes: Uint8Array, output: Output): void {
  const reader = new Reader(bytes, "xz data");
  do stream(reader, bytes, output);
  while (reader.remaining > 0);
}

function stream(reader: Reader, bytes: Uint8Array, output: Output): void {
  const start = reader.offset;
  const magic = reader.bytes(6);
  if (![0xfd, 0x37, 0x7a, 0x58, 0x5a, 0].every((byte, i) => magic[i] === byte))
    throw new Corrupt(`xz data should have the header of a stream at byte ${start}`);
  const flags = reader.u16();
  checked(reader, bytes, start + 6, "stream header");
  const check = contentCheck(flags);
  const blocks: Block[] = [];
  for (;;) {
    const at = reader.offset;
    const size = reader.u8();
    if (size === 0) {
      index(reader, bytes, at, blocks);
      break;
    }
    blocks.push(block(reader, bytes, at, (size + 1) * 4, check, output));
  }
  const footer = reader.offset;
  const crc = reader.u32();
  const backward = reader.u32();
  const sameFlags = reader.u16() === flags;
  const mark = reader.u16();
  if (crc !== crc32(bytes.subarray(footer + 4, footer + 10)) || !sameFlags || mark !== 0x5a59)
    throw new Corrupt(`the xz footer at byte ${footer} is damaged`);
  const indexSize = footer - indexStart(blocks, start);
  if ((backward + 1) * 4 !== indexSize)
    throw new Corrupt(
      `the xz footer at byte ${footer} should give the index ${indexSize} bytes, found ${(backward + 1) * 4}`,
    );
}

const padded = (size: number): number => Math.ceil(size / 4) * 4;
const indexStart = (blocks: readonly Block[], start: number): number =>
  blocks.reduce((at, { unpadded }) => at + padded(unpadded), start + 12);

function block(
  reader: Reader,
  bytes: Uint8Array,
  at: number,
  size: number,
  check: ContentCheck,
  output: Output,
): Block {
  const flags = reader.u8();
  if (flags & 0x3c) throw new Unsupported(`the xz block at byte ${at} has flags ${flags}, which mean nothing yet`);
  const compressedSize = flags & 0x40 ? number(reader) : undefined;
  const contentSize = flags & 0x80 ? number(reader) : undefined;
  const delta: number[] = [];
  for (let left = flags & 3; left >= 0; left--) filter(reader, left === 0, delta);
  while (reader.offset < at + size - 4)
    if (reader.u8() !== 0) throw new Corrupt(`the xz block header at byte ${at} has something where zeros should be`);
  if (reader.offset !== at + size - 4) throw new Corrupt(`the xz block header at byte ${at} is longer than it says`);
  checked(reader, bytes, at, "block header");

  const start = reader.offset;
  const from = output.size;
  reader.seek(decodeLzma2(bytes, start, output));
  for (const distance of delta) undoDelta(output.bytes, from, output.size, distance);
  const compressed = reader.offset - start;
  const content = output.size - from;
  if (compressed !== (compressedSize ?? compressed) || content !== (contentSize ?? content))
    throw new Corrupt(`the xz block at byte ${at} declares other sizes than the ${compressed} and ${content} found`);
  zeros(reader, compressed);
  const stored = reader.bytes(check.size);
  const found = check.sum(output.bytes.subarray(from, output.size));
  if (!stored.every((byte, i) => byte === found[i]))
    throw new Corrupt(`the xz block at byte ${at} does not match its ${check.name}`);
  return { unpadded: size + compressed + check.size, size: content };
}

/** LZMA2 last; before it deltas, noted in the order in which they are undone. */
function filter(reader: Reader, last: boolean, delta: number[]): void {
  const id = number(reader);
  const properties = reader.bytes(reader.count(number(reader), 1));
  if (last && id === 0x21 && properties.length === 1 && properties[0]! <= 40) return;
  if (!last && id === 3 && properties.length === 1) {
    delta.unshift(properties[0]! + 1);
    return;
  }
  if (id >= 4 && id <= 11)
    throw new Unsupported(`the xz data is filtered for machine code (filter ${id}), which arrays are not`);
  throw new Corrupt(`the xz data has filter ${id} where it cannot be`);
}

export function undoDelta(bytes: Uint8Array, start: number, end: number, distance: number): void {
  for (let i = start + distance; i < end; i++) bytes[i]! += bytes[i - distance]!;
}

function index(reader: Reader, bytes: Uint8Array, at: number, blocks: readonly Block[]): void {
  const count = number(reader);
  const same =
    count === blocks.length &&
    blocks.every(({ unpadded, size }) => number(reader) === unpadded && number(reader) === size);
  if (!same) throw new Corrupt(`the xz index at byte ${at} does not list the ${blocks.length} blocks found`);
  zeros(reader, reader.offset - at);
  checked(reader, bytes, at, "index");
}

/** Up to the next multiple of four. */
function zeros(reader: Reader, size: number): void {
  for (let i = size; i % 4 !== 0; i++)
    if (reader.u8() !== 0)
      throw new Corrupt(`the xz data has something where zeros should be at byte ${reader.offset - 1}`);
}

/** The crc32 of everything since `start` comes next. */
function checked(reader: Reader, bytes: Uint8Array, start: number, what: string): void {
  const found = crc32(bytes.subarray(start, reader.offset));
  if (reader.u32() !== found) throw new Corrupt(`the xz ${what} at byte ${start} does not match its crc32`);
}

function number(reader: Reader): number {
  let value = 0;
  for (let i = 0; i < 7; i++) {
    const byte = reader.u8();
    value += (byte & 127) * 128 ** i;
    if (byte < 128) {
      if (byte === 0 && i > 0) break;
      return value;
    }
  }
  throw new Corrupt(`the xz data has a number at byte ${reader.offset} that is too large or badly written`);
}
