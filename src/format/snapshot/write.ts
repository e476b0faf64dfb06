/**
 * A selection of particles as a snapshot of its own: one file, with the header, the units and the attributes of fields of the snapshot
 * that they come from, and counts that are right for it. It is made in memory, up to 1 GB.
 */
import { InvalidInput, LimitExceeded, Unsupported } from "../../errors.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, Positions, Query, VectorDataset } from "../../model/vectors.js";
import { ColumnsBuilder, copyRuns, roomLike } from "../../query/columns.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { SnapshotDataset } from "./dataset.js";
import type { Hdf5Attribute, Numeric } from "./hdf5-file.js";
import { loadHdf5 } from "./hdf5-library.js";
import { WHOLE_BYTES } from "./hdf5-source.js";
import { type Hdf5Output, writeHdf5 } from "./hdf5-write.js";
import { DESCRIBING } from "./header.js";
import { COORDINATES, type Snapshot, typeNumber } from "./snapshot.js";

/** Particles of one type. */
export interface NewParticles {
  /** The name of their group, such as "PartType0". */
  readonly type: string;
  readonly positions: Positions;
  /** A row for each particle. */
  readonly columns: Columns;
}

export interface SelectionOptions extends ReadOptions {
  /** The fields to bring along; all of them where nothing is said. */
  readonly attributes?: readonly string[] | undefined;
}

/** The particles that a query selects. */
export async function selectedParticles(
  dataset: VectorDataset,
  query: Query,
  { signal, attributes, limits }: SelectionOptions = {},
): Promise<NewParticles> {
  const { resultBytes = WHOLE_BYTES } = limits ?? {};
  const room = { ...limits, resultBytes: Math.min(resultBytes, WHOLE_BYTES) };
  const answer = await dataset.select(query).read({ signal, attributes, limits: room });
  if (answer.geometry !== "points" || answer.dims !== 3)
    throw new InvalidInput(`a snapshot holds points of three axes, and ${dataset.url} has ${answer.geometry}`);
  const { type = "PartType1" } = dataset as Partial<SnapshotDataset>;
  return { type, positions: answer.positions, columns: answer.vertexColumns };
}

/** The particles with these numbers, in this order; a number is the place among all of their type. */
export async function numberedParticles(
  dataset: SnapshotDataset,
  numbers: ArrayLike<number>,
  { attributes, ...options }: SelectionOptions = {},
): Promise<NewParticles> {
  const source = await dataset.source(0, options);
  const { count } = await source.chunks(options);
  const names = attributes ?? (await source.schema(options)).vertex.map(({ name }) => name);
  const rows = await source.counts(Array.from({ length: count }, (_, chunk) => chunk));
  const total = rows.reduce((sum, own) => sum + own, 0);
  const odd = Array.prototype.find.call(numbers, (own: number) => !(Number.isInteger(own) && own >= 0 && own < total));
  if (odd !== undefined) throw new InvalidInput(`a particle should have a number from 0 up to ${total}, found ${odd}`);
  const order = Uint32Array.from({ length: numbers.length }, (_, i) => i).sort((a, b) => numbers[a]! - numbers[b]!);
  const from = new Uint32Array(numbers.length); // its row in its piece, for each number
  const builder = new ColumnsBuilder(numbers.length);
  let positions: Positions = new Float64Array();
  for (let chunk = 0, start = 0, first = 0; first < order.length; start += rows[chunk++]!) {
    let last = first;
    for (; last < order.length && numbers[order[last]!]! < start + rows[chunk]!; last++)
      from[order[last]!] = numbers[order[last]!]! - start;
    if (last === first) continue;
    for await (const tile of source.tiles([chunk], { positions: true, vertex: names, fragment: [] }, options)) {
      if (positions.length === 0) positions = roomLike(tile.positions, 3 * numbers.length);
      const runs = { order, first, last, from, offsets: undefined };
      copyRuns(tile.positions, positions, 3, runs);
      builder.scatter(tile.vertexColumns, runs, last - first);
    }
    first = last;
  }
  return { type: dataset.type, positions, columns: builder.done() };
}

/** Writes particles, a list of each type, as a snapshot; `like` is the one that they come from, whose header and units go along. */
export async function writeSnapshot(
  store: Store,
  key: Key,
  particles: readonly NewParticles[],
  like?: Snapshot | undefined,
): Promise<void> {
  await store.set(key, await encodeSnapshot(particles, like));
}

/** The same as bytes. */
export async function encodeSnapshot(
  particles: readonly NewParticles[],
  like?: Snapshot | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = particles.reduce((sum, own) => sum + sizeOf(own), 0);
  if (bytes > WHOLE_BYTES)
    throw new LimitExceeded(`a snapshot is made in memory, up to ${WHOLE_BYTES} bytes, and this one has ${bytes}`);
  const groups = describing(like);
  return writeHdf5(await loadHdf5(), "the new snapshot", (output) => {
    for (const [name, attributes] of groups) {
      output.group(`/${name}`);
      for (const [own, value] of attributes) output.attribute(`/${name}`, own, value);
    }
    if (!groups.has("Header")) output.group("/Header");
    for (const [name, value] of countsOf(particles, groups.get("Header"))) output.attribute("/Header", name, value);
    for (const own of particles) writeType(output, own, fieldAttributes(own, like));
  });
}

type Attributes = ReadonlyMap<string, Hdf5Attribute>;

const COUNTS = ["NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord", "NumFilesPerSnapshot"];

/** The groups that describe a snapshot, without what is counted anew. */
function describing(like: Snapshot | undefined): ReadonlyMap<string, Attributes> {
  if (like === undefined) return new Map();
  return like.files[0]!.use((file) => {
    const there = DESCRIBING.filter((name) => file.kindOf(name) === "group");
    return new Map(
      there.map((name) => [name, new Map([...file.stored(name)].filter(([own]) => !COUNTS.includes(own)))] as const),
    );
  });
}

function countsOf(particles: readonly NewParticles[], header: Attributes | undefined): Attributes {
  const numbers = particles.map(({ type }) => typeNumber(type));
  const masses = header?.get("MassTable")?.shape[0] ?? 0; // as long as the list of types
  const counts = new Uint32Array(Math.max(6, masses, ...numbers.map((number) => number + 1)));
  for (const [i, { positions }] of particles.entries())
    if (numbers[i]! >= 0) counts[numbers[i]!]! += positions.length / 3;
  const list = (values: Uint32Array): Hdf5Attribute => ({ shape: [values.length], dtype: UINT32, values });
  return new Map([
    ["NumPart_ThisFile", list(counts)],
    ["NumPart_Total", list(counts)],
    ["NumPart_Total_HighWord", list(new Uint32Array(counts.length))],
    ["NumFilesPerSnapshot", { shape: [], dtype: { ...UINT32, kind: "int" }, values: Int32Array.of(1) }],
  ]);
}

const UINT32 = { kind: "uint", size: 4, endian: "little" } as const;

/** The attributes of each field, as the snapshot has them. */
function fieldAttributes({ type, columns }: NewParticles, like: Snapshot | undefined): ReadonlyMap<string, Attributes> {
  const part = like?.types.find(({ name }) => name === type)?.parts[0];
  if (part === undefined) return new Map();
  return part.source.use((file) => {
    const there = [COORDINATES, ...columns.keys()].filter((name) => file.kindOf(`/${type}/${name}`) === "dataset");
    return new Map(there.map((name) => [name, file.stored(`/${type}/${name}`)] as const));
  });
}

function writeType(
  output: Hdf5Output,
  { type, positions, columns }: NewParticles,
  attributes: ReadonlyMap<string, Attributes>,
): void {
  const rows = positions.length / 3;
  const size = positions instanceof Float32Array ? 4 : 8;
  output.group(`/${type}`);
  output.dataset(`/${type}/${COORDINATES}`, [rows, 3], { kind: "float", size, endian: "little" }, positions);
  for (const [name, { info, values }] of columns) {
    const { dtype, channels } = info;
    if (!isField(info) || !ArrayBuffer.isView(values))
      throw new Unsupported(`the field ${name} of ${dtype.kind} cannot be written to a snapshot`, {
        hint: "Leave it out.",
      });
    output.dataset(`/${type}/${name}`, channels === 1 ? [rows] : [rows, channels], dtype as Numeric, values);
  }
  for (const [name, own] of attributes)
    for (const [attribute, value] of own) output.attribute(`/${type}/${name}`, attribute, value);
}

/** Whether a field can hold it. */
export const isField = ({ name, dtype, categories }: AttributeInfo): boolean =>
  ["int", "uint", "float", "bool"].includes(dtype.kind) &&
  !(dtype.kind === "float" && dtype.size === 2) &&
  categories === undefined &&
  !name.includes("/") &&
  name !== COORDINATES;

const sizeOf = ({ positions, columns }: NewParticles): number =>
  [...columns.values()].reduce(
    (sum, { values }) => sum + ("byteLength" in values ? values.byteLength : 0),
    positions.byteLength,
  );
