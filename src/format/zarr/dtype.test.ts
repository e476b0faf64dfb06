import { describe, expect, it } from "vitest";
import type { DataType } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { formatNumpyDtype, parseNumpyDtype } from "./dtype-numpy.js";
import { formatV3Dtype, parseV3Dtype } from "./dtype-v3.js";

const numpy = (value: Json) => parseNumpyDtype(value, ".zarray");
const v3 = (value: Json, endian: "little" | "big" = "little") => parseV3Dtype(value, endian, "zarr.json");
const struct = (fields: Json) => ({ name: "struct", configuration: { fields } });

describe("numpy's types", () => {
  const simple: [string, DataType][] = [
    ["|b1", { kind: "bool", size: 1 }],
    ["|i1", { kind: "int", size: 1, endian: "little" }],
    [">i4", { kind: "int", size: 4, endian: "big" }],
    ["<u8", { kind: "uint", size: 8, endian: "little" }],
    ["<f2", { kind: "float", size: 2, endian: "little" }],
    [">c16", { kind: "complex", size: 16, endian: "big" }],
    ["<M8[ns]", { kind: "datetime", size: 8, endian: "little", unit: "ns", scale: 1 }],
    ["<M8[25s]", { kind: "datetime", size: 8, endian: "little", unit: "s", scale: 25 }],
    [">m8[D]", { kind: "timedelta", size: 8, endian: "big", unit: "D", scale: 1 }],
    ["<M8", { kind: "datetime", size: 8, endian: "little", unit: "generic", scale: 1 }],
    ["|S7", { kind: "bytes", size: 7 }],
    ["<U5", { kind: "utf32", size: 20, endian: "little" }],
    [">U1", { kind: "utf32", size: 4, endian: "big" }],
    ["|V300", { kind: "raw", size: 300 }],
  ];
  it.each(simple)("%s, there and back", (text, dtype) => {
    expect(numpy(text)).toEqual(dtype);
    expect(formatNumpyDtype(dtype)).toBe(text);
  });
  it("one byte needs no order, whatever mark it has", () => {
    for (const text of ["<u1", ">u1", "=u1", "u1"]) expect(formatNumpyDtype(numpy(text))).toBe("|u1");
    expect(formatNumpyDtype(numpy("<S3"))).toBe("|S3");
  });

  const nested = [
    [
      "p",
      [
        ["x", "<f4"],
        ["y", ">i2"],
      ],
    ],
    ["", "|V2"],
    ["q", "|b1", [2, 3]],
    ["", "|V7"],
  ];
  it("structs: nested, padded, with subarrays, there and back", () => {
    const dtype = numpy(nested);
    expect(dtype).toMatchObject({ kind: "struct", size: 21 });
    expect(dtype.kind === "struct" && dtype.fields.map(({ name, offset, shape }) => [name, offset, shape])).toEqual([
      ["p", 0, undefined],
      ["", 6, undefined],
      ["q", 8, [2, 3]],
      ["", 14, undefined],
    ]);
    expect(formatNumpyDtype(dtype)).toEqual(nested);
  });

  it.each(["|O", [["a", "|O"]]])("Python objects are refused as memory addresses: %j", (value) => {
    expect(() => numpy(value)).toThrow(/Python objects: the file holds only memory addresses/);
  });
  it.each(["=i4", "i4", "|i4", "=U3", "=M8[s]"])("%s does not tell its byte order", (text) => {
    expect(() => numpy(text)).toThrow(/without their byte order/);
  });
  it.each(["<f16", "<c32", "<i3", "<i16", "|b2", "<f8[ns]", "<g8", "<M4[s]"])("%s is Unsupported", (text) => {
    expect(() => numpy(text)).toThrow(Unsupported);
  });
  it.each([
    "|S0",
    "<U0",
    "|V0",
    "|S",
    [
      ["a", "<i4", [0]],
      ["b", "|V0"],
    ],
  ])("%j takes no bytes and is Unsupported", (value) => {
    expect(() => numpy(value)).toThrow(/take no bytes/);
  });
  it.each([
    "",
    "<",
    "int32",
    "<i4 ",
    "<M8[x]",
    "<M8[0s]",
    "<i-4",
    7,
    null,
    {},
    [],
    [[]],
    [["a"]],
    [["a", "<i4", [1], 2]],
    [[1, "<i4"]],
    [["a", "<i4", ["x"]]],
    [
      ["a", "<i4"],
      ["a", "<i4"],
    ],
  ])("%j is Corrupt", (value) => {
    expect(() => numpy(value as Json)).toThrow(Corrupt);
  });
  it.each([
    "|S2147483648",
    "|V9007199254740993",
    "<U536870912",
    [["a", "<i4", [1e9]]],
    [
      ["a", "|S2147483647"],
      ["b", "|S1"],
    ],
  ])("%j is LimitExceeded", (value) => {
    expect(() => numpy(value)).toThrow(LimitExceeded);
  });
});

describe("v3's types", () => {
  const forms: Json[] = [
    ..."bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 string".split(
      " ",
    ),
    "variable_length_bytes",
    { name: "numpy.datetime64", configuration: { unit: "ns", scale_factor: 10 } },
    { name: "numpy.timedelta64", configuration: { unit: "generic", scale_factor: 1 } },
    { name: "null_terminated_bytes", configuration: { length_bytes: 5 } },
    { name: "raw_bytes", configuration: { length_bytes: 3 } },
    { name: "fixed_length_utf32", configuration: { length_bytes: 20 } },
    {
      name: "structured",
      configuration: {
        fields: [
          ["a", "int32"],
          ["b", { name: "structured", configuration: { fields: [["x", "bool"]] } }],
        ],
      },
    },
  ];
  it.each(forms)("%j, there and back", (form) => {
    expect(formatV3Dtype(v3(form), "zarr.json")).toEqual(form);
  });
  it("two names for the same", () => {
    expect(v3("bytes")).toEqual(v3("variable_length_bytes"));
    expect(v3("r24")).toEqual(v3({ name: "raw_bytes", configuration: { length_bytes: 3 } }));
    expect(v3({ name: "int32" })).toEqual(v3("int32"));
    const fields = [{ name: "x", data_type: "float32" }];
    expect(v3(struct(fields))).toEqual(v3({ name: "structured", configuration: { fields: [["x", "float32"]] } }));
  });
  it("the byte order of the codec is that of every field", () => {
    expect(v3(struct([{ name: "x", data_type: "int16" }]), "big")).toMatchObject({
      fields: [{ dtype: { endian: "big" } }],
    });
  });
  it.each(["bfloat16", "int2", "int4", "uint4", "float8_e4m3", "r7", "r0", "float128", "optional", "constructor"])(
    "%s is Unsupported by name",
    (name) => {
      expect(() => v3(name)).toThrow(`zarr.json has the data type "${name}", which Octavo does not know`);
    },
  );
  it.each([
    7,
    null,
    [],
    {},
    { name: "raw_bytes" },
    { name: "raw_bytes", configuration: { length_bytes: -1 } },
    { name: "fixed_length_utf32", configuration: { length_bytes: 3 } },
    { name: "numpy.datetime64", configuration: { unit: "x", scale_factor: 1 } },
    { name: "numpy.datetime64", configuration: { unit: "s", scale_factor: 0 } },
    struct([]),
    struct([{ name: "s", data_type: "string" }]),
    struct([
      ["a", "int8"],
      ["a", "int8"],
    ]),
  ])("%j is Corrupt", (value) => {
    expect(() => v3(value as Json)).toThrow(Corrupt);
  });
  it("cannot express subarrays, big-endian fields and arrays as elements", () => {
    const write = (dtype: DataType) => () => formatV3Dtype(dtype, "zarr.json");
    expect(write(numpy([["v", "<f4", [3]]]))).toThrow(/subarray field "v"/);
    expect(write(numpy([["v", ">f4"]]))).toThrow(/big-endian field "v"/);
    expect(write({ kind: "vlen-array", item: numpy("<i4") })).toThrow(Unsupported);
  });
});
