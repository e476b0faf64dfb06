/** What the indexes alone say of an answer, before any data is read: at most how much it is, and in which chunks it lies. */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Parts } from "../model/source.js";
import { isPath } from "./assemble.js";
import { chunksIn, everything } from "./candidates.js";
import { isCloud } from "./cloud.js";
import { meeting } from "./hull.js";
import { distinctChunks } from "./layout.js";
import { Region } from "./region.js";
import { onlyVertices, type Resolved } from "./resolve.js";
import { PartList, RowList } from "./rows.js";

export interface Bound {
  /** Every chunk that answering reads, ascending. */
  readonly chunks: number[];
  /** At most so many; those that cutting adds are not among them. */
  readonly vertices: number;
  readonly objects: number;
}

const NOTHING = { positions: false, vertex: [], fragment: [] };

export async function upperBound(question: Resolved, options: ReadOptions): Promise<Bound> {
  const { source, region, clip, limit, nearest, named, where } = question;
  const table = await source.chunks(options);
  const met = chunksIn(table, region, source.dims);
  if (isCloud(source)) {
    if (!question.orphans) return { chunks: [], vertices: 0, objects: 0 };
    const counts = await source.counts(met, options);
    const vertices = Math.min(sum(counts), limit, nearest?.k ?? limit);
    return { chunks: met, vertices, objects: 0 };
  }
  // What is nearest is looked for everywhere, until it is found.
  const everywhere = nearest === undefined ? [] : met;
  // Where only vertices inside count, nothing is read of what has none in the region.
  const inside = region !== undefined && nearest === undefined && onlyVertices(question);
  const reached =
    region === undefined ? new Set(everywhere) : inside ? new Set(met) : await reachedChunks(question, met, options);
  const { rows, orphans } = await mayTouch(question, [...reached], options);
  const place = rows.length === 0 ? undefined : await source.objects!.place(rows, options);
  const sizes = new Map([
    ...(place === undefined ? [] : await partSizes(source, place.chunk, options)),
    ...(await partSizes(source, orphans.chunk, options)),
  ]);
  const isIn = new Uint8Array(table.count).fill(clip === false || region === undefined ? 1 : 0);
  for (const chunk of met) isIn[chunk] = 1;
  let [vertices, objects] = [0, 0];
  const sizeOf = (chunk: number, first: number, count: number): number =>
    isIn[chunk] === 0 ? 0 : (sizes.get(chunk)?.[first + count] ?? 0) - (sizes.get(chunk)?.[first] ?? 0);
  for (let i = 0; i < rows.length; i++) {
    let own = 0;
    for (let b = place!.offsets[i]!; b < place!.offsets[i + 1]!; b++)
      own += sizeOf(place!.chunk[b]!, place!.first[b]!, place!.count[b]!);
    vertices += own;
    // What is cut may have nothing in the chunks that the region meets but a piece between two vertices.
    if (own > 0 || (clip === true && region !== undefined) || (named && region === undefined && where === undefined))
      objects++;
  }
  for (let i = 0; i < orphans.part.length; i++) vertices += sizeOf(orphans.chunk[i]!, orphans.part[i]!, 1);
  if (!inside) for (const chunk of sizes.keys()) reached.add(chunk);
  const most = Math.min(limit, nearest === undefined || source.geometry === "points" ? limit : nearest.k);
  return {
    chunks: [...reached].sort((a, b) => a - b),
    vertices: source.geometry === "points" && nearest !== undefined ? Math.min(vertices, nearest.k) : vertices,
    objects: Math.min(objects, most),
  };
}

/** The chunks that are looked at to find what touches: those that the region meets, and the ends of links that may. */
async function reachedChunks(
  { source, region }: Resolved,
  met: readonly number[],
  options: ReadOptions,
): Promise<Set<number>> {
  const all = new Set(met);
  if (isPath(source) || source.linkWidth === 0 || source.scattered) return all;
  for await (const { chunks } of source.links({ meets: meeting(region!) }, [], options)) {
    options.signal?.throwIfAborted();
    for (const chunk of chunks) all.add(chunk);
  }
  return all;
}

/** What may touch the region: everything with a part in these chunks, or with a joint that may. */
async function mayTouch(
  { source, region, rows, orphans }: Resolved,
  chunks: readonly number[],
  options: ReadOptions,
): Promise<{ readonly rows: Uint32Array; readonly orphans: Parts }> {
  if (region === undefined) return everything(source, rows, orphans, options);
  if (rows !== undefined && !orphans) return { rows, orphans: PartList.NONE };
  const found = new RowList();
  const parts = await partsOf(source, chunks, options);
  const owners = await source.objects?.owners(parts, options);
  if (owners !== undefined) found.addAll(owners.rows);
  if (isPath(source) && source.objects !== undefined)
    for await (const joints of source.objects.joints(meeting(region), options))
      found.addAll(Uint32Array.from(joints.object));
  const lone = new PartList();
  for (let i = 0; i < parts.part.length; i++)
    if (owners === undefined || owners.offsets[i] === owners.offsets[i + 1]) lone.add(parts.chunk[i]!, parts.part[i]!);
  const all = found.sorted();
  return {
    rows: rows === undefined ? all : RowList.both(rows, all),
    orphans: orphans ? lone.done() : PartList.NONE,
  };
}

/** At least so many vertices are in the answer: those of the chunks that lie in the region, where nothing else is asked. */
export async function lowerBound(question: Resolved, options: ReadOptions): Promise<number> {
  const { source, region, where, rows, orphans, nearest, limit } = question;
  const narrowed = where !== undefined || rows !== undefined || !orphans || nearest !== undefined;
  if (narrowed || limit !== Number.POSITIVE_INFINITY) return 0;
  const table = await source.chunks(options);
  const [min, max] = [new Float64Array(source.dims), new Float64Array(source.dims)];
  const inside = chunksIn(table, region, source.dims).filter((chunk) => {
    table.box(chunk, min, max);
    return region === undefined || Region.relation(region, min, max) === "inside";
  });
  return sum(await source.counts(inside, options));
}

const sum = (counts: Uint32Array): number => counts.reduce((a, b) => a + b, 0);

/** The offsets of the parts of these chunks (which may repeat). */
export async function partSizes(
  source: LevelSource,
  chunks: Int32Array,
  options: ReadOptions,
): Promise<Map<number, Uint32Array>> {
  const sizes = new Map<number, Uint32Array>();
  for await (const { chunk, parts } of source.tiles(distinctChunks(chunks), NOTHING, options)) {
    options.signal?.throwIfAborted();
    sizes.set(chunk, parts);
  }
  return sizes;
}

/** The parts of chunks that have vertices. */
export async function partsOf(source: LevelSource, chunks: readonly number[], options: ReadOptions): Promise<Parts> {
  const list = new PartList();
  for (const [chunk, parts] of await partSizes(source, Int32Array.from(chunks), options))
    for (let p = 0; p + 1 < parts.length; p++) if (parts[p] !== parts[p + 1]) list.add(chunk, p);
  return list.done();
}
