/**
 * Which objects touch a region, without putting any of them together: the parts in the chunks that the region meets, then the
 * joints of paths and the links that lead from chunk to chunk, whose hull it meets.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, LevelSource, Parts } from "../model/source.js";
import { isPath } from "./assemble.js";
import { partsOf } from "./bound.js";
import { endsOf } from "./ends.js";
import { meeting } from "./hull.js";
import { Region } from "./region.js";
import { PartList, RowList } from "./rows.js";
import { touchesPath, touchesPolygon, touchesSegment } from "./touch.js";

export interface Candidates {
  /** Rows of objects, ascending. */
  readonly rows: Uint32Array;
  /** Parts that nobody owns, ascending. */
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

/** All objects, or these, and the parts without one where they are asked for. */
export async function everything(
  source: LevelSource,
  rows: Uint32Array | undefined,
  orphans: boolean,
  options: ReadOptions,
): Promise<Candidates> {
  const { objects } = source;
  const all = (): Uint32Array => Uint32Array.from({ length: objects?.rows ?? 0 }, (_, row) => row);
  const lone = async (): Promise<Parts> =>
    (await objects?.orphans(options)) ??
    partsOf(source, chunksIn(await source.chunks(options), undefined, source.dims), options);
  return { rows: rows ?? all(), orphans: orphans ? PartList.sorted(await lone()) : PartList.NONE, exact: true };
}

/** Of these objects, or of all, and of the parts without one those that touch. */
export async function touching(
  source: LevelSource,
  region: Region,
  wanted: Uint32Array | undefined,
  orphans: boolean,
  options: ReadOptions,
): Promise<Candidates> {
  const { sequential } = source;
  const found = { rows: new RowList(), orphans: new PartList() };
  await ownersInto(found, source, await touchedParts(source, region, options), options);
  // A skeleton's links may undo what the sequence says; a part without vertices hides what is joined to what.
  let exact = !(sequential && source.linkWidth > 0 && !isPath(source));
  if (isPath(source)) exact = (await addJoints(found.rows, source, region, wanted, options)) && exact;
  else if (source.linkWidth > 0) await addLinks(found, source, region, options);
  const rows = found.rows.sorted();
  return {
    rows: wanted === undefined ? rows : RowList.both(rows, wanted),
    orphans: orphans ? PartList.sorted(found.orphans.done()) : PartList.NONE,
    exact,
  };
}

/** The parts of which a vertex, or a step of their path, touches. */
async function touchedParts(source: LevelSource, region: Region, options: ReadOptions): Promise<Parts> {
  const { dims } = source;
  const table = await source.chunks(options);
  const touches = source.sequential ? touchesPath : Region.anyInside;
  const touched = new PartList();
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  for await (const { chunk, positions, parts } of source.tiles(chunksIn(table, region, dims), PLAIN, options)) {
    options.signal?.throwIfAborted();
    table.box(chunk, min, max);
    const all = Region.relation(region, min, max) === "inside";
    for (let p = 0; p + 1 < parts.length; p++) {
      const [from, to] = [parts[p]!, parts[p + 1]!];
      if (from < to && (all || touches(region, positions, dims, from, to))) touched.add(chunk, p);
    }
  }
  return touched.done();
}

interface Found {
  readonly rows: RowList;
  readonly orphans: PartList;
}

/** Adds the owners of parts, and the parts without one. */
async function ownersInto(found: Found, source: LevelSource, parts: Parts, options: ReadOptions): Promise<void> {
  if (parts.part.length === 0) return;
  const owners = await source.objects?.owners(parts, options);
  if (owners !== undefined) found.rows.addAll(owners.rows);
  for (let i = 0; i < parts.part.length; i++)
    if (owners === undefined || owners.offsets[i] === owners.offsets[i + 1])
      found.orphans.add(parts.chunk[i]!, parts.part[i]!);
}

/** False: there are parts without vertices at joints, whose objects may not touch. */
async function addJoints(
  rows: RowList,
  source: LevelSource,
  region: Region,
  wanted: Uint32Array | undefined,
  options: ReadOptions,
): Promise<boolean> {
  let exact = true;
  if (source.objects === undefined) return exact;
  const known = rows.sorted();
  for await (const { count, object, chunkA, partA, chunkB, partB } of source.objects.joints(meeting(region), options)) {
    options.signal?.throwIfAborted();
    const open: number[] = [];
    for (let j = 0; j < count; j++) {
      const asked = wanted === undefined || RowList.has(wanted, object[j]!);
      if (asked && !RowList.has(known, object[j]!)) open.push(j);
    }
    const [chunk, part] = [new Int32Array(2 * open.length), new Uint32Array(2 * open.length)];
    for (const [i, j] of open.entries()) {
      chunk.set([chunkA[j]!, chunkB[j]!], 2 * i);
      part.set([partA[j]!, partB[j]!], 2 * i);
    }
    const ends = await endsOf(source, chunk, options, (parts, i) => {
      const [from, to] = [parts[part[i]!]!, parts[part[i]! + 1]!];
      return from === to ? -1 : i % 2 === 0 ? to - 1 : from;
    });
    for (const [i, j] of open.entries()) {
      const hidden = ends.part[2 * i] === -1 || ends.part[2 * i + 1] === -1;
      if (hidden) exact = false;
      if (hidden || touchesSegment(region, ends.positions, source.dims, 2 * i, 2 * i + 1)) rows.add(object[j]!);
    }
  }
  return exact;
}

/** A link is an object's when all of its ends are; of ends without an object every part has it. */
async function addLinks(found: Found, source: LevelSource, region: Region, options: ReadOptions): Promise<void> {
  for await (const { width, count, chunks, vertices } of source.links({ meets: meeting(region) }, [], options)) {
    options.signal?.throwIfAborted();
    const ends = await endsOf(source, chunks, options, (_, i) => vertices[i]!);
    const order = Uint32Array.from({ length: count * width }, (_, i) => i);
    const touched = new PartList();
    for (let l = 0; l < count; l++) {
      if (!touchesPolygon(region, ends.positions, source.dims, order, l * width, (l + 1) * width)) continue;
      for (let k = 0; k < width; k++) touched.add(chunks[l * width + k]!, ends.part[l * width + k]!);
    }
    const parts = touched.done();
    if (parts.part.length === 0) continue;
    const owners = await source.objects?.owners(parts, options);
    const ownersOf = (end: number): Uint32Array =>
      owners === undefined ? NONE : owners.rows.subarray(owners.offsets[end]!, owners.offsets[end + 1]!);
    for (let at = 0; at < parts.part.length; at += width) {
      let lone = true;
      for (let k = 0; lone && k < width; k++) lone = ownersOf(at + k).length === 0;
      for (let k = 0; lone && k < width; k++) found.orphans.add(parts.chunk[at + k]!, parts.part[at + k]!);
      for (const row of ownersOf(at)) {
        let all = true;
        for (let k = 1; all && k < width; k++) all = ownersOf(at + k).includes(row);
        if (all) found.rows.add(row);
      }
    }
  }
}

const NONE = new Uint32Array();
