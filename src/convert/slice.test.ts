/** A part of an array is what `read` of the same region gives, whatever it is written as. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { InvalidInput } from "../errors.js";
import type { VolumeArray } from "../format/precomputed/volume/index.js";
import { createArray, openZarr, writeRegion, zarr } from "../format/zarr/index.js";
import type { Region } from "../model/array.js";
import type { ArrayDataset } from "../model/dataset.js";
import { ndarray } from "../model/elements.js";
import { open } from "../node.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Location } from "../store/open.js";
import type { Store } from "../store/types.js";
import { converter } from "./index.js";
import { sliced } from "./slice.js";

const golden = fixtures("zarr");
const at = Prefix.of("out");
const into = (store: Store) => converter(open, async () => ({ store, at }) as Location);
const arrayAt = async (store: Store) => (await openZarr(store, at)) as ArrayDataset;

/** 6 × 5 × 4 voxels that are all different, in chunks of 4 × 3 × 2. */
async function voxels(
  options: { readonly dimensionNames?: readonly string[]; readonly attributes?: object; readonly version?: 2 } = {},
): Promise<ArrayDataset> {
  const array = await createArray(memoryStore(), Prefix.of("voxels"), {
    shape: [6, 5, 4],
    dtype: { kind: "uint", size: 2, endian: "little" },
    chunkShape: [4, 3, 2],
    ...(options as object),
  });
  await writeRegion(
    array,
    undefined,
    ndarray(
      [6, 5, 4],
      Uint16Array.from({ length: 120 }, (_, i) => i + 1),
    ),
  );
  return array;
}

describe("a slice", () => {
  const cases: [string, Region][] = [
    ["gzip", [{ start: 40, stop: 60 }, null]],
    ["gzip", [-1, { start: 150, stop: 10, step: -7 }]],
    ["gzip", [3, 4]],
    ["gzip", [{ start: 5, stop: 5 }]],
    ["transpose", [{ step: 3 }, { start: 8 }]],
    ["transpose", [null, 12]],
    ["sharded_nested", [7, { start: 30, stop: 170, step: 3 }]],
    ["sharded_zstd", [{ step: -2 }, null]],
    ["vlen_string", [{ step: -1 }]],
  ];
  /** v0 has neither texts of any length nor arrays without axes. */
  const plain = (name: string, slice: Region): boolean => name !== "vlen_string" && String(slice) !== "3,4";
  it.each(
    cases.flatMap(([name, slice]) =>
      (plain(name, slice) ? (["zarr3", "zarr2", "zarr0"] as const) : (["zarr3", "zarr2"] as const)).map(
        (to) => [name, slice, to] as const,
      ),
    ),
  )("of %s, %j, becomes %s", async (name, slice, to) => {
    const source = (await open(join(golden, "v3", name))) as ArrayDataset;
    const store = memoryStore();
    const { chunksCopied } = await into(store)(source, "out", { to, slice });
    expect(chunksCopied).toBe(0);
    const { shape, data } = await source.read(slice);
    expect(await (await arrayAt(store)).read()).toMatchObject({ shape, data });
    for await (const { severity, message } of zarr.validate(store, at))
      expect([severity, message]).toEqual(["info", expect.stringContaining("absent")]);
  });

  it("keeps the names of its axes, in both ways of saying them", async () => {
    const attributes = { _ARRAY_DIMENSIONS: ["z", "y", "x"], mine: 1 };
    for (const source of [
      await voxels({ dimensionNames: ["z", "y", "x"], attributes: { mine: 1 } }),
      await voxels({ version: 2, attributes }),
    ]) {
      const store = memoryStore();
      await into(store)(source, "out", { slice: [null, 2, { start: 1 }] });
      const { dimensionNames, attributes, shape } = await arrayAt(store);
      expect({ dimensionNames, attributes, shape }).toEqual({
        dimensionNames: ["z", "x"],
        attributes: { mine: 1 },
        shape: [6, 3],
      });
    }
  });

  it("is read in parts, which are parts of the whole", async () => {
    const source = await voxels();
    const part = sliced(source, [{ start: 5, stop: 0, step: -2 }, 3, { start: 1 }]);
    expect(part.shape).toEqual([3, 3]);
    expect(await part.read([{ start: 1 }, { step: -2 }])).toEqual(
      await source.read([{ start: 3, stop: 0, step: -2 }, 3, { start: 3, stop: 0, step: -2 }]),
    );
    expect(await part.read([2, -1])).toEqual(await source.read([1, 3, 3]));
    expect((await part.read([{ start: 3 }])).shape).toEqual([0, 3]);
    expect(await part.plan([0])).toEqual(await source.plan([5, 3, { start: 1 }]));
  });

  it("becomes a volume whose voxels are where they were", async () => {
    const attributes = { voxel_offset: [10, 20, 30], resolution: [4, 4, 40] };
    for (const [slice, offset, resolution, size] of [
      [
        [{ start: 2 }, null, { start: 1, stop: 3 }],
        [12, 20, 31],
        [4, 4, 40],
        [4, 5, 2],
      ],
      [
        [4, { step: 2 }, null],
        [14, 10, 30],
        [4, 8, 40],
        [1, 3, 4],
      ],
    ] as const) {
      const source = await voxels({ attributes });
      const store = memoryStore();
      await into(store)(source, "out", { slice, to: "precomputed" });
      const { precomputed } = await import("../format/precomputed/index.js");
      const volume = (await precomputed.open(store, at)) as VolumeArray;
      expect(volume.scale).toMatchObject({ offset, resolution });
      expect(volume.shape).toEqual([...size, 1]);
      expect((await volume.read()).data).toEqual((await source.read(slice)).data);
    }
  });

  it.each([
    [[{ step: -1 }], "voxels have a place, so that a slice along x goes forwards"],
    [[null, { start: 1, step: 2 }], "a slice along y goes forwards and begins at a multiple of its step"],
    [[0, 0, 0, 0], "the region has 4 axes, but the array has 3"],
    [[6], "index 6 is outside axis 0, which has 6 elements"],
  ] as const)("%j is refused, and nothing is written", async (slice, message) => {
    const store = memoryStore();
    const source = await voxels({ attributes: { voxel_offset: [10, 20, 30] } });
    const made = into(store)(source, "out", { slice });
    await expect(made).rejects.toThrow(InvalidInput);
    await expect(made).rejects.toThrow(message);
    expect((await store.children(Prefix.root)).prefixes).toEqual([]);
  });

  it("is of arrays only", async () => {
    const group = open(join(golden, "v3/group_consolidated"));
    await expect(into(memoryStore())(await group, "out", { slice: [0] })).rejects.toThrow(
      /a slice is a part of an array/,
    );
  });
});
