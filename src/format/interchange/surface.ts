/**
 * What files of surfaces have in common: they are decoded whole, as faces over vertices, edges, paths or points. Here this becomes
 * the one piece of a file, after a look at every coordinate and every link.
 *
 * Names that mean the same in all of them: `normal` (3 numbers), `color` (3 or 4), `uv` (2); with 9, 12 and 6 numbers attributes of
 * faces, corner by corner. `object_id` of vertices says of which object each is, in files that know no objects.
 */
import type { JsonObject } from "../../bytes/json.js";
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { ndarray } from "../../model/elements.js";
import type { Axis, Columns, Geometry, Positions } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import type { Ids, RowGroups } from "../rows/row-source.js";
import type { InputFile } from "./file.js";
import type { FileContent, OpenFileOptions } from "./types.js";

export interface Surface {
  readonly version: string;
  readonly geometry: Extract<Geometry, "mesh" | "graph" | "polylines" | "points">;
  readonly positions: Positions;
  readonly vertexColumns: Columns;
  /** Faces or edges; none of paths and points. */
  readonly links?: Uint32Array | undefined;
  readonly linkColumns?: Columns | undefined;
  /** Object p is the vertices parts[p] up to parts[p + 1]; everything is one object where nothing is said. */
  readonly parts?: Uint32Array | undefined;
  readonly ids?: Ids | undefined;
  readonly objectColumns?: Columns | undefined;
  readonly groups?: RowGroups | undefined;
  readonly axes?: readonly Axis[] | undefined;
  readonly header?: JsonObject | undefined;
  readonly attributes?: JsonObject | undefined;
  readonly notes?: readonly string[] | undefined;
  /** Where in the file a vertex or a link is, for people: "line 7". */
  place(what: "vertex" | "link", index: number): string;
}

/** A type of numbers, as it lies in memory. */
export const numeric = (kind: NumericType["kind"], size: 1 | 2 | 4 | 8): NumericType =>
  ({ kind, size, endian: "little" }) as NumericType;
export const FLOAT32 = numeric("float", 4);
export const FLOAT64 = numeric("float", 8);
export const INT32 = numeric("int", 4);

/** Whether a number from text is one of that type. */
export function fits({ kind, size }: NumericType, value: number): boolean {
  if (kind === "float") return true;
  const high = 2 ** (8 * size - (kind === "int" ? 1 : 0));
  return Number.isInteger(value) && value < high && value >= (kind === "int" ? -high : 0);
}

const NONE: Columns = new Map();
const XYZ: readonly Axis[] = ["x", "y", "z"].map((name) => ({ name, type: "space" }));
const WIDTH = { mesh: 3, graph: 2, polylines: 0, points: 0 } as const;

/** Values as an attribute. */
export function column(
  name: string,
  values: NumericArray | string[],
  channels = 1,
  more: Partial<AttributeInfo> = {},
): Column {
  return { info: { name, dtype: ndarray([values.length], values).dtype, channels, ...more }, values };
}

export const columns = (...list: readonly Column[]): Columns => new Map(list.map((own) => [own.info.name, own]));

export const infos = (own: Columns): AttributeInfo[] => [...own.values()].map(({ info }) => info);

export type SurfaceOutline = Pick<Surface, "version" | "geometry" | "axes" | "header" | "attributes">;

/** What a file says of a surface before anything of it is known. */
export const surfaceOutline = ({ version, geometry, axes = XYZ, header, attributes }: SurfaceOutline) => ({
  version,
  geometry,
  axes,
  linkWidth: WIDTH[geometry],
  header,
  attributes,
});

export function surfaceContent(found: Surface, { where, size }: InputFile, { onBad }: OpenFileOptions): FileContent {
  const surface = withObjects(sound(found, where, onBad));
  const { positions, links, vertexColumns, linkColumns = NONE, objectColumns = NONE, groups } = surface;
  const vertices = positions.length / 3;
  const points = surface.geometry === "points";
  const parts = surface.parts ?? Uint32Array.of(0, vertices);
  const count = points ? 0 : parts.length - 1;
  const ids = surface.ids ?? BigInt64Array.from({ length: count }, (_, i) => BigInt(i));
  return {
    ...surfaceOutline(surface),
    losses: surface.notes,
    vertices,
    objects: count,
    finite: true,
    bounds: vertices === 0 ? undefined : boundsOf(positions),
    index: async () => ({
      schema: {
        vertex: infos(vertexColumns),
        link: infos(linkColumns),
        fragment: [],
        object: infos(objectColumns),
        group: infos(groups?.columns ?? NONE),
      },
      objects: points ? undefined : { ids, starts: Uint32Array.of(0, count) },
      empty: Uint32Array.from({ length: count }, (_, part) => part).filter((part) => parts[part] === parts[part + 1]),
      vertices: Uint32Array.of(vertices),
      bytes: Float64Array.of(size ?? 0),
      groups,
      load: async () => ({ positions, parts, links, linkColumns, vertexColumns, objectColumns }),
    }),
  };
}

function boundsOf(positions: Positions): { readonly min: number[]; readonly max: number[] } {
  const [min, max] = [[...positions.subarray(0, 3)], [...positions.subarray(0, 3)]];
  for (let i = 0; i < positions.length; i += 3)
    for (let k = 0; k < 3; k++) {
      const value = positions[i + k]!;
      if (value < min[k]!) min[k] = value;
      if (value > max[k]!) max[k] = value;
    }
  return { min, max };
}

/** What is said of a coordinate that is none; `place` is where the vertex is. */
export const noVertex = (where: string, place: string, value: number): Corrupt =>
  new Corrupt(`${where}, ${place}: a vertex has the coordinate ${value}`, { where });

/** What is said of a link to a vertex that is not there. */
export function noLink(where: string, place: string, width: number, end: number, vertices: number): Corrupt {
  const what = width === 3 ? "a face" : "an edge";
  return new Corrupt(`${where}, ${place}: ${what} points to vertex ${end | 0}, counted from 0, of ${vertices}`, {
    where,
  });
}

/** Every coordinate is a number and every link leads somewhere; what is not so is an error, or told and left out. */
function sound(surface: Surface, where: string, onBad: OpenFileOptions["onBad"]): Surface {
  const { positions, geometry, links = new Uint32Array(), place } = surface;
  const vertices = positions.length / 3;
  const width = WIDTH[geometry];
  const bad = (problem: Corrupt): void => {
    if (onBad === undefined) throw problem;
    onBad(problem);
  };
  const lost = new Uint8Array(vertices);
  let any = false;
  for (let i = 0; i < positions.length; i++) {
    const value = positions[i]!;
    if (value - value === 0) continue;
    const vertex = Math.floor(i / 3);
    if (lost[vertex] === 0) bad(noVertex(where, place("vertex", vertex), value));
    lost[vertex] = 1;
    any = true;
  }
  const lostLinks = new Uint8Array(links.length / (width || 1));
  for (let i = 0; i < links.length; i++) {
    const end = links[i]!;
    if (lost[end] === 0) continue;
    const link = Math.floor(i / width);
    if (end >= vertices && lostLinks[link] === 0) bad(noLink(where, place("link", link), width, end, vertices));
    lostLinks[link] = 1;
    any = true;
  }
  return any ? without(surface, lost, lostLinks) : surface;
}

/** The surface without these vertices, without these links, and without paths that have lost a vertex. */
function without(surface: Surface, lost: Uint8Array, lostLinks: Uint8Array): Surface {
  const { geometry, links, linkColumns = NONE, vertexColumns } = surface;
  const parts = surface.parts ?? Uint32Array.of(0, lost.length);
  if (geometry === "polylines")
    for (let part = 0; part + 1 < parts.length; part++) {
      const path = lost.subarray(parts[part]!, parts[part + 1]!);
      if (path.includes(1)) path.fill(1);
    }
  const place = new Uint32Array(lost.length + 1);
  for (let i = 0; i < lost.length; i++) place[i + 1] = place[i]! + 1 - lost[i]!;
  const kept = rowsWithout(lost);
  const keptLinks = rowsWithout(lostLinks);
  return {
    ...surface,
    positions: pick(surface.positions, 3, kept),
    vertexColumns: pickRows(vertexColumns, kept),
    links: links && pick(links, WIDTH[geometry], keptLinks).map((end) => place[end]!),
    linkColumns: pickRows(linkColumns, keptLinks),
    parts: surface.parts?.map((start) => place[start]!),
  };
}

/** Objects by their names, or their ids where all of these are numbers. */
export function calledBy(names: readonly string[]): Pick<Surface, "ids" | "objectColumns"> {
  const isId = names.every((name) => /^(0|[1-9]\d{0,18})$/.test(name) && BigInt(name) < 1n << 63n);
  if (isId && new Set(names).size === names.length) return { ids: BigInt64Array.from(names, BigInt) };
  return { objectColumns: names.some((name) => name !== "") ? columns(column("name", [...names])) : NONE };
}

const rowsWithout = (lost: Uint8Array): Uint32Array =>
  Uint32Array.from(lost, (_, i) => i).filter((row) => lost[row] === 0);

/** A surface whose vertices say of which object they are has these objects, where each is in one stretch and has its own links. */
function withObjects(surface: Surface): Surface {
  const own = surface.vertexColumns.get("object_id");
  const { geometry, links = new Uint32Array() } = surface;
  if (own === undefined || surface.parts !== undefined || geometry === "points" || own.info.channels !== 1)
    return surface;
  const stretches = new Stretches();
  if (own.values.length === 0 || !stretches.take(own.values)) return surface;
  if (stretches.partsOf(links, WIDTH[geometry]) === undefined) return surface;
  const vertexColumns = new Map(surface.vertexColumns);
  vertexColumns.delete("object_id");
  return { ...surface, vertexColumns, ...stretches.objects() };
}

/** Objects by the ids of their vertices, as these come: each is one stretch. */
export class Stretches {
  readonly #starts: number[] = [];
  readonly #ids = new Set<bigint>();
  #last: string | number | bigint | undefined;
  #count = 0;

  /** The ids of the vertices that come next; false where these are no objects. */
  take(values: Column["values"]): boolean {
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (value !== this.#last && !this.#enter(value)) return false;
      this.#count++;
    }
    return true;
  }

  #enter(value: string | number | bigint): boolean {
    const whole = typeof value === "bigint" || (Number.isInteger(value) && Math.abs(value as number) < 2 ** 63);
    const id = whole ? BigInt(value) : undefined;
    if (id === undefined || this.#ids.has(id)) return false;
    this.#ids.add(id);
    this.#starts.push(this.#count);
    this.#last = value;
    return true;
  }

  /** The object of each link; undefined where one leads from one to another. */
  partsOf(links: Uint32Array, width: number): Uint32Array | undefined {
    const parts = new Uint32Array(links.length / width);
    let [part, from, to] = [0, 0, 0];
    for (let i = 0; i < links.length; i++) {
      const end = links[i]!;
      if (end < from || end >= to) {
        if (i % width > 0) return undefined;
        part = lastUpTo(this.#starts, end);
        [from, to] = [this.#starts[part]!, this.#starts[part + 1] ?? this.#count];
      }
      if (i % width === 0) parts[i / width] = part;
    }
    return parts;
  }

  objects(): { readonly parts: Uint32Array; readonly ids: Ids } {
    const ids = [...this.#ids];
    const signed = ids.some((id) => id < 0n) || ids.every((id) => id < 1n << 63n);
    return {
      parts: Uint32Array.from([...this.#starts, this.#count]),
      ids: signed ? BigInt64Array.from(ids) : BigUint64Array.from(ids),
    };
  }
}

/** The place of the last of these ascending numbers that is not above one. */
export function lastUpTo(starts: ArrayLike<number>, value: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}
