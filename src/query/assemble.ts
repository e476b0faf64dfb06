/** Objects put together, a number of them at a time, as one batch; layout.ts says where everything goes. */
import { LimitExceeded } from "../errors.js";
import { type Limits, withLimits } from "../limits.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Tile } from "../model/source.js";
import type { Batch, Links, Positions } from "../model/vectors.js";
import { heldLong, nextTurn } from "../store/turn.js";
import { ColumnsBuilder, copyRuns, roomLike } from "./columns.js";
import { type Items, type Layout, lay } from "./layout.js";

/** The attributes to bring along, by domain. */
export interface Wanted {
  readonly vertex: readonly string[];
  readonly fragment: readonly string[];
  readonly object: readonly string[];
  readonly link: readonly string[];
}

/** A batch that knows where it came from. */
export interface Assembled extends Batch {
  readonly fragments: NonNullable<Batch["fragments"]> & {
    /** The chunk of each fragment, and its number there. */
    readonly chunk: Int32Array;
    readonly part: Uint32Array;
  };
  /** Object row of each of `ids`. */
  readonly rows: Uint32Array;
  /** The first so many links are stored, and have rows in the columns; the rest is implied. */
  readonly storedLinks: number;
  /** Whether links lead out of it, or from object to object: links.ts leaves those to between.ts. */
  readonly loose: boolean;
}

export const isPath = ({ geometry }: { readonly geometry: string }): boolean =>
  geometry === "lines" || geometry === "polylines" || geometry === "streamlines";

/** Vertices per link of a batch; 0 where there are none. Paths have none, whatever is stored. */
export const linkWidthOf = (source: LevelSource): number =>
  isPath(source) ? 0 : source.linkWidth > 0 ? source.linkWidth : source.sequential ? 2 : 0;

/** Gives the links of what is put together. */
export type Linker = (layout: Layout) => Promise<Pick<Assembled, "storedLinks" | "loose"> & { readonly links: Links }>;

/** Chunks from where on those that nobody will ask for again soon are not kept. */
const MANY = 64;

/** `once`: whoever asks will not read the same chunks again for the next batch. */
export async function assemble(
  source: LevelSource,
  items: Items,
  wanted: Wanted,
  linker: Linker,
  options: ReadOptions,
  once = false,
): Promise<Assembled> {
  const { dims, objects } = source;
  const layout = lay(items, isPath(source));
  const total = layout.fragments[layout.count]!;
  const limits = withLimits(options.limits);
  checkRoom(total * dims * 4, limits);
  let positions: Positions | undefined;
  const vertexColumns = new ColumnsBuilder(total);
  const fragmentColumns = new ColumnsBuilder(layout.count);
  const passing = once && layout.chunks.length > MANY;
  const want = { positions: true, vertex: wanted.vertex, fragment: wanted.fragment, passing };
  for await (const tile of source.tiles(layout.chunks, want, options)) {
    if (heldLong()) await nextTurn();
    options.signal?.throwIfAborted();
    if (positions === undefined) {
      checkRoom(total * rowBytes(tile), limits);
      positions = roomLike(tile.positions, total * dims);
    }
    copyTile(tile, layout, dims, positions, vertexColumns, fragmentColumns);
  }
  const rows = new Uint32Array(items.rows.includes(-1) ? items.rows.filter((row) => row >= 0) : items.rows);
  const [ids, objectColumns, linked] = await Promise.all([
    objects === undefined ? new BigInt64Array() : objects.ids(rows, options),
    objects === undefined || rows.length === 0 ? new Map() : objects.columns(wanted.object, rows, options),
    linkWidthOf(source) > 0 ? linker(layout) : undefined,
  ]);
  options.signal?.throwIfAborted();
  return {
    level: source.level,
    geometry: source.geometry,
    dims,
    positions: positions ?? new Float32Array(),
    parts: layout.parts,
    objects: objectPlaces(items.rows, layout.items),
    ids,
    rows,
    links: linked?.links,
    storedLinks: linked?.storedLinks ?? 0,
    loose: linked?.loose === true,
    fragments: {
      offsets: layout.fragments,
      columns: fragmentColumns.done(),
      chunk: layout.chunk,
      part: layout.part,
    },
    vertexColumns: vertexColumns.done(),
    objectColumns,
    chunk: layout.chunks.length === 1 ? chunkOf(await source.chunks(options), layout.chunks[0]!) : undefined,
  };
}

/** LimitExceeded where a result would be larger than allowed. */
export function checkRoom(bytes: number, { resultBytes }: Limits): void {
  if (bytes > resultBytes)
    throw new LimitExceeded(
      `the answer is ${bytes} bytes in one piece, more than the ${resultBytes} that are allowed`,
      {
        hint: "take it in batches, or ask for a smaller part",
      },
    );
}

/** What a vertex takes with its attributes. */
export function rowBytes({ vertices, positions, vertexColumns }: Tile): number {
  let bytes = positions.byteLength;
  for (const { values } of vertexColumns.values())
    bytes += "byteLength" in values ? values.byteLength : values.length * 16;
  return vertices === 0 ? 0 : bytes / vertices;
}

/** Items without an owner have no id: the ids are those of the others, in their order. */
function objectPlaces(rows: Int32Array, items: Uint32Array): Int32Array {
  const places = new Int32Array(rows.length);
  for (let i = 0, next = 0; i < rows.length; i++) places[i] = rows[i]! < 0 ? -1 : next++;
  const out = new Int32Array(items.length);
  for (let part = 0; part < items.length; part++) out[part] = places[items[part]!]!;
  return out;
}

export const chunkOf = ({ coords, rank }: { coords: Int32Array; rank: number }, chunk: number): number[] => [
  ...coords.subarray(chunk * rank, (chunk + 1) * rank),
];

function copyTile(
  tile: Tile,
  { places, starts, order, fragments, from, part }: Layout,
  dims: number,
  positions: Positions,
  vertices: ColumnsBuilder,
  ofFragments: ColumnsBuilder,
): void {
  const at = places[tile.chunk]!;
  const [first, last] = [starts[at]!, starts[at + 1]!];
  const runs = { order, first, last, from, offsets: fragments };
  copyRuns(tile.positions, positions, dims, runs);
  if (tile.vertexColumns.size > 0) {
    let rows = 0;
    for (let i = first; i < last; i++) rows += fragments[order[i]! + 1]! - fragments[order[i]!]!;
    vertices.scatter(tile.vertexColumns, runs, rows);
  }
  ofFragments.scatter(tile.fragmentColumns, { order, first, last, from: part, offsets: undefined }, last - first);
}
