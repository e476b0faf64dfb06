/** What the indexes alone say of an answer, before any data is read: at most how much it is, and in which chunks it lies. */
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Parts } from "../model/source.js";
import { isPath } from "./assemble.js";
import { chunksIn } from "./candidates.js";
import { Region } from "./region.js";
import type { Resolved } from "./resolve.js";

/** What the indexes alone say: the answer is in these chunks and has at most so many vertices. */
export async function upperBound(
  { source, region, rows, clip }: Resolved,
  options: ReadOptions,
): Promise<{ chunks: number[]; vertices: number; objects: number }> {
  const table = await source.chunks(options);
  const { objects } = source;
  const sum = (counts: Uint32Array): number => counts.reduce((a, b) => a + b, 0);
  const inside = chunksIn(table, region, source.dims);
  if (objects === undefined || (clip !== false && rows === undefined))
    return { chunks: inside, vertices: sum(await source.counts(inside, options)), objects: objects?.rows ?? 0 };
  let chosen = rows;
  if (chosen === undefined && region !== undefined) {
    const found = new Set<number>();
    const meets = (min: Float64Array, max: Float64Array): boolean => Region.relation(region, min, max) !== "outside";
    const all = new Set(inside);
    if (!isPath(source) && source.linkWidth > 0)
      for await (const { chunks } of source.links({ meets }, [], options)) for (const chunk of chunks) all.add(chunk);
    const parts = await partsOf(source, [...all], options);
    for (const row of (await objects.owners(parts, options)).rows) found.add(row);
    if (isPath(source))
      for await (const joints of objects.joints(meets, options)) for (const row of joints.object) found.add(row);
    chosen = Uint32Array.from(found).sort();
  }
  const place = await objects.place(chosen ?? everyRow(objects.rows), options);
  const chunks = [...new Set(place.chunk)].sort((a, b) => a - b);
  const sizes = new Map<number, Uint32Array>();
  for await (const { chunk, parts } of source.tiles(chunks, NOTHING, options)) sizes.set(chunk, parts);
  let vertices = 0;
  for (let b = 0; b < place.chunk.length; b++) {
    const parts = sizes.get(place.chunk[b]!)!;
    vertices += (parts[place.first[b]! + place.count[b]!] ?? 0) - (parts[place.first[b]!] ?? 0);
  }
  const orphans = rows === undefined && region === undefined ? await objects.orphans(options) : undefined;
  if (orphans !== undefined) {
    const lone = [...new Set(orphans.chunk)];
    const own = new Map<number, Uint32Array>();
    for await (const { chunk, parts } of source.tiles(lone, NOTHING, options)) own.set(chunk, parts);
    for (let i = 0; i < orphans.part.length; i++) {
      const parts = own.get(orphans.chunk[i]!)!;
      vertices += parts[orphans.part[i]! + 1]! - parts[orphans.part[i]!]!;
    }
    for (const chunk of lone) if (!sizes.has(chunk)) chunks.push(chunk);
  }
  return { chunks, vertices, objects: place.offsets.length - 1 };
}

export const NOTHING = { positions: false, vertex: [], fragment: [] };
export const everyRow = (rows: number): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);

export async function partsOf(source: LevelSource, chunks: readonly number[], options: ReadOptions): Promise<Parts> {
  const chunk: number[] = [];
  const part: number[] = [];
  for await (const tile of source.tiles(chunks, NOTHING, options)) {
    for (let p = 0; p + 1 < tile.parts.length; p++) {
      if (tile.parts[p] === tile.parts[p + 1]) continue;
      chunk.push(tile.chunk);
      part.push(p);
    }
  }
  return { chunk: Int32Array.from(chunk), part: Uint32Array.from(part) };
}
