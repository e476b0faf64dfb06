/**
 * `octavo tree query`: numbers of particles. A `.ptree` file is read as far as the answer needs it. A packed tree alone has ranges, and
 * with --positions the particles themselves. What is no tree, such as a snapshot, gets one in memory on the way.
 */
import { InvalidInput, NotFound, Unsupported } from "../errors.js";
import {
  buildTree,
  countIn,
  countInFile,
  joinParticles,
  nearestParticles,
  openParticleFile,
  openParticles,
  type PackedTree,
  type ParticleDataset,
  type Particles,
  parseTree,
  particlesIn,
  particlesInFile,
  slicesIn,
  type TreeRegion,
  type Triple,
} from "../format/packed-tree/index.js";
import { createPool } from "../worker/pool.js";
import type { TreeOptions } from "./tree.js";
import { collected, particlesAt } from "./tree-input.js";
import { type Place, positionsAt, type TreePlace } from "./tree-place.js";
import type { ExitCode, Session } from "./verb.js";

export async function query(place: Place, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { box, sphere, nearest } = options;
  if ([box, sphere, nearest].filter((one) => one !== undefined).length !== 1)
    throw new InvalidInput("which particles? Say it with one of --box, --sphere and --nearest");
  if (nearest !== undefined && nearest.length !== 4)
    throw new InvalidInput(`--nearest should be a place and a number, found ${nearest.join(",")}`);
  if (options.within !== undefined && nearest === undefined)
    throw new InvalidInput("--within is about --nearest, which is not there");
  if (options.slices) return slices(place, options, session);
  if (place.kind === "ptree" && options.positions === undefined) return queryFile(place, options, session);
  return queryParticles(await particlesOf(place, options, session), place, options, session);
}

const regionOf = ({ box, sphere }: TreeOptions): TreeRegion => (box === undefined ? { sphere: sphere! } : { box });

async function slices(place: Place, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { output } = session;
  if (options.nearest !== undefined) throw new InvalidInput("--slices are of a box or a sphere");
  if (options.periodic !== undefined || options.count)
    throw new InvalidInput("--slices are ranges in space that does not repeat, and are not counted");
  const found = slicesIn(await treeAt(place, session), regionOf(options));
  const list = Array.from({ length: found.length / 3 }, (_, i) => [...found.subarray(3 * i, 3 * i + 3)]);
  const some = list.slice(0, options.limit ?? list.length);
  if (output.json) output.document({ url: place.url, slices: some });
  else for (const slice of some) output.line(slice.join(" "));
  return 0;
}

/** The tree of a file, or the one that it is. */
export async function treeAt(place: Place, { signal }: Session): Promise<PackedTree> {
  const { url } = place;
  if (place.kind === "other") throw new Unsupported(`${url} has no tree, or one without a header`);
  const { store, file } = place;
  if (place.kind === "ptree") return (await openParticleFile(store, file, { signal })).tree({ signal });
  const bytes = await store.get(file, { signal });
  if (bytes === undefined) throw new NotFound(`${url} is not there`, { where: url });
  return parseTree(bytes, { where: url });
}

/** Particles in memory, with a tree over them. */
async function particlesOf(place: Place, options: TreeOptions, session: Session): Promise<Particles> {
  if (options.positions !== undefined) {
    const [tree, positions] = [await treeAt(place, session), await positionsAt(options.positions, session)];
    return joinParticles({ tree, positions, order: Uint32Array.from({ length: positions.length / 3 }, (_, i) => i) });
  }
  if (place.kind === "tree")
    throw new Unsupported(
      `${place.url} is a packed tree without its particles, which answers with --slices only, or with --positions`,
    );
  const { stream } = await particlesAt([place.url], options, session);
  return joinParticles(await buildTree((await collected(stream)).positions, { pool: createPool() }));
}

async function queryFile(place: TreePlace, options: TreeOptions, session: Session): Promise<ExitCode> {
  const { signal } = session;
  const { periodic, limit = Infinity } = options;
  const asked = { signal, ...(periodic !== undefined && { periodic: periodic as unknown as Triple }) };
  const dataset = await openParticles(place.store, place.file, { signal });
  if (options.nearest !== undefined) {
    if (periodic !== undefined)
      return queryParticles(await dataset.file.particles({ signal }), place, options, session);
    return tellNearest(await nearestInFile(dataset, options, session), place, options, session);
  }
  const region = regionOf(options);
  if (options.count) {
    const found = await countInFile(dataset.file, region, asked);
    return tellCount(Math.min(found, limit), place, session);
  }
  const numbers: number[] = [];
  for await (const found of particlesInFile(dataset.file, region, asked)) {
    for (const number of options.tree ? found.tree : found.original) if (numbers.length < limit) numbers.push(number);
    if (numbers.length >= limit) break;
  }
  return tellNumbers(numbers, place, session);
}

interface Neighbour {
  readonly number: number;
  readonly distance: number;
}

/** The engine finds how far the nearest are; who they are is asked with a sphere that reaches as far. */
async function nearestInFile(
  dataset: ParticleDataset,
  { nearest, within = Infinity, tree: inTree }: TreeOptions,
  { signal }: Session,
): Promise<Neighbour[]> {
  const [place, k] = [nearest!.slice(0, 3), nearest![3]!];
  const { positions } = await dataset.select({ nearest: nearest! }).read({ signal, attributes: [] });
  const distance = (all: ArrayLike<number>, i: number): number =>
    Math.sqrt([0, 1, 2].reduce((sum, axis) => sum + (all[3 * i + axis]! - place[axis]!) ** 2, 0));
  const reach = Array.from({ length: positions.length / 3 }, (_, i) => distance(positions, i)).reduce(
    (a, b) => Math.max(a, b),
    0,
  );
  const found: (Neighbour & { readonly tree: number })[] = [];
  for await (const { tree, original, positions } of particlesInFile(
    dataset.file,
    { sphere: [...place, reach * (1 + 1e-12)] },
    { signal },
  ))
    for (let i = 0; i < tree.length; i++)
      found.push({ number: inTree ? tree[i]! : original[i]!, distance: distance(positions, i), tree: tree[i]! });
  return found
    .sort((a, b) => a.distance - b.distance || a.tree - b.tree)
    .slice(0, k)
    .filter((own) => own.distance <= within);
}

function queryParticles(particles: Particles, place: Place, options: TreeOptions, session: Session) {
  const { nearest, within, periodic, limit = Infinity } = options;
  const asked = {
    numbers: options.tree ? ("tree" as const) : ("original" as const),
    ...(periodic !== undefined && { periodic: periodic as unknown as Triple }),
  };
  if (nearest !== undefined) {
    const found = nearestParticles(particles, nearest.slice(0, 3), nearest[3]!, { ...asked, within });
    const list = Array.from(found.numbers, (number, i) => ({ number, distance: found.distances[i]! }));
    return tellNearest(list, place, options, session);
  }
  const region = regionOf(options);
  if (options.count) return tellCount(Math.min(limit, countIn(particles, region, asked)), place, session);
  return tellNumbers([...particlesIn(particles, region, asked)].slice(0, limit), place, session);
}

function tellNearest(all: readonly Neighbour[], { url }: Place, options: TreeOptions, session: Session): ExitCode {
  const { output } = session;
  const list = all.slice(0, options.limit ?? all.length).map(({ number, distance }) => ({ number, distance }));
  if (output.json) output.document({ url, ...(options.count ? { particles: list.length } : { nearest: list }) });
  else if (options.count) output.line(`${list.length}`);
  else for (const { number, distance } of list) output.line(`${number} ${distance}`);
  return 0;
}

function tellCount(particles: number, { url }: Place, { output }: Session): ExitCode {
  if (output.json) output.document({ url, particles });
  else output.line(`${particles}`);
  return 0;
}

async function tellNumbers(numbers: readonly number[], { url }: Place, { output }: Session): Promise<ExitCode> {
  if (output.json) output.document({ url, particles: numbers.length, numbers });
  else if (numbers.length > 0) await output.bytes(`${numbers.join("\n")}\n`);
  return 0;
}
