import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import type { FixedDataType } from "../bytes/dtype.js";
import type { Json } from "../bytes/json.js";
import type { CodecSpec } from "../codec/types.js";
import { Conflict, InvalidInput, Unsupported } from "../errors.js";
import { parseNumpyDtype } from "../format/zarr/dtype-numpy.js";
import { createArray, createGroup, openZarr, writeRegion, type ZarrArray, zarr } from "../format/zarr/index.js";
import type { NdArray } from "../model/array.js";
import { ndarray, typed, valueAt } from "../model/elements.js";
import { elementCount } from "../space/shape.js";
import { fileStore } from "../store/file.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/types.js";
import { failNth, faultyStore, recordingStore } from "../testing/observe.js";
import { blockShape, type ConvertOptions, convertArray } from "./arrays.js";
import { inStage } from "./stage.js";
import { convertTree } from "./tree.js";

const bytes: CodecSpec = { name: "bytes", configuration: { endian: "little" } };
const keysOf = async (store: Store): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  return keys.sort();
};
const golden = async (path: string): Promise<ZarrArray> =>
  (await openZarr(fileStore(join(fixtures("zarr"), path)))) as ZarrArray;
const errors = async (store: Store): Promise<string[]> => {
  const found: string[] = [];
  for await (const { severity, message } of zarr.validate(store, Prefix.root))
    if (severity === "error") found.push(message);
  return found;
};

/** As `toEqual`, which takes seconds for a megabyte. Fields of a struct may have changed their byte order. */
function same(a: NdArray, b: NdArray): boolean {
  if (a.dtype.kind === "struct") {
    return Array.from({ length: elementCount(a.shape) }, (_, i) => i).every((i) =>
      isDeepStrictEqual(valueAt(a, i), valueAt(b, i)),
    );
  }
  const [x, y] = [a.data, b.data];
  return x instanceof Uint8Array && y instanceof Uint8Array ? Buffer.compare(x, y) === 0 : isDeepStrictEqual(x, y);
}

async function counting(
  shape: readonly number[],
  chunkShape: readonly number[],
  version: 0 | 2 | 3 = 3,
): Promise<ZarrArray> {
  const array = await createArray(memoryStore(), Prefix.root, { version, shape, chunkShape, dtype: "int32" });
  const values = Int32Array.from({ length: elementCount(shape) }, (_, i) => i + 1);
  await writeRegion(array, [], ndarray(shape, values));
  return array;
}

describe("the golden arrays", () => {
  const stores = ["v0", "v0_pickle", "v1", "v2", "v3"].flatMap((generation) =>
    readdirSync(join(fixtures("zarr"), generation))
      .filter((name) => !name.startsWith("group"))
      .map((name) => `${generation}/${name}`),
  );
  it("keep every value as v3, v2 and, where it can say them, v0", async () => {
    let written = 0;
    for (const path of stores) {
      const source = await golden(path);
      const want = await source.read();
      for (const version of [3, 2, 0] as const) {
        const store = memoryStore();
        try {
          await convertArray(source, store, Prefix.root, { version });
        } catch (error) {
          expect(error, `${path} to v${version}`).toBeInstanceOf(Unsupported);
          expect(await keysOf(store), path).not.toContain("zarr.json");
          continue;
        }
        written++;
        const got = await ((await openZarr(store)) as ZarrArray).read();
        expect(got.shape, path).toEqual(want.shape);
        expect(same(got, want), `${path} to v${version}`).toBe(true);
        expect(await errors(store), path).toEqual([]);
      }
    }
    expect(written).toBeGreaterThan(290); // of 3 × 111
  });

  it("from v0 to v3 are copied without recompressing, except snappy and big-endian fields", async () => {
    for (const path of stores.filter((path) => path.startsWith("v0"))) {
      const { report } = await convertArray(await golden(path), memoryStore(), Prefix.root);
      const recoded = path.includes("snappy") || path.endsWith("struct_nested"); // that one has a big-endian field
      const count = recoded ? report.chunksCopied : report.chunksRecoded;
      expect(count, path).toBe(0);
    }
    const { report, array } = await convertArray(
      await golden("v0/resize_shrunk_stale_chunks"),
      memoryStore(),
      Prefix.root,
    );
    const source = await golden("v0/resize_shrunk_stale_chunks");
    let inside = 0;
    for await (const _ of source.stored()!) inside++;
    expect(report.chunksCopied).toBe(inside);
    expect((await keysOf(array.store)).filter((key) => key.startsWith("c/"))).toHaveLength(inside);
  });
});

describe("what versions say differently", () => {
  it("comes back after a round trip", async () => {
    const source = memoryStore();
    await source.set(
      Key.of(".zarray"),
      new TextEncoder().encode(
        '{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f8", "compressor": null, "fill_value": null, "filters": null, "order": "C"}',
      ),
    );
    await source.set(
      Key.of(".zattrs"),
      new TextEncoder().encode('{"_ARRAY_DIMENSIONS": ["time"], "big": 9007199254740993}'),
    );
    const three = await convertArray((await openZarr(source)) as ZarrArray, memoryStore(), Prefix.root);
    expect(three.array.dimensionNames).toEqual(["time"]);
    expect(three.array.attributes).toEqual({ big: 9007199254740993n, "octavo:fill_value_was_null": true });
    expect(three.report.losses).toEqual([]);
    const two = await convertArray(three.array, memoryStore(), Prefix.root, { version: 2 });
    expect(two.array.meta.fillIsNull).toBe(true);
    expect(two.array.attributes).toEqual({ _ARRAY_DIMENSIONS: ["time"], big: 9007199254740993n });
  });

  it("is reported where it is lost", async () => {
    const array = await createArray(memoryStore(), Prefix.root, {
      version: 0,
      shape: [2],
      dtype: "int32",
      attributes: { a: { b: [1, Number.NaN] } },
    });
    const { report, array: made } = await convertArray(array, memoryStore(), Prefix.root);
    expect(report.losses).toEqual([
      'memory:: the attribute a.b[1] is NaN, which JSON cannot express; it became the text "NaN"',
    ]);
    expect(made.attributes).toEqual({ a: { b: [1, "NaN"] } });
    const named = await createArray(memoryStore(), Prefix.root, { shape: [2], dtype: "int32", dimensionNames: ["x"] });
    expect((await convertArray(named, memoryStore(), Prefix.root, { version: 0 })).report.losses[0]).toMatch(
      /dimension names/,
    );
  });

  it("is zeros of a struct in v0 too; where it has no word for them, that is said", async () => {
    const made = async (type: Json, fill = 0) => {
      const dtype = parseNumpyDtype(
        [
          ["x", "<f4"],
          ["y", type],
        ],
        "x",
      ) as FixedDataType;
      const source = await createArray(memoryStore(), Prefix.root, {
        shape: [4],
        chunkShape: [2],
        dtype,
        fill: new Uint8Array(dtype.size).fill(fill),
      });
      const { array, report } = await convertArray(source, memoryStore(), Prefix.root, { version: 0 });
      const { meta } = (await openZarr(array.store)) as ZarrArray;
      return { fill: meta.fill, isNull: meta.fillIsNull, losses: report.losses };
    };
    expect(
      await made([
        ["z", "|b1"],
        ["t", "<M8[s]"],
      ]),
    ).toEqual({ fill: new Uint8Array(13), isNull: false, losses: [] });
    for (const type of ["|S3", "|V3"]) {
      const { fill, isNull, losses } = await made(type);
      expect([fill, isNull]).toEqual([new Uint8Array(7), true]);
      expect(losses).toEqual([expect.stringContaining("that absent chunks are zeros")]);
    }
    await expect(made("<i2", 1)).rejects.toThrow(
      /the fill value of the type .* cannot be kept: Zarr v0 has no way to write it/,
    );
  });

  it("turns big-endian fields round for v3, fill included", async () => {
    const source = memoryStore();
    const text =
      '{"chunks": [2], "clevel": 1, "cname": "lz4", "dtype": [["a", ">i4"], ["b", "<i2"]], "fill_value": null, "shape": [3], "shuffle": 0}';
    await source.set(Key.of("__zmeta__"), new TextEncoder().encode(text));
    const array = (await openZarr(source)) as ZarrArray;
    const data = Uint8Array.of(0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0);
    await writeRegion(array, [], { shape: [3], dtype: array.dtype, data });
    const { array: made, report } = await convertArray(array, memoryStore(), Prefix.root);
    expect(report).toMatchObject({ chunksCopied: 0, chunksRecoded: 2 });
    expect((await made.read()).data).toEqual(Uint8Array.of(1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 4, 0, 5, 0, 0, 0, 6, 0));
  });
});

describe("blocks", () => {
  it("are whole target chunks within the memory", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })),
          {
            minLength: 1,
            maxLength: 3,
          },
        ),
        fc.integer({ min: 4, max: 20_000 }),
        (axes, memory) => {
          const source = { shape: axes.map(([n]) => n), chunkShape: axes.map(([, c]) => c) } as unknown as ZarrArray;
          const chunkShape = axes.map(([, , c]) => c);
          const meta = {
            chunkShape,
            dtype: { kind: "int", size: 4, endian: "little" },
          } as unknown as ZarrArray["meta"];
          const size = (shape: readonly number[]) => elementCount(shape) * 4;
          if (size(chunkShape) > memory) {
            expect(() => blockShape(source, meta, memory)).toThrow(InvalidInput);
            return;
          }
          const block = blockShape(source, meta, memory);
          expect(block.map((n, axis) => n % chunkShape[axis]!)).toEqual(block.map(() => 0));
          expect(size(block)).toBeLessThanOrEqual(Math.max(size(chunkShape), memory / 4));
        },
      ),
    );
  });

  it("recode any chunks to any other", async () => {
    const source = await counting([23, 17], [5, 4]);
    const want = (await source.read()).data;
    for (const options of [
      { chunkShape: [7, 17] },
      { chunkShape: [2, 3], shardShape: [4, 9], maxMemory: 200 },
      { chunkShape: [30, 30], version: 2 as const, codecs: [bytes] },
      { chunkShape: [5, 4], codecs: "gzip" as const },
    ]) {
      const seen: number[] = [];
      const onProgress = ({ done, total }: { done: number; total: number }) => seen.push(done / total);
      const { array, report } = await convertArray(source, memoryStore(), Prefix.root, { ...options, onProgress });
      expect(report.chunksCopied).toBe(0);
      expect(seen.at(-1)).toBe(1);
      expect((await array.read()).data).toEqual(want);
    }
  });
});

describe("what is absent", () => {
  it("is not looked at, and stays absent: an array of petabytes with two chunks takes no time", async () => {
    const shape = [2 ** 40, 2 ** 10];
    const description = { shape, chunkShape: [64, 64], dtype: "int16", fill: 3 };
    for (const version of [3, 2, 0] as const) {
      const source = await createArray(memoryStore(), Prefix.root, description);
      await writeRegion(source, [5, { stop: 64 }], ndarray([64], new Int16Array(64).fill(9)));
      await writeRegion(source, [-1, -1], ndarray([], new Int16Array([8])));
      const { array } = await convertArray(source, memoryStore(), Prefix.root, { version, chunkShape: [50, 50] });
      const chunks = (await keysOf(array.store)).filter((key) => /\d/.test(key));
      expect(chunks.length).toBe(3); // 64 columns lie in two chunks of 50
      expect(typed(await array.read([5, { start: 62, stop: 66 }]))).toEqual(new Int16Array([9, 9, 3, 3]));
      expect(typed(await array.read([-1, { start: -2 }]))).toEqual(new Int16Array([3, 8]));
    }
  });

  it("costs nothing: only the target chunks around what is there are made", async () => {
    const store = recordingStore(memoryStore());
    const source = await createArray(store, Prefix.root, { shape: [1e6], chunkShape: [1], dtype: "int8", fill: 3 });
    for (const at of [17, 40]) await writeRegion(source, [at], ndarray([], Int8Array.of(1)));
    store.log.length = 0;
    const { array, report } = await convertArray(source, memoryStore(), Prefix.root, { chunkShape: [2] });
    expect(report.chunksRecoded).toBe(13); // elements 16 to 41
    expect(store.log.length).toBeLessThan(30);
    expect(await keysOf(array.store)).toEqual(["c/20", "c/8", "zarr.json"]);
    expect(typed(await array.read([{ start: 15, stop: 19 }]))).toEqual(Int8Array.of(3, 3, 1, 3));
  });

  it("is written where the fill value is null, which other readers take for anything", async () => {
    const store = memoryStore();
    const zarray = { zarr_format: 2, shape: [8], chunks: [2], dtype: "<i2", fill_value: null, order: "C" };
    const document = JSON.stringify({ ...zarray, filters: null, compressor: null });
    await store.set(Key.of(".zarray"), new TextEncoder().encode(document));
    const source = (await openZarr(store)) as ZarrArray;
    await writeRegion(source, [{ stop: 4 }], ndarray([4], new Int16Array(4)));
    expect(await keysOf(store)).toEqual([".zarray", "0", "1"]);
    const { array } = await convertArray(source, memoryStore(), Prefix.root, { version: 2, chunkShape: [4] });
    expect(await keysOf(array.store)).toContain("0");
  });
});

describe("interrupted", () => {
  it("nothing half-written is visible, and it goes on where it was", async () => {
    const source = await counting([20], [2]);
    // One chunk at a time: what is written at once is also written again at once.
    for (const options of [{}, { chunkShape: [4], maxMemory: 64 }]) {
      for (const n of [2, 5, 9, 12]) {
        const memory = memoryStore();
        const failing = faultyStore(memory, failNth(n + 7)); // the first ones look at what is there
        const convert = (store: Store, own: ConvertOptions, resume = false) =>
          inStage(
            { store, at: Prefix.root },
            { inputs: { source: "20" }, versions: "", options: { chunkShape: [...(own.chunkShape ?? [2])] } },
            { resume },
            async (location) => (await convertArray(source, location.store, location.at, own)).report,
            {},
          );
        const failed = await convert(failing, options).catch((error: Error) => error);
        if (!(failed instanceof Error)) continue;
        const whole = (await keysOf(memory)).includes("zarr.json"); // then all that failed is to take the journal away
        if (!whole) await expect(openZarr(memory)).rejects.toThrow(/no Zarr/);
        if ((await keysOf(memory)).length > 0) await expect(convert(memory, options)).rejects.toThrow(Conflict);
        if ((await keysOf(memory)).includes("octavo-convert.json"))
          await expect(convert(memory, { chunkShape: [5] }, true)).rejects.toThrow(
            "not this one: its option chunkShape was",
          );
        const before = (await keysOf(memory)).filter((key) => key.startsWith("c/")).length;
        const watched = recordingStore(memory);
        await convert(watched, options, true);
        const array = (await openZarr(memory)) as ZarrArray;
        const chunks = 20 / array.chunkShape[0]!;
        expect(watched.log.filter(({ kind, at }) => kind === "set" && at.startsWith("c/")).length).toBe(
          chunks - before,
        );
        expect((await array.read()).data).toEqual((await source.read()).data);
        expect(await keysOf(memory)).not.toContain("octavo-convert.json");
      }
    }
  });

  it("what is there is replaced only when that is asked for", async () => {
    const source = await counting([4], [2]);
    const there = await counting([9], [3]);
    await expect(convertArray(source, there.store, Prefix.root)).rejects.toThrow(Conflict);
    await convertArray(source, there.store, Prefix.root, { overwrite: true });
    expect(await keysOf(there.store)).toEqual(["c/0", "c/1", "zarr.json"]);
  });
});

describe("what cannot be", () => {
  it("is refused before anything is written, so that the next try finds an empty place", async () => {
    const memory = memoryStore();
    const source = await counting([20], [2]);
    const shards = convertArray(source, memory, Prefix.root, { shardShape: [5] });
    await expect(shards).rejects.toThrow(InvalidInput);
    await expect(shards).rejects.toThrow("should divide its shape [5], found [2]");
    const room = convertArray(source, memory, Prefix.root, { chunkShape: [20], maxMemory: 1 });
    await expect(room).rejects.toThrow(InvalidInput);
    const group = await createGroup(memoryStore(), Prefix.root);
    await expect(convertTree(group, memory, Prefix.root, { version: 0 })).rejects.toThrow(Unsupported);
    expect(await keysOf(memory)).toEqual([]);
  });
});
