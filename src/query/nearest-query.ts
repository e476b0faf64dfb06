/**
 * The k nearest of what matches. Without a region to look in, a sphere around the place is asked, and one twice as large, until k
 * are inside: then nobody outside of it is nearer. Points count one by one. Of everything else an object, or a part without one,
 * is as near as the nearest of its vertices, segments and faces that satisfy, and with `clip` of what is left of them. Of equals
 * the first in the order of the answer is taken.
 */
import type { SelectOptions } from "../model/vectors.js";
import { matching } from "./answer.js";
import { type Assembled, isPath, linkWidthOf } from "./assemble.js";
import { everything } from "./candidates.js";
import { isOwn, linkCounts, type Masks, masksOf, ownerOfVertices } from "./masks.js";
import { distance2ToSegment, distance2ToTriangle, KNearest, nearestInRows } from "./nearest.js";
import { Region } from "./region.js";
import type { Resolved } from "./resolve.js";
import { PartList, RowList } from "./rows.js";
import { subset } from "./subset.js";
import { partOfVertices } from "./whole.js";

export async function* nearest(asked: Resolved, options: SelectOptions): AsyncGenerator<Assembled> {
  const points = asked.source.geometry === "points";
  const question: Resolved = points ? { ...asked, clip: "vertices" } : asked;
  const { region, heap } = await search(question, points ? rankPoints : rankObjects, options);
  if (heap.count === 0) return;
  if (points) yield* chosenPoints({ ...question, region }, heap, options);
  else if (question.region === undefined) yield* chosenObjects(question, heap, options);
  else yield* chosenPieces(question, heap, options);
}

const INFINITE = Number.POSITIVE_INFINITY;

type Rank = (question: Resolved, numbered: boolean, options: SelectOptions) => Promise<KNearest>;

/** The k nearest, and the region that they were looked for in. */
async function search(
  question: Resolved,
  rank: Rank,
  options: SelectOptions,
): Promise<{ readonly region: Region | undefined; readonly heap: KNearest }> {
  const { source, region } = question;
  const { point, k } = question.nearest!;
  if (region !== undefined) return { region, heap: await rank(question, true, options) };
  // The sphere only says where to look: nothing is cut by it.
  const clip = source.geometry === "points" ? "vertices" : false;
  const furthest = await reach(question, options);
  for (let radius = furthest / 64; radius < furthest; radius *= 2) {
    const sphere = Region.of({ sphere: { center: point, radius } }, source.dims);
    const heap = await rank({ ...question, region: sphere, clip }, false, options);
    if (heap.count === k && KNearest.bound(heap) <= radius * radius) return { region: sphere, heap };
  }
  return { region: undefined, heap: await rank({ ...question, clip }, false, options) };
}

/** How far everything is at most. */
async function reach({ source, nearest }: Resolved, options: SelectOptions): Promise<number> {
  const table = await source.chunks(options);
  const [min, max] = [new Float64Array(source.dims), new Float64Array(source.dims)];
  let furthest2 = 0;
  for (let chunk = 0; chunk < table.count; chunk++) {
    table.box(chunk, min, max);
    let sum = 0;
    for (let axis = 0; axis < source.dims; axis++) {
      const at = nearest!.point[axis]!;
      sum += Math.max((min[axis]! - at) ** 2, (max[axis]! - at) ** 2);
    }
    furthest2 = Math.max(furthest2, sum);
  }
  return Math.sqrt(furthest2);
}

/** Rows are the numbers of the points in the order of the answer. */
async function rankPoints(question: Resolved, _: boolean, options: SelectOptions): Promise<KNearest> {
  const { point, k } = question.nearest!;
  const heap = KNearest.of(k);
  let seen = 0;
  for await (const { positions, dims } of matching(question, options)) {
    const count = positions.length / dims;
    const own = KNearest.of(k);
    nearestInRows(own, point, positions, dims, 0, count, 0);
    for (let i = 0; i < own.count; i++) KNearest.push(heap, own.distance2[i]!, 0, seen + own.row[i]!);
    seen += count;
  }
  return heap;
}

async function* chosenPoints(question: Resolved, heap: KNearest, options: SelectOptions): AsyncGenerator<Assembled> {
  const chosen = heap.row.slice(0, heap.count).sort();
  let [seen, next] = [0, 0];
  for await (const batch of matching(question, options)) {
    const mask = new Uint8Array(batch.positions.length / batch.dims);
    for (; next < chosen.length && chosen[next]! < seen + mask.length; next++) mask[chosen[next]! - seen] = 1;
    seen += mask.length;
    if (mask.includes(1)) yield subset(batch, mask);
  }
}

/**
 * Rows are those of objects, with chunk −1. Parts without an object are known by their chunk and number, or where
 * what is left of one may be only cuts, by their number in the answer.
 */
async function rankObjects(question: Resolved, numbered: boolean, options: SelectOptions): Promise<KNearest> {
  const heap = KNearest.of(question.nearest!.k);
  let seen = 0;
  for await (const batch of matching(question, options)) {
    const masks = question.clip === false ? masksOf(batch, question.where) : { vertices: undefined, links: undefined };
    const distances = partDistances(batch, question.nearest!.point, masks);
    const things = lonePieces(batch);
    const ofObject = new Float64Array(batch.ids.length).fill(INFINITE);
    const ofLone = new Float64Array(things.fragment.length).fill(INFINITE);
    for (let part = 0; part < batch.objects.length; part++) {
      const object = batch.objects[part]!;
      const [list, at] = object >= 0 ? [ofObject, object] : [ofLone, things.ofPart[part]!];
      list[at] = Math.min(list[at]!, distances[part]!);
    }
    for (let i = 0; i < ofObject.length; i++) offer(heap, ofObject[i]!, -1, batch.rows[i]!);
    const { chunk, part } = batch.fragments;
    for (const [i, f] of things.fragment.entries())
      if (numbered) offer(heap, ofLone[i]!, 0, seen + i);
      else offer(heap, ofLone[i]!, chunk[f]!, part[f]!);
    seen += things.fragment.length;
  }
  return heap;
}

/** The parts without an object, each once also where it is in several pieces (which only paths are), with its first fragment. */
function lonePieces(batch: Assembled): { readonly ofPart: Int32Array; readonly fragment: number[] } {
  const { offsets, chunk, part: number } = batch.fragments;
  const ofPart = new Int32Array(batch.objects.length).fill(-1);
  const fragment: number[] = [];
  for (let part = 0, f = 0; part < ofPart.length; part++) {
    if (batch.objects[part]! >= 0) continue;
    while (offsets[f + 1]! <= batch.parts[part]!) f++;
    const last = fragment.at(-1);
    const same = isPath(batch) && last !== undefined && chunk[last] === chunk[f] && number[last] === number[f];
    if (!same) fragment.push(f);
    ofPart[part] = fragment.length - 1;
  }
  return { ofPart, fragment };
}

/** The answer once more, only what was chosen of it. */
async function* chosenPieces(question: Resolved, heap: KNearest, options: SelectOptions): AsyncGenerator<Assembled> {
  const [rows, lone] = [new Set<number>(), new Set<number>()];
  for (let i = 0; i < heap.count; i++) (heap.chunk[i]! < 0 ? rows : lone).add(heap.row[i]!);
  let seen = 0;
  for await (const batch of matching(question, options)) {
    const mask = new Uint8Array(batch.positions.length / batch.dims);
    const things = lonePieces(batch);
    for (let part = 0; part < batch.objects.length; part++) {
      const object = batch.objects[part]!;
      const isChosen = object >= 0 ? rows.has(batch.rows[object]!) : lone.has(seen + things.ofPart[part]!);
      if (isChosen) mask.fill(1, batch.parts[part]!, batch.parts[part + 1]!);
    }
    seen += things.fragment.length;
    if (mask.includes(1)) yield subset(batch, mask);
  }
}

function offer(heap: KNearest, distance2: number, chunk: number, row: number): void {
  if (distance2 < INFINITE) KNearest.push(heap, distance2, chunk, row);
}

async function* chosenObjects(question: Resolved, heap: KNearest, options: SelectOptions): AsyncGenerator<Assembled> {
  const { source, where } = question;
  const { count, chunk, row } = heap;
  const [rows, orphans] = [new RowList(), new PartList()];
  for (let i = 0; i < count; i++) {
    if (chunk[i]! < 0) rows.add(row[i]!);
    else orphans.add(chunk[i]!, row[i]!);
  }
  const chosen = { rows: rows.sorted(), orphans: PartList.sorted(orphans.done()), exact: true };
  // What a part without an object satisfies may depend on links to others.
  const needsOthers = where !== undefined && linkWidthOf(source) > 0 && chosen.orphans.part.length > 0;
  if (!needsOthers) {
    yield* matching(question, options, chosen);
    return;
  }
  const all = await everything(source, chosen.rows, true, options);
  const isChosen = new Set(Array.from(chosen.orphans.chunk, (c, i) => `${c}.${chosen.orphans.part[i]}`));
  for await (const batch of matching(question, options, all)) {
    const things = lonePieces(batch);
    const mask = new Uint8Array(batch.positions.length / batch.dims);
    for (let part = 0; part < batch.objects.length; part++) {
      const f = things.fragment[things.ofPart[part]!];
      const key = f === undefined ? "" : `${batch.fragments.chunk[f]}.${batch.fragments.part[f]}`;
      if (f === undefined || isChosen.has(key)) mask.fill(1, batch.parts[part]!, batch.parts[part + 1]!);
    }
    if (mask.includes(1)) yield subset(batch, mask);
  }
}

/** For each part of a batch how near it is; the links of an object are told to the part of their first end. */
function partDistances(batch: Assembled, point: readonly number[], masks: Masks): Float64Array {
  const { positions, dims, parts, objects, links } = batch;
  const out = new Float64Array(objects.length).fill(INFINITE);
  const counts = (v: number): boolean => masks.vertices === undefined || masks.vertices[v] === 1;
  const nearer = (part: number, distance2: number): void => {
    if (distance2 < out[part]!) out[part] = distance2;
  };
  for (let part = 0; part < objects.length; part++) {
    for (let v = parts[part]!; v < parts[part + 1]!; v++) {
      if (!counts(v)) continue;
      nearer(part, distance2ToSegment(point, positions, dims, v, v));
      if (isPath(batch) && v > parts[part]! && counts(v - 1))
        nearer(part, distance2ToSegment(point, positions, dims, v - 1, v));
    }
  }
  if (links === undefined) return out;
  const { ends, width } = links;
  const [owners, partOf] = [ownerOfVertices(batch), partOfVertices(batch)];
  for (let l = 0; l * width < ends.length; l++) {
    if (!isOwn(owners, ends, width, l) || !linkCounts(ends, width, l, masks)) continue;
    const at = (k: number): number => ends[l * width + k]!;
    let distance2 = INFINITE;
    if (width === 2) distance2 = distance2ToSegment(point, positions, dims, at(0), at(1));
    for (let k = 1; k + 1 < width; k++)
      distance2 = Math.min(distance2, distance2ToTriangle(point, positions, dims, at(0), at(k), at(k + 1)));
    for (let k = 0; k < width; k++) nearer(partOf[at(k)]!, distance2);
  }
  return out;
}
