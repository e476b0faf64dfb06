/**
 * Cubes and snapshots of the packed-tree set: DIR/packed-tree/cubes has a snapshot, the Cubes that the reference made of it, with a dump of
 * their layout, and the particles in their order. Cubes pass when they read as the dump says, each tree is built anew word for word, and
 * answers are those of brute force; snapshots when their particles are those that they were made of.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildTree } from "../../src/format/packed-tree/build.js";
import { encodeTree } from "../../src/format/packed-tree/encode.js";
import { HEADER_BYTES } from "../../src/format/packed-tree/header.js";
import {
  type Cubes,
  joinCubes,
  nearestInCubes,
  openCubes,
  openSnapshot,
  particlesInCubes,
} from "../../src/format/packed-tree/index.js";
import type { TreeRegion } from "../../src/format/packed-tree/region.js";
import { openHdf5 } from "../../src/format/snapshot/hdf5-source.js";
import type { Positions } from "../../src/model/vectors.js";
import { fileStore } from "../../src/store/file.js";
import { Key } from "../../src/store/key.js";
import { alike, boxOf } from "../packed-tree.js";
import { type Case, Failed } from "./case.js";

export function cubeCases(folder: string): Case[] {
  const cubes = join(folder, "cubes");
  if (!existsSync(cubes)) return [];
  const names = readdirSync(cubes).filter((file) => file.endsWith(".hdf5"));
  return names.map((file) => ({
    name: `packed-tree/cubes/${file.slice(0, -".hdf5".length)}`,
    run: () => (file.includes("cubes") ? sameCubes(cubes, file) : sameParticles(cubes, file)),
  }));
}

const buffer = (folder: string, file: string): ArrayBuffer => new Uint8Array(readFileSync(join(folder, file))).buffer;

const GROUP = "cubes/PartType0";

/** The particles as they were given, and the order that the reference put them in; the pair of snap_cubes and snapshot_sorted has its own. */
async function particlesOf(folder: string, file: string) {
  const given = new Float64Array(buffer(folder, "cubes_saved.pos.f64"));
  let order = new Uint32Array(buffer(folder, "cubes_saved.idx.u32"));
  if (!file.startsWith("cubes_saved")) {
    const dataset = await openSnapshot(fileStore(folder), Key.of("snapshot_sorted.hdf5"));
    const index = (await dataset.select().read()).vertexColumns.get("index")!.values as BigInt64Array;
    order = Uint32Array.from(index, Number);
  }
  const sorted = Float64Array.from({ length: given.length }, (_, i) => given[3 * order[(i / 3) | 0]! + (i % 3)]!);
  return { given, order, sorted };
}

/** What a program in Python has seen in the file. */
function asDumped(folder: string, { version, trees, starts }: Cubes): void {
  const dump = JSON.parse(readFileSync(join(folder, "cubes_saved.dump.json"), "utf8"));
  const begins = new BigInt64Array(buffer(folder, "cubes_saved.cube_indices.i64"));
  if (version !== dump.cubes.attrs.Packingcubes_version) throw new Failed(`the version is ${version}`);
  if (trees.length !== dump[GROUP].attrs.Number_of_cubes) throw new Failed(`there are ${trees.length} cubes`);
  for (const [i, tree] of trees.entries()) {
    const bytes = encodeTree(tree).length;
    if (bytes !== 4 * dump[`${GROUP}/tree_${i}`].shape[0]) throw new Failed(`tree ${i} has ${bytes} bytes`);
    if (BigInt(starts[i]!) !== begins[i]) throw new Failed(`tree ${i} begins at ${starts[i]}`);
  }
}

async function sameCubes(folder: string, file: string): Promise<string> {
  const { given, order, sorted } = await particlesOf(folder, file);
  const cubes = await openCubes(fileStore(folder), Key.of(file));
  if (file.startsWith("cubes_saved")) asDumped(folder, cubes);
  const source = await openHdf5(fileStore(folder), Key.of(file));
  const boxes = source.use((own) =>
    cubes.trees.map((_, i) => own.attributes(`${GROUP}/tree_${i}`).get("Bounding_box")),
  );
  for (const [i, tree] of cubes.trees.entries()) {
    const own = sorted.subarray(3 * cubes.starts[i]!, 3 * cubes.starts[i + 1]!);
    const built = await buildTree(own, { box: boxOf(boxes[i] as readonly number[]), threshold: tree.threshold });
    if (!alike(encodeTree(built.tree).subarray(HEADER_BYTES), encodeTree(tree).subarray(HEADER_BYTES)))
      throw new Failed(`tree ${i} is another when it is built`);
  }
  const joined = await joinCubes(cubes, sorted, order);
  let asked = 0;
  for (const place of [
    [5, 5, 5],
    [0.1, 9.9, 5],
    [-3, 4, 11],
  ])
    for (const size of [0.5, 2, 6]) {
      const box = [...place, ...place.map((low) => low + size)];
      for (const region of [{ sphere: [...place, size] }, { box }]) {
        const found = particlesInCubes(joined, region, { numbers: "original" }).sort();
        if (found.join() !== bruteForce(given, region).join()) throw new Failed(`${JSON.stringify(region)} differs`);
        asked++;
      }
      const wanted = distances(given, place).sort().subarray(0, 5);
      if (nearestInCubes(joined, place, 5).distances.some((own, i) => Math.abs(own - wanted[i]!) > 1e-12))
        throw new Failed(`the nearest of ${place} differ`);
      asked++;
    }
  return `${joined.count} particles in ${cubes.trees.length} cubes, ${asked} queries`;
}

function bruteForce(given: Positions, region: TreeRegion): number[] {
  const { box, sphere } = region as { readonly box?: readonly number[]; readonly sphere?: readonly number[] };
  const inside = (i: number): boolean => {
    const at = [given[3 * i]!, given[3 * i + 1]!, given[3 * i + 2]!];
    if (box !== undefined) return at.every((value, axis) => value >= box[axis]! && value <= box[axis + 3]!);
    return at.reduce((sum, value, axis) => sum + (value - sphere![axis]!) ** 2, 0) <= sphere![3]! ** 2;
  };
  return Array.from({ length: given.length / 3 }, (_, i) => i).filter(inside);
}

const distances = (given: Positions, place: readonly number[]): Float64Array =>
  Float64Array.from({ length: given.length / 3 }, (_, i) =>
    Math.hypot(...place.map((value, axis) => value - given[3 * i + axis]!)),
  );

async function sameParticles(folder: string, file: string): Promise<string> {
  const { given, sorted } = await particlesOf(folder, file);
  const dataset = await openSnapshot(fileStore(folder), Key.of(file), { type: "gas" });
  const { positions, vertexColumns } = await dataset.select().read();
  if (!alike(positions, file.includes("sorted") ? sorted : given)) throw new Failed("the particles are others");
  return `${positions.length / 3} particles, with ${[...vertexColumns.keys()].join(", ") || "no fields"}`;
}
