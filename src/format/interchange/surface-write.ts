/** What writers of surfaces have in common: batches with the number of their first vertex, attributes as plain numbers, losses. */
import { type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Unsupported } from "../../errors.js";
import { type AttributeInfo, lostUnit } from "../../model/attributes.js";
import type { Batch, Columns, Domain, Geometry, Positions } from "../../model/vectors.js";
import { absentColumn, widened } from "../../query/columns.js";
import type { FileData, WriteFileOptions } from "./types.js";

export interface Batches extends AsyncIterable<{ readonly batch: Batch; readonly first: number }> {
  /** Positions are float64. */
  readonly double: boolean;
  /** There are several objects. */
  readonly several: boolean;
  /** Objects have other ids than the one that everything has in a file without any. */
  readonly named: boolean;
}

/** The batches, of which two have been looked at: they tell whether there are several objects. */
export async function batchesOf(data: FileData, options: WriteFileOptions): Promise<Batches> {
  const source = data.batches({ signal: options.signal, limits: options.limits })[Symbol.asyncIterator]();
  const seen: Batch[] = [];
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    seen.push(next.value);
    if (seen.length === 2) break;
  }
  const [one, two] = seen;
  const several = (one?.ids.length ?? 0) > 1 || (two !== undefined && two.ids.length > 0);
  return {
    double: one?.positions instanceof Float64Array,
    several,
    named: several || (one?.ids.length === 1 && one.ids[0] !== 0n),
    async *[Symbol.asyncIterator]() {
      let first = 0;
      const step = (batch: Batch) => {
        const own = { batch, first };
        first += batch.positions.length / batch.dims;
        return own;
      };
      while (seen.length > 0) yield step(seen.shift()!);
      for (let next = await source.next(); next.done !== true; next = await source.next()) yield step(next.value);
    },
  };
}

/** An attribute as columns of plain numbers. */
export interface Lane {
  readonly info: AttributeInfo;
  readonly type: NumericType;
  /** The values of these rows, `channels` each. */
  values(columns: Columns, rows: number): NumericArray;
}

/** The attributes that files of numbers hold; the others are told. Without `big`, whole numbers of 64 bits become doubles. */
export function lanes(list: readonly AttributeInfo[], losses: Set<string>, big: boolean): Lane[] {
  return list.flatMap((info) => {
    const { dtype, name } = info;
    const told = JSON.stringify(name);
    if (dtype.kind !== "int" && dtype.kind !== "uint" && dtype.kind !== "float" && dtype.kind !== "bool") {
      losses.add(`the attribute ${told} is of type ${dtype.kind}, which the file cannot hold`);
      return [];
    }
    for (const loss of lostUnit(info)) losses.add(loss);
    if (info.categories !== undefined) losses.add(`the names of the categories of ${told} are numbers in the file`);
    const own: NumericType = dtype.kind === "bool" ? { kind: "uint", size: 1, endian: "little" } : dtype;
    const double = own.size === 8 && own.kind !== "float" && !big;
    const type: NumericType = double
      ? { kind: "float", size: 8, endian: "little" }
      : own.size === 2 && own.kind === "float"
        ? { kind: "float", size: 4, endian: "little" }
        : own;
    return [
      {
        info,
        type,
        values(columns, rows) {
          const values = widened(columns.get(name) ?? absentColumn(info, rows)).values as NumericArray;
          if (!double) return values;
          const doubles = Float64Array.from(values as BigInt64Array, Number);
          if (doubles.some((value) => !Number.isSafeInteger(value)))
            losses.add(`values of ${told} beyond 2^53 are rounded: the file has no whole numbers of 64 bits`);
          return doubles;
        },
      },
    ];
  });
}

/** Zeros of a type. */
export const room = (type: NumericType, count: number): NumericArray =>
  numericView(type, new Uint8Array(count * type.size));

/** The ids of the objects of vertices; 0 of those that have none. */
export function objectOfVertices({ positions, dims, parts, objects, ids }: Batch): BigInt64Array {
  const out = new BigInt64Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++)
    if (objects[part]! >= 0) out.fill(BigInt.asIntN(64, ids[objects[part]!]!), parts[part]!, parts[part + 1]!);
  return out;
}

/** The attribute that says so, where a file knows no objects. */
export const OBJECT_ID: AttributeInfo = {
  name: "object_id",
  dtype: { kind: "int", size: 8, endian: "little" },
  channels: 1,
};

/** The ends of links: of paths from each vertex to the next. */
export function endsOf({ geometry, links, parts, positions, dims }: Batch): Uint32Array {
  if (geometry !== "lines" && geometry !== "polylines" && geometry !== "streamlines")
    return links?.ends ?? new Uint32Array();
  const ends = new Uint32Array((2 * positions.length) / dims);
  let at = 0;
  for (let part = 0; part + 1 < parts.length; part++)
    for (let i = parts[part]! + 1; i < parts[part + 1]!; i++) {
      ends[at++] = i - 1;
      ends[at++] = i;
    }
  return ends.subarray(0, at);
}

/** Refuses what a kind of file cannot hold at all, and tells what is left out of everything else. */
export function lossesOf(
  data: FileData,
  what: string,
  geometries: readonly Geometry[],
  holds: readonly Domain[] = [],
  read: { readonly [G in Geometry]?: Geometry } = {},
): Set<string> {
  const { geometry, schema, axes } = data;
  if (!geometries.includes(geometry))
    throw new Unsupported(`${what} holds ${geometries.join(", ")}, and ${data.url} has ${geometry}`, {
      where: data.url,
    });
  if (axes.length !== 3)
    throw new Unsupported(`${what} holds three coordinates, and ${data.url} has ${axes.length}`, { where: data.url });
  const losses = new Set<string>();
  const now = read[geometry];
  if (now !== undefined && now !== geometry) losses.add(`that these are ${geometry}: ${what} is read as ${now}`);
  for (const owner of ["fragment", "object"] as const) {
    const list = holds.includes(owner) ? [] : schema[owner];
    if (list.length > 0)
      losses.add(`${what} has no attributes of ${owner}s: ${list.map(({ name }) => name).join(", ")}`);
  }
  return losses;
}

/** The name of an object, where it has one: text, of a fixed length or any, or a category. */
export function nameOf({ objectColumns }: Batch, row: number): string | undefined {
  const own = objectColumns.get("name");
  const value = own?.values[row];
  const name = own?.info.categories?.[Number(value)] ?? value;
  return typeof name === "string" ? name.replace(/\s+/g, " ").trim() : undefined;
}

/** What a batch has and the files do not: a second place for a vertex, and points that are objects. */
export function tellBatch({ repeats, geometry, ids }: Batch, losses: Set<string>): void {
  if (repeats) losses.add("vertices of links between objects are written a second time, with these links");
  if (geometry === "points" && ids.length > 0) losses.add("which points are of which object");
}

/** What a file has that knows one object. */
export function tellOne({ several, named }: Batches, what: string, losses: Set<string>): void {
  if (several) losses.add(`objects are one in ${what}`);
  else if (named) losses.add(`the id of the object: ${what} has none`);
}

/** What is read where there are nodes and edges. */
export const AS_GRAPH = { lines: "graph", polylines: "graph", streamlines: "graph", skeletons: "graph" } as const;

/** Positions for files that have float32 only; told where that changes any. */
export function asFloat32(positions: Positions, what: string, losses: Set<string>): Float32Array {
  if (positions instanceof Float32Array) return positions;
  const out = Float32Array.from(positions);
  if (out.some((value, i) => value !== positions[i])) losses.add(`coordinates are rounded to float32 in ${what}`);
  return out;
}

/** The shortest text of a float32, which reads as the same float32. */
export function shortText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/** The links of each part, as rows: those whose first end is in it. */
export function linksByPart(parts: Uint32Array, ends: Uint32Array, width: number): (part: number) => Uint32Array {
  const count = ends.length / width;
  if (parts.length === 2) {
    const all = Uint32Array.from({ length: count }, (_, i) => i);
    return () => all;
  }
  const partOf = new Uint32Array(parts.at(-1)!);
  for (let part = 0; part + 1 < parts.length; part++) partOf.fill(part, parts[part]!, parts[part + 1]!);
  const starts = new Uint32Array(parts.length + 1);
  for (let i = 0; i < count; i++) starts[partOf[ends[i * width]!]! + 1]!++;
  for (let part = 0; part < parts.length; part++) starts[part + 1]! += starts[part]!;
  const [rows, next] = [new Uint32Array(count), starts.slice()];
  for (let i = 0; i < count; i++) rows[next[partOf[ends[i * width]!]!]!++] = i;
  return (part) => rows.subarray(starts[part]!, starts[part + 1]!);
}
