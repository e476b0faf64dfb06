/**
 * Particles in HDF5 as the query engine wants them: pieces of rows that follow each other, each at most 2^18 particles and 64 MB of any
 * field, along the chunks that HDF5 unpacks whole. Particles are points without an object. Where nothing tells the space of a
 * piece, a query for a region looks at all of them, once; of Cubes each piece is one cube, whose space is known.
 */
import { Corrupt, Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import { numberedChunks } from "../../model/numbered-chunks.js";
import type { LevelSource, Tile } from "../../model/source.js";
import type { Columns, Positions, Schema } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import { noPlace, notFinite } from "../interchange/finite.js";
import { type Hdf5File, SLAB_BYTES } from "./hdf5-file.js";
import type { Hdf5Source } from "./hdf5-source.js";
import { COORDINATES, type Fields, type ParticleField, rowBytes, type SnapshotPart } from "./snapshot.js";

const PIECE_ROWS = 2 ** 18;

/** Particles that are read together. */
export interface Piece {
  readonly source: Hdf5Source;
  /** The first of its rows, of so many. */
  readonly first: number;
  readonly rows: number;
}

/** All particles of a type. */
export interface ParticleTable {
  /** The group that they are in. */
  readonly group: string;
  readonly fields: Fields;
  readonly pieces: readonly Piece[];
  /** Lower and upper corner around each piece, six numbers; undefined: nobody knows. */
  readonly boxes?: Float64Array | undefined;
  /** Of pieces of which not all rows are particles: those that are. */
  readonly kept?: ReadonlyMap<number, Uint32Array> | undefined;
  /** Particles that lie nowhere are passed on as they are: for those who look for them. */
  readonly raw?: boolean | undefined;
}

/** How many particles a piece has. */
export const rowsOf = ({ pieces, kept }: ParticleTable, chunk: number): number =>
  kept?.get(chunk)?.length ?? pieces[chunk]!.rows;

/** The pieces of particles that lie in files one after the other, or from some row of a file on. */
export function cutPieces(
  parts: readonly (SnapshotPart & { readonly first?: number })[],
  { coordinates, others }: Fields,
): readonly Piece[] {
  const widest = [coordinates, ...others].reduce((most, field) => Math.max(most, rowBytes(field)), 1);
  const most = Math.min(PIECE_ROWS, Math.floor(SLAB_BYTES / widest));
  const chunk = coordinates.chunkRows ?? 1;
  const step = chunk < most ? most - (most % chunk) : most;
  return parts.flatMap(({ source, rows, first = 0 }) =>
    Array.from({ length: Math.ceil(rows / step) }, (_, i) => ({
      source,
      first: first + i * step,
      rows: Math.min(step, rows - i * step),
    })),
  );
}

export const schemaOf = ({ others }: Fields): Schema => ({
  vertex: others.map(({ info }) => info),
  link: [],
  fragment: [],
  object: [],
  group: [],
});

export function particleSource(table: ParticleTable): LevelSource {
  const { fields, pieces, boxes } = table;
  const chunks = numberedChunks(pieces.length, boxes);
  const byName = new Map(fields.others.map((field) => [field.name, field]));
  return {
    level: 0,
    dims: 3,
    geometry: "points",
    linkWidth: 0,
    sequential: false,
    scattered: boxes === undefined ? true : undefined,
    schema: async () => schemaOf(fields),
    chunks: async () => chunks,
    async *tiles(wanted, { positions, vertex }, options): AsyncGenerator<Tile> {
      for (const chunk of wanted) {
        await breath(options);
        const rows = rowsOf(table, chunk);
        const [place, vertexColumns] = readPiece(
          table,
          chunk,
          positions,
          vertex.flatMap((name) => byName.get(name) ?? []),
        );
        yield {
          chunk,
          vertices: rows,
          positions: place,
          parts: Uint32Array.of(0, rows),
          vertexColumns,
          fragmentColumns: new Map(),
        };
      }
    },
    async *links() {},
    objects: undefined,
    async cost(wanted, { vertex }) {
      const read = [fields.coordinates, ...vertex.flatMap((name) => byName.get(name) ?? [])];
      const bytes = read.reduce((sum, field) => sum + rowBytes(field), 0);
      const rows = wanted.reduce((sum, chunk) => sum + pieces[chunk]!.rows, 0); // also those that are left out are read
      return { requests: wanted.length * read.length, bytes: rows * bytes, exact: false };
    },
    counts: async (wanted) => Uint32Array.from(wanted, (chunk) => rowsOf(table, chunk)),
  };
}

/** The particles without those that lie nowhere, each of which is told; all of them are looked at. */
export async function withoutBad(
  table: ParticleTable,
  onBad: (problem: Error) => void,
  options: ReadOptions,
): Promise<ParticleTable> {
  const kept = new Map<number, Uint32Array>();
  const all = table.pieces.map((_, chunk) => chunk);
  const want = { positions: true, vertex: [], fragment: [] };
  for await (const { chunk, positions, vertices } of particleSource({ ...table, raw: true }).tiles(
    all,
    want,
    options,
  )) {
    if (notFinite(positions) < 0) continue;
    const sound: number[] = [];
    for (let row = 0; row < vertices; row++) {
      const bad = notFinite(positions, 3 * row, 3 * row + 3);
      if (bad < 0) sound.push(row);
      else onBad(nowhere(table, chunk, positions, bad));
    }
    kept.set(chunk, Uint32Array.from(sound));
  }
  return { ...table, kept };
}

function nowhere({ pieces, group }: ParticleTable, chunk: number, positions: Positions, at: number): Corrupt {
  const { source, first } = pieces[chunk]!;
  const place = `particle ${first + Math.floor(at / 3)} of ${group}, counted from 0`;
  return noPlace(source.where, `${place}: a vertex has the coordinate ${positions[at]}`);
}

/** The library cannot wait, so others get their turn between two pieces: a signal would not be heard else. */
async function breath(options: ReadOptions | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  options?.signal?.throwIfAborted();
}

function readPiece(
  table: ParticleTable,
  chunk: number,
  positions: boolean,
  wanted: readonly ParticleField[],
): readonly [Positions, Columns] {
  const { group, pieces, boxes, fields, kept, raw } = table;
  const { source, first, rows } = pieces[chunk]!;
  const some = kept?.get(chunk);
  return source.use((file) => {
    const all = positions ? positionsOf(file, group, fields.coordinates, first, rows) : new Float32Array();
    const place = some && positions ? (pick(all, 3, some) as Positions) : all;
    const bad = raw === true ? -1 : notFinite(place);
    if (bad >= 0) throw nowhere(table, chunk, place, bad);
    if (positions && boxes !== undefined) checkInside(place, boxes.subarray(6 * chunk, 6 * chunk + 6), file.where);
    const columns = wanted.map((field) => {
      const values = fieldRows(file, group, field, first, rows);
      return [field.name, { info: field.info, values }] as const;
    });
    return [place, some === undefined ? new Map(columns) : pickRows(new Map(columns), some)];
  });
}

/** Coordinates as they are stored; integers become float64. */
function positionsOf(file: Hdf5File, group: string, field: ParticleField, first: number, rows: number): Positions {
  const { dtype } = field;
  if (dtype.size === 2 || (dtype.size === 8 && dtype.kind !== "float"))
    throw new Unsupported(
      `${COORDINATES} of ${file.where} are ${dtype.kind}${8 * dtype.size}, which are no positions`,
      {
        where: file.where,
      },
    );
  const values = fieldRows(file, group, field, first, rows);
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  return Float64Array.from(values as Int32Array);
}

/** Rows of a field, which is in every file what it is in the first. */
function fieldRows(file: Hdf5File, group: string, { name, dtype, info }: ParticleField, first: number, rows: number) {
  const path = `/${group}/${name}`;
  const found = file.dataset(path);
  const same =
    found?.dtype.kind === dtype.kind && found.dtype.size === dtype.size && (found.shape[1] ?? 1) === info.channels;
  if (!same)
    throw new Corrupt(
      `${path} of ${file.where} should be as in the first file of its snapshot, found ${found?.shape.join(" × ") ?? "nothing"}`,
      { where: file.where },
    );
  return file.rows(found, first, rows);
}

/** What a piece holds lies where it is said to lie: an answer would be short of it else. */
function checkInside(positions: Positions, box: Float64Array, where: string): void {
  for (let at = 0; at < positions.length; at += 3)
    for (let axis = 0; axis < 3; axis++)
      if (!(positions[at + axis]! >= box[axis]! && positions[at + axis]! <= box[axis + 3]!))
        throw new Corrupt(
          `the particles of ${where} do not belong to their cubes, or are not in their order: ${positions[at + axis]} should be from ${box[axis]} to ${box[axis + 3]} along ${"xyz"[axis]}`,
          { where },
        );
}
