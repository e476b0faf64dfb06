/**
 * JSON that loses nothing.
 *
 * Why not JSON.parse: it rounds integers beyond 2^53, keeps the last of two equal keys in silence, refuses the bare NaN
 * and Infinity that Python writes, and gives objects a prototype, so that asking a document for "constructor" finds a
 * function. Here
 * - an integer token is a number where that is exact, else a bigint; a fraction or exponent makes it a number
 * - objects have no prototype: `__proto__`, `constructor` and "" are keys like any other, and an absent key is undefined
 * - a key that comes twice, a float beyond the range of float64, and bytes that are not UTF-8 are Corrupt
 * - a byte order mark at the start is skipped; an escaped half of a surrogate pair stays as it is
 *
 * One thing JSON cannot carry: 1.0 and 1 are the same number. Writers that need the difference use JsonFloat.
 */
import { Corrupt, LimitExceeded } from "../errors.js";
import type { Limits } from "../limits.js";
import { MAX_DEPTH } from "./json-write.js";
import { decodeUtf8 } from "./text.js";

export {
  compareCodePoints,
  JsonFloat,
  type StringifyOptions,
  showJson,
  stringifyJson,
  type WritableJson,
} from "./json-write.js";

/** A JSON value; integers that a number cannot hold exactly are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface ParseOptions {
  /** Accept the bare words NaN, Infinity and -Infinity, as Zarr v0 and v1 have them. */
  readonly tokens?: boolean;
}

const MAX_DIGITS = 4300; // Python's own limit; conversion takes quadratic time

export function parseJson(source: Uint8Array | string, limits: Limits, what: string, options: ParseOptions = {}): Json {
  if (source.length > limits.metadataBytes) {
    throw new LimitExceeded(`${what} has ${source.length} bytes, at most ${limits.metadataBytes} are allowed`, {
      where: what,
      reason: "metadata-bytes",
    });
  }
  const text = typeof source === "string" ? source : decodeUtf8(source, what);
  return new Parser(text, Math.min(limits.jsonDepth, MAX_DEPTH), what, options.tokens === true).document();
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
const escapes: { readonly [letter: string]: string } = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Parser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #what: string;
  readonly #tokens: boolean;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number, what: string, tokens: boolean) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#what = what;
    this.#tokens = tokens;
  }

  document(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return value;
  }

  #value(): Json {
    this.#space();
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case QUOTE:
        return this.#string();
      case 0x7b: // {
        return this.#object();
      case 0x5b: // [
        return this.#array();
      case 0x74: // t
        return this.#word("true", true);
      case 0x66: // f
        return this.#word("false", false);
      case 0x6e: // n
        return this.#word("null", null);
    }
    if (code === MINUS || isDigit(code)) return this.#number();
    if (this.#tokens && code === 0x4e) return this.#word("NaN", Number.NaN);
    if (this.#tokens && code === 0x49) return this.#word("Infinity", Number.POSITIVE_INFINITY);
    throw this.#unexpected("a value");
  }

  #object(): Json {
    const object: { [key: string]: Json } = Object.create(null);
    this.#open();
    if (this.#next() === 0x7d) return this.#close(object);
    for (;;) {
      if (this.#next() !== QUOTE) throw this.#unexpected("a key in quotes");
      const keyAt = this.#at;
      const key = this.#string();
      if (key in object) {
        this.#at = keyAt;
        throw this.#corrupt(`has the key ${JSON.stringify(key.slice(0, 80))} twice in one object`);
      }
      if (this.#next() !== 0x3a) throw this.#unexpected('":"');
      this.#at++;
      object[key] = this.#value();
      const code = this.#next();
      if (code === 0x7d) return this.#close(object);
      if (code !== 0x2c) throw this.#unexpected('"," or "}"');
      this.#at++;
    }
  }

  #array(): Json {
    const array: Json[] = [];
    this.#open();
    if (this.#next() === 0x5d) return this.#close(array);
    for (;;) {
      array.push(this.#value());
      const code = this.#next();
      if (code === 0x5d) return this.#close(array);
      if (code !== 0x2c) throw this.#unexpected('"," or "]"');
      this.#at++;
    }
  }

  #open(): void {
    if (++this.#depth > this.#maxDepth) {
      const message = `${this.#what} is nested deeper than ${this.#maxDepth} at ${this.#place()}`;
      throw new LimitExceeded(message, { where: this.#what, reason: "json-depth" });
    }
    this.#at++;
  }

  #close<T>(value: T): T {
    this.#depth--;
    this.#at++;
    return value;
  }

  #string(): string {
    const text = this.#text;
    let start = ++this.#at;
    let value = "";
    for (;;) {
      let at = this.#at;
      let code = text.charCodeAt(at);
      while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) code = text.charCodeAt(++at);
      this.#at = at;
      if (code === QUOTE) {
        this.#at++;
        return start === at ? value : value + text.slice(start, at);
      }
      if (code !== BACKSLASH) throw this.#unexpected("the rest of a string");
      value += text.slice(start, at) + this.#escape();
      start = this.#at;
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? "";
    const plain = escapes[letter];
    if (plain !== undefined) {
      this.#at += 2;
      return plain;
    }
    const digits = this.#text.slice(this.#at + 2, this.#at + 6);
    if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#unexpected("an escape such as \\n or \\u00e9");
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  /** -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
  #number(): number | bigint {
    const text = this.#text;
    const start = this.#at;
    if (text.charCodeAt(start) === MINUS) {
      this.#at++;
      if (this.#tokens && text.charCodeAt(this.#at) === 0x49) return this.#word("Infinity", Number.NEGATIVE_INFINITY);
    }
    const leading = this.#at;
    const whole = this.#digits();
    if (text.charCodeAt(leading) === 0x30 && this.#at > leading + 1) {
      this.#at = leading + 1;
      throw this.#unexpected("no digit after a leading 0");
    }
    let code = text.charCodeAt(this.#at);
    const isInteger = code !== 0x2e && code !== 0x65 && code !== 0x45;
    if (isInteger && this.#at - leading <= 15) return leading === start ? whole : -whole;
    if (code === 0x2e) {
      this.#at++;
      this.#digits();
      code = text.charCodeAt(this.#at);
    }
    if (code === 0x65 || code === 0x45) {
      code = text.charCodeAt(++this.#at);
      if (code === 0x2b || code === MINUS) this.#at++;
      this.#digits();
    }
    const token = text.slice(start, this.#at);
    const number = Number(token);
    if (isInteger) return Number.isSafeInteger(number) ? number : this.#bigint(token, start);
    if (Number.isFinite(number)) return number;
    this.#at = start;
    throw this.#corrupt(`has the number ${token.slice(0, 40)}, beyond the range of float64`);
  }

  #bigint(token: string, start: number): bigint {
    if (token.length <= MAX_DIGITS) return BigInt(token);
    this.#at = start;
    const message = `${this.#what} has an integer of ${token.length} digits at ${this.#place()}, at most ${MAX_DIGITS} are allowed`;
    throw new LimitExceeded(message, { where: this.#what, reason: "json-digits" });
  }

  /** Skips one or more digits; their value is exact for up to 15 of them. */
  #digits(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    if (!isDigit(code)) throw this.#unexpected("a digit");
    let value = 0;
    do {
      value = value * 10 + (code - 0x30);
      code = text.charCodeAt(++at);
    } while (isDigit(code));
    this.#at = at;
    return value;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected("a value");
    this.#at += word.length;
    return value;
  }

  /** The code of the next character that is not white space; NaN at the end. */
  #next(): number {
    this.#space();
    return this.#text.charCodeAt(this.#at);
  }

  #space(): void {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
    this.#at = at;
  }

  #unexpected(expected: string): Corrupt {
    const found = this.#text[this.#at];
    return this.#corrupt(`should have ${expected}, found ${found === undefined ? "the end" : JSON.stringify(found)}`);
  }

  #corrupt(problem: string): Corrupt {
    return new Corrupt(`${this.#what}, as JSON, ${problem} at ${this.#place()}`, { where: this.#what });
  }

  #place(): string {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    return `line ${line}, column ${this.#at - before.lastIndexOf("\n")}`;
  }
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
