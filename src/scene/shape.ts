/**
 * What of a batch can be drawn, whatever draws it: places in three dimensions, and which of them are joined.
 *
 * | geometry                                | joined                                                     |
 * |-----------------------------------------|------------------------------------------------------------|
 * | points                                  | nothing: each stands for itself                            |
 * | lines, polylines, streamlines           | neighbours in a part                                       |
 * | graph, skeletons                        | the ends of links; a vertex without one with itself: a dot |
 * | mesh                                    | three by three; faces of four are two                      |
 *
 * Places are 32-bit numbers relative to an origin of 64 bits: a neuron of 10 µm that lies 100 mm from the origin of its space
 * keeps its form. Axes that are not of space are left out; a plane lies at z = 0.
 */
import type { Axis, Batch, Geometry, VectorDataset } from "../model/vectors.js";
import type { Bounds, Vector } from "./camera.js";
import type { Outline } from "./outline.js";

/** How the places are joined. */
export type Form = "points" | "lines" | "triangles";

export interface Shape {
  readonly form: Form;
  readonly origin: Vector;
  /** Three per vertex, relative to the origin. */
  readonly positions: Float32Array;
  /** Vertices of each line (two) or triangle (three); empty of points. */
  readonly index: Uint32Array;
  /** The row of each vertex's object in `ids`, or −1. */
  readonly objects: Int32Array;
  readonly ids: BigInt64Array | BigUint64Array;
}

/** What a geometry is drawn as. */
export function formOf(geometry: Geometry): Form {
  return geometry === "points" ? "points" : geometry === "mesh" ? "triangles" : "lines";
}

/** Up to three axes of space, by their numbers; all, where none says that it is of space. */
export function axesOfSpace(axes: readonly Axis[]): number[] {
  const space = axes.flatMap(({ type }, axis) => (type === "space" ? [axis] : []));
  return (space.length > 0 ? space : axes.map((_, axis) => axis)).slice(0, 3);
}

/** The box of a dataset in the space that is drawn; undefined where it has none. */
export function boundsIn(
  { min, max }: { readonly min: readonly number[]; readonly max: readonly number[] },
  axes: readonly number[],
): Bounds | undefined {
  const pick = (corner: readonly number[]): Vector => [0, 1, 2].map((i) => corner[axes[i] ?? -1] ?? 0) as never;
  const box = { min: pick(min), max: pick(max) };
  return [...box.min, ...box.max].every(Number.isFinite) && box.min.every((low, i) => low <= box.max[i]!)
    ? box
    : undefined;
}

/** The space in which a dataset is drawn: which of its axes are x, y and z, what it fills, and as what. */
export function sceneOf(
  about: Pick<VectorDataset, "axes" | "bounds" | "geometries">,
  outline: Outline | undefined,
): {
  readonly axes: readonly number[];
  readonly bounds: Bounds;
  readonly form: Form;
} {
  const axes = axesOfSpace(about.axes);
  const bounds = boundsIn(about.bounds, axes) ?? { min: [0, 0, 0], max: [1, 1, 1] };
  return { axes, bounds, form: outline === undefined ? formOf(about.geometries[0] ?? "points") : "lines" };
}

export function shapeOf(batch: Batch, axes: readonly number[], origin: Vector): Shape {
  const { positions, dims, parts, objects: rows, ids, geometry } = batch;
  const count = positions.length / dims;
  const places = new Float32Array(3 * count);
  for (let k = 0; k < 3; k++) {
    const axis = axes[k];
    if (axis === undefined) continue;
    const from = origin[k]!;
    for (let v = 0; v < count; v++) places[3 * v + k] = positions[v * dims + axis]! - from;
  }
  const objects = new Int32Array(count).fill(-1);
  for (let part = 0; part < rows.length; part++) objects.fill(rows[part]!, parts[part]!, parts[part + 1]!);
  const form = formOf(geometry);
  return { form, origin, positions: places, index: indexOf(batch, form, count), objects, ids };
}

function indexOf(batch: Batch, form: Form, count: number): Uint32Array {
  const { links, parts, geometry } = batch;
  if (form === "points") return new Uint32Array();
  const isLinked = links !== undefined && links.width > 1;
  if (form === "triangles") return isLinked ? triangles(links) : new Uint32Array();
  const lines = isLinked ? segments(links) : steps(parts);
  return geometry === "graph" || geometry === "skeletons" ? withDots(lines, count) : lines;
}

/** Lines from each vertex of a part to the next. */
function steps(parts: Uint32Array): Uint32Array {
  let count = 0;
  for (let part = 0; part + 1 < parts.length; part++) count += Math.max(0, parts[part + 1]! - parts[part]! - 1);
  const index = new Uint32Array(2 * count);
  let at = 0;
  for (let part = 0; part + 1 < parts.length; part++)
    for (let v = parts[part]! + 1; v < parts[part + 1]!; v++) {
      index[at++] = v - 1;
      index[at++] = v;
    }
  return index;
}

/** Links of two ends are lines as they are; of more, lines from one to the next. */
function segments({ width, ends }: NonNullable<Batch["links"]>): Uint32Array {
  if (width === 2) return ends;
  const index = new Uint32Array((ends.length / width) * (width - 1) * 2);
  let at = 0;
  for (let link = 0; link < ends.length; link += width)
    for (let k = 1; k < width; k++) {
      index[at++] = ends[link + k - 1]!;
      index[at++] = ends[link + k]!;
    }
  return index;
}

/** With a line of no length at each vertex that no line ends at. */
function withDots(index: Uint32Array, count: number): Uint32Array {
  const alone = new Uint8Array(count).fill(1);
  for (const end of index) alone[end] = 0;
  const dots: number[] = [];
  for (let v = alone.indexOf(1); v >= 0; v = alone.indexOf(1, v + 1)) dots.push(v, v);
  if (dots.length === 0) return index;
  const all = new Uint32Array(index.length + dots.length);
  all.set(index);
  all.set(dots, index.length);
  return all;
}

/** Faces of three as they are; of more, as fans. */
function triangles({ width, ends }: NonNullable<Batch["links"]>): Uint32Array {
  if (width <= 3) return width === 3 ? ends : new Uint32Array();
  const index = new Uint32Array((ends.length / width) * (width - 2) * 3);
  let at = 0;
  for (let face = 0; face < ends.length; face += width)
    for (let k = 2; k < width; k++) {
      index[at++] = ends[face]!;
      index[at++] = ends[face + k - 1]!;
      index[at++] = ends[face + k]!;
    }
  return index;
}

/** A direction per vertex: of triangles the mean normal of those around it, of lines the mean direction; of length one, or zero. */
export function directionsOf({ form, positions, index }: Pick<Shape, "form" | "positions" | "index">): Float32Array {
  const out = new Float32Array(positions.length);
  const add = (vertex: number, x: number, y: number, z: number): void => {
    // Neighbours on a path point the same way; ends of links may point against each other, and do not cancel out.
    const turned = out[3 * vertex]! * x + out[3 * vertex + 1]! * y + out[3 * vertex + 2]! * z < 0 && form === "lines";
    const sign = turned ? -1 : 1;
    out[3 * vertex]! += sign * x;
    out[3 * vertex + 1]! += sign * y;
    out[3 * vertex + 2]! += sign * z;
  };
  const step = form === "triangles" ? 3 : 2;
  for (let at = 0; at + step <= index.length; at += step) {
    const [a, b, c] = [3 * index[at]!, 3 * index[at + 1]!, 3 * index[at + step - 1]!];
    const [ux, uy, uz] = [
      positions[b]! - positions[a]!,
      positions[b + 1]! - positions[a + 1]!,
      positions[b + 2]! - positions[a + 2]!,
    ];
    if (step === 2) {
      add(a / 3, ux, uy, uz);
      add(b / 3, ux, uy, uz);
      continue;
    }
    const [vx, vy, vz] = [
      positions[c]! - positions[a]!,
      positions[c + 1]! - positions[a + 1]!,
      positions[c + 2]! - positions[a + 2]!,
    ];
    const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const vertex of [a, b, c]) add(vertex / 3, nx, ny, nz);
  }
  for (let at = 0; at < out.length; at += 3) {
    const length = Math.hypot(out[at]!, out[at + 1]!, out[at + 2]!);
    if (length > 0) for (let k = 0; k < 3; k++) out[at + k]! /= length;
  }
  return out;
}
