/**
 * Cubes: how packingcubes keeps its trees. Space is a grid of cells, and each cell that has particles has a packed tree of its own, whose
 * numbers begin with 0. There are two layouts; positions are in neither.
 *
 * | since 0.6.6                                | before                           | holds                                      |
 * |--------------------------------------------|----------------------------------|--------------------------------------------|
 * | /cubes, attribute Packingcubes_version     |                                  | who wrote it                               |
 * | /cubes/PartType0, attribute Number_of_cubes | attribute NumberOfCubes          | how many trees there are                   |
 * | /cubes/PartType0/indices                   | the same                         | where the particles of each tree begin     |
 * | /cubes/PartType0/tree_0 …                  | /cubes/PartType0/box_0 …         | u32 words of a packed tree, with its header |
 *
 * The particles are those of /PartType0/Coordinates in the sorted file beside (or in the same one), with /PartType0/index, the numbers that
 * they had before. Particle i of tree t is row indices[t] + i there, and not of the snapshot, with which the reference pairs it.
 */
import { Corrupt, InvalidInput, NotFound } from "../../errors.js";
import type { Positions } from "../../model/vectors.js";
import { type NearestOptions, type Neighbours, nearestParticles } from "../packed-tree/nearest.js";
import { parseTree } from "../packed-tree/parse.js";
import { joinParticles, type Particles } from "../packed-tree/particles.js";
import { particlesIn, type RangeOptions } from "../packed-tree/range.js";
import type { TreeRegion } from "../packed-tree/region.js";
import type { PackedTree } from "../packed-tree/types.js";
import type { Hdf5File } from "./hdf5-file.js";

/** The trees of one type of particles. */
export interface Cubes {
  /** The name of the type. */
  readonly type: string;
  /** That of packingcubes, where the file says it. */
  readonly version: string | undefined;
  readonly trees: readonly PackedTree[];
  /** Tree t is over the sorted particles starts[t] up to starts[t + 1]. */
  readonly starts: Float64Array;
}

const MOST_CUBES = 32 ** 3 + 1; // of 32 cells a side and all that lies outside

/** The types of particles that a file has cubes of. */
export const cubeTypes = (file: Hdf5File): readonly string[] =>
  file.kindOf("/cubes") !== "group"
    ? []
    : file.names("/cubes").filter((name) => file.kindOf(`/cubes/${name}`) === "group");

/** The cubes of one type, each checked as a tree; the first type where none is named. */
export function readCubes(file: Hdf5File, named?: string): Cubes {
  const { where } = file;
  const types = cubeTypes(file);
  const type = named ?? types[0];
  if (type === undefined || !types.includes(type))
    throw new NotFound(`${where} has no cubes of ${named ?? "any type"}; it has ${types.join(", ") || "none"}`, {
      where,
    });
  const group = `/cubes/${type}`;
  const attributes = file.attributes(group);
  const count = Number(attributes.get("Number_of_cubes") ?? attributes.get("NumberOfCubes"));
  if (!Number.isInteger(count) || count < 0 || count > MOST_CUBES)
    throw new Corrupt(`${group} of ${where} should have 0 to ${MOST_CUBES} cubes, found ${count}`, { where });
  const name = file.kindOf(`${group}/box_0`) === undefined ? "tree" : "box";
  const trees = Array.from({ length: count }, (_, i) => readTree(file, `${group}/${name}_${i}`));
  const starts = Float64Array.of(...integers(file, `${group}/indices`, count), 0);
  starts[count] = count === 0 ? 0 : starts[count - 1]! + trees[count - 1]!.count;
  for (const [i, { count: own }] of trees.entries())
    if (starts[i + 1]! - starts[i]! !== own || (i === 0 && starts[0] !== 0))
      throw new Corrupt(
        `cube ${i} of ${where} has ${own} particles, and begins at ${starts[i]} where the next begins at ${starts[i + 1]}`,
        { where },
      );
  const version = file.attributes("/cubes").get("Packingcubes_version");
  return { type, version: typeof version === "string" ? version : undefined, trees, starts };
}

function readTree(file: Hdf5File, path: string): PackedTree {
  const words = column(file, path);
  if (!(words instanceof Uint32Array))
    throw new Corrupt(`${path} of ${file.where} should be uint32`, { where: file.where });
  return parseTree(new Uint8Array(words.buffer), { where: `${path} of ${file.where}` });
}

/** A dataset of one axis, whole. */
function column(file: Hdf5File, path: string) {
  const dataset = file.dataset(path);
  if (dataset === undefined) throw new Corrupt(`${file.where} should have ${path}`, { where: file.where });
  if (dataset.shape.length !== 1)
    throw new Corrupt(`${path} of ${file.where} should have one axis, found ${dataset.shape.length}`, {
      where: file.where,
    });
  return file.rows(dataset, 0, dataset.shape[0]!);
}

function integers(file: Hdf5File, path: string, count: number): Float64Array {
  const found = Float64Array.from<number | bigint>(column(file, path) as ArrayLike<number | bigint>, Number);
  if (found.length === count && found.every((value) => Number.isSafeInteger(value) && value >= 0)) return found;
  throw new Corrupt(`${path} of ${file.where} should be ${count} whole numbers`, { where: file.where });
}

/** Cubes with their particles: what it takes to answer. */
export interface CubeParticles {
  readonly cubes: readonly Particles[];
  readonly starts: Float64Array;
  readonly count: number;
  /** Sorted particle i is particle order[i] of the snapshot; undefined where nobody knows. */
  readonly order: Uint32Array | undefined;
}

/** Puts cubes and sorted particles together; Corrupt where they do not belong together. */
export async function joinCubes(
  { trees, starts }: Cubes,
  positions: Positions,
  order?: Uint32Array | undefined,
): Promise<CubeParticles> {
  const count = starts[trees.length]!;
  if (positions.length !== 3 * count)
    throw new Corrupt(`the cubes have ${count} particles, and there are the positions of ${positions.length / 3}`);
  if (order !== undefined && order.length !== count)
    throw new InvalidInput(`the order of ${count} particles should be as long, found ${order.length}`);
  const cubes: Particles[] = [];
  for (const [i, tree] of trees.entries())
    cubes.push(await joinParticles({ tree, positions: positions.subarray(3 * starts[i]!, 3 * starts[i + 1]!) }));
  return { cubes, starts, count, order };
}

/** The particles in a region, ascending in the order of the cubes. */
export function particlesInCubes(joined: CubeParticles, region: TreeRegion, options: RangeOptions = {}): Uint32Array {
  const { cubes, starts } = joined;
  const found = cubes.map((cube) => particlesIn(cube, region, { periodic: options.periodic }));
  const numbers = new Uint32Array(found.reduce((sum, { length }) => sum + length, 0));
  let n = 0;
  for (const [i, own] of found.entries()) for (const number of own) numbers[n++] = starts[i]! + number;
  return renumbered(joined, numbers, options);
}

/** The k nearest particles of each place, among all cubes. Nearer cubes first, and only as far as the best so far. */
export function nearestInCubes(
  joined: CubeParticles,
  places: ArrayLike<number>,
  k: number,
  options: NearestOptions = {},
): Neighbours {
  const { cubes, starts, count } = joined;
  const { periodic, within = Infinity } = options;
  const offsets = [0];
  const [distances, numbers]: [number[], number[]] = [[], []];
  for (let at = 0; at < places.length; at += 3) {
    const place = Array.from({ length: 3 }, (_, axis) => places[at + axis]!);
    let best: (readonly [distance: number, number: number])[] = [];
    for (const i of byDistance(joined, place, periodic === undefined)) {
      const limit = best.length < k ? within : best[k - 1]![0] * (1 + 2 ** -50); // its square is rounded, and ties count
      const own = nearestParticles(cubes[i]!, place, k, { periodic, within: limit });
      const more = Array.from(own.distances, (distance, j) => [distance, starts[i]! + own.numbers[j]!] as const);
      best = [...best, ...more].sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, Math.min(k, count));
    }
    for (const [distance, number] of best) {
      distances.push(distance);
      numbers.push(number);
    }
    offsets.push(numbers.length);
  }
  return {
    offsets: Float64Array.from(offsets),
    distances: Float64Array.from(distances),
    numbers: renumbered(joined, Uint32Array.from(numbers), options),
  };
}

/** The cubes with particles, those around the place first. */
function byDistance({ cubes }: CubeParticles, place: readonly number[], sorted: boolean): readonly number[] {
  const away = cubes.map(({ bounds }) =>
    place.reduce((sum, value, axis) => sum + Math.max(bounds[axis]! - value, value - bounds[axis + 3]!, 0) ** 2, 0),
  );
  const all = [...cubes.keys()].filter((i) => cubes[i]!.count > 0);
  return sorted ? all.sort((a, b) => away[a]! - away[b]!) : all;
}

function renumbered(
  { order }: CubeParticles,
  numbers: Uint32Array,
  { numbers: as = "tree" }: RangeOptions,
): Uint32Array {
  if (as === "tree") return numbers;
  if (order === undefined)
    throw new InvalidInput("the numbers that particles had before are not known: they were given without an order");
  return numbers.map((number) => order[number]!);
}
