/**
 * The packed-tree set: DIR/packed-tree has trees with the positions that they were built from and what the reference answered;
 * corrupt has one tree in many damaged forms. A tree passes when it reads, is written again and is built anew byte for byte (the time
 * stamp aside), in the same order of particles, and when every answer is that of brute force; slices are those of the reference.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OctavoError } from "../../src/errors.js";
import { buildTree } from "../../src/format/packed-tree/build.js";
import { encodeTree } from "../../src/format/packed-tree/encode.js";
import { nearestParticles } from "../../src/format/packed-tree/nearest.js";
import { parseTree } from "../../src/format/packed-tree/parse.js";
import { inTreeOrder, joinParticles } from "../../src/format/packed-tree/particles.js";
import { countIn, particlesIn } from "../../src/format/packed-tree/range.js";
import type { TreeRegion } from "../../src/format/packed-tree/region.js";
import { slicesIn } from "../../src/format/packed-tree/slices.js";
import { validateTree } from "../../src/format/packed-tree/validate.js";
import { alike, type GoldenQuery, goldenNames, goldenTree } from "../packed-tree.js";
import { type Case, Failed } from "./case.js";
import { cubeCases } from "./packed-tree-cubes.js";

/** What the set has among the damaged and is not: the same tree, as the seed draws it or as other machines write it. */
const READABLE = ["base_copy", "base_valid", "big_endian_native", "spec_byte_order", "method_ascii"];

export function packedTreeCases(folder: string): Case[] {
  const corrupt = join(folder, "corrupt");
  const damaged = existsSync(corrupt) ? readdirSync(corrupt).filter((file) => file.endsWith(".bin")) : [];
  return [
    ...goldenNames(folder).map((name) => ({ name: `packed-tree/${name}`, run: () => same(folder, name) })),
    ...damaged.map((file) => {
      const name = file.slice(0, -".bin".length);
      const run = READABLE.includes(name) ? equal : refused;
      return { name: `packed-tree/corrupt/${name}`, run: async () => run(corrupt, file) };
    }),
    ...cubeCases(folder),
  ];
}

async function same(folder: string, name: string): Promise<string> {
  const golden = goldenTree(folder, name);
  const { positions, order, threshold, box, bytes } = golden;
  const tree = parseTree(bytes);
  if (!alike(encodeTree(tree), bytes)) throw new Failed("the tree is not written as it was read");
  const built = await buildTree(positions, { threshold, box, created: 0 });
  if (!alike(encodeTree(built.tree), bytes)) throw new Failed("the tree that is built from the positions is another");
  if (!alike(built.order, order)) throw new Failed("the order of the particles is another");
  const findings = validateTree(bytes);
  if (findings.length > 0) throw new Failed(findings[0]!.message);
  const particles = await joinParticles({ tree, positions: inTreeOrder(positions, order), order });
  for (const query of golden.queries) {
    if (query.type === "knn") {
      const wanted = query.brute_distances.filter((one) => typeof one === "number");
      const { distances } = nearestParticles(particles, query.center, query.k);
      if ([...distances].join() !== wanted.join()) throw new Failed(`the ${query.k} nearest of ${query.center} differ`);
      continue;
    }
    const region = regionOf(query);
    const what = JSON.stringify(region);
    if (sha256(sliceText(slicesIn(tree, region, { asReference: true }))) !== query.slices_sha256)
      throw new Failed(`the slices of ${what} differ`);
    const found = particlesIn(particles, region, { numbers: "original" }).sort();
    if (found.length !== query.brute_force.count || sha256(found) !== query.brute_force.sha256_u32le)
      throw new Failed(`the particles in ${what} are ${found.length}, expected ${query.brute_force.count}`);
    if (countIn(particles, region) !== found.length) throw new Failed(`the count of particles in ${what} differs`);
  }
  return `${particles.count} particles, ${tree.nodes.length} nodes, ${golden.queries.length} queries`;
}

/** The reference has boxes as a corner and sizes, and adds them up in float64. */
const regionOf = (query: Exclude<GoldenQuery, { type: "knn" }>): TreeRegion =>
  query.type === "sphere"
    ? { sphere: [...query.center, Number(query.radius)] }
    : { box: [...query.box.slice(0, 3), ...[0, 1, 2].map((axis) => query.box[axis]! + query.box[axis + 3]!)] };

const sha256 = (data: string | Uint32Array): string => createHash("sha256").update(data).digest("hex");

const sliceText = (slices: Uint32Array): string =>
  JSON.stringify(Array.from({ length: slices.length / 3 }, (_, i) => [...slices.subarray(3 * i, 3 * i + 3)]));

function equal(folder: string, file: string): string {
  const [found, wanted] = [file, "base_valid.bin"].map((name) => parseTree(readFileSync(join(folder, name))));
  if (!alike(encodeTree({ ...found!, created: 0 }), encodeTree({ ...wanted!, created: 0 })))
    throw new Failed("the tree is another than that of base_valid");
  return `${found!.count} particles`;
}

function refused(folder: string, file: string): string {
  const bytes = readFileSync(join(folder, file));
  const findings = validateTree(bytes, { box: { origin: [0, 0, 0], size: [1, 1, 1] } });
  if (!findings.some(({ severity }) => severity === "error")) throw new Failed("validate has nothing to say");
  try {
    parseTree(bytes, { where: file });
  } catch (error) {
    if (error instanceof OctavoError) return error.message;
    throw error;
  }
  throw new Failed("it is read as if it were sound");
}
