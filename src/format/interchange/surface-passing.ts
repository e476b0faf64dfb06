/**
 * Surfaces that are too large to be held, on their way to a store. Their files are gone through block by block, several times:
 *
 * | what is looked at               | what is known then                                                          |
 * |---------------------------------|-----------------------------------------------------------------------------|
 * | all                             | how many vertices, which of them have no place, and whether links name some that come later |
 * | links, where some do            | which of them point nowhere                                                 |
 * | links, where vertices have ids  | whether these are objects: nothing leads from one to another; links are put aside where they do not come object by object |
 * | all, or vertices and then links | everything                                                                  |
 *
 * The result is what surfaceContent makes of the same surface.
 */
import type { Unsupported } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import type { Scratch } from "../../store/scratch.js";
import type { BatchParts } from "../zarr-vectors/write/write-batch.js";
import { notFinite } from "./finite.js";
import { LinksByPart } from "./links-by-part.js";
import { Marks } from "./marks.js";
import { lastUpTo, noLink, noVertex, Stretches, type Surface, type SurfaceOutline, surfaceOutline } from "./surface.js";
import type { FileContent, OpenFileOptions, Passing } from "./types.js";

/** Nothing is known of it but what it begins with, and nothing can be asked of it. */
export function passingContent(
  known: SurfaceOutline,
  refusal: Unsupported,
  passing: NonNullable<FileContent["passing"]>,
): FileContent {
  return {
    ...surfaceOutline(known),
    async index() {
      throw refusal;
    },
    passing,
  };
}

/** Corrupt where a coordinate is none; `place` says where the vertex is. */
export function mustBeFinite(positions: Positions, where: string, place: (vertex: number) => string): void {
  const bad = notFinite(positions);
  if (bad >= 0) throw noVertex(where, place(Math.floor(bad / 3)), positions[bad]!);
}

/** Some of a surface. Links name vertices of all blocks, counted from 0. */
export interface SurfaceBlock extends Pick<Surface, "positions" | "vertexColumns" | "place"> {
  readonly links: Uint32Array;
  readonly linkColumns: Columns;
}

export interface SurfaceFile extends Pick<Surface, "geometry"> {
  readonly where: string;
  /** All of it, or blocks that have all vertices or all links; may be asked for again. Paths come whole. */
  blocks(what?: "vertices" | "links"): AsyncIterable<SurfaceBlock>;
  /** Known when all blocks have come once. */
  told(): Pick<Surface, "notes" | "parts" | "ids" | "objectColumns" | "groups">;
}

export async function passSurface(
  file: SurfaceFile,
  makeScratch: () => Scratch,
  onBad: OpenFileOptions["onBad"],
): Promise<Passing> {
  const { geometry } = file;
  const { linkWidth } = surfaceOutline({ version: "", geometry });
  const seen = await looked(file, onBad);
  const { notes, groups, ...told } = file.told();
  const named = seen.stretches !== undefined && told.parts === undefined;
  const byId = named ? await divided(file, seen, linkWidth, makeScratch) : undefined;
  const vertices = seen.kept(seen.vertices);
  const { parts = Uint32Array.of(0, vertices), ...names } =
    byId !== undefined ? seen.stretches!.objects() : { ...told, parts: told.parts?.map(seen.kept) };
  const own = { ...names, count: parts.length - 1 };
  return {
    geometry,
    linkWidth,
    vertices,
    losses: notes,
    groups: groups && { ...groups, members: groups.members.map((rows) => pick(idsOf(own), 1, rows)) },
    batches: () => batches(file, seen, linkWidth, parts, objectRows(own), byId),
  };
}

interface Looked {
  /** With those that are lost. */
  readonly vertices: number;
  readonly lost: Marks;
  /** Nothing is lost, no vertex and no link. */
  readonly whole: boolean;
  /** Links name vertices that come later, or never. */
  readonly forward: boolean;
  /** Where vertices say of which object they are. */
  readonly stretches: Stretches | undefined;
  /** The number of a vertex without those that are lost before it. */
  kept(vertex: number): number;
}

/** Every coordinate is a number and every link leads somewhere; what is not so is an error, or told and lost. */
async function looked(file: SurfaceFile, onBad: OpenFileOptions["onBad"]): Promise<Looked> {
  const { where, geometry } = file;
  const lost = new Marks();
  let [vertices, forward] = [0, false];
  let first: Error | undefined;
  const bad = (problem: Error): void => {
    if (onBad === undefined)
      first ??= problem; // what is no file of its kind at all is an error before that
    else onBad(problem);
  };
  let stretches: Stretches | undefined = geometry === "points" ? undefined : new Stretches();
  for await (const { positions, vertexColumns, links, place } of file.blocks()) {
    const before = vertices;
    vertices += positions.length / 3;
    for (let at = notFinite(positions); at >= 0; ) {
      const vertex = Math.floor(at / 3);
      bad(noVertex(where, place("vertex", vertex), positions[at]!));
      lost.set(before + vertex);
      at = notFinite(positions, 3 * vertex + 3);
    }
    if (positions.length > 0) {
      const own = vertexColumns.get("object_id");
      if (own?.info.channels !== 1 || stretches?.take(keptOf(own, before, vertices, lost).values) !== true)
        stretches = undefined;
    }
    for (let i = 0; !forward && i < links.length; i++) forward = links[i]! >= vertices;
  }
  const loose = first === undefined && forward ? await lookAtLinks(file, vertices, bad) : 0;
  if (first !== undefined) throw first;
  if (geometry === "polylines" && lost.count() > 0) losePaths(lost, file.told().parts ?? Uint32Array.of(0, vertices));
  const without = lost.count();
  return {
    vertices,
    lost,
    whole: loose + without === 0,
    forward,
    stretches: vertices > without ? stretches : undefined,
    kept: (vertex) => vertex - lost.before(vertex),
  };
}

/** Paths that have lost a vertex are lost. */
function losePaths(lost: Marks, parts: Uint32Array): void {
  const damaged = [...parts.keys()].filter((part) => lost.before(parts[part + 1] ?? 0) > lost.before(parts[part]!));
  for (const part of damaged) for (let vertex = parts[part]!; vertex < parts[part + 1]!; vertex++) lost.set(vertex);
}

/** How many point nowhere. */
async function lookAtLinks(file: SurfaceFile, vertices: number, bad: (problem: Error) => void): Promise<number> {
  const { where, geometry } = file;
  const { linkWidth } = surfaceOutline({ version: "", geometry });
  let found = 0;
  for await (const { links, place } of file.blocks("links"))
    for (let link = 0; link < links.length; link += linkWidth)
      for (let i = link; i < link + linkWidth; i++) {
        if (links[i]! < vertices) continue;
        bad(noLink(where, place("link", link / linkWidth), linkWidth, links[i]!, vertices));
        found++;
        break;
      }
  return found;
}

/** Links by the objects that vertices name, put aside where they do not come so; undefined where these are no objects. */
async function divided(
  file: SurfaceFile,
  seen: Looked,
  width: number,
  makeScratch: () => Scratch,
): Promise<{ readonly aside: LinksByPart | undefined } | undefined> {
  let [last, ordered] = [0, true];
  const eachPart = async (
    take: (links: ReturnType<typeof linksOf>, parts: Uint32Array) => Promise<void>,
  ): Promise<boolean> => {
    for await (const block of file.blocks("links")) {
      const links = linksOf(block, seen, width);
      const parts = seen.stretches!.partsOf(links.ends, width);
      if (parts === undefined) return false;
      await take(links, parts);
    }
    return true;
  };
  const apart = await eachPart(async (_, parts) => {
    for (const part of parts) {
      ordered &&= part >= last;
      last = part;
    }
  });
  if (!apart) return undefined;
  if (ordered) return { aside: undefined };
  const aside = new LinksByPart(width, makeScratch());
  await eachPart(({ ends, columns }, parts) => aside.add({ links: ends, linkColumns: columns }, parts));
  return { aside };
}

/** The rows from one vertex up to another that are not lost; undefined where none is. */
function rowsKept(from: number, to: number, lost: Marks): Uint32Array | undefined {
  const rows = Uint32Array.from({ length: to - from }, (_, i) => i).filter((row) => !lost.has(from + row));
  return rows.length === to - from ? undefined : rows;
}

function keptOf(column: Column, from: number, to: number, lost: Marks): Column {
  const rows = rowsKept(from, to, lost);
  return rows === undefined ? column : pickRows(new Map([["", column]]), rows).get("")!;
}

/** The links of a block that lead somewhere, between the vertices that are not lost. */
function linksOf(
  { links, linkColumns }: SurfaceBlock,
  { vertices, lost, whole, kept }: Looked,
  width: number,
): NonNullable<BatchParts["links"]> {
  if (whole) return { width, ends: links, columns: linkColumns };
  const rows: number[] = [];
  const sound = (end: number): boolean => end < vertices && !lost.has(end);
  for (let link = 0; link < links.length; link += width)
    if (links.subarray(link, link + width).every(sound)) rows.push(link / width);
  return { width, ends: pick(links, width, rows).map(kept), columns: pickRows(linkColumns, rows) };
}

async function* batches(
  file: SurfaceFile,
  seen: Looked,
  width: number,
  parts: Uint32Array,
  objects: ReturnType<typeof objectRows>,
  byId: { readonly aside: LinksByPart | undefined } | undefined,
): AsyncGenerator<BatchParts> {
  const { lost, whole } = seen;
  const aside = byId?.aside;
  const after = seen.forward || aside !== undefined; // links come after all vertices
  let [first, next] = [0, 0];
  for await (const block of file.blocks(after ? "vertices" : undefined)) {
    const rows = whole ? undefined : rowsKept(first, first + block.positions.length / 3, lost);
    first += block.positions.length / 3;
    const positions = rows === undefined ? block.positions : pick(block.positions, 3, rows);
    const vertexColumns = new Map(rows === undefined ? block.vertexColumns : pickRows(block.vertexColumns, rows));
    if (byId !== undefined) vertexColumns.delete("object_id");
    const count = positions.length / 3;
    if (count > 0 && file.geometry === "points") yield { positions, vertexColumns };
    else if (count > 0) yield objects.batch(positions, ...cut(parts, next, count), vertexColumns);
    next += count;
    if (!after) yield* lateLinks(linksOf(block, seen, width));
  }
  for (let part = 0; aside !== undefined && part + 1 < parts.length; part++)
    for await (const { links, linkColumns } of aside.of(part))
      yield* lateLinks({ width, ends: links, columns: linkColumns });
  if (after && aside === undefined)
    for await (const block of file.blocks("links")) yield* lateLinks(linksOf(block, seen, width));
  if (file.geometry !== "points") yield* objects.rest();
}

/** The objects that so many vertices are of, from this one on, and where each begins. */
function cut(parts: Uint32Array, first: number, count: number): [starts: number[], rows: number[]] {
  const [starts, rows]: [number[], number[]] = [[], []];
  for (let row = lastUpTo(parts, first), at = first; at < first + count; at = parts[++row]!) {
    if (parts[row + 1]! <= at) continue; // it has none
    starts.push(at - first);
    rows.push(row);
  }
  return [[...starts, count], rows];
}

/** What objects are called: 0, 1, 2 … where nothing else is said. */
export interface ObjectNames extends Pick<Surface, "ids" | "objectColumns"> {
  readonly count: number;
}

const idsOf = ({ count, ids }: ObjectNames) => ids ?? BigInt64Array.from({ length: count }, (_, i) => BigInt(i));

/** Batches of objects that are known by their rows, and in the end those that had no vertices. */
export function objectRows(names: ObjectNames) {
  const { count, objectColumns = new Map() } = names;
  const own = idsOf(names);
  const seen = new Uint8Array(count);
  const batch = (
    positions: Positions,
    parts: readonly number[],
    rows: readonly number[],
    vertexColumns: Columns = new Map(),
  ): BatchParts => {
    for (const row of rows) seen[row] = 1;
    return {
      positions,
      parts: Uint32Array.from(parts),
      objects: Int32Array.from({ length: parts.length - 1 }, (_, i) => i),
      ids: pick(own, 1, rows),
      objectColumns: pickRows(objectColumns, rows),
      vertexColumns,
    };
  };
  return {
    batch,
    *rest(): Generator<BatchParts> {
      const empty = Array.from(seen.keys()).filter((row) => seen[row] === 0);
      if (empty.length > 0) yield batch(new Float32Array(), [0], empty);
    },
  };
}

const NONE = new Float32Array();

/** Links between vertices that have come, if there are any. */
export function* lateLinks(links: NonNullable<BatchParts["links"]>): Generator<BatchParts> {
  if (links.ends.length > 0)
    yield { positions: NONE, parts: Uint32Array.of(0), objects: new Int32Array(), links, late: true };
}
