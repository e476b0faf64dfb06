import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Key, Prefix } from "./key.js";

const wrong = [
  "",
  "/",
  "/a",
  "a/",
  "a//b",
  ".",
  "..",
  "a/..",
  "../a",
  "a/./b",
  "a\\b",
  "a\0",
  "a\nb",
  "\x7f",
  "\ud800",
  "a\udc00b",
];
const refused = expect.objectContaining({ name: "InvalidInput" });

describe("keys", () => {
  it("are segments joined with a slash, none of them a step", () => {
    for (const text of wrong) {
      expect(() => Key.of(text), JSON.stringify(text)).toThrow(refused);
      expect(Key.is(text)).toBe(false);
    }
    for (const text of ["a", "..a", "a..", "...", "a b", "c/0.0", "🧠/層", "%2e%2e/x", "a".repeat(1024)])
      expect(Key.of(text)).toBe(text);
    expect(() => Key.of("a".repeat(1025))).toThrow(/1025 characters/);
    expect(() => Key.of("a".repeat(5e6))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("a".repeat(50)) }),
    );
  });
  it("joined to a prefix stay below it, whatever the name", () => {
    const base = Prefix.of("base/of");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", ".", "/", "..", "\\", "%2e", "b") }), (name) => {
        if (!Key.is(name)) return;
        const url = new URL(Key.join(base, name).split("/").map(encodeURIComponent).join("/"), "http://h/");
        expect(url.pathname.startsWith("/base/of/")).toBe(true);
      }),
    );
    for (const name of ["../x", "", "a/../../x"]) expect(() => Key.join(base, name)).toThrow(refused);
  });
});

describe("prefixes", () => {
  it("end in a slash, or are the root", () => {
    expect([Prefix.of(""), Prefix.of("/"), Prefix.of("a/b"), Prefix.of("a/b/")]).toEqual(["", "", "a/b/", "a/b/"]);
    expect(Prefix.join(Prefix.of("a"), "b")).toBe("a/b/");
    expect(Prefix.join(Prefix.of("a"), "")).toBe("a/");
    for (const text of ["//", "/a", "..", "a/../", "a//"]) expect(() => Prefix.of(text)).toThrow(refused);
  });
});
