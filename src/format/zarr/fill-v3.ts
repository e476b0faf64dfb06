/**
 * Fill values of v3. The document must say exactly what an element is; nothing is cast.
 *
 * | on                    | value                                                                     |
 * |-----------------------|---------------------------------------------------------------------------|
 * | bool                  | true, false                                                               |
 * | int, uint, datetime   | an integer of that range; "NaT"                                           |
 * | float                 | number, "NaN", "Infinity", "-Infinity", "0x7fc00001": the bits            |
 * | complex               | [re, im], each as float                                                   |
 * | raw, vlen-bytes       | base64, or a list of bytes                                                |
 * | null_terminated_bytes | base64                                                                    |
 * | utf32, string         | text                                                                      |
 * | struct                | base64 of one element, or {field: value}                                  |
 */
import { type DataType, type FixedDataType, isFixed } from "../../bytes/dtype.js";
import { isJsonObject, type Json } from "../../bytes/json.js";
import type { WritableJson } from "../../bytes/json-write.js";
import { encodeUcs4 } from "../../bytes/text.js";
import { I64 } from "../../bytes/u64.js";
import type { Element } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import { valueAt } from "../../model/elements.js";
import { fail, show, wrong } from "./document.js";
import * as element from "./element.js";
import { formatFloat, toFloat, trimZeros } from "./fill-numpy.js";

export function parseV3Fill(value: Json, dtype: DataType, where: string): Element {
  if (isFixed(dtype)) return parseFixed(value, dtype, where);
  if (dtype.kind === "vlen-bytes") return byteList(value) ?? element.fromBase64(asText(value, where), where);
  return asText(value, where);
}

function parseFixed(value: Json, dtype: FixedDataType, where: string): Uint8Array {
  const none = () => wrong(where, `a fill value of ${dtype.kind}${"endian" in dtype ? dtype.size * 8 : ""}`, value);
  switch (dtype.kind) {
    case "bool":
      if (typeof value !== "boolean") throw none();
      return Uint8Array.of(value ? 1 : 0);
    case "int":
    case "uint": {
      const bits = dtype.size * 8;
      const whole = toWhole(value);
      if (whole === undefined || (dtype.kind === "int" ? BigInt.asIntN : BigInt.asUintN)(bits, whole) !== whole)
        throw none();
      return element.packInteger(whole, dtype.size);
    }
    case "datetime":
    case "timedelta": {
      const count = value === "NaT" ? I64.MIN : toWhole(value);
      if (count === undefined || BigInt.asIntN(64, count) !== count) throw none();
      return element.packInteger(count, 8);
    }
    case "float":
      return parseFloatBits(value, dtype.size) ?? fail(none);
    case "complex": {
      const parts = Array.isArray(value) && value.length === 2 ? value : fail(none);
      const half = dtype.size === 8 ? 4 : 8;
      return new Uint8Array(parts.flatMap((part: Json) => [...(parseFloatBits(part, half) ?? fail(none))]));
    }
    case "utf32": {
      const text = asText(value, where);
      return [...text].length * 4 <= dtype.size ? encodeUcs4(text, dtype.size) : fail(none);
    }
    case "bytes": {
      const bytes = element.fromBase64(asText(value, where), where);
      return bytes.length <= dtype.size ? element.packBytes(bytes, dtype.size) : fail(none);
    }
    case "raw": {
      const bytes = byteList(value) ?? element.fromBase64(asText(value, where), where);
      return bytes.length === dtype.size ? bytes : fail(none);
    }
    case "struct": {
      if (isJsonObject(value)) {
        const names = new Set(Object.keys(value));
        const bytes = element.packStruct(dtype, ({ name }, type) => {
          if (!names.delete(name)) throw none();
          return parseFixed(value[name]!, type, where);
        });
        return names.size === 0 ? bytes : fail(none);
      }
      const bytes = element.fromBase64(asText(value, where), where);
      return bytes.length === dtype.size ? bytes : fail(none);
    }
  }
}

function toWhole(value: Json): bigint | undefined {
  return typeof value === "bigint" ? value : Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

/** A number that the type rounds to infinity is out of its range. */
function parseFloatBits(value: Json, size: 2 | 4 | 8): Uint8Array | undefined {
  if (typeof value === "string" && value.startsWith("0x")) {
    const digits = /^0x([0-9a-fA-F]+)$/.exec(value)?.[1];
    return digits?.length === size * 2 ? element.packInteger(BigInt(value), size) : undefined;
  }
  const number = typeof value === "boolean" ? undefined : toFloat(value);
  if (number === undefined) return undefined;
  const bytes = element.packFloat(number, size);
  const rounded = valueAt({ shape: [], dtype: { kind: "float", size, endian: "little" }, data: bytes }, 0) as number;
  return Number.isFinite(rounded) === Number.isFinite(number) ? bytes : undefined;
}

function byteList(value: Json): Uint8Array | undefined {
  if (!Array.isArray(value)) return undefined;
  const isByte = (entry: Json): entry is number =>
    typeof entry === "number" && Number.isInteger(entry) && entry >= 0 && entry <= 255;
  return value.every(isByte) ? Uint8Array.from(value) : undefined;
}

function asText(value: Json, where: string): string {
  return typeof value === "string" ? value : fail(() => wrong(where, "a fill value as text", value));
}

export function formatV3Fill(fill: Element, dtype: DataType, where: string): WritableJson {
  if (!isFixed(dtype)) {
    if (typeof fill === "string") return fill;
    if (dtype.kind === "vlen-bytes") return element.toBase64(fill as Uint8Array);
    throw new Unsupported(`${where} cannot have elements of ${show(dtype.kind)}: Zarr v3 has no such type`, { where });
  }
  const bytes = fill as Uint8Array;
  const value = valueAt({ shape: [], dtype, data: bytes }, 0);
  switch (dtype.kind) {
    case "float":
      return formatBits(value as number, bytes);
    case "complex": {
      const half = dtype.size / 2;
      const [real, imaginary] = value as readonly [number, number];
      return [formatBits(real, bytes.subarray(0, half)), formatBits(imaginary, bytes.subarray(half))];
    }
    case "bytes":
      return element.toBase64(trimZeros(bytes));
    case "raw":
    case "struct":
      return element.toBase64(bytes);
    default:
      return value as boolean | number | bigint | string;
  }
}

/** "NaN" stands for one NaN; the others are written as their bits. */
function formatBits(value: number, bytes: Uint8Array): WritableJson {
  const isPlain = element.sameElement(bytes, element.packFloat(value, bytes.length as 2 | 4 | 8));
  if (isPlain) return formatFloat(value);
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
    .reverse()
    .join("")}`;
}
