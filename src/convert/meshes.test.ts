/** Meshes of precomputed become Zarr Vectors, with all of their levels. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { precomputed } from "../format/precomputed/index.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import type { Batch, VectorDataset } from "../model/vectors.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { convertVectors } from "./vectors.js";

/** The triangles of a batch by their corners, in any order. */
const triangles = ({ positions, links }: Batch): string[] => {
  const ends = links!.ends;
  const corner = (i: number): string => positions.subarray(3 * ends[i]!, 3 * ends[i]! + 3).join(" ");
  return Array.from({ length: ends.length / 3 }, (_, i) => [0, 1, 2].map((k) => corner(3 * i + k)).join(", ")).sort();
};

test("a mesh of several resolutions says the same as Zarr Vectors", async () => {
  const folder = join(fixtures("precomputed"), "meshes/multires_sharded_q16/mesh");
  const source = (await precomputed.open(fileStore(folder), Prefix.root)) as VectorDataset;
  const store = memoryStore();
  const { losses } = await convertVectors(source, store, Prefix.root, {
    chunkShape: [128, 128, 128],
    dtype: "float64",
  });
  expect(losses).toEqual([]);
  const found = await openZarrVectors(store, Prefix.root);
  expect(found.levels.map(({ level }) => level)).toEqual([0, 1, 2]);
  for (const level of [0, 1, 2])
    for (const id of await source.objectIds(level)) {
      const query = { level, object: [id] };
      expect(triangles(await found.select(query).read())).toEqual(triangles(await source.select(query).read()));
    }
});
