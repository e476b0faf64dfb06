/**
 * bzip2, decoding only. Bits are taken from the high end of each byte. Streams one after another are one content.
 *
 * | bits   | stream                                                                                            |
 * |--------|---------------------------------------------------------------------------------------------------|
 * | 32     | "BZh" and the level, "1" to "9": blocks of that many hundred thousand bytes                       |
 * | 48, 32 | block: 0x314159265359, its crc                                                                    |
 * | 1, 24  | scrambled (only bzip2 before 0.9.5 did that), row of the original in the sorted block             |
 * | 16, …  | which of the 256 bytes occur: 16 groups, then 16 bits per group that has any                      |
 * | 3, 15  | number of code tables (2–6), number of selectors; each selector moved to front, in unary          |
 * | …      | per table the code lengths: 5 bits, then per symbol 0 (done) · 10 (one more) · 11 (one less)      |
 * | …      | symbols, 50 per selector: runs of the front byte (0 and 1), positions, end                        |
 * | 48, 32 | end: 0x177245385090, the crc of the blocks' crcs; then up to the next byte                        |
 *
 * Undone in this order: codes, move to front, Burrows–Wheeler sort, runs of four and more. The crc is that of the result.
 */
import { Corrupt, Unsupported } from "../errors.js";
import type { Limits } from "../limits.js";
import { decodeOnly } from "./decode-only.js";
import { Output, outputRoom, refuseCrumbs } from "./output.js";
import type { CodecEntry } from "./types.js";

export const bz2Codec: CodecEntry = {
  name: "bz2",
  load: async () => ({ kind: "bytes-bytes", decode: decodeBz2, encode: decodeOnly("bz2") }),
};

export function decodeBz2(bytes: Uint8Array, expected: number | undefined, limits: Limits): Uint8Array {
  const output = new Output(outputRoom("bz2 data", bytes.length, expected, limits));
  const bits = new Bits(bytes);
  const work: Work = { rows: new Uint32Array(0) };
  let streams = 0;
  do {
    refuseCrumbs("bz2 data", ++streams, bytes.length);
    stream(bits, work, output);
  } while (bits.at < bytes.length);
  return output.finish(expected);
}

/** The memory of a block, which all streams use. */
interface Work {
  rows: Uint32Array;
}

class Bits {
  at = 0;
  readonly #bytes: Uint8Array;
  #hold = 0;
  #held = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Up to 24 bits. */
  take(count: number): number {
    while (this.#held < count) {
      if (this.at >= this.#bytes.length) throw damaged("is cut short", this.at);
      this.#hold = (this.#hold << 8) | this.#bytes[this.at++]!;
      this.#held += 8;
    }
    this.#held -= count;
    return (this.#hold >>> this.#held) & ((1 << count) - 1);
  }

  u32(): number {
    return (this.take(16) * 65536 + this.take(16)) >>> 0;
  }

  /** Drops what is left of the byte. */
  align(): void {
    this.#held = 0;
  }
}

const damaged = (what: string, at: number): Corrupt => new Corrupt(`the bz2 stream ${what} near byte ${at}`);

function stream(bits: Bits, work: Work, output: Output): void {
  const start = bits.at;
  const magic = bits.take(24);
  const level = bits.take(8) - 0x30;
  if (magic !== 0x425a68 || level < 1 || level > 9)
    throw new Corrupt(`bz2 data should start with "BZh" and a level at byte ${start}, found 0x${magic.toString(16)}`);
  // A block is at most a quarter longer than its content: four equal bytes and the number of further ones.
  const most = Math.min(level * 100_000, Math.ceil(output.room.cap * 1.25));
  if (work.rows.length < most) work.rows = new Uint32Array(most);
  const rows = work.rows.subarray(0, most);
  const tooLong = (): Error =>
    rows.length < level * 100_000 ? output.room.wrong("more") : damaged("has a block beyond its level", bits.at);
  let combined = 0;
  for (;;) {
    const kind = bits.take(24) * 2 ** 24 + bits.take(24);
    const crc = bits.u32();
    if (kind === 0x177245385090) {
      if (crc !== combined) throw damaged("does not match its checksum", bits.at);
      bits.align();
      return;
    }
    if (kind !== 0x314159265359) throw damaged("has neither a block nor its end", bits.at);
    const before = output.size;
    block(bits, rows, output, tooLong);
    if (crc32(output.bytes, before, output.size) !== crc)
      throw damaged("has a block that does not match its checksum", bits.at);
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0;
  }
}

function block(bits: Bits, rows: Uint32Array, output: Output, tooLong: () => Error): void {
  if (bits.take(1) === 1) throw new Unsupported("the bz2 stream is scrambled, as only bzip2 before 0.9.5 did");
  const origin = bits.take(24);
  const front = occurring(bits);
  const tables = codes(bits, front.length + 2);
  const size = unsorted(bits, rows, front, tables, tooLong);
  if (origin >= size) throw damaged(`has row ${origin} in a block of ${size}`, bits.at);

  // rows[i] has its byte in the low eight bits; above go the numbers that link each row to the one after it.
  const starts = new Uint32Array(257);
  for (let i = 0; i < size; i++) starts[(rows[i]! & 255) + 1]!++;
  for (let i = 1; i < 257; i++) starts[i]! += starts[i - 1]!;
  for (let i = 0; i < size; i++) rows[starts[rows[i]! & 255]!++]! |= i << 8;
  let row = rows[origin]! >>> 8;
  for (let i = 0, last = -1, run = 0; i < size; i++) {
    const entry = rows[row]!;
    const byte = entry & 255;
    row = entry >>> 8;
    if (run === 4) {
      output.reserve(byte);
      output.bytes.fill(last, output.size, output.size + byte);
      output.size += byte;
      run = 0;
      last = -1;
      continue;
    }
    run = byte === last ? run + 1 : 1;
    last = byte;
    output.reserve(1);
    output.bytes[output.size++] = byte;
  }
}

/** The bytes that occur, in order. */
function occurring(bits: Bits): Uint8Array {
  const groups = bits.take(16);
  const found: number[] = [];
  for (let group = 0; group < 16; group++) {
    if (!(groups & (0x8000 >> group))) continue;
    const members = bits.take(16);
    for (let i = 0; i < 16; i++) if (members & (0x8000 >> i)) found.push(group * 16 + i);
  }
  if (found.length === 0) throw damaged("has a block without bytes", bits.at);
  return Uint8Array.from(found);
}

interface Table {
  /** Per length: the first code beyond it, and what to add to a code to find its symbol. */
  readonly limits: Int32Array;
  readonly offsets: Int32Array;
  readonly symbols: Uint16Array;
}

/** The table for each run of 50 symbols. */
function codes(bits: Bits, symbolCount: number): Table[] {
  const tableCount = bits.take(3);
  const selectorCount = bits.take(15);
  if (tableCount < 2 || tableCount > 6 || selectorCount < 1)
    throw damaged(`has ${tableCount} code tables and ${selectorCount} selectors`, bits.at);
  const order = Array.from({ length: tableCount }, (_, i) => i);
  const selectors = Array.from({ length: selectorCount }, () => {
    let position = 0;
    while (bits.take(1) === 1)
      if (++position >= tableCount) throw damaged("selects a table that is not there", bits.at);
    const [chosen] = order.splice(position, 1);
    order.unshift(chosen!);
    return chosen!;
  });
  const tables = Array.from({ length: tableCount }, () => {
    const lengths = new Uint8Array(symbolCount);
    let length = bits.take(5);
    for (let i = 0; i < symbolCount; i++) {
      for (;;) {
        if (length < 1 || length > 20) throw damaged(`has a code of ${length} bits`, bits.at);
        if (bits.take(1) === 0) break;
        length += bits.take(1) === 0 ? 1 : -1;
      }
      lengths[i] = length;
    }
    return table(lengths);
  });
  return selectors.map((selector) => tables[selector]!);
}

function table(lengths: Uint8Array): Table {
  const limits = new Int32Array(21);
  const offsets = new Int32Array(21);
  const symbols = new Uint16Array(lengths.length);
  let code = 0;
  let index = 0;
  for (let length = 1; length <= 20; length++) {
    offsets[length] = index - code;
    for (let symbol = 0; symbol < lengths.length; symbol++)
      if (lengths[symbol] === length) {
        symbols[index++] = symbol;
        code++;
      }
    limits[length] = code;
    code <<= 1;
  }
  return { limits, offsets, symbols };
}

/** Codes and move to front undone: fills `rows`, returns how many. */
function unsorted(
  bits: Bits,
  rows: Uint32Array,
  front: Uint8Array,
  tables: readonly Table[],
  tooLong: () => Error,
): number {
  const end = front.length + 1;
  let size = 0;
  let run = 0;
  let weight = 1;
  for (let i = 0; ; i++) {
    const { limits, offsets, symbols } = tables[Math.floor(i / 50)] ?? fail(bits, "has more symbols than selectors");
    let code = 0;
    let length = 0;
    do {
      if (++length > 20) throw damaged("has a code that stands for nothing", bits.at);
      code = (code << 1) | bits.take(1);
    } while (code >= limits[length]!);
    const symbol = symbols[code + offsets[length]!] ?? fail(bits, "has a code that stands for nothing");
    if (symbol < 2) {
      // A number in digits 1 and 2, the lowest first.
      run += weight << symbol;
      weight <<= 1;
      if (run > rows.length) throw tooLong();
      continue;
    }
    if (size + run + (symbol === end ? 0 : 1) > rows.length) throw tooLong();
    rows.fill(front[0]!, size, size + run);
    size += run;
    run = 0;
    weight = 1;
    if (symbol === end) return size;
    const byte = front[symbol - 1]!;
    front.copyWithin(1, 0, symbol - 1);
    front[0] = byte;
    rows[size++] = byte;
  }
}

function fail(bits: Bits, what: string): never {
  throw damaged(what, bits.at);
}

let crcTable: Uint32Array | undefined;

/** The crc32 of bzip2, which takes bits from the high end, unlike everybody else's. */
function crc32(bytes: Uint8Array, start: number, end: number): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24;
    for (let i = 0; i < 8; i++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
    return crc;
  });
  let crc = -1;
  for (let i = start; i < end; i++) crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ bytes[i]!]!;
  return ~crc >>> 0;
}
