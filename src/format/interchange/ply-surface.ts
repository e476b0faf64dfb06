/** Surfaces in PLY: what its header says that they are, and what its rows become. */
import { Corrupt } from "../../errors.js";
import type { Columns, Positions } from "../../model/vectors.js";
import type { PlyElement, PlyHeader } from "./ply-header.js";
import { checkRoom, fieldsOf, type Numbers, type Rows, readRows } from "./ply-rows.js";
import { fan, fanNotes } from "./polygons.js";
import type { Surface } from "./surface.js";

export interface PlyRoles {
  readonly geometry: "mesh" | "graph" | "points";
  /** The element whose rows are links. */
  readonly linked: "face" | "edge" | undefined;
  /** What is left out. */
  readonly notes: readonly string[];
  /** The property of an element whose lists are read. */
  listOf(element: PlyElement): string | undefined;
}

export const little = ({ format }: PlyHeader): boolean => format === "binary_little_endian";

/** What of the header is kept, and what is known of the file before its rows are. */
export const outlineOf = (header: PlyHeader) => ({
  version: `PLY ${header.format}`,
  header: { format: header.format, comments: [...header.comments] },
});

export function rolesOf({ elements }: PlyHeader, where: string): PlyRoles {
  const notes: string[] = [];
  const listsOf = ({ properties }: PlyElement) => properties.filter(({ count }) => count !== undefined);
  const listOf = (element: PlyElement): string | undefined => {
    const own = listsOf(element).find(({ name }) => /^vertex_(index|indices)$/.test(name));
    if (element.name !== "face" || own === undefined) return undefined;
    if (own.type.kind === "float") throw new Corrupt(`${where} has faces whose vertices are floats`, { where });
    return own.name;
  };
  for (const element of elements) {
    const list = listOf(element);
    const left = listsOf(element).flatMap(({ name }) => (name === list ? [] : [name]));
    if (!["vertex", "face", "edge"].includes(element.name)) notes.push(`the element ${element.name} is left out`);
    else if (left.length > 0) notes.push(`lists of ${element.name} are left out: ${left.join(", ")}`);
  }
  const [face, edge] = ["face", "edge"].map((own) => elements.find(({ name, count }) => name === own && count > 0));
  if (face !== undefined && listOf(face) !== undefined) {
    if (elements.some(({ name }) => name === "edge")) notes.push("edges are left out beside faces");
    return { geometry: "mesh", linked: "face", notes, listOf };
  }
  const names = edge === undefined ? [] : fieldsOf(edge).map(({ name }) => name);
  const both = names.includes("vertex1") && names.includes("vertex2");
  return both
    ? { geometry: "graph", linked: "edge", notes, listOf }
    : { geometry: "points", linked: undefined, notes, listOf };
}

/** The positions, and the other columns. */
export function split(all: Columns): { readonly positions: Positions; readonly vertexColumns: Columns } {
  const vertexColumns = new Map(all);
  vertexColumns.delete("position");
  return { positions: all.get("position")!.values as Positions, vertexColumns };
}

/** Rows of faces or of edges as links; `from`: the row of each, where it is not its own. */
export function linksIn({ columns, lists }: Rows, { linked }: PlyRoles) {
  if (linked === "face") return fan(lists, columns);
  const linkColumns = new Map(columns);
  const ends = ["vertex1", "vertex2"].map((name) => {
    const { values } = columns.get(name)!;
    linkColumns.delete(name);
    return values as ArrayLike<number>;
  });
  const links = new Uint32Array(2 * ends[0]!.length);
  for (const [k, values] of ends.entries()) for (let i = 0; i < values.length; i++) links[2 * i + k] = values[i]!;
  return { links, linkColumns, from: undefined, many: 0, few: 0 };
}

/** Where a row is: its number, and its line in text. */
export const rowPlace = (name: string, row: number, line: number | undefined): string =>
  `${name} ${row}${line === undefined ? "" : ` (line ${line})`}`;

/** All of it, from numbers that are there; `line`: that of the next row, in text. */
export function readSurface(
  header: PlyHeader,
  where: string,
  numbers: Numbers,
  line: () => number | undefined,
): Surface {
  const roles = rolesOf(header, where);
  const found = new Map<string, { readonly rows: Rows; readonly line: number | undefined }>();
  for (const element of header.elements) {
    checkRoom(element, numbers);
    const own = line();
    found.set(element.name, { rows: readRows(element, element.count, numbers, roles.listOf(element)), line: own });
  }
  const place = (name: string, row: number): string => {
    const first = found.get(name)!.line;
    return rowPlace(name, row, first && first + row);
  };
  const { linked, geometry, notes } = roles;
  const vertices = split(found.get("vertex")!.rows.columns);
  if (linked === undefined)
    return { ...outlineOf(header), ...vertices, geometry, notes, place: (_, i) => place("vertex", i) };
  const { from, many, few, ...links } = linksIn(found.get(linked)!.rows, roles);
  return {
    ...outlineOf(header),
    ...vertices,
    ...links,
    geometry,
    notes: [...notes, ...fanNotes({ many, few })],
    place: (what, i) => (what === "link" ? place(linked, from?.[i] ?? i) : place("vertex", i)),
  };
}
