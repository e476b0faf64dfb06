import { expect, it } from "vitest";
import { InvalidInput, NotFound } from "../../errors.js";
import { ndarray } from "../../model/elements.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { readInfo } from "./info.js";
import { linkInfo, pathBetween } from "./link.js";
import { writeSegmentProperties } from "./properties/write.js";
import { createSkeletons } from "./skeleton/write.js";
import { createVolume, volumeInfo } from "./volume/index.js";

const at = Prefix.of("vol");

async function labels(type: "segmentation" | "image"): Promise<Store> {
  const store = memoryStore();
  const info = volumeInfo({ size: [2, 2, 2], dtype: { kind: "uint", size: 4, endian: "little" }, type });
  const writer = await createVolume(store, at, info);
  await writer.write(undefined, ndarray([2, 2, 2, 1], new Uint32Array(8)));
  await writer.commit();
  await (await createSkeletons(store, Prefix.of("vol/skeletons"), {})).commit();
  await writeSegmentProperties(store, Prefix.of("props"), { ids: new BigUint64Array(), properties: [] });
  return store;
}

it("a volume names what belongs to it, and keeps the rest", async () => {
  const store = await labels("segmentation");
  const before = (await readInfo(store, at))!.info;
  await linkInfo(store, at, { skeletons: "skeletons", segmentProperties: "../props" });
  const after = (await readInfo(store, at))!.info;
  expect(after).toEqual({ ...before, skeletons: "skeletons", segment_properties: "../props" });
  await linkInfo(store, Prefix.of("vol/skeletons"), { segmentProperties: "../../props" });
  expect((await readInfo(store, Prefix.of("vol/skeletons")))!.info.segment_properties).toBe("../../props");
});

it("what is not there, or something else, is not named", async () => {
  const store = await labels("segmentation");
  const before = await store.get(Key.of("vol/info"));
  await expect(linkInfo(store, at, { mesh: "mesh" })).rejects.toThrow(NotFound);
  await expect(linkInfo(store, at, { mesh: "skeletons" })).rejects.toThrow(/found neuroglancer_skeletons/);
  await expect(linkInfo(store, Prefix.of("nothing"), { mesh: "mesh" })).rejects.toThrow(NotFound);
  await expect(linkInfo(store, Prefix.of("props"), { mesh: "mesh" })).rejects.toThrow(InvalidInput);
  await expect(linkInfo(store, Prefix.of("vol/skeletons"), { mesh: "mesh" })).rejects.toThrow(InvalidInput);
  await expect(linkInfo(await labels("image"), at, { skeletons: "skeletons" })).rejects.toThrow(/an image/);
  expect(await store.get(Key.of("vol/info"))).toEqual(before);
});

it.each([
  ["file:///a/vol/", "file:///a/vol/skeletons", "skeletons"],
  ["file:///a/vol", "file:///a/mesh/", "../mesh"],
  ["s3://bucket/a/vol", "s3://bucket/mesh", "../../mesh"],
  ["s3://bucket/a", "s3://other/mesh", undefined],
  ["memory:x/vol", "memory:x/mesh", "../mesh"],
])("from %s to %s", (from, to, path) => {
  expect(pathBetween(from, to)).toBe(path);
});
