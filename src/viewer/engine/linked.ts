/**
 * Chunks of what has links, each with every link that has an end in it: after its own vertices come those of other chunks at which
 * such links end, so that nothing is missing where chunks meet. A link between two chunks is with both of them (instead.ts draws one).
 */
import { Corrupt, OctavoError } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource, LinkSet, Tile } from "../../model/source.js";
import type { Batch } from "../../model/vectors.js";
import { linkWidthOf } from "../../query/assemble.js";
import { ColumnsBuilder, pickRows, roomLike } from "../../query/columns.js";
import { runOf } from "../../query/layout.js";
import { columnsOf, type Dress, ownersOf } from "./piece.js";

/** A chunk with its links. */
export interface LinkedChunk {
  readonly chunk: number;
  readonly batch: Batch;
  /** The chunk of each vertex. */
  readonly places: Int32Array;
}

const TOGETHER = 64; // chunks

/** `apart`: other chunks are read one by one, and of those that are damaged the links to them are left out. */
export async function* linkedChunks(
  source: LevelSource,
  chunks: readonly number[],
  dress: Dress,
  apart: boolean,
  options: ReadOptions,
): AsyncGenerator<LinkedChunk> {
  const want = { positions: true, vertex: columnsOf(dress, "vertex"), fragment: [] };
  for (let from = 0; from < chunks.length; from += TOGETHER) {
    const group = chunks.slice(from, from + TOGETHER);
    const ends = await endsAt(source, group, options);
    const others = [...new Set([...ends.values()].flatMap((own) => [...own.others]))].filter((own) => !ends.has(own));
    const tiles = new Map<number, Tile>();
    for await (const tile of source.tiles(apart ? group : [...group, ...others], want, options))
      tiles.set(tile.chunk, tile);
    for (const other of apart ? others : [])
      try {
        for await (const tile of source.tiles([other], want, options)) tiles.set(other, tile);
      } catch (error) {
        if (!(error instanceof OctavoError)) throw error;
      }
    for (const chunk of group) {
      options.signal?.throwIfAborted();
      yield await linked(source, chunk, ends.get(chunk)!, tiles, dress, options);
    }
  }
}

/** The ends of the links of a chunk, as chunk and vertex, and the other chunks among them. */
interface Ends {
  readonly chunks: number[];
  readonly vertices: number[];
  readonly others: Set<number>;
}

async function endsAt(source: LevelSource, group: readonly number[], options: ReadOptions): Promise<Map<number, Ends>> {
  const found = new Map(group.map((chunk): [number, Ends] => [chunk, { chunks: [], vertices: [], others: new Set() }]));
  if (source.linkWidth === 0) return found;
  for await (const set of source.links({ chunks: group, incoming: true }, [], options)) takeEnds(set, found);
  return found;
}

function takeEnds({ width, count, chunks, vertices }: LinkSet, found: ReadonlyMap<number, Ends>): void {
  for (let link = 0; link < count; link++) {
    const at = link * width;
    for (let k = 0; k < width; k++) {
      const chunk = chunks[at + k]!;
      const own = found.get(chunk);
      if (own === undefined || chunks.indexOf(chunk, at) < at + k) continue; // it has it already
      for (let end = at; end < at + width; end++) {
        own.chunks.push(chunks[end]!);
        own.vertices.push(vertices[end]!);
        if (chunks[end] !== chunk) own.others.add(chunks[end]!);
      }
    }
  }
}

async function linked(
  source: LevelSource,
  chunk: number,
  ends: Ends,
  tiles: ReadonlyMap<number, Tile>,
  dress: Dress,
  options: ReadOptions,
): Promise<LinkedChunk> {
  const { level, geometry, dims, objects } = source;
  const own = tiles.get(chunk)!;
  const width = linkWidthOf(source);
  const numbered = numberEnds(chunk, ends, width, tiles);
  const total = own.vertices + numbered.others.reduce((sum, { vertices }) => sum + vertices.length, 0);
  const positions = roomLike(own.positions, total * dims);
  positions.set(own.positions);
  const places = new Int32Array(total).fill(chunk);
  const columns = new ColumnsBuilder(total);
  columns.put(own.vertexColumns, 0, own.vertices, 0);
  const parts = [...own.parts];
  const owned = { chunk: parts.slice(1).map(() => chunk), part: parts.slice(1).map((_, part) => part) };
  let at = own.vertices;
  for (const { tile, vertices } of numbered.others) {
    columns.put(pickRows(tile.vertexColumns, vertices), 0, vertices.length, at);
    places.fill(tile.chunk, at, at + vertices.length);
    for (const vertex of vertices) {
      const part = runOf(tile.parts, vertex);
      // Those of one part follow each other, and are one part here.
      if (owned.chunk.at(-1) === tile.chunk && owned.part.at(-1) === part) parts.pop();
      else {
        owned.chunk.push(tile.chunk);
        owned.part.push(part);
      }
      for (let axis = 0; axis < dims; axis++) positions[at * dims + axis] = tile.positions[vertex * dims + axis]!;
      parts.push(++at);
    }
  }
  const asked = { chunk: Int32Array.from(owned.chunk), part: Uint32Array.from(owned.part) };
  const batch: Batch = {
    level,
    geometry,
    dims,
    positions,
    parts: Uint32Array.from(parts),
    ...(await ownersOf(objects, asked, columnsOf(dress, "object"), options)),
    links: { width, ends: source.sequential ? withSteps(numbered.ends, own) : numbered.ends, columns: new Map() },
    fragments: undefined,
    vertexColumns: columns.done(),
    chunk: undefined,
  };
  return { chunk, batch, places };
}

/** Links by the numbers that their ends get here; those with an end in a chunk that is not there are left out. */
function numberEnds(
  chunk: number,
  { chunks, vertices, others }: Ends,
  width: number,
  tiles: ReadonlyMap<number, Tile>,
): { readonly ends: Uint32Array; readonly others: { readonly tile: Tile; readonly vertices: Uint32Array }[] } {
  const own = tiles.get(chunk)!;
  const used = new Map([...others].sort((a, b) => a - b).map((other) => [other, new Set<number>()]));
  const known = (end: number): boolean => chunks[end] === chunk || tiles.has(chunks[end]!);
  const links: number[] = [];
  for (let link = 0; link < chunks.length; link += width) {
    let all = true;
    for (let k = 0; all && k < width; k++) all = known(link + k);
    if (!all) continue;
    links.push(link);
    for (let end = link; end < link + width; end++) {
      const { vertices: most } = tiles.get(chunks[end]!)!;
      if (vertices[end]! >= most)
        throw new Corrupt(`a link ends at vertex ${vertices[end]} of a chunk, but the chunk has ${most} vertices`);
      used.get(chunks[end]!)?.add(vertices[end]!);
    }
  }
  const numbers = new Map<number, Map<number, number>>();
  const found: { tile: Tile; vertices: Uint32Array }[] = [];
  let next = own.vertices;
  for (const [other, set] of used) {
    if (set.size === 0) continue;
    const sorted = Uint32Array.from(set).sort();
    numbers.set(other, new Map(Array.from(sorted, (vertex) => [vertex, next++])));
    found.push({ tile: tiles.get(other)!, vertices: sorted });
  }
  const ends = new Uint32Array(links.length * width);
  for (const [i, link] of links.entries())
    for (let k = 0; k < width; k++) {
      const [of, vertex] = [chunks[link + k]!, vertices[link + k]!];
      ends[i * width + k] = of === chunk ? vertex : numbers.get(of)!.get(vertex)!;
    }
  return { ends, others: found };
}

/** With a link from each vertex to the one before it in its part, unless one says otherwise of it. */
function withSteps(ends: Uint32Array, { parts, vertices }: Tile): Uint32Array {
  const linkless = new Uint8Array(vertices).fill(1);
  for (let end = 0; end < ends.length; end += 2) linkless[ends[end]!] = 0; // beyond its own it is nothing
  for (let part = 0; part + 1 < parts.length; part++) if (parts[part]! < vertices) linkless[parts[part]!] = 0;
  const steps: number[] = [];
  for (let v = linkless.indexOf(1); v >= 0; v = linkless.indexOf(1, v + 1)) steps.push(v, v - 1);
  const out = new Uint32Array(ends.length + steps.length);
  out.set(ends);
  out.set(steps, ends.length);
  return out;
}
