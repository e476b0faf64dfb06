/**
 * What the reference and its tools lose without a word (docs/moving-from-zarr-vectors-py.md has the table), and Octavo does not: a test
 * for each row.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { file as ply } from "../src/format/interchange/ply.js";
import { file as trk } from "../src/format/interchange/trk.js";
import { editZarrVectors, openZarrVectors } from "../src/format/zarr-vectors/index.js";
import type { VectorDataset } from "../src/model/vectors.js";
import { convert, diff, open, openLocation } from "../src/node.js";
import { fixtures } from "./fixtures.js";
import { openBytes, paths, written } from "./interchange.js";
import { type Scene, sceneOf, stored } from "./matrix/scenes.js";
import { asBytes } from "./surfaces.js";
import { columnsOf, info } from "./zarr-vectors-scenes.js";

const opened = async (url: string): Promise<VectorDataset> => (await open(url)) as VectorDataset;
const names = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name).sort();

describe("what the reference loses, Octavo keeps:", () => {
  it("faces of a PLY", async () => {
    const text =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    await convert(await openBytes(ply, "a.ply", asBytes(text)), "memory:losses/ply.zv");
    const { geometry, links } = await (await opened("memory:losses/ply.zv")).select().read();
    expect([geometry, [...links!.ends].sort()]).toEqual(["mesh", [0, 1, 2]]);
  });

  it.each(["streamlines", "graph", "skeletons", "mesh"] as const)(
    "attributes of %s on coarser levels",
    async (kind) => {
      const url = `memory:losses/${kind}.zv`;
      await convert(await stored(sceneOf(kind, 3)), url, { pyramid: { levels: 1, keep: 1 } });
      const dataset = await opened(url);
      const [fine, coarse] = await Promise.all([dataset.schema(0), dataset.schema(1)]);
      expect(names(coarse.vertex)).toEqual(names(fine.vertex));
      expect(names(coarse.object).filter((name) => name !== "level0_object_id")).toEqual(names(fine.object));
      expect(names(coarse.link)).toEqual(names(fine.link));
      const { vertexColumns, positions } = await dataset.select({ level: 1 }).read();
      expect(vertexColumns.get("fa")!.values.length).toBe(positions.length / 3);
      expect(Array.from(vertexColumns.get("fa")!.values as Float32Array).every((value) => value > 0)).toBe(true);
    },
  );

  it("faces on coarser levels of meshes", async () => {
    const size = 20;
    const at = (i: number, j: number): number => i * size + j;
    const places = Array.from({ length: size * size }, (_, v) => [Math.floor(v / size), v % size, 0]);
    const ends = Array.from({ length: (size - 1) ** 2 }, (_, f) => {
      const [i, j] = [Math.floor(f / (size - 1)), f % (size - 1)];
      return [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    });
    const sheet: Scene = {
      ...sceneOf("surface", 1),
      positions: Float32Array.from(places.flat()),
      parts: [0, size * size],
      links: { width: 3, ends: ends.flat() },
      vertex: [],
      object: [],
      link: [],
    };
    await convert(await stored(sheet), "memory:losses/sheet.zv", { pyramid: { levels: 1 } });
    const { links } = await (await opened("memory:losses/sheet.zv")).select({ level: 1 }).read();
    expect(links!.ends.length).toBeGreaterThan(0);
  });

  it("that a TRK is in RAS+ millimetres", async () => {
    const vox_to_ras = [-1.25, 0, 0, 90, 0, 1.25, 0, -126, 0, 0, 1.25, -72, 0, 0, 0, 1];
    const headers = {
      trk: { version: 2, dimensions: [91, 109, 77], voxel_size: [1.25, 1.25, 1.25], voxel_order: "LAS", vox_to_ras },
    };
    const line = [10, -20, 30, 11.25, -21.25, 31.25];
    const { bytes } = await written(trk, paths([line], { headers }));
    const view = new DataView(bytes.buffer, bytes.byteOffset + 1004);
    expect(view.getFloat32(0, true)).toBeCloseTo(90 - 10 + 0.625); // as it lies in the file
    await convert(await openBytes(trk, "a.trk", bytes), "memory:losses/trk.zv");
    const { positions } = await (await opened("memory:losses/trk.zv")).select().read();
    for (const [i, value] of line.entries()) expect(positions[i]).toBeCloseTo(value, 4);
  });

  it("attributes of vertices in other chunks", async () => {
    const source = await stored(sceneOf("streamlines", 4));
    await convert(source, "memory:losses/chunks.zv", { chunkShape: [7, 7, 7] });
    expect((await diff(source, "memory:losses/chunks.zv")).differences).toEqual([]);
  });

  it("attributes of an object that is added, and the groups of objects that are renumbered", async () => {
    const scene = sceneOf("streamlines", 5);
    const source = await stored({ ...scene, vertex: scene.vertex.slice(0, 1), object: [] });
    await convert(source, "memory:losses/edit.zv");
    const { store, at } = await openLocation("memory:losses/edit.zv");
    const edit = await editZarrVectors(store, at);
    const fa = info("fa", { kind: "float", size: 4, endian: "little" });
    edit.append({
      positions: Float32Array.of(1, 2, 3, 4, 5, 6),
      ids: BigInt64Array.of(9n),
      vertexColumns: columnsOf([fa, Float32Array.of(0.25, 0.5)]),
    });
    await edit.commit();
    const { vertexColumns } = await (await openZarrVectors(store, at)).select({ object: [9] }).read();
    expect([...vertexColumns.get("fa")!.values]).toEqual([0.25, 0.5]);
    await convert("memory:losses/edit.zv", "memory:losses/dense.zv", { ids: "dense" });
    const dense = await opened("memory:losses/dense.zv");
    expect([...(await dense.objectIds())]).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    expect([...(await dense.groupMembers(0))]).toEqual([0n, 2n]); // were 0 and 7
  });

  it("what is in stores before 0.9", async () => {
    const store = join(fixtures("zarr-vectors"), "v0.3/streamlines_3d/store.zarrvectors");
    const { vertices, losses } = await convert(store, "memory:losses/old.zv");
    expect(losses).toEqual([]);
    expect(vertices).toBeGreaterThan(0);
    expect((await diff(store, "memory:losses/old.zv")).differences).toEqual([]);
  });

  it("points with ids in a box", async () => {
    const scene = sceneOf("cloud", 6);
    const count = scene.positions.length / 3;
    const ids = Array.from({ length: count }, (_, i) => BigInt(3 * i));
    const source = await stored({ ...scene, ids, parts: Array.from({ length: count + 1 }, (_, i) => i) });
    const [low, high] = [-100, scene.positions[0]!];
    const inside = ids.filter((_, i) => scene.positions[3 * i]! <= high);
    const found = await source.select({ box: [low, low, low, high, 100, 100] }).read();
    expect([...found.ids].sort()).toEqual([...inside].sort());
  });

  it("digits in a CSV", async () => {
    const scene = sceneOf("cloud", 7);
    await convert(await stored({ ...scene, vertex: [] }), "memory:losses/a.csv");
    expect((await diff(await stored({ ...scene, vertex: [] }), "memory:losses/a.csv")).differences).toEqual([]);
  });
});
