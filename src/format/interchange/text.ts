/**
 * Text files: blocks of whole lines, and a scanner that takes words and numbers from bytes without a string for each. A decimal number
 * of up to 15 digits is exact in a double, as are powers of ten up to 22: their product or quotient is rounded once, and so is
 * right. Everything else goes the way of `Number`.
 */
import { Corrupt, LimitExceeded } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";

/** Whole lines of a file. */
export interface TextBlock {
  readonly bytes: Uint8Array;
  /** Where they begin in the file. */
  readonly offset: number;
  /** The number of the first line, from 1. */
  readonly line: number;
}

const [TAB, NEWLINE, RETURN, SPACE] = [9, 10, 13, 32];

/** A file in blocks of whole lines. A line that does not fit into `limits.chunkBytes` is LimitExceeded. */
export async function* textBlocks(file: InputFile, options: ReadOptions = {}, offset = 0): AsyncGenerator<TextBlock> {
  const most = options.limits?.chunkBytes ?? defaultLimits.chunkBytes;
  let rest = new Uint8Array();
  let [line, at] = [1, offset];
  for await (const next of file.stream(offset, options)) {
    const bytes = rest.length === 0 ? next : joined(rest, next);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (bytes.length - end > most)
      throw new LimitExceeded(`${file.where}: line ${line} has more than the ${most} bytes of limits.chunkBytes`);
    if (end > 0) {
      yield { bytes: bytes.subarray(0, end), offset: at, line };
      line += countLines(bytes, end);
      at += end;
    }
    rest = bytes.slice(end);
  }
  if (rest.length > 0) yield { bytes: rest, offset: at, line };
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** The line ends in the first `end` bytes. */
export function countLines(bytes: Uint8Array, end = bytes.length): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/** Takes words and numbers from lines. */
export class Scanner {
  at = 0;
  line: number;
  bytes: Uint8Array;
  readonly where: string;

  constructor({ bytes, line = 1 }: { readonly bytes: Uint8Array; readonly line?: number }, where: string) {
    this.bytes = bytes;
    this.line = line;
    this.where = where;
  }

  /** Past blanks; whether the line ends there. */
  ends(): boolean {
    const { bytes } = this;
    let byte = bytes[this.at];
    while (byte === SPACE || byte === TAB || byte === RETURN) byte = bytes[++this.at];
    return byte === NEWLINE || byte === undefined;
  }

  /** To the start of the next line; false where the text ends. */
  next(): boolean {
    const end = this.bytes.indexOf(NEWLINE, this.at);
    this.at = end < 0 ? this.bytes.length : end + 1;
    this.line++;
    return this.at < this.bytes.length;
  }

  /** The byte that comes, past blanks; undefined at the end of the text. */
  peek(): number | undefined {
    this.ends();
    return this.bytes[this.at];
  }

  /** The place where the next word ends; the scanner stays at its start. */
  wordEnd(): number {
    this.ends();
    let end = this.at;
    const { bytes } = this;
    while (end < bytes.length && bytes[end]! > SPACE) end++;
    return end;
  }

  /** The next word of the line; "" where there is none. */
  word(): string {
    const end = this.wordEnd();
    const text = latin(this.bytes, this.at, end);
    this.at = end;
    return text;
  }

  /** The rest of the line, without blanks around it. */
  rest(): string {
    this.ends();
    const found = this.bytes.indexOf(NEWLINE, this.at);
    const end = found < 0 ? this.bytes.length : found;
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, end));
    this.at = end;
    return text.trim();
  }

  /** The next word as a number. */
  number(what: string): number {
    const end = this.wordEnd();
    const value = parseNumber(this.bytes, this.at, end);
    if (Number.isNaN(value) && !/^[+-]?nan$/i.test(latin(this.bytes, this.at, end))) throw this.unexpected(what, end);
    this.at = end;
    return value;
  }

  /** The next word as a whole number. */
  integer(what: string): number {
    const end = this.wordEnd();
    const value = parseNumber(this.bytes, this.at, end);
    if (!Number.isSafeInteger(value)) throw this.unexpected(what, end);
    this.at = end;
    return value;
  }

  /** An error about this line. */
  corrupt(message: string): Corrupt {
    return new Corrupt(`${this.where}, line ${this.line}: ${message}`, { where: this.where });
  }

  private unexpected(what: string, end: number): Corrupt {
    const found = end > this.at ? JSON.stringify(latin(this.bytes, this.at, Math.min(end, this.at + 40))) : "nothing";
    return this.corrupt(`${found} where ${what} was expected`);
  }
}

const latin = (bytes: Uint8Array, from: number, to: number): string =>
  to - from < 64
    ? String.fromCharCode(...bytes.subarray(from, to))
    : new TextDecoder().decode(bytes.subarray(from, to));

const POWERS = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** The number that these bytes spell; NaN where they spell none. */
export function parseNumber(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  const sign = bytes[at];
  if (sign === 0x2d || sign === 0x2b) at++;
  let [digits, value, scale] = [0, 0, 0];
  const first = at;
  for (; at < to; at++) {
    const digit = bytes[at]! - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    if (value > 0) digits++;
  }
  let any = at > first;
  if (at < to && bytes[at] === 0x2e) {
    const point = ++at;
    for (; at < to; at++) {
      const digit = bytes[at]! - 48;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      if (value > 0) digits++;
    }
    scale = point - at;
    any ||= at > point;
  }
  if (!any) return slowNumber(bytes, from, to);
  if (at < to && (bytes[at]! | 32) === 0x65) {
    let power = 0;
    const minus = bytes[++at] === 0x2d;
    if (minus || bytes[at] === 0x2b) at++;
    const begin = at;
    for (; at < to && at < begin + 4; at++) {
      const digit = bytes[at]! - 48;
      if (digit < 0 || digit > 9) break;
      power = power * 10 + digit;
    }
    if (at === begin) return Number.NaN;
    scale += minus ? -power : power;
  }
  if (at !== to || digits > 15 || scale < -22 || scale > 22) return slowNumber(bytes, from, to);
  const size = scale < 0 ? value / POWERS[-scale]! : value * POWERS[scale]!;
  return sign === 0x2d ? -size : size;
}

function slowNumber(bytes: Uint8Array, from: number, to: number): number {
  const text = latin(bytes, from, to);
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite === null) return Number.NaN;
  return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
