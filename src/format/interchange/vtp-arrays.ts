/**
 * The arrays of VTK's XML files: text, base64 where they stand, or one after the other behind `_` in `<AppendedData>`, as base64 or as they are.
 *
 * | before compression | header: one number (UInt32 or UInt64), the bytes of data; then the data                              |
 * |--------------------|------------------------------------------------------------------------------------------------------|
 * | zlib               | header: number of blocks, size of a block, size of the last one if it is another, packed size of each; then the blocks |
 *
 * In base64 header and data are one stretch without compression, and two with it.
 */
import { swapBytes } from "../../bytes/swap.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Zlib } from "../../codec/zlib.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { decodeBase64 } from "./base64.js";
import { fits } from "./surface.js";
import { room } from "./surface-write.js";
import { Scanner } from "./text.js";

export interface Encoding {
  readonly where: string;
  readonly little: boolean;
  /** Bytes of a number in headers. */
  readonly word: 4 | 8;
  readonly zlib: Zlib | undefined;
  readonly limits: Limits;
}

/** `count` numbers from text. */
export function textArray(
  bytes: Uint8Array,
  type: NumericType,
  count: number,
  { where }: Encoding,
  what: string,
): NumericArray {
  const scanner = new Scanner({ bytes }, `${where}, ${what}`);
  if (2 * count > bytes.length + 1)
    throw new Corrupt(`${where}: ${what} needs ${count} numbers, in ${bytes.length} bytes`, { where });
  const out = room(type, count);
  const big = type.size === 8 && type.kind !== "float";
  for (let i = 0; i < count; i++) {
    while (scanner.ends())
      if (!scanner.next()) throw new Corrupt(`${where}: ${what} ends after ${i} of ${count} numbers`, { where });
    if (!big) {
      const value = scanner.number("a number");
      if (!fits(type, value)) throw scanner.corrupt(`${value} where ${type.kind}${8 * type.size} was expected`);
      out[i] = value;
    } else {
      const word = scanner.word();
      if (!/^-?\d{1,20}$/.test(word))
        throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} where a whole number was expected`);
      out[i] = BigInt(word);
    }
  }
  return out;
}

/** `count` numbers from base64 text, or from bytes as they are; what follows them is of others. */
export function packedArray(
  bytes: Uint8Array,
  base64: boolean,
  type: NumericType,
  count: number,
  encoding: Encoding,
  what: string,
): NumericArray {
  const { where, little, zlib, limits } = encoding;
  const size = count * type.size;
  if (size > limits.resultBytes) throw new LimitExceeded(`${where}: ${what} would have ${size} bytes`, { where });
  const data =
    zlib === undefined
      ? plain(bytes, base64, size, encoding, what)
      : unpacked(bytes, base64, size, encoding, zlib, what);
  return numericView(type, little ? data : swapBytes(data, type.size));
}

/** Stretches of base64 are as long as their bytes say: four characters for three of them. */
function stretch(bytes: Uint8Array, base64: boolean, length: number, { where }: Encoding, what: string) {
  const taken = base64 ? 4 * Math.ceil(length / 3) : length;
  if (taken > bytes.length)
    throw new Corrupt(`${where}: ${what} needs ${taken} bytes of the file, and ${bytes.length} are left`, { where });
  const raw = bytes.subarray(0, taken);
  const own = base64 ? decodeBase64(raw, where).bytes : raw;
  if (own.length < length)
    throw new Corrupt(`${where}: ${what} has ${own.length} bytes of base64 where ${length} belong`, { where });
  return { own: own.subarray(0, length), rest: bytes.subarray(taken) };
}

function number(bytes: Uint8Array, index: number, { little, word, where }: Encoding): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const value = word === 4 ? view.getUint32(4 * index, little) : Number(view.getBigUint64(8 * index, little));
  if (!Number.isSafeInteger(value)) throw new Corrupt(`${where} has an array of ${value} bytes`, { where });
  return value;
}

function plain(bytes: Uint8Array, base64: boolean, size: number, encoding: Encoding, what: string): Uint8Array {
  const { where, word } = encoding;
  const { own } = stretch(bytes, base64, word + size, encoding, what);
  const found = number(own, 0, encoding);
  if (found !== size) throw new Corrupt(`${where}: ${what} has ${found} bytes where ${size} were expected`, { where });
  return own.subarray(word);
}

function unpacked(
  bytes: Uint8Array,
  base64: boolean,
  size: number,
  encoding: Encoding,
  zlib: Zlib,
  what: string,
): Uint8Array {
  const { where, word, limits } = encoding;
  // Twelve bytes are sixteen characters, and hold the first number in both widths.
  const count = number(stretch(bytes, base64, base64 ? 12 : word, encoding, what).own, 0, encoding);
  const { own: header, rest } = stretch(bytes, base64, (3 + count) * word, encoding, what);
  const [block, last] = [number(header, 1, encoding), number(header, 2, encoding)];
  const total = count === 0 ? 0 : (last === 0 ? count : count - 1) * block + last;
  if (total !== size)
    throw new Corrupt(`${where}: ${what} unpacks to ${total} bytes where ${size} were expected`, { where });
  const sizes = Array.from({ length: count }, (_, i) => number(header, 3 + i, encoding));
  const { own: packed } = stretch(
    rest,
    base64,
    sizes.reduce((sum, each) => sum + each, 0),
    encoding,
    what,
  );
  const out = new Uint8Array(size);
  let [from, at] = [0, 0];
  for (const [i, length] of sizes.entries()) {
    const expected = i === count - 1 && last > 0 ? last : block;
    out.set(zlib.decompress(packed.subarray(from, from + length), expected, limits), at);
    from += length;
    at += expected;
  }
  return out;
}
