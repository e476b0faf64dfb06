/**
 * VTK's polydata, as both of its files have them: points, and cells over them in the order vertices, lines, polygons, strips. Polygons and strips
 * are a mesh, lines alone are paths, with the data of cells as attributes of faces and of objects; anything else is points.
 * Arrays called Normals are `normal`, TCoords `uv`, as in other files; `object_id` of lines are ids.
 */
import type { JsonObject } from "../../bytes/json.js";
import { isBig, type NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import type { Ids } from "../rows/row-source.js";
import { fan, fanNotes } from "./polygons.js";
import { column, columns, FLOAT32, FLOAT64, numeric, type Surface } from "./surface.js";
import { room } from "./surface-write.js";
import type { OpenFileOptions } from "./types.js";

/** Cell i has the points offsets[i] up to offsets[i + 1] of `ends`. */
export interface Cells {
  readonly offsets: Uint32Array;
  readonly ends: Uint32Array;
}

export const KINDS = ["verts", "lines", "polys", "strips"] as const;
export type CellKind = (typeof KINDS)[number];

/** Numbers for each point or cell, under the name that they have in all files. */
export interface PolyArray<A> {
  readonly name: string;
  readonly channels: number;
  readonly values: A;
}

/** The same as Cells, in arrays of any kind. */
export interface CellArrays<A> {
  readonly count: number;
  readonly offsets: A;
  readonly ends: A;
}

/** A file, with its arrays held (as NumericArray) or put aside. */
export interface PolyData<A> {
  readonly version: string;
  readonly points: number;
  readonly positions: A;
  readonly cells: { readonly [K in CellKind]: CellArrays<A> };
  readonly pointData: ReadonlyMap<string, PolyArray<A>>;
  /** Rows in the order of KINDS. */
  readonly cellData: ReadonlyMap<string, PolyArray<A>>;
  readonly header?: JsonObject | undefined;
  readonly notes: readonly string[];
}

/** Takes an array as it comes, some of it at a time. */
export interface Taker<A> {
  add(values: NumericArray): void | Promise<void>;
  done(): A | Promise<A>;
}

/** What becomes of arrays; how many numbers they have is only believed once the first have come. */
export type Keep<A> = (type: NumericType, count: number, channels: number) => Taker<A>;

/** Arrays in memory; what is thrown where all of them have more than `most` bytes. */
export function hold(most: number, refused: (bytes: number) => Error): Keep<NumericArray> {
  let total = 0;
  const enter = (bytes: number): void => {
    total += bytes;
    if (total > most) throw refused(total);
  };
  return (type, count) => {
    let all: NumericArray | undefined;
    let at = 0;
    return {
      add(values) {
        if (all === undefined) enter(count * type.size);
        all ??= room(type, count);
        all.set(values as never, at);
        at += values.length;
      },
      done: () => all ?? room(type, 0),
    };
  };
}

/** An array that comes in blocks, each of which may become another on the way. */
export async function kept<A>(
  taker: Taker<A>,
  blocks: AsyncIterable<NumericArray>,
  as: (values: NumericArray) => NumericArray = (values) => values,
): Promise<A> {
  for await (const values of blocks) await taker.add(as(values));
  return taker.done();
}

/** The points, as float64 or as float32. */
export const keptPoints = <A>(
  keep: Keep<A>,
  type: NumericType,
  count: number,
  blocks: AsyncIterable<NumericArray>,
): Promise<A> =>
  kept(keep(type.kind === "float" && type.size === 8 ? FLOAT64 : FLOAT32, 3 * count, 3), blocks, asFloats);

function asFloats(values: NumericArray): Positions {
  if (values instanceof Float64Array || values instanceof Float32Array) return values;
  return isBig(values) ? Float32Array.from(values as BigInt64Array, Number) : Float32Array.from(values);
}

const UINT32 = numeric("uint", 4);
export const keepPlaces = <A>(keep: Keep<A>, count: number): Taker<A> => keep(UINT32, count, 1);

/** No cells at all. */
export async function noCells<A>(keep: Keep<A>): Promise<CellArrays<A>> {
  const offsets = keepPlaces(keep, 1);
  await offsets.add(Uint32Array.of(0));
  return { count: 0, offsets: await offsets.done(), ends: await keepPlaces(keep, 0).done() };
}

/** The name of an array in all files. */
export function arrayName(name: string, channels: number): string {
  if (/^normals$/i.test(name) && channels === 3) return "normal";
  return /^(tcoords|texture ?coordinates)$/i.test(name) && channels === 2 ? "uv" : name;
}

export const fewComponents = (channels: number): boolean =>
  Number.isInteger(channels) && channels >= 1 && channels <= 1000;

/** What places of cells and points are, as a Uint32Array; negative ones and those beyond are nowhere. */
export function asPlaces(values: NumericArray): Uint32Array {
  if (values instanceof Uint32Array) return values;
  const out = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = Number(values[i]);
    out[i] = value >= 0 && value < 0xffff_ffff ? value : 0xffff_ffff;
  }
  return out;
}

/** Offsets must begin with 0, never go back, and end where the list does. What is wrong is told in the end, when both were read. */
export class OffsetCheck {
  readonly #where: string;
  readonly #what: string;
  #count = 0;
  #before = 0;
  #problem: Corrupt | undefined;

  constructor(where: string, what: string) {
    this.#where = where;
    this.#what = what;
  }

  /** How many came, and the last of them. */
  get count(): number {
    return this.#count;
  }

  get last(): number {
    return this.#before;
  }

  take(offsets: Uint32Array): Uint32Array {
    for (const offset of offsets) {
      if (offset < this.#before || (this.#count === 0 && offset !== 0))
        this.#problem ??= this.#corrupt(
          `offset ${this.#count} of the ${this.#what} is ${offset}, after ${this.#before}`,
        );
      this.#before = offset;
      this.#count++;
    }
    return offsets;
  }

  end(ends: number): void {
    if (this.#problem === undefined && this.#before !== ends)
      this.#problem = this.#corrupt(
        `the offsets of the ${this.#what} end at ${this.#before}, and there are ${ends} places`,
      );
    if (this.#problem !== undefined) throw this.#problem;
  }

  #corrupt(message: string): Corrupt {
    return new Corrupt(`${this.#where}: ${message}`, { where: this.#where });
  }
}

export interface PolyOutline {
  readonly geometry: "mesh" | "polylines" | "points";
  /** What is left out. */
  readonly notes: string[];
  /** Where the data of the cells of each kind begin. */
  readonly starts: { readonly [K in CellKind]: number };
}

/** What of a file is read. */
export function polyOutline({
  cells,
  cellData,
  notes: found,
}: Pick<PolyData<unknown>, "cells" | "cellData" | "notes">): PolyOutline {
  const { verts, lines, polys, strips } = cells;
  const notes = [...found];
  const starts = {
    verts: 0,
    lines: verts.count,
    polys: verts.count + lines.count,
    strips: verts.count + lines.count + polys.count,
  };
  const faces = polys.count + strips.count > 0;
  const left = (count: number, what: string): void => {
    if (count > 0) notes.push(`${count} ${what} are left out beside ${faces ? "faces" : "lines"}`);
  };
  if (faces || lines.count > 0) left(verts.count, "vertices");
  else if (cellData.size > 0) notes.push("data of vertices as cells are left out");
  if (faces) left(lines.count, "lines");
  return { geometry: polyGeometry(polys.count + strips.count, lines.count), notes, starts };
}

export const polyGeometry = (faces: number, lines: number): PolyOutline["geometry"] =>
  faces > 0 ? "mesh" : lines > 0 ? "polylines" : "points";

export const stripNotes = (strips: number): string[] => (strips > 0 ? [`${strips} strips are triangles here`] : []);

/** What is said of a line that names a point which is not there. */
export const noPoint = (where: string, line: number, end: number, points: number): Corrupt =>
  new Corrupt(`${where}, line ${line} of LINES points to point ${end | 0} of ${points}`, { where });

export const loosePoints = (count: number): string[] =>
  count > 0 ? [`${count} points that are on no line are left out`] : [];

/** An attribute of objects that is their ids: 64 bits, each once. */
export function idsIn({ values, info }: Column): Ids | undefined {
  if (info.channels !== 1 || !(values instanceof BigInt64Array || values instanceof BigUint64Array)) return undefined;
  const sorted = values.slice().sort();
  return sorted.every((id: bigint, i: number) => i === 0 || id !== sorted[i - 1]) ? values : undefined;
}

type Held = PolyData<NumericArray>;

export function polySurface(poly: Held, where: string, { onBad }: OpenFileOptions): Surface {
  const { geometry, notes, starts } = polyOutline(poly);
  const { version, header } = poly;
  const base = {
    version,
    header,
    notes,
    positions: poly.positions as Positions,
    vertexColumns: columnsOf(poly.pointData),
  };
  const data = columnsOf(poly.cellData);
  if (geometry === "points") return { ...base, geometry, place: (_, i) => `point ${i}` };
  const all = starts.strips + poly.cells.strips.count;
  const rowsOf = (kind: CellKind): Columns => {
    const { count } = poly.cells[kind];
    if (count === all) return data;
    return pickRows(
      data,
      Uint32Array.from({ length: count }, (_, i) => starts[kind] + i),
    );
  };
  if (geometry === "polylines") return paths(base, cellsOf(poly, "lines"), rowsOf("lines"), where, onBad);
  const { offsets, ends } = cellsOf(poly, "polys");
  const faces = fan({ offsets, corners: ends }, rowsOf("polys"));
  const strips = stripTriangles(cellsOf(poly, "strips"), rowsOf("strips"));
  notes.push(...fanNotes(faces), ...stripNotes(poly.cells.strips.count));
  const first = faces.links.length / 3;
  return {
    ...base,
    geometry,
    links: joined(faces.links, strips.links),
    linkColumns: joinedColumns(faces.linkColumns, strips.linkColumns),
    place: (what, i) => {
      if (what === "vertex") return `point ${i}`;
      return i < first ? `polygon ${faces.from?.[i] ?? i}` : `strip ${strips.from[i - first]}`;
    },
  };
}

const columnsOf = (arrays: Held["pointData"]): Columns =>
  columns(...[...arrays.values()].map(({ name, values, channels }) => column(name, values, channels)));

function cellsOf({ cells }: Held, kind: CellKind): Cells {
  const { offsets, ends } = cells[kind];
  return { offsets: offsets as Uint32Array, ends: ends as Uint32Array };
}

function joined<T extends NumericArray>(a: T, b: T): T {
  if (b.length === 0) return a;
  const both = new (a.constructor as new (length: number) => T)(a.length + b.length);
  both.set(a as never);
  both.set(b as never, a.length);
  return both;
}

function joinedColumns(a: Columns, b: Columns): Columns {
  const both = [...a].map(([name, { info, values }]) => {
    const all = joined(values as NumericArray, b.get(name)!.values as NumericArray);
    return [name, { info, values: all }] as const;
  });
  return new Map(both);
}

/** Every second triangle of a strip is turned. */
export function stripTriangles({ offsets, ends }: Cells, data: Columns) {
  const [links, from] = [[] as number[], [] as number[]];
  for (let strip = 0; strip + 1 < offsets.length; strip++)
    for (let i = offsets[strip]! + 2; i < offsets[strip + 1]!; i++) {
      const turned = (i - offsets[strip]!) % 2;
      links.push(ends[i - 2 + turned]!, ends[i - 1 - turned]!, ends[i]!);
      from.push(strip);
    }
  return { links: Uint32Array.from(links), linkColumns: pickRows(data, from), from: Uint32Array.from(from) };
}

type Base = Pick<Surface, "version" | "positions" | "vertexColumns" | "header"> & { readonly notes: string[] };

function paths(
  base: Base,
  { offsets, ends }: Cells,
  data: Columns,
  where: string,
  onBad: OpenFileOptions["onBad"],
): Surface {
  const count = base.positions.length / 3;
  const kept: number[] = [];
  const parts = [0];
  for (let line = 0; line + 1 < offsets.length; line++) {
    const own = ends.subarray(offsets[line]!, offsets[line + 1]!);
    const wrong = own.find((end) => end >= count);
    if (wrong === undefined) {
      kept.push(line);
      parts.push(parts.at(-1)! + own.length);
      continue;
    }
    const problem = noPoint(where, line, wrong, count);
    if (onBad === undefined) throw problem;
    onBad(problem);
  }
  let rows = ends;
  if (kept.length < offsets.length - 1) {
    rows = new Uint32Array(parts.at(-1)!);
    for (const [i, line] of kept.entries()) rows.set(ends.subarray(offsets[line]!, offsets[line + 1]!), parts[i]!);
  }
  const seen = new Uint8Array(count);
  for (let i = 0; i < rows.length; i++) seen[rows[i]!] = 1;
  base.notes.push(...loosePoints(seen.reduce((sum, one) => sum - one, count)));
  const objectColumns = new Map(kept.length === offsets.length - 1 ? data : pickRows(data, kept));
  const own = objectColumns.get("object_id");
  const ids = own && idsIn(own);
  if (ids !== undefined) objectColumns.delete("object_id");
  return {
    ...base,
    geometry: "polylines",
    positions: pick(base.positions, 3, rows),
    vertexColumns: pickRows(base.vertexColumns, rows),
    parts: Uint32Array.from(parts),
    ids,
    objectColumns,
    place: (_, i) => `point ${rows[i]}`,
  };
}
