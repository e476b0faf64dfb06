/** Random expressions over random columns, beside an interpreter that looks at one row at a time and knows no trick. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DataType } from "../bytes/dtype.js";
import { halfToNumber, numberToHalf } from "../bytes/half.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import { type Condition, type Literal, Where } from "./where.js";
import { attributeKey } from "./where-check.js";
import type { ColumnRows } from "./where-eval.js";
import type { ValueRange } from "./where-range.js";

const ROWS = 24;
const number = (kind: "int" | "uint" | "float", size: number) => ({ kind, size, endian: "little" }) as DataType;
const halves = (values: readonly number[]) => Uint16Array.from(values, numberToHalf);

// Few different values, so that comparisons meet them; the extremes of the types, absent values, wide rows.
const floats = [0, -0, 0.1, -0.1, 0.5, 1, 1.5, 2, 3, 1e30, -Infinity, Infinity, NaN, -9999];
const bigs = [0n, 1n, 2n, 3n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
const small = [0, 1, 2, 3, 5, 100];
const strings = ["", "a", "b", "it's", "ä", "Z"];
const picks = <T>(values: readonly T[], length = ROWS) =>
  fc.array(fc.constantFrom(...values), { minLength: length, maxLength: length });

const column = (info: AttributeInfo, values: fc.Arbitrary<Column["values"]>): fc.Arbitrary<Column> =>
  values.map((drawn) => ({ info, values: drawn }));
const codes = { categories: ["a", "b", "it's", "none"], dtype: number("int", 1), channels: 1 };
const vertexColumns: fc.Arbitrary<Column>[] = [
  column(
    { name: "f8", dtype: number("float", 8), channels: 1 },
    picks(floats).map((v) => Float64Array.from(v)),
  ),
  column(
    { name: "f4", dtype: number("float", 4), channels: 1, absent: -9999 },
    picks(floats).map((v) => Float32Array.from(v)),
  ),
  column({ name: "f2", dtype: number("float", 2), channels: 1 }, picks(floats).map(halves)),
  column(
    { name: "i4", dtype: number("int", 4), channels: 1, absent: -(2 ** 31) },
    picks([...small, -1, -(2 ** 31)]).map((v) => Int32Array.from(v)),
  ),
  column(
    { name: "u1", dtype: number("uint", 1), channels: 3, channelNames: ["r", "g", "b"] },
    picks([...small, 255], 3 * ROWS).map((v) => Uint8Array.from(v)),
  ),
  column(
    { name: "i8", dtype: number("int", 8), channels: 1, absent: -(2n ** 63n) },
    picks([...bigs, -1n, -(2n ** 63n)]).map((v) => BigInt64Array.from(v)),
  ),
  column(
    { name: "u8", dtype: number("uint", 8), channels: 2 },
    picks([...bigs, 2n ** 64n - 1n], 2 * ROWS).map((v) => BigUint64Array.from(v)),
  ),
  column(
    { name: "at", dtype: { kind: "datetime", size: 8, endian: "little", unit: "s", scale: 1 }, channels: 1 },
    picks([...bigs, -(2n ** 63n)]).map((v) => BigInt64Array.from(v)),
  ),
  column(
    { name: "flag", dtype: { kind: "bool", size: 1 }, channels: 1 },
    picks([0, 1, 2]).map((v) => Uint8Array.from(v)),
  ),
];
const objectColumns: fc.Arbitrary<Column>[] = [
  column({ name: "text", dtype: { kind: "string" }, channels: 1, absent: "" }, picks(strings)),
  column(
    { name: "code", ...codes, absent: 2 },
    picks([-1, 0, 1, 2, 3, 4]).map((v) => Int8Array.from(v)),
  ),
  column(
    { name: "named", ...codes, absent: "none" },
    picks([-1, 0, 1, 2, 3]).map((v) => Int8Array.from(v)),
  ),
  column(
    { name: "span", dtype: number("int", 2), channels: 2 },
    picks([...small, -1], 2 * ROWS).map((v) => Int16Array.from(v)),
  ),
  column(
    { name: "weight", dtype: number("float", 4), channels: 1 },
    picks(floats).map((v) => Float32Array.from(v)),
  ),
  column(
    { name: "id", dtype: number("int", 8), channels: 1 },
    picks(bigs).map((v) => BigInt64Array.from(v)),
  ),
];

const numbers = [
  0,
  0.1,
  -0.1,
  0.5,
  1,
  1.5,
  2,
  3,
  99.5,
  1e30,
  1e300,
  1e-300,
  2 ** 53,
  2n ** 53n + 1n,
  2n ** 64n,
  -(2n ** 63n),
  -1,
  255,
];
const numeric = fc.constantFrom<Literal>(...numbers);
const texts = fc.constantFrom<Literal>(...strings, "zz");
const truths = fc.constantFrom<Literal>(true, false, 0, 1);

const conditionOn = (reference: object, literal: fc.Arbitrary<Literal>): fc.Arbitrary<Where> =>
  fc
    .oneof(
      fc.record({ op: fc.constantFrom("=", "!=", "<", "<=", ">", ">="), value: literal }),
      fc.record({ op: fc.constantFrom("in", "not in"), values: fc.array(literal, { minLength: 1, maxLength: 3 }) }),
      fc.record({ op: fc.constant("between"), low: literal, high: literal }),
      fc.constant({ op: "absent" }),
    )
    .map((condition) => ({ ...condition, ...reference }) as Where);

const condition = fc.oneof(
  ...["f8", "f4", "f2", "i4", "i8", "at"].map((name) => conditionOn({ name }, numeric)),
  conditionOn({ name: "u1", channel: 0 }, numeric),
  conditionOn({ domain: "vertex", name: "u1", channel: "b" }, numeric),
  conditionOn({ name: "u8", channel: 1 }, numeric),
  conditionOn({ name: "flag" }, truths),
  ...["text", "code", "named"].map((name) => conditionOn({ domain: "object", name }, texts)),
  conditionOn({ name: "weight" }, numeric),
  conditionOn({ name: "span", channel: 1 }, numeric),
  conditionOn({ domain: "object", name: "id" }, numeric),
);
const expression = fc.letrec<{ tree: Where }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    condition,
    fc.record({
      op: fc.constantFrom("and", "or"),
      args: fc.array(tie("tree"), { minLength: 2, maxLength: 3 }),
    }) as fc.Arbitrary<Where>,
    fc.record({ op: fc.constant("not"), arg: tie("tree") }) as fc.Arbitrary<Where>,
  ),
})).tree;

/** Vertices with columns of their own, and of objects: through an index that is sometimes -1. */
const rows = fc
  .tuple(fc.tuple(...vertexColumns), fc.tuple(...objectColumns), picks([-1, ...Array(ROWS).keys()]), fc.boolean())
  .map(([vertex, object, index, signed]) => ({
    vertex,
    object,
    index: signed ? Int32Array.from(index) : Uint32Array.from(index),
    schema: { vertex: vertex.map(({ info }) => info), object: object.map(({ info }) => info) },
  }));
type Rows = typeof rows extends fc.Arbitrary<infer R> ? R : never;

function columnsOf({ vertex, object, index }: Rows): Map<string, ColumnRows> {
  return new Map([
    ...vertex.map((column): [string, ColumnRows] => [attributeKey("vertex", column.info.name), { column }]),
    ...object.map((column): [string, ColumnRows] => [attributeKey("object", column.info.name), { column, index }]),
  ]);
}

/** The value as a person would say it, or undefined. */
function valueAt({ info, values }: Column, row: number, channel: Condition["channel"]): Literal | undefined {
  const at = typeof channel === "string" ? info.channelNames!.indexOf(channel) : (channel ?? 0);
  const value = values[row * info.channels + at]!;
  if (info.categories !== undefined) {
    const text = value === info.absent ? undefined : info.categories[value as number];
    return text === info.absent ? undefined : text;
  }
  if (value === info.absent || (info.dtype.kind === "datetime" && value === -(2n ** 63n))) return undefined;
  if (info.dtype.kind === "bool") return value !== 0;
  const number = info.name === "f2" ? halfToNumber(value as number) : value;
  return Number.isNaN(number) ? undefined : number;
}

function holds(
  where: Where,
  look: (condition: Condition) => { value: Literal | undefined; info: AttributeInfo },
): boolean {
  if (where.op === "and") return where.args.every((arg) => holds(arg, look));
  if (where.op === "or") return where.args.some((arg) => holds(arg, look));
  if (where.op === "not") return !holds(where.arg, look);
  const { value, info } = look(where as Condition);
  if (where.op === "absent") return value === undefined;
  if (value === undefined) return false;
  const near = (literal: Literal): Literal => {
    if (info.dtype.kind !== "float" || info.categories !== undefined) return literal;
    const float =
      info.dtype.size === 4
        ? Math.fround(Number(literal))
        : info.dtype.size === 2
          ? halfToNumber(numberToHalf(Number(literal)))
          : Number(literal);
    return float === 0 || Math.abs(float) === Infinity ? literal : float;
  };
  // biome-ignore lint/suspicious/noDoubleEquals: compares a number, a bigint and a boolean by value
  const same = (literal: Literal): boolean => value == near(literal);
  switch (where.op) {
    case "=":
      return same(where.value);
    case "!=":
      return !same(where.value);
    case "<":
      return value < near(where.value);
    case "<=":
      return value <= near(where.value);
    case ">":
      return value > near(where.value);
    case ">=":
      return value >= near(where.value);
    case "in":
      return where.values.some(same);
    case "not in":
      return !where.values.some(same);
    case "between":
      return value >= near(where.low) && value <= near(where.high);
  }
}

function bruteForce(where: Where, { vertex, object, index }: Rows): number[] {
  return Array.from({ length: ROWS }, (_, row) => {
    const look = (condition: Condition) => {
      const own = vertex.find(({ info }) => info.name === condition.name);
      const column = own ?? object.find(({ info }) => info.name === condition.name)!;
      const at = own === undefined ? index[row]! | 0 : row;
      return { info: column.info, value: at < 0 ? undefined : valueAt(column, at, condition.channel) };
    };
    return holds(where, look) ? 1 : 0;
  });
}

function evaluate(checked: ReturnType<typeof Where.check>, drawn: Rows): number[] {
  const out = new Uint8Array(ROWS);
  Where.evaluate(checked, columnsOf(drawn), ROWS, out);
  return [...out];
}

describe("a where expression", () => {
  test("comes back from its text as it was", () => {
    fc.assert(
      fc.property(expression, (where) => {
        expect(Where.parse(Where.format(where))).toEqual(where);
      }),
      { numRuns: 300 },
    );
    const name = fc.string({ unit: "binary" });
    const reference = fc.record({ name, channel: fc.oneof(fc.nat(65535), name) });
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    const literal = fc.oneof(
      name,
      number,
      fc.boolean(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }),
      fc.bigInt({ min: -(2n ** 80n), max: -(2n ** 53n) }),
    );
    fc.assert(
      fc.property(reference, literal, (named, value) => {
        const where: Where = { op: "=", domain: "link", ...named, value };
        expect(Where.parse(Where.format(where))).toEqual(where);
      }),
      { numRuns: 300 },
    );
  });

  test("matches the rows that one look at each row matches", () => {
    fc.assert(
      fc.property(expression, rows, (where, drawn) => {
        expect(evaluate(Where.check(where, drawn.schema), drawn)).toEqual(bruteForce(where, drawn));
      }),
      { numRuns: 1000 },
    );
  });

  test("is all of its parts together, and no row matches that one domain alone excludes", () => {
    fc.assert(
      fc.property(expression, rows, (where, drawn) => {
        const checked = Where.check(where, drawn.schema);
        const whole = evaluate(checked, drawn);
        const parts = Where.split(checked).map((part) => evaluate(part, drawn));
        expect(whole).toEqual(whole.map((_, row) => Math.min(...parts.map((part) => part[row]!))));
        for (const domain of ["vertex", "object"] as const) {
          const alone = Where.project(checked, domain);
          expect([...(alone?.domains ?? [])]).toEqual(alone === undefined ? [] : [domain]);
          const may = alone === undefined ? whole.map(() => 1) : evaluate(alone, drawn);
          for (const [row, match] of whole.entries()) expect(match).toBeLessThanOrEqual(may[row]!);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("may match wherever it does match, by the ranges of the values", () => {
    let excluded = 0;
    fc.assert(
      fc.property(expression, rows, fc.nat(ROWS - 1), fc.integer({ min: 1, max: 3 }), (where, drawn, from, length) => {
        const checked = Where.check(where, drawn.schema);
        const chosen = Array.from({ length: ROWS }, (_, row) => row).slice(from, from + length);
        const matches = evaluate(checked, drawn)
          .slice(from, from + length)
          .includes(1);
        const may = Where.mayMatch(checked, rangesOf(drawn, chosen));
        if (!may) excluded++;
        if (matches) expect(may).toBe(true);
        expect(Where.mayMatch(checked, new Map())).toBe(true);
      }),
      { numRuns: 1000 },
    );
    expect(excluded).toBeGreaterThan(100);
  });
});

function rangesOf({ vertex, object, index }: Rows, chosen: readonly number[]): Map<string, ValueRange[]> {
  const ranges = (column: Column, rowOf: (row: number) => number): ValueRange[] =>
    Array.from({ length: column.info.channels }, (_, channel) => {
      const range = { min: Infinity as number | bigint, max: -Infinity as number | bigint, hasAbsent: false };
      for (const row of chosen.map(rowOf)) {
        if (row < 0 || valueAt(column, row, channel) === undefined) range.hasAbsent = true;
        else {
          const at = column.values[row * column.info.channels + channel]!;
          const value =
            column.info.name === "f2"
              ? halfToNumber(at as number)
              : column.info.name === "flag"
                ? Math.min(at as number, 1)
                : (at as number);
          if (value < range.min) range.min = value;
          if (value > range.max) range.max = value;
        }
      }
      return range;
    });
  return new Map([
    ...vertex.map((column): [string, ValueRange[]] => [`vertex.${column.info.name}`, ranges(column, (row) => row)]),
    ...object
      .filter(({ info }) => info.name !== "text")
      .map((column): [string, ValueRange[]] => [
        `object.${column.info.name}`,
        ranges(column, (row) => index[row]! | 0),
      ]),
  ]);
}
