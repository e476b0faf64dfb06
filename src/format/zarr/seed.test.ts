/**
 * The seed document of the original format, statement by statement; docs/conformance.md lists them under the same numbers.
 * Where an array of zarr 0.4.0 itself can show a statement, it does.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { parseBloscHeader } from "../../codec/blosc.js";
import { Corrupt } from "../../errors.js";
import { ndarray, typed } from "../../model/elements.js";
import { fileStore } from "../../store/file.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { bloscSpec, bytesSpec } from "./chain.js";
import { createArray } from "./create.js";
import { parseNumpyDtype } from "./dtype-numpy.js";
import { setAttributes } from "./edit.js";
import type { ZarrArray } from "./node.js";
import { openZarr } from "./open.js";
import { writeRegion } from "./write.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-seed-"));
afterAll(() => rmSync(folder, { recursive: true }));

const i4 = parseNumpyDtype("<i4", "x");
/** The seed's zarr.open(…, dtype='i4', fill_value=42, cname='lz4', clevel=3, shuffle=1). */
const example = (shape: number[], chunkShape: number[], shuffle = 1) => ({
  version: 0 as const,
  shape,
  chunkShape,
  dtype: i4,
  fill: 42,
  codecs: [bytesSpec(i4), bloscSpec("lz4", 3, shuffle, 0, 4, "x")],
});
const golden = async (name: string) => (await openZarr(fileStore(join(fixtures("zarr"), name)))) as ZarrArray;
const edited = async (change: (meta: Record<string, unknown>) => void): Promise<ZarrArray> => {
  const meta = JSON.parse(readFileSync(join(fixtures("zarr"), "v0/doc_example_i4/__zmeta__"), "utf8"));
  change(meta);
  const store = memoryStore();
  await store.set(Key.of("__zmeta__"), new TextEncoder().encode(JSON.stringify(meta)));
  return (await openZarr(store)) as ZarrArray;
};

it("docs/conformance.md has a row for each of these, and no other", () => {
  const numbers = (text: string) => [...new Set(text.match(/\bS\d+\b/g))].sort();
  const document = readFileSync(new URL("../../../docs/conformance.md", import.meta.url), "utf8");
  const tests = readFileSync(new URL(import.meta.url), "utf8").replaceAll(/\/\^.*\$\//g, "");
  expect(numbers(document)).toEqual(numbers(tests));
});

describe("file organisation", () => {
  it("S1 everything of an array lies within its root directory, in files of these names", async () => {
    const root = join(folder, "s1");
    const array = await createArray(fileStore(root), Prefix.root, {
      ...example([20, 20], [10, 10]),
      attributes: { a: 1 },
    });
    await writeRegion(array, [], ndarray([20, 20], new Int32Array(400).fill(7)));
    expect(readdirSync(root).sort()).toEqual(["__zattr__", "__zdata__", "__zmeta__"]);
    expect(readdirSync(join(root, "__zdata__")).sort()).toEqual(["0.0.blosc", "0.1.blosc", "1.0.blosc", "1.1.blosc"]);
    expect(typed(await ((await openZarr(fileStore(root))) as ZarrArray).read())).toEqual(new Int32Array(400).fill(7));
  });
});

describe("configuration metadata", () => {
  it("S2 a directory with a __zmeta__ in JSON is an array", async () => {
    expect(await golden("v0/doc_example_i4")).toMatchObject({ kind: "array", version: "0" });
  });
  it.each([
    ["S3", "shape", "100"],
    ["S4", "chunks", [10.5, 10]],
    ["S5", "dtype", 4],
    ["S6", "fill_value", {}],
    ["S7", "cname", 1],
    ["S8", "clevel", "3"],
    ["S9", "shuffle", 3],
  ])("%s %s is mandatory and must have an allowed value", async (_, key, wrong) => {
    await expect(edited((meta) => delete meta[key])).rejects.toThrow(Corrupt);
    await expect(edited((meta) => Object.assign(meta, { [key]: wrong }))).rejects.toThrow(Corrupt);
  });
  it("S3 S4 shape and chunk shape are lists of the sizes of dimensions", async () => {
    expect(await golden("v0/doc_example_i4")).toMatchObject({ shape: [200, 100], chunkShape: [100, 50] });
  });
  it("S5 dtype follows numpy's convention", async () => {
    expect((await golden("v0/dtype_be_f8")).dtype).toEqual({ kind: "float", size: 8, endian: "big" });
  });
  it("S6 fill_value stands for what was never written", async () => {
    const array = await golden("v0/all_missing_i8");
    expect(new Set(typed(await array.read()) as BigInt64Array)).toEqual(new Set([-7n]));
  });
  it.each([
    [0, "none", "noshuffle"],
    [1, "byte", "shuffle"],
    [2, "bit", "bitshuffle"],
  ])("S9 shuffle %i is %s shuffle, in metadata and chunks", async (shuffle, inFile, name) => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, example([1000], [1000], shuffle));
    await writeRegion(
      array,
      [],
      ndarray(
        [1000],
        Int32Array.from({ length: 1000 }, (_, i) => i % 7),
      ),
    );
    const again = (await openZarr(store)) as ZarrArray;
    expect(again.meta.codecs[1]!.configuration).toMatchObject({ cname: "lz4", clevel: 3, shuffle: name });
    const chunk = (await store.get(Key.of("__zdata__/0.blosc")))!;
    expect(parseBloscHeader(chunk)).toMatchObject({ codec: "lz4", shuffle: inFile, stored: false });
  });
  it("S10 the example's __zmeta__ is written byte for byte", async () => {
    const store = memoryStore();
    await createArray(store, Prefix.root, example([1000000, 1000], [10000, 100]));
    expect(new TextDecoder().decode(await store.get(Key.of("__zmeta__")))).toBe(
      [
        "{",
        '    "chunks": [',
        "        10000,",
        "        100",
        "    ],",
        '    "clevel": 3,',
        '    "cname": "lz4",',
        '    "dtype": "<i4",',
        '    "fill_value": 42,',
        '    "shape": [',
        "        1000000,",
        "        1000",
        "    ],",
        '    "shuffle": 1',
        "}",
      ].join("\n"),
    );
  });
});

describe("user metadata", () => {
  it("S11 __zattr__ holds the attributes in JSON, and is written byte for byte", async () => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, example([10], [10]));
    expect(await store.get(Key.of("__zattr__"))).toBeUndefined();
    await setAttributes(array, { foo: 42, bar: 4.2, baz: "quux" });
    const written = new TextDecoder().decode(await store.get(Key.of("__zattr__")));
    expect(written).toBe('{\n    "bar": 4.2,\n    "baz": "quux",\n    "foo": 42\n}');
    expect(written).toBe(readFileSync(join(fixtures("zarr"), "v0/doc_example_i4/__zattr__"), "utf8"));
    expect((await golden("v0/doc_example_i4")).attributes).toEqual({ foo: 42, bar: 4.2, baz: "quux" });
  });
});

describe("array data", () => {
  /** 100 × 100 in chunks of 10 × 10, each element its own place. */
  const hundred = async () => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, example([100, 100], [10, 10]));
    await writeRegion(
      array,
      [],
      ndarray(
        [100, 100],
        Int32Array.from({ length: 10000 }, (_, i) => i + 100),
      ),
    );
    return { store, array };
  };
  const stored = async (array: ZarrArray): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of array.stored()!) keys.push(key);
    return keys.sort();
  };

  it("S12 S13 each chunk is one blosc file below __zdata__", async () => {
    const { store, array } = await hundred();
    for (const key of await stored(array)) {
      expect(key).toMatch(/^__zdata__\/\d+\.\d+\.blosc$/);
      expect(parseBloscHeader((await store.get(Key.of(key)))!).nbytes).toBe(10 * 10 * 4);
    }
  });
  it("S14 files are named by the chunk's indices: 100 of them", async () => {
    const keys = await stored((await hundred()).array);
    expect(keys).toHaveLength(100);
    expect([keys[0], keys.at(-1)]).toEqual(["__zdata__/0.0.blosc", "__zdata__/9.9.blosc"]);
  });
  it.each([
    ["0.0", 0, 0],
    ["4.2", 40, 20],
  ])("S15 %s.blosc holds z[%i:…, %i:…]", async (name, row, column) => {
    const { store, array } = await hundred();
    const region = [
      { start: row, stop: row + 10 },
      { start: column, stop: column + 10 },
    ];
    // Without that file exactly these elements are fill.
    await store.delete(Key.of(`__zdata__/${name}.blosc`));
    expect(new Set(typed(await array.read(region)) as Int32Array)).toEqual(new Set([42]));
    const all = typed(await array.read()) as Int32Array;
    expect(all.filter((value, i) => value !== i + 100)).toHaveLength(100);
  });
  it("S16 a chunk file is a 16-byte header and compressed data, in zarr 0.4.0's file and in ours", async () => {
    const { store } = await hundred();
    const theirs = readFileSync(join(fixtures("zarr"), "v0/cname_lz4_shuffle1/__zdata__/0.0.blosc"));
    for (const [chunk, nbytes] of [
      [theirs, 100 * 130 * 4],
      [(await store.get(Key.of("__zdata__/0.0.blosc")))!, 400],
    ] as const) {
      const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      expect([view.getUint8(0), view.getUint8(1), view.getUint8(3)]).toEqual([2, 1, 4]); // versions, typesize
      expect(view.getUint8(2) >> 5).toBe(1); // flags: lz4
      expect(view.getUint32(4, true)).toBe(nbytes);
      expect(view.getUint32(8, true)).toBeLessThanOrEqual(nbytes); // blocksize
      expect(view.getUint32(12, true)).toBe(chunk.length); // cbytes
    }
  });
  it("S17 an absent file is a chunk full of the fill value", async () => {
    const array = await createArray(memoryStore(), Prefix.root, example([25, 10], [10, 10]));
    await writeRegion(array, [{ start: 10, stop: 20 }], ndarray([10, 10], new Int32Array(100)));
    expect(typed(await array.read([{}, 0]))).toEqual(
      Int32Array.from({ length: 25 }, (_, i) => (i >= 10 && i < 20 ? 0 : 42)),
    );
  });
  it("S18 chunk files need not exist: a new array has none", async () => {
    const root = join(folder, "s18");
    const array = await createArray(fileStore(root), Prefix.root, example([1000000, 1000], [10000, 100]));
    expect(await stored(array)).toEqual([]);
    expect(typed(await array.read([999999, { start: 998 }]))).toEqual(Int32Array.of(42, 42));
  });
  it("S19 writing makes them", async () => {
    const array = await createArray(memoryStore(), Prefix.root, example([100, 100], [10, 10]));
    await writeRegion(array, [], ndarray([100, 100], new Int32Array(10000)));
    const names = (await stored(array)).slice(0, 5).map((key) => key.slice("__zdata__/".length));
    expect(names).toEqual(["0.0.blosc", "0.1.blosc", "0.2.blosc", "0.3.blosc", "0.4.blosc"]);
  });
});
