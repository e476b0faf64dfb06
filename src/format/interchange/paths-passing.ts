/**
 * Paths over points that are too large to be held, on their way to a store. Points were put aside, and are picked for each path.
 *
 * | what is gone through             | what is known then                                                        |
 * |----------------------------------|---------------------------------------------------------------------------|
 * | the places of points of all paths | which paths name points that are not there, and which points are on none |
 * | all points                       | whether a coordinate is no number                                         |
 * | all paths, where one is          | which paths have one: they are objects without vertices                   |
 * | all paths                        | everything                                                                |
 *
 * What stays in memory are a bit for each point, two for each path, and ids. The result is what surfaceContent makes of the same paths.
 */
import { type Corrupt, Unsupported } from "../../errors.js";
import type { Columns } from "../../model/vectors.js";
import { pick } from "../../query/columns.js";
import type { Ids, RowGroups } from "../rows/row-source.js";
import type { BatchParts } from "../zarr-vectors/write/write-batch.js";
import { notFinite } from "./finite.js";
import { Marks } from "./marks.js";
import type { NumberRows } from "./number-rows.js";
import type { Cells } from "./polydata.js";
import { lastUpTo, noVertex } from "./surface.js";
import type { SurfaceBlock } from "./surface-passing.js";
import type { OpenFileOptions, Passing } from "./types.js";

type Points = Pick<SurfaceBlock, "positions" | "vertexColumns">;

export interface PathFile {
  readonly where: string;
  /** How many paths and points there are. */
  readonly count: number;
  readonly points: number;
  readonly cells: PutAsideCells;
  /** These points; without their attributes where only places are asked for. */
  pick(rows: Uint32Array, placesOnly?: true): Promise<Points>;
  /** Where a point is, for people. */
  place(row: number): string | Promise<string>;
  /** What is said of a path that names a point which is not there. */
  nowhere(path: number, row: number): Corrupt | Promise<Corrupt>;
  /** What objects are called, and what else is known of them: of all paths but those that `lost` has. */
  objects(lost: Marks): Promise<PathObjects>;
  /** What is left out, where so many points are on no path. */
  notes(loose: number): readonly string[];
}

export interface PathObjects {
  readonly ids?: Ids | undefined;
  readonly groups?: RowGroups | undefined;
  /** Of these paths, which are these rows of those that are not lost. */
  columns(paths: Uint32Array, rows: Uint32Array): Promise<Columns>;
}

/** Cells that were put aside, and what may be held of them at once. */
export interface PutAsideCells {
  readonly count: number;
  /** Cell i has the places offsets[i] up to offsets[i + 1]. */
  readonly offsets: NumberRows<Uint32Array>;
  readonly ends: NumberRows<Uint32Array>;
  /** For people: "line 3 of LINES". */
  name(cell: number): string;
  /** Bytes that a place takes with all that is known of it, and how many may be held. */
  readonly width: number;
  readonly memory: number;
}

const BLOCK = 1 << 15; // cells, or places of points

/** Whole cells one after the other, some at a time. */
export async function* cellBlocks(
  { count, offsets, ends, name, width, memory }: PutAsideCells,
  where: string,
): AsyncGenerator<Cells & { readonly first: number }> {
  for (let first = 0; first < count; ) {
    const some = await offsets.slice(first, Math.min(first + BLOCK, count) + 1);
    const from = some[0]!;
    const cells = Math.min(some.length - 1, Math.max(1, lastUpTo(some, from + BLOCK)));
    const size = some[cells]! - from;
    if (size > BLOCK && size * width > memory)
      throw new Unsupported(
        `${where}, ${name(first)} has ${size} points, which take ${size * width} bytes at once, and ${Math.floor(memory)} may be used for it`,
        { where, hint: "Allow more (--max-memory)." },
      );
    const own = some.subarray(0, cells + 1).map((offset) => offset - from);
    yield { first, offsets: own, ends: await ends.slice(from, from + size) };
    first += cells;
  }
}

/** Places are numbers of 32 bits. */
export function mustBeCountable(where: string, ...counts: readonly number[]): void {
  if (Math.max(...counts) >= 2 ** 32)
    throw new Unsupported(`${where} has more points than there are numbers for`, { where });
}

export async function passPaths(file: PathFile, onBad: OpenFileOptions["onBad"]): Promise<Passing> {
  mustBeCountable(file.where, file.points, file.cells.ends.count);
  const lost = new Marks(file.count);
  const loose = await lookAtPaths(file, lost, onBad);
  const { empty, vertices } = await lookAtPoints(file, lost, onBad);
  lost.count();
  const { ids, groups, columns } = await file.objects(lost);
  const kept = (path: number): number => path - lost.before(path);
  const idsOf = (rows: Uint32Array): Ids => (ids === undefined ? BigInt64Array.from(rows, BigInt) : pick(ids, 1, rows));
  const batch = async (paths: Uint32Array, points: Points, parts: Uint32Array): Promise<BatchParts> => {
    const rows = paths.map(kept);
    const objects = Int32Array.from({ length: parts.length - 1 }, (_, i) => i);
    return { ...points, parts, objects, ids: idsOf(rows), objectColumns: await columns(paths, rows) };
  };

  async function* batches(): AsyncGenerator<BatchParts> {
    let without: number[] = []; // paths that have no vertices, which come last
    for await (const { first, offsets, ends } of cellBlocks(file.cells, file.where)) {
      const size = (path: number): number => offsets[path + 1]! - offsets[path]!;
      const paths = Uint32Array.from({ length: offsets.length - 1 }, (_, i) => i).filter(
        (path) => size(path) > 0 && !lost.has(first + path) && !empty.has(first + path),
      );
      if (paths.length === 0) continue;
      const [rows, parts] = [new Uint32Array(paths.reduce((sum, path) => sum + size(path), 0)), [0]];
      for (const path of paths) {
        rows.set(ends.subarray(offsets[path]!, offsets[path + 1]!), parts.at(-1)!);
        parts.push(parts.at(-1)! + size(path));
      }
      yield batch(
        paths.map((path) => first + path),
        await file.pick(rows),
        Uint32Array.from(parts),
      );
    }
    const flush = (): Promise<BatchParts> => batch(Uint32Array.from(without), NOTHING, Uint32Array.of(0));
    for (let path = 0; path < file.count; path++) {
      if (lost.has(path) || !empty.has(path)) continue;
      without.push(path);
      if (without.length < BLOCK) continue;
      yield flush();
      without = [];
    }
    if (without.length > 0) yield flush();
  }
  return {
    geometry: "polylines",
    linkWidth: 0,
    vertices,
    losses: file.notes(loose),
    groups: groups && { ...groups, members: groups.members.map(idsOf) },
    batches,
  };
}

const NOTHING: Points = { positions: new Float32Array(), vertexColumns: new Map() };

/** Marks the paths that name points which are not there; how many points are on none of the others. */
async function lookAtPaths(file: PathFile, lost: Marks, onBad: OpenFileOptions["onBad"]): Promise<number> {
  const { where, points, cells } = file;
  const seen = new Marks(points);
  for await (const { first, offsets, ends } of cellBlocks(cells, where))
    for (let path = 0; path + 1 < offsets.length; path++) {
      const own = ends.subarray(offsets[path]!, offsets[path + 1]!);
      const wrong = own.find((end) => end >= points);
      if (wrong === undefined) for (const end of own) seen.set(end);
      else {
        const problem = await file.nowhere(first + path, wrong);
        if (onBad === undefined) throw problem;
        onBad(problem);
        lost.set(first + path);
      }
    }
  return points - seen.count();
}

/** The paths that have no vertices, or lose them because one has a coordinate that is no number; how many vertices the others have. */
async function lookAtPoints(file: PathFile, lost: Marks, onBad: OpenFileOptions["onBad"]) {
  const { where, cells } = file;
  const empty = new Marks(file.count);
  let vertices = 0;
  const sound = await allFinite(file);
  for await (const { first, offsets, ends } of cellBlocks(cells, where)) {
    const { positions } = sound ? NOTHING : await file.pick(within(ends, file.points), true);
    for (let path = 0; path + 1 < offsets.length; path++) {
      const [from, to] = [offsets[path]!, offsets[path + 1]!];
      if (from === to) empty.set(first + path);
      if (lost.has(first + path)) continue;
      for (let at = sound ? -1 : notFinite(positions, 3 * from, 3 * to); at >= 0; ) {
        const vertex = Math.floor(at / 3);
        const problem = noVertex(where, await file.place(ends[vertex]!), positions[at]!);
        if (onBad === undefined) throw problem;
        onBad(problem);
        empty.set(first + path);
        at = notFinite(positions, 3 * vertex + 3, 3 * to);
      }
      if (!empty.has(first + path)) vertices += to - from;
    }
  }
  return { empty, vertices };
}

/** The same places; of those that are not there, the first. */
const within = (ends: Uint32Array, points: number): Uint32Array => ends.map((end) => (end < points ? end : 0));

async function allFinite(file: PathFile): Promise<boolean> {
  for (let from = 0; from < file.points; from += BLOCK) {
    const size = Math.min(BLOCK, file.points - from);
    const rows = Uint32Array.from({ length: size }, (_, i) => from + i);
    if (notFinite((await file.pick(rows, true)).positions) >= 0) return false;
  }
  return true;
}
