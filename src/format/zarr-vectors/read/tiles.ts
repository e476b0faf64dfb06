/**
 * Chunks of a level as tiles: the vertices of a chunk in the order of its fragments, with the attributes that were asked for.
 *
 * Fragments usually are ranges that follow each other, and then a tile is the stored bytes themselves; otherwise rows are
 * gathered, a row that two fragments name twice. What was decoded is kept (shelf.ts), so that objects that cross a chunk one
 * after the other do not read it again and again.
 */
import { type FixedDataType, isFixed } from "../../../bytes/dtype.js";
import { halfToNumber } from "../../../bytes/half.js";
import { toNumber } from "../../../bytes/u64.js";
import { type Draco, loadDraco } from "../../../codec/draco.js";
import { Arena } from "../../../codec/room.js";
import { Corrupt } from "../../../errors.js";
import { type Limits, withLimits } from "../../../limits.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { ReadOptions, ReadPlan } from "../../../model/dataset.js";
import { typed } from "../../../model/elements.js";
import type { ChunkTable, Tile, Want } from "../../../model/source.js";
import type { Positions } from "../../../model/vectors.js";
import { heldLong, nextTurn } from "../../../store/turn.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import type { CellOptions, Cells, LevelMeta, LevelNodes, RootMeta } from "../types.js";
import { attributeInfo, chunkAttributeInfo, folderOf, namedType } from "./schema.js";
import type { Shelf } from "./shelf.js";

const GROUP = 64; // chunks under way at once, at most: enough to keep a connection busy
/** Bytes of files here that are copied on and forgotten: what was decoded is still in the processor's own memory then. */
const IN_CACHE = 2 << 20;

export interface Tiles {
  read(chunks: readonly number[], want: Want, options?: ReadOptions): AsyncIterable<Tile>;
  counts(chunks: readonly number[], options?: ReadOptions): Promise<Uint32Array>;
  cost(chunks: readonly number[], want: Want, options?: ReadOptions): Promise<ReadPlan>;
}

export interface TileContext {
  readonly root: RootMeta;
  readonly meta: LevelMeta;
  readonly nodes: LevelNodes;
  readonly table: ChunkTable;
  /** "vertices", or "vertices_mesh" in a composite store, which has no fragments. */
  readonly vertices: Cells;
  readonly fragments: Cells | undefined;
  readonly shelf: Shelf;
}

type OfRows = "vertex" | "fragment";

/** What is known of a chunk so far. */
interface Entry {
  readonly chunk: number;
  /** Its coordinates, for people. */
  readonly key: string;
  /** Rows of the vertex buffer, before gathering. */
  rows?: number;
  index?: FragmentIndex;
  positions?: Positions;
  readonly vertex: Map<string, Column>;
  readonly fragment: Map<string, Column>;
}

export function tilesOf(context: TileContext): Tiles {
  const { root, meta, nodes, table, vertices, fragments, shelf } = context;
  const dims = root.axes.length;
  const dtype = namedType(vertices.attributes.dtype ?? "float32", vertices.path);
  const rowBytes = dims * dtype.size;
  const isDraco = vertices.attributes.encoding === "draco";
  /** Offsets of bytes (to 0.5) say how many rows there are only together with the vertices. */
  const alone = fragments !== undefined && nodes.dialect.fragments === "index";
  const arrays = new Map<string, Promise<Cells | undefined>>();
  const kept = new Map<number, Entry>();

  const cellsOf = (domain: OfRows, name: string, options?: ReadOptions): Promise<Cells | undefined> => {
    const path = `${folderOf(domain, nodes.dialect)}/${name}`;
    const known = arrays.get(path);
    if (known !== undefined) return known;
    const cells = nodes.cells(path, options);
    arrays.set(path, cells);
    cells.catch(() => arrays.delete(path));
    return cells;
  };

  const coordsOf = (chunks: readonly number[]): Int32Array => {
    const { rank, coords } = table;
    const out = new Int32Array(chunks.length * rank);
    for (let i = 0; i < chunks.length; i++)
      for (let axis = 0; axis < rank; axis++) out[i * rank + axis] = coords[chunks[i]! * rank + axis]!;
    return out;
  };

  const keyOf = (chunk: number): string =>
    table.coords.subarray(chunk * table.rank, (chunk + 1) * table.rank).join(".");
  const whereOf = ({ path }: Cells, { key }: Entry): string => `${meta.path}/${path} of chunk ${key}`;

  const entryOf = (chunk: number): Entry => {
    const entry = kept.get(chunk) ?? { chunk, key: keyOf(chunk), vertex: new Map(), fragment: new Map() };
    if (kept.delete(chunk)) shelf.take(entry); // what is in use is counted when it is put back
    return entry;
  };

  /** The same, to be filled in and forgotten. */
  const passingOf = (chunk: number): Entry => {
    const known = kept.get(chunk);
    return {
      chunk,
      key: known?.key ?? keyOf(chunk),
      ...known,
      vertex: new Map(known?.vertex),
      fragment: new Map(known?.fragment),
    };
  };

  const keep = (entries: readonly Entry[], { keptBytes }: Limits): void => {
    for (const entry of entries) {
      const other = kept.get(entry.chunk); // that of somebody who read the same at the same time
      if (other !== undefined) shelf.take(other);
      kept.set(entry.chunk, entry);
      shelf.put(entry, sizeOf(entry), () => kept.delete(entry.chunk), keptBytes);
    }
  };

  /** Chunks that may be under way at once, by what they have on average. */
  const groupOf = (want: Want, options: ReadOptions | undefined): number => {
    const each = want.positions || want.vertex.length > 0 ? rowBytes * (1 + want.vertex.length) : 4;
    const bytes = (each * (meta.vertexCount ?? 0)) / Math.max(1, table.count);
    const most = want.passing === true && vertices.near === true ? IN_CACHE : withLimits(options?.limits).keptBytes / 2;
    return Math.max(1, Math.min(GROUP, Math.floor(most / bytes)));
  };

  /** The payloads of one array for those of the chunks that lack it. */
  const payloads = async (
    cells: Cells | undefined,
    entries: readonly Entry[],
    lacks: (entry: Entry) => boolean,
    options: CellOptions | undefined,
  ): Promise<ReadonlyMap<Entry, Uint8Array | undefined>> => {
    const missing = cells === undefined ? [] : entries.filter(lacks);
    if (missing.length === 0) return new Map();
    const blobs = await cells!.read(coordsOf(missing.map(({ chunk }) => chunk)), options);
    return new Map(missing.map((entry, i) => [entry, blobs[i]]));
  };

  const present = (cells: Cells, entry: Entry, blob: Uint8Array | undefined): Uint8Array => {
    const where = whereOf(cells, entry);
    if (blob === undefined) throw new Corrupt(`${where} is not there, although the chunk has vertices`, { where });
    return blob;
  };

  const decode = (bytes: Uint8Array, draco: Draco | undefined, limits: Limits, where: string): Positions => {
    if (draco !== undefined) {
      const { positions, components } = draco.decode(bytes, limits, where);
      if (components !== dims)
        throw new Corrupt(`${where} has positions of ${components} numbers, not ${dims}`, { where });
      return positions;
    }
    if (bytes.length % rowBytes !== 0)
      throw new Corrupt(`${where} has ${bytes.length} bytes, which is not whole rows of ${rowBytes}`, { where });
    return positionsOf(bytes, dtype, where);
  };

  const setFragments = (entry: Entry, blob: Uint8Array | undefined, limits: Limits): void => {
    if (fragments === undefined) {
      entry.index = FragmentIndex.ofRanges([entry.rows!]);
      return;
    }
    const where = whereOf(fragments, entry);
    const bytes = present(fragments, entry, blob);
    entry.index = alone
      ? FragmentIndex.parse(bytes, entry.rows, limits, where)
      : FragmentIndex.fromGroupOffsets(
          bytes,
          nodes.dialect.fragments === "offsets" ? "single" : "paired",
          rowBytes,
          entry.rows! * rowBytes,
          where,
        ).index;
  };

  const setColumn = (
    entry: Entry,
    domain: OfRows,
    said: AttributeInfo,
    cells: Cells,
    blob: Uint8Array | undefined,
  ): void => {
    const rows = domain === "fragment" ? entry.index!.count : entry.rows!;
    const bytes = rows === 0 ? new Uint8Array() : present(cells, entry, blob);
    const info = channelsFound(said, cells, bytes.length, rows);
    const column = AttributeCell.parse(bytes, info, rows, whereOf(cells, entry));
    entry[domain].set(said.name, domain === "fragment" ? column : gatherColumn(column, entry.index!.rows));
  };

  /** The reference writes an empty row_shape also where rows have several values: then the first cell with any says how many. */
  const found = new Map<string, number>();
  const channelsFound = (
    info: AttributeInfo,
    { path, attributes }: Cells,
    bytes: number,
    rows: number,
  ): AttributeInfo => {
    const empty = Array.isArray(attributes.row_shape) && attributes.row_shape.length === 0;
    if (!empty || attributes.channel_names !== undefined || rows === 0 || !isFixed(info.dtype)) return info;
    const channels = found.get(path) ?? Math.max(1, Math.floor(bytes / (rows * info.dtype.size)));
    found.set(path, channels);
    return channels === 1 ? info : { ...info, channels };
  };

  const load = async (chunks: readonly number[], want: Want, options: CellOptions | undefined): Promise<Entry[]> => {
    const limits = withLimits(options?.limits);
    const entries = chunks.map(options?.room === undefined ? entryOf : passingOf);
    const columns = [
      ...want.vertex.filter((name) => name !== meta.chunkAttribute?.name).map((name) => ["vertex", name] as const),
      ...want.fragment.map((name) => ["fragment", name] as const),
    ];
    const withVertices = want.positions || want.vertex.length > 0 || !alone;
    const [buffers, indexes, ...cells] = await Promise.all([
      payloads(withVertices ? vertices : undefined, entries, ({ positions }) => positions === undefined, options),
      payloads(fragments, entries, ({ index }) => index === undefined, options),
      ...columns.map(async ([domain, name]) => {
        const array = await cellsOf(domain, name, options);
        const blobs = await payloads(array, entries, (entry) => !entry[domain].has(name), options);
        return { domain, name, array: array!, blobs };
      }),
    ]);
    const draco = isDraco && buffers.size > 0 ? await loadDraco() : undefined;
    const stored = new Map<Entry, Positions>();
    for (const [entry, blob] of buffers) {
      const where = whereOf(vertices, entry);
      const positions = decode(present(vertices, entry, blob), draco, limits, where);
      stored.set(entry, positions);
      entry.rows = positions.length / dims;
    }
    for (const entry of entries) {
      if (heldLong()) await nextTurn();
      if (entry.index === undefined) setFragments(entry, indexes.get(entry), limits);
      else if (stored.has(entry)) checkRows(entry.index, entry.rows!, whereOf(fragments!, entry));
    }
    for (const [entry, positions] of stored)
      entry.positions = gather(positions, entry.index!.rows, dims, root.coordinateOffset);
    for (const { domain, name, array, blobs } of cells) {
      if (blobs.size === 0) continue;
      const info = attributeInfo(name, array.attributes, array.path);
      for (const [entry, blob] of blobs) setColumn(entry, domain, info, array, blob);
    }
    if (meta.chunkAttribute !== undefined && want.vertex.includes(meta.chunkAttribute.name))
      for (const entry of entries)
        setChunkAttribute(entry, meta.chunkAttribute, table.coords[entry.chunk * table.rank]!);
    if (options?.room === undefined) keep(entries, limits);
    return entries;
  };

  return {
    async *read(chunks, want, options) {
      const room = want.passing === true ? new Arena() : undefined;
      const group = groupOf(want, options);
      for (let from = 0; from < chunks.length; from += group) {
        const some = chunks.slice(from, from + group);
        for (const entry of await load(some, want, { ...options, room })) yield tileOf(entry, want);
        room?.clear();
      }
    },
    async counts(chunks, options) {
      const out = new Uint32Array(chunks.length);
      const none = { positions: false, vertex: [], fragment: [] };
      for (let from = 0; from < chunks.length; from += GROUP) {
        const entries = await load(chunks.slice(from, from + GROUP), none, options);
        for (const [i, { index }] of entries.entries()) out[from + i] = total(index!);
      }
      return out;
    },
    async cost(chunks, want, options) {
      const used = [
        want.positions || !alone ? vertices : undefined,
        fragments,
        ...(await Promise.all(want.vertex.map((name) => cellsOf("vertex", name, options)))),
        ...(await Promise.all(want.fragment.map((name) => cellsOf("fragment", name, options)))),
      ];
      const coords = coordsOf(chunks);
      return sumOf(await Promise.all(used.map((cells) => cells?.cost(coords, options))));
    },
  };
}

/** What some reads cost together. */
export const sumOf = (plans: readonly (ReadPlan | undefined)[]): ReadPlan =>
  plans.reduce<ReadPlan>(
    (sum, plan) => ({
      requests: sum.requests + (plan?.requests ?? 0),
      bytes: sum.bytes + (plan?.bytes ?? 0),
      exact: sum.exact && (plan?.exact ?? true),
    }),
    { requests: 0, bytes: 0, exact: true },
  );

function tileOf({ chunk, index, positions, vertex, fragment }: Entry, want: Want): Tile {
  const pick = (columns: Map<string, Column>, names: readonly string[]): Map<string, Column> =>
    new Map(names.flatMap((name) => (columns.has(name) ? [[name, columns.get(name)!] as const] : [])));
  return {
    chunk,
    vertices: total(index!),
    positions: positions ?? new Float32Array(),
    parts: index!.offsets,
    vertexColumns: pick(vertex, want.vertex),
    fragmentColumns: pick(fragment, want.fragment),
  };
}

function sizeOf({ index, positions, vertex, fragment }: Entry): number {
  let bytes = 256 + (positions?.byteLength ?? 0) + (index?.offsets.byteLength ?? 0) + (index?.rows?.byteLength ?? 0);
  for (const { values } of [...vertex.values(), ...fragment.values()])
    bytes += "byteLength" in values ? values.byteLength : values.length * 16;
  return bytes;
}

/** The attribute by which the level is chunked is the same for a whole chunk. */
function setChunkAttribute(
  entry: Entry,
  { name, values }: NonNullable<LevelMeta["chunkAttribute"]>,
  bin: number,
): void {
  const value = values[bin];
  if (value === undefined)
    throw new Corrupt(`the chunks along ${name} should be numbered 0 to ${values.length - 1}, but one has ${bin}`);
  const info = chunkAttributeInfo(name, values);
  const count = total(entry.index!);
  entry.vertex.set(name, {
    info,
    values:
      info.categories !== undefined
        ? new Uint32Array(count).fill(bin)
        : info.dtype.kind === "int"
          ? new BigInt64Array(count).fill(BigInt(value as number | bigint))
          : new Float64Array(count).fill(Number(value)),
  });
}

export function positionsOf(bytes: Uint8Array, dtype: FixedDataType, where: string): Positions {
  const rows = bytes.length / dtype.size;
  const values = typed({ shape: [rows], dtype, data: bytes });
  if (dtype.kind === "float" && dtype.size === 2) return Float32Array.from(values as Uint16Array, halfToNumber);
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  if (dtype.kind !== "int" && dtype.kind !== "uint")
    throw new Corrupt(`${where} should hold numbers, but is of type ${dtype.kind}`, { where });
  return Float64Array.from(values as Iterable<number | bigint>, (value) =>
    typeof value === "bigint" ? toNumber(value, where) : value,
  );
}

/** Puts rows in the order of the fragments; world coordinates where the store keeps an offset apart. */
function gather(
  from: Positions,
  rows: Uint32Array | undefined,
  dims: number,
  shift: readonly number[] | undefined,
): Positions {
  const moved = shift?.some((by) => by !== 0) === true;
  if (rows === undefined && !moved) return from;
  const count = rows?.length ?? from.length / dims;
  const out = moved || from instanceof Float64Array ? new Float64Array(count * dims) : new Float32Array(count * dims);
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i]!;
    for (let axis = 0; axis < dims; axis++)
      out[i * dims + axis] = from[row * dims + axis]! + (moved ? shift![axis]! : 0);
  }
  return out;
}

function gatherColumn({ info, values }: Column, rows: Uint32Array | undefined): Column {
  if (rows === undefined) return { info, values };
  const { channels } = info;
  const out = Array.isArray(values)
    ? new Array<string>(rows.length * channels)
    : new (values.constructor as Uint8ArrayConstructor)(rows.length * channels);
  for (let i = 0; i < rows.length; i++)
    for (let c = 0; c < channels; c++)
      (out as Uint8Array)[i * channels + c] = (values as Uint8Array)[rows[i]! * channels + c]!;
  return { info, values: out as Column["values"] };
}

/** An index that was read before its vertices could not be compared with them. */
function checkRows(index: FragmentIndex, rows: number, where: string): void {
  let end = index.rows === undefined ? total(index) : 0;
  for (let e = 0; index.rows !== undefined && e < index.rows.length; e++) end = Math.max(end, index.rows[e]! + 1);
  if (end > rows)
    throw new Corrupt(`the fragment index ${where} names row ${end - 1}, but there are ${rows}`, { where });
}

const total = ({ count, offsets }: FragmentIndex): number => offsets[count]!;
