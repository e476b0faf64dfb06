/**
 * A checked `--where` over columns: one mask per condition, masks combined, in blocks that stay in the processor's cache.
 *
 * Values of up to 53 bits are brought to doubles first, with NaN for what is absent: one loop per test then serves all
 * types, compiled by the engine for one type of array and not for ten. 64-bit integers have loops of their own.
 */
import { halfToNumber } from "../bytes/half.js";
import { I64 } from "../bytes/u64.js";
import { isBig } from "../codec/numeric.js";
import type { NumericArray } from "../codec/types.js";
import { InvalidInput } from "../errors.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Checked, Leaf, Node } from "./where-check.js";
import { atPrecision, comparedAs, type Test, type TextTest } from "./where-test.js";

/**
 * The values of an attribute for the rows of an evaluation. With an index, that of a coarser domain: row i has the values of
 * the column's row `index[i]`, and none where that is -1 (2^32 - 1 in a Uint32Array).
 */
export interface ColumnRows {
  readonly column: Column;
  readonly index?: Uint32Array | Int32Array;
}

type BigArray = BigInt64Array | BigUint64Array;
type NumberArray = Exclude<NumericArray, BigArray>;
/** Fills the mask of the rows from `start` on. */
type Step = (start: number, mask: Uint8Array) => void;

const BLOCK = 4096;
// One block of one condition at a time goes through these; nothing stays in them between two.
const places = new Float64Array(BLOCK);
const numbers = new Float64Array(BLOCK);

/** Fills the first `count` of `out` with 1 where the row matches, else 0. `columns` are by `attributeKey`. */
export function evaluate(
  checked: Checked,
  columns: ReadonlyMap<string, ColumnRows>,
  count: number,
  out: Uint8Array,
): void {
  if (out.length < count) throw new InvalidInput(`the mask has room for ${out.length} rows, ${count} are asked for`);
  const step = bind(checked.node, columns, count);
  for (let start = 0; start < count; start += BLOCK) step(start, out.subarray(start, Math.min(start + BLOCK, count)));
}

function bind(node: Node, columns: ReadonlyMap<string, ColumnRows>, count: number): Step {
  if (node.op === "test") return bindLeaf(node, rowsOf(node, columns, count));
  if (node.op === "not") {
    const step = bind(node.arg, columns, count);
    return (start, mask) => {
      step(start, mask);
      for (let i = 0; i < mask.length; i++) mask[i]! ^= 1;
    };
  }
  const [first, ...rest] = node.args.map((arg) => bind(arg, columns, count));
  const room = new Uint8Array(Math.min(BLOCK, count));
  const isAnd = node.op === "and";
  return (start, mask) => {
    first!(start, mask);
    const other = room.subarray(0, mask.length);
    for (const step of rest) {
      if (!mask.includes(isAnd ? 1 : 0)) return; // every row is decided
      step(start, other);
      if (isAnd) for (let i = 0; i < mask.length; i++) mask[i]! &= other[i]!;
      else for (let i = 0; i < mask.length; i++) mask[i]! |= other[i]!;
    }
  };
}

/** The column that a test is about, found to be what the schema said. */
function rowsOf({ key, info, channel }: Leaf, columns: ReadonlyMap<string, ColumnRows>, count: number): ColumnRows {
  const rows = columns.get(key);
  if (rows === undefined) throw new InvalidInput(`the where expression needs the column ${key}`);
  const { info: found, values } = rows.column;
  const name = (attribute: AttributeInfo): string => {
    const { dtype } = attribute;
    return comparedAs(attribute) === "text" ? "text" : `${dtype.kind}${"size" in dtype ? 8 * dtype.size : ""}`;
  };
  if (name(found) !== name(info))
    throw new InvalidInput(`the column ${key} should be ${name(info)} as in the schema, found ${name(found)}`);
  const stored = !ArrayBuffer.isView(values) ? "text" : isBig(values) ? "bigint" : "number";
  const expected = found.categories === undefined ? comparedAs(found) : "number";
  if (stored !== expected)
    throw new InvalidInput(`the values of ${key} should be of type ${expected}, found ${stored}`);
  if (found.channels <= channel)
    throw new InvalidInput(`the column ${key} has ${found.channels} channels, [${channel}] is asked for`);
  const length = rows.index?.length ?? Math.floor(values.length / found.channels);
  if (length < count) throw new InvalidInput(`the column ${key} has ${length} rows, ${count} are asked for`);
  return rows;
}

function bindLeaf({ key, test, channel }: Leaf, { column, index }: ColumnRows): Step {
  const { info, values } = column;
  const locate = (start: number, length: number): void => {
    if (index === undefined) for (let i = 0; i < length; i++) places[i] = (start + i) * info.channels + channel;
    else locateIndexed(index.subarray(start, start + length), info.channels, channel, values.length, key);
  };
  if (!ArrayBuffer.isView(values)) {
    return (start, mask) => {
      locate(start, mask.length);
      testTexts(test, values as readonly string[], info.absent, mask);
    };
  }
  if (isBig(values)) {
    const absent = bigAbsent(info);
    return (start, mask) => {
      locate(start, mask.length);
      testBigs(test, values, absent, mask);
    };
  }
  const absent = numberAbsent(info);
  const isDense = index === undefined && info.channels === 1;
  const codes = test.kind === "text" ? codesOf(test, info.categories!) : undefined;
  return (start, mask) => {
    if (isDense) numbers.set(values.subarray(start, start + mask.length));
    else {
      locate(start, mask.length);
      gather(values, mask.length);
    }
    settle(info, absent, mask.length);
    if (codes === undefined) testNumbers(test, mask);
    else testCodes(codes, mask);
  };
}

/** The places of a block's values; -1 for none. */
function locateIndexed(
  index: Uint32Array | Int32Array,
  channels: number,
  channel: number,
  length: number,
  key: string,
): void {
  for (let i = 0; i < index.length; i++) {
    const row = index[i]!;
    const isNone = row === -1 || row === 0xffffffff;
    const place = isNone ? -1 : row * channels + channel;
    if (!isNone && (row < 0 || place >= length))
      throw new InvalidInput(
        `an index refers to row ${row} of ${key}, which has ${Math.floor(length / channels)} rows`,
      );
    places[i] = place;
  }
}

function gather(values: NumberArray, length: number): void {
  for (let i = 0; i < length; i++) {
    const place = places[i]!;
    numbers[i] = place < 0 ? Number.NaN : values[place]!;
  }
}

/** Makes the values of a block in `numbers` what they stand for, and NaN where that is nothing. */
function settle({ dtype, categories }: AttributeInfo, absent: number | undefined, length: number): void {
  if (dtype.kind === "float" && dtype.size === 2) {
    for (let i = 0; i < length; i++) if (!Number.isNaN(numbers[i])) numbers[i] = halfToNumber(numbers[i]!);
  }
  if (absent !== undefined) {
    for (let i = 0; i < length; i++) if (numbers[i] === absent) numbers[i] = Number.NaN;
  }
  // Any byte but 0 is true.
  if (dtype.kind === "bool") for (let i = 0; i < length; i++) numbers[i] = Math.min(numbers[i]!, 1);
  if (categories !== undefined) {
    const end = categories.length;
    for (let i = 0; i < length; i++) if (numbers[i]! < 0 || numbers[i]! >= end) numbers[i] = Number.NaN;
  }
}

function testNumbers(test: Test, mask: Uint8Array): void {
  if (test.kind === "absent") {
    for (let i = 0; i < mask.length; i++) mask[i] = Number.isNaN(numbers[i]) ? 1 : 0;
  } else if (test.kind === "range") {
    const { low, high, negate } = test;
    for (let i = 0; i < mask.length; i++) {
      const value = numbers[i]!;
      const inside = value >= low && value <= high;
      mask[i] = inside !== negate && !Number.isNaN(value) ? 1 : 0;
    }
  } else if (test.kind === "set") {
    const { values, negate } = test;
    for (let i = 0; i < mask.length; i++) {
      const value = numbers[i]!;
      mask[i] = values.has(value) !== negate && !Number.isNaN(value) ? 1 : 0;
    }
  }
}

function testCodes(codes: Uint8Array, mask: Uint8Array): void {
  for (let i = 0; i < mask.length; i++) mask[i] = Number.isNaN(numbers[i]) ? 0 : codes[numbers[i]!]!;
}

function testBigs(test: Test, values: BigArray, absent: bigint | undefined, mask: Uint8Array): void {
  if (test.kind === "big-range") {
    const { low, high, negate } = test;
    for (let i = 0; i < mask.length; i++) {
      const place = places[i]!;
      const value = place < 0 ? absent : values[place]!;
      mask[i] = 0;
      if (value === undefined || value === absent) continue;
      const inside = value >= low && value <= high;
      mask[i] = inside !== negate ? 1 : 0;
    }
  } else {
    for (let i = 0; i < mask.length; i++) {
      const value = places[i]! < 0 ? absent : values[places[i]!]!;
      const isAbsent = value === undefined || value === absent;
      if (test.kind === "set") mask[i] = !isAbsent && test.values.has(value) !== test.negate ? 1 : 0;
      else mask[i] = isAbsent ? 1 : 0;
    }
  }
}

function testTexts(test: Test, values: readonly string[], absent: AttributeInfo["absent"], mask: Uint8Array): void {
  for (let i = 0; i < mask.length; i++) {
    const value = places[i]! < 0 ? undefined : values[places[i]!];
    const isAbsent = value === undefined || value === absent;
    mask[i] = (test.kind === "text" ? !isAbsent && test.matches(value) : isAbsent) ? 1 : 0;
  }
}

function numberAbsent({ dtype, absent, categories }: AttributeInfo): number | undefined {
  if (typeof absent === "string") return categories?.indexOf(absent);
  return absent === undefined ? undefined : atPrecision(Number(absent), dtype);
}

function bigAbsent({ dtype, absent }: AttributeInfo): bigint | undefined {
  if (absent === undefined) return dtype.kind === "datetime" || dtype.kind === "timedelta" ? I64.MIN : undefined;
  return typeof absent === "number" && Number.isInteger(absent)
    ? BigInt(absent)
    : typeof absent === "bigint"
      ? absent
      : undefined;
}

/** 1 for each code of a dictionary whose string matches; the chunks of one dictionary share one table. */
export function codesOf({ matches, codes }: TextTest, categories: readonly string[]): Uint8Array {
  const known = codes.get(categories);
  if (known !== undefined) return known;
  const table = Uint8Array.from(categories, (category) => (matches(category) ? 1 : 0));
  codes.set(categories, table);
  return table;
}
