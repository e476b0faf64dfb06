/**
 * Surfaces both ways: what trimesh, plyfile and nibabel write, Octavo reads to the same numbers, and they read what Octavo
 * writes of it as they read the original. Faces of PLY, which zvtools leaves out, stay.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { VectorDataset } from "../../src/model/vectors.js";
import { convert, open } from "../../src/node.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("interchange");
const folder = mkdtempSync(join(tmpdir(), "octavo-surfaces-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Said {
  readonly positions: readonly number[];
  readonly links: readonly number[];
  readonly [name: string]: readonly number[];
}
const ask = (...names: string[]): { readonly [name: string]: Said } =>
  JSON.parse(runPeer("interchange", "ic_surfaces.py", "read", ...names.map((name) => join(folder, name))));
const opened = async (name: string) => (await open(join(folder, name))) as VectorDataset;
const read = async (name: string) => (await opened(name)).select().read();
const floats = (values: ArrayLike<number>): number[] => Array.from(values, Math.fround);

const SURFACES = [
  "trimesh.ply",
  "trimesh-ascii.ply",
  "trimesh.obj",
  "plyfile-big.ply",
  "plyfile-little.ply",
  "plyfile-ascii.ply",
  "lh.pial",
  ...["4gz", "bin", "cii"].map((name) => `${name}.surf.gii`),
];

describe.skipIf(reason !== undefined)(
  `surfaces, trimesh, plyfile and nibabel${reason === undefined ? "" : `: ${reason}`}`,
  () => {
    let said: { readonly [name: string]: Said } = {};
    beforeAll(() => {
      runPeer("interchange", "ic_surfaces.py", "write", folder);
      said = ask(...SURFACES, "plyfile-points.ply", "trimesh.stl", "trimesh-ascii.stl", "trimesh.glb");
    }, 120_000);

    it.each(SURFACES)("%s is read as they read it", async (name) => {
      const { positions, links } = await read(name);
      expect(floats(positions)).toEqual(said[name]!.positions);
      expect([...links!.ends]).toEqual(said[name]!.links);
    });

    it("every number of PLY is an attribute", async () => {
      for (const name of ["plyfile-big.ply", "plyfile-little.ply", "plyfile-ascii.ply", "plyfile-points.ply"]) {
        const { vertexColumns, links, geometry } = await read(name);
        const peer = said[name]!;
        for (const own of ["label", "heat"]) expect([...vertexColumns.get(own)!.values]).toEqual(peer[own]);
        for (const [own, parts] of [
          ["normal", ["nx", "ny", "nz"]],
          ["color", ["red", "green", "blue"]],
        ] as const)
          for (const [k, part] of parts.entries())
            expect([...(vertexColumns.get(own)!.values as Float32Array)].filter((_, i) => i % 3 === k)).toEqual(
              peer[part],
            );
        expect(geometry).toBe(name === "plyfile-points.ply" ? "points" : "mesh");
        if (geometry === "mesh") expect([...links!.columns.get("area")!.values]).toEqual(peer.area);
      }
    });

    it.each(["trimesh.stl", "trimesh-ascii.stl"])("%s has its triangles, at vertices that they share", async (name) => {
      const { positions, links } = await read(name);
      const corners = [...links!.ends].flatMap((end) => [...positions.subarray(3 * end, 3 * end + 3)]);
      const peer = said[name]!;
      expect(corners).toEqual(peer.links.flatMap((end) => peer.positions.slice(3 * end, 3 * end + 3)));
      expect(positions.length / 3).toBe(162);
    });

    it("nodes of glTF are objects where trimesh puts them", async () => {
      const peer = said["trimesh.glb"] as unknown as { readonly [node: string]: Said };
      const { positions, parts, links, objectColumns } = await read("trimesh.glb");
      const names = objectColumns.get("name")!.values as string[];
      expect([...names].sort()).toEqual(["ball", "box"]);
      for (const [i, name] of names.entries()) {
        const own = positions.subarray(3 * parts[i]!, 3 * parts[i + 1]!);
        expect(own.length).toBe(peer[name]!.positions.length);
        for (const [k, value] of own.entries()) expect(value).toBeCloseTo(peer[name]!.positions[k]!, 4);
        const ends = [...links!.ends].filter((end) => end >= parts[i]! && end < parts[i + 1]!);
        expect(ends.map((end) => end - parts[i]!)).toEqual(peer[name]!.links);
      }
    });

    it.each([
      ["plyfile-big.ply", "out.ply"],
      ["plyfile-big.ply", "trimesh-out.ply"],
      ["trimesh.obj", "out.obj"],
      ["trimesh.ply", "out.glb"],
      ["4gz.surf.gii", "out.surf.gii"],
      ["lh.pial", "lh.white"],
      ["lh.pial", "other.surf.gii"],
    ])("%s → %s is read by them as the original", async (from, to) => {
      await convert(join(folder, from), join(folder, to), { durability: "none" });
      const all = ask(to)[to] as unknown as Said & { readonly [node: string]: Said };
      const found = to.endsWith(".glb") ? (Object.values(all)[0] as unknown as Said) : all;
      expect(found.positions).toEqual(said[from]!.positions);
      expect(found.links).toEqual(said[from]!.links);
      if (to === "out.ply") expect(found).toEqual(said[from]);
      if (to === "out.surf.gii" || to === "lh.white") expect(found).toEqual(said[from]);
    });

    it("triangles of STL come back", async () => {
      await convert(join(folder, "trimesh.stl"), join(folder, "out.stl"), { durability: "none" });
      expect(ask("out.stl")["out.stl"]).toEqual(said["trimesh.stl"]);
    });

    it("faces of PLY, which zvtools 0.3 reads as points alone, are in the store", async () => {
      const out = join(folder, "store.zv");
      await convert(join(folder, "plyfile-little.ply"), out, { to: "zarr-vectors", durability: "none" } as never);
      const dataset = (await open(out)) as VectorDataset;
      const { links, positions } = await dataset.select().read();
      expect([dataset.geometries[0], links!.ends.length, positions.length]).toEqual(["mesh", 960, 486]);
    });
  },
);
