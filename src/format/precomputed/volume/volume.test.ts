import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { fixtures } from "../../../../test/fixtures.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Conflict, Corrupt, InvalidInput, LimitExceeded, NotFound, Unsupported } from "../../../errors.js";
import type { NdArray } from "../../../model/array.js";
import { ndarray, typed } from "../../../model/elements.js";
import type { Finding } from "../../../model/format.js";
import { fileStore } from "../../../store/file.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { recordingStore } from "../../../testing/observe.js";
import { precomputed } from "../index.js";
import type { Sharding } from "../sharded/types.js";
import {
  createVolume,
  openVolume,
  type VolumeArray,
  type VolumeDescription,
  volumeInfo,
  writeVolume,
} from "./index.js";
import { chunksOf } from "./read.js";

const root = join(fixtures("precomputed"), "volumes");
const expected = JSON.parse(readFileSync(join(root, "expected.json"), "utf8"));

const open = async (store: Store, at = Prefix.root): Promise<VolumeArray> =>
  (await precomputed.open(store, at)) as VolumeArray;

const findings = (store: Store, at = Prefix.root): Promise<Finding[]> => listed(precomputed.validate(store, at));

async function listed<T>(all: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const one of all) out.push(one);
  return out;
}

/** As the expected hashes have it: x fastest. */
function fortran({ shape, dtype, data }: NdArray): Uint8Array {
  const [nx, ny, nz, nc] = shape as [number, number, number, number];
  const size = (dtype as { size: number }).size;
  const bytes = data as Uint8Array;
  const out = new Uint8Array(bytes.length);
  let at = 0;
  for (let c = 0; c < nc; c++)
    for (let z = 0; z < nz; z++)
      for (let y = 0; y < ny; y++)
        for (let x = 0; x < nx; x++, at += size) {
          const from = (((x * ny + y) * nz + z) * nc + c) * size;
          out.set(bytes.subarray(from, from + size), at);
        }
  return out;
}

describe("volumes of tensorstore and cloud-volume", () => {
  const names = readdirSync(root).filter((name) => !name.includes("."));
  test.each(names)("%s", async (name) => {
    const store = fileStore(root);
    const volume = await open(store, Prefix.of(name));
    const { shape, sha256_fortran_le: exact, cloudvolume_lossy_sha256: lossy, info } = expected[name];
    expect(volume.shape).toEqual(shape);
    if (!["raw", "jpeg", "png", "compressed_segmentation"].includes(info.scales[0].encoding)) {
      await expect(volume.read()).rejects.toThrow(Unsupported);
      return;
    }
    const hash = createHash("sha256")
      .update(fortran(await volume.read()))
      .digest("hex");
    expect(hash).toBe(lossy ?? exact);
    expect((await findings(store, Prefix.of(name))).filter(({ severity }) => severity !== "info")).toEqual([]);
    const stored = await listed(volume.stored()!);
    expect(stored).toHaveLength(volume.grid.count);
  });

  test("written again, chunks are the same bytes", async () => {
    const store = memoryStore();
    const files = fileStore(root);
    const source = await open(files, Prefix.of("seg32x2_cseg_mm3"));
    const writer = await createVolume(store, Prefix.root, source.info);
    await writer.write(undefined, await source.read());
    await writer.commit();
    const [mine, theirs] = await Promise.all([chunksOf(await open(store)), chunksOf(source)]);
    let chunks = 0;
    for await (const { ids, values } of theirs.entries()) {
      for (const [i, id] of ids.entries()) expect(Buffer.compare((await mine.get(id))!, values[i]!)).toBe(0);
      chunks += ids.length;
    }
    expect(chunks).toBe(source.grid.count);
  });
});

const uint8 = { kind: "uint", size: 1, endian: "little" } as const;
const put = (store: Store, key: string, value: Uint8Array) => store.set(Key.of(key), value);
const putInfo = (store: Store, json: unknown) => put(store, "info", encodeUtf8(JSON.stringify(json), "info"));

/** 3 × 2 × 1 voxels of two channels in chunks of 2 × 2 × 1: the second is narrower. */
const tiny = {
  type: "image",
  data_type: "uint8",
  num_channels: 2,
  scales: [
    {
      key: "s0",
      size: [3, 2, 1],
      voxel_offset: [-1, 0, 5],
      resolution: [1, 1, 1],
      chunk_sizes: [[2, 2, 1]],
      encoding: "raw",
    },
  ],
};

async function tinyStore(): Promise<Store> {
  const store = memoryStore();
  await putInfo(store, tiny);
  await put(store, "s0/-1-1_0-2_5-6", Uint8Array.of(1, 2, 3, 4, 11, 12, 13, 14)); // x fastest, then y; then the next channel
  await put(store, "s0/1-2_0-2_5-6", Uint8Array.of(5, 6, 15, 16));
  return store;
}

describe("reading", () => {
  it("gives voxels [x, y, z, channel]", async () => {
    const volume = await open(await tinyStore());
    expect(volume.dimensionNames).toEqual(["x", "y", "z", "channel"]);
    const { shape, data } = await volume.read();
    expect(shape).toEqual([3, 2, 1, 2]);
    expect([...(data as Uint8Array)]).toEqual([1, 11, 3, 13, 2, 12, 4, 14, 5, 15, 6, 16]);
    const part = await volume.read([{ start: 2, stop: 0, step: -1 }, 1, null, 0]);
    expect([part.shape, [...(part.data as Uint8Array)]]).toEqual([
      [2, 1],
      [6, 4],
    ]);
  });

  it("takes an absent chunk for zeros, also in memory that was used before", async () => {
    const store = await tinyStore();
    await store.delete(Key.of("s0/1-2_0-2_5-6"));
    const into = new Uint8Array(12).fill(9);
    await (await open(store)).read(undefined, { into });
    expect([...into]).toEqual([1, 11, 3, 13, 2, 12, 4, 14, 0, 0, 0, 0]);
    expect(await findings(store)).toMatchObject([{ rule: "precomputed/chunk-missing", severity: "info" }]);
  });

  it("takes a chunk of another length for damage", async () => {
    for (const length of [0, 7, 9]) {
      const store = await tinyStore();
      await put(store, "s0/-1-1_0-2_5-6", new Uint8Array(length));
      const volume = await open(store);
      await expect(volume.read()).rejects.toThrow(Corrupt);
      await expect(volume.read()).rejects.toThrow(/s0\/-1-1_0-2_5-6.*8 bytes, found/);
      expect(await findings(store)).toMatchObject([{ rule: "precomputed/value-decodes", severity: "error" }]);
    }
  });

  it("reads chunks that cloud-volume has compressed, and says so", async () => {
    const store = await tinyStore();
    const key = Key.of("s0/-1-1_0-2_5-6");
    await put(store, `${key}.gz`, gzipSync((await store.get(key))!));
    await store.delete(key);
    expect([...((await (await open(store)).read([0])).data as Uint8Array)]).toEqual([1, 11, 3, 13]);
    expect(await findings(store)).toMatchObject([{ rule: "precomputed/portable", severity: "warning" }]);
  });

  it("asks for the chunks of the region and nothing else", async () => {
    const recorded = recordingStore(await tinyStore());
    const volume = await open(recorded);
    recorded.log.length = 0;
    await volume.read([2]);
    expect(recorded.log.map(({ at }) => at)).toEqual(["s0/.octavo/head", "s0/1-2_0-2_5-6"]);
    expect(await volume.plan([2])).toMatchObject({ requests: 1, bytes: 4 });
  });

  it("refuses chunks and results beyond the limits", async () => {
    const store = memoryStore();
    await putInfo(store, {
      ...tiny,
      scales: [{ ...tiny.scales[0], size: [1e6, 1e6, 1e6], chunk_sizes: [[1e5, 1e5, 1]] }],
    });
    await expect(open(store)).rejects.toThrow(LimitExceeded);
    await putInfo(store, { ...tiny, scales: [{ ...tiny.scales[0], size: [1e6, 1e6, 1e6] }] });
    await expect((await open(store)).read()).rejects.toThrow(LimitExceeded);
  });

  it("does not inflate a bomb", async () => {
    const store = await tinyStore();
    await store.delete(Key.of("s0/-1-1_0-2_5-6"));
    await put(store, "s0/-1-1_0-2_5-6.gz", gzipSync(new Uint8Array(20 << 20)));
    await expect((await open(store)).read()).rejects.toThrow(LimitExceeded);
  });
});

describe("validate", () => {
  it("names chunks that nobody reads, and words that not everybody takes", async () => {
    const store = await tinyStore();
    await put(store, "s0/0-2_0-2_5-6", new Uint8Array(8));
    await put(store, "s0/notes.txt", new Uint8Array(8));
    await putInfo(store, { ...tiny, type: "Image", scales: [{ ...tiny.scales[0], sharding: null }] });
    expect((await findings(store)).map(({ rule }) => rule).sort()).toEqual([
      "precomputed/chunk-outside",
      "precomputed/portable",
      "precomputed/undrawn",
    ]);
  });

  it("says what is wrong with an info, and with an encoding", async () => {
    const store = memoryStore();
    await putInfo(store, { ...tiny, num_channels: 0 });
    expect(await findings(store)).toMatchObject([{ rule: "precomputed/info", severity: "error" }]);
    await putInfo(store, { ...tiny, scales: [{ ...tiny.scales[0], encoding: "kempressed" }] });
    expect((await findings(store)).map(({ rule }) => rule)).toContain("precomputed/portable");
  });
});

const identity: Sharding = {
  hash: "identity",
  preshiftBits: 1,
  minishardBits: 1,
  shardBits: 2,
  indexEncoding: "gzip",
  dataEncoding: "raw",
};

/** Labels with runs, as a typed array. */
function drawn(shape: readonly number[], dtype: VolumeDescription["dtype"], seed: number): NdArray {
  const size = (dtype as { size: number }).size;
  const data = new Uint8Array(shape.reduce((product, length) => product * length, size));
  let state = seed;
  for (let i = 0; i < data.length; i += size) {
    if ((state >>> 8) % 3 === 0) state = (Math.imul(state, 1103515245) + 12345) | 0;
    else state += 256;
    data.fill((state >>> 16) % 5, i, i + size);
  }
  return { shape, dtype, data };
}

describe("writing", () => {
  const volumes = fc.record({
    size: fc.tuple(...[9, 7, 5].map((max) => fc.integer({ min: 1, max }))) as fc.Arbitrary<[number, number, number]>,
    offset: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -9, max: 9 }))) as fc.Arbitrary<[number, number, number]>,
    chunkSize: fc.tuple(...[4, 3, 2].map((max) => fc.integer({ min: 1, max }))) as fc.Arbitrary<
      [number, number, number]
    >,
    what: fc.constantFrom(
      {
        dtype: { kind: "uint", size: 8, endian: "little" },
        encoding: { name: "compressed_segmentation", block: [2, 3, 1] },
      },
      { dtype: { kind: "uint", size: 4, endian: "little" }, encoding: undefined, channels: 2 },
      { dtype: { kind: "uint", size: 2, endian: "little" }, encoding: { name: "png" }, channels: 3 },
      { dtype: { kind: "float", size: 4, endian: "little" }, encoding: { name: "raw" } },
      { dtype: { kind: "int", size: 1, endian: "little" }, encoding: { name: "raw" } },
    ) as fc.Arbitrary<Pick<VolumeDescription, "dtype" | "encoding" | "channels">>,
    sharding: fc.constantFrom(undefined, true, identity),
    seed: fc.nat(),
  });

  it("comes back as it was, and again after a part of it was changed", async () => {
    await fc.assert(
      fc.asyncProperty(volumes, async ({ size, offset, chunkSize, what, sharding, seed }) => {
        const store = memoryStore();
        const at = Prefix.of("v");
        const writer = await createVolume(store, at, volumeInfo({ size, offset, chunkSize, sharding, ...what }));
        const whole = drawn([...size, what.channels ?? 1], what.dtype, seed);
        await writer.write(undefined, whole);
        await writer.commit();
        const volume = await open(store, at);
        expect(Buffer.compare((await volume.read()).data as Uint8Array, whole.data as Uint8Array)).toBe(0);

        const region = [{ start: seed % size[0] }, { start: 0, stop: 1 + (seed % size[1]) }];
        const part = drawn((await volume.read(region)).shape, what.dtype, seed + 1);
        await writeVolume(volume, region, part);
        const again = await open(store, at);
        expect(Buffer.compare((await again.read(region)).data as Uint8Array, part.data as Uint8Array)).toBe(0);
        const rest = [{ stop: seed % size[0] }];
        const from = await memoryRead(whole, rest[0]!.stop);
        expect(Buffer.compare((await again.read(rest)).data as Uint8Array, from)).toBe(0);
        expect((await findings(store, at)).filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  /** The first planes along x. */
  const memoryRead = async ({ shape, data }: NdArray, planes: number): Promise<Uint8Array> =>
    (data as Uint8Array).subarray(0, (data.length / shape[0]!) * planes);

  it("leaves out chunks of zeros, and takes them away where they were", async () => {
    const store = memoryStore();
    const dtype = uint8;
    const info = volumeInfo({ size: [4, 2, 2], chunkSize: [2, 2, 2], dtype });
    const writer = await createVolume(store, Prefix.root, info);
    await writer.write([{ stop: 2 }], ndarray([2, 2, 2, 1], new Uint8Array(8).fill(7)));
    await writer.write([{ start: 2 }], ndarray([2, 2, 2, 1], new Uint8Array(8)));
    const volume = await writer.commit();
    const names = async () => (await store.children(Prefix.of("1_1_1"))).keys.map((key) => key.slice(6));
    expect(await names()).toEqual(["0-2_0-2_0-2"]);
    await writeVolume(volume, undefined, ndarray([], new Uint8Array(1)));
    expect(await names()).toEqual([]);
    await writeVolume(volume, undefined, ndarray([], new Uint8Array(1)), { writeEmptyChunks: true });
    expect(await names()).toEqual(["0-2_0-2_0-2", "2-4_0-2_0-2"]);
  });

  it("shows nothing before it is committed, and leaves nothing where it is given up", async () => {
    const store = memoryStore();
    const info = volumeInfo({ size: [4, 2, 2], chunkSize: [2, 2, 2], dtype: uint8 });
    const writer = await createVolume(store, Prefix.root, info);
    await writer.write(undefined, ndarray([4, 2, 2, 1], new Uint8Array(16).fill(7)));
    expect(await store.get(Key.of("info"))).toBeUndefined();
    await writer.abort();
    expect(await listed(store.list(Prefix.root))).toEqual([]);
  });

  it("replaces a volume only where that is wanted, and then whole", async () => {
    const store = await tinyStore();
    const info = volumeInfo({ size: [2, 2, 2], dtype: uint8 });
    await expect(openVolume(memoryStore())).rejects.toThrow(NotFound);
    await expect(createVolume(store, Prefix.root, info)).rejects.toThrow(Conflict);
    const writer = await createVolume(store, Prefix.root, info, { overwrite: true });
    await writer.write(undefined, ndarray([2, 2, 2, 1], new Uint8Array(8).fill(7)));
    await writer.commit();
    const keys = (await listed(store.list(Prefix.root))).map(({ key }) => key);
    expect(keys.sort()).toEqual(["1_1_1/0-2_0-2_0-2", "info"]);
  });

  it("refuses parts of chunks in a new volume, and values that do not fit", async () => {
    const info = volumeInfo({ size: [4, 2, 2], chunkSize: [2, 2, 2], dtype: uint8 });
    const writer = await createVolume(memoryStore(), Prefix.root, info);
    await expect(writer.write([{ stop: 1 }], ndarray([1, 2, 2, 1], new Uint8Array(4)))).rejects.toThrow(/whole chunks/);
    await expect(writer.write(undefined, ndarray([4], new Uint8Array(4)))).rejects.toThrow(InvalidInput);
    await expect(writer.write(undefined, ndarray([4, 2, 2, 1], new Uint16Array(16)))).rejects.toThrow(InvalidInput);
  });

  it("makes the coarser scales", async () => {
    const store = memoryStore();
    const info = volumeInfo({ size: [5, 4, 3], offset: [1, 0, 0], chunkSize: [2, 2, 2], dtype: uint8, scales: 3 });
    const writer = await createVolume(store, Prefix.root, info);
    await writer.write(
      undefined,
      ndarray(
        [5, 4, 3, 1],
        Uint8Array.from({ length: 60 }, (_, i) => i),
      ),
    );
    const [, second, third] = (await writer.commit()).levels;
    expect(second!.shape).toEqual([3, 2, 2, 1]);
    expect(second!.scale.offset).toEqual([0, 0, 0]);
    // x 0, of which only the voxels at 1 exist: 0 1 / 3 4 → 2, 2 5 → 3.5 → 4, 6 7 / 9 10 → 8, 8 11 → 9.5 → 10
    expect([...(typed(await second!.read([0])) as Uint8Array)]).toEqual([2, 4, 8, 10]);
    expect(third!.shape).toEqual([2, 1, 1, 1]);
    expect(third!.scale.resolution).toEqual([4, 4, 4]);
  });
});
