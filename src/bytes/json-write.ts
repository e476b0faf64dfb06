/**
 * Writing JSON. The text equals that of Python's json.dumps with the same indent, sort_keys and ensure_ascii, so that
 * Zarr v0 and v1 metadata come out byte for byte: floats as Python's repr (1e16 is `1e+16`, 1e-5 is `1e-05`), keys in
 * the order of code points. A float with a whole value beyond 2^53 is written as a float, and so read back as one.
 * Only without indent does it differ: "," and ":" stand without the space.
 */
import { InvalidInput } from "../errors.js";
import type { Json } from "./json.js";

/** What the stack of every engine holds; for both directions. */
export const MAX_DEPTH = 1000;

/** A number to be written as a float even where its value is whole: 0 as `0.0`, as Python writes fill values of floats. */
export class JsonFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type WritableJson = Json | JsonFloat | readonly WritableJson[] | { readonly [key: string]: WritableJson };

export interface StringifyOptions {
  /** Spaces per level; without it everything is on one line. */
  readonly indent?: number;
  readonly sortKeys?: boolean;
  /** Everything beyond "~" as \uXXXX. */
  readonly ascii?: boolean;
  /** Write NaN, Infinity and -Infinity as bare words; without it they are refused. */
  readonly tokens?: boolean;
}

export function stringifyJson(value: WritableJson, options: StringifyOptions = {}): string {
  return text(value, options, "\n", []);
}

/** A value inside a sentence: short, whatever it is. */
export function showJson(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = stringifyJson(value, { tokens: true });
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** `newline` carries the indent of this level; `path` is where we are, for the one sentence that may need it. */
function text(value: WritableJson, options: StringifyOptions, newline: string, path: (string | number)[]): string {
  switch (typeof value) {
    case "string":
      return quote(value, options);
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? `${value}` : float(value, options, path);
    case "bigint":
    case "boolean":
      return `${value}`;
  }
  if (value === null) return "null";
  if (value instanceof JsonFloat) return float(value.value, options, path);
  if (typeof value !== "object") throw refused(value, path);

  const inner = options.indent === undefined ? "" : newline + " ".repeat(options.indent);
  const outer = options.indent === undefined ? "" : newline;
  const depth = path.length;
  if (depth > MAX_DEPTH)
    throw new InvalidInput(`JSON nested deeper than ${MAX_DEPTH} cannot be read again, or has no end`);
  let body = "";
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path[depth] = i;
      body += (i === 0 ? inner : `,${inner}`) + text(value[i]!, options, inner, path);
    }
    path.length = depth;
    return body === "" ? "[]" : `[${body}${outer}]`;
  }
  const keys = Object.keys(value);
  if (options.sortKeys) keys.sort(compareCodePoints);
  const colon = options.indent === undefined ? ":" : ": ";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    path[depth] = key;
    body += (i === 0 ? inner : `,${inner}`) + quote(key, options) + colon + text(value[key]!, options, inner, path);
  }
  path.length = depth;
  return body === "" ? "{}" : `{${body}${outer}}`;
}

// Array.isArray does not narrow readonly arrays.
const isArray = (value: WritableJson): value is readonly WritableJson[] => Array.isArray(value);

function quote(text: string, options: StringifyOptions): string {
  const quoted = JSON.stringify(text);
  if (!options.ascii) return quoted;
  return quoted.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function float(value: number, options: StringifyOptions, path: readonly (string | number)[]): string {
  if (Number.isFinite(value)) return floatRepr(value);
  if (!options.tokens) throw refused(value, path);
  return `${value}`;
}

function refused(value: unknown, path: readonly (string | number)[]): InvalidInput {
  return new InvalidInput(`JSON cannot hold ${String(value)}, found at ${path.join(".") || "the top"}`);
}

/** Python's repr: the shortest digits that read back, as JavaScript's, with the exponent from 1e16 up and below 1e-4. */
function floatRepr(value: number): string {
  const [mantissa = "", exponentText] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= 16 || exponent < -4) {
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.slice(0, exponent + 1).padEnd(exponent + 1, "0")}.${digits.slice(exponent + 1) || "0"}`;
}

/** The order of Python's strings; JavaScript's own puts what lies beyond U+FFFF before U+E000. */
export function compareCodePoints(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let i = 0;
  while (i < shorter && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === shorter) return a.length - b.length;
  // Where the difference is in the second half of a pair, the code point begins one unit before.
  if (i > 0 && isHigh(a.charCodeAt(i - 1)) && (isLow(a.charCodeAt(i)) || isLow(b.charCodeAt(i)))) i--;
  return a.codePointAt(i)! - b.codePointAt(i)!;
}

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
