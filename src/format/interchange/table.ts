/**
 * Tables as geometry: which columns are coordinates, ids, relationships and attributes. The same for every kind of file with columns.
 *
 * | kind  | a row is                                 | columns of coordinates, where none are named                             |
 * |-------|------------------------------------------|--------------------------------------------------------------------------|
 * | point | a vertex; an object, where there are ids | x, y, z · position_x … · a list: position, pt_position, coordinates      |
 * | line  | an object of two vertices                | start_x … end_x … · x0 … x1 … · x1 … x2 … · lists: start, end · pre_pt_position, post_pt_position |
 *
 * `id` is the column of ids where it has whole numbers, each once. Of points, other columns are attributes of vertices, and "object.size" is the
 * attribute `size` of objects; of lines they are attributes of objects, and "start.age" with "end.age" the attribute `age` of vertices.
 *
 * Lists of one length are so many channels. Lists of different lengths are read as relationships only: as wide as the longest, and where
 * one has fewer ids the rest is absent.
 */
import { type DataType, isFixed } from "../../bytes/dtype.js";
import { halfToNumber } from "../../bytes/half.js";
import type { JsonObject } from "../../bytes/json.js";
import { isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Axis, Columns, Positions, Schema } from "../../model/vectors.js";
import type { Ids, Piece } from "../rows/row-source.js";
import type { Blame, VertexAt } from "./finite.js";
import { leftOut, type NamedColumn, RAGGED, type Roles, rolesOf } from "./table-roles.js";
import { castColumn } from "./table-types.js";
import type { FileContent, TableOptions } from "./types.js";

/** A file with columns. */
export interface Table {
  readonly where: string;
  readonly version: string;
  /** The columns as far as the beginning of the file tells. */
  readonly columns: readonly NamedColumn[];
  readonly rows?: number | undefined;
  readonly header?: JsonObject | undefined;
  /** Columns that cannot be columns of values, in sentences. */
  readonly losses?: readonly string[] | undefined;
  /** Finds out what is in these columns, and where rows are. */
  index(wanted: Wanted, options: ReadOptions): Promise<TableIndex>;
}

export interface Wanted {
  readonly names: readonly string[];
  /** The column of ids. */
  readonly id: string | undefined;
  /** Columns that may have lists of different lengths. */
  readonly lists: ReadonlySet<string>;
  /** Columns of coordinates: where some cells have numbers, the others are none, and no reason to take it all for text. */
  readonly coordinates: ReadonlySet<string>;
}

export interface TableIndex {
  /** The type of each column; one that cannot be a column of values is missing. */
  readonly types: ReadonlyMap<string, AttributeInfo>;
  /** The bits of all ids, where the column of ids has whole numbers and these came along. */
  readonly ids?: BigUint64Array | undefined;
  /** Rows, and bytes in the file, of each piece. */
  readonly rows: Uint32Array;
  readonly bytes: Float64Array;
  read(piece: number, names: readonly string[], options: ReadOptions): Promise<Columns>;
  /** Where in the file a cell is, where that is more than its row. */
  place?(piece: number, row: number, name: string): Promise<Blame>;
}

export function tableContent(table: Table, given: TableOptions = {}): FileContent {
  const { where, version, columns, rows, header } = table;
  const roles = rolesOf(columns, given, where, table.losses);
  const { ends, axes, relationships, left } = roles;
  const isLine = ends.length === 2;
  const losses = [...(table.losses ?? [])];
  for (const { name, channels } of columns)
    if (channels === 0 && !roles.names.includes(name)) losses.push(`${leftOut(name)}it has ${RAGGED}`);
  if (left.length > 0)
    losses.push(`the ${left.length === 1 ? "column" : "columns"} ${left.join(", ")}: others are named to be read`);
  const { scale, unit } = unitsOf(given, axes, where);
  return {
    version,
    geometry: isLine ? "lines" : "points",
    axes: axes.map((name): Axis => ({ name, type: "space", ...(unit !== undefined && { unit }) })),
    linkWidth: 0,
    header,
    attributes: relationships.length === 0 ? {} : { relationships: relationships.map(({ name }) => name) },
    losses,
    vertices: rows === undefined ? undefined : ends.length * rows,
    objects: rows !== undefined && (isLine || roles.id?.asked === true) ? rows : undefined,
    async index(options) {
      const lists = new Set(relationships.map(({ column }) => column));
      const wanted = { names: roles.names, id: roles.id?.name, lists, coordinates: new Set(ends.flat()) };
      const index = await table.index(wanted, options);
      checkLists(index, lists, where, options);
      const ids = await idsOf(index, roles, isLine || relationships.length > 0, where, options);
      return mapped(index, roles, ids, scale, where);
    },
  };
}

/** Whether there is room for lists that are all as wide as the longest. */
function checkLists({ types, rows }: TableIndex, lists: ReadonlySet<string>, where: string, { limits }: ReadOptions) {
  const { chunkBytes } = withLimits(limits);
  const most = rows.reduce((a, b) => Math.max(a, b), 0);
  for (const name of lists) {
    const { channels = 1 } = types.get(name) ?? {};
    if (8 * channels * most > chunkBytes)
      throw new LimitExceeded(
        `${where}: the column ${name} has lists of up to ${channels} ids in ${most} rows, at most ${chunkBytes} bytes of them are read at once`,
        { where },
      );
  }
}

function unitsOf({ units, resolution }: TableOptions, axes: readonly string[], where: string) {
  if (units !== "voxel") return { unit: units };
  if (resolution?.length === axes.length) return { unit: "nm", scale: resolution };
  throw new InvalidInput(
    `coordinates of ${where} in voxels need a resolution of ${axes.length} numbers, found ${resolution?.length ?? "none"}`,
    { where },
  );
}

/** What the objects are called by; undefined where points stand for themselves. */
interface RowIds {
  readonly ids: Ids;
  /** The column that they are. */
  readonly column?: string;
}

async function idsOf(
  index: TableIndex,
  { id }: Roles,
  needed: boolean,
  where: string,
  options: ReadOptions,
): Promise<RowIds | undefined> {
  const total = index.rows.reduce((sum, count) => sum + count, 0);
  const dtype = id && index.types.get(id.name)?.dtype;
  const isWhole = dtype?.kind === "int" || dtype?.kind === "uint";
  if (id?.asked && !isWhole)
    throw new InvalidInput(`${where}: the column ${id.name} should have whole numbers as ids`, { where });
  if (id !== undefined && isWhole) {
    const bits = index.ids ?? new BigUint64Array(total);
    const ids = dtype.kind === "uint" && dtype.size === 8 ? bits : new BigInt64Array(bits.buffer);
    const known = index.ids !== undefined && index.types.get(id.name)!.absent === undefined;
    for (let piece = 0, at = 0; !known && piece < index.rows.length; piece++) {
      const { info, values } = (await index.read(piece, [id.name], options)).get(id.name)!;
      const own = values as NumericArray;
      const empty = info.absent === undefined ? -1 : (values as readonly unknown[]).indexOf(info.absent);
      if (empty >= 0) throw new Corrupt(`${where}: row ${at + empty} has no ${id.name}`, { where });
      if (isBig(own)) ids.set(own, at);
      else for (let i = 0; i < own.length; i++) ids[at + i] = BigInt(own[i]!);
      at += own.length;
    }
    const twice = repeated(ids);
    if (twice === undefined) return { ids, column: id.name };
    if (id.asked)
      throw new InvalidInput(`${where}: the ids in ${id.name} should be there once, found ${twice} again`, { where });
  }
  return needed ? { ids: BigInt64Array.from({ length: total }, (_, row) => BigInt(row)) } : undefined;
}

/** A number that is there more than once. */
function repeated(ids: Ids): bigint | undefined {
  const own = ids as BigInt64Array;
  let ascending = true;
  for (let i = 1; ascending && i < own.length; i++) ascending = own[i - 1]! < own[i]!;
  if (ascending) return undefined;
  const sorted = own.slice().sort();
  for (let i = 1; i < sorted.length; i++) if (sorted[i - 1] === sorted[i]) return sorted[i];
  return undefined;
}

/** An attribute: the columns that it is made of, one after the other in each row; several of vertices of lines. */
interface Source {
  readonly info: AttributeInfo;
  readonly from: readonly string[];
  readonly relation?: true;
}

function mapped(
  index: TableIndex,
  roles: Roles,
  named: RowIds | undefined,
  scale: readonly number[] | undefined,
  where: string,
) {
  const { types, rows, bytes } = index;
  const { ends, axes } = roles;
  const dims = axes.length;
  const ids = named?.ids;
  const single = ends
    .flat()
    .map((name) => typeOf(types, name, where))
    .every(isSingle);
  const [vertex, object] = attributesOf(roles, types, named, where);
  const names = [...new Set([...ends.flat(), ...[...vertex, ...object].flatMap(({ from }) => from)])];
  const schema: Schema = {
    vertex: vertex.map(({ info }) => info),
    object: object.map(({ info }) => info),
    link: [],
    fragment: [],
    group: [],
  };
  const starts = new Uint32Array(rows.length + 1);
  for (let piece = 0; piece < rows.length; piece++) starts[piece + 1] = starts[piece]! + rows[piece]!;
  return {
    schema,
    objects: ids && { ids, starts },
    vertices: rows.map((count) => ends.length * count),
    bytes,
    place({ piece, vertex: at, axis }: VertexAt): Blame | Promise<Blame> {
      const row = Math.floor(at / ends.length);
      if (index.place !== undefined) return index.place(piece, row, columnAt(ends[at % ends.length]!, types, axis));
      return { place: `row ${starts[piece]! + row}, counted from 0` };
    },
    async load(piece: number, options: ReadOptions): Promise<Piece> {
      const columns = await index.read(piece, names, options);
      const count = rows[piece]!;
      const first = starts[piece]!;
      const positions = new (single ? Float32Array : Float64Array)(count * ends.length * dims);
      for (const [end, from] of ends.entries()) {
        let axis = 0;
        for (const name of from) {
          const column = columns.get(name)!;
          place(column, positions, end * dims + axis, ends.length * dims);
          axis += column.info.channels;
        }
      }
      if (scale !== undefined) for (let i = 0; i < positions.length; i++) positions[i]! *= scale[i % dims]!;
      const width = ids === undefined ? count : ends.length;
      return {
        positions,
        parts: Uint32Array.from({ length: width === 0 ? 1 : (count * ends.length) / width + 1 }, (_, i) => i * width),
        vertexColumns: columnsOf(vertex, columns, first, where),
        objectColumns: columnsOf(object, columns, first, where),
      };
    },
  };
}

const typeOf = (types: TableIndex["types"], name: string, where: string): DataType => {
  const dtype = types.get(name)?.dtype;
  if (dtype?.kind === "int" || dtype?.kind === "uint" || dtype?.kind === "float") return dtype;
  throw new InvalidInput(`${where}: the column ${name} should have numbers as coordinates, found ${dtype?.kind}`, {
    where,
  });
};

/** The column that has this axis; a list has several. */
const columnAt = (names: readonly string[], types: TableIndex["types"], axis: number): string =>
  names.flatMap((name) => Array<string>(types.get(name)!.channels).fill(name))[axis]!;

/** What float32 holds exactly. */
const isSingle = (dtype: DataType): boolean => dtype.kind === "float" && dtype.size <= 4;

/** The values of a column into every `stride`-th place. */
function place({ info, values }: Column, positions: Positions, first: number, stride: number): void {
  const { channels, dtype, absent } = info;
  const isHalf = dtype.kind === "float" && dtype.size === 2;
  const own = values as Float64Array;
  const count = own.length / channels;
  for (let channel = 0; channel < channels; channel++)
    for (let row = 0, at = first + channel; row < count; row++, at += stride) {
      const value = own[row * channels + channel]!;
      positions[at] = value === absent ? Number.NaN : isHalf ? halfToNumber(value) : Number(value);
    }
}

/** The attributes of vertices and of objects. */
function attributesOf(
  { ends, relationships, attributes }: Roles,
  types: TableIndex["types"],
  ids: RowIds | undefined,
  where: string,
): [vertex: Source[], object: Source[]] {
  const [vertex, object]: [Source[], Source[]] = [[], []];
  for (const { name, column } of relationships) {
    const info = types.get(column);
    if (info === undefined || (info.dtype.kind !== "int" && info.dtype.kind !== "uint"))
      throw new InvalidInput(`${where}: the column ${column} should have ids of other objects as whole numbers`, {
        where,
        hint: "Several are a list, in text such as [1, 2, 3].",
      });
    object.push({ info: { ...wide(info), name }, from: [column], relation: true });
  }
  const known = new Map(attributes.map((own) => [own.name, own]));
  for (const { name, dtype } of attributes) {
    const found = types.get(name);
    if (found === undefined || name === ids?.column) continue;
    const info = dtype === undefined ? found : { ...found, dtype, absent: isFixed(dtype) ? undefined : found.absent };
    const [, domain, rest] = /^(object|start|end)\.(.+)$/s.exec(name) ?? [];
    const other = domain === "start" && types.get(`end.${rest}`);
    if (ends.length === 2 && other && known.has(`end.${rest}`) && sameType(found, other))
      vertex.push({ info: { ...info, name: rest! }, from: [name, `end.${rest}`] });
    else if (ends.length === 2 && domain === "end" && vertex.some((own) => own.from[1] === name)) continue;
    else if (ends.length === 2) object.push({ info, from: [name] });
    else if (domain === "object" && ids !== undefined) object.push({ info: { ...info, name: rest! }, from: [name] });
    else vertex.push({ info, from: [name] });
  }
  return [vertex, object];
}

const sameType = (a: AttributeInfo, b: AttributeInfo): boolean =>
  a.channels === b.channels && JSON.stringify(a.dtype) === JSON.stringify(b.dtype);

/** Ids of other objects have 64 bits, whatever the file has. */
const wide = (info: AttributeInfo): AttributeInfo => ({
  ...info,
  dtype:
    info.dtype.kind === "int"
      ? { kind: "int", size: 8, endian: "little" }
      : { kind: "uint", size: 8, endian: "little" },
  absent: info.absent === undefined ? undefined : BigInt(info.absent),
});

function columnsOf(sources: readonly Source[], columns: Columns, firstRow: number, where: string): Columns {
  const out = new Map<string, Column>();
  for (const { info, from } of sources) {
    const [first, second] = from.map((name) => castColumn(columns.get(name)!, info, firstRow, where));
    out.set(info.name, { info, values: second === undefined ? first! : interleaved(first!, second, info.channels) });
  }
  return out;
}

/** A row of one, a row of the other. */
function interleaved(a: Column["values"], b: Column["values"], channels: number): Column["values"] {
  const isText = Array.isArray(a);
  const out = isText ? new Array<string>(2 * a.length) : new (a.constructor as Float64ArrayConstructor)(2 * a.length);
  for (let row = 0, at = 0; row < a.length / channels; row++)
    for (const own of [a, b])
      for (let channel = 0; channel < channels; channel++) (out as unknown[])[at++] = own[row * channels + channel];
  return out as Column["values"];
}
