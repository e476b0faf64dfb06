import { expect, it } from "vitest";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { Dataset } from "../../../model/dataset.js";
import { ndarray } from "../../../model/elements.js";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { createAnnotations } from "../annotation/write.js";
import { precomputed } from "../format.js";
import { writeSegmentProperties } from "../properties/write.js";
import { createSkeletons } from "../skeleton/write.js";
import { createVolume, volumeInfo } from "../volume/index.js";
import { neuroglancerState, stateUrl } from "./state.js";

const store = memoryStore();

const opened = (path: string): Promise<Dataset> => precomputed.open(store, Prefix.of(path));
const shown = async (path: string) => ({ url: `https://host/${path}`, dataset: await opened(path) });

async function skeletons(path: string, ids: readonly bigint[]): Promise<void> {
  const writer = await createSkeletons(store, Prefix.of(path), { transform: [4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 40, 0] });
  const skeleton = { edges: Uint32Array.of(0, 1), attributes: new Map() };
  for (const id of ids) await writer.put(id, { ...skeleton, vertices: Float32Array.of(0, 0, 0, 100, 100, 10) });
  await writer.commit();
}

it("skeletons: segments, and the view at their centre, in nanometres", async () => {
  await skeletons("skel", [0n, 7n, 2n ** 64n - 1n]);
  expect(await neuroglancerState([await shown("skel")])).toEqual({
    dimensions: { x: [1e-9, "m"], y: [1e-9, "m"], z: [1e-9, "m"] },
    position: [200, 200, 200],
    crossSectionScale: 0.666667,
    projectionScale: 600,
    layers: [
      {
        type: "segmentation",
        name: "skel",
        source: "precomputed://https://host/skel",
        segments: ["7", `${2n ** 64n - 1n}`],
      },
    ],
    showSlices: false,
    layout: "3d",
  });
  expect((await neuroglancerState([await shown("skel")], { objects: [5n] })).layers[0]!.segments).toEqual(["5"]);
});

it("of many objects some are shown", async () => {
  await skeletons(
    "many",
    Array.from({ length: 101 }, (_, i) => BigInt(i + 1)),
  );
  expect((await neuroglancerState([await shown("many")])).layers[0]!.segments).toHaveLength(16);
});

it("a volume, annotations and properties: linked layers, in voxels", async () => {
  const info = volumeInfo({
    size: [8, 8, 8],
    dtype: { kind: "uint", size: 4, endian: "little" },
    type: "segmentation",
    resolution: [4, 4, 40],
    offset: [8, 0, 0],
  });
  const writer = await createVolume(store, Prefix.of("vol"), info);
  await writer.write(undefined, ndarray([8, 8, 8, 1], new Uint32Array(512)));
  await writer.commit();
  const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
  const annotations = await createAnnotations(store, Prefix.of("syn"), {
    type: "point",
    dimensions,
    relationships: ["cell"],
  });
  await annotations.add({
    ids: BigUint64Array.of(1n),
    offsets: Uint32Array.of(0, 1),
    points: Float32Array.of(32, 0, 0),
    properties: new Map(),
  });
  await annotations.commit();
  await writeSegmentProperties(store, Prefix.of("props"), { ids: BigUint64Array.of(1n), properties: [] });
  const state = await neuroglancerState([await shown("vol"), await shown("syn"), await shown("props")]);
  expect(state).toMatchObject({
    dimensions: { x: [4e-9, "m"], y: [4e-9, "m"], z: [4e-8, "m"] },
    position: [12, 4, 4],
    layers: [
      {
        type: "segmentation",
        name: "vol",
        source: ["precomputed://https://host/vol", "precomputed://https://host/props"],
      },
      { type: "annotation", name: "syn", linkedSegmentationLayer: { cell: "vol" } },
    ],
    layout: "4panel",
  });
  const twice = await neuroglancerState([await shown("vol"), await shown("vol"), await shown("syn")]);
  expect(twice.layers.map(({ name }) => name)).toEqual(["vol", "vol 2", "syn"]);
  expect(twice.layers[2]).not.toHaveProperty("linkedSegmentationLayer");
});

it("what cannot be shown is refused", async () => {
  await skeletons("other", [1n]);
  const dataset = await opened("other");
  await expect(neuroglancerState([{ url: "./other", dataset }])).rejects.toThrow(InvalidInput);
  const zv = { ...dataset, format: "zarr-vectors" } as Dataset;
  await expect(neuroglancerState([{ url: "https://host/x", dataset: zv }])).rejects.toThrow(Unsupported);
  await expect(neuroglancerState([])).rejects.toThrow(InvalidInput);
});

it("the address holds the state", async () => {
  const state = await neuroglancerState([await shown("skel")]);
  const url = new URL(stateUrl(state, "http://127.0.0.1:8080/"));
  expect(JSON.parse(decodeURIComponent(url.hash.slice(2)))).toEqual(state);
  expect(stateUrl(state)).toMatch(/^https:\/\/neuroglancer-demo\.appspot\.com\/#!%7B/);
});
