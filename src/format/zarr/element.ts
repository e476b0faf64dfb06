/**
 * One element from values: what fill values of all versions are made of. The result is the element as it lies in memory,
 * little-endian, a struct as on disk. (The way back is `valueAt` of model/elements.ts.)
 */
import { type DataType, type Field, type FixedDataType, isFixed, swapUnit } from "../../bytes/dtype.js";
import { numberToHalf } from "../../bytes/half.js";
import type { Element, NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";
import { typed } from "../../model/elements.js";
import { fieldSize } from "./dtype-numpy.js";

/** Two's complement in `size` bytes; what does not fit wraps around. */
export function packInteger(value: bigint, size: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, value), true);
  return bytes.slice(0, size);
}

export function packFloat(number: number, size: 2 | 4 | 8): Uint8Array {
  const value = Number.isNaN(number) ? Number.NaN : number; // engines let the bits of another NaN through
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  if (size === 2) view.setUint16(0, numberToHalf(value), true);
  else if (size === 4) view.setFloat32(0, value, true);
  else view.setFloat64(0, value, true);
  return bytes;
}

/** At the front of `size` zeros; what does not fit is cut off, as numpy does. */
export function packBytes(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size);
  out.set(bytes.subarray(0, size));
  return out;
}

/** A struct from its fields' elements, each turned into the byte order it has on disk, subarrays repeated. */
export function packStruct(
  dtype: Extract<DataType, { kind: "struct" }>,
  elementOf: (field: Field, type: FixedDataType) => Uint8Array,
): Uint8Array {
  const out = new Uint8Array(dtype.size);
  for (const field of dtype.fields) {
    const type = field.dtype as FixedDataType; // parsers let no others into a struct
    const element = elementOf(field, type).slice();
    if ("endian" in type && type.endian === "big") {
      const unit = swapUnit(type);
      for (let at = 0; at < element.length; at += unit) element.subarray(at, at + unit).reverse();
    }
    for (let at = 0; at < fieldSize(field); at += type.size) out.set(element, field.offset + at);
  }
  return out;
}

/** What null means: zeros, or nothing at all. */
export function zeroElement(dtype: DataType): Element {
  if (isFixed(dtype)) return new Uint8Array(dtype.size);
  if (dtype.kind === "string") return "";
  if (dtype.kind === "vlen-bytes") return new Uint8Array(0);
  return typed({ shape: [0], dtype: dtype.item, data: new Uint8Array(0) }) as NumericArray;
}

export function sameElement(a: Element, b: Element): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return a.length === b.length && a.every((value: number | bigint, i: number) => value === b[i]);
}

export function fromBase64(text: string, where: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new Corrupt(`${where} should have a fill value in base64, found ${JSON.stringify(text.slice(0, 60))}`, {
      where,
      cause,
    });
  }
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
