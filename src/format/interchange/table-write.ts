/**
 * Geometry as a table, batch by batch. table.ts reads it back.
 *
 * | geometry        | a row is | columns                                                                          |
 * |-----------------|----------|----------------------------------------------------------------------------------|
 * | points          | a vertex | id (object, where one has several points), axes, attributes, object.attributes    |
 * | lines           | a line   | id, start_x … end_x …, start.attributes, end.attributes, attributes of the object |
 * | everything else | a vertex | object, part, axes, attributes, object.attributes: what connects them is lost     |
 *
 * Relationships are columns by their own names; those with more than one id in a row are lists.
 */
import type { Json } from "../../bytes/json.js";
import { I64, U64 } from "../../bytes/u64.js";
import { Unsupported } from "../../errors.js";
import { type AttributeInfo, type Column, lostUnit } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Batch, Columns } from "../../model/vectors.js";
import { absentColumn, pick, widened } from "../../query/columns.js";
import type { FileData } from "./types.js";

export interface TableRows {
  /** The columns: numbers as they are, codes as what they stand for, float16 as float32. */
  readonly columns: readonly AttributeInfo[];
  readonly losses: string[];
  /** The columns that are lists of what is there, of any length. */
  readonly lists: ReadonlySet<string>;
  /** The values, in the order of the columns. */
  rows(): AsyncGenerator<{ readonly count: number; readonly columns: readonly Column[] }>;
  /** What has been handed out so far. */
  counts(): { readonly vertices: number; readonly objects: number };
}

type Make = (batch: Batch) => { readonly count: number; readonly columns: Column[] };

/** `most`: vertices that are handed out together. `single`: a row is a vertex, also of lines. */
export async function tableRows(
  data: FileData,
  options: ReadOptions,
  most?: number,
  single = false,
): Promise<TableRows> {
  const batches = data.batches({ ...options, batchVertices: most })[Symbol.asyncIterator]();
  const first = await batches.next();
  const losses: string[] = [];
  const related = new Set(namesOf(data.attributes.relationships));
  const make = maker(data, first.done === true ? undefined : first.value, losses, single, related);
  let [vertices, objects] = [0, 0];
  const { columns } = make(emptyOf(data, first.done === true ? undefined : first.value));
  const isList = ({ name, channels, dtype }: AttributeInfo): boolean =>
    channels > 1 && related.has(name) && (dtype.kind === "int" || dtype.kind === "uint");
  return {
    columns: columns.map(({ info }) => info),
    losses,
    lists: new Set(columns.filter(({ info }) => isList(info)).map(({ info }) => info.name)),
    counts: () => ({ vertices, objects }),
    async *rows() {
      try {
        for (let next = first; next.done !== true; next = await batches.next()) {
          const batch = next.value;
          if (batch.repeats === true) continue;
          vertices += batch.positions.length / batch.dims;
          objects += batch.ids.length;
          yield make(batch);
        }
      } finally {
        await batches.return?.();
      }
    },
  };
}

const namesOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];

/** What is there in each row of a column, in `values` that are as they shall be written. */
export function listsOf<T>({ info, values }: Column, as: ArrayLike<T>): T[][] {
  const { channels, absent } = info;
  return Array.from({ length: values.length / channels }, (_, row) => {
    const list: T[] = [];
    for (let at = row * channels; at < (row + 1) * channels; at++) if (values[at] !== absent) list.push(as[at]!);
    return list;
  });
}

/** The rows of a table in groups of so many, but the last: files are read by groups, and batches may be small. */
export async function* inGroups(table: TableRows, size: number) {
  let held: (readonly Column[])[] = [];
  let count = 0;
  const join = () => ({
    count,
    columns: held[0]!.map(({ info }, i) => ({ info, values: joinedAll(held.map((own) => own[i]!.values)) })),
  });
  for await (const { count: more, columns } of table.rows()) {
    if (more === 0) continue;
    held.push(columns);
    count += more;
    if (count < size) continue;
    yield join();
    [held, count] = [[], 0];
  }
  if (count > 0) yield join();
}

const joinedAll = (parts: readonly Column["values"][]): Column["values"] =>
  parts.length === 1 ? parts[0]! : joined(...parts);

function emptyOf({ geometry, axes }: FileData, first: Batch | undefined): Batch {
  return {
    level: 0,
    geometry,
    dims: axes.length,
    positions: first?.positions instanceof Float64Array ? new Float64Array() : new Float32Array(),
    parts: new Uint32Array(1),
    objects: new Int32Array(),
    ids: first?.ids instanceof BigUint64Array ? new BigUint64Array() : new BigInt64Array(),
    links: undefined,
    fragments: undefined,
    vertexColumns: new Map(),
    objectColumns: new Map(),
    chunk: undefined,
  };
}

function maker(
  data: FileData,
  first: Batch | undefined,
  losses: string[],
  single: boolean,
  related: ReadonlySet<string>,
): Make {
  const { geometry, schema, axes } = data;
  const seen = (infos: readonly AttributeInfo[], columns: Columns | undefined, what: string): AttributeInfo[] =>
    infos
      .map((info) => columns?.get(info.name)?.info ?? info)
      .filter(({ name, dtype, categories }) => {
        if (categories !== undefined || HELD.includes(dtype.kind)) return true;
        losses.push(`the ${what} attribute ${name}, which is ${dtype.kind}`);
        return false;
      });
  const vertex = seen(schema.vertex, first?.vertexColumns, "vertex");
  const object = seen(schema.object, first?.objectColumns, "object");
  losses.push(...[...vertex, ...object].flatMap(lostUnit));
  for (const { name } of schema.link) losses.push(`the attribute ${name} of links`);
  const names = axes.map(({ name }) => name);
  const hasObjects = first === undefined ? geometry !== "points" : first.ids.length > 0;
  if (geometry === "lines" && !single) return (batch) => lineRows(batch, names, vertex, object, hasObjects);
  if (geometry !== "points") losses.push(`how the vertices of ${geometry} are connected: a row is a vertex`);
  const alone = first?.parts.every((start, part) => start === part) === true && isEach(first.objects);
  if (geometry === "points" && hasObjects && !alone) losses.push("which points are of which object, but as a column");
  const fixed = [
    ...(hasObjects ? [geometry === "points" && alone ? "id" : "object"] : []),
    ...(geometry === "points" ? [] : ["part"]),
  ];
  return (batch) => vertexRows(batch, fixed, names, vertex, object, related);
}

const TEXTS: readonly string[] = ["string", "utf32", "bytes"];
const HELD: readonly string[] = ["bool", "int", "uint", "float", ...TEXTS];

/** Each object once, one after the other. */
const isEach = (objects: Int32Array): boolean => objects.every((row, i) => row === i);

function vertexRows(
  batch: Batch,
  fixed: readonly string[],
  axes: readonly string[],
  vertex: readonly AttributeInfo[],
  object: readonly AttributeInfo[],
  related: ReadonlySet<string>,
) {
  const { positions, dims, parts, objects, ids } = batch;
  const count = positions.length / dims;
  const owners = new Int32Array(count).fill(-1);
  const numbers = new Int32Array(count);
  let [last, number] = [-1, 0];
  for (let part = 0; part < objects.length; part++) {
    const owner = objects[part]!;
    number = owner >= 0 && owner === last ? number + 1 : 0;
    last = owner;
    owners.fill(owner, parts[part], parts[part + 1]);
    numbers.fill(number, parts[part], parts[part + 1]);
  }
  const taken = [...fixed, ...axes];
  const known = [...taken, ...vertex.map(({ name }) => name)];
  const titleOf = (name: string): string => (related.has(name) && !known.includes(name) ? name : `object.${name}`);
  return {
    count,
    columns: [
      ...fixed.map((name) => (name === "part" ? { info: INT32(name), values: numbers } : idColumn(name, ids, owners))),
      ...axes.map((name, axis) => axisColumn(name, positions, axis, dims)),
      ...vertex.map((info) => {
        const title = taken.includes(info.name) ? `vertex.${info.name}` : info.name;
        const column = plain(batch.vertexColumns.get(info.name), info, title, count);
        return related.has(info.name) ? withNone(column) : column;
      }),
      ...object.map((info) => ownersColumn(batch.objectColumns, info, titleOf(info.name), owners)),
    ],
  };
}

function lineRows(
  batch: Batch,
  axes: readonly string[],
  vertex: readonly AttributeInfo[],
  object: readonly AttributeInfo[],
  hasObjects: boolean,
) {
  const { positions, dims, parts, objects, ids } = batch;
  const count = positions.length / dims / 2;
  const owners = objects.filter((_, part) => parts[part + 1]! > parts[part]!); // what has no vertices has no row
  const odd = objects.find((_, part) => ![0, 2].includes(parts[part + 1]! - parts[part]!));
  if (odd !== undefined)
    throw new Unsupported(
      `a row of a table is a line with both ends, and the object ${ids[odd] ?? ""} has other parts`,
      {
        hint: "Cut lines at the faces of the region with --clip; JSON holds parts of any number of vertices.",
      },
    );
  const ends = [0, 1].map((end) => Uint32Array.from({ length: count }, (_, row) => 2 * row + end));
  const fixed = hasObjects ? ["id"] : [];
  const titles = ["start", "end"];
  const taken = [...fixed, ...titles.flatMap((end) => axes.map((axis) => `${end}_${axis}`))];
  return {
    count,
    columns: [
      ...fixed.map((name) => idColumn(name, ids, owners)),
      ...titles.flatMap((title, end) =>
        axes.map((name, axis) => axisColumn(`${title}_${name}`, positions, end * dims + axis, 2 * dims)),
      ),
      ...vertex.flatMap((info) =>
        titles.map((title, end) => {
          const own = plain(batch.vertexColumns.get(info.name), info, `${title}.${info.name}`, 2 * count);
          return { info: own.info, values: pick(own.values, own.info.channels, ends[end]!) };
        }),
      ),
      ...object.map((info) =>
        ownersColumn(batch.objectColumns, info, taken.includes(info.name) ? `object.${info.name}` : info.name, owners),
      ),
    ],
  };
}

const INT32 = (name: string): AttributeInfo => ({
  name,
  dtype: { kind: "int", size: 4, endian: "little" },
  channels: 1,
});

function idColumn(name: string, ids: Batch["ids"], owners: Int32Array): Column {
  const signed = ids instanceof BigInt64Array;
  const absent = signed ? I64.MIN : U64.MAX;
  const values = new (signed ? BigInt64Array : BigUint64Array)(owners.length);
  for (let i = 0; i < owners.length; i++) values[i] = owners[i]! < 0 ? absent : ids[owners[i]!]!;
  const none = owners.includes(-1) ? { absent } : {};
  return {
    info: { name, dtype: { kind: signed ? "int" : "uint", size: 8, endian: "little" }, channels: 1, ...none },
    values,
  };
}

function axisColumn(name: string, positions: Batch["positions"], first: number, stride: number): Column {
  const double = positions instanceof Float64Array;
  const values = new (double ? Float64Array : Float32Array)(positions.length / stride);
  for (let i = 0, at = first; i < values.length; i++, at += stride) values[i] = positions[at]!;
  return { info: { name, dtype: { kind: "float", size: double ? 8 : 4, endian: "little" }, channels: 1 }, values };
}

/** A column of the table: codes as their texts, float16 as float32. */
function plain(column: Column | undefined, info: AttributeInfo, name: string, rows: number): Column {
  const { info: own, values } = widened(column ?? absentColumn(info, rows));
  const { categories, dtype } = own;
  if (categories !== undefined)
    return {
      info: { ...own, name, dtype: { kind: "string" }, categories: undefined, absent: undefined },
      values: Array.from({ length: values.length }, (_, at) => categories[Number(values[at])] ?? ""),
    };
  if (TEXTS.includes(dtype.kind)) return { info: { ...own, name, dtype: { kind: "string" } }, values };
  return { info: { ...own, name }, values };
}

/** What points are related to: 2^64 − 1 is nothing. */
const withNone = ({ info, values }: Column): Column => ({
  info: { absent: values instanceof BigUint64Array ? U64.MAX : undefined, ...info },
  values,
});

/** The attribute of each row's object; a row without one has none. */
function ownersColumn(columns: Columns, info: AttributeInfo, name: string, owners: Int32Array): Column {
  const column = columns.get(info.name);
  if (column === undefined || owners.includes(-1)) {
    const rows = column === undefined ? 0 : column.values.length / column.info.channels;
    const none = absentColumn(column?.info ?? info, 1);
    const values = column === undefined ? none.values : joined(column.values, none.values);
    const at = owners.map((owner) => (owner < 0 || column === undefined ? rows : owner));
    const own = { info: none.info, values: pick(values, none.info.channels, at) };
    return plain(own, own.info, name, owners.length);
  }
  const { info: own, values } = column;
  return plain({ info: own, values: pick(values, own.channels, owners) }, own, name, owners.length);
}

function joined(...parts: readonly Column["values"][]): Column["values"] {
  const first = parts[0]!;
  if (Array.isArray(first)) return (parts as readonly string[][]).flat();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const out = new (first.constructor as Float64ArrayConstructor)(length);
  let at = 0;
  for (const part of parts) {
    out.set(part as Float64Array, at);
    at += part.length;
  }
  return out as unknown as Column["values"];
}
