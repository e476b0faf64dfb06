/** What is known of the thing under the pointer: its object with all attributes, and those of the vertex that was hit. */
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, VectorDataset } from "../../model/vectors.js";
import type { Vector } from "../../scene/camera.js";
import { outlineOf } from "../../scene/outline.js";
import { unitText } from "../../scene/scale-bar.js";
import { axesOfSpace } from "../../scene/shape.js";
import type { Hit } from "./pick.js";

/** What was under the pointer. */
export interface Picked {
  readonly level: number;
  /** Undefined where no object owns it. */
  readonly id: bigint | undefined;
  /** That of the vertex, and of a face where the ray meets it. */
  readonly position: Vector;
  /** Of the object, and of the vertex that is next to the place; as text, by name. */
  readonly attributes: ReadonlyMap<string, string>;
}

export async function pickedOf(
  dataset: VectorDataset,
  { piece, vertex, place }: Hit,
  options: ReadOptions = {},
): Promise<Picked> {
  const at = [0, 1, 2].map((k) => piece.positions[3 * vertex + k]! + piece.origin[k]!) as unknown as Vector;
  const position = piece.form === "triangles" ? place : at;
  const source = await dataset.source(piece.level, options);
  const attributes = new Map<string, string>();
  if (piece.chunk !== undefined && (piece.places?.[vertex] ?? piece.chunk) === piece.chunk) {
    const { vertex: infos } = await source.schema(options);
    const want = { positions: false, vertex: infos.map(({ name }) => name), fragment: [] };
    for await (const { vertexColumns, parts } of source.tiles([piece.chunk], want, options))
      tell(vertexColumns, outlineOf(dataset) === undefined ? vertex : parts[piece.parts[vertex]!]!, attributes);
  } else tell(await columnsAt(dataset, piece.level, at, options), 0, attributes);
  const row = await rowOf(source.objects, piece, vertex, options);
  if (row === undefined || source.objects === undefined)
    return { level: piece.level, id: undefined, position, attributes };
  const rows = Uint32Array.of(row);
  const { object } = await source.schema(options);
  tell(
    await source.objects.columns(
      object.map(({ name }) => name),
      rows,
      options,
    ),
    0,
    attributes,
  );
  const [id] = await source.objects.ids(rows, options);
  return { level: piece.level, id, position, attributes };
}

async function rowOf(
  objects: Awaited<ReturnType<VectorDataset["source"]>>["objects"],
  { objects: rows, ids, parts, chunk }: Hit["piece"],
  vertex: number,
  options: ReadOptions,
): Promise<number | undefined> {
  if (objects === undefined) return undefined;
  if (rows[vertex]! >= 0) {
    const [row] = await objects.rowsOf([ids[rows[vertex]!]!], options);
    return row === undefined || row < 0 ? undefined : row;
  }
  if (chunk === undefined) return undefined;
  const owners = await objects.owners({ chunk: Int32Array.of(chunk), part: Uint32Array.of(parts[vertex]!) }, options);
  return owners.rows[0];
}

/** Of what was read as a whole: the attributes of the vertex that is there. */
async function columnsAt(dataset: VectorDataset, level: number, place: Vector, options: ReadOptions): Promise<Columns> {
  const axes = axesOfSpace(dataset.axes);
  const { vertex } = await dataset.schema(level, options);
  if (vertex.length === 0 || axes.length !== dataset.axes.length) return new Map();
  const near = Math.max(...place.map(Math.abs), 1) * 2 ** -20; // places were rounded to 32 bits
  const box = [-near, near].flatMap((off) => axes.map((_, k) => place[axes.indexOf(k)]! + off));
  const attributes = vertex.map(({ name }) => `vertex.${name}`);
  const query = { level, box, clip: "vertices", limit: 1 } as const;
  for await (const { vertexColumns } of dataset.select(query).batches({ ...options, attributes })) return vertexColumns;
  return new Map();
}

/** Writes a row of columns down, for people. */
export function tell(columns: Columns, row: number, out: Map<string, string>): void {
  for (const [name, { info, values }] of columns) {
    const own = Array.from({ length: Math.min(info.channels, 16) }, (_, k) => values[row * info.channels + k]);
    const texts = own.map((value) => info.categories?.[Number(value)] ?? String(value));
    out.set(name, `${texts.join(", ")}${info.unit === undefined ? "" : ` ${unitText(info.unit)}`}`);
  }
}
