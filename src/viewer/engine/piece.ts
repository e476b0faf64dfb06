/** A tile or a batch as it is drawn: its places, which of them are joined, and by what they are coloured. */
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource, Tile } from "../../model/source.js";
import type { Batch } from "../../model/vectors.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import { attributesFor, type Colouring, coloured, type Legend } from "../../scene/colouring.js";
import { type Shape, shapeOf } from "../../scene/shape.js";

/** Something that is drawn at once. */
export interface Piece extends Shape {
  readonly key: string;
  readonly level: number;
  /** The chunk that it is, where it is one, and which of its parts each vertex is of: who owns them may not be known yet. */
  readonly chunk: number | undefined;
  readonly parts: Uint32Array;
  /** A number for a palette, or (`direct`) a colour, per vertex. */
  readonly values: Float32Array;
  readonly direct: boolean;
  /** In units of the data, per vertex, where vertices have one. */
  readonly radius: Float32Array | undefined;
  readonly bytes: number;
}

/** How pieces look. */
export interface Dress {
  readonly colouring: Colouring;
  readonly legend: Legend;
  /** Whether vertices have a radius that is wanted. */
  readonly radius: boolean;
}

/** The attributes that must be read for it, as `select` names them. */
export const attributesOf = ({ colouring, radius }: Dress): string[] => [
  ...new Set([...attributesFor(colouring), ...(radius ? ["vertex.radius"] : [])]),
];

/** Those of them that vertices have, as sources name them. */
export const vertexColumnsOf = (dress: Dress): string[] =>
  attributesOf(dress).flatMap((name) => (name.startsWith("vertex.") ? [name.slice(7)] : []));

/** Where its first vertex is: an origin for data of which nobody said where they lie. */
export const firstPlace = ({ positions }: Batch, axes: readonly number[]): Vector =>
  [0, 1, 2].map((k) => positions[axes[k] ?? -1] || 0) as unknown as Vector; // also of what is no number

export function pieceOf(
  key: string,
  batch: Batch,
  axes: readonly number[],
  origin: Vector,
  { colouring, legend, radius: wanted }: Dress,
  chunk?: number,
): Piece {
  const shape = shapeOf(batch, axes, origin);
  const parts = new Uint32Array(shape.objects.length);
  for (let part = 0; part + 1 < batch.parts.length; part++)
    parts.fill(part, batch.parts[part]!, batch.parts[part + 1]!);
  const { values, direct } = coloured(batch, shape, colouring, legend);
  const radii = wanted ? batch.vertexColumns.get("radius")?.values : undefined;
  const radius = radii === undefined ? undefined : Float32Array.from(radii as ArrayLike<number>);
  const arrays = [shape.positions, shape.index, shape.objects, parts, values, ...(radius ? [radius] : [])];
  const bytes = arrays.reduce((sum, array) => sum + array.byteLength, 8 * shape.ids.length);
  return { ...shape, key, level: batch.level, chunk, parts, values, direct, radius, bytes };
}

/** Bounds that hold a piece as well. */
export function grown(bounds: Bounds | undefined, { positions, origin }: Piece): Bounds {
  const [min, max] = [[...(bounds?.min ?? [])], [...(bounds?.max ?? [])]];
  for (let at = 0; at < positions.length; at++) {
    const [axis, value] = [at % 3, positions[at]! + origin[at % 3]!];
    if (!(value >= min[axis]!)) min[axis] = value;
    if (!(value <= max[axis]!)) max[axis] = value;
  }
  return min.length === 3 ? ({ min, max } as unknown as Bounds) : { min: [0, 0, 0], max: [1, 1, 1] };
}

/** Whether it must be known which objects the vertices are of. */
const needsObjects = (colouring: Colouring): boolean =>
  colouring.by === "object" || (colouring.by === "attribute" && colouring.domain === "object");

/** A tile as a batch; whose its parts are is asked only where the colours need it. */
export async function batchOf(
  source: LevelSource,
  tile: Tile,
  { colouring }: Dress,
  options: ReadOptions,
): Promise<Batch> {
  const { level, geometry, dims } = source;
  const { positions, parts, vertexColumns, chunk } = tile;
  const base = { level, geometry, dims, positions, parts, vertexColumns, links: undefined, fragments: undefined };
  const owned =
    needsObjects(colouring) && source.objects !== undefined
      ? await ownersOf(source, chunk, parts.length - 1, colouring, options)
      : { objects: new Int32Array(parts.length - 1).fill(-1), ids: new BigInt64Array(), objectColumns: new Map() };
  return { ...base, ...owned, chunk: undefined };
}

/** The object of each part of a chunk, as a row of `ids`; of several the first. */
async function ownersOf(
  source: LevelSource,
  chunk: number,
  count: number,
  colouring: Colouring,
  options: ReadOptions,
): Promise<Pick<Batch, "objects" | "ids" | "objectColumns">> {
  const asked = { chunk: new Int32Array(count).fill(chunk), part: Uint32Array.from({ length: count }, (_, i) => i) };
  const owners = await source.objects!.owners(asked, options);
  const table = Uint32Array.from(new Set(owners.rows)).sort();
  const place = new Map(Array.from(table, (row, i) => [row, i]));
  const objects = Int32Array.from({ length: count }, (_, part) => {
    const from = owners.offsets[part]!;
    return from < owners.offsets[part + 1]! ? place.get(owners.rows[from]!)! : -1;
  });
  const names = colouring.by === "attribute" ? [colouring.info.name] : [];
  return {
    objects,
    ids: await source.objects!.ids(table, options),
    objectColumns: names.length === 0 ? new Map() : await source.objects!.columns(names, table, options),
  };
}
