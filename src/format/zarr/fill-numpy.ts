/**
 * Fill values of v0, v1 and v2: whatever the writer had, cast to the element type the way numpy casts.
 *
 * | on              | v0 and v1                        | v2                                        |
 * |-----------------|----------------------------------|-------------------------------------------|
 * | anything        | null: zeros                      | null: zeros                               |
 * | float           | number, bare NaN ±Infinity       | also "NaN" "Infinity" "-Infinity"         |
 * | int             | number; 3.7 is 3, −1 on u1 is 255 | the same                                 |
 * | bool            | true, false; other numbers: ≠ 0  | the same                                  |
 * | complex         | number                           | [re, im]                                  |
 * | datetime        | integer                          | integer, "NaT"                            |
 * | S               | ASCII text; 0 is "0"             | base64; 0 is empty                        |
 * | U               | text; 0 is "0"                   | text; 0 is empty                          |
 * | V               | null, 0                          | base64                                    |
 * | struct          | null; a number goes to every field | base64 of one element as on disk; the same |
 * | variable size   | —                                | text, base64; 0 is empty                  |
 *
 * A value that comes out different from what is written gets a sentence in the array's notes.
 */
import { type DataType, type FixedDataType, isFixed } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { JsonFloat, stringifyJson, type WritableJson } from "../../bytes/json-write.js";
import { encodeUcs4 } from "../../bytes/text.js";
import { I64, U64 } from "../../bytes/u64.js";
import type { Element } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import { valueAt } from "../../model/elements.js";
import { fail, show, wrong } from "./document.js";
import { formatNumpyDtype } from "./dtype-numpy.js";
import * as element from "./element.js";

export interface Fill {
  readonly fill: Element;
  readonly notes: readonly string[];
}

export function parseNumpyFill(value: Json, dtype: DataType, version: 0 | 1 | 2, where: string): Fill {
  const zero = element.zeroElement(dtype);
  if (value === null) return { fill: zero, notes: [] };
  const type = show(formatNumpyDtype(dtype));
  const becomes = (what: string): string => `The fill value ${show(value)} on ${type} reads as ${what}.`;
  if (!isFixed(dtype)) {
    if (value === 0) return { fill: zero, notes: [becomes("an empty value")] };
    if (typeof value !== "string" || dtype.kind === "vlen-array") throw wrong(where, `a fill value for ${type}`, value);
    return { fill: dtype.kind === "string" ? value : element.fromBase64(value, where), notes: [] };
  }
  const fill = cast(value, dtype, version, where);
  const read = valueAt({ shape: [], dtype, data: fill }, 0);
  const changed =
    dtype.kind === "int" || dtype.kind === "uint"
      ? typeof value !== "boolean" && `${read}` !== `${value}`
      : dtype.kind === "bool"
        ? Number(read) !== Number(value)
        : dtype.kind === "utf32" || (dtype.kind === "bytes" && version < 2)
          ? read !== value
          : false;
  return { fill, notes: changed ? [becomes(typeof read === "bigint" ? `${read}` : show(read as Json))] : [] };
}

function cast(value: Json, dtype: FixedDataType, version: 0 | 1 | 2, where: string): Uint8Array {
  const none = () => wrong(where, `a fill value for ${show(formatNumpyDtype(dtype))}`, value);
  switch (dtype.kind) {
    case "bool":
      if (typeof value === "string" || typeof value === "object") throw none();
      return Uint8Array.of(value ? 1 : Number.isNaN(value) ? 1 : 0);
    case "int":
    case "uint": {
      const whole = toInteger(value);
      if (whole === undefined || whole < I64.MIN || whole > U64.MAX) throw none(); // numpy refuses these too
      return element.packInteger(whole, dtype.size);
    }
    case "datetime":
    case "timedelta": {
      const count =
        value === "NaT"
          ? I64.MIN
          : typeof value === "number" && !Number.isInteger(value)
            ? undefined
            : toInteger(value);
      if (count === undefined || count < I64.MIN || count > I64.MAX) throw none();
      return element.packInteger(count, 8);
    }
    case "float": {
      const number = toFloat(value);
      if (number === undefined) throw none();
      return element.packFloat(number, dtype.size);
    }
    case "complex": {
      const parts = (Array.isArray(value) ? value : [value, 0]).map(toFloat);
      if (parts.length !== 2 || parts.includes(undefined)) throw none();
      return new Uint8Array(parts.flatMap((part) => [...element.packFloat(part!, dtype.size === 8 ? 4 : 8)]));
    }
    case "utf32":
      if (value === 0 && version === 2) return new Uint8Array(dtype.size);
      return encodeUcs4(toText(value) ?? fail(none), dtype.size);
    case "bytes":
      if (value === 0 && version === 2) return new Uint8Array(dtype.size);
      if (typeof value === "string" && version === 2)
        return element.packBytes(element.fromBase64(value, where), dtype.size);
      return element.packBytes(ascii(toText(value)) ?? fail(none), dtype.size);
    case "raw": {
      if (value === 0) return new Uint8Array(dtype.size);
      const bytes = typeof value === "string" && version === 2 ? element.fromBase64(value, where) : fail(none);
      return bytes.length <= dtype.size ? element.packBytes(bytes, dtype.size) : fail(none);
    }
    case "struct":
      if (typeof value !== "string") return element.packStruct(dtype, (_, type) => cast(value, type, version, where));
      return exactly(version === 2 ? element.fromBase64(value, where) : fail(none), dtype.size) ?? fail(none);
  }
}

function toInteger(value: Json): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "number" && Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
}

const words: ReadonlyMap<Json, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

/** A float from a number or one of the three words; shared with v3. */
export function toFloat(value: Json): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "bigint" || typeof value === "boolean" ? Number(value) : words.get(value);
}

/** As Python's str() */
function toText(value: Json): string | undefined {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" || typeof value === "bigint") return stringifyJson(value, { tokens: true });
  return typeof value === "string" ? value : undefined;
}

function ascii(text: string | undefined): Uint8Array | undefined {
  const bytes = Uint8Array.from(text ?? "", (character) => Math.min(character.codePointAt(0)!, 0x80));
  return text === undefined || bytes.includes(0x80) ? undefined : bytes;
}

const exactly = (bytes: Uint8Array, size: number): Uint8Array | undefined =>
  bytes.length === size ? bytes : undefined;

/** The value that a v2 document, or with `version` 0 a `__zmeta__`, has for this fill. */
export function formatNumpyFill(fill: Element, dtype: DataType, version: 0 | 2, where: string): WritableJson {
  if (!isFixed(dtype)) {
    if (typeof fill === "string") return fill;
    return dtype.kind === "vlen-bytes" ? element.toBase64(fill as Uint8Array) : 0;
  }
  const bytes = fill as Uint8Array;
  const none = () =>
    new Unsupported(
      `${where} of the type ${show(formatNumpyDtype(dtype))} cannot be kept: Zarr v${version} has no way to write it`,
      { where },
    );
  const value = valueAt({ shape: [], dtype, data: bytes }, 0);
  switch (dtype.kind) {
    case "bool":
    case "utf32":
      return value as boolean | string;
    case "int":
    case "uint":
    case "datetime":
    case "timedelta":
      return value as number | bigint;
    case "float":
      return version === 0 ? (value as number) : formatFloat(value as number);
    case "complex": {
      const [real, imaginary] = value as readonly [number, number];
      if (version === 2) return [formatFloat(real), formatFloat(imaginary)];
      return imaginary === 0 ? real : fail(none);
    }
    case "bytes":
      if (version === 2) return element.toBase64(trimZeros(bytes));
      return ascii(value as string) === undefined ? fail(none) : (value as string);
    case "raw":
    case "struct":
      if (version === 2) return element.toBase64(bytes);
      if (bytes.some((byte) => byte !== 0)) throw none();
      return zerosAreNull(dtype) ? null : 0;
  }
}

/**
 * Whether v0 has no better word for zeros than null. A number goes to every field of a struct, but numpy makes "0" of it in
 * a field of text, and refuses it in one of raw bytes.
 */
export const zerosAreNull = (dtype: DataType): boolean =>
  dtype.kind === "raw" ||
  (dtype.kind === "struct" &&
    dtype.fields.some(({ dtype: field }) => ["bytes", "utf32"].includes(field.kind) || zerosAreNull(field)));

/** Python writes the fill value of a float as a float, and JSON has no NaN; shared with v3. */
export function formatFloat(value: number): WritableJson {
  return Number.isFinite(value) ? new JsonFloat(value) : `${value}`;
}

/** numpy's S ends at its last byte that is not zero; shared with v3. */
export function trimZeros(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}
