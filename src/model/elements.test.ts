import { describe, expect, it } from "vitest";
import type { DataType } from "../bytes/dtype.js";
import { InvalidInput } from "../errors.js";
import { ndarray, typed, valueAt } from "./elements.js";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const one = (dtype: DataType, data: Uint8Array) => valueAt({ shape: [1], dtype, data }, 0);

describe("typed", () => {
  it("shares memory where it can and copies where the buffer is not aligned", () => {
    const values = Int32Array.of(1, -2, 3);
    const array = ndarray([3], values);
    expect(array.dtype).toEqual({ kind: "int", size: 4, endian: "little" });
    expect(typed(array)).toEqual(values);
    expect(typed(array).buffer).toBe(values.buffer);
    const odd = new Uint8Array(13).subarray(1);
    odd.set(array.data as Uint8Array);
    expect(typed({ ...array, data: odd })).toEqual(values);
  });

  it("has a view for each kind", () => {
    const endian = "little";
    const sixteen = new Uint8Array(16);
    const view = (dtype: DataType) => typed({ shape: [], dtype, data: sixteen }).constructor.name;
    expect(view({ kind: "uint", size: 8, endian })).toBe("BigUint64Array");
    expect(view({ kind: "float", size: 2, endian })).toBe("Uint16Array");
    expect(view({ kind: "complex", size: 16, endian })).toBe("Float64Array");
    expect(view({ kind: "datetime", size: 8, endian, unit: "ns", scale: 1 })).toBe("BigInt64Array");
    expect(view({ kind: "bool", size: 1 })).toBe("Uint8Array");
    expect(() => typed(ndarray([2], ["a", "b"]))).toThrow(InvalidInput);
  });

  it("refuses values that are not the shape", () => {
    expect(() => ndarray([2, 2], Float32Array.of(1, 2, 3))).toThrow(InvalidInput);
  });
});

describe("valueAt", () => {
  it("reads each kind of element", () => {
    const endian = "little";
    expect(one({ kind: "bool", size: 1 }, bytes(1))).toBe(true);
    expect(one({ kind: "int", size: 2, endian }, bytes(0xfe, 0xff))).toBe(-2);
    expect(one({ kind: "uint", size: 8, endian }, bytes(255, 255, 255, 255, 255, 255, 255, 255))).toBe(2n ** 64n - 1n);
    expect(one({ kind: "float", size: 2, endian }, bytes(0, 0x3c))).toBe(1);
    expect(one({ kind: "complex", size: 8, endian }, bytes(0, 0, 128, 63, 0, 0, 0, 192))).toEqual([1, -2]);
    expect(one({ kind: "bytes", size: 4 }, bytes(0x61, 0, 0xff, 0))).toBe("a\0ÿ");
    expect(one({ kind: "utf32", size: 8, endian }, bytes(0x22, 0x6f, 0, 0, 0, 0, 0, 0))).toBe("漢");
    expect(one({ kind: "raw", size: 2 }, bytes(1, 2))).toEqual(bytes(1, 2));
  });

  it("reads the fields of a struct in their own byte order, whatever their names", () => {
    const dtype: DataType = {
      kind: "struct",
      size: 12,
      fields: [
        { name: "__proto__", offset: 0, dtype: { kind: "int", size: 2, endian: "big" } },
        { name: "v", offset: 2, shape: [2], dtype: { kind: "uint", size: 1, endian: "little" } },
        { name: "t", offset: 4, dtype: { kind: "utf32", size: 4, endian: "big" } },
        { name: "n", offset: 8, dtype: { kind: "float", size: 4, endian: "little" } },
      ],
    };
    const value = one(dtype, bytes(1, 2, 3, 4, 0, 0, 0, 0x41, 0, 0, 128, 63)) as object;
    expect(Object.entries(value)).toEqual([
      ["__proto__", 258],
      ["v", [3, 4]],
      ["t", "A"],
      ["n", 1],
    ]);
  });
});
