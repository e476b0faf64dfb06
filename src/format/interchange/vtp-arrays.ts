/**
 * The arrays of VTK's XML files: text, base64 where they stand, or one after the other behind `_` in `<AppendedData>`, as base64 or as they are.
 *
 * | before compression | header: one number (UInt32 or UInt64), the bytes of data; then the data                              |
 * |--------------------|------------------------------------------------------------------------------------------------------|
 * | zlib               | header: number of blocks, size of a block, size of the last one if it is another, packed size of each; then the blocks |
 *
 * In base64 header and data are one stretch without compression, and two with it.
 */
import { concat } from "../../bytes/concat.js";
import { swapBytes } from "../../bytes/swap.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Zlib } from "../../codec/zlib.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { decodeBase64 } from "./base64.js";
import { type ByteSource, partOf } from "./file.js";
import { FileScanner } from "./file-scanner.js";
import { endsAfter, mustHaveRoom, scannedNumbers } from "./scanned-numbers.js";

export interface Encoding {
  readonly where: string;
  readonly little: boolean;
  /** Bytes of a number in headers. */
  readonly word: 4 | 8;
  readonly zlib: Zlib | undefined;
  readonly limits: Limits;
  /** Bytes that a packed block may have. */
  readonly mostOfBlock: number;
}

/** What an array is: so many numbers of a type; `what` is what people call it. */
export interface Wanted {
  readonly type: NumericType;
  readonly count: number;
  readonly what: string;
}

type Where = Pick<Encoding, "where">;

/** Numbers from text, some at a time. */
export async function* textNumbers(
  source: ByteSource,
  { type, count, what }: Wanted,
  { where }: Where,
): AsyncGenerator<NumericArray> {
  mustHaveRoom(source.size, count, where, what);
  const scanner = new FileScanner(source, `${where}, ${what}`);
  yield* scannedNumbers(scanner, type, count, "a number", (found) => endsAfter(found, count, where, what));
}

/** Numbers from base64 text, or from bytes as they are, some at a time; what follows them is of others. */
export async function* packedArray(
  source: ByteSource,
  base64: boolean,
  wanted: Wanted,
  encoding: Encoding,
): AsyncGenerator<NumericArray> {
  const { little, zlib } = encoding;
  const { type, count, what } = wanted;
  const form = { source, base64, size: count * type.size, encoding, what };
  let rest = new Uint8Array(); // fewer bytes than a number has
  for await (const bytes of zlib === undefined ? plain(form) : unpacked(form, zlib)) {
    const all = rest.length === 0 ? bytes : concat([rest, bytes]);
    const whole = all.length - (all.length % type.size);
    rest = all.slice(whole);
    const own = all.subarray(0, whole);
    if (whole > 0) yield numericView(type, little ? own : swapBytes(own, type.size));
  }
}

/** How an array is written. */
interface Form {
  readonly source: ByteSource;
  readonly base64: boolean;
  /** Bytes that it should have. */
  readonly size: number;
  readonly encoding: Encoding;
  readonly what: string;
}

const BLOCK = 3 << 18; // bytes that are decoded together

/** Bytes one after the other, and where in the file what follows them begins. */
interface Stretch extends ByteSource {
  readonly end: number;
}

/** Stretches of base64 are as long as their bytes say: four characters for three of them. */
function stretch({ source, base64, encoding: { where }, what }: Form, from: number, length: number): Stretch {
  const taken = base64 ? 4 * Math.ceil(length / 3) : length;
  if (taken > source.size - from)
    throw new Corrupt(`${where}: ${what} needs ${taken} bytes of the file, and ${source.size - from} are left`, {
      where,
    });
  const own = partOf(source, from, from + taken);
  const few = (found: number): Corrupt =>
    new Corrupt(`${where}: ${what} has ${found} bytes${base64 ? " of base64" : ""} where ${length} belong`, { where });
  async function read(offset: number, wanted: number): Promise<Uint8Array> {
    const to = Math.min(length, offset + wanted);
    if (!base64) {
      const bytes = await own.read(offset, to - offset);
      if (bytes.length < to - offset) throw few(offset + bytes.length);
      return bytes;
    }
    const [first, last] = [Math.floor(offset / 3), Math.ceil(to / 3)];
    const { bytes } = decodeBase64(await own.read(4 * first, 4 * (last - first)), where);
    if (bytes.length < to - 3 * first) throw few(3 * first + bytes.length);
    return bytes.subarray(offset - 3 * first, to - 3 * first);
  }
  return { size: length, read, end: from + taken };
}

/** Numbers of a header, from one up to another. */
async function* numbers(header: Stretch, from: number, to: number, { little, word, where }: Encoding) {
  for (let at = from; at < to; at += 4096) {
    const bytes = await header.read(at * word, Math.min(4096, to - at) * word);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < view.byteLength; i += word) {
      const value = word === 4 ? view.getUint32(i, little) : Number(view.getBigUint64(i, little));
      if (!Number.isSafeInteger(value)) throw new Corrupt(`${where} has an array of ${value} bytes`, { where });
      yield value;
    }
  }
}

/** The first numbers of a header. */
async function few(header: Stretch, count: number, encoding: Encoding): Promise<number[]> {
  const found: number[] = [];
  for await (const value of numbers(header, 0, count, encoding)) found.push(value);
  return found;
}

async function* plain(form: Form): AsyncGenerator<Uint8Array> {
  const { size, encoding, what } = form;
  const { where, word } = encoding;
  const own = stretch(form, 0, word + size);
  const [found] = await few(own, 1, encoding);
  if (found !== size) throw new Corrupt(`${where}: ${what} has ${found} bytes where ${size} were expected`, { where });
  for (let at = 0; at < size; at += BLOCK) yield own.read(word + at, Math.min(BLOCK, size - at));
}

async function* unpacked(form: Form, zlib: Zlib): AsyncGenerator<Uint8Array> {
  const { base64, size, encoding, what } = form;
  const { where, word, limits, mostOfBlock } = encoding;
  // Twelve bytes are sixteen characters, and hold the first number in both widths.
  const [count] = (await few(stretch(form, 0, base64 ? 12 : word), 1, encoding)) as [number];
  const header = stretch(form, 0, (3 + count) * word);
  const [, block, last] = (await few(header, 3, encoding)) as [number, number, number];
  const total = count === 0 ? 0 : (last === 0 ? count : count - 1) * block + last;
  if (total !== size)
    throw new Corrupt(`${where}: ${what} unpacks to ${total} bytes where ${size} were expected`, { where });
  let [sum, most] = [0, block];
  for await (const length of numbers(header, 3, 3 + count, encoding)) {
    sum += length;
    most = Math.max(most, length);
  }
  const packed = stretch(form, header.end, sum);
  if (most > mostOfBlock)
    throw new Unsupported(
      `${where}: ${what} is packed in blocks of ${most} bytes, and ${Math.floor(mostOfBlock)} may be used for one`,
      { where, hint: "Allow more (--max-memory)." },
    );
  let [from, i] = [0, 0];
  for await (const length of numbers(header, 3, 3 + count, encoding)) {
    const expected = ++i === count && last > 0 ? last : block;
    yield zlib.decompress(await packed.read(from, length), expected, limits);
    from += length;
  }
}
