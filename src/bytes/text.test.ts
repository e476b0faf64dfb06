import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, InvalidInput } from "../errors.js";
import { decodeUcs4, decodeUtf8, encodeUcs4, encodeUtf8 } from "./text.js";

describe("UTF-8", () => {
  test("there and back, with its byte order mark", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(decodeUtf8(encodeUtf8(text, "x"), "x")).toBe(text);
      }),
    );
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41), "x")).toBe("\ufeffA");
  });
  test("what is not UTF-8 is refused, both ways", () => {
    expect(() => decodeUtf8(Uint8Array.of(0x41, 0xc3), "the name")).toThrow(new Corrupt("the name is not valid UTF-8"));
    for (const text of ["\ud800", "a\udc00", "\udc00\ud800"]) expect(() => encodeUtf8(text, "x")).toThrow(InvalidInput);
  });
});

describe("UCS-4", () => {
  test("three characters in five places", () => {
    const bytes = encodeUcs4("aé😀", 20);
    expect([...bytes]).toEqual([0x61, 0, 0, 0, 0xe9, 0, 0, 0, 0, 0xf6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(decodeUcs4(bytes, "x")).toBe("aé😀");
  });
  test("what does not fit is cut off at a character", () => {
    expect(decodeUcs4(encodeUcs4("ab😀c", 12), "x")).toBe("ab😀");
  });
  test("only zeros at the end are padding", () => {
    expect(decodeUcs4(encodeUcs4("\0a\0", 16), "x")).toBe("\0a");
    expect(decodeUcs4(new Uint8Array(0), "x")).toBe("");
  });
  test("no code point, no text", () => {
    for (const bytes of [
      [0, 0, 0x11, 0],
      [0xff, 0xff, 0xff, 0xff],
    ])
      expect(() => decodeUcs4(Uint8Array.from(bytes), "x")).toThrow(Corrupt);
  });
});
