import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ndarray, typed } from "../model/elements.js";
import { elementCount } from "../model/region.js";
import { csvText, jsonText } from "./text.js";

describe("text", () => {
  const all = (writer: ReturnType<typeof jsonText>, ...arrays: ReturnType<typeof ndarray>[]): string =>
    writer.head() + arrays.flatMap((a) => [...writer.block(a, elementCount(a.shape))]).join("") + writer.tail();

  test("JSON nests across blocks", () => {
    const [a, b] = [ndarray([1, 2, 2], new Int32Array([1, 2, 3, 4])), ndarray([1, 2, 2], new Int32Array([5, 6, 7, 8]))];
    const document = JSON.parse(all(jsonText([2, 2, 2], a.dtype), a, b));
    expect(document).toEqual({
      shape: [2, 2, 2],
      dtype: "int32",
      data: [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ],
    });
  });

  test("JSON of shapes without elements and without axes", () => {
    const { dtype } = ndarray([0], new Int32Array());
    expect(JSON.parse(all(jsonText([2, 0], dtype))).data).toEqual([[], []]);
    expect(JSON.parse(all(jsonText([], dtype), ndarray([], new Int32Array([7])))).data).toBe(7);
  });

  test("64-bit integers, NaN and float32 lose nothing", () => {
    const big = ndarray([2], new BigUint64Array([2n ** 64n - 1n, 5n]));
    expect(JSON.parse(all(jsonText([2], big.dtype), big)).data).toEqual(["18446744073709551615", 5]);
    const floats = ndarray([3], new Float32Array([0.1, Number.NaN, 16777217]));
    expect(JSON.parse(all(jsonText([3], floats.dtype), floats)).data).toEqual([0.1, "NaN", 16777216]);
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (x) => {
        const one = ndarray([1], new Float32Array([x]));
        const [read] = JSON.parse(all(jsonText([1], one.dtype), one)).data;
        expect(Math.fround(Number(read))).toBe(typed(one)[0]); // Object.is: -0 is not 0
      }),
    );
  });

  test("-0 stays -0, alone and inside, and other programs read a float", () => {
    const one = ndarray([2], new Float64Array([-0, 0]));
    expect(all(jsonText([2], one.dtype), one)).toContain("[-0.0,0]");
    expect(all(csvText([2], one.dtype), one)).toBe("-0.0\n0\n");
    const single = ndarray([2], new Float32Array([-0, 0]));
    expect(all(csvText([2], single.dtype), single)).toBe("-0.0\n0\n");
    const complex = ndarray([1], new Float64Array([1, -0]), { kind: "complex", size: 16, endian: "little" });
    expect(all(jsonText([1], complex.dtype), complex)).toContain("[[1,-0.0]]");
    const float = { kind: "float", size: 8, endian: "little" } as const;
    const struct = { kind: "struct", size: 8, fields: [{ name: "__proto__", dtype: float, offset: 0 }] } as const;
    const record = ndarray([1], new Uint8Array([0, 0, 0, 0, 0, 0, 0, 128]), struct);
    expect(all(jsonText([1], struct), record)).toContain('[{"__proto__":-0.0}]');
  });

  test("CSV: an empty string is a line with something on it", () => {
    const words = ndarray([3], ["a", "", "b"]);
    expect(all(csvText([3], words.dtype), words)).toBe('a\n""\nb\n');
  });

  test("CSV: columns, rows, structs, quotes", () => {
    const flat = ndarray([3], new Int8Array([1, 2, 3]));
    expect(all(csvText([3], flat.dtype), flat)).toBe("1\n2\n3\n");
    const grid = ndarray([2, 2], new Int8Array([1, 2, 3, 4]));
    expect(all(csvText([2, 2], grid.dtype), grid)).toBe("1,2\n3,4\n");
    const words = ndarray([2], ['say "a,b"', "plain"]);
    expect(all(csvText([2], words.dtype), words)).toBe('"say ""a,b"""\nplain\n');
    const int = { kind: "int", size: 1, endian: "little" } as const;
    const fields = [
      { name: "a", dtype: int, offset: 0 },
      { name: "", dtype: int, offset: 1 },
      { name: "b", dtype: int, offset: 2 },
    ];
    const pairs = ndarray([2], new Uint8Array([1, 0, 255, 3, 0, 4]), { kind: "struct", size: 3, fields });
    expect(all(csvText([2], pairs.dtype), pairs)).toBe("a,b\n1,-1\n3,4\n");
  });

  test("CSV: complex numbers as Python spells them, also in structs; JSON has pairs", () => {
    const complex = { kind: "complex", size: 8, endian: "little" } as const;
    const parts = new Float32Array([1.5, -2, 0.1, 3, -0, -0, Number.NaN, Number.POSITIVE_INFINITY]);
    const list = ndarray([4], parts, complex);
    expect(all(csvText([4], complex), list)).toBe("1.5-2j\n0.1+3j\n-0.0-0.0j\nNaN+Infinityj\n");
    expect(all(jsonText([4], complex), list)).toContain('[[1.5,-2],[0.1,3],[-0.0,-0.0],["NaN","Infinity"]]');
    const fields = [
      { name: "z", dtype: complex, offset: 0 },
      { name: "pair", dtype: complex, offset: 8, shape: [1] },
    ];
    const struct = { kind: "struct", size: 16, fields } as const;
    const record = ndarray([1], new Uint8Array(parts.slice(0, 4).buffer), struct);
    expect(all(csvText([1], struct), record)).toBe('z,pair\n1.5-2j,"[[0.1,3]]"\n');
  });

  test("dates as numpy prints them", () => {
    const date = (unit: string, scale: number, count: bigint): unknown => {
      const dtype = { kind: "datetime", size: 8, endian: "little", unit, scale } as const;
      return JSON.parse(all(jsonText([], dtype), ndarray([], new BigInt64Array([count]), dtype))).data;
    };
    expect(date("ns", 1, -1n)).toBe("1969-12-31T23:59:59.999999999");
    expect(date("D", 1, 18262n)).toBe("2020-01-01");
    expect(date("M", 1, -1n)).toBe("1969-12");
    expect(date("Y", 1, 30n)).toBe("2000");
    expect(date("s", 10, 1n)).toBe("1970-01-01T00:00:10");
    expect(date("ns", 1, -(2n ** 63n))).toBe("NaT");
    expect(date("as", 1, -1n)).toBe("1969-12-31T23:59:59.999999999999999999");
    expect(date("generic", 1, 2n ** 62n)).toBe("4611686018427387904");
  });

  test("years of more digits have their sign, and count on without end", () => {
    const date = (unit: string, count: bigint): unknown => {
      const dtype = { kind: "datetime", size: 8, endian: "little", unit, scale: 1 } as const;
      return all(csvText([], dtype), ndarray([], new BigInt64Array([count]), dtype)).trim();
    };
    const last = 253402300799n;
    expect([date("s", last), date("s", last + 1n)]).toEqual(["9999-12-31T23:59:59", "+010000-01-01T00:00:00"]);
    expect([date("s", -62167219200n), date("s", -62167219201n)]).toEqual([
      "0000-01-01T00:00:00",
      "-000001-12-31T23:59:59",
    ]);
    expect([date("Y", -1971n), date("M", 12n * 98030n)]).toEqual(["-000001", "+100000-01"]);
    expect(date("s", 2n ** 63n - 1n)).toBe("+292277026596-12-04T15:30:07"); // as numpy has it, but for the sign
    for (const [count, day] of [
      [100_000_000n, "+275760-09-13"],
      [-100_000_000n, "-271821-04-20"],
    ] as const) {
      expect(date("D", count)).toBe(day);
      expect(new Date(Number(count) * 86400000).toISOString().slice(0, 13)).toBe(day);
    }
  });
});
