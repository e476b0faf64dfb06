/**
 * What the cells of a column are. Every cell is looked at once; then the column is of the narrowest type that loses nothing:
 *
 * | cells                                   | type                                                            |
 * |-----------------------------------------|-----------------------------------------------------------------|
 * | whole numbers                           | int64, uint64 where one needs it; empty cells are absent        |
 * | numbers                                 | float64; empty cells, NA, null and None are NaN                 |
 * | true, false                             | bool                                                            |
 * | [1, 2, 3] of the same length            | the same of their numbers, so many channels                     |
 * | [1, 2], [], 3, empty: relationships     | the same, as many channels as the longest; the rest is absent   |
 * | everything else, and 007                | text                                                            |
 *
 * Of coordinates, what is no number among numbers is NaN: damage, for which whoever reads them finds words.
 */
import { I64, U64 } from "../../bytes/u64.js";
import type { AttributeInfo } from "../../model/attributes.js";
import { RETURN, type Rows, SPACE, TAB } from "./csv-cells.js";
import { parseNumber } from "./text.js";

const INT = 1;
const NEGATIVE = 2;
const WIDE = 4;
const FLOAT = 8;
const BOOL = 16;
const EMPTY = 32;
const TEXT = 64;
const PADDED = 128;
const LIST = 256;

/** Adds what the cells of these rows are to what those before were. */
export function lookAt(
  rows: Rows,
  width: number,
  columns: readonly number[],
  kinds: Uint16Array,
  /** How many values the lists have, 1 where there are none. */
  lists: number[],
  /** Columns with lists of different lengths, of which it becomes the longest. */
  ragged: ReadonlySet<number>,
  /** Columns of coordinates, in which text is not the end of it. */
  coordinates: ReadonlySet<number>,
): void {
  for (const column of columns) {
    const stop = coordinates.has(column) ? 0 : TEXT;
    if (kinds[column]! & stop) continue;
    if (ragged.has(column)) {
      lookAtLists(rows, width, column, kinds, lists);
      continue;
    }
    const channels = lists[column]!;
    const inner = channels > 1 ? listRows(rows, width, column, channels) : rows;
    if (inner === undefined) kinds[column] = TEXT;
    else kinds[column]! |= channels > 1 ? LIST | kindIn(inner, 1, 0, TEXT) : kindIn(inner, width, column, stop);
  }
}

/** `lists` is 0 before the first row. */
function lookAtLists(rows: Rows, width: number, column: number, kinds: Uint16Array, lists: number[]): void {
  for (let row = 0; row < rows.count; row++) {
    const parts = partsAt(rows, row * width + column);
    if (parts === undefined) kinds[column]! |= TEXT;
    if (parts === undefined || kinds[column]! & TEXT) return;
    const length = parts.length / 2;
    if (length === 0)
      kinds[column]! |= INT | EMPTY; // no ids are no other type
    else if (length !== lists[column] && kinds[column] !== 0) kinds[column]! |= EMPTY;
    for (let at = 0; at < parts.length; at += 2) kinds[column]! |= kindOf(rows.bytes, parts[at]!, parts[at + 1]!);
    lists[column] = Math.max(lists[column]!, length);
  }
}

function kindIn({ bytes, cells, count }: Rows, width: number, column: number, stop: number): number {
  let kind = 0;
  for (let row = 0, at = 2 * column; row < count && (kind & stop) === 0; row++, at += 2 * width) {
    const to = cells[at + 1]!;
    kind |= to < 0 ? TEXT : kindOf(bytes, cells[at]!, to);
  }
  return kind;
}

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB || byte === RETURN;

function kindOf(bytes: Uint8Array, begin: number, end: number): number {
  let from = begin;
  let to = end;
  while (from < to && isBlank(bytes[from])) from++;
  while (from < to && isBlank(bytes[to - 1])) to--;
  if (from === to) return EMPTY;
  let at = from;
  const sign = bytes[at];
  if (sign === 0x2d || sign === 0x2b) at++;
  const start = at;
  while (at < to && (bytes[at]! - 48) >>> 0 < 10) at++;
  const digits = at - start;
  if (at === to && digits > 0) return wholeKind(bytes, from, start, to);
  let fraction = 0;
  if (bytes[at] === 0x2e) {
    const point = ++at;
    while (at < to && (bytes[at]! - 48) >>> 0 < 10) at++;
    fraction = at - point;
  }
  if (digits + fraction > 0) {
    if (at === to) return FLOAT;
    if ((bytes[at]! | 32) === 0x65) {
      at++;
      if (bytes[at] === 0x2d || bytes[at] === 0x2b) at++;
      const power = at;
      while (at < to && (bytes[at]! - 48) >>> 0 < 10) at++;
      if (at === to && at > power) return FLOAT;
    }
    return TEXT;
  }
  return to - from > 9 ? TEXT : wordKind(String.fromCharCode(...bytes.subarray(from, to)));
}

function wholeKind(bytes: Uint8Array, from: number, start: number, to: number): number {
  const digits = to - start;
  const minus = bytes[from] === 0x2d;
  if (bytes[start] === 48) return digits > 1 ? PADDED : minus ? FLOAT : INT; // −0 is no whole number
  if (digits < 19) return minus ? INT | NEGATIVE : INT;
  if (digits > 24) return TEXT;
  const text = String.fromCharCode(...bytes.subarray(start, to));
  const value = BigInt(text);
  if (value <= I64.MAX || (minus && -value === I64.MIN)) return minus ? INT | NEGATIVE : INT;
  if (value <= U64.MAX && !minus) return INT | WIDE;
  return String(Number(text)) === text ? FLOAT : TEXT; // a float without its point, or a number that none holds
}

function wordKind(word: string): number {
  if (/^[+-]?(nan|inf|infinity)$/i.test(word)) return FLOAT;
  if (/^(NA|N\/A|null|NULL|None)$/.test(word)) return EMPTY | BOOL; // text among texts, nothing among numbers
  return /^(true|false)$/i.test(word) ? BOOL : TEXT;
}

const NUMBER = 8;

/** What the column is of which all of this was seen. */
export function typeOfKinds(name: string, kind: number, channels: number): AttributeInfo {
  const float = { name, dtype: { kind: "float", size: NUMBER, endian: "little" }, channels: 1 } as const;
  const text = { name, dtype: { kind: "string" }, channels: 1 } as const;
  const isNumber = (kind & (INT | FLOAT | PADDED)) !== 0;
  const words = (kind & (BOOL | EMPTY)) === (BOOL | EMPTY);
  if (kind & TEXT) return text;
  if (kind & LIST) {
    const element = typeOfKinds(name, kind & ~LIST, 1);
    return element.dtype.kind === "string" || element.dtype.kind === "bool" ? text : { ...element, channels };
  }
  if (kind & BOOL && !isNumber) return words ? text : { name, dtype: { kind: "bool", size: 1 }, channels: 1 };
  if (kind & BOOL && !words) return text;
  if (kind & FLOAT || !isNumber) return float;
  if (kind & PADDED || (kind & WIDE && kind & NEGATIVE)) return text;
  const wide = (kind & WIDE) !== 0;
  const absent = kind & EMPTY ? { absent: wide ? U64.MAX : I64.MIN } : {};
  return { ...float, dtype: { kind: wide ? "uint" : "int", size: NUMBER, endian: "little" }, ...absent };
}

/** The same of a column of coordinates: numbers, where one cell has one. */
export function typeOfCoordinates(name: string, kind: number, channels: number): AttributeInfo {
  const info = typeOfKinds(name, kind, channels);
  const isNumber = info.dtype.kind !== "string" && info.dtype.kind !== "bool";
  return isNumber || kind & LIST || (kind & (INT | FLOAT | PADDED)) === 0 ? info : typeOfKinds(name, FLOAT, 1);
}

/** Where the parts of a list such as [1, 2.5, 3] or (1 2 3) are, from and to of each; undefined where it is none. */
export function listAt(bytes: Uint8Array, from: number, to: number): number[] | undefined {
  const parts: number[] = [];
  let [at, end] = [from, to];
  while (at < end && isBlank(bytes[at])) at++;
  while (at < end && isBlank(bytes[end - 1])) end--;
  const open = bytes[at];
  if (end - at < 2 || (open !== 0x5b && open !== 0x28) || bytes[end - 1] !== (open === 0x5b ? 0x5d : 0x29))
    return undefined;
  for (at++, end--; ; at++) {
    while (at < end && isBlank(bytes[at])) at++;
    const start = at;
    while (at < end && bytes[at] !== COMMA && !isBlank(bytes[at])) at++;
    if (at === start) return at === end && parts.length === 0 ? parts : undefined;
    parts.push(start, at);
    while (at < end && isBlank(bytes[at])) at++;
    if (at >= end) return parts;
    if (bytes[at] !== COMMA) at--; // blanks alone separate as well
  }
}

const COMMA = 0x2c;

/** The parts of the lists in a column, one below the other as a column of their own; undefined where not all are lists of so many. */
export function listRows({ bytes, cells, count, end }: Rows, width: number, column: number, channels: number) {
  const inner = new Int32Array(2 * channels * count);
  for (let row = 0, at = 2 * column; row < count; row++, at += 2 * width) {
    const parts = listAt(bytes, cells[at]!, cells[at + 1]!);
    if (parts?.length !== 2 * channels) return undefined;
    inner.set(parts, 2 * channels * row);
  }
  return { bytes, cells: inner, count: count * channels, end };
}

/** The same of lists of different lengths, none of them longer than `channels`: behind the end of each are empty cells. */
export function raggedRows(rows: Rows, width: number, column: number, channels: number): Rows | undefined {
  const inner = new Int32Array(2 * channels * rows.count);
  for (let row = 0; row < rows.count; row++) {
    const parts = partsAt(rows, row * width + column);
    if (parts === undefined || parts.length > 2 * channels) return undefined;
    inner.set(parts, 2 * channels * row);
  }
  return { bytes: rows.bytes, cells: inner, count: rows.count * channels, end: rows.end };
}

/** The parts of cell i: of a list those that are not null, else the cell, where it is not empty. */
function partsAt({ bytes, cells }: Rows, i: number): readonly number[] | undefined {
  const [from, to] = [cells[2 * i]!, cells[2 * i + 1]!];
  if (to < 0) return undefined; // with quotes in it
  const parts = listAt(bytes, from, to) ?? [from, to];
  const isNone = (at: number): boolean => (kindOf(bytes, parts[at]!, parts[at + 1]!) & EMPTY) !== 0;
  for (let at = 0; at < parts.length; at += 2) if (isNone(at)) return parts.filter((_, k) => !isNone(k - (k % 2)));
  return parts;
}

/** A column of numbers; what is none is NaN. */
export function numbersAt({ bytes, cells, count }: Rows, width: number, column: number): Float64Array {
  const out = new Float64Array(count);
  for (let row = 0, at = 2 * column; row < count; row++, at += 2 * width) {
    let from = cells[at]!;
    let to = cells[at + 1]!;
    while (from < to && isBlank(bytes[from])) from++;
    while (from < to && isBlank(bytes[to - 1])) to--;
    out[row] = to < 0 ? Number.NaN : parseNumber(bytes, from, to); // below 0: with quotes in it
  }
  return out;
}

/** A column of whole numbers, all 64 bits exact; what is none is `absent`. */
export function integersAt(
  { bytes, cells, count }: Rows,
  width: number,
  column: number,
  out: BigInt64Array | BigUint64Array,
  absent: bigint,
): void {
  const words = new Uint32Array(out.buffer, out.byteOffset);
  for (let row = 0, at = 2 * column; row < count; row++, at += 2 * width) {
    let from = cells[at]!;
    let to = cells[at + 1]!;
    while (from < to && isBlank(bytes[from])) from++;
    while (from < to && isBlank(bytes[to - 1])) to--;
    const minus = bytes[from] === 0x2d;
    if (minus || bytes[from] === 0x2b) from++;
    if (from >= to || (bytes[from]! - 48) >>> 0 > 9) {
      out[row] = absent;
      continue;
    }
    const middle = Math.max(from, to - 9);
    let head = 0;
    let tail = 0;
    for (let i = from; i < middle; i++) head = head * 10 + bytes[i]! - 48;
    for (let i = middle; i < to; i++) tail = tail * 10 + bytes[i]! - 48;
    // head × 10^9 + tail in parts that doubles hold exactly: at most 20 digits came this far.
    const upper = Math.floor(head / 65536) * 1e9;
    const lower = (head % 65536) * 1e9 + tail + (upper % 65536) * 65536;
    let low = lower % 2 ** 32;
    let high = Math.floor(upper / 65536) + Math.floor(lower / 2 ** 32);
    if (minus) {
      low = low === 0 ? 0 : 2 ** 32 - low;
      high = 2 ** 32 - high - (low === 0 ? 0 : 1);
    }
    words[2 * row] = low;
    words[2 * row + 1] = high;
  }
}
