/**
 * Which objects touch a region, without putting any of them together: the parts in the chunks that the region meets, then the
 * joints of paths and the links that lead from chunk to chunk, whose hull it meets.
 */
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, Joints, LevelSource, Parts, Tile } from "../model/source.js";
import { heldLong, nextTurn } from "../store/turn.js";
import { isPath } from "./assemble.js";
import { partsOf } from "./bound.js";
import { eachEnd, endsOf } from "./ends.js";
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
  const lone = async (): Promise<Parts> =>
    (await objects?.orphans(options)) ??
    partsOf(source, chunksIn(await source.chunks(options), undefined, source.dims), options);
  return {
    rows: rows ?? RowList.upTo(objects?.rows ?? 0),
    orphans: orphans ? PartList.sorted(await lone()) : PartList.NONE,
    exact: true,
  };
}

/** Of these objects, or of all, and of the parts without one those that touch; with `inside`, those that have a vertex inside. */
export async function touching(
  source: LevelSource,
  region: Region,
  wanted: Uint32Array | undefined,
  orphans: boolean,
  options: ReadOptions,
  inside = false,
): Promise<Candidates> {
  const { sequential } = source;
  const found = { rows: new RowList(), orphans: new PartList() };
  await ownersInto(found, source, await touchedParts(source, region, inside, options), options);
  if (!inside && isPath(source)) await addJoints(found.rows, source, region, wanted, options);
  else if (!inside && source.linkWidth > 0) await addLinks(found, source, region, options);
  const exact = !(sequential && source.linkWidth > 0 && !isPath(source)); // links may undo what the sequence says
  const rows = found.rows.sorted();
  return {
    rows: wanted === undefined ? rows : RowList.both(rows, wanted),
    orphans: orphans ? PartList.sorted(found.orphans.done()) : PartList.NONE,
    exact,
  };
}

/** The parts of which a vertex, or a step of their path, touches. */
async function touchedParts(
  source: LevelSource,
  region: Region,
  inside: boolean,
  options: ReadOptions,
): Promise<Parts> {
  const { dims } = source;
  const table = await source.chunks(options);
  const touches = source.sequential && !inside ? touchesPath : Region.anyInside;
  const touched = new PartList();
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  for await (const tile of source.tiles(chunksIn(table, region, dims), PLAIN, options)) {
    if (heldLong()) await nextTurn();
    options.signal?.throwIfAborted();
    table.box(tile.chunk, min, max);
    const all = Region.relation(region, min, max) === "inside";
    addTouched(touched, tile, (from, to) => all || touches(region, tile.positions, dims, from, to));
  }
  return touched.done();
}

function addTouched(touched: PartList, { chunk, parts }: Tile, touches: (from: number, to: number) => boolean): void {
  for (let p = 0; p + 1 < parts.length; p++) {
    const from = parts[p]!;
    const to = parts[p + 1]!;
    if (from < to && touches(from, to)) touched.add(chunk, p);
  }
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

/**
 * Adds the objects that touch between two of their parts. The chunks that the region meets have been read: most joints are settled
 * by their end in one of those, because even the whole chunk at the other end leaves no way through the region.
 */
async function addJoints(
  rows: RowList,
  source: LevelSource,
  region: Region,
  wanted: Uint32Array | undefined,
  options: ReadOptions,
): Promise<void> {
  if (source.objects === undefined) return;
  const { dims } = source;
  const table = await source.chunks(options);
  const met = new Uint8Array(table.count);
  for (const chunk of chunksIn(table, region, dims)) met[chunk] = 1;
  const reaches = reachTest(table, region, dims);
  const skip = new Uint8Array(source.objects.rows).fill(wanted === undefined ? 0 : 1);
  for (const row of wanted ?? []) skip[row] = 0;
  for (const row of rows.sorted()) skip[row] = 1; // it is known that they touch
  for await (const joints of source.objects.joints(meeting(region), options, skip)) {
    options.signal?.throwIfAborted();
    let open = openJoints(joints, skip);
    for (const among of [met, undefined]) {
      if (open.length === 0) break;
      const ends = await jointEnds(source, joints, open, among, options);
      const left = settle(ends, among === undefined ? undefined : reaches, (i) => {
        if (touchesSegment(region, ends.positions, dims, 2 * i, 2 * i + 1)) rows.add(joints.object[open[i]!]!);
      });
      open = left.map((i) => open[i]!);
    }
  }
}

function openJoints({ count, object }: Joints, skip: Uint8Array): Uint32Array {
  const open = new Uint32Array(count);
  let found = 0;
  for (let j = 0; j < count; j++) if (skip[object[j]!] === 0) open[found++] = j;
  return open.subarray(0, found);
}

/**
 * Hands on joints both of whose ends are known, and gives those that are not settled by the end that is; without `reaches` all ends
 * have been asked for, and one that is not known has no vertices: it is the end of nothing.
 */
function settle(
  { chunk, part, positions }: JointEnds,
  reaches: ReachTest | undefined,
  known: (i: number) => void,
): Uint32Array {
  const left = new Uint32Array(chunk.length / 2);
  let count = 0;
  for (let i = 0; i < left.length; i++) {
    const [a, b] = [part[2 * i]! >= 0, part[2 * i + 1]! >= 0];
    const end = a ? 2 * i : 2 * i + 1;
    if (a && b) known(i);
    else if (reaches !== undefined && (!(a || b) || reaches(positions, end, chunk[end ^ 1]!))) left[count++] = i;
  }
  return left.subarray(0, count);
}

interface JointEnds {
  readonly chunk: Int32Array;
  /** −1: not known, or it has no vertices. */
  readonly part: Int32Array;
  readonly positions: Float64Array;
}

/** The ends of joints, two for each: the last vertex of a part and the first of the next. */
async function jointEnds(
  source: LevelSource,
  { chunkA, partA, chunkB, partB }: Joints,
  which: Uint32Array,
  among: Uint8Array | undefined,
  options: ReadOptions,
): Promise<JointEnds> {
  const { dims } = source;
  const chunk = interleaved(which, chunkA, chunkB, new Int32Array(2 * which.length));
  const number = interleaved(which, partA, partB, new Uint32Array(2 * which.length));
  const positions = new Float64Array(chunk.length * dims);
  const part = new Int32Array(chunk.length).fill(-1);
  await eachEnd(
    source,
    chunk,
    options,
    (tile, ends) => copyJointEnds(tile, ends, dims, number, positions, part),
    among,
  );
  return { chunk, part, positions };
}

function copyJointEnds(
  tile: Tile,
  ends: Uint32Array,
  dims: number,
  number: Uint32Array,
  positions: Float64Array,
  part: Int32Array,
): void {
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i]!;
    const own = number[end]!;
    const from = tile.parts[own]!;
    const to = tile.parts[own + 1]!;
    if (from === to) continue;
    part[end] = own;
    let at = (end % 2 === 0 ? to - 1 : from) * dims;
    for (let axis = 0, put = end * dims; axis < dims; axis++) positions[put++] = tile.positions[at++]!;
  }
}

function interleaved<T extends Int32Array | Uint32Array>(rows: Uint32Array, a: T, b: T, out: T): T {
  for (let i = 0; i < rows.length; i++) {
    out[2 * i] = a[rows[i]!]!;
    out[2 * i + 1] = b[rows[i]!]!;
  }
  return out;
}

type ReachTest = (positions: Float64Array, row: number, chunk: number) => boolean;

/** Whether a segment from this position to somewhere in that chunk may touch. */
function reachTest(table: ChunkTable, region: Region, dims: number): ReachTest {
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  return (positions, row, chunk) => {
    table.box(chunk, min, max);
    for (let axis = 0; axis < dims; axis++) {
      min[axis] = Math.min(min[axis]!, positions[row * dims + axis]!);
      max[axis] = Math.max(max[axis]!, positions[row * dims + axis]!);
    }
    return Region.relation(region, min, max) !== "outside";
  };
}

/** A link is an object's when all of its ends are; of ends without an object every part has it. */
async function addLinks(found: Found, source: LevelSource, region: Region, options: ReadOptions): Promise<void> {
  for await (const { width, count, chunks, vertices } of source.links({ meets: meeting(region) }, [], options)) {
    options.signal?.throwIfAborted();
    const ends = await endsOf(source, chunks, vertices, options);
    const order = Uint32Array.from({ length: count * width }, (_, i) => i);
    const touched = new PartList();
    for (let l = 0; l < count; l++) {
      if (!touchesPolygon(region, ends.positions, source.dims, order, l * width, (l + 1) * width)) continue;
      for (let k = 0; k < width; k++) touched.add(chunks[l * width + k]!, ends.part[l * width + k]!);
    }
    const parts = touched.done();
    if (parts.part.length === 0) continue;
    // Links touch the same few parts again and again.
    const distinct = PartList.sorted(parts);
    const owners = await source.objects?.owners(distinct, options);
    const ownersOf = (end: number): Uint32Array => {
      if (owners === undefined) return NONE;
      const at = PartList.find(distinct, parts.chunk[end]!, parts.part[end]!);
      return owners.rows.subarray(owners.offsets[at]!, owners.offsets[at + 1]!);
    };
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
