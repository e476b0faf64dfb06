/**
 * Which objects touch a region, without putting any of them together: the parts in the chunks that the region meets, then the
 * joints of paths and the links that lead from chunk to chunk, whose hull it meets.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, LevelSource, Parts } from "../model/source.js";
import { isPath } from "./assemble.js";
import { runOf } from "./links.js";
import { Region } from "./region.js";
import { touchesPath, touchesPolygon, touchesSegment } from "./touch.js";

export interface Candidates {
  /** Rows of objects, ascending. */
  readonly rows: Uint32Array;
  /** Parts that nobody owns. */
  readonly orphans: Parts;
  /** Off: some of them may not touch. */
  readonly exact: boolean;
}

const PLAIN = { positions: true, vertex: [], fragment: [] };

/** The chunks that a region meets. */
export function chunksIn(table: ChunkTable, region: Region | undefined, dims: number): number[] {
  const chunks: number[] = [];
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  for (let chunk = 0; chunk < table.count; chunk++) {
    table.box(chunk, min, max);
    if (region === undefined || Region.relation(region, min, max) !== "outside") chunks.push(chunk);
  }
  return chunks;
}

export async function touching(source: LevelSource, region: Region, options: ReadOptions): Promise<Candidates> {
  const { dims, sequential } = source;
  const table = await source.chunks(options);
  const touched = new PartList();
  for await (const { chunk, positions, parts } of source.tiles(chunksIn(table, region, dims), PLAIN, options)) {
    for (let p = 0; p + 1 < parts.length; p++) {
      const [from, to] = [parts[p]!, parts[p + 1]!];
      const touches = sequential
        ? touchesPath(region, positions, dims, from, to)
        : Region.anyInside(region, positions, dims, from, to);
      if (touches) touched.add(chunk, p);
    }
  }
  const rows = new Set<number>();
  const orphans = new PartList(true);
  await own(source, touched.done(), rows, orphans, options);
  const meets = (min: Float64Array, max: Float64Array): boolean => Region.relation(region, min, max) !== "outside";
  let exact = !(sequential && source.linkWidth > 0 && !isPath(source)); // a skeleton's links may undo what the sequence says
  if (isPath(source)) exact &&= await addJoints(source, region, meets, rows, options);
  else if (source.linkWidth > 0) await addLinks(source, region, meets, rows, orphans, options);
  return {
    rows: Uint32Array.from(rows).sort(),
    orphans: orphans.done(),
    exact,
  };
}

/** Adds the owners of parts to `rows`, the parts without one to `orphans`. */
async function own(
  source: LevelSource,
  parts: Parts,
  rows: Set<number>,
  orphans: PartList,
  options: ReadOptions,
): Promise<void> {
  if (parts.part.length === 0) return;
  const owners = await source.objects?.owners(parts, options);
  for (let i = 0; i < parts.part.length; i++) {
    const [from, to] = [owners?.offsets[i] ?? 0, owners?.offsets[i + 1] ?? 0];
    if (from === to) orphans.add(parts.chunk[i]!, parts.part[i]!);
    for (let o = from; o < to; o++) rows.add(owners!.rows[o]!);
  }
}

/** False: a part without vertices hides what is joined to what, and the objects with one may not touch. */
async function addJoints(
  source: LevelSource,
  region: Region,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  rows: Set<number>,
  options: ReadOptions,
): Promise<boolean> {
  let exact = true;
  if (source.objects === undefined) return exact;
  for await (const joints of source.objects.joints(meets, options)) {
    const ends = new Ends(2);
    const objects: number[] = [];
    for (let j = 0; j < joints.count; j++) {
      if (rows.has(joints.object[j]!)) continue;
      objects.push(joints.object[j]!);
      ends.add(joints.chunkA[j]!, joints.partA[j]!);
      ends.add(joints.chunkB[j]!, joints.partB[j]!);
    }
    const positions = await ends.positions(source, options, (parts, end, part) => {
      if (parts[part] === parts[part + 1]) return -1;
      return end === 0 ? parts[part + 1]! - 1 : parts[part]!;
    });
    for (const [j, object] of objects.entries()) {
      const hidden = ends.part[2 * j] === -1 || ends.part[2 * j + 1] === -1;
      exact &&= !hidden;
      if (hidden || touchesSegment(region, positions, source.dims, 2 * j, 2 * j + 1)) rows.add(object);
    }
  }
  return exact;
}

async function addLinks(
  source: LevelSource,
  region: Region,
  meets: (min: Float64Array, max: Float64Array) => boolean,
  rows: Set<number>,
  orphans: PartList,
  options: ReadOptions,
): Promise<void> {
  for await (const { width, count, chunks, vertices } of source.links({ meets }, [], options)) {
    const ends = new Ends(width);
    for (let at = 0; at < count * width; at++) ends.add(chunks[at]!, vertices[at]!);
    const positions = await ends.positions(source, options, (_, __, vertex) => vertex);
    const found = new PartList();
    const order = Uint32Array.from({ length: width }, (_, k) => k);
    for (let l = 0; l < count; l++) {
      for (let k = 0; k < width; k++) order[k] = l * width + k;
      const touches =
        width === 2
          ? touchesSegment(region, positions, source.dims, 2 * l, 2 * l + 1)
          : touchesPolygon(region, positions, source.dims, order, 0, width);
      if (touches) for (let k = 0; k < width; k++) found.add(chunks[l * width + k]!, ends.part[l * width + k]!);
    }
    // A link is an object's when all of its ends are.
    const parts = found.done();
    if (parts.part.length === 0) continue;
    const owners = await source.objects?.owners(parts, options);
    for (let l = 0; l < parts.part.length; l += width) {
      const lists = Array.from({ length: width }, (_, k) =>
        owners === undefined ? [] : [...owners.rows.subarray(owners.offsets[l + k]!, owners.offsets[l + k + 1]!)],
      );
      for (const row of lists[0]!) if (lists.every((list) => list.includes(row))) rows.add(row);
      if (lists.every((list) => list.length === 0))
        for (let k = 0; k < width; k++) orphans.add(parts.chunk[l + k]!, parts.part[l + k]!);
    }
  }
}

/** The ends of joints or links, whose positions are read chunk by chunk. */
class Ends {
  readonly #width: number;
  readonly #chunks: number[] = [];
  readonly #places: number[] = [];
  /** The part of each end, once positions are known. */
  readonly part: number[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  add(chunk: number, place: number): void {
    this.#chunks.push(chunk);
    this.#places.push(place);
  }

  async positions(
    source: LevelSource,
    options: ReadOptions,
    vertexOf: (parts: Uint32Array, end: number, place: number) => number,
  ): Promise<Float64Array> {
    const { dims } = source;
    const out = new Float64Array(this.#chunks.length * dims).fill(Number.NaN);
    const byChunk = new Map<number, number[]>();
    for (const [i, chunk] of this.#chunks.entries()) {
      const list = byChunk.get(chunk);
      if (list === undefined) byChunk.set(chunk, [i]);
      else list.push(i);
    }
    for await (const { chunk, positions, parts } of source.tiles([...byChunk.keys()], PLAIN, options)) {
      for (const i of byChunk.get(chunk)!) {
        const vertex = vertexOf(parts, i % this.#width, this.#places[i]!);
        this.part[i] = vertex < 0 ? -1 : runOf(parts, vertex);
        if (vertex < 0) continue;
        for (let axis = 0; axis < dims; axis++) out[i * dims + axis] = positions[vertex * dims + axis]!;
      }
    }
    return out;
  }
}

export class PartList {
  readonly #chunks: number[] = [];
  readonly #parts: number[] = [];
  readonly #seen: Set<string> | undefined;

  /** With `distinct`, a part is added once. */
  constructor(distinct = false) {
    this.#seen = distinct ? new Set() : undefined;
  }

  add(chunk: number, part: number): void {
    if (this.#seen !== undefined) {
      const key = `${chunk}.${part}`;
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
    }
    this.#chunks.push(chunk);
    this.#parts.push(part);
  }

  done(): Parts {
    return { chunk: Int32Array.from(this.#chunks), part: Uint32Array.from(this.#parts) };
  }
}
