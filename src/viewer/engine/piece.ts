/** A tile or a batch as it is drawn: its places, which of them are joined, and by what they are coloured. */
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource, ObjectSource, Parts, Tile } from "../../model/source.js";
import type { Batch } from "../../model/vectors.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import { type ColouredDomain, coloured, type Legend } from "../../scene/colouring.js";
import { attributesOf, type Dress as Colours, radiiOf } from "../../scene/dress.js";
import { outlined } from "../../scene/outline.js";
import { type Shape, shapeOf } from "../../scene/shape.js";

/** Something that is drawn at once. */
export interface Piece extends Shape {
  readonly key: string;
  readonly level: number;
  /** The chunk that it is, where it is one, and which of its parts each vertex is of: who owns them may not be known yet. */
  readonly chunk: number | undefined;
  readonly parts: Uint32Array;
  /** The chunk of each vertex, where some are of others: those at which its links end. */
  readonly places: Int32Array | undefined;
  /** A number for a palette, or (`direct`) a colour, per vertex. */
  readonly values: Float32Array;
  readonly direct: boolean;
  /** In units of the data, per vertex, where vertices have one. */
  readonly radius: Float32Array | undefined;
  /** Of vertices that were put in between, which are its last ones: the vertex that each has its attributes of. */
  readonly corners?: Uint32Array | undefined;
  readonly bytes: number;
}

/** How pieces look, and what they have said of it so far. */
export interface Dress extends Colours {
  readonly legend: Legend;
}

/** The attributes that vertices, or objects, must have for it, as sources name them. */
export const columnsOf = (dress: Dress, domain: ColouredDomain): string[] =>
  attributesOf(dress).flatMap((name) => (name.startsWith(`${domain}.`) ? [name.slice(domain.length + 1)] : []));

/** Where its first vertex is: an origin for data of which nobody said where they lie. */
export const firstPlace = ({ positions }: Batch, axes: readonly number[]): Vector =>
  [0, 1, 2].map((k) => positions[axes[k] ?? -1] || 0) as unknown as Vector; // also of what is no number

export function pieceOf(
  key: string,
  given: Batch,
  axes: readonly number[],
  origin: Vector,
  { colouring, legend, radius: ratio, outline }: Dress,
  chunk?: number,
  places?: Int32Array,
): Piece {
  const batch = outlined(given, axes, outline);
  const shape = shapeOf(batch, axes, origin);
  const parts = new Uint32Array(shape.objects.length);
  for (let part = 0; part + 1 < batch.parts.length; part++)
    parts.fill(part, batch.parts[part]!, batch.parts[part + 1]!);
  const { values, direct } = coloured(batch, shape, colouring, legend);
  const radius = radiiOf(batch, ratio);
  const arrays = [shape.positions, shape.index, shape.objects, parts, values, radius, places];
  const bytes = arrays.reduce((sum, array) => sum + (array?.byteLength ?? 0), 8 * shape.ids.length);
  return { ...shape, key, level: batch.level, chunk, parts, places, values, direct, radius, bytes };
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
const needsObjects = (dress: Dress): boolean =>
  dress.colouring.by === "object" || columnsOf(dress, "object").length > 0;

/** A tile as a batch; whose its parts are is asked only where the colours need it. */
export async function batchOf(source: LevelSource, tile: Tile, dress: Dress, options: ReadOptions): Promise<Batch> {
  const { level, geometry, dims } = source;
  const { positions, parts, vertexColumns, chunk } = tile;
  const base = { level, geometry, dims, positions, parts, vertexColumns, links: undefined, fragments: undefined };
  const count = parts.length - 1;
  const asked = { chunk: new Int32Array(count).fill(chunk), part: Uint32Array.from({ length: count }, (_, i) => i) };
  const objects = needsObjects(dress) ? source.objects : undefined;
  return { ...base, ...(await ownersOf(objects, asked, columnsOf(dress, "object"), options)), chunk: undefined };
}

/** The object of each of these parts, as a row of `ids`; of several the first, −1 where nobody is known to own it. */
export async function ownersOf(
  objects: ObjectSource | undefined,
  asked: Parts,
  names: readonly string[],
  options: ReadOptions,
): Promise<Pick<Batch, "objects" | "ids" | "objectColumns">> {
  const count = asked.part.length;
  if (objects === undefined)
    return { objects: new Int32Array(count).fill(-1), ids: new BigInt64Array(), objectColumns: new Map() };
  const owners = await objects.owners(asked, options);
  const table = Uint32Array.from(new Set(owners.rows)).sort();
  const place = new Map(Array.from(table, (row, i) => [row, i]));
  return {
    objects: Int32Array.from({ length: count }, (_, part) => {
      const from = owners.offsets[part]!;
      return from < owners.offsets[part + 1]! ? place.get(owners.rows[from]!)! : -1;
    }),
    ids: await objects.ids(table, options),
    objectColumns: names.length === 0 ? new Map() : await objects.columns(names, table, options),
  };
}
