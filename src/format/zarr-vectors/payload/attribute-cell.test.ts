import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expected, payloads } from "../../../../test/zarr-vectors-payloads.js";
import type { DataType } from "../../../bytes/dtype.js";
import { halfToNumber } from "../../../bytes/half.js";
import { Corrupt, InvalidInput, Unsupported } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import { attributeInfo } from "../read/schema.js";
import { AttributeCell } from "./attribute-cell.js";

const info = (dtype: DataType, channels = 1, more: Partial<AttributeInfo> = {}): AttributeInfo => ({
  name: "a",
  dtype,
  channels,
  ...more,
});
const little = { endian: "little" } as const;
const big = { endian: "big" } as const;
const parse = (bytes: ArrayLike<number>, of: AttributeInfo, rows: number) =>
  AttributeCell.parse(Uint8Array.from(bytes), of, rows, "x").values;

describe("values", () => {
  test("numbers in either order, bools, halves, 64 bits", () => {
    expect(parse([1, 2, 3, 4], info({ kind: "uint", size: 2, ...little }), 2)).toEqual(Uint16Array.of(0x0201, 0x0403));
    expect(parse([1, 2, 3, 4], info({ kind: "uint", size: 2, ...big }, 2), 1)).toEqual(Uint16Array.of(0x0102, 0x0304));
    expect(parse([1, 0], info({ kind: "bool", size: 1 }), 2)).toEqual(Uint8Array.of(1, 0));
    const half = parse([0, 0x3c], info({ kind: "float", size: 2, ...little }), 1) as Uint16Array;
    expect(halfToNumber(half[0]!)).toBe(1);
    expect(parse([1, 0, 0, 0, 0, 0, 32, 0], info({ kind: "int", size: 8, ...little }), 1)).toEqual(
      BigInt64Array.of(2n ** 53n + 1n),
    );
  });

  test("texts of one size", () => {
    const utf32 = info({ kind: "utf32", size: 8, ...little });
    expect(parse([0xe9, 0, 0, 0, 0, 0, 0, 0, 0x00, 0xf6, 1, 0, 0x41, 0, 0, 0], utf32, 2)).toEqual(["é", "😀A"]);
    expect(parse([0, 0, 0, 0xe9], info({ kind: "utf32", size: 4, ...big }), 1)).toEqual(["é"]);
    expect(parse([0x41, 0x42, 0xe9, 0], info({ kind: "bytes", size: 2 }), 2)).toEqual(["AB", "é"]);
  });

  test("any other number of bytes is Corrupt", () => {
    for (const n of [0, 7, 9, 16])
      expect(() => parse(new Uint8Array(n), info({ kind: "float", size: 4, ...little }, 2), 1)).toThrow(Corrupt);
    expect(parse([], info({ kind: "float", size: 4, ...little }, 2), 0)).toEqual(new Float32Array());
  });

  test("bools of 2, codes without a text and characters that are none are Corrupt", () => {
    expect(() => parse([2], info({ kind: "bool", size: 1 }), 1)).toThrow(Corrupt);
    const codes = info({ kind: "int", size: 1, ...little }, 1, { categories: ["a", "b"], absent: -1 });
    expect(parse([0, 1, 255], codes, 3)).toEqual(Int8Array.of(0, 1, -1));
    for (const wrong of [2, 254]) expect(() => parse([wrong], codes, 1)).toThrow(Corrupt);
    const wide = info({ kind: "uint", size: 8, ...little }, 1, { categories: ["a"] });
    expect(() => parse([0, 0, 0, 0, 1, 0, 0, 0], wide, 1)).toThrow(Corrupt);
    expect(() => parse([0, 0, 17, 0], info({ kind: "utf32", size: 4, ...little }), 1)).toThrow(Corrupt);
    expect(() => parse([], info({ kind: "string" }), 0)).toThrow(Unsupported);
  });
});

describe("writing", () => {
  test("a text that would be cut is refused", () => {
    const column = (text: string, dtype: DataType) => AttributeCell.encode({ info: info(dtype), values: [text] });
    expect(column("é", { kind: "bytes", size: 2 })).toEqual(Uint8Array.of(0xe9, 0));
    for (const text of ["abc", "😀", "a\0"])
      expect(() => column(text, { kind: "bytes", size: 2 })).toThrow(InvalidInput);
    for (const text of ["abc", "a\0"])
      expect(() => column(text, { kind: "utf32", size: 8, ...big })).toThrow(InvalidInput);
    expect(() => column("1", { kind: "int", size: 4, ...little })).toThrow(InvalidInput);
    const half = { info: info({ kind: "float", size: 4, ...little }, 2), values: new Float32Array(3) };
    expect(() => AttributeCell.encode(half)).toThrow(InvalidInput);
  });

  test("a dictionary has its texts in the order of code points, and −1 for none", () => {
    const texts = ["soma", "\u{1f600}", "axon", "\uff5e", "axon"];
    const column = AttributeCell.dictionary("kind", texts);
    expect(column.info.categories).toEqual(["axon", "soma", "\uff5e", "\u{1f600}"]);
    expect(column.values).toEqual(Uint8Array.of(1, 3, 0, 2, 0));
    const some = AttributeCell.dictionary("maybe", ["b", undefined, "a"]);
    expect([some.values, some.info.absent]).toEqual([Int8Array.of(1, -1, 0), -1]);
    const many = (n: number, more: undefined[] = []) =>
      AttributeCell.dictionary("n", [...Array.from({ length: n }, (_, i) => `${i}`), ...more]).values.constructor.name;
    expect([many(255), many(256), many(127, [undefined]), many(128, [undefined])]).toEqual([
      "Uint8Array",
      "Uint16Array",
      "Int8Array",
      "Int16Array",
    ]);
  });

  test("any column comes back", () => {
    const text = fc.constantFrom("", "a", "é", "b😀", "\0x", "\u{10ffff}zz");
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 20 }),
        fc.constantFrom("little" as const, "big" as const),
        (values, endian) => {
          const column = { info: info({ kind: "utf32", size: 12, endian }), values };
          expect(AttributeCell.parse(AttributeCell.encode(column), column.info, values.length, "x")).toEqual(column);
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.float32Array({ noNaN: true, maxLength: 20 }),
        fc.constantFrom("little" as const, "big" as const),
        (values, endian) => {
          const column = { info: info({ kind: "float", size: 4, endian }), values };
          expect(AttributeCell.parse(AttributeCell.encode(column), column.info, values.length, "x")).toEqual(column);
        },
      ),
    );
  });
});

test("the attributes of the golden stores come out the same, and their values are those of the reference", async () => {
  let compared = 0;
  for (const { store, path, key, attributes, bytes } of await payloads(
    /^\d+\/(vertex|fragment)_attributes\/[^/]+$/,
    /^v0\.9/,
  )) {
    if (bytes.length === 0) continue;
    const [level, family, name] = path.split("/") as [string, string, string];
    const of = attributeInfo(name, attributes as never, path);
    const said = expected(store).dump.levels[level].chunks[key][family]?.[name];
    const pieces: { shape: number[]; data: unknown[] }[] = Array.isArray(said)
      ? said
      : said === undefined
        ? []
        : [said];
    const rows = pieces.reduce((sum, { shape }) => sum + shape[0]!, 0);
    if (rows === 0) continue;
    const column = AttributeCell.parse(bytes, of, rows, `${store} ${path}`);
    expect(AttributeCell.encode(column)).toEqual(bytes);
    const bool = of.dtype.kind === "bool";
    const found = Array.from(column.values as ArrayLike<unknown>, (value) => (bool ? value === 1 : value));
    expect(found.map(String), `${store} ${path} ${key}`).toEqual(
      pieces.flatMap(({ data }) => data.flat(2)).map(String),
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(30);
});
