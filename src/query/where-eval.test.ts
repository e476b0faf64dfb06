import { describe, expect, test } from "vitest";
import { InvalidInput } from "../errors.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import { Where } from "./where.js";
import type { ColumnRows } from "./where-eval.js";

const float = { name: "x", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
const int64 = { name: "id", dtype: { kind: "int", size: 8, endian: "little" }, channels: 1 } as const;
const word = {
  name: "t",
  dtype: { kind: "int", size: 1, endian: "little" },
  channels: 1,
  categories: ["a", "b"],
} as const;

function matches(text: string, info: AttributeInfo, values: Column["values"], index?: Int32Array): string {
  const checked = Where.check(Where.parse(text), { vertex: [info] });
  const count = index?.length ?? values.length / info.channels;
  const out = new Uint8Array(count);
  Where.evaluate(
    checked,
    new Map([[`vertex.${info.name}`, { column: { info, values }, ...(index && { index }) }]]),
    count,
    out,
  );
  return out.join("");
}

describe("a where expression over columns", () => {
  test("an absent value makes every comparison false, and not turns that around", () => {
    const values = Float32Array.of(1, 3, 5, Number.NaN);
    const rows = (text: string) => matches(text, float, values);
    expect(rows("x > 3")).toBe("0010");
    expect(rows("x <= 3")).toBe("1100");
    expect(rows("not x > 3")).toBe("1101");
    expect(rows("x != 3")).toBe("1010");
    expect(rows("not x = 3")).toBe("1011");
    expect(rows("x in (3, 5)")).toBe("0110");
    expect(rows("x not in (3, 5)")).toBe("1000");
    expect(rows("not x in (3, 5)")).toBe("1001");
    expect(rows("x between 2 and 5")).toBe("0110");
    expect(rows("x is absent")).toBe("0001");
    expect(rows("x is not absent and x != 1")).toBe("0110");
  });

  test("a number is taken at the attribute's precision, and only where that comes near", () => {
    const values = Float32Array.of(0.1, 0.7, 0, Number.POSITIVE_INFINITY);
    const rows = (text: string) => matches(text, float, values);
    expect(rows("x = 0.1")).toBe("1000");
    expect(rows("x >= 0.7")).toBe("0101"); // the float32 next to 0.7 is below it
    expect(rows("x > 0.1")).toBe("0101");
    expect(rows("x = 1e-300")).toBe("0000");
    expect(rows("x < 1e300")).toBe("1110");
    expect(rows("x = 1e300")).toBe("0000");
    const half = { ...float, dtype: { kind: "float", size: 2, endian: "little" } } as const;
    expect(matches("x = 0.1", half, Uint16Array.of(0x2e66, 0x2e67, 0x7e00))).toBe("100");
    expect(matches("x < 0", half, Uint16Array.of(0xbc00, 0x3c00, 0x8000))).toBe("100"); // bits alone would be above
  });

  test("64-bit integers are compared exactly", () => {
    const values = BigInt64Array.of(2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n, 3n);
    const rows = (text: string) => matches(text, int64, values);
    expect(rows("id = 9007199254740993")).toBe("01000");
    expect(rows("id > 9007199254740992")).toBe("01000");
    expect(rows("id = 9007199254740992.0")).toBe("10000");
    expect(rows("id < 2.5")).toBe("00110");
    expect(rows("id >= 2.5")).toBe("11001");
    expect(rows("id = 2.5")).toBe("00000");
    expect(rows("id != 2.5")).toBe("11111");
    expect(rows("id in (2.5, 3)")).toBe("00001");
    expect(rows("id > -1e300")).toBe("11111");
    expect(rows("id < -9223372036854775808")).toBe("00000");
    expect(matches("id != 2", { ...int64, absent: -(2n ** 63n) }, values)).toBe("11001");
  });

  test("a dictionary compares its strings; a code without one is absent", () => {
    const values = Int8Array.of(0, 1, -1, 2);
    expect(matches("t = 'a'", word, values)).toBe("1000");
    expect(matches("t != 'a'", word, values)).toBe("0100");
    expect(matches("t > 'a'", word, values)).toBe("0100");
    expect(matches("t not in ('c')", word, values)).toBe("1100");
    expect(matches("t is absent", word, values)).toBe("0011");
    expect(matches("t is absent", { ...word, absent: 1 }, values)).toBe("0111");
    expect(matches("t is absent", { ...word, absent: "a" }, values)).toBe("1011");
  });

  test("a chunk with a dictionary of its own is read by that one", () => {
    const checked = Where.check(Where.parse("t = 'a'"), { vertex: [word] });
    const column = { info: { ...word, categories: ["b", "c", "a"] }, values: Int8Array.of(0, 1, 2) };
    const out = new Uint8Array(3);
    Where.evaluate(checked, new Map([["vertex.t", { column }]]), 3, out);
    expect(out.join("")).toBe("001");
  });

  test("rows beyond one block, of several columns, one of them through an index", () => {
    const count = 10_001;
    const x = Float32Array.from({ length: count }, (_, i) => i % 7);
    const index = Int32Array.from({ length: count }, (_, i) => (i % 5) - 1);
    const checked = Where.check(Where.parse("x > 4 and (t = 'b' or t is absent) or id = 3"), {
      vertex: [float],
      object: [word, int64],
    });
    const columns = new Map<string, ColumnRows>([
      ["vertex.x", { column: { info: float, values: x } }],
      ["object.t", { column: { info: word, values: Int8Array.of(0, 1, 0, 1) }, index }],
      ["object.id", { column: { info: int64, values: BigInt64Array.of(0n, 1n, 2n, 3n) }, index }],
    ]);
    const out = new Uint8Array(count + 1).fill(9);
    Where.evaluate(checked, columns, count, out);
    const expected = Array.from(x, (value, i) => (value > 4 && index[i]! !== 0 && index[i]! !== 2) || index[i] === 3);
    expect([...out]).toEqual([...expected.map(Number), 9]);
  });

  test("columns that are not what was checked are refused", () => {
    const checked = Where.check(Where.parse("x > 4"), { vertex: [float] });
    const run =
      (column: Column | undefined, count = 1, index?: Int32Array) =>
      () =>
        Where.evaluate(
          checked,
          new Map(column && [["vertex.x", { column, ...(index && { index }) }]]),
          count,
          new Uint8Array(2),
        );
    const good = { info: float, values: Float32Array.of(1, 2) };
    expect(run(good, 2)).not.toThrow();
    expect(run(undefined)).toThrow("needs the column vertex.x");
    expect(run(good, 3)).toThrow("the mask has room for 2 rows, 3 are asked for");
    expect(run({ info: float, values: Float32Array.of(1) }, 2)).toThrow(
      "the column vertex.x has 1 rows, 2 are asked for",
    );
    expect(run({ info: { ...int64, name: "x" }, values: BigInt64Array.of(1n) })).toThrow(
      "should be float32 as in the schema, found int64",
    );
    expect(run({ info: float, values: ["1"] })).toThrow("the values of vertex.x should be of type number, found text");
    expect(run({ info: { ...float, channels: 0 }, values: good.values })).toThrow(InvalidInput);
    expect(run(good, 1, Int32Array.of(2))).toThrow("an index refers to row 2 of vertex.x, which has 2 rows");
    expect(run(good, 1, Int32Array.of(-2))).toThrow("row -2");
    expect(run(good, 2, Int32Array.of(1))).toThrow("the column vertex.x has 1 rows");
  });
});

describe("what is known before rows are read", () => {
  const schema = { vertex: [float], object: [word, int64] };
  const text = (where: string, ...domains: ("vertex" | "object")[]) =>
    Where.project(Where.check(Where.parse(where), schema), ...domains);

  test("what one domain alone excludes", () => {
    expect(text("x > 4 and t = 'a'", "object")?.attributes.has("object.t")).toBe(true);
    expect(text("x > 4 or t = 'a'", "object")).toBeUndefined();
    expect(text("not (x > 4 or t = 'a')", "object")?.node.op).toBe("not");
    expect(text("not (x > 4 and t = 'a')", "object")).toBeUndefined();
    expect(text("x > 4", "object")).toBeUndefined();
    expect(text("x > 4 or t = 'a'", "vertex", "object")?.domains.size).toBe(2);
  });

  test("parts by domain", () => {
    const parts = Where.split(Where.check(Where.parse("x > 4 and t = 'a' and (id = 1 or x = 2) and x < 9"), schema));
    expect(parts.map(({ domains }) => [...domains])).toEqual([["vertex"], ["object"], ["object", "vertex"]]);
  });

  test("what the ranges of a chunk exclude", () => {
    const may = (where: string, min: number | bigint, max: number | bigint, hasAbsent = false, key = "vertex.x") =>
      Where.mayMatch(Where.check(Where.parse(where), schema), new Map([[key, [{ min, max, hasAbsent }]]]));
    expect(may("x > 4", 0, 4)).toBe(false);
    expect(may("x > 4", 0, 5)).toBe(true);
    expect(may("not x > 4", 5, 6)).toBe(false);
    expect(may("not x > 4", 5, 6, true)).toBe(true);
    expect(may("x != 4", 4, 4)).toBe(false);
    expect(may("x in (1, 9)", 2, 8)).toBe(false);
    expect(may("x not in (1, 9)", 1, 1)).toBe(false);
    expect(may("x is absent", 0, 1)).toBe(false);
    expect(may("x > 0 or x < 1", Infinity, -Infinity, true)).toBe(false); // nothing but absent values
    expect(may("x > 4", NaN, NaN)).toBe(true);
    expect(may("id > 9007199254740992", 0n, 2n ** 53n, false, "object.id")).toBe(false);
    expect(may("id > 9007199254740992", 0n, 2n ** 53n + 1n, false, "object.id")).toBe(true);
    expect(may("t = 'b'", 0, 0, false, "object.t")).toBe(false);
    expect(may("t = 'b'", 0, 1, false, "object.t")).toBe(true);
  });
});
