import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { CodecSpec } from "../../codec/types.js";
import { Conflict, InvalidInput, Unsupported } from "../../errors.js";
import type { NdArray, Region } from "../../model/array.js";
import { ndarray, typed } from "../../model/elements.js";
import { select } from "../../model/region.js";
import { elementCount, strides } from "../../space/shape.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { wrap } from "../../store/wrap.js";
import { faultyStore, recordingStore } from "../../testing/observe.js";
import { type ArrayDescription, createArray } from "./create.js";
import { append, resize } from "./edit.js";
import type { ZarrArray } from "./node.js";
import { openZarr } from "./open.js";
import { writeRegion } from "./write.js";

/** The same array as a list of numbers, every operation done element by element. */
class Model {
  shape: number[];
  values: number[];
  readonly fill: number;
  constructor(shape: readonly number[], fill: number) {
    this.shape = [...shape];
    this.fill = fill;
    this.values = new Array(elementCount(shape)).fill(fill);
  }
  /** The place of every selected element, in C order of the result. */
  places(region: Region): number[] {
    const { axes } = select(region, this.shape);
    const step = strides(this.shape);
    return axes.reduce(
      (places, axis, i) =>
        places.flatMap((at) =>
          Array.from({ length: axis.count }, (_, k) => at + (axis.start + k * axis.step) * step[i]!),
        ),
      [0],
    );
  }
  read(region: Region): number[] {
    return this.places(region).map((at) => this.values[at]!);
  }
  write(region: Region, value: (n: number) => number): void {
    this.places(region).forEach((at, n) => {
      this.values[at] = value(n);
    });
  }
  resize(shape: readonly number[]): void {
    const next = new Model(shape, this.fill);
    const common: Region = shape.map((n, i) => ({ stop: Math.min(n, this.shape[i]!) }));
    const kept = this.read(common);
    next.write(common, (n) => kept[n]!);
    this.shape = next.shape;
    this.values = next.values;
  }
}

const bytes: CodecSpec = { name: "bytes", configuration: { endian: "little" } };
const big: CodecSpec = { name: "bytes", configuration: { endian: "big" } };
const gzip: CodecSpec = { name: "gzip", configuration: { level: 1 } };
const crc: CodecSpec = { name: "crc32c", configuration: {} };
const kinds: readonly Partial<ArrayDescription>[] = [
  { version: 3, codecs: [bytes, crc] },
  { version: 3, codecs: [big, gzip] },
  { version: 3 },
  { version: 3, shardShape: [6, 4], codecs: [bytes, crc] },
  { version: 2, codecs: [bytes, gzip] },
  { version: 2, separator: "/" },
  { version: 0 },
];

const bound = fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined });
const slice = fc
  .record({ start: bound, stop: bound, step: fc.constantFrom(1, 1, 1, 2, -1, -3) })
  .map(({ start, stop, step }) => ({
    ...(start === undefined ? {} : { start }),
    ...(stop === undefined ? {} : { stop }),
    step,
  }));
const region = fc.array(fc.oneof({ weight: 4, arbitrary: slice }, { weight: 1, arbitrary: fc.constant(null) }), {
  maxLength: 2,
});
const operation = fc.oneof(
  fc.record({ do: fc.constant("write" as const), region, seed: fc.nat(1000) }),
  fc.record({ do: fc.constant("spread" as const), region, value: fc.constantFrom(0, 7, 99) }),
  fc.record({ do: fc.constant("resize" as const), shape: fc.tuple(fc.nat(9), fc.nat(9)) }),
  fc.record({ do: fc.constant("append" as const), axis: fc.constantFrom(0, 1), count: fc.nat(4), seed: fc.nat(1000) }),
  fc.record({ do: fc.constant("read" as const), region }),
);

const open = async (array: ZarrArray): Promise<ZarrArray> => (await openZarr(array.store, array.at)) as ZarrArray;
const all = async (array: ZarrArray, region: Region = []): Promise<number[]> => [
  ...(typed(await array.read(region)) as Int32Array),
];
const values = (shape: readonly number[], seed: number): NdArray =>
  ndarray(
    shape,
    Int32Array.from({ length: elementCount(shape) }, (_, n) => n * 31 + seed),
  );

describe("an array that is written and read", () => {
  it.each(kinds.map((kind) => [JSON.stringify(kind).slice(0, 70), kind] as const))(
    "is what a list of numbers is: %s",
    async (_, kind) => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 6 }), fc.constantFrom(0, 7), async (operations, fill) => {
          const description = { shape: [7, 5], chunkShape: [3, 2], dtype: "int32", fill, ...kind };
          let array = await createArray(memoryStore(), Prefix.of("a/b"), description);
          const model = new Model([7, 5], fill);
          for (const op of operations) {
            if (op.do === "write") {
              const { shape } = select(op.region, model.shape);
              await writeRegion(array, op.region, values(shape, op.seed));
              model.write(op.region, (n) => n * 31 + op.seed);
            } else if (op.do === "spread") {
              await writeRegion(array, op.region, ndarray([], Int32Array.of(op.value)));
              model.write(op.region, () => op.value);
            } else if (op.do === "resize") {
              if (kind.version === 0 && op.shape.some((n, i) => n < model.shape[i]!)) continue; // there old data return
              array = await resize(array, op.shape);
              model.resize(op.shape);
            } else if (op.do === "append") {
              const added = model.shape.map((n, i) => (i === op.axis ? op.count : n));
              const start = model.shape[op.axis]!;
              array = await append(array, values(added, op.seed), op.axis);
              model.resize(model.shape.map((n, i) => (i === op.axis ? n + op.count : n)));
              model.write(
                model.shape.map((_, i) => (i === op.axis ? { start } : null)),
                (n) => n * 31 + op.seed,
              );
            } else {
              expect(await all(array, op.region)).toEqual(model.read(op.region));
            }
          }
          const again = await open(array);
          expect(again.shape).toEqual(model.shape);
          expect(await all(again)).toEqual(model.values);
        }),
        { numRuns: 40 },
      );
    },
  );

  it("does not bring back what shrinking cut off", async () => {
    for (const kind of kinds.filter(({ version }) => version !== 0)) {
      const description = { shape: [7, 5], chunkShape: [3, 2], dtype: "int32", fill: 7, ...kind };
      const array = await createArray(memoryStore(), Prefix.root, description);
      await writeRegion(array, [], values([7, 5], 100));
      const model = new Model([7, 5], 7);
      model.write([], (n) => n * 31 + 100);
      for (const shape of [
        [4, 3],
        [7, 5],
        [1, 5],
        [9, 9],
      ]) {
        await resize(array, shape);
        model.resize(shape);
      }
      expect(await all(await open(array))).toEqual(model.values);
    }
  });

  it("has shards in shards", async () => {
    const inner = { chunk_shape: [1, 2], codecs: [bytes, crc], index_codecs: [bytes, crc], index_location: "start" };
    const outer = {
      ...inner,
      chunk_shape: [2, 2],
      index_location: "end",
      codecs: [{ name: "sharding_indexed", configuration: inner }],
    };
    const codecs = [{ name: "sharding_indexed", configuration: outer }] as unknown as CodecSpec[];
    const array = await createArray(memoryStore(), Prefix.root, {
      shape: [7, 5],
      chunkShape: [4, 4],
      dtype: "int32",
      codecs,
    });
    const model = new Model([7, 5], 0);
    for (const where of [
      [
        { start: 1, stop: 6 },
        { start: 1, step: 2 },
      ],
      [2],
      [{}, 4],
    ] as Region[]) {
      await writeRegion(array, where, values(select(where, [7, 5]).shape, 5));
      model.write(where, (n) => n * 31 + 5);
      expect(await all(array)).toEqual(model.values);
      expect(await all(array, [3, { start: 1 }])).toEqual(model.read([3, { start: 1 }]));
    }
  });

  it("holds texts and single elements", async () => {
    const store = memoryStore();
    const texts = await createArray(store, Prefix.of("t"), { shape: [5], chunkShape: [2], dtype: "string", fill: "-" });
    await writeRegion(texts, [{ start: 1, stop: 4 }], ndarray([3], ["é", "", "x"]));
    expect((await texts.read()).data).toEqual(["-", "é", "", "x", "-"]);
    const one = await createArray(store, Prefix.of("0"), { shape: [], dtype: "float64", fill: "NaN" });
    expect(typed(await one.read())).toEqual(Float64Array.of(Number.NaN));
    await writeRegion(one, undefined, ndarray([], Float64Array.of(2.5)));
    expect(typed(await one.read())).toEqual(Float64Array.of(2.5));
  });
});

describe("what is asked of the store", () => {
  const traffic = async (kind: Partial<ArrayDescription>, region: Region) => {
    const store = recordingStore(memoryStore());
    const description = { shape: [8, 8], chunkShape: [4, 4], dtype: "int32", codecs: [bytes, crc], ...kind };
    const array = await createArray(store, Prefix.root, description);
    await writeRegion(array, [], values([8, 8], 1));
    store.log.length = 0;
    await writeRegion(array, region, values(select(region, [8, 8]).shape, 9));
    return store.log.map(({ kind, at }) => `${kind} ${at}`);
  };

  it("covered chunks are not read, others are read once", async () => {
    expect(await traffic({}, [{ stop: 4 }])).toEqual(["set c/0/0", "set c/0/1"]);
    expect((await traffic({}, [{ stop: 3 }, { stop: 4 }])).sort()).toEqual(["get c/0/0", "set c/0/0", "stat c/0/0"]);
  });

  it("an edge chunk is covered when what lies in the array is", async () => {
    const store = recordingStore(memoryStore());
    const array = await createArray(store, Prefix.root, {
      shape: [5],
      chunkShape: [4],
      dtype: "int32",
      codecs: [bytes],
    });
    store.log.length = 0;
    await writeRegion(array, [{ start: 4 }], ndarray([1], Int32Array.of(3)));
    expect(store.log.map(({ kind }) => kind)).toEqual(["set"]);
    const stored = await store.get(Key.of("c/1"));
    expect([...stored!]).toEqual([3, 0, 0, 0, ...new Array(12).fill(0)]);
  });

  it("inner chunks that are left alone are copied byte for byte", async () => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, {
      shape: [8],
      chunkShape: [2],
      shardShape: [8],
      dtype: "int32",
      codecs: [bytes, gzip],
    });
    await writeRegion(array, [], values([8], 1));
    // A gzip header that our encoder would not write marks the first inner chunk.
    const shard = (await store.get(Key.of("c/0")))!;
    shard[9] = 77;
    await store.set(Key.of("c/0"), shard);
    await writeRegion(array, [{ start: 5, stop: 6 }], ndarray([1], Int32Array.of(-1)));
    expect((await store.get(Key.of("c/0")))![9]).toBe(77);
    expect(await all(array)).toEqual([1, 32, 63, 94, 125, -1, 187, 218]);
  });

  it("chunks of nothing but fill go away, or stay where that is asked for", async () => {
    const keys = async (array: ZarrArray) => {
      const found: string[] = [];
      for await (const { key } of array.stored()!) found.push(key);
      return found.sort();
    };
    const array = await createArray(memoryStore(), Prefix.root, {
      shape: [6],
      chunkShape: [3],
      dtype: "int32",
      fill: 7,
    });
    await writeRegion(array, [], values([6], 7));
    expect(await keys(array)).toEqual(["c/0", "c/1"]);
    await writeRegion(array, [{ start: 3 }], ndarray([], Int32Array.of(7)));
    expect(await keys(array)).toEqual(["c/0"]);
    await writeRegion(array, [], ndarray([], Int32Array.of(7)), { writeEmptyChunks: true });
    expect(await keys(array)).toEqual(["c/0", "c/1"]);
  });
});

describe("writers at the same time", () => {
  const codecs = [bytes, crc];
  const spread = (n: number) => ndarray([1], Int32Array.of(n));

  it("in one process take turns, with conditions or without", async () => {
    for (const conditional of [true, false]) {
      const memory = memoryStore();
      const store = wrap(memory, {
        can: { ...memory.can, conditional },
        get: async (key, options) => {
          const value = await memory.get(key, options);
          await new Promise((resolve) => setTimeout(resolve, 1));
          return value;
        },
      });
      const array = await createArray(store, Prefix.root, { shape: [8], chunkShape: [8], dtype: "int32", codecs });
      await Promise.all([1, 2, 3, 4, 5, 6].map((n) => writeRegion(array, [{ start: n, stop: n + 1 }], spread(n))));
      expect(await all(array)).toEqual([0, 1, 2, 3, 4, 5, 6, 0]);
    }
  });

  it("elsewhere are noticed by conditional writes, and nothing is lost", async () => {
    const memory = memoryStore();
    // Different store objects on the same values: turns are not shared between them.
    const stores = [1, 2, 3, 4].map(() => wrap(memory, {}));
    const made = await createArray(memory, Prefix.root, { shape: [8], chunkShape: [8], dtype: "int32", codecs });
    await writeRegion(made, [], ndarray([], Int32Array.of(100)));
    await Promise.all(
      stores.map(async (store, n) =>
        writeRegion((await openZarr(store)) as ZarrArray, [{ start: n, stop: n + 1 }], spread(n)),
      ),
    );
    expect(await all(made)).toEqual([0, 1, 2, 3, 100, 100, 100, 100]);
    await Promise.all(stores.map(async (store, n) => append((await openZarr(store)) as ZarrArray, spread(n))));
    const grown = await open(made);
    expect(grown.shape).toEqual([12]);
    expect((await all(grown, [{ start: 8 }])).sort()).toEqual([0, 1, 2, 3]);
  });

  it("give up with Conflict when it never ends", async () => {
    const memory = memoryStore();
    const store = wrap(memory, {
      set: async (key) => {
        throw new Conflict(`${key} is always changed by somebody else`);
      },
    });
    const array = await createArray(memory, Prefix.root, { shape: [8], chunkShape: [8], dtype: "int32", codecs });
    await writeRegion(array, [], values([8], 1));
    const mine = (await openZarr(store)) as ZarrArray;
    vi.useFakeTimers();
    try {
      const refused = expect(writeRegion(mine, [{ stop: 1 }], spread(1))).rejects.toThrow(Conflict);
      await vi.runAllTimersAsync();
      await refused;
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("calls that are wrong", () => {
  it("are refused before anything is written", async () => {
    const store = recordingStore(memoryStore());
    const array = await createArray(store, Prefix.root, { shape: [4, 4], dtype: "int32" });
    store.log.length = 0;
    await expect(writeRegion(array, [], values([4, 3], 0))).rejects.toThrow(InvalidInput);
    await expect(writeRegion(array, [], ndarray([4, 4], new Float32Array(16)))).rejects.toThrow(InvalidInput);
    for (const wrong of [{ shape: [-1] }, { shape: [4], chunkShape: [0] }, { shape: [4], fill: "x" }]) {
      await expect(createArray(memoryStore(), Prefix.root, { dtype: "int32", ...wrong })).rejects.toThrow(InvalidInput);
    }
    await expect(resize(array, [4])).rejects.toThrow(InvalidInput);
    await expect(resize(array, [4, -1])).rejects.toThrow(InvalidInput);
    await expect(append(array, values([1, 5], 0))).rejects.toThrow(InvalidInput);
    await expect(append(array, values([1, 4], 0), 2)).rejects.toThrow(InvalidInput);
    await expect(createArray(store, Prefix.root, { shape: [1], dtype: "int32" })).rejects.toThrow(Conflict);
    await expect(
      createArray(store, Prefix.of("x"), { shape: [1], dtype: "int32", version: 2, shardShape: [1] }),
    ).rejects.toThrow(Unsupported);
    expect(store.log.filter(({ kind }) => kind === "set")).toEqual([]);
    await createArray(store, Prefix.root, { shape: [1], dtype: "int32" }, { overwrite: true });
  });

  it.each([{}, { shardShape: [8] }])(
    "a writer that knows a shorter array keeps what was appended (%j)",
    async (extra) => {
      const store = memoryStore();
      const early = await createArray(store, Prefix.root, { shape: [2], chunkShape: [4], dtype: "int32", ...extra });
      await append(early, values([3], 100));
      await writeRegion(early, undefined, values([2], 0));
      expect(await all(await open(early))).toEqual([0, 31, 100, 131, 162]);
      await writeRegion(early, undefined, ndarray([], Int32Array.of(0)));
      expect(await all(await open(early))).toEqual([0, 0, 100, 131, 162]);
    },
  );

  it("what an interrupted shrinking left behind does not come back", async () => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, { shape: [10], chunkShape: [4], dtype: "int32" });
    await writeRegion(array, undefined, values([10], 1));
    const cut = faultyStore(store, ({ kind, at }) => {
      if (at !== "zarr.json" && (kind === "delete" || kind === "set" || kind === "list")) throw new Error("killed");
    });
    await expect(resize((await openZarr(cut)) as ZarrArray, [2])).rejects.toThrow("killed");
    const short = await open(array);
    expect(short.shape).toEqual([2]);
    expect(await all(await resize(short, [9]))).toEqual([1, 32, 0, 0, 0, 0, 0, 0, 0]);
  });
});
