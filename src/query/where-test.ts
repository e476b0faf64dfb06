/**
 * What a condition of `--where` asks of the values that an attribute stores.
 *
 * Comparisons of numbers all become one closed interval, or its outside for `!=`: `x < v` is `x <= the next double below v`
 * for a number; for a 64-bit integer the bounds are whole, as bigint, so that nothing is ever rounded.
 */
import type { DataType } from "../bytes/dtype.js";
import { halfToNumber, numberToHalf } from "../bytes/half.js";
import { I64, U64 } from "../bytes/u64.js";
import { InvalidInput } from "../errors.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Comparison, Condition, Literal } from "./where.js";
import { formatLiteral } from "./where-text.js";

/** What is asked of a value that is there; `absent` asks whether it is not. */
export type Test =
  | { readonly kind: "absent" }
  | { readonly kind: "range"; readonly low: number; readonly high: number; readonly negate: boolean }
  | { readonly kind: "big-range"; readonly low: bigint; readonly high: bigint; readonly negate: boolean }
  | { readonly kind: "set"; readonly values: ReadonlySet<number | bigint>; readonly negate: boolean }
  | TextTest;

export interface TextTest {
  readonly kind: "text";
  readonly matches: (value: string) => boolean;
  /** For each dictionary that was met: 1 for each code whose string matches. */
  readonly codes: WeakMap<readonly string[], Uint8Array>;
}

const textTest = (matches: TextTest["matches"]): TextTest => ({ kind: "text", matches, codes: new WeakMap() });

/** How the values of an attribute are compared. */
export function comparedAs({ dtype, categories }: AttributeInfo): "text" | "number" | "bigint" | undefined {
  if (categories !== undefined) return "text";
  switch (dtype.kind) {
    case "string":
    case "bytes":
    case "utf32":
      return "text";
    case "bool":
    case "float":
      return "number";
    case "int":
    case "uint":
      return dtype.size === 8 ? "bigint" : "number";
    case "datetime":
    case "timedelta":
      return "bigint";
    default:
      return undefined;
  }
}

/** The test of a condition on an attribute, which messages call `name`. */
export function testOf(condition: Condition, info: AttributeInfo, name: string): Test {
  const as = comparedAs(info);
  if (as === undefined)
    throw new InvalidInput(`${name} is of type ${info.dtype.kind}, which no condition can be put on`);
  const values = literals(condition).map((value) => stored(value, info.dtype, as, name));
  switch (condition.op) {
    case "absent":
      return { kind: "absent" };
    case "in":
    case "not in": {
      const negate = condition.op === "not in";
      const members = new Set(values);
      if (as === "text") return textTest((value) => members.has(value) !== negate);
      // 2.5 is no 64-bit integer, so it is none of the values of such an attribute.
      const integers = values.map((value) => (as === "bigint" && Number.isInteger(value) ? BigInt(value) : value));
      return { kind: "set", values: new Set(integers as (number | bigint)[]), negate };
    }
    case "between":
      return interval(info.dtype, as, [
        [">=", values[0]!],
        ["<=", values[1]!],
      ]);
    default:
      return interval(info.dtype, as, [[condition.op, values[0]!]]);
  }
}

function literals(condition: Condition): readonly Literal[] {
  switch (condition.op) {
    case "absent":
      return [];
    case "between":
      return [condition.low, condition.high];
    case "in":
    case "not in":
      if (Array.isArray(condition.values) && condition.values.length > 0) return condition.values;
      throw new InvalidInput(`"${condition.op}" in a where expression should have a list of values, found none`);
    case "=":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return [condition.value];
    default:
      throw new InvalidInput(`a where expression has no op ${String((condition as { op: unknown }).op)}`);
  }
}

/** A value as the attribute would have it: its precision, its type. */
function stored(
  value: Literal,
  dtype: DataType,
  as: "text" | "number" | "bigint",
  name: string,
): number | bigint | string {
  const isText = typeof value === "string";
  const isNumber = (typeof value === "number" || typeof value === "bigint") && Number.isFinite(Number(value));
  if (as === "text" ? !isText : !isNumber && !(typeof value === "boolean" && dtype.kind === "bool")) {
    const expected = as === "text" ? "text in single quotes" : dtype.kind === "bool" ? "true or false" : "a number";
    const found = ["string", "number", "bigint", "boolean"].includes(typeof value)
      ? formatLiteral(value)
      : typeof value;
    throw new InvalidInput(`${name} should be compared with ${expected}, found ${found}`);
  }
  if (as === "text" || as === "bigint") return value as number | bigint | string;
  return atPrecision(Number(value), dtype);
}

/** The float of the attribute's size nearest to a number. */
export function atPrecision(value: number, dtype: DataType): number {
  if (dtype.kind !== "float" || dtype.size === 8) return value;
  const rounded = dtype.size === 4 ? Math.fround(value) : halfToNumber(numberToHalf(value));
  // What the type cannot come near to (1e300, 1e-300) stays as it is: it is neither infinity nor zero.
  return Number.isFinite(rounded) && rounded !== 0 ? rounded : value;
}

type Bound = readonly [Comparison, number | bigint | string];

function interval(dtype: DataType, as: "text" | "number" | "bigint", bounds: readonly Bound[]): Test {
  if (as === "text") {
    const tests = bounds.map(([op, value]) => ordered(op, value as string));
    return textTest((value) => tests.every((test) => test(value)));
  }
  const negate = bounds[0]![0] === "!=";
  if (as === "number") {
    let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const [op, value] of bounds as [Comparison, number][]) {
      if (!op.includes("<")) low = op === ">" ? nextUp(value) : value;
      if (!op.includes(">")) high = op === "<" ? -nextUp(-value) : value;
    }
    return { kind: "range", low, high, negate };
  }
  const { MIN, MAX } = dtype.kind === "uint" ? { MIN: 0n, MAX: U64.MAX } : I64;
  let [low, high] = [MIN, MAX];
  for (const [op, value] of bounds as [Comparison, number | bigint][]) {
    const [floor, ceiling] =
      typeof value === "bigint" ? [value, value] : [BigInt(Math.floor(value)), BigInt(Math.ceil(value))];
    if (!op.includes("<")) low = op === ">" ? floor + 1n : ceiling;
    if (!op.includes(">")) high = op === "<" ? ceiling - 1n : floor;
  }
  return { kind: "big-range", low, high, negate };
}

function ordered(op: Comparison, bound: string): (value: string) => boolean {
  switch (op) {
    case "=":
      return (value) => value === bound;
    case "!=":
      return (value) => value !== bound;
    case "<":
      return (value) => value < bound;
    case "<=":
      return (value) => value <= bound;
    case ">":
      return (value) => value > bound;
    case ">=":
      return (value) => value >= bound;
  }
}

const double = new Float64Array(1);
const doubleBits = new BigInt64Array(double.buffer);

/** The next double above a finite one: the next bits of a positive, the ones before of a negative. */
function nextUp(value: number): number {
  double[0] = value + 0; // -0 has the bits of the most negative integer
  doubleBits[0]! += value >= 0 ? 1n : -1n;
  return double[0];
}
