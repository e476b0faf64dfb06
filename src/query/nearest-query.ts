/**
 * The k nearest of what matches. Without a region to look in, a sphere around the place is asked, and one twice as large, until k
 * are inside: then nobody outside of it is nearer. Points count one by one; of everything else an object is as near as the
 * nearest of its vertices, segments and faces. Of equals the one with the lower row comes first.
 */
import type { SelectOptions } from "../model/vectors.js";
import { matching } from "./answer.js";
import { type Assembled, isPath } from "./assemble.js";
import { subset } from "./cut.js";
import { masksOf } from "./masks.js";
import { distance2ToSegment, distance2ToTriangle } from "./nearest.js";
import { Region } from "./region.js";
import type { Resolved } from "./resolve.js";

export async function* nearest(question: Resolved, options: SelectOptions): AsyncGenerator<Assembled> {
  const { source } = question;
  const { point, k } = question.nearest!;
  if (question.region !== undefined) {
    yield* best(question, options, await ranked(question, options));
    return;
  }
  const furthest = await reach(question, options);
  for (let radius = furthest / 64; ; radius *= 2) {
    const last = !(radius < furthest);
    const region = last ? undefined : Region.of({ sphere: { center: point, radius } }, source.dims);
    const found = await ranked({ ...question, region }, options);
    const inside = last ? found.length : found.filter(({ distance2 }) => distance2 <= radius * radius).length;
    if (inside >= k || last) {
      yield* best({ ...question, region }, options, found);
      return;
    }
  }
}

interface Ranked {
  readonly distance2: number;
  /** The object's row, or the number of the vertex among all that match. */
  readonly row: number;
}

/** How far everything is at most. */
async function reach({ source, nearest: asked }: Resolved, options: SelectOptions): Promise<number> {
  const table = await source.chunks(options);
  const [min, max] = [new Float64Array(source.dims), new Float64Array(source.dims)];
  let furthest2 = 0;
  for (let chunk = 0; chunk < table.count; chunk++) {
    table.box(chunk, min, max);
    let sum = 0;
    for (let axis = 0; axis < source.dims; axis++) {
      const at = asked!.point[axis]!;
      sum += Math.max((min[axis]! - at) ** 2, (max[axis]! - at) ** 2);
    }
    furthest2 = Math.max(furthest2, sum);
  }
  return Math.sqrt(furthest2);
}

const byPoints = ({ source }: Resolved): boolean => source.geometry === "points";

/** The k nearest, nearest first. */
async function ranked(question: Resolved, options: SelectOptions): Promise<Ranked[]> {
  const { point, k } = question.nearest!;
  const all: Ranked[] = [];
  let seen = 0;
  for await (const batch of matching({ ...question, clip: byPoints(question) ? "vertices" : question.clip }, options)) {
    const { positions, dims } = batch;
    if (byPoints(question)) {
      for (let v = 0; v * dims < positions.length; v++)
        all.push({ distance2: distance2To(point, positions, dims, v), row: seen + v });
      seen += positions.length / dims;
    } else {
      for (const [place, distance2] of objectDistances(batch, point, question).entries())
        all.push({ distance2, row: batch.rows[place]! });
    }
    if (all.length > 4 * k + 1024) keepBest(all, k);
  }
  keepBest(all, k);
  return all;
}

function keepBest(all: Ranked[], k: number): void {
  all.sort((a, b) => a.distance2 - b.distance2 || a.row - b.row);
  all.length = Math.min(all.length, k);
}

function distance2To(point: readonly number[], positions: Assembled["positions"], dims: number, v: number): number {
  let sum = 0;
  for (let axis = 0; axis < dims; axis++) sum += (positions[v * dims + axis]! - point[axis]!) ** 2;
  return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
}

/** For each object of a batch. */
function objectDistances(batch: Assembled, point: readonly number[], { where }: Resolved): Float64Array {
  const { positions, dims, parts, objects, links } = batch;
  const out = new Float64Array(batch.ids.length).fill(Number.POSITIVE_INFINITY);
  const masks = masksOf(batch, where);
  const counts = (v: number): boolean => masks.vertices === undefined || masks.vertices[v] === 1;
  const ownerOf = new Int32Array(positions.length / dims).fill(-1);
  for (let part = 0; part < objects.length; part++) {
    const owner = objects[part]!;
    ownerOf.fill(owner, parts[part]!, parts[part + 1]!);
    if (owner < 0) continue;
    for (let v = parts[part]!; v < parts[part + 1]!; v++) {
      if (!counts(v)) continue;
      out[owner] = Math.min(out[owner]!, distance2To(point, positions, dims, v));
      if (isPath(batch) && v > parts[part]! && counts(v - 1))
        out[owner] = Math.min(out[owner]!, distance2ToSegment(point, positions, dims, v - 1, v));
    }
  }
  if (links === undefined) return out;
  const { ends, width } = links;
  for (let l = 0; l * width < ends.length; l++) {
    const owner = ownerOf[ends[l * width]!]!;
    let own = owner >= 0 && (masks.links === undefined || masks.links[l] === 1);
    for (let k = 0; own && k < width; k++)
      own = counts(ends[l * width + k]!) && ownerOf[ends[l * width + k]!] === owner;
    if (!own) continue;
    const at = (k: number): number => ends[l * width + k]!;
    if (width === 2) out[owner] = Math.min(out[owner]!, distance2ToSegment(point, positions, dims, at(0), at(1)));
    for (let k = 1; k + 1 < width; k++)
      out[owner] = Math.min(out[owner]!, distance2ToTriangle(point, positions, dims, at(0), at(k), at(k + 1)));
  }
  return out;
}

/** The answer once more, only those that are the nearest. */
async function* best(question: Resolved, options: SelectOptions, found: readonly Ranked[]): AsyncGenerator<Assembled> {
  const chosen = new Set(found.map(({ row }) => row));
  if (!byPoints(question)) {
    const rows = Uint32Array.from(chosen).sort();
    if (rows.length > 0)
      yield* matching({ ...question, rows, region: question.clip === false ? undefined : question.region }, options);
    return;
  }
  let seen = 0;
  for await (const batch of matching({ ...question, clip: "vertices" }, options)) {
    const count = batch.positions.length / batch.dims;
    const mask = Uint8Array.from({ length: count }, (_, v) => (chosen.has(seen + v) ? 1 : 0));
    seen += count;
    if (mask.includes(1)) yield subset(batch, mask);
  }
}
