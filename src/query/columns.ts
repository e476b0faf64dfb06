/**
 * Columns that are put together from pieces, and picked apart again. Values are moved as words of 1, 2 or 4 bytes, whatever
 * they are: three compiled loops serve all types, and the bits of a NaN stay what they were.
 */
import { type FixedDataType, isFixed } from "../bytes/dtype.js";
import { halfToNumber, numberToHalf } from "../bytes/half.js";
import { room } from "../bytes/room.js";
import { bytesOf, isBig } from "../codec/numeric.js";
import type { NumericArray } from "../codec/types.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import { typed } from "../model/elements.js";
import type { Columns } from "../model/vectors.js";
import { comparedAs } from "./where-test.js";

type Values = Column["values"];
type Words = Uint8Array | Uint16Array | Uint32Array;

/** Values of the same type as these, `count` of them. */
export function roomLike<T extends Values>(values: T, count: number): T {
  if (Array.isArray(values)) return new Array<string>(count).fill("") as unknown as T;
  return room(values.constructor as typeof Uint8Array, count) as unknown as T;
}

/** Runs of rows of one array that go to rows of another: run f is `offsets[f + 1] − offsets[f]` rows (1 without offsets). */
export interface Runs {
  /** The runs in question are order[first] up to order[last]. */
  readonly order: Uint32Array;
  readonly first: number;
  readonly last: number;
  /** Where a run starts in the source. */
  readonly from: Uint32Array;
  /** Where it starts in the target; without, run f is row f. */
  readonly offsets: Uint32Array | undefined;
}

/** Columns of a fixed number of rows that are filled piece by piece; a column comes into being with its first piece. */
export class ColumnsBuilder {
  readonly #rows: number;
  readonly #columns = new Map<string, { info: AttributeInfo; values: Values; covered: number }>();

  constructor(rows: number) {
    this.#rows = rows;
  }

  /** The column to put `rows` rows into; what is never put stays absent. */
  #column(name: string, { info, values }: Column, rows: number): Values {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = { info, values: roomLike(values, this.#rows * info.channels), covered: 0 };
      if (rows < this.#rows) fillAbsent(column.values, info);
      this.#columns.set(name, column);
    }
    column.covered += rows;
    return column.values;
  }

  /** Rows from … from + count of these columns come to row `at`. */
  put(columns: Columns, from: number, count: number, at: number): void {
    for (const [name, own] of columns) {
      const { channels } = own.info;
      const to = this.#column(name, own, count);
      if (Array.isArray(own.values)) {
        for (let i = 0; i < count * channels; i++)
          (to as string[])[at * channels + i] = own.values[from * channels + i]!;
      } else {
        const values = own.values as Uint8Array;
        (to as Uint8Array).set(values.subarray(from * channels, (from + count) * channels), at * channels);
      }
    }
  }

  /** Rows of these columns, `rows` in all, go where the runs say. */
  scatter(columns: Columns, runs: Runs, rows: number): void {
    for (const [name, own] of columns) copyRuns(own.values, this.#column(name, own, rows), own.info.channels, runs);
  }

  done(): Columns {
    const out = new Map<string, Column>();
    for (const [name, { info, values, covered }] of this.#columns) {
      const whole = covered >= this.#rows || info.absent !== undefined;
      out.set(name, { info: whole ? info : { ...info, absent: absentOf(info) }, values });
    }
    return out;
  }
}

function fillAbsent(values: Values, info: AttributeInfo): void {
  const none = absentValue(info);
  const isBigInt = !Array.isArray(values) && isBig(values as NumericArray);
  (values as unknown[]).fill(isBigInt && typeof none === "number" ? BigInt(none) : none);
}

/** Copies rows of `channels` values. */
export function copyRuns(from: Values, to: Values, channels: number, runs: Runs): void {
  if (Array.isArray(from)) copyTexts(from, to as string[], channels, runs);
  else {
    const source = wordsOf(from as NumericArray);
    copyWords(source, wordsOf(to as NumericArray), (channels * source.length) / from.length || 0, runs);
  }
}

const LONG = 64; // words, from where on the engine's own copy is faster than a loop

function copyWords(source: Words, target: Words, width: number, { order, first, last, from, offsets }: Runs): void {
  for (let i = first; i < last; i++) {
    const run = order[i]!;
    const start = from[run]! * width;
    const at = (offsets === undefined ? run : offsets[run]!) * width;
    const size = offsets === undefined ? width : (offsets[run + 1]! - offsets[run]!) * width;
    if (size > LONG) target.set(source.subarray(start, start + size), at);
    else for (let k = 0; k < size; k++) target[at + k] = source[start + k]!;
  }
}

function copyTexts(source: readonly string[], target: string[], channels: number, runs: Runs): void {
  const { order, first, last, from, offsets } = runs;
  for (let i = first; i < last; i++) {
    const run = order[i]!;
    const at = (offsets === undefined ? run : offsets[run]!) * channels;
    const size = (offsets === undefined ? 1 : offsets[run + 1]! - offsets[run]!) * channels;
    for (let k = 0; k < size; k++) target[at + k] = source[from[run]! * channels + k]!;
  }
}

function wordsOf(values: NumericArray): Words {
  const { buffer, byteOffset, byteLength } = bytesOf(values);
  if (values.BYTES_PER_ELEMENT === 1) return new Uint8Array(buffer, byteOffset, byteLength);
  if (values.BYTES_PER_ELEMENT === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

/** The rows of an array of `channels` values each, in the order given. */
export function pick<T extends Values>(values: T, channels: number, rows: ArrayLike<number>): T {
  const out = roomLike(values, rows.length * channels);
  if (Array.isArray(values)) {
    for (let i = 0; i < rows.length; i++)
      for (let c = 0; c < channels; c++)
        (out as unknown as string[])[i * channels + c] = values[rows[i]! * channels + c];
    return out;
  }
  const source = wordsOf(values as NumericArray);
  const width = (channels * source.length) / values.length || 0;
  pickWords(source, wordsOf(out as NumericArray), width, rows);
  return out;
}

function pickWords(source: Words, target: Words, width: number, rows: ArrayLike<number>): void {
  if (width === 1) {
    for (let i = 0; i < rows.length; i++) target[i] = source[rows[i]!]!;
    return;
  }
  for (let i = 0, at = 0; i < rows.length; i++) {
    const start = rows[i]! * width;
    for (let k = 0; k < width; k++) target[at++] = source[start + k]!;
  }
}

/** The rows of columns, in the order given. */
export function pickRows(columns: Columns, rows: ArrayLike<number>): Columns {
  const out = new Map<string, Column>();
  for (const [name, { info, values }] of columns) out.set(name, { info, values: pick(values, info.channels, rows) });
  return out;
}

/** The column with so many rows, of which the last may have no value; none of them has where there is no column. */
export function padded(column: Column | undefined, info: AttributeInfo, rows: number): Column {
  if (column === undefined) return absentColumn(info, rows);
  if (column.values.length >= rows * column.info.channels) return column;
  const { info: own, values } = column;
  const longer = roomLike(values, rows * own.channels);
  fillAbsent(longer, own);
  if (Array.isArray(values)) for (let i = 0; i < values.length; i++) (longer as unknown as string[])[i] = values[i];
  else (longer as Uint8Array).set(values as Uint8Array);
  return { info: { ...own, absent: absentOf(own) }, values: longer };
}

/** A column in which no row has a value. */
export function absentColumn(info: AttributeInfo, rows: number): Column {
  const { dtype, channels } = info;
  const size = rows * channels;
  const isText = info.categories === undefined && (comparedAs(info) === "text" || !isFixed(dtype));
  const values = isText
    ? new Array<string>(size)
    : typed({ shape: [size], dtype, data: new Uint8Array(size * (dtype as FixedDataType).size) });
  fillAbsent(values, info);
  return { info: rows === 0 ? info : { ...info, absent: absentOf(info) }, values };
}

/** A column whose values are numbers where they were the bits of float16: they are float32. */
export function widened<C extends Column | undefined>(column: C): C {
  if (column === undefined) return column;
  const { info, values } = column;
  if (info.categories !== undefined || info.dtype.kind !== "float" || info.dtype.size !== 2) return column;
  return {
    info: { ...info, dtype: { ...info.dtype, size: 4 } },
    values: Float32Array.from(values as Uint16Array, halfToNumber),
  } as C;
}

/** Columns without rows, of the type that conditions expect. */
export function noValues(info: AttributeInfo): Values {
  const as = info.categories === undefined ? comparedAs(info) : "number";
  return as === "text" ? [] : as === "bigint" ? new BigInt64Array() : new Float64Array();
}

/** What stands for "none" among the values as they are kept: of a float16 its bits. */
export function absentValue(info: AttributeInfo): number | bigint | string {
  const none = absentOf(info);
  const { dtype } = info;
  return dtype.kind === "float" && dtype.size === 2 ? numberToHalf(Number(none)) : none;
}

/** The value that stands for "none" in a type, where the attribute does not say: as stores mark what objects do not have. */
function absentOf({ dtype, absent, categories }: AttributeInfo): number | bigint | string {
  if (typeof absent === "string" && categories !== undefined) return categories.indexOf(absent);
  if (absent !== undefined) return absent;
  const size = "size" in dtype ? dtype.size : 0;
  switch (dtype.kind) {
    case "float":
    case "complex":
      return Number.NaN;
    case "uint":
      if (categories !== undefined && categories.length < 2 ** (8 * size) - 1) return categories.length;
      return size === 8 ? 2n ** 64n - 1n : 2 ** (8 * size) - 1;
    case "int":
      if (categories !== undefined) return -1;
      return size === 8 ? -(2n ** 63n) : -(2 ** (8 * size - 1));
    case "datetime":
    case "timedelta":
      return -(2n ** 63n);
    case "bool":
      return 255;
    default:
      return "";
  }
}
