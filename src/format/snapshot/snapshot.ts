/**
 * A snapshot of a simulation: particles by type, in one file or in several that lie beside each other.
 *
 *     /Header                      see header.ts
 *     /PartType0/Coordinates       (particles, 3)
 *     /PartType0/Density …         (particles) or (particles, values)
 *
 * Of several files ("snap.0.hdf5", "snap.1.hdf5" …) any one names them all; each has its share of every type, and the types
 * follow each other file by file. What the header says and what the datasets hold must be the same.
 */
import { Corrupt, InvalidInput, NotFound, OctavoError, Unsupported } from "../../errors.js";
import type { AttributeInfo } from "../../model/attributes.js";
import { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type Hdf5Dataset, type Hdf5File, SLAB_BYTES } from "./hdf5-file.js";
import { type Hdf5Source, openHdf5, type SourceOptions } from "./hdf5-source.js";
import { descriptionOf, readHeader, type SnapshotHeader, unitOf } from "./header.js";

export const COORDINATES = "Coordinates";

/** The particles of one type that one file has. */
export interface SnapshotPart {
  readonly source: Hdf5Source;
  readonly rows: number;
}

/** The particles of one type. */
export interface ParticleType {
  /** The name of its group. */
  readonly name: string;
  readonly count: number;
  readonly parts: readonly SnapshotPart[];
}

/** A snapshot, with all its files. */
export interface Snapshot {
  readonly where: string;
  readonly header: SnapshotHeader;
  /** Those that have particles, by name. */
  readonly types: readonly ParticleType[];
  readonly files: readonly Hdf5Source[];
}

/** What all codes call the first types; SWIFT names its groups by these words as well. */
const WORDS = new Map([
  ["gas", "PartType0"],
  ["dm", "PartType1"],
  ["stars", "PartType4"],
  ["bh", "PartType5"],
  ["neutrinos", "PartType6"],
]);

/** The snapshot that a file is, or is a part of. */
export async function readSnapshot(store: Store, key: Key, options: SourceOptions = {}): Promise<Snapshot> {
  const source = await openHdf5(store, key, options);
  const first = source.use((file) => look(file));
  const files: Hdf5Source[] = [];
  for (const own of siblings(key, first.header.files, source.where))
    files.push(own === key ? source : await openHdf5(store, own, options));
  const looks = files.map((own) => (own === source ? first : own.use((file) => look(file))));
  const names = [...new Set(looks.flatMap(({ rows }) => [...rows.keys()]))].sort();
  const types = names.map((name): ParticleType => {
    const parts = files.map((own, i) => ({ source: own, rows: looks[i]!.rows.get(name) ?? 0 }));
    const count = parts.reduce((sum, { rows }) => sum + rows, 0);
    const told = first.header.total?.[typeNumber(name)];
    if (told !== undefined && told !== count)
      throw new Corrupt(`${source.where} should have ${told} particles of ${name}, found ${count}`, {
        where: source.where,
      });
    return { name, count, parts: parts.filter(({ rows }) => rows > 0) };
  });
  const missing = first.header.total?.findIndex((told, type) => told > 0 && !names.includes(`PartType${type}`)) ?? -1;
  if (missing >= 0)
    throw new Corrupt(
      `${source.where} should have ${first.header.total![missing]} particles of PartType${missing}, found none`,
      { where: source.where },
    );
  return { where: source.where, header: first.header, types: types.filter(({ count }) => count > 0), files };
}

interface Look {
  readonly header: SnapshotHeader;
  readonly rows: ReadonlyMap<string, number>;
}

/** The header of a file, and how many particles of each type are in it. */
function look(file: Hdf5File): Look {
  const header = readHeader(file);
  const rows = new Map<string, number>();
  for (const name of file.names("/").filter((own) => own.includes("Part"))) {
    if (file.kindOf(name) !== "group" || !file.names(name).includes(COORDINATES)) continue;
    const { shape } = file.dataset(`/${name}/${COORDINATES}`)!;
    if (shape.length !== 2 || shape[1] !== 3)
      throw new Corrupt(`/${name}/${COORDINATES} of ${file.where} should be N × 3, found ${shape.join(" × ")}`, {
        where: file.where,
      });
    const told = header.here?.[typeNumber(name)];
    if (told !== undefined && told !== shape[0])
      throw new Corrupt(`${file.where} should have ${told} particles of ${name}, found ${shape[0]}`, {
        where: file.where,
      });
    rows.set(name, shape[0]!);
  }
  return { header, rows };
}

export const typeNumber = (name: string): number => Number(/^PartType(\d+)$/.exec(name)?.[1] ?? -1);

/** The names of all files of a snapshot, from that of one. */
function siblings(key: Key, files: number, where: string): readonly Key[] {
  if (files === 1) return [key];
  const [, stem, number, end] = /^(.*\.)(\d+)(\.[^./]+)$/.exec(key) ?? [];
  if (stem === undefined || Number(number) >= files)
    throw new Unsupported(`${where} is one of ${files} files, and its name does not say which`, {
      where,
      hint: `Names should end in ".0.hdf5" up to ".${files - 1}.hdf5".`,
    });
  return Array.from({ length: files }, (_, i) => Key.of(`${stem}${i}${end}`));
}

/** The name of the group that a word means. */
export const typeNamed = (name: string): string => WORDS.get(name.toLowerCase()) ?? name;

/** The type that is meant; the first with particles where nothing is said. */
export function chooseType({ types, where }: Snapshot, name: string | undefined): ParticleType {
  if (types.length === 0) throw new NotFound(`${where} has no particles`, { where });
  if (name === undefined) return types[0]!;
  const found = types.find((own) => own.name === typeNamed(name));
  if (found !== undefined) return found;
  const there = types.map((own) => own.name).join(", ");
  throw new InvalidInput(`${where} has no particles of type ${name}; it has ${there}`, { where });
}

/** A field of particles. */
export interface ParticleField extends Pick<Hdf5Dataset, "dtype" | "chunkRows"> {
  readonly name: string;
  readonly info: AttributeInfo;
}

/** What is stored with the particles of a type. */
export interface Fields {
  readonly coordinates: ParticleField;
  /** All others. */
  readonly others: readonly ParticleField[];
  /** Sentences about what cannot be read. */
  readonly notes: readonly string[];
}

const MOST_VALUES = 4096; // of one particle in one field

export function readFields({ name: group, parts }: ParticleType): Fields {
  const { source, rows } = parts[0]!;
  return source.use((file) => {
    const notes: string[] = [];
    const others: ParticleField[] = [];
    for (const name of file.names(`/${group}`).filter((own) => own !== COORDINATES)) {
      const path = `/${group}/${name}`;
      if (file.kindOf(path) === "group") continue;
      try {
        const found = fieldOf(file, path, name);
        if (found.shape[0] === rows && found.shape.length <= 2 && rowBytes(found.field) <= SLAB_BYTES / 64)
          others.push(found.field);
        else notes.push(`${path} is left out: a shape of ${found.shape.join(" × ")} is no field of ${rows} particles`);
      } catch (error) {
        if (!(error instanceof OctavoError)) throw error;
        notes.push(`${path} is left out: ${error.message}`);
      }
    }
    return { coordinates: fieldOf(file, `/${group}/${COORDINATES}`, COORDINATES, "cm").field, others, notes };
  });
}

function fieldOf(file: Hdf5File, path: string, name: string, base?: string) {
  const { shape, dtype, chunkRows } = file.dataset(path)!;
  const channels = shape[1] ?? 1;
  if (!(channels >= 1 && channels <= MOST_VALUES))
    throw new Unsupported(`${path} of ${file.where} has ${channels} values for each particle`, { where: file.where });
  const attributes = file.attributes(path);
  const info: AttributeInfo = {
    name,
    dtype,
    channels,
    unit: unitOf(attributes, base),
    description: descriptionOf(attributes),
  };
  return { shape, field: { name, dtype, chunkRows, info } };
}

/** Bytes of one particle in a field. */
export const rowBytes = ({ dtype, info }: ParticleField): number => dtype.size * info.channels;
