/**
 * The bits of an element. The library tells the class, the size and the sign of a type, and hands out elements as they are stored: a float
 * of 16 bits may be IEEE's half or a bfloat16, an integer of 4 bytes may have 12 bits that mean something. So the type is read once
 * more, where it stands: in a message of the header of its dataset.
 *
 * | header, version 1                | version 2                                        | message of type 3: a type        |
 * |----------------------------------|--------------------------------------------------|----------------------------------|
 * | u8 1, u8, u16, u32               | "OHDR", u8 2, u8 flags                           | u8 class (bits 0 to 3), version  |
 * | u32 length of messages, u32      | 16 bytes if bit 5 of flags, 4 if bit 4           | u24 bits, u32 size               |
 * |                                  | length in 1, 2, 4 or 8 bytes, by bits 0 and 1    | u16 first bit, u16 bits          |
 * | messages: u16 type, u16 length,  | messages: u8 type, u16 length, u8 flags,         | floats: u8 place and u8 length   |
 * | u8 flags, 3 bytes, content       | 2 bytes if bit 2 of the header's flags, content  | of exponent and of fraction, u32 |
 * |                                  |                                                  | bias; enumerations: their base   |
 *
 * Message 16 says where more of them are. Bit 1 of a message's flags: it holds the address of the header that has the type.
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import type { RandomBytes } from "./hdf5-library.js";

const [TYPE, CONTINUATION] = [3, 16];
const MOST_BYTES = 1 << 20; // of one header
const MOST_PARTS = 64;

/** How an element is made of bits. */
export interface ElementBits {
  readonly size: number;
  /** The first bit that means something, and how many do. */
  readonly offset: number;
  readonly precision: number;
  /** Whether floats are those of IEEE 754; integers are as they are. */
  readonly ieee: boolean;
}

/** Place and length of exponent and fraction, and bias, by size. */
const IEEE = new Map([
  [2, "10 5 0 10 15"],
  [4, "23 8 0 23 127"],
  [8, "52 11 0 52 1023"],
]);

/** The bits of a type, from its message; undefined for what is no number. */
export function parseBits(message: Uint8Array, what: string): ElementBits | undefined {
  const reader = new Reader(message, what);
  const [kind, flags, sign] = [reader.u8() & 15, reader.u8(), reader.u8()];
  reader.skip(1);
  const size = reader.u32();
  if (kind === 8) return parseBits(reader.bytes(reader.remaining), what);
  if (kind > 1) return undefined;
  const [offset, precision] = [reader.u16(), reader.u16()];
  if (kind === 0) return { size, offset, precision, ieee: true };
  const places = [reader.u8(), reader.u8(), reader.u8(), reader.u8(), reader.u32()].join(" ");
  const order = flags & 0x40 ? "VAX" : ""; // the order of no machine that is left
  const implied = (flags >> 4) & 3; // 2: the first bit of the fraction is not stored
  return { size, offset, precision, ieee: places === IEEE.get(size) + order && implied === 2 && sign === 8 * size - 1 };
}

/** The bits of the type of the dataset whose header is at an address; Unsupported where it is kept in a heap. */
export function readBits(bytes: RandomBytes, address: number, what: string): ElementBits | undefined {
  const addressBytes = superblock(bytes, what);
  let at = address;
  for (let step = 0; step < 2; step++) {
    const found = typeMessage(bytes, at, addressBytes, what);
    if (!found.shared) return parseBits(found.content, what);
    const reader = new Reader(found.content, what);
    const [version, kind] = [reader.u8(), reader.u8()];
    if (version === 3 && kind !== 2)
      throw new Unsupported(`${what} has its type in a heap of shared messages, which is not read`);
    if (version === 1) reader.skip(6);
    at = integer(reader, addressBytes);
  }
  throw new Corrupt(`${what} should have a type, found the address of an address`);
}

/** How many bytes an address has. */
function superblock(bytes: RandomBytes, what: string): number {
  const start = part(bytes, 0, 16, what);
  const count = start[start[8]! < 2 ? 13 : 9]!;
  if (count === 4 || count === 8) return count;
  throw new Unsupported(`${what} is in a file with addresses of ${count} bytes; those of 4 and 8 are read`);
}

interface Message {
  readonly content: Uint8Array;
  readonly shared: boolean;
}

function typeMessage(bytes: RandomBytes, address: number, addressBytes: number, what: string): Message {
  const start = new Reader(part(bytes, address, 34, what), what);
  const second = start.u8() === 0x4f; // the O of OHDR
  let [order, length] = [0, 0];
  if (second) {
    start.seek(5);
    const flags = start.u8();
    start.skip((flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
    order = flags & 4 ? 2 : 0;
    length = integer(start, 1 << (flags & 3));
  } else {
    start.seek(8);
    length = start.u32();
    start.seek(16);
  }
  const parts: [at: number, length: number][] = [[address + start.offset, length]];
  for (let i = 0; i < parts.length && i < MOST_PARTS; i++) {
    const reader = new Reader(part(bytes, ...parts[i]!, what), what);
    const head = second ? 4 + order : 8;
    while (reader.remaining >= head) {
      const type = second ? reader.u8() : reader.u16();
      const size = reader.u16();
      const shared = (reader.u8() & 2) !== 0;
      reader.skip(second ? order : 3);
      const content = reader.bytes(size);
      if (type === TYPE) return { content, shared };
      if (type !== CONTINUATION) continue;
      const next = new Reader(content, what);
      const at = integer(next, addressBytes);
      const more = integer(next, next.remaining);
      parts.push(second ? [at + 4, more - 8] : [at, more]); // "OCHK" before, a checksum behind
    }
  }
  throw new Corrupt(`${what} should have a type in its header, found none`);
}

function integer(reader: Reader, size: number): number {
  if (size === 8) return reader.size();
  return size === 4 ? reader.u32() : size === 2 ? reader.u16() : reader.u8();
}

/** Bytes of a header, which may end with the file. */
function part(bytes: RandomBytes, at: number, length: number, what: string): Uint8Array {
  const there = Math.max(0, Math.min(length, bytes.size - at));
  if (at >= bytes.size) throw new Corrupt(`${what} should have a header at ${at}, and the file ends at ${bytes.size}`);
  if (there > MOST_BYTES)
    throw new LimitExceeded(`${what} has a header of ${there} bytes; ${MOST_BYTES} are read at most`);
  const own = new Uint8Array(there);
  bytes.read(own, at);
  return own;
}
