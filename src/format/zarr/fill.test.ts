import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DataType, FixedDataType } from "../../bytes/dtype.js";
import { type Json, parseJson } from "../../bytes/json.js";
import { stringifyJson } from "../../bytes/json-write.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { parseNumpyDtype } from "./dtype-numpy.js";
import { parseV3Dtype } from "./dtype-v3.js";
import { formatNumpyFill, parseNumpyFill } from "./fill-numpy.js";
import { formatV3Fill, parseV3Fill } from "./fill-v3.js";

const hex = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value);
const numpy = (version: 0 | 1 | 2, value: Json, type: Json | DataType) => {
  const dtype =
    typeof type === "object" && type !== null && "kind" in type
      ? (type as DataType)
      : parseNumpyDtype(type as Json, "x");
  return parseNumpyFill(value, dtype, version, "x");
};
const string: DataType = { kind: "string" };
const vlenBytes: DataType = { kind: "vlen-bytes" };
const struct = [
  ["a", ">i2"],
  ["b", "|S2"],
];

describe("fill values of v0 and v1 are cast as numpy casts", () => {
  // The bytes that np.zeros(1, dtype).fill(value) gives; where numpy 2 refuses (integers out of range), as numpy 1 wraps.
  const cases: [Json, Json, string][] = [
    [null, "<f8", "0000000000000000"],
    [7, ">i4", "07000000"],
    [3.7, "<i4", "03000000"],
    [-3.7, "<i4", "fdffffff"],
    [-1, "|u1", "ff"],
    [300, "|u1", "2c"],
    [true, "<i4", "01000000"],
    [1, "|b1", "01"],
    [0.5, "|b1", "01"],
    [Number.NaN, "|b1", "01"],
    [false, "|b1", "00"],
    [2n ** 64n - 1n, "<u8", "ffffffffffffffff"],
    [-(2n ** 63n), "<i8", "0000000000000080"],
    [2n ** 53n + 1n, "<i8", "0100000000002000"],
    [Number.NaN, "<f4", "0000c07f"],
    [Number.NEGATIVE_INFINITY, "<f8", "000000000000f0ff"],
    [0.1, "<f2", "662e"],
    [1.5, "<c8", "0000c03f00000000"],
    [5, "<M8[D]", "0500000000000000"],
    ["NaT", "<m8[s]", "0000000000000080"],
    ["zz", "|S3", "7a7a00"],
    ["abcdef", "|S3", "616263"],
    [0, "|S3", "300000"],
    [1.5, "|S3", "312e35"],
    [true, "|S3", "547275"],
    ["é", "<U2", "e900000000000000"],
    [0, ">U1", "30000000"],
    [0, "|V3", "000000"],
    [7, struct, "00073700"],
  ];
  it.each(cases)("%s on %j is %s", (value, type, bytes) => {
    expect(hex(numpy(0, value, type).fill)).toBe(bytes);
    expect(hex(numpy(1, value, type).fill)).toBe(bytes);
  });
  it("say when what is read is not what is written", () => {
    expect(numpy(0, 3.7, "<i4").notes).toEqual(['The fill value 3.7 on "<i4" reads as 3.']);
    expect(numpy(0, -1, "|u1").notes).toEqual(['The fill value -1 on "|u1" reads as 255.']);
    expect(numpy(0, 2, "|b1").notes).toEqual(['The fill value 2 on "|b1" reads as true.']);
    expect(numpy(0, "abcdef", "|S3").notes).toEqual(['The fill value "abcdef" on "|S3" reads as "abc".']);
    for (const [value, type] of [
      [1, "|b1"],
      [2n ** 64n - 1n, "<u8"],
      [0, "<f8"],
      [true, "|b1"],
      ["zz", "|S3"],
    ] as const)
      expect(numpy(0, value, type).notes).toEqual([]);
  });
  it.each([
    ["x", "<i4"],
    [Number.NaN, "<i4"],
    [Number.POSITIVE_INFINITY, "<i8"],
    [2n ** 64n, "<u8"],
    [-(2n ** 63n) - 1n, "<i8"],
    ["x", "|b1"],
    [[], "<f8"],
    [{}, "<f8"],
    ["é", "|S3"],
    ["abc", "|V3"],
    [1, "|V3"],
    [1.5, "<M8[D]"],
    [2n ** 63n, "<M8[D]"],
    [[1, 2, 3], "<c8"],
    [["x", 0], "<c8"],
    ["AAAA", struct],
  ] as [Json, Json][])("%s on %j is Corrupt", (value, type) => {
    expect(() => numpy(0, value, type)).toThrow(Corrupt);
  });
});

describe("fill values of v2", () => {
  const cases: [Json, Json | DataType, unknown][] = [
    ["NaN", "<f4", "0000c07f"],
    ["-Infinity", "<f2", "00fc"],
    [["NaN", "-Infinity"], "<c8", "0000c07f000080ff"],
    ["YWL/", "|S7", "6162ff00000000"],
    ["", "|S3", "000000"],
    [0, "|S3", "000000"],
    [0, "<U1", "00000000"],
    ["YWJj", "|V3", "616263"],
    ["AAV4eQ==", struct, "00057879"],
    ["hé", ">U2", "68000000e9000000"],
    ["hi", string, "hi"],
    [0, string, ""],
    [null, string, ""],
    ["YWI=", vlenBytes, "6162"],
    [0, vlenBytes, ""],
  ];
  it.each(cases)("%s on %j", (value, type, expected) => {
    expect(hex(numpy(2, value, type).fill)).toBe(expected);
  });
  it("an array as element has an empty one as fill", () => {
    expect(numpy(2, 0, { kind: "vlen-array", item: parseNumpyDtype("<i4", "x") }).fill).toEqual(new Int32Array(0));
  });
  it.each([
    ["!!", "|S3"],
    ["YWJjZA==", "|V3"],
    ["AAAA", struct],
    [7, string],
    ["nan", "<f8"],
  ] as [Json, Json | DataType][])("%s on %j is Corrupt", (value, type) => {
    expect(() => numpy(2, value, type)).toThrow(Corrupt);
  });
});

describe("fill values of v3 are exact or Corrupt", () => {
  const time = { name: "numpy.datetime64", configuration: { unit: "s", scale_factor: 1 } };
  const pair = {
    name: "struct",
    configuration: {
      fields: [
        { name: "x", data_type: "int16" },
        { name: "y", data_type: "bool" },
      ],
    },
  };
  const sized = (name: string, length_bytes: number) => ({ name, configuration: { length_bytes } });
  const read = (value: Json, type: Json, endian: "little" | "big" = "little") =>
    parseV3Fill(value, parseV3Dtype(type, endian, "x"), "x");
  it.each([
    [true, "bool", "01"],
    [-128, "int8", "80"],
    [2n ** 64n - 1n, "uint64", "ffffffffffffffff"],
    [-(2n ** 63n), "int64", "0000000000000080"],
    ["0x7fc00001", "float32", "0100c07f"],
    ["0x7e01", "float16", "017e"],
    ["NaN", "float64", "000000000000f87f"],
    [2n ** 53n + 2n, "float64", "0100000000004043"],
    [[1, "0x7fc00001"], "complex64", "0000803f0100c07f"],
    ["NaT", time, "0000000000000080"],
    [5, time, "0500000000000000"],
    ["YWL/", sized("null_terminated_bytes", 4), "6162ff00"],
    ["hé", sized("fixed_length_utf32", 8), "68000000e9000000"],
    ["YWJj", sized("raw_bytes", 3), "616263"],
    [[1, 2, 255], "r24", "0102ff"],
    ["BQAB", pair, "050001"],
    [{ x: 5, y: true }, pair, "050001"],
    ["hi", "string", "hi"],
    ["YWI=", "bytes", "6162"],
    [[97, 98], "bytes", "6162"],
  ] as [Json, Json, string][])("%s on %j", (value, type, expected) => {
    expect(hex(read(value, type))).toBe(expected);
  });
  it("fields lie as on disk", () => {
    expect(hex(read({ x: 5, y: true }, pair, "big"))).toBe("000501");
  });
  it.each([
    [1, "bool"],
    [128, "int8"],
    [-1, "uint8"],
    [1.5, "int32"],
    ["1", "int32"],
    [2n ** 64n, "uint64"],
    [2n ** 63n, "int64"],
    [2 ** 53, "int64"],
    [true, "float32"],
    ["0x7fc0", "float32"],
    ["0xzz", "float16"],
    ["nan", "float32"],
    [1e300, "float32"],
    [70000, "float16"],
    [[1], "complex64"],
    [1, "complex64"],
    [1.5, time],
    ["YWJjZGU=", sized("null_terminated_bytes", 4)],
    ["abc", sized("fixed_length_utf32", 8)],
    ["YWI=", sized("raw_bytes", 3)],
    [[1, 2, 256], "r24"],
    ["BQA=", pair],
    [{ x: 5 }, pair],
    [{ x: 5, y: true, z: 1 }, pair],
    [{ x: 5, constructor: true }, pair],
    [7, "string"],
    [7, "bytes"],
  ] as [Json, Json][])("%s on %j is Corrupt", (value, type) => {
    expect(() => read(value, type)).toThrow(Corrupt);
  });
});

describe("any element is written so that it is read the same", () => {
  const types = [
    "|b1",
    "|i1",
    ">i2",
    "<i4",
    "<i8",
    "|u1",
    "<u8",
    "<f2",
    ">f4",
    "<f8",
    "<c8",
    "<c16",
    "<M8[s]",
    "|S4",
    "|V4",
  ].map((text) => parseNumpyDtype(text, "x"));
  // Bytes of 255 and 127 in the last places are the NaNs that random bytes hardly ever are.
  const byte = fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 127, 255));
  const element = fc.constantFrom(...types).chain((dtype) =>
    fc.array(byte, { minLength: dtype.size, maxLength: dtype.size }).map((bytes) => {
      const fill = Uint8Array.from(bytes, (value) => (dtype.kind === "bool" ? value & 1 : value));
      return { dtype, fill } as { dtype: FixedDataType; fill: Uint8Array };
    }),
  );
  it("in v3, bit for bit", () => {
    fc.assert(
      fc.property(element, ({ dtype, fill }) => {
        const text = stringifyJson(formatV3Fill(fill, dtype, "x"));
        expect(parseV3Fill(parseJson(text, defaultLimits, "x"), dtype, "x")).toEqual(fill);
      }),
      { numRuns: 1000 },
    );
  });
  it("in v2 and v0, all but the bits of a NaN, or refused", () => {
    const same = (a: Uint8Array, b: Uint8Array, dtype: DataType) =>
      stringifyJson(formatNumpyFill(a, dtype, 2, "x")) === stringifyJson(formatNumpyFill(b, dtype, 2, "x"));
    fc.assert(
      fc.property(element, fc.constantFrom(0 as const, 2 as const), ({ dtype, fill }, version) => {
        let text: string;
        try {
          text = stringifyJson(formatNumpyFill(fill, dtype, version, "x"), { tokens: version === 0 });
        } catch (error) {
          expect(error).toBeInstanceOf(Unsupported);
          expect(version).toBe(0);
          return;
        }
        const read = parseNumpyFill(parseJson(text, defaultLimits, "x", { tokens: true }), dtype, version, "x");
        expect(same(read.fill as Uint8Array, fill, dtype)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
