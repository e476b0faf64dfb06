import { describe, expect, it } from "vitest";
import type { CodecSpec } from "../../codec/types.js";
import { Corrupt, InvalidInput, LimitExceeded, Unsupported } from "../../errors.js";
import type { Progress } from "../../model/dataset.js";
import { ndarray, typed } from "../../model/elements.js";
import { elementCount } from "../../space/shape.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { wrap } from "../../store/wrap.js";
import { faultyStore, recordingStore } from "../../testing/observe.js";
import { type ArrayDescription, createArray } from "./create.js";
import type { ZarrArray } from "./node.js";
import { openZarr } from "./open.js";
import { validateZarr } from "./validate.js";
import { writeRegion } from "./write.js";

const codecs: CodecSpec[] = [
  { name: "bytes", configuration: { endian: "little" } },
  { name: "crc32c", configuration: {} },
];

/** An array that counts from 1, and the operations on its store since it was written. */
async function counting(description: Partial<ArrayDescription> = {}) {
  const store = recordingStore(memoryStore());
  const shape = description.shape ?? [16];
  const array = await createArray(store, Prefix.root, {
    shape,
    chunkShape: [2],
    dtype: "int32",
    codecs,
    ...description,
  });
  await writeRegion(
    array,
    [],
    ndarray(
      shape,
      Int32Array.from({ length: elementCount(shape) }, (_, i) => i + 1),
    ),
  );
  store.log.length = 0;
  return { array, store };
}

const requests = (store: { log: readonly { kind: string; at: string; range?: object }[] }) =>
  store.log.map(({ kind, at, range }) => `${kind} ${at}${range === undefined ? "" : ` ${JSON.stringify(range)}`}`);

describe("what a read asks for", () => {
  it("is one request per chunk touched, and the plan says so", async () => {
    const { array, store } = await counting();
    expect(await array.plan([{ start: 3, stop: 9, step: 4 }])).toEqual({ requests: 2, bytes: 16, exact: false });
    expect([...(typed(await array.read([{ start: 3, stop: 9, step: 4 }])) as Int32Array)]).toEqual([4, 8]);
    expect(requests(store)).toEqual(["get c/1", "get c/3"]);
  });

  it("of a shard is its index and then only the inner chunks, near ones together", async () => {
    for (const [location, range] of [
      ["end", { suffix: 132 }],
      ["start", { offset: 0, length: 132 }],
    ] as const) {
      const shard = { chunk_shape: [2], codecs, index_codecs: codecs, index_location: location };
      const sharded = [{ name: "sharding_indexed", configuration: shard }] as unknown as CodecSpec[];
      const { array, store } = await counting({ chunkShape: [16], codecs: sharded });
      const base = location === "start" ? 132 : 0;
      expect([...(typed(await array.read([{ start: 2, stop: 9 }])) as Int32Array)]).toEqual([3, 4, 5, 6, 7, 8, 9]);
      expect(requests(store)).toEqual([
        `get c/0 ${JSON.stringify(range)}`,
        `get c/0 ${JSON.stringify({ offset: base + 12, length: 48 })}`,
      ]);
      store.log.length = 0;
      expect((await array.read()).shape).toEqual([16]);
      expect(requests(store)).toEqual(["get c/0"]);
      expect(await array.plan()).toMatchObject({ requests: 1 });
      expect(await array.plan([3])).toMatchObject({ requests: 2, bytes: 8 });
    }
  });

  it("is nothing where the region is empty, and one chunk is not copied again", async () => {
    const { array, store } = await counting();
    expect((await array.read([{ start: 5, stop: 5 }])).shape).toEqual([0]);
    expect(store.log).toEqual([]);
    expect([...(typed(await array.read([{ start: 4, stop: 6 }])) as Int32Array)]).toEqual([5, 6]);
  });
});

describe("an array that is mostly absent", () => {
  const sparse = async (store: Store) => {
    const array = await createArray(store, Prefix.root, {
      shape: [100, 50],
      chunkShape: [1, 1],
      dtype: "int8",
      fill: 7,
    });
    for (const at of [
      [0, 3],
      [60, 0],
      [99, 49],
    ])
      await writeRegion(array, at, ndarray([], Int8Array.of(1)));
    const expected = new Int8Array(5000).fill(7);
    for (const at of [3, 3000, 4999]) expected[at] = 1;
    return { array, expected };
  };
  const gets = (store: { log: readonly { kind: string }[] }) => store.log.filter(({ kind }) => kind === "get").length;

  it("is asked for by the store's list", async () => {
    const store = recordingStore(memoryStore());
    const { array, expected } = await sparse(store);
    store.log.length = 0;
    let last: Progress | undefined;
    const got = await array.read([], { onProgress: (progress) => (last = progress) });
    expect(typed(got)).toEqual(expected);
    expect(gets(store)).toBeLessThan(300);
    expect(last).toEqual({ done: 5000, total: 5000, unit: "chunks" });
    expect(typed(await array.read([{ step: -1 }, { step: -1 }]))).toEqual(expected.slice().reverse());
  });

  it("is asked for chunk by chunk where the list is refused, or longer than what is wanted", async () => {
    const inner = memoryStore();
    const { expected } = await sparse(inner);
    const refusing = faultyStore(inner, ({ kind }) => {
      if (kind === "list") throw new Unsupported("listing is forbidden", { reason: "forbidden" });
    });
    expect(typed(await ((await openZarr(refusing)) as ZarrArray).read())).toEqual(expected);

    const store = recordingStore(inner);
    const crowded = (await openZarr(store)) as ZarrArray;
    await writeRegion(crowded, [{ start: 40 }], ndarray([], Int8Array.of(2)));
    store.log.length = 0;
    expect(typed(await crowded.read([{ start: 1, stop: 11 }]))).toEqual(new Int8Array(500).fill(7));
    expect(gets(store)).toBe(500);
  });
});

describe("what may be missing and what may not", () => {
  it("absent chunks are fill, in every shape of a read", async () => {
    const store = memoryStore();
    const array = await createArray(store, Prefix.root, {
      shape: [5, 4],
      chunkShape: [2, 4],
      dtype: "int16",
      fill: -3,
    });
    for (const region of [[], [{ start: 2, stop: 4 }], [{ step: -2 }, 1], [0, 0]] as const) {
      const got = await array.read(region);
      expect([...new Set(typed(got) as Int16Array)]).toEqual([-3]);
    }
    expect((await array.read([0, 0])).shape).toEqual([]);
  });

  it("a short, long or damaged chunk is Corrupt and named", async () => {
    const { array, store } = await counting();
    const key = Key.of("c/3");
    const good = (await store.get(key))!;
    const flipped = good.map((byte, i) => (i === 2 ? byte ^ 4 : byte));
    for (const bad of [good.slice(0, -1), good.slice(0, 0), Uint8Array.of(...good, 0), flipped]) {
      await store.set(key, bad);
      await expect(array.read()).rejects.toThrow(Corrupt);
      await expect(array.read()).rejects.toThrow("memory:/c/3");
      expect([...(typed(await array.read([{ stop: 6 }])) as Int32Array)]).toHaveLength(6);
    }
  });

  it("a shard that is short, or whose index lies, is Corrupt", async () => {
    const { array, store } = await counting({ shardShape: [8] });
    const key = Key.of("c/0");
    const good = (await store.get(key))!;
    for (let length = 0; length < good.length; length += 7) {
      await store.set(key, good.slice(0, length));
      await expect(array.read([0])).rejects.toThrow(Corrupt);
      await expect(array.read()).rejects.toThrow(Corrupt);
    }
  });

  it("an error of the store is not absence", async () => {
    const { store } = await counting();
    const refusing = faultyStore(store, ({ at }) => {
      if (at === "c/2") throw new Unsupported("the store forbids c/2", { where: "c/2", reason: "forbidden" });
    });
    const array = (await openZarr(refusing)) as ZarrArray;
    await expect(array.read()).rejects.toThrow("the store forbids c/2");
    expect((await array.read([{ start: 6 }])).shape).toEqual([10]);
  });
});

it("a chunk that is compressed otherwise than the metadata say is read, changed and valid", async () => {
  for (const shardShape of [undefined, [4000]]) {
    const store = memoryStore();
    const configuration = { cname: "zstd", clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 };
    const codecs: CodecSpec[] = [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "blosc", configuration },
    ];
    const made = await createArray(store, Prefix.root, {
      shape: [4000],
      chunkShape: [1000],
      shardShape,
      dtype: "int32",
      codecs,
    });
    const values = Int32Array.from({ length: 4000 }, (_, i) => i);
    await writeRegion(made, [], ndarray([4000], values));
    const document = new TextDecoder().decode(await store.get(Key.of("zarr.json"))).replace('"zstd"', '"lz4"');
    await store.set(Key.of("zarr.json"), new TextEncoder().encode(document));

    const [read, changed] = (await Promise.all([openZarr(store), openZarr(store)])) as [ZarrArray, ZarrArray];
    expect(typed(await read.read())).toEqual(values);
    for await (const { message } of validateZarr(store, Prefix.root)) expect(message).toBe("no finding");
    await writeRegion(changed, [1001], ndarray([], Int32Array.of(-1)));
    values[1001] = -1;
    expect(typed(await changed.read())).toEqual(values);
  }
});

describe("bounds", () => {
  it("a result beyond the limit is refused before anything is asked for", async () => {
    const store = recordingStore(memoryStore());
    const array = await createArray(store, Prefix.root, { shape: [2 ** 40], chunkShape: [1024], dtype: "int32" });
    store.log.length = 0;
    await expect(array.read()).rejects.toThrow(LimitExceeded);
    await expect(array.read([{ stop: 100 }], { limits: { resultBytes: 399 } })).rejects.toThrow(LimitExceeded);
    await expect(array.read([2 ** 40])).rejects.toThrow(InvalidInput);
    expect(store.log).toEqual([]);
    expect((await array.read([{ start: -3 }])).shape).toEqual([3]);
  });

  it("keeps to its number of chunks at once, tells how far it is, and stops when told", async () => {
    const { store } = await counting();
    let running = 0;
    let most = 0;
    const slow = wrap(store, {
      get: async (key, options) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        return store.get(key, options);
      },
    });
    const array = (await openZarr(slow)) as ZarrArray;
    most = 0;
    const seen: number[] = [];
    await array.read([], { concurrency: 3, onProgress: ({ done, total }) => seen.push(done / total) });
    expect(most).toBe(3);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => n / 8));

    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error("enough"));
    await expect(array.read([], { concurrency: 1, signal: stop.signal, onProgress })).rejects.toThrow("enough");
  });
});

it("a chunk of a fixed-size type that is longer than any encoding is refused unread", async () => {
  const store = memoryStore();
  const array = await createArray(store, Prefix.root, { shape: [4], dtype: "int32" });
  await store.set(Key.of("c/0"), new Uint8Array(1 << 20));
  await expect(array.read()).rejects.toThrow(LimitExceeded);
});
