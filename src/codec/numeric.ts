/** Bytes in memory as the numbers that they are, for codecs that calculate. */
import { type FixedDataType, isFixed } from "../bytes/dtype.js";
import { InvalidInput, Unsupported } from "../errors.js";
import { textOption } from "./options.js";
import type { ChunkSpec, CodecSpec, NumericArray } from "./types.js";

export type NumericType = Extract<FixedDataType, { kind: "int" | "uint" | "float" }>;

const constructors = {
  int: { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: BigInt64Array },
  uint: { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array },
  float: { 2: Uint16Array, 4: Float32Array, 8: Float64Array }, // float16 as its bits
} as const;

type Constructor = new (buffer: ArrayBufferLike, at: number, length: number) => NumericArray;

/** Little-endian bytes as a typed array, without a copy where the alignment allows it. */
export function numericView({ kind, size }: NumericType, bytes: Uint8Array): NumericArray {
  const View = (constructors[kind] as unknown as { [size: number]: Constructor })[size]!;
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes); // not slice: that of a Buffer does not copy
  return new View(aligned.buffer, aligned.byteOffset, Math.floor(aligned.length / size));
}

export const bytesOf = (array: NumericArray): Uint8Array =>
  new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);

export const isBig = (array: NumericArray): array is BigInt64Array | BigUint64Array =>
  array instanceof BigInt64Array || array instanceof BigUint64Array;

/** A float cast to the array's type: integers cut off the fraction. */
export function putNumber(out: NumericArray, i: number, value: number): void {
  if (isBig(out)) out[i] = Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
  else out[i] = value;
}

/** How numpy rounds what it calculates from both types: to float32 where that holds all values of either. */
export const rounding = (a: NumericType, b: NumericType): ((value: number) => number) =>
  [a, b].every(({ kind, size }) => (kind === "float" ? size === 4 : size <= 2)) ? Math.fround : (value) => value;

/** What a codec that turns `dtype` into `astype` leaves to the next one; `dtype` must be that of the array. */
export function recast(
  codec: string,
  dtype: NumericType,
  astype: NumericType,
  { shape, dtype: found }: ChunkSpec,
): ChunkSpec {
  if (!isFixed(found) || found.size !== dtype.size)
    throw new InvalidInput(`the ${codec} codec is for elements of ${dtype.size} bytes, found ${found.kind}`);
  return { shape, dtype: astype, fill: new Uint8Array(astype.size) };
}

/** A number type as numpy spells it: "<i4". */
export function numericOption(
  configuration: CodecSpec["configuration"],
  codec: string,
  key: string,
  absent?: string,
): NumericType {
  const text = textOption(configuration, codec, key, absent);
  const [, mark, letter, size] = /^([<>|=]?)([iuf])([1248])$/.exec(text) ?? [];
  if (letter === undefined || (letter === "f" && size === "1")) {
    if (/^[<>|=]?[?bcmMSUVO]/.test(text))
      throw new Unsupported(`the ${codec} codec works on integers and floats here, found ${key} "${text}"`);
    throw new InvalidInput(`the ${codec} codec's ${key} should be a number type such as "<i4", found "${text}"`);
  }
  const kind = letter === "i" ? "int" : letter === "u" ? "uint" : "float";
  return { kind, size: Number(size), endian: mark === ">" ? "big" : "little" } as NumericType;
}
