import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import type { DataType, FixedDataType } from "../../bytes/dtype.js";
import { Corrupt, LimitExceeded, NotFound, OctavoError, Unsupported } from "../../errors.js";
import { elementCount } from "../../space/shape.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { readNpy, writeNpy } from "./npy.js";
import { openNpy } from "./npy-rows.js";

/** A file by hand: version, header text, elements. */
function pack(major: number, header: string, ...data: number[]): Uint8Array {
  const text = new TextEncoder().encode(header);
  const length = major === 1 ? [text.length & 255, text.length >> 8] : [text.length & 255, text.length >> 8, 0, 0];
  return Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, major, 0, ...length, ...text, ...data);
}
const head = (descr: string, shape: string, fortran = "False") =>
  `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

describe("readNpy", () => {
  it("reads versions 1 to 3, big-endian and Fortran order", () => {
    expect(readNpy(pack(1, head("'<u2'", "(2,)"), 1, 0, 2, 0))).toEqual({
      shape: [2],
      dtype: { kind: "uint", size: 2, endian: "little" },
      data: Uint8Array.of(1, 0, 2, 0),
    });
    expect(readNpy(pack(2, head("'>u2'", "(1, 2)"), 0, 1, 0, 2)).data).toEqual(Uint8Array.of(1, 0, 2, 0));
    expect(readNpy(pack(3, head("'|u1'", "(2, 3)", "True"), 1, 4, 2, 5, 3, 6)).data).toEqual(
      Uint8Array.of(1, 2, 3, 4, 5, 6),
    );
    expect(readNpy(pack(1, head("'|b1'", "()"), 1)).shape).toEqual([]);
    expect(readNpy(pack(3, head("[('é', '<i2'), ('v', '|u1', (2,))]", "(1,)"), 1, 0, 8, 9)).dtype).toMatchObject({
      kind: "struct",
      size: 4,
      fields: [{ name: "é" }, { name: "v", shape: [2], offset: 2 }],
    });
  });

  it("refuses what is not whole", () => {
    const good = pack(1, head("'<u2'", "(2,)"), 1, 0, 2, 0);
    for (let length = 0; length < good.length; length++) {
      expect(() => readNpy(good.subarray(0, length))).toThrow(Corrupt);
    }
    expect(() => readNpy(Uint8Array.of(...good, 0))).toThrow(Corrupt);
    expect(() => readNpy(pack(1, head("'|O'", "(1,)"), 1))).toThrow(Unsupported);
    expect(() => readNpy(pack(4, head("'|u1'", "(1,)"), 1))).toThrow(Unsupported);
    expect(() => readNpy(pack(1, head("'<i4'", "(-1,)")))).toThrow(Corrupt);
    expect(() => readNpy(pack(1, head("__import__('os')", "(1,)"), 1))).toThrow(Corrupt);
    expect(() => readNpy(pack(1, head(`${"[".repeat(99)}`, "(1,)")))).toThrow(LimitExceeded);
    expect(() => readNpy(pack(1, "{'descr': '|u1', 'descr': '|u1'}"))).toThrow(Corrupt);
  });

  it("survives any header", () => {
    const alphabet = [
      "{",
      "}",
      "(",
      ")",
      "[",
      "]",
      "'",
      '"',
      ",",
      ":",
      "\\",
      "x",
      "u",
      "9",
      "-",
      "L",
      " ",
      "descr",
      "<i4",
      "True",
    ];
    const text = fc.array(fc.constantFrom(...alphabet), { maxLength: 30 }).map((words) => words.join(""));
    fc.assert(
      fc.property(text, fc.constantFrom(1, 2, 3), (header, version) => {
        try {
          readNpy(pack(version, header));
        } catch (error) {
          expect(error).toBeInstanceOf(OctavoError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("writeNpy", () => {
  const endian = fc.constant("little" as const);
  const simple: fc.Arbitrary<FixedDataType> = fc.oneof(
    fc.record({ kind: fc.constant("bool" as const), size: fc.constant(1 as const) }),
    fc.record({ kind: fc.constantFrom("int", "uint"), size: fc.constantFrom(1, 2, 4, 8), endian }),
    fc.record({ kind: fc.constant("float" as const), size: fc.constantFrom(2, 4, 8), endian }),
    fc.record({ kind: fc.constant("complex" as const), size: fc.constantFrom(8, 16), endian }),
    fc.record({
      kind: fc.constantFrom("datetime", "timedelta"),
      size: fc.constant(8 as const),
      endian,
      unit: fc.constantFrom("ns", "D", "s"),
      scale: fc.constantFrom(1, 25),
    }),
    fc.record({ kind: fc.constantFrom("bytes", "raw"), size: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant("utf32" as const), size: fc.constantFrom(4, 12), endian }),
  ) as fc.Arbitrary<FixedDataType>;
  const name = fc.string({ minLength: 1, maxLength: 6, unit: "binary" });
  const struct = fc
    .uniqueArray(fc.tuple(name, simple), { minLength: 1, maxLength: 4, selector: ([n]) => n })
    .map((list) => {
      let size = 0;
      const fields = list.map(([name, dtype]) => {
        const offset = size;
        size += dtype.size;
        return { name, dtype, offset };
      });
      return { kind: "struct", size, fields } as FixedDataType;
    });

  it("gives back what it was given", () => {
    fc.assert(
      fc.property(fc.oneof(simple, struct), fc.array(fc.nat(4), { maxLength: 3 }), (dtype, shape) => {
        const data = Uint8Array.from({ length: elementCount(shape) * dtype.size }, (_, i) => i & 255);
        const file = writeNpy({ shape, dtype, data });
        expect((file.length - data.length) % 64).toBe(0);
        expect(readNpy(file)).toEqual({ shape, dtype, data });
      }),
      { numRuns: 300 },
    );
  });

  it("refuses elements of variable size", () => {
    const dtype: DataType = { kind: "string" };
    expect(() => writeNpy({ shape: [1], dtype, data: ["a"] })).toThrow(Unsupported);
  });

  it("agrees with numpy on every golden file", () => {
    const folder = join(fixtures("zarr"), "expected", "npy");
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) {
      const bytes = new Uint8Array(readFileSync(join(folder, file)));
      const array = readNpy(bytes);
      expect(Buffer.compare(readNpy(writeNpy(array)).data as Uint8Array, array.data as Uint8Array)).toBe(0);
      // numpy leaves 16 bytes more room for a growing shape in some releases, so headers are compared by their text.
      const text = (raw: Uint8Array) => /\{.*\}/.exec(Buffer.from(raw.subarray(0, 512)).toString("latin1"))?.[0];
      const swapped = "endian" in array.dtype && array.dtype.endian === "big";
      const fortran = text(bytes)?.includes("True") ?? false;
      if (!swapped && !fortran) expect(text(writeNpy(array))).toBe(text(bytes));
    }
  });
});

describe("openNpy", () => {
  const key = Key.of("a.npy");
  const opened = async (bytes: Uint8Array) => {
    const store = memoryStore();
    await store.set(key, bytes);
    return openNpy(store, key);
  };

  it.each([
    ["C order", pack(1, head("'<u2'", "(3, 2)"), 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0)],
    ["big-endian", pack(2, head("'>u2'", "(3, 2)"), 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6)],
    ["Fortran order", pack(3, head("'<u2'", "(3, 2)", "True"), 1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0)],
    ["Fortran order, big-endian", pack(1, head("'>u2'", "(3, 2)", "True"), 0, 1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6)],
  ])("gives rows: %s", async (_, bytes) => {
    const { shape, read } = await opened(bytes);
    expect(shape).toEqual([3, 2]);
    const all = Uint8Array.of(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0);
    for (const [start, stop] of [
      [0, 3],
      [1, 2],
      [1, 3],
      [2, 2],
    ] as const) {
      const rows = await read(start, stop);
      expect(rows.shape).toEqual([stop - start, 2]);
      expect(rows.data).toEqual(all.subarray(4 * start, 4 * stop));
    }
  });

  it("refuses what is not whole, not there, or has no rows", async () => {
    await expect(opened(pack(1, head("'<u2'", "(3, 2)"), 1, 0))).rejects.toThrow(Corrupt);
    await expect(opened(pack(1, head("'<u2'", "(1,)"), 1, 0))).rejects.toThrow(Unsupported);
    await expect(openNpy(memoryStore(), key)).rejects.toThrow(NotFound);
  });
});
