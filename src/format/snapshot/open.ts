/**
 * What is in an HDF5 file: a snapshot, or Cubes and the particles that they are about. Those are in the same file, or in one beside it
 * that is named as packingcubes names it: "snap_sorted.hdf5" for "snap.hdf5" and "snap_cubes.hdf5".
 */
import { NotFound } from "../../errors.js";
import { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type Cubes, cubeTypes, readCubes } from "./cubes.js";
import { type BadOptions, particleDataset, type SnapshotDataset, snapshotDataset } from "./dataset.js";
import { type Hdf5Source, openHdf5, type SourceOptions } from "./hdf5-source.js";
import { COORDINATES, type ParticleType, readFields, readSnapshot, typeNamed } from "./snapshot.js";
import { cutPieces } from "./source.js";

/** How to open particles in HDF5. */
export interface OpenSnapshotOptions extends SourceOptions, BadOptions {
  /** The type of particles: "PartType0", or gas, dm, stars, bh, neutrinos; the first that the file has, unless told. */
  readonly type?: string | undefined;
}

/** The particles of one type, of a snapshot or of Cubes. */
export async function openSnapshot(
  store: Store,
  key: Key,
  { type: named, ...options }: OpenSnapshotOptions = {},
): Promise<SnapshotDataset> {
  const source = await openHdf5(store, key, options);
  const type = named === undefined ? undefined : typeNamed(named);
  const cubes = source.use((file) => (cubeTypes(file).length === 0 ? undefined : readCubes(file, type)));
  if (cubes === undefined) return snapshotDataset(await readSnapshot(store, key, options), named, options);
  return cubesDataset(source, cubes, await findSorted(store, key, source, cubes, options));
}

/** The trees over the particles of one type that a file of Cubes has; the first type, unless told. */
export async function openCubes(
  store: Store,
  key: Key,
  { type, ...options }: OpenSnapshotOptions = {},
): Promise<Cubes> {
  const source = await openHdf5(store, key, options);
  return source.use((file) => readCubes(file, type === undefined ? undefined : typeNamed(type)));
}

/** The types of particles in a file. */
export async function snapshotTypes(store: Store, key: Key, options: SourceOptions = {}): Promise<readonly string[]> {
  const cubes = (await openHdf5(store, key, options)).use(cubeTypes);
  return cubes.length > 0 ? cubes : (await readSnapshot(store, key, options)).types.map(({ name }) => name);
}

/** The file with the particles in the order of the cubes. */
export async function findSorted(
  store: Store,
  key: Key,
  own: Hdf5Source,
  { type }: Cubes,
  options: SourceOptions = {},
): Promise<Hdf5Source> {
  const [, stem = key, end = ""] = /^(.*?)((?:\.[^./]*)?)$/.exec(key) ?? [];
  const beside = [...new Set([stem, stem.replace(/_cubes$/, "")])].map((name) => Key.of(`${name}_sorted${end}`));
  for (const candidate of [key, ...beside]) {
    if (candidate !== key && (await store.stat(candidate, options)) === undefined) continue;
    const source = candidate === key ? own : await openHdf5(store, candidate, options);
    const sorted = source.use(
      (file) => file.kindOf(`/${type}/${COORDINATES}`) === "dataset" && file.attributes(`/${type}`).has("use_sorted"),
    );
    if (sorted) return source;
  }
  throw new NotFound(
    `${own.where} has trees over particles of ${type}, and neither it nor ${beside.join(" nor ")} has these in their order`,
    { where: own.where, hint: "packingcubes keeps them where it was told to save its dataset; put that file beside." },
  );
}

/** A cube is a piece, or several; the space of each is known. */
function cubesDataset({ where }: Hdf5Source, cubes: Cubes, sorted: Hdf5Source): SnapshotDataset {
  const { trees, starts, type: name, version } = cubes;
  const count = starts[trees.length]!;
  if (count === 0) throw new NotFound(`${where} has no particles`, { where });
  const type: ParticleType = { name, count, parts: [{ source: sorted, rows: count }] };
  const fields = readFields(type);
  const pieces = trees.map(({ count: rows }, i) => cutPieces([{ source: sorted, rows, first: starts[i]! }], fields));
  const boxes = trees.map(({ box: { origin, size } }) => [...origin, ...origin.map((low, axis) => low + size[axis]!)]);
  const corner = (pick: (a: number, b: number) => number, from: number): number[] =>
    [from, from + 1, from + 2].map((at) => boxes.map((box) => box[at]!).reduce(pick));
  return particleDataset({
    where,
    version: `Cubes ${version ?? ""}`.trimEnd(),
    table: {
      group: name,
      fields,
      pieces: pieces.flat(),
      boxes: Float64Array.from(pieces.flatMap((own, i) => own.flatMap(() => padded(boxes[i]!)))),
    },
    bounds: {
      min: corner((a, b) => Math.min(a, b), 0),
      max: corner((a, b) => Math.max(a, b), 3),
    },
    attributes: { type: name, cubes: trees.length, threshold: trees[0]!.threshold, sorted: sorted.where },
    notes: fields.notes,
  });
}

/** The box of a tree has drifted while it was built, and cells were told apart with other roundings: both by far less than this. */
function padded(box: readonly number[]): readonly number[] {
  return box.map((value, i) => value + (i < 3 ? -1e-9 : 1e-9) * (Math.abs(box[i % 3]!) + Math.abs(box[(i % 3) + 3]!)));
}
