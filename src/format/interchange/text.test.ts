import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { openFile } from "./file.js";
import { parseNumber, Scanner, textBlocks } from "./text.js";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): number => parseNumber(ascii(text), 0, text.length);

describe("numbers in text", () => {
  it("are what Number makes of them", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (value, digits) => {
        for (const text of [`${value}`, value.toExponential(digits), value.toPrecision(digits + 1)])
          expect(parse(text)).toBe(Number(text));
      }),
    );
    for (const text of [
      "0",
      "-0",
      "+1.5",
      ".5",
      "5.",
      "1e22",
      "1e23",
      "1e-22",
      "123456789012345678",
      "00012.50",
      "1E5",
    ])
      expect(parse(text)).toBe(Number(text));
  });
  it("are infinite where they say so, and none where they are none", () => {
    expect([parse("inf"), parse("-Infinity")]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    for (const text of ["", "-", ".", "e5", "1e", "1e+", "0x10", "1_0", "nan", "1.2.3", "12a"])
      expect(parse(text)).toBeNaN();
  });
});

describe("a text file", () => {
  it("comes in whole lines with their numbers and places, packed or not", async () => {
    const store = memoryStore();
    const text = `${"word 1 2.5\n".repeat(500_000)}last`;
    await store.set(Key.of("a.txt"), ascii(text));
    const { gzipSync } = await import("node:zlib");
    await store.set(Key.of("a.txt.gz"), Uint8Array.from(gzipSync(text)));
    for (const name of ["a.txt", "a.txt.gz"]) {
      let [line, all] = [1, ""];
      for await (const block of textBlocks(await openFile(store, Key.of(name)))) {
        expect([block.line, block.offset]).toEqual([line, all.length]);
        const own = new TextDecoder().decode(block.bytes);
        all += own;
        line += own.split("\n").length - 1;
      }
      expect(all).toBe(text);
    }
  });
  it("is taken word by word", () => {
    const scanner = new Scanner({ bytes: ascii(" v 1 -2.5e0\r\n# a b \n") }, "x.obj");
    expect([scanner.word(), scanner.integer("an x"), scanner.number("a y"), scanner.ends()]).toEqual([
      "v",
      1,
      -2.5,
      true,
    ]);
    expect(() => scanner.number("a z")).toThrow("x.obj, line 1: nothing where a z was expected");
    expect(scanner.next()).toBe(true);
    expect(() => scanner.number("a z")).toThrow('x.obj, line 2: "#" where a z was expected');
    expect([scanner.rest(), scanner.next()]).toEqual(["# a b", false]);
  });
  it("that is damaged gzip is Corrupt", async () => {
    const store = memoryStore();
    const { gzipSync } = await import("node:zlib");
    const packed = Uint8Array.from(gzipSync("word ".repeat(100_000)));
    await store.set(Key.of("cut.gz"), packed.subarray(0, packed.length - 9));
    const flipped = packed.slice();
    flipped[packed.length - 6]! ^= 1;
    await store.set(Key.of("flipped.gz"), flipped);
    for (const name of ["cut.gz", "flipped.gz"]) {
      const file = await openFile(store, Key.of(name));
      await expect(file.read(0, 1 << 20)).rejects.toThrow(`memory:/${name} is damaged`);
    }
  });
});
