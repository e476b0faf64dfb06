/** Point clouds without objects: every point stands for itself, so each chunk is looked at by itself. */
import { withLimits } from "../limits.js";
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, LevelSource, Tile } from "../model/source.js";
import type { SelectOptions } from "../model/vectors.js";
import { heldLong, nextTurn } from "../store/turn.js";
import { type Assembled, assemble, checkRoom, chunkOf, type Linker } from "./assemble.js";
import { partSizes } from "./bound.js";
import { chunksIn } from "./candidates.js";
import { verticesInside } from "./clip.js";
import { ColumnsBuilder, roomLike } from "./columns.js";
import type { Items } from "./layout.js";
import { masksOf } from "./masks.js";
import { Region } from "./region.js";
import type { Resolved } from "./resolve.js";
import { BATCH } from "./windows.js";

export const isCloud = ({ geometry, objects }: LevelSource): boolean =>
  geometry === "points" && (objects === undefined || objects.rows === 0);

const GROUP = 64; // tiles in hand at once: they come in any order, and are handed on in that of the table

export async function* cloud(question: Resolved, options: SelectOptions): AsyncGenerator<Assembled> {
  const { source, region, wanted, orphans } = question;
  if (!orphans) return;
  const target = options.batchVertices ?? BATCH;
  const limits = withLimits(options.limits);
  const table = await source.chunks(options);
  const chunks = chunksIn(table, region, source.dims);
  if (region === undefined && question.where === undefined) {
    yield* everyPoint(question, table, chunks, target, options);
    return;
  }
  let pieces: Assembled[] = [];
  let [vertices, bytes] = [0, 0];
  const group = source.together ?? GROUP;
  for (let from = 0; from < chunks.length; from += group) {
    for (const tile of await sorted(source, chunks.slice(from, from + group), wanted, options)) {
      const piece = inside(tile, table, question);
      if (piece.positions.length === 0) continue;
      pieces.push(piece);
      vertices += piece.positions.length / piece.dims;
      bytes += sizeOf(piece);
      checkRoom(bytes, limits);
      if (vertices < target) continue;
      yield stacked(pieces);
      [pieces, vertices, bytes] = [[], 0, 0];
    }
  }
  if (pieces.length > 0) yield stacked(pieces);
}

/** All points: where each chunk goes is known from its index, and it is copied there as it comes. */
async function* everyPoint(
  question: Resolved,
  table: ChunkTable,
  chunks: readonly number[],
  target: number,
  options: ReadOptions,
): AsyncGenerator<Assembled> {
  const { source, wanted } = question;
  let sizes = new Map<number, Uint32Array>();
  let vertices = 0;
  for (let from = 0; from < chunks.length; from += GROUP) {
    const some = chunks.slice(from, from + GROUP);
    const known = await partSizes(source, Int32Array.from(some), options);
    for (const chunk of some) {
      sizes.set(chunk, known.get(chunk)!);
      vertices += known.get(chunk)!.at(-1)!;
      if (vertices < target && chunk !== chunks.at(-1)) continue;
      // What is one piece of a file, and nobody's else, need not be copied.
      const [only] =
        sizes.size === 1 && source.scattered === true ? await sorted(source, [chunk], wanted, options) : [];
      if (only?.own === true && vertices > 0) yield inside(only, table, question);
      else if (vertices > 0) yield assemble(source, asItems(sizes), wanted, noLinks, options, true);
      [sizes, vertices] = [new Map(), 0];
    }
  }
}

/** Each chunk with all its parts as one thing that nobody owns. */
function asItems(sizes: ReadonlyMap<number, Uint32Array>): Items {
  const chunk = Int32Array.from(sizes.keys());
  return {
    rows: new Int32Array(chunk.length).fill(-1),
    place: {
      offsets: Uint32Array.from({ length: chunk.length + 1 }, (_, i) => i),
      chunk,
      first: new Uint32Array(chunk.length),
      count: Uint32Array.from(chunk, (own) => sizes.get(own)!.length - 1),
    },
    sizes,
  };
}

const noLinks: Linker = () => Promise.reject(new Error("points have no links"));

async function sorted(
  source: LevelSource,
  chunks: readonly number[],
  { vertex, fragment }: Resolved["wanted"],
  options: ReadOptions,
): Promise<Tile[]> {
  const tiles: Tile[] = [];
  for await (const tile of source.tiles(chunks, { positions: true, vertex, fragment }, options)) {
    if (heldLong()) await nextTurn();
    options.signal?.throwIfAborted();
    tiles.push(tile);
  }
  return tiles.sort((a, b) => a.chunk - b.chunk);
}

/** What of a tile is in the answer. */
function inside(tile: Tile, table: ChunkTable, { source, region, where }: Resolved): Assembled {
  const { level, geometry, dims } = source;
  const count = tile.parts.length - 1;
  const whole: Assembled = {
    level,
    geometry,
    dims,
    positions: tile.positions,
    parts: tile.vertices === 0 ? Uint32Array.of(0) : Uint32Array.of(0, tile.vertices),
    objects: new Int32Array(tile.vertices === 0 ? 0 : 1).fill(-1),
    ids: new BigInt64Array(),
    rows: new Uint32Array(),
    links: undefined,
    storedLinks: 0,
    loose: false,
    fragments: {
      offsets: tile.parts,
      columns: tile.fragmentColumns,
      chunk: new Int32Array(count).fill(tile.chunk),
      part: Uint32Array.from({ length: count }, (_, part) => part),
    },
    vertexColumns: tile.vertexColumns,
    objectColumns: new Map(),
    chunk: chunkOf(table, tile.chunk),
  };
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  table.box(tile.chunk, min, max);
  const all = region === undefined || Region.relation(region, min, max) === "inside";
  if (all && where === undefined) return whole;
  return verticesInside(whole, all ? undefined : region, masksOf(whole, where));
}

function sizeOf({ positions, vertexColumns }: Assembled): number {
  let bytes = positions.byteLength;
  for (const { values } of vertexColumns.values())
    bytes += "byteLength" in values ? values.byteLength : values.length * 16;
  return bytes;
}

/** Pieces one after the other; copied also where there is one, because tiles are shared. */
function stacked(pieces: readonly Assembled[]): Assembled {
  const first = pieces[0]!;
  const { dims } = first;
  const vertices = pieces.map(({ positions }) => positions.length / dims);
  const total = vertices.reduce((sum, count) => sum + count, 0);
  const fragments = pieces.reduce((sum, piece) => sum + piece.fragments.chunk.length, 0);
  const positions = roomLike(first.positions, total * dims);
  const vertexColumns = new ColumnsBuilder(total);
  const fragmentColumns = new ColumnsBuilder(fragments);
  const [parts, offsets] = [new Uint32Array(pieces.length + 1), new Uint32Array(fragments + 1)];
  const [chunk, part] = [new Int32Array(fragments), new Uint32Array(fragments)];
  let [vertex, fragment] = [0, 0];
  for (const [i, piece] of pieces.entries()) {
    positions.set(piece.positions, vertex * dims);
    vertexColumns.put(piece.vertexColumns, 0, vertices[i]!, vertex);
    const own = piece.fragments;
    fragmentColumns.put(own.columns, 0, own.chunk.length, fragment);
    for (let f = 0; f < own.chunk.length; f++) offsets[fragment + f + 1] = vertex + own.offsets[f + 1]!;
    chunk.set(own.chunk, fragment);
    part.set(own.part, fragment);
    fragment += own.chunk.length;
    vertex += vertices[i]!;
    parts[i + 1] = vertex;
  }
  return {
    ...first,
    positions,
    parts,
    objects: new Int32Array(pieces.length).fill(-1),
    fragments: { offsets, columns: fragmentColumns.done(), chunk, part },
    vertexColumns: vertexColumns.done(),
    chunk: pieces.length === 1 ? first.chunk : undefined,
  };
}
