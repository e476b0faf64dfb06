import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Corrupt, LimitExceeded } from "../../../errors.js";
import { Directory } from "./nodes-directory.js";

describe("a directory", () => {
  test("is in numeric order, not that of texts, and has each chunk once", () => {
    const { count, coords } = Directory.ofKeys(["10.0", "9.1", "-1.0", "9.1", "9.-2"], 2, "it");
    expect(count).toBe(4);
    expect([...coords]).toEqual([-1, 0, 9, -2, 9, 1, 10, 0]);
    expect(Directory.ofKeys([], 3, "it")).toEqual({ count: 0, rank: 3, coords: new Int32Array(0) });
  });
  test.each(["", "1", "1.", ".1", "1.2.3", "01.2", "-0.1", "1.+2", "1e3.2", "1.2 ", "a.b"])(
    "has no chunk %j",
    (key) => {
      expect(() => Directory.ofKeys([key], 2, "it")).toThrow(Corrupt);
    },
  );
  test("has no coordinates beyond 32 bits", () => {
    expect(() => Directory.ofKeys(["2147483648.0"], 2, "it")).toThrow(LimitExceeded);
    expect(Directory.ofKeys(["-2147483648.2147483647"], 2, "it").count).toBe(1);
  });
  test("finds what it has, and nothing else", () => {
    const place = fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(place), fc.array(place), (inside, others) => {
        const directory = Directory.ofKeys(
          inside.map((at) => at.join(".")),
          3,
          "it",
        );
        const names = new Set(inside.map(String));
        expect(directory.count).toBe(names.size);
        for (const at of [...inside, ...others]) {
          const row = Directory.find(directory, at);
          expect(row >= 0).toBe(names.has(String(at)));
          if (row >= 0) expect(Directory.key(directory.coords, 3 * row, 3)).toBe(at.join("."));
        }
      }),
    );
  });
});
