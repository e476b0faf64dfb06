/** Runs and deltas by hand; and what the library writes and reads in every encoding passes, while claims that would keep it busy do not. */
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { Reader } from "../../bytes/reader.js";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { file } from "./parquet.js";
import { checkDeltas, checkLevels, checkRuns, checkValues, type Leaf } from "./parquet-runs.js";

const of = (...bytes: number[]) => new Reader(Uint8Array.from(bytes), "it");
const HUGE = [0xff, 0xff, 0xff, 0xff, 0x07]; // 2^31 − 1, the largest

describe("runs", () => {
  it("of one value, of packed values, and how many are wanted", () => {
    const reader = of(6, 2, 3, 0b10_01_10_00, 0b10_10_10_10, 7); // 3 × 2, then 0 2 1 2, 2 2 2 2 in 2 bits each
    expect(checkRuns(reader, 2, 11, 2)).toBe(9);
    expect(reader.offset).toBe(5);
    expect(checkRuns(of(3, 0b1111_0101), 1, 5, 1)).toBe(3); // what is behind the last value does not count
  });

  it("levels end where their length says", () => {
    const reader = of(3, 0, 0, 0, 8, 1, 99, 42);
    expect(checkLevels(reader, 1, 4)).toBe(4);
    expect(reader.u8()).toBe(42);
    expect(() => checkLevels(of(9, 0, 0, 0, 8, 1), 1, 4)).toThrow("points to byte 13");
  });

  it("without bits: a byte that should not be there is taken, as the library does", () => {
    const reader = of(3, 8, 42);
    checkRuns(reader, 0, 8);
    expect(reader.offset).toBe(2);
    expect(checkRuns(of(3), 0, 8)).toBe(0);
  });

  it.each([
    ["one value too many", [10, 1], "a run of 5 values at byte 0, where 4 are left"],
    ["too many in the second run", [4, 1, 6, 1], "a run of 3 values at byte 2, where 2 are left"],
    ["as many as can be", [0xfe, 0xff, 0xff, 0xff, 0x07, 1], "a run of 1073741823 values"],
    ["packed, as many as can be", [...HUGE, 1], "a run of 8589934584 values"],
    ["packed, a negative number of them", [0xff, 0xff, 0xff, 0xff, 0x0f, 1], "more than 31 bits"],
    ["a length that does not end", [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0], "more than 31 bits"],
    ["nothing", [], "needs 1 bytes"],
    ["packed beyond the end", [5, 1], "needs 2 bytes"],
    ["empty runs until the end", [0, 0, 0, 0, 1], "needs 1 bytes"],
  ])("%s", (_, bytes, message) => {
    expect(() => checkRuns(of(...bytes), 1, 4)).toThrow(message);
    expect(() => checkRuns(of(...bytes), 1, 4)).toThrow(Corrupt);
  });

  it("values wider than 32 bits", () => expect(() => checkRuns(of(2, 0), 33, 1)).toThrow("values of 33 bits"));
});

describe("deltas", () => {
  const HEADER = [8, 1, 4]; // blocks of 8 in one part, 4 values
  const lengths = (...bytes: number[]) => [...checkDeltas(of(...HEADER, ...bytes), 4, true)];

  it("are added up where they are lengths", () => {
    expect(lengths(10, 1, 2, 0b11_00_01, 0)).toEqual([5, 5, 4, 6]); // first 5, least −1, then 1 0 3 in 2 bits each
    expect(lengths(10, 0, 0)).toEqual([5, 5, 5, 5]);
    expect(() => lengths(10, 3, 0)).toThrow("a text of -1 bytes");
    expect(() => lengths(...HUGE, 0, 0)).toThrow("a text of -1073741824 bytes");
    expect(() => lengths(10, 0, 33, ...Array<number>(33).fill(0))).toThrow("deltas of 33 bits");
  });

  it.each([
    ["as many parts as can be", [8, ...HUGE, 4, 0, 0, 0], "claims 2147483647 items"],
    ["no parts", [8, 0, 4, 0, 0, 0], "blocks of 8 values in 0 parts"],
    ["no values in a part", [0, 1, 4, 0, 0, 0], "blocks of 0 values in 1 parts"],
    ["parts of a byte and a half", [12, 1, 4, 0, 0, 0], "blocks of 12 values in 1 parts"],
    ["wider than values are", [8, 1, 4, 0, 0, 65, ...Array<number>(65).fill(0)], "deltas of 65 bits"],
    ["a first value without end", [8, 1, 4, ...Array<number>(99).fill(0x80)], "more than 64 bits"],
    ["a part beyond the end", [8, 1, 4, 0, 0, 2, 0], "needs 2 bytes"],
  ])("%s", (_, bytes, message) => expect(() => checkDeltas(of(...bytes), 4)).toThrow(message));
});

describe("values", () => {
  const leaf = { type: "BYTE_ARRAY", typeLength: 0, repetition: 0, definition: 0 } as const;
  const check = (
    encoding: number,
    count: number,
    bytes: readonly number[],
    own: Partial<Leaf> = {},
    version: 1 | 2 = 2,
  ) => checkValues(of(...bytes), { ...leaf, ...own }, { encoding, version, count }, 1000);
  const [SHARED, SPLIT] = [7, 9];

  it("texts that share bytes: no more than there are, and not without end", () => {
    const even = (first: number, delta: number, count: number) => [8, 1, count, 2 * first, 2 * delta, 0];
    const texts = (shared: number) => [...even(0, shared, 2), ...even(60, 0, 2)]; // 60 bytes; then some of those and 60 more
    expect(() => check(SHARED, 2, texts(60))).not.toThrow();
    expect(() => check(SHARED, 2, texts(61))).toThrow("shares 61 bytes with one of 60");
    expect(() => check(SHARED, 1, [8, 1, 1, 2, 8, 1, 1, 2])).toThrow("shares 1 bytes with one of 0");
    const growing = [...even(0, 60, 9), ...even(60, 0, 9)]; // 60, 120, 180 …
    expect(() => check(SHARED, 9, growing)).toThrow(LimitExceeded);
  });

  it("bytes of values side by side are there", () => {
    expect(() => check(SPLIT, 2, Array<number>(8).fill(0), { type: "FLOAT" })).not.toThrow();
    expect(() => check(SPLIT, 3, Array<number>(8).fill(0), { type: "FLOAT" })).toThrow("claims 3 items");
    const wide = { type: "FIXED_LEN_BYTE_ARRAY", typeLength: 2 ** 30 } as const;
    expect(() => check(SPLIT, 3, [0], wide)).toThrow("claims 3 items");
  });

  it("flags have a length before them, where the library expects one", () => {
    expect(() => check(3, 4, [2, 0, 0, 0, 8, 1], { type: "BOOLEAN" }, 1)).not.toThrow();
    expect(() => check(3, 4, [2, 0, 0, 0, 8, 1])).not.toThrow();
    expect(() => check(8, 4, [3, 8, 1])).not.toThrow();
    expect(() => check(8, 4, [40, 8, 1])).toThrow("values of 40 bits");
    expect(() => check(4, 4, [8, 1])).toThrow(Unsupported);
  });
});

describe("pages of every encoding", () => {
  const N = 300;
  const column = <T>(make: (i: number) => T): T[] => Array.from({ length: N }, (_, i) => make(i));
  /** Packed by `pack`, or not at all. */
  const table = (pack?: (bytes: Uint8Array) => Uint8Array): Uint8Array =>
    new Uint8Array(
      parquetWriteBuffer({
        codec: pack === undefined ? "UNCOMPRESSED" : "GZIP",
        compressors: pack === undefined ? {} : { GZIP: pack },
        pageSize: 600,
        columnData: [
          { name: "x", data: column((i) => i / 3), type: "DOUBLE", encoding: "BYTE_STREAM_SPLIT" },
          { name: "y", data: column((i) => i % 5), type: "INT32", encoding: "DELTA_BINARY_PACKED" },
          { name: "big", data: column((i) => BigInt(i * i) << 20n), type: "INT64", encoding: "DELTA_BINARY_PACKED" },
          { name: "gap", data: column((i) => (i % 7 < 3 ? null : i % 4)), type: "INT32", encoding: "RLE_DICTIONARY" },
          { name: "one", data: column(() => 1), type: "INT32", encoding: "RLE_DICTIONARY" },
          { name: "flag", data: column((i) => i % 3 === 0), type: "BOOLEAN", encoding: "RLE" },
          { name: "a", data: column((i) => `a${i}`), type: "STRING", encoding: "DELTA_LENGTH_BYTE_ARRAY" },
          { name: "b", data: column((i) => `text ${i}`), type: "STRING", encoding: "DELTA_BYTE_ARRAY" },
        ],
      }),
    );
  const limits = { chunkBytes: 1 << 20, metadataBytes: 1 << 20 };
  const read = async (bytes: Uint8Array) => (await openBytes(file, "a.parquet", bytes, { limits })).select().read();

  it.each([
    ["not packed", undefined],
    ["packed", gzipSync],
  ])("%s, they are read", async (_, pack) => {
    const { vertexColumns } = await read(table(pack));
    const values = (name: string) => [...vertexColumns.get(name)!.values];
    expect(values("big")).toEqual(column((i) => BigInt(i * i) << 20n));
    expect(values("one")).toEqual(column(() => 1));
    expect(values("flag")).toEqual(column((i) => Number(i % 3 === 0)));
    expect(values("a")).toEqual(column((i) => `a${i}`));
    expect(values("b")).toEqual(column((i) => `text ${i}`));
    const gaps = values("gap");
    expect(new Set(gaps.filter((_, i) => i % 7 < 3)).size).toBe(1);
    expect(gaps.filter((_, i) => i % 7 >= 3).map(Number)).toEqual(
      column((i) => i).flatMap((i) => (i % 7 < 3 ? [] : i % 4)),
    );
  });

  it("with the largest numbers anywhere in them, they are values or one of our errors", {
    timeout: 30_000,
  }, async () => {
    const bytes = table();
    let refused = 0;
    const attempt = async (damaged: Uint8Array): Promise<void> => {
      try {
        await read(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
        refused++;
      }
    };
    for (let at = 4; at < bytes.length; at += 131)
      for (const last of [0x07, 0x0f, 0x7f]) {
        const damaged = bytes.slice();
        damaged.set([0xff, 0xff, 0xff, 0xff, last].slice(0, bytes.length - at), at);
        await attempt(damaged);
      }
    for (let at = 0; at < 24; at += 3)
      await attempt(
        table((page) => {
          const damaged = page.slice();
          damaged.set(HUGE.slice(0, Math.max(0, page.length - at)), Math.min(at, page.length));
          return gzipSync(damaged);
        }),
      );
    expect(refused).toBeGreaterThan(10);
  });
});
