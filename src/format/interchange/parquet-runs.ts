/**
 * What is inside of Parquet pages, walked before the library sees it, which believes the length of every run.
 *
 * | what        | bytes                                                                                                    |
 * |-------------|----------------------------------------------------------------------------------------------------------|
 * | run         | varint h; even: one value of ⌈width / 8⌉ bytes, h / 2 times; odd: h / 2 groups of 8 values of width bits |
 * | levels      | u32 length (in pages of version 2 it is in their header), runs                                           |
 * | dictionary  | u8 width, runs                                                                                           |
 * | flags       | u32 length, runs of width 1                                                                              |
 * | deltas      | varints: values of a block, its parts, values at all; zigzag: first value; then blocks                   |
 * | block       | zigzag: least delta; u8 width of each part; parts, as far as there are values                            |
 * | shared text | deltas: bytes shared with the text before; deltas: lengths of the rest; the rest                         |
 *
 * Steps are exactly those of the library, also where it takes a byte too many: else it would meet runs that nobody looked at.
 */
import type { ParquetType, SchemaTree } from "hyparquet";
import type { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { zigzag } from "./thrift.js";

/** What the schema says of a column. */
export interface Leaf {
  readonly type: ParquetType;
  readonly typeLength: number;
  /** The highest levels; 0 where there are none. */
  readonly repetition: number;
  readonly definition: number;
}

export function leafAt(tree: SchemaTree, path: readonly string[], type: ParquetType, where: string): Leaf {
  let at: SchemaTree | undefined = tree;
  let repetition = tree.element.repetition_type === "REPEATED" ? 1 : 0;
  let definition = 0;
  for (const name of path) {
    at = at.children.find(({ element }) => element.name === name);
    if (at === undefined) throw new Corrupt(`${where} is not in the schema`);
    if (at.element.repetition_type === "REPEATED") repetition++;
    if (at.element.repetition_type !== "REQUIRED") definition++;
  }
  return { type, typeLength: at.element.type_length ?? 0, repetition, definition };
}

/** How many of `count` levels are the highest; the reader is behind them afterwards. */
export function checkLevels(reader: Reader, highest: number, count: number, length = reader.u32()): number {
  const end = reader.offset + length;
  const found = checkRuns(reader, 32 - Math.clz32(highest), count, highest);
  reader.seek(end);
  return found;
}

const PADDING = 64; // groups behind the last value; writers round up

/** Walks runs of `count` values: how many of them are `wanted`. */
export function checkRuns(reader: Reader, width: number, count: number, wanted = -1): number {
  if (width > 32) throw new Corrupt(`${reader.what} has values of ${width} bits`);
  let found = 0;
  for (let seen = 0; seen < count; ) {
    const [at, header, left] = [reader.offset, varint(reader), count - seen];
    const length = header >> 1;
    const isPacked = (header & 1) === 1;
    if (length > (isPacked ? Math.ceil(left / 8) + PADDING : left))
      throw new Corrupt(
        `${reader.what} has a run of ${isPacked ? 8 * length : length} values at byte ${at}, where ${left} are left`,
      );
    if (isPacked) {
      // The library takes a byte where there should be none.
      const packed = reader.bytes(Math.max(length * width, Math.min(1, width === 0 ? reader.remaining : 1)));
      const here = Math.min(8 * length, left);
      if (wanted >= 0) for (let i = 0; i < here; i++) if (bitsAt(packed, i * width, width) === wanted) found++;
      seen += here;
    } else {
      const value = reader.bytes((width + 7) >> 3);
      if (wanted >= 0 && bitsAt(value, 0, 8 * value.length) === wanted) found += length;
      seen += length;
    }
  }
  return found;
}

/** Walks deltas of `count` values; those that are lengths are returned, none is negative or beyond 2^31. */
export function checkDeltas(reader: Reader, count: number, areLengths = false): Float64Array {
  const block = varint(reader);
  const parts = varint(reader);
  const each = block / reader.count(parts, 1);
  if (!(each > 0 && each % 8 === 0))
    throw new Corrupt(`${reader.what} has blocks of ${block} values in ${parts} parts, which should be eights`);
  varint(reader); // values at all, which the page knows
  const lengths = new Float64Array(areLengths ? count : 0);
  let last = 0;
  const add = (delta: number, at: number): void => {
    last += delta;
    if (!(last >= 0 && last < 2 ** 31)) throw new Corrupt(`${reader.what} has a text of ${last} bytes`);
    lengths[at] = last;
  };
  const first = Number(zigzag(reader));
  if (lengths.length > 0) add(first, 0);
  for (let seen = 1; seen < count; ) {
    const least = Number(zigzag(reader));
    for (const width of reader.bytes(parts)) {
      if (seen >= count) break;
      if (width > (areLengths ? 32 : 64)) throw new Corrupt(`${reader.what} has deltas of ${width} bits`);
      const packed = reader.bytes((each / 8) * width);
      const here = Math.min(each, count - seen);
      if (areLengths) for (let i = 0; i < here; i++) add(least + bitsAt(packed, i * width, width), seen + i);
      seen += here;
    }
  }
  return lengths;
}

/** Values of a page that has `count` of them, in the encodings by their numbers. Texts that share bytes come to at most `most` bytes. */
export function checkValues(
  reader: Reader,
  { type, typeLength }: Leaf,
  { encoding, version, count }: { readonly encoding: unknown; readonly version: 1 | 2; readonly count: number },
  most: number,
): void {
  switch (encoding) {
    case 0: // plain: as many bytes as there are
      return;
    case 2: // dictionary
    case 3: // flags
    case 8: {
      const areFlags = version === 1 ? type === "BOOLEAN" : encoding === 3;
      if (areFlags) reader.skip(4);
      checkRuns(reader, areFlags ? 1 : reader.u8(), count);
      return;
    }
    case 5: // deltas
    case 6: // deltas that are lengths, then texts without copies
      checkDeltas(reader, count);
      return;
    case 7:
      checkShared(reader, count, most);
      return;
    case 9: // first bytes of all values, second bytes …
      reader.count(count, type === "FIXED_LEN_BYTE_ARRAY" ? typeLength : 4);
      return;
    default:
      throw new Unsupported(`${reader.what} has values of encoding ${encoding}, which is not read`, {
        hint: "Write the file again with encodings of today.",
      });
  }
}

function checkShared(reader: Reader, count: number, most: number): void {
  const shared = checkDeltas(reader, count, true);
  const rest = checkDeltas(reader, count, true);
  let [before, total] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (shared[i]! > before)
      throw new Corrupt(`${reader.what} has a text that shares ${shared[i]} bytes with one of ${before}`);
    before = shared[i]! + rest[i]!;
    total += before;
    if (total > most)
      throw new LimitExceeded(`${reader.what} has more than ${most} bytes of text, at most that many are unpacked`);
  }
}

function bitsAt(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = 0; i < width; i++) value += ((bytes[(at + i) >> 3]! >> ((at + i) & 7)) & 1) * 2 ** i;
  return value;
}

/** Below 2^31, in at most five bytes. */
function varint(reader: Reader): number {
  let value = 0;
  for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
    const byte = reader.u8();
    value += (byte & 127) * scale;
    if (byte < 128 && value < 2 ** 31) return value;
    if (byte < 128) break;
  }
  throw new Corrupt(`${reader.what} has a number of more than 31 bits before byte ${reader.offset}`);
}
