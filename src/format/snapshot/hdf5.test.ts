/** The layer over the HDF5 library: what is read, what is refused, and that nothing outside of a file is ever touched. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { Conflict, Corrupt, LimitExceeded, NotFound, OctavoError, Unsupported } from "../../errors.js";
import { fileStore } from "../../store/file.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Hdf5File } from "./hdf5-file.js";
import type { FileSystem } from "./hdf5-instance.js";
import { loadHdf5 } from "./hdf5-library.js";
import { openHdf5 } from "./hdf5-source.js";
import { parseBits, readBits } from "./hdf5-type.js";
import { writeHdf5 } from "./hdf5-write.js";

const golden = fixtures("hdf5");
const folder = mkdtempSync(join(tmpdir(), "octavo-hdf5-"));
afterAll(() => rmSync(folder, { recursive: true }));

const inFile = async <T>(name: string, work: (file: Hdf5File) => T): Promise<T> =>
  (await openHdf5(fileStore(golden), Key.of(name))).use(work);

test("attributes of all kinds are values, and others are left out", async () => {
  expect(Object.fromEntries(await inFile("plain.hdf5", (file) => file.attributes("/")))).toEqual({
    text: "h\u00e9llo",
    fixed: "abc",
    list: [1.5, 2.5],
    "big-endian": [1, 2],
    texts: ["a", "bb"],
    flag: 1,
    u64: 2n ** 64n - 1n,
    none: [],
  });
});

test("rows of numbers come in the byte order of this machine, unpacked and checked", async () => {
  await inFile("plain.hdf5", (file) => {
    const rows = (name: string, first: number, count: number) => file.rows(file.dataset(`/g/${name}`)!, first, count);
    expect(rows("big-endian", 1, 2)).toEqual(Float32Array.of(3, 4, 5, 6, 7, 8));
    expect(rows("u64", 0, 2)).toEqual(BigUint64Array.of(2n ** 63n, 2n ** 63n + 1n));
    expect(rows("packed", 6, 3)).toEqual(Int16Array.of(12, 13, 14, 15, 16, 17));
    expect(rows("half", 0, 2)).toEqual(Uint16Array.of(0x3c00, 0x4000));
    expect(rows("bool", 0, 2)).toEqual(Uint8Array.of(1, 0));
    expect(file.dataset("/g/packed")).toMatchObject({ shape: [50, 2], chunkRows: 7 });
    expect(() => rows("packed", 49, 2)).toThrow(/should have the rows 49 up to 51 of \/g\/packed, found 50/);
    expect([file.dataset("/nope"), file.dataset("/g/u64/x"), file.kindOf("/g"), file.kindOf("/g/u64")]).toEqual([
      undefined,
      undefined,
      "group",
      "dataset",
    ]);
    expect(() => file.dataset("/g")).toThrow(Corrupt);
    expect(() => file.attributes("/nope")).toThrow(NotFound);
  });
});

test.each(["texts", "long-double", "pairs", "lzf"])("a dataset of %s is Unsupported", async (name) => {
  await inFile("plain.hdf5", (file) => expect(() => file.dataset(`/g/${name}`)).toThrow(Unsupported));
});

test("types of fewer bits are read where that is exact, and refused where it is not", async () => {
  await inFile("nbit.hdf5", (file) => {
    expect(file.rows(file.dataset("/ids")!, 1, 1)).toEqual(BigUint64Array.of(2n ** 39n + 1n));
    expect(file.rows(file.dataset("/full")!, 99, 1)).toEqual(Float32Array.of(1));
    expect(() => file.dataset("/signed")).toThrow(/should be int64 as machines have it, found 40 bits from bit 0 on/);
  });
});

describe.each(["bits.hdf5", "bits_latest.hdf5"])("the bits of elements, in %s", (name) => {
  test.each([
    ["u12", "uint16 as machines have it, found 12 bits from bit 0 on"],
    ["i12", "int16 as machines have it, found 12 bits from bit 0 on"],
    ["shifted", "uint32 as machines have it, found 16 bits from bit 8 on"],
    ["bfloat16", "float16 as machines have it, found 16 bits from bit 0 on, a float that is not IEEE 754's"],
    ["bias", "float32 as machines have it, found 32 bits from bit 0 on, a float that is not IEEE 754's"],
    ["by-name-short", "int32 as machines have it, found 24 bits from bit 0 on"],
  ])("%s is Unsupported", async (path, said) => {
    const wrong = inFile(name, (file) => file.dataset(path));
    await expect(wrong).rejects.toThrow(`/${path} of`.slice(1));
    await expect(wrong).rejects.toThrow(said);
    await expect(wrong).rejects.toBeInstanceOf(Unsupported);
  });

  test("big-endian numbers, types by name and headers in several parts are read", async () => {
    await inFile(name, (file) => {
      const rows = (path: string) => Array.from(file.rows(file.dataset(path)!, 3, 2) as ArrayLike<number | bigint>);
      expect(rows("be-f8")).toEqual([3 / 7, 4 / 7]); // shuffled, deflated, with Fletcher's checksum
      expect(rows("be-u2")).toEqual([3000, 4000]);
      expect(rows("be-i8")).toEqual([3n - 2n ** 60n, 4n - 2n ** 60n]);
      expect(rows("half")).toEqual([0x4200, 0x4400]);
      expect(rows("by-name")).toEqual([3, 4]);
      expect(rows("many")).toEqual([3, 4]);
      expect(rows("flags")).toEqual([1, 0]);
    });
  });
});

test("a type by hand: its bits, and what cannot be one", () => {
  const float = [0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0];
  const bits = (...bytes: number[]) => parseBits(Uint8Array.from(bytes), "it");
  expect(bits(...float)).toEqual({ size: 4, offset: 0, precision: 32, ieee: true });
  expect(bits(...float.with(1, 0x61))).toMatchObject({ ieee: false }); // VAX
  expect(bits(...float.with(1, 0x00))).toMatchObject({ ieee: false }); // the first bit of the fraction is stored
  expect(bits(...float.with(2, 30))).toMatchObject({ ieee: false }); // the sign is elsewhere
  expect(bits(0x10, 8, 0, 0, 2, 0, 0, 0, 3, 0, 9, 0)).toEqual({ size: 2, offset: 3, precision: 9, ieee: true });
  expect(bits(0x13, 0, 0, 0, 2, 0, 0, 0)).toBeUndefined();
  expect(() => bits(0x10, 8, 0, 0, 2, 0, 0, 0, 3)).toThrow(Corrupt);
  const nothing = { size: 40, read: (into: Uint8Array) => into.fill(0) };
  const file = { ...nothing, read: (into: Uint8Array, at: number) => into.fill(at === 0 ? 8 : 0) };
  expect(() => readBits(nothing, 16, "it")).toThrow(Unsupported);
  expect(() => readBits(file, 16, "it")).toThrow("it should have a type in its header, found none");
  expect(() => readBits(file, 99, "it")).toThrow("it should have a header at 99, and the file ends at 40");
});

describe("a crash of the library", () => {
  const crash = (module: { _memset(at: number, value: number, count: number): number }) =>
    module._memset(2 ** 32 - 10, 1, 100);

  test("makes its file Corrupt, whoever goes on, and the next file is read", async () => {
    const { call } = await loadHdf5();
    const source = await openHdf5(fileStore(golden), Key.of("plain.hdf5"));
    for (let i = 0; i < 20; i++) {
      expect(() =>
        source.use((file) => {
          expect(() => call("it", "is odd", crash as never)).toThrow(
            /it is odd: the HDF5 library crashed on it \(memory/,
          );
          expect(() => file.names("/")).toThrow(Corrupt);
          return "an answer";
        }),
      ).toThrow(/the HDF5 library crashed on it/);
      expect(source.use((file) => file.rows(file.dataset("/g/u64")!, 0, 1))).toEqual(BigUint64Array.of(2n ** 63n));
    }
  });

  test("and any other failure leave its stack, its files and its memory as they were", async () => {
    const { module, call } = await loadHdf5();
    const state = () => [
      (module as unknown as { ccall(...args: unknown[]): number }).ccall(
        "memcpy",
        "number",
        ["string", "number", "number"],
        ["the place of a text on the stack", 1024, 0],
      ),
      (module.FS as unknown as FileSystem).streams.filter(Boolean).length,
      module.HEAPU8.length,
    ];
    const source = await openHdf5(fileStore(golden), Key.of("plain.hdf5"));
    const fail = () => source.use(() => call("it", "is odd", (own) => own.get_dataset_filters(0n, "/g/u64")));
    expect(fail).toThrow(/^it is odd: invalid identifier type/);
    const before = state();
    for (let i = 0; i < 200; i++) {
      expect(fail).toThrow(Corrupt);
      expect(() => source.use(() => call("it", "is odd", crash as never))).toThrow(Corrupt);
    }
    expect(state()).toEqual(before);
  });
});

describe("nothing outside of a file is read", () => {
  test.each(["external", "absolute", "soft", "dangling", "loop", "soft-external"])(
    "the link %s is named",
    async (name) => {
      await inFile("links.hdf5", (file) => {
        expect(file.kindOf(`/${name}`)).toBe("link");
        expect(() => file.dataset(`/${name}`)).toThrow(/ a link to .*, and links are not followed/);
        expect(() => file.attributes(`/${name}`)).toThrow(Unsupported);
        expect(() => file.names(`/${name}`)).toThrow(Unsupported);
      });
    },
  );

  test("virtual datasets and storage in other files", async () => {
    await inFile("links.hdf5", (file) => {
      expect(() => file.dataset("/virtual")).toThrow(/is virtual: its data are in secret.hdf5/);
      expect(() => file.rows(file.dataset("/stored-elsewhere")!, 0, 3)).toThrow(
        /links.hdf5 has no readable rows 0 up to 3 of \/stored-elsewhere: unable to open external raw data file/,
      );
    });
  });
});

test("what would take too much memory is refused before it is taken", async () => {
  await inFile("links.hdf5", (file) => {
    expect(() => file.dataset("/huge")).toThrow(/has a shape of/);
    expect(() => file.dataset("/big-chunk")).toThrow(LimitExceeded);
    expect(() => file.rows(file.dataset("/long")!, 0, 2 ** 30)).toThrow(/at most 67108864 are read at once/);
    expect(file.rows(file.dataset("/long")!, 2 ** 39, 2)).toEqual(new Float64Array(6));
    expect(file.names("/cycle/again/again")).toEqual(["again"]);
  });
});

test("a truncated file, another file and one that is not there say so, and nothing is printed", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const store = memoryStore();
  const whole = readFileSync(join(golden, "swift.hdf5"));
  await store.set(Key.of("short"), whole.subarray(0, 3000));
  await store.set(Key.of("other"), new TextEncoder().encode("not HDF5 at all"));
  const open = async (name: string) => (await openHdf5(store, Key.of(name))).use((file) => file.names("/"));
  await expect(open("short")).rejects.toThrow(/short is not a whole HDF5 file: truncated file/);
  await expect(open("other")).rejects.toThrow(Corrupt);
  await expect(open("absent")).rejects.toThrow(NotFound);
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

test("a file that changes is noticed; one of a store in memory has a size that it may have", async () => {
  const path = join(folder, "changing.hdf5");
  copyFileSync(join(golden, "swift.hdf5"), path);
  const source = await openHdf5(fileStore(folder), Key.of("changing.hdf5"));
  expect(source.use((file) => file.names("/"))).toContain("PartType0");
  utimesSync(path, 1, 1);
  expect(() => source.use((file) => file.names("/"))).toThrow(Conflict);
  const store = memoryStore();
  await store.set(Key.of("a.hdf5"), readFileSync(path));
  await expect(openHdf5(store, Key.of("a.hdf5"), { limits: { resultBytes: 1000 } })).rejects.toThrow(LimitExceeded);
});

test("a file that gets shorter while it is read ends in an error of its own", async () => {
  const path = join(folder, "shorter.hdf5");
  copyFileSync(join(golden, "swift.hdf5"), path);
  const source = await openHdf5(fileStore(folder), Key.of("shorter.hdf5"));
  expect(() =>
    source.use((file) => {
      truncateSync(path, 100);
      return file.names("/");
    }),
  ).toThrow(/shorter.hdf5 (ends at byte|has no readable)/);
});

test("every damaged byte of a file gives an answer or one of Octavo's errors", async () => {
  const whole = new Uint8Array(readFileSync(join(golden, "swift.hdf5")));
  const store = memoryStore();
  let failed = 0;
  for (let at = 0; at < whole.length; at += 211) {
    const bytes = whole.slice();
    bytes[at]! ^= 0xff;
    await store.set(Key.of("damaged"), bytes);
    const source = await openHdf5(store, Key.of("damaged"));
    try {
      source.use((file) => {
        for (const group of file.names("/").filter((name) => file.kindOf(name) === "group")) {
          file.attributes(group);
          for (const name of file.names(group)) {
            const dataset = file.dataset(`${group}/${name}`);
            if (dataset !== undefined) file.rows(dataset, 0, Math.min(50, dataset.shape[0] ?? 0));
          }
        }
      });
    } catch (error) {
      failed++;
      expect(error).toBeInstanceOf(OctavoError);
      expect((error as Error).message).not.toMatch(/crashed/);
    }
  }
  expect(failed).toBeGreaterThan(5);
});

test("what is written is read again", async () => {
  const library = await loadHdf5();
  const values = BigUint64Array.of(1n, 2n ** 64n - 1n, 3n, 4n);
  const dtype = { kind: "uint", size: 8, endian: "little" } as const;
  const bytes = writeHdf5(library, "it", (output) => {
    output.group("/g");
    output.dataset("/g/d", [2, 2], dtype, values);
    output.attribute("/g/d", "text", { shape: [], dtype: undefined, values: ["h\u00e9"] });
    output.attribute("/g", "numbers", { shape: [4], dtype, values });
  });
  writeFileSync(join(folder, "new.hdf5"), bytes);
  (await openHdf5(fileStore(folder), Key.of("new.hdf5"))).use((file) => {
    expect(file.rows(file.dataset("/g/d")!, 1, 1)).toEqual(BigUint64Array.of(3n, 4n));
    expect(file.attributes("/g/d").get("text")).toBe("h\u00e9");
    expect(file.stored("/g").get("numbers")).toEqual({ shape: [4], dtype, values });
  });
  expect(() => writeHdf5(library, "it", (output) => output.group("/a/b"))).toThrow(LimitExceeded);
});
