/**
 * From Zarr Vectors to the eye: what `convert` writes and links, in the state that `octavo link` prints. Nothing in it is set by hand:
 * layers, segments, position and scale are those of the state, and everything has to be seen in the middle of the picture.
 */
import { expect, it } from "vitest";
import { createVolume, neuroglancerState, volumeInfo } from "../../src/format/precomputed/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { ndarray } from "../../src/model/elements.js";
import type { Geometry } from "../../src/model/vectors.js";
import { convert, open } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { scene } from "../zarr-vectors-scenes.js";
import { type Picture, SIZE } from "./picture.js";
import { inNeuroglancer } from "./suite.js";
import type { State } from "./viewer.js";

/** How many pixels are not black, and the share of the picture's height and width that they take. */
function seen(picture: Picture) {
  let count = 0;
  const [x, y] = [
    [SIZE.width, 0],
    [SIZE.height, 0],
  ] as [[number, number], [number, number]];
  for (let row = 0; row < SIZE.height; row++)
    for (let column = 0; column < SIZE.width; column++) {
      if (Math.max(...picture.at(column, row)) < 20) continue;
      count++;
      [x[0], x[1]] = [Math.min(x[0], column), Math.max(x[1], column)];
      [y[0], y[1]] = [Math.min(y[0], row), Math.max(y[1], row)];
    }
  const share = Math.max((x[1] - x[0]) / SIZE.width, (y[1] - y[0]) / SIZE.height);
  const inside = x[0] > 0 && y[0] > 0 && x[1] < SIZE.width - 1 && y[1] < SIZE.height - 1;
  return { count, share, inside };
}

async function converted(
  geometry: Geometry,
  to: string,
  options: { sharded?: boolean; link?: string } = {},
): Promise<void> {
  const axes = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "um" }));
  const writer = await createZarrVectors(memoryStore(), Prefix.root, { geometry, axes, chunkShape: 10 });
  await writer.add(scene(geometry, 9, 12));
  await convert(await writer.commit(), to, { to: "precomputed", ids: "dense", ...options });
}

inNeuroglancer("what convert writes, in the state of octavo link", ({ folder, source, show }) => {
  const url = (name: string): string => source(name).slice("precomputed://".length);
  const state = async (...names: string[]) =>
    neuroglancerState(
      await Promise.all(names.map(async (name) => ({ url: url(name), dataset: await open(url(name)) }))),
    );

  it.each([
    ["skeletons", "skeletons", true],
    ["streamlines", "skeletons", true],
    ["points", "annotations", true],
    ["lines", "annotations", false],
    ["mesh", "meshes", true],
  ] as const)("%s as %s, sharded %s", async (geometry, _, sharded) => {
    await converted(geometry, folder(geometry), { sharded });
    const own = await state(geometry);
    const { picture, complaints } = await show(own as unknown as State);
    expect(complaints).toEqual([]);
    const { count, share, inside } = seen(picture);
    expect([count > 200, share > 0.25, inside]).toEqual([true, true, true]);
  });

  it("a volume that names its skeletons and meshes, and annotations linked to it", async () => {
    const size = [64, 64, 64] as const;
    const info = volumeInfo({
      size,
      dtype: { kind: "uint", size: 8, endian: "little" },
      type: "segmentation",
      resolution: [1000, 1000, 1000],
    });
    const volume = await createVolume(fileStore(folder("labels")), Prefix.root, info);
    await volume.write(undefined, ndarray([...size, 1], new BigUint64Array(64 ** 3).fill(3n)));
    await volume.commit();
    await converted("skeletons", folder("labels/skeletons"), { sharded: true, link: folder("labels") });
    await converted("mesh", folder("labels/mesh"), { sharded: true, link: folder("labels") });
    await converted("points", folder("synapses"));
    const own = await state("labels", "synapses");
    expect(own.layers[1]!.linkedSegmentationLayer).toEqual({ object: "labels" });
    const layers = own.layers.map((layer) =>
      layer.type === "segmentation" ? { ...layer, segments: ["1", "2", "3"] } : layer,
    );
    const { complaints, asked } = await show({ ...own, layout: "3d", layers } as unknown as State);
    expect(complaints).toEqual([]);
    for (const part of ["labels/mesh/", "labels/skeletons/", "synapses/"])
      expect(
        asked.some(({ path }) => (path.includes(part) && path.endsWith(".shard")) || path.includes(`${part}spatial`)),
        part,
      ).toBe(true);
  });
});
