/** Which particles of a `.ptree` file are in a region, exactly; of the file, what has to be tested is read, and what is answered with. */

import type { Triple } from "../box.js";
import { imagesOf } from "../periodic.js";
import { INSIDE, OUTSIDE, PARTLY, type Relation, regionTest, type TreeRegion } from "../region.js";
import { type Blocks, emptyBox, widenBox } from "./blocks.js";
import { ALL } from "./description.js";
import type { BlockOptions, ParticleFile } from "./read.js";
import { splitParticles } from "./read.js";

/** How to ask. */
export interface AskOptions extends BlockOptions {
  /** The lengths after which space repeats along x, y and z (Infinity: never). */
  readonly periodic?: Triple | undefined;
}

/** Some of the particles, ascending in the order of the tree. */
export interface FoundParticles {
  readonly tree: Uint32Array;
  /** The numbers that they had before. */
  readonly original: Uint32Array;
  /** x, y, z of each. */
  readonly positions: Float64Array;
}

/** Blocks that are read together. */
const TOGETHER = 2048;

/** The particles in a region, piece by piece. */
export async function* particlesInFile(
  file: ParticleFile,
  region: TreeRegion,
  options: AskOptions = {},
): AsyncGenerator<FoundParticles> {
  const relation = relationTo(file, region, options);
  const pages = pagesWhere(file, (page) => relation(file.pages[ALL].boxes, 6 * page) !== OUTSIDE);
  const blocks = await file.blocks(ALL, pages, options);
  const met = blocksWhere(blocks, (block) => relation(blocks.boxes, 6 * block) !== OUTSIDE);
  for (let from = 0; from < met.length; from += TOGETHER) {
    const some = met.slice(from, from + TOGETHER);
    const [tree, original, places]: [number[], number[], number[]] = [[], [], []];
    await eachInside(file, blocks, some, relation, options, (block, i, number, place) => {
      tree.push(blocks.starts[block]! + i);
      original.push(number);
      places.push(place[0]!, place[1]!, place[2]!);
    });
    if (tree.length > 0)
      yield {
        tree: Uint32Array.from(tree),
        original: Uint32Array.from(original),
        positions: Float64Array.from(places),
      };
  }
}

/** How many particles are in a region; those of pages and blocks that lie in it whole are not read. */
export async function countInFile(file: ParticleFile, region: TreeRegion, options: AskOptions = {}): Promise<number> {
  const relation = relationTo(file, region, options);
  const { boxes, sizes } = file.pages[ALL];
  let sum = 0;
  for (const page of pagesWhere(file, (own) => relation(boxes, 6 * own) === INSIDE)) sum += sizes[page]!;
  const pages = pagesWhere(file, (page) => relation(boxes, 6 * page) === PARTLY);
  const blocks = await file.blocks(ALL, pages, options);
  const tested: number[] = [];
  for (let block = 0; block < blocks.count; block++) {
    const met = relation(blocks.boxes, 6 * block);
    if (met === INSIDE) sum += blocks.sizes[block]!;
    else if (met === PARTLY) tested.push(block);
  }
  for (let from = 0; from < tested.length; from += TOGETHER)
    await eachInside(file, blocks, tested.slice(from, from + TOGETHER), relation, options, () => sum++);
  return sum;
}

type RelationOf = (boxes: Float64Array, at: number) => Relation;

/** To the region wherever it is in space that repeats: the most that any of its images has. */
function relationTo(file: ParticleFile, region: TreeRegion, { periodic }: AskOptions): RelationOf {
  const { count, boxes } = file.pages[ALL];
  const bounds = emptyBox();
  for (let page = 0; page < count; page++) widenBox(bounds, 0, boxes, 6 * page);
  const tests = imagesOf(region, { bounds, count }, periodic).map(regionTest);
  return (boxes, at) => {
    let most: Relation = OUTSIDE;
    for (const { relation } of tests) most = Math.max(most, relation(boxes, at)) as Relation;
    return most;
  };
}

const pagesWhere = (file: ParticleFile, test: (page: number) => boolean): number[] =>
  Array.from({ length: file.pages[ALL].count }, (_, page) => page).filter(test);

const blocksWhere = ({ count }: Blocks, test: (block: number) => boolean): number[] =>
  Array.from({ length: count }, (_, block) => block).filter(test);

/** Goes through the particles of some blocks that are in the region: a particle is tested as a box without extent. */
async function eachInside(
  file: ParticleFile,
  blocks: Blocks,
  some: readonly number[],
  relation: RelationOf,
  options: BlockOptions,
  found: (block: number, i: number, original: number, place: Float64Array) => void,
): Promise<void> {
  const { particles } = file.description;
  const place = new Float64Array(6);
  for (const [k, [bytes]] of (await file.read(ALL, [particles], blocks, some, options)).entries()) {
    const block = some[k]!;
    const [positions, order] = splitParticles(bytes!, blocks.sizes[block]!, particles);
    const all = relation(blocks.boxes, 6 * block) === INSIDE;
    for (let i = 0; i < order.length; i++) {
      for (let axis = 0; axis < 3; axis++) place[axis] = place[axis + 3] = positions[3 * i + axis]!;
      if (all || relation(place, 0) !== OUTSIDE) found(block, i, order[i]!, place);
    }
  }
}
