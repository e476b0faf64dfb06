/**
 * Annotations that take more room than their vertices: they are drawn as what they are.
 *
 * | annotations | given as                                 | drawn as                               |
 * |-------------|------------------------------------------|----------------------------------------|
 * | boxes       | the line from one corner to the other    | their edges                            |
 * | ellipsoids  | their centres, and the attribute `radii` | the ellipses in the planes of the axes |
 *
 * The answer is a batch of the same parts and objects, with links: colours, filters and clicks need to know nothing of it.
 */
import type { Batch, Columns, VectorDataset } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";

/** What the objects of a dataset are, where that is more than their vertices. */
export type Outline = "boxes" | "ellipsoids";

export function outlineOf({
  attributes: { annotation_type: type },
  geometries: [geometry],
}: Pick<VectorDataset, "attributes" | "geometries">): Outline | undefined {
  if (type === "axis_aligned_bounding_box" && geometry === "lines") return "boxes";
  return type === "ellipsoid" && geometry === "points" ? "ellipsoids" : undefined;
}

/** The attribute of objects that must be read for it. */
export const RADII = "radii";

/** Pairs of corners of a box that are joined; bit k of a corner says whether it is the high one along axis k. */
export const boxEdges = (axes: number): number[] =>
  numbers(axes).flatMap((k) =>
    numbers(1 << axes).flatMap((corner) => ((corner >> k) & 1 ? [] : [corner, corner | (1 << k)])),
  );

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Places from −1, the low end, to 1, the high end, along each axis, and which of them are joined. */
interface Template {
  readonly places: readonly (readonly number[])[];
  readonly ends: readonly number[];
}

const boxTemplate = (axes: number): Template => ({
  places: numbers(1 << axes).map((corner) => numbers(axes).map((k) => ((corner >> k) & 1 ? 1 : -1))),
  ends: boxEdges(axes),
});

const STEPS = 24; // of an ellipse

function ellipsoidTemplate(axes: number): Template {
  const planes = numbers(axes).flatMap((i) => numbers(i).map((j) => [j, i] as const));
  const places = planes.flatMap(([i, j]) =>
    numbers(STEPS).map((step) => {
      const angle = (2 * Math.PI * step) / STEPS;
      return numbers(axes).map((k) => (k === i ? Math.cos(angle) : k === j ? Math.sin(angle) : 0));
    }),
  );
  const ends = planes.flatMap((_, p) =>
    numbers(STEPS).flatMap((step) => [step, (step + 1) % STEPS].map((at) => p * STEPS + at)),
  );
  return { places, ends };
}

/** A batch as it is drawn; `axes` are those of space. A box of which only one corner is here is left out. */
export function outlined(batch: Batch, axes: readonly number[], outline: Outline | undefined): Batch {
  if (outline === undefined) return batch;
  const { positions, dims, parts, objects, objectColumns, vertexColumns } = batch;
  const isBox = outline === "boxes";
  const { places, ends } = (isBox ? boxTemplate : ellipsoidTemplate)(axes.length);
  const first: number[] = []; // the vertex that each stands for
  const starts = new Uint32Array(parts.length);
  for (let part = 0; part + 1 < parts.length; part++) {
    const [from, to] = [parts[part]!, parts[part + 1]!];
    if (!isBox) for (let v = from; v < to; v++) first.push(v);
    else if (to - from === 2) first.push(from);
    starts[part + 1] = first.length * places.length;
  }
  const rows = new Uint32Array(first.length * places.length);
  const out = new Float64Array(rows.length * dims);
  const links = new Uint32Array(first.length * ends.length);
  const radius = isBox ? undefined : radiiOf(objectColumns, dims);
  const owners = new Int32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++) owners.fill(objects[part]!, parts[part]!, parts[part + 1]!);
  for (const [i, vertex] of first.entries()) {
    const base = i * places.length;
    for (const [p, place] of places.entries()) {
      const to = (base + p) * dims;
      rows[base + p] = vertex;
      for (let axis = 0; axis < dims; axis++) out[to + axis] = positions[vertex * dims + axis]!;
      for (const [k, axis] of axes.entries()) {
        const own = positions[vertex * dims + axis]!;
        if (!isBox) out[to + axis] = own + place[k]! * (radius?.(owners[vertex]!, axis) ?? 0);
        else if (place[k] === 1) out[to + axis] = positions[(vertex + 1) * dims + axis]!;
      }
    }
    for (const [e, end] of ends.entries()) links[i * ends.length + e] = base + end;
  }
  return {
    ...batch,
    geometry: "graph",
    positions: out,
    parts: starts,
    links: { width: 2, ends: links, columns: new Map() },
    fragments: undefined,
    vertexColumns: pickRows(vertexColumns, rows),
  };
}

/** Along an axis, of the object in a row; 0 where it has none. */
function radiiOf(columns: Columns, dims: number): ((row: number, axis: number) => number) | undefined {
  const column = columns.get(RADII);
  if (column?.info.channels !== dims) return undefined;
  return (row, axis) => Number(column.values[row * dims + axis]) || 0;
}
