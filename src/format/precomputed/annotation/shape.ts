/**
 * Annotations as geometry.
 *
 * | annotations  | geometry    | each is                                                             |
 * |--------------|-------------|---------------------------------------------------------------------|
 * | points       | points      | a point that stands for itself; its id is the attribute `id`        |
 * | lines        | lines       | an object of two vertices                                           |
 * | boxes        | lines       | an object: the line from one corner to the other                    |
 * | ellipsoids   | points      | an object: its centre, with the attribute `radii`                   |
 * | polylines    | polylines   | an object                                                           |
 */
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Geometry, Schema } from "../../../model/vectors.js";
import { pick } from "../../../query/columns.js";
import type { Piece } from "../../rows/row-source.js";
import { type AnnotationInfo, type AnnotationProperty, channelsOf } from "./info.js";
import { dtypeOf } from "./layout.js";
import type { Annotations } from "./list.js";

export interface Shape {
  readonly geometry: Geometry;
  readonly schema: Schema;
  /** Vertices of those annotations that are named by `rows`, or of all. */
  piece(annotations: Annotations, rows?: Uint32Array): Piece;
}

export function shapeOf({ type, dimensions, properties }: AnnotationInfo): Shape {
  const rank = dimensions.length;
  const own = properties.map(infoOf);
  const isPoint = type === "point";
  const extra: AttributeInfo | undefined = isPoint
    ? { name: unused("id", own), dtype: { kind: "uint", size: 8, endian: "little" }, channels: 1 }
    : type === "ellipsoid"
      ? { name: unused("radii", own), dtype: { kind: "float", size: 4, endian: "little" }, channels: rank }
      : undefined;
  const attributes = extra === undefined ? own : [...own, extra];
  const [vertex, object] = isPoint ? [attributes, []] : [[], attributes];

  function columns({ ids, points, properties }: Annotations): Map<string, Column> {
    const found = own.map((info): [string, Column] => [info.name, { info, values: properties.get(info.name)! }]);
    if (isPoint) found.push([extra!.name, { info: extra!, values: ids }]);
    else if (extra !== undefined) found.push([extra.name, { info: extra, values: every(points, rank, 1) }]);
    return new Map(found);
  }

  return {
    geometry: type === "polyline" ? "polylines" : isPoint || type === "ellipsoid" ? "points" : "lines",
    schema: { vertex, object, link: [], fragment: [], group: [] },
    piece(all, rows) {
      const annotations = rows === undefined ? all : chosen(all, rows, rank);
      const count = annotations.ids.length;
      const known = columns(annotations);
      return {
        positions: type === "ellipsoid" ? every(annotations.points, rank, 0) : annotations.points,
        parts: type === "ellipsoid" ? Uint32Array.from({ length: count + 1 }, (_, i) => i) : annotations.offsets,
        vertexColumns: isPoint ? known : new Map(),
        objectColumns: isPoint ? new Map() : known,
      };
    },
  };
}

const infoOf = ({ id, type, description, enum: named }: AnnotationProperty): AttributeInfo => {
  const isCodes = named?.values.every((value, i) => value === i) === true; // else the labels are told, not applied
  const values = isCodes ? undefined : named?.values.map((value, i) => `${value} = ${named.labels[i]}`).join(", ");
  const text = [description, values].filter((part) => part !== undefined).join("; ");
  return {
    name: id,
    dtype: dtypeOf(type),
    channels: channelsOf(type),
    ...(type === "rgb" || type === "rgba"
      ? { channelNames: ["red", "green", "blue", "alpha"].slice(0, channelsOf(type)) }
      : {}),
    ...(isCodes && { categories: named!.labels }),
    ...(text !== "" && { description: text }),
  };
};

/** A name of ours that no property has. */
export function unused(name: string, properties: readonly AttributeInfo[]): string {
  return properties.some((own) => own.name === name) ? unused(`${name}_`, properties) : name;
}

/** Of pairs of points the first ones, or the second ones. */
function every(points: Float32Array, rank: number, which: 0 | 1): Float32Array {
  const out = new Float32Array(points.length / 2);
  for (let i = 0, at = which * rank; i < out.length; i += rank, at += 2 * rank)
    for (let axis = 0; axis < rank; axis++) out[i + axis] = points[at + axis]!;
  return out;
}

function chosen({ ids, offsets, points, properties }: Annotations, rows: Uint32Array, rank: number): Annotations {
  const sizes = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) sizes[i + 1] = sizes[i]! + offsets[rows[i]! + 1]! - offsets[rows[i]!]!;
  const kept = new Float32Array(sizes[rows.length]! * rank);
  for (let i = 0; i < rows.length; i++)
    kept.set(points.subarray(offsets[rows[i]!]! * rank, offsets[rows[i]! + 1]! * rank), sizes[i]! * rank);
  return {
    ids: BigUint64Array.from(rows, (row) => ids[row]!),
    offsets: sizes,
    points: kept,
    properties: new Map(
      [...properties].map(([id, values]) => [id, pick(values, values.length / ids.length || 0, rows)]),
    ),
  };
}
