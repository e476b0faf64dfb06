import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import { Reader } from "./reader.js";
import { fromNumber, I64, toNumber, U64 } from "./u64.js";
import { Writer } from "./writer.js";

const twelve = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xfe, 0xfd, 0xfc);

describe("Reader", () => {
  test("reads both byte orders", () => {
    const little = new Reader(twelve, "x");
    expect([little.u8(), little.u16(), little.u32()]).toEqual([1, 0x0302, 0x07060504]);
    little.seek(8);
    expect([little.i8(), little.i16()]).toEqual([-1, -514]);
    const big = new Reader(twelve, "x", "big");
    expect(big.u64()).toBe(0x0102030405060708n);
    expect(big.i32()).toBe(-66052);
    expect(big.remaining).toBe(0);
  });

  test("views start where the array starts, not where its buffer does", () => {
    const reader = new Reader(twelve.subarray(4), "x");
    expect(reader.u32()).toBe(0x08070605);
    expect([...reader.bytes(2)]).toEqual([0xff, 0xfe]);
    expect(reader.offset).toBe(6);
  });

  test("the first byte out of range throws, with the numbers", () => {
    const reader = new Reader(twelve, "the header");
    reader.skip(10);
    expect(() => reader.u32()).toThrow(new Corrupt("the header needs 4 bytes at byte 10, but 2 are left"));
    expect(reader.u16()).toBe(0xfcfd);
    for (const n of [-1, 1.5, Number.NaN, 1, 2 ** 53]) expect(() => reader.bytes(n)).toThrow(Corrupt);
    for (const at of [-1, 13, 0.5, Number.NaN]) expect(() => reader.seek(at)).toThrow(Corrupt);
    reader.seek(12);
  });

  test("a claimed count is checked against what remains", () => {
    const reader = new Reader(twelve, "x");
    expect(reader.count(3, 4)).toBe(3);
    expect(reader.count(12n, 1)).toBe(12);
    expect(() => reader.count(13, 0)).toThrow(Corrupt); // items of no bytes are bounded too
    for (const n of [4, -1, 2n ** 63n, 0xffffffff, 0.5, Number.NaN]) expect(() => reader.count(n, 4)).toThrow(Corrupt);
  });

  test("what follows the end is noticed", () => {
    const reader = new Reader(twelve, "x");
    reader.skip(11);
    expect(() => reader.end()).toThrow(/1 more bytes/);
    reader.skip(1);
    reader.end();
  });

  test("a size is exact up to 2^53 - 1 and refused beyond", () => {
    const of = (value: bigint) => {
      const writer = new Writer();
      writer.u64(value);
      return new Reader(writer.finish(), "x");
    };
    expect(of(2n ** 53n - 1n).size()).toBe(Number.MAX_SAFE_INTEGER);
    for (const value of [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, U64.MAX]) {
      expect(() => of(value).size()).toThrow(LimitExceeded);
      expect(of(value).u64()).toBe(value);
    }
  });
});

describe("Writer", () => {
  const fields = {
    u8: fc.nat(0xff),
    u16: fc.nat(0xffff),
    u32: fc.nat(0xffffffff),
    i8: fc.integer({ min: -0x80, max: 0x7f }),
    i16: fc.integer({ min: -0x8000, max: 0x7fff }),
    i32: fc.integer(),
    u64: fc.bigInt({ min: 0n, max: U64.MAX }),
    i64: fc.bigInt({ min: I64.MIN, max: I64.MAX }),
    size: fc.maxSafeNat(),
    f32: fc.float(),
    f64: fc.double(),
    bytes: fc.uint8Array(),
  };
  type Name = keyof typeof fields;
  const field = fc
    .constantFrom(...(Object.keys(fields) as Name[]))
    .chain((name) => fc.tuple(fc.constant(name), fields[name] as fc.Arbitrary<never>));

  test("what is written is read back", () => {
    fc.assert(
      fc.property(fc.array(field), fc.constantFrom("little" as const, "big" as const), (written, endian) => {
        const writer = new Writer(endian, 1);
        for (const [name, value] of written) writer[name](value);
        const reader = new Reader(writer.finish(), "x", endian);
        for (const [name, value] of written) {
          const read = name === "bytes" ? reader.bytes((value as Uint8Array).length) : reader[name]();
          expect(read).toEqual(value);
        }
        reader.end();
      }),
    );
  });

  test("goes back to fill in, and keeps the length", () => {
    const writer = new Writer("big");
    writer.skip(4);
    writer.bytes(Uint8Array.of(9, 9));
    writer.seek(0);
    writer.u32(writer.length);
    writer.seek(writer.length);
    writer.u8(7);
    expect([...writer.finish()]).toEqual([0, 0, 0, 6, 9, 9, 7]);
    expect(() => writer.seek(8)).toThrow(InvalidInput);
  });

  test("a value that does not fit is refused", () => {
    const writer = new Writer();
    expect(() => writer.u8(256)).toThrow(InvalidInput);
    expect(() => writer.i16(-32769)).toThrow(InvalidInput);
    expect(() => writer.u32(1.5)).toThrow(InvalidInput);
    expect(() => writer.size(2 ** 53)).toThrow(InvalidInput);
    expect(() => writer.u64(2n ** 64n)).toThrow(InvalidInput);
    expect(() => writer.u64(-1n)).toThrow(InvalidInput);
    expect(() => writer.i64(2n ** 63n)).toThrow(InvalidInput);
  });
});

describe("the 64-bit border", () => {
  test("crosses exactly or not at all", () => {
    expect(toNumber(-(2n ** 53n) + 1n, "x")).toBe(Number.MIN_SAFE_INTEGER);
    expect(() => toNumber(2n ** 53n + 1n, "the offset")).toThrow(/^the offset is 9007199254740993, beyond/);
    expect(fromNumber(5, "x")).toBe(5n);
    for (const value of [2 ** 53, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => fromNumber(value, "x")).toThrow(InvalidInput);
  });

  test("parses decimal text only", () => {
    expect(U64.parse("18446744073709551615", "x")).toBe(U64.MAX);
    expect(U64.parse("007", "x")).toBe(7n);
    for (const text of ["18446744073709551616", "", "-1", "1.0", " 1", "0x1", "1e3", "9".repeat(1e5)])
      expect(() => U64.parse(text, "x")).toThrow(Corrupt);
  });

  test("agrees with DataView in both orders at any offset", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: I64.MIN, max: I64.MAX }), fc.nat(7), fc.boolean(), (value, at, little) => {
        const endian = little ? "little" : "big";
        const bytes = new Uint8Array(16);
        I64.set(bytes, at, value, endian);
        const view = new DataView(bytes.buffer);
        expect(view.getBigInt64(at, little)).toBe(value);
        expect(I64.get(bytes, at, endian)).toBe(value);
        expect(U64.get(bytes, at, endian)).toBe(BigInt.asUintN(64, value));
      }),
    );
    expect(() => U64.get(new Uint8Array(8), 1)).toThrow(Corrupt);
    expect(() => U64.set(new Uint8Array(8), -1, 0n)).toThrow(InvalidInput);
  });
});
