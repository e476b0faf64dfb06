/**
 * VTK's polydata, as both of its files have them: points, and cells over them in the order vertices, lines, polygons, strips. Polygons and strips
 * are a mesh, lines alone are paths, with the data of cells as attributes of faces and of objects; anything else is points.
 * Arrays called Normals are `normal`, TCoords `uv`, as in other files; `object_id` of lines are ids.
 */
import type { JsonObject } from "../../bytes/json.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import { fan, fanNotes } from "./polygons.js";
import { column, type Surface } from "./surface.js";
import type { OpenFileOptions } from "./types.js";

/** Cell i has the points offsets[i] up to offsets[i + 1] of `ends`. */
export interface Cells {
  readonly offsets: Uint32Array;
  readonly ends: Uint32Array;
}

export const KINDS = ["verts", "lines", "polys", "strips"] as const;
export type CellKind = (typeof KINDS)[number];

export interface PolyData {
  readonly version: string;
  readonly positions: Positions;
  readonly cells: { readonly [K in CellKind]: Cells };
  readonly pointData: Columns;
  /** Rows in the order of KINDS. */
  readonly cellData: Columns;
  readonly header?: JsonObject | undefined;
  readonly notes: readonly string[];
}

export const NO_CELLS: Cells = { offsets: Uint32Array.of(0), ends: new Uint32Array() };

/** An array as an attribute, under the name that it has in all files. */
export function arrayColumn(name: string, values: NumericArray, channels: number) {
  if (/^normals$/i.test(name) && channels === 3) return column("normal", values, 3);
  if (/^(tcoords|texture ?coordinates)$/i.test(name) && channels === 2) return column("uv", values, 2);
  return column(name, values, channels);
}

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

/** Offsets must begin with 0, never go back, and end where the list does. */
export function checkOffsets(offsets: Uint32Array, ends: number, where: string, what: string): void {
  let before = 0;
  for (let i = 0; i < offsets.length; i++) {
    if (offsets[i]! < before || (i === 0 && offsets[0] !== 0))
      throw new Corrupt(`${where}: offset ${i} of the ${what} is ${offsets[i]}, after ${before}`, { where });
    before = offsets[i]!;
  }
  if (before !== ends)
    throw new Corrupt(`${where}: the offsets of the ${what} end at ${before}, and there are ${ends} places`, { where });
}

export function polySurface(poly: PolyData, where: string, { onBad }: OpenFileOptions): Surface {
  const { version, cells, positions, header, pointData } = poly;
  const notes = [...poly.notes];
  const counts = KINDS.map((kind) => cells[kind].offsets.length - 1);
  const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0));
  const left = (kind: CellKind, what: string): void => {
    const count = counts[KINDS.indexOf(kind)]!;
    if (count > 0)
      notes.push(
        `${count} ${what} are left out beside ${cells.polys.ends.length + cells.strips.ends.length > 0 ? "faces" : "lines"}`,
      );
  };
  const dataOf = (kind: CellKind): Columns => {
    const at = KINDS.indexOf(kind);
    const rows = Uint32Array.from({ length: counts[at]! }, (_, i) => starts[at]! + i);
    return rows.length === [...poly.cellData.values()][0]?.values.length
      ? poly.cellData
      : pickRows(poly.cellData, rows);
  };
  const base = { version, positions, vertexColumns: pointData, header, notes };
  if (counts[2]! + counts[3]! > 0) {
    left("verts", "vertices");
    left("lines", "lines");
    const { offsets, ends } = cells.polys;
    const faces = fan({ offsets, corners: ends }, dataOf("polys"));
    notes.push(...fanNotes(faces));
    const strips = stripTriangles(cells.strips);
    if (counts[3]! > 0) notes.push(`${counts[3]} strips are triangles here`);
    const links = counts[3] === 0 ? faces.links : Uint32Array.from([...faces.links, ...strips.links]);
    const linkColumns =
      counts[3] === 0
        ? faces.linkColumns
        : joinedRows(poly.cellData, [
            { rows: faces.from, count: faces.links.length / 3, start: starts[2]! },
            { rows: strips.from, count: strips.links.length / 3, start: starts[3]! },
          ]);
    const polygon = (i: number): number => faces.from?.[i] ?? i;
    return {
      ...base,
      geometry: "mesh",
      links,
      linkColumns,
      place: (what, i) => (what === "link" ? `polygon ${polygon(i)}` : `point ${i}`),
    };
  }
  if (counts[1]! > 0) {
    left("verts", "vertices");
    return paths(base, cells.lines, dataOf("lines"), where, onBad);
  }
  if (poly.cellData.size > 0) notes.push("data of vertices as cells are left out");
  return { ...base, geometry: "points", place: (_, i) => `point ${i}` };
}

function joinedRows(
  data: Columns,
  blocks: readonly { readonly rows: Uint32Array | undefined; readonly count: number; readonly start: number }[],
): Columns {
  const rows = blocks.flatMap(({ rows: own, count, start }) =>
    Array.from({ length: count }, (_, i) => start + (own?.[i] ?? i)),
  );
  return pickRows(data, rows);
}

function stripTriangles({ offsets, ends }: Cells): { links: Uint32Array; from: Uint32Array } {
  const [links, from] = [[] as number[], [] as number[]];
  for (let strip = 0; strip + 1 < offsets.length; strip++)
    for (let i = offsets[strip]! + 2; i < offsets[strip + 1]!; i++) {
      const turned = (i - offsets[strip]!) % 2;
      links.push(ends[i - 2 + turned]!, ends[i - 1 - turned]!, ends[i]!);
      from.push(strip);
    }
  return { links: Uint32Array.from(links), from: Uint32Array.from(from) };
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
    const problem = new Corrupt(`${where}, line ${line} of LINES points to point ${wrong | 0} of ${count}`, { where });
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
  const loose = seen.reduce((sum, one) => sum - one, count);
  if (loose > 0) base.notes.push(`${loose} points that are on no line are left out`);
  const objectColumns = new Map(kept.length === offsets.length - 1 ? data : pickRows(data, kept));
  const own = objectColumns.get("object_id");
  const values = own?.values;
  const isId =
    (values instanceof BigInt64Array || values instanceof BigUint64Array) && new Set(values).size === values.length;
  if (isId) objectColumns.delete("object_id");
  return {
    ...base,
    geometry: "polylines",
    positions: pick(base.positions, 3, rows),
    vertexColumns: pickRows(base.vertexColumns, rows),
    parts: Uint32Array.from(parts),
    ids: isId ? values : undefined,
    objectColumns,
    place: (_, i) => `point ${rows[i]}`,
  };
}
