/**
 * The arrays of GIFTI: rows of numbers, decoded as they come and held, or put aside.
 *
 * | Encoding           | text of `<Data>`                          |
 * |--------------------|-------------------------------------------|
 * | `ASCII`            | numbers                                   |
 * | `Base64Binary`     | bytes, in the order that `Endian` says    |
 * | `GZipBase64Binary` | the same, packed with zlib                |
 */
import { concat } from "../../bytes/concat.js";
import { swapBytes } from "../../bytes/swap.js";
import { bytesOf, type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { unpackStream } from "../../codec/unpack-stream.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Scratch } from "../../store/scratch.js";
import { Base64Decoder } from "./base64.js";
import { BytesAside } from "./bytes-aside.js";
import { type InputFile, type Range, rangeOf } from "./file.js";
import type { ArrayTag } from "./gifti-document.js";
import { endsAfter, mustHaveRoom, wholeNumbers } from "./scanned-numbers.js";
import { numeric } from "./surface.js";
import { room } from "./surface-write.js";
import { countLines, Scanner } from "./text.js";

const TYPES: { readonly [name: string]: NumericType } = {
  NIFTI_TYPE_UINT8: numeric("uint", 1),
  NIFTI_TYPE_INT8: numeric("int", 1),
  NIFTI_TYPE_INT16: numeric("int", 2),
  NIFTI_TYPE_UINT16: numeric("uint", 2),
  NIFTI_TYPE_INT32: numeric("int", 4),
  NIFTI_TYPE_UINT32: numeric("uint", 4),
  NIFTI_TYPE_INT64: numeric("int", 8),
  NIFTI_TYPE_UINT64: numeric("uint", 8),
  NIFTI_TYPE_FLOAT32: numeric("float", 4),
  NIFTI_TYPE_FLOAT64: numeric("float", 8),
};

/** Words of tags: those of the standard, and what its C library calls them, which are in files as well. */
const WORDS = {
  Encoding: {
    ASCII: "ASCII",
    GIFTI_ENCODING_ASCII: "ASCII",
    Base64Binary: "Base64Binary",
    GIFTI_ENCODING_B64BIN: "Base64Binary",
    GZipBase64Binary: "GZipBase64Binary",
    GIFTI_ENCODING_B64GZ: "GZipBase64Binary",
  },
  Endian: { LittleEndian: "little", GIFTI_ENDIAN_LITTLE: "little", BigEndian: "big", GIFTI_ENDIAN_BIG: "big" },
  ArrayIndexingOrder: {
    RowMajorOrder: "rows",
    GIFTI_IND_ORD_ROW_MAJOR: "rows",
    ColumnMajorOrder: "columns",
    GIFTI_IND_ORD_COL_MAJOR: "columns",
  },
} as const;

/** What the tag of an array says of it. */
export interface ArrayShape {
  /** For messages. */
  readonly what: string;
  readonly type: NumericType;
  readonly rows: number;
  /** Numbers of a row, and how they are divided. */
  readonly channels: number;
  readonly within: readonly number[];
  readonly encoding: "ASCII" | "Base64Binary" | "GZipBase64Binary";
  /** Bytes are in the other order. */
  readonly swapped: boolean;
  /** All first numbers of rows come first. */
  readonly byColumn: boolean;
  readonly data: Range;
}

export function shapeOf({ attributes, data }: ArrayTag, number: number, where: string): ArrayShape {
  const what = `DataArray ${number}`;
  const type = TYPES[attributes.get("DataType") ?? ""];
  if (type === undefined)
    throw new Unsupported(`${where}: ${what} is of type ${attributes.get("DataType")}`, { where });
  const rank = Number(attributes.get("Dimensionality") ?? 1);
  const shape = Array.from({ length: Math.min(6, rank) }, (_, i) => Number(attributes.get(`Dim${i}`) ?? Number.NaN));
  const count = shape.reduce((product, size) => product * size, 1);
  if (!(rank >= 1) || shape.some((size) => !Number.isInteger(size) || size < 0) || !Number.isSafeInteger(count))
    throw new Corrupt(`${where}: ${what} has the shape ${shape.join(" × ")}`, { where });
  const word = <K extends keyof typeof WORDS>(name: K, usual?: string): (typeof WORDS)[K][keyof (typeof WORDS)[K]] => {
    const given = attributes.get(name) ?? usual;
    const known = new Map(Object.entries(WORDS[name])).get(given ?? "");
    if (known === undefined)
      throw new Unsupported(`${where}: ${what} is ${given ?? `without ${name}`}, which is not read`, { where });
    return known as never;
  };
  const encoding = word("Encoding");
  return {
    what,
    type,
    rows: shape[0]!,
    channels: count === 0 ? 1 : count / shape[0]!,
    within: count === 0 ? [1] : shape.slice(1),
    encoding,
    swapped: encoding !== "ASCII" && word("Endian", "LittleEndian") === "big",
    byColumn: word("ArrayIndexingOrder", "RowMajorOrder") === "columns" && rank > 1,
    data,
  };
}

/** An array whose numbers are there. */
export interface ArrayRows extends ArrayShape {
  read(from: number, to: number): Promise<NumericArray>;
}

/** All numbers of an array; without scratch they are held. */
export async function readArray(
  shape: ArrayShape,
  file: InputFile,
  options: ReadOptions,
  scratch: Scratch | undefined,
): Promise<ArrayRows> {
  const { what, type, rows, channels, swapped, byColumn, within } = shape;
  const { where } = file;
  const size = rows * channels * type.size;
  const most = scratch === undefined ? withLimits(options.limits).resultBytes : Number.POSITIVE_INFINITY;
  const aside = new BytesAside(scratch);
  for await (const bytes of bytesIn(shape, file, options)) {
    if (aside.size + bytes.length > size)
      throw new Corrupt(`${where}: ${what} has more than the ${size} bytes that were expected`, { where });
    if (aside.size + bytes.length > most)
      throw new LimitExceeded(`${where}: ${what} has more than the ${most} bytes that are held`, { where });
    await aside.add(bytes);
  }
  if (aside.size !== size)
    throw new Corrupt(`${where}: ${what} has ${aside.size} bytes where ${size} were expected`, { where });
  /** Numbers one after the other. */
  const numbers = async (from: number, to: number): Promise<NumericArray> => {
    const bytes = await aside.read(from * type.size, (to - from) * type.size);
    return numericView(type, swapped ? swapBytes(bytes, type.size) : bytes);
  };
  return {
    ...shape,
    async read(from, to) {
      if (!byColumn) return numbers(from * channels, to * channels);
      const out = room(type, (to - from) * channels);
      for (let channel = 0; channel < channels; channel++) {
        const start = columnOf(channel, within) * rows;
        const own = await numbers(start + from, start + to);
        for (let i = 0; i < own.length; i++) out[i * channels + channel] = own[i]!;
      }
      return out;
    },
  };
}

/** The place of a number of a row, where the first of its places counts fastest and not the last. */
function columnOf(channel: number, within: readonly number[]): number {
  let [rest, place] = [channel, 0];
  for (const size of [...within].reverse()) {
    place = place * size + (rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

/** The bytes of the numbers. */
function bytesIn(shape: ArrayShape, file: InputFile, options: ReadOptions): AsyncGenerator<Uint8Array> {
  const text = rangeOf(file, shape.data, options);
  const name = `${file.where}, ${shape.what},`;
  if (shape.encoding === "ASCII") return spelt(text, shape, file.where);
  const bytes = bytesOfText(text, name);
  if (shape.encoding === "Base64Binary") return bytes;
  const { where } = file;
  return unpackStream(
    "deflate",
    bytes,
    (cause) => new Corrupt(`${name} is damaged: ${cause.message} where zlib was expected`, { where, cause }),
  );
}

async function* bytesOfText(text: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const decoder = new Base64Decoder(name);
  for await (const piece of text) yield decoder.push(piece).bytes;
  decoder.end();
}

const TOGETHER = 1 << 20; // bytes of text whose numbers are made at once

/** Numbers in text. */
async function* spelt(
  text: AsyncIterable<Uint8Array>,
  { what, type, rows, channels, data }: ArrayShape,
  where: string,
): AsyncGenerator<Uint8Array> {
  const count = rows * channels;
  mustHaveRoom(data.length, count, where, what);
  let [left, line] = [count, 1];
  for await (const bytes of wholeWords(text)) {
    const scanner = new Scanner({ bytes, line }, `${where}, ${what}`);
    const out = room(type, Math.min(left, (bytes.length >> 1) + 1));
    const found = wholeNumbers(scanner, bytes.length, out, type, "a number");
    yield bytesOf(out.subarray(0, found) as NumericArray);
    left -= found;
    line += countLines(bytes);
    if (left === 0 && bytes.subarray(scanner.at).some((byte) => byte > 32))
      throw new Corrupt(`${where}: ${what} has more than the ${count} numbers that were expected`, { where });
  }
  if (left > 0) throw endsAfter(count - left, count, where, what);
}

/** Text in pieces that end between words. */
async function* wholeWords(text: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for await (const next of text)
    for (let at = 0; at < next.length; at += TOGETHER) {
      const piece = next.subarray(at, at + TOGETHER);
      const all = rest.length === 0 ? piece : concat([rest, piece]);
      let end = all.length;
      while (end > 0 && all[end - 1]! > 32) end--;
      if (end > 0) yield all.subarray(0, end);
      rest = all.slice(end);
      if (rest.length > LONGEST) return yield rest; // no number: who reads it says so
    }
  if (rest.length > 0) yield rest;
}

const LONGEST = 1 << 20; // bytes of a word
