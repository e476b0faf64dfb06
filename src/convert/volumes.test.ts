import { expect, it } from "vitest";
import { InvalidInput, Unsupported } from "../errors.js";
import { precomputed } from "../format/precomputed/index.js";
import type { VolumeArray } from "../format/precomputed/volume/index.js";
import { createArray, openZarr, writeRegion, type ZarrArray } from "../format/zarr/index.js";
import { ndarray } from "../model/elements.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Store } from "../store/types.js";
import { convertArray } from "./arrays.js";
import { convertVolume } from "./volumes.js";

const uint32 = { kind: "uint", size: 4, endian: "little" } as const;
const open = async (store: Store, at: string): Promise<VolumeArray> =>
  (await precomputed.open(store, Prefix.of(at))) as VolumeArray;

async function zarrOf(store: Store, shape: readonly number[], dimensionNames?: readonly string[]): Promise<ZarrArray> {
  const count = shape.reduce((product, length) => product * length, 1);
  const array = await createArray(store, Prefix.of("a"), {
    shape,
    dtype: uint32,
    chunkShape: shape.map((length) => Math.ceil(length / 2)),
    ...(dimensionNames && { dimensionNames }),
    attributes: { resolution: [4, 4, 40], voxel_offset: [-3, 0, 7], mine: 1 },
  });
  await writeRegion(
    array,
    undefined,
    ndarray(
      shape,
      Uint32Array.from({ length: count }, (_, i) => (i >> 2) * 3),
    ),
  );
  return array;
}

it("an array becomes a volume and comes back as it was", async () => {
  const store = memoryStore();
  const source = await zarrOf(store, [7, 6, 5]);
  const report = await convertVolume(source, store, Prefix.of("v"), {
    chunkShape: [4, 4, 4],
    sharded: true,
    scales: 2,
  });
  expect(report).toMatchObject({ chunksCopied: 0, chunksRecoded: 8 });
  expect(report.losses).toEqual([expect.stringContaining("the attributes mine")]);
  const volume = await open(store, "v");
  expect(volume.scale).toMatchObject({ offset: [-3, 0, 7], resolution: [4, 4, 40], key: "4_4_40" });
  expect(volume.info.type).toBe("segmentation");
  expect(volume.levels).toHaveLength(2);
  const before = (await source.read()).data as Uint8Array;
  expect(Buffer.compare((await volume.read()).data as Uint8Array, before)).toBe(0);

  await convertArray(volume, store, Prefix.of("b"));
  const back = (await openZarr(store, Prefix.of("b"))) as ZarrArray;
  expect(back.shape).toEqual([7, 6, 5, 1]);
  expect(back.dimensionNames).toEqual(["x", "y", "z", "channel"]);
  expect(back.attributes).toMatchObject({ voxel_offset: [-3, 0, 7], resolution: [4, 4, 40] });
  expect(Buffer.compare((await back.read()).data as Uint8Array, before)).toBe(0);
  await convertVolume(back, store, Prefix.of("c"), {});
  expect((await open(store, "c")).info).toMatchObject({ type: "segmentation", scales: [{ offset: [-3, 0, 7] }] });
});

it("axes are told by their names, and turned in bounded memory", async () => {
  const store = memoryStore();
  const source = await zarrOf(store, [1, 2, 5, 6, 7], ["t", "c", "z", "y", "x"]);
  const report = await convertVolume(source, store, Prefix.of("v"), { chunkShape: [2, 3, 2], maxMemory: 4000 });
  expect(report.losses.join()).toContain("the axis t, of length 1");
  const volume = await open(store, "v");
  expect(volume.shape).toEqual([7, 6, 5, 2]);
  for (const [x, y, z, c] of [
    [0, 0, 0, 0],
    [6, 5, 4, 1],
    [3, 1, 2, 1],
    [1, 4, 0, 0],
  ] as const) {
    const mine = await volume.read([x, y, z, c]);
    const theirs = await source.read([0, c, z, y, x]);
    expect([...(mine.data as Uint8Array)]).toEqual([...(theirs.data as Uint8Array)]);
  }
});

it("what no volume has is refused before anything is written", async () => {
  const store = memoryStore();
  const source = await zarrOf(store, [2, 2, 2, 2, 2]);
  await expect(convertVolume(source, store, Prefix.of("v"))).rejects.toThrow(Unsupported);
  const plain = await zarrOf(memoryStore(), [4, 4, 4]);
  await expect(convertVolume(plain, store, Prefix.of("v"), { encoding: "png" })).rejects.toThrow(InvalidInput);
  await expect(convertVolume(plain, store, Prefix.of("v"), { chunkShape: [4, 4] })).rejects.toThrow(/three numbers/);
  expect((await store.children(Prefix.root)).prefixes).toEqual(["a/"]);
});
