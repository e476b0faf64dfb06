/**
 * What the query engine asks of one level of a dataset, whatever the format. The engine knows what a query means; a source
 * knows where the bytes lie. Chunks, parts and objects are numbers here: a chunk is its place in the chunk table, a part
 * (a fragment) its number in its chunk, an object its row in the object table.
 *
 * Every vertex lies in the space of its chunk. A segment between two vertices of one part therefore lies in the chunk as well;
 * one between parts (a joint of a path, or a link) lies in the hull of their chunks.
 */

import type { ReadOptions, ReadPlan } from "./dataset.js";
import type { Columns, Geometry, Positions, Schema } from "./vectors.js";

/** The chunks that hold anything, in ascending order of their coordinates. */
export interface ChunkTable {
  readonly count: number;
  /** Coordinates per chunk: those of space, after others by which a level is chunked. */
  readonly rank: number;
  /** count × rank. */
  readonly coords: Int32Array;
  /** The chunk at these coordinates (from `at` of the list), or −1. */
  find(coords: ArrayLike<number>, at?: number): number;
  /** The space of a chunk: from `min` up to, on no axis beyond, `max`. */
  box(chunk: number, min: Float64Array, max: Float64Array): void;
}

/** What of a chunk is wanted besides its positions and parts. */
export interface Want {
  /** Off: only parts. */
  readonly positions: boolean;
  readonly vertex: readonly string[];
  readonly fragment: readonly string[];
  /**
   * Each tile is gone when the next one is asked for, and nothing is kept for later: for who copies much at once, because memory
   * that is used again costs nothing, and fresh memory more than decoding into it.
   */
  readonly passing?: boolean | undefined;
}

/** One chunk, decoded. Its vertices are the parts one after the other. Tiles are shared: nobody writes into one. */
export interface Tile {
  readonly chunk: number;
  readonly vertices: number;
  readonly positions: Positions;
  /** Part f is the vertices parts[f] up to parts[f + 1]. */
  readonly parts: Uint32Array;
  readonly vertexColumns: Columns;
  readonly fragmentColumns: Columns;
  /** Whoever gets it may have its arrays: nobody else will. */
  readonly own?: boolean | undefined;
}

/** Some links, whose ends may lie in different chunks. */
export interface LinkSet {
  readonly width: number;
  readonly count: number;
  /** count × width: the chunk and the vertex of each end, in the order of the input (winding, direction). */
  readonly chunks: Int32Array;
  readonly vertices: Uint32Array;
  readonly columns: Columns;
}

/**
 * Which of the link cells: those stored with one of these chunks (`incoming`: also those with another end in one of them), or
 * those whose hull passes a test. More may come; none comes twice.
 */
export type LinkFilter =
  | { readonly chunks: readonly number[]; readonly incoming?: boolean | undefined }
  | {
      /** Whether what lies between these corners is wanted. */
      readonly meets: (min: Float64Array, max: Float64Array) => boolean;
    };

/** Where objects lie: object i (of those asked for) is the blocks offsets[i] up to offsets[i + 1], in the order of the object. */
export interface Placement {
  readonly offsets: Uint32Array;
  /** Block b is the parts first[b] up to first[b] + count[b] of chunk chunk[b]. */
  readonly chunk: Int32Array;
  readonly first: Uint32Array;
  readonly count: Uint32Array;
}

/**
 * Consecutive parts of a path: the last vertex of one is joined to the first of the other. A part without vertices is in no
 * joint: those before and after it are.
 */
export interface Joints {
  readonly count: number;
  readonly object: Int32Array;
  readonly chunkA: Int32Array;
  readonly partA: Uint32Array;
  readonly chunkB: Int32Array;
  readonly partB: Uint32Array;
}

/** Parts, as pairs. */
export interface Parts {
  readonly chunk: Int32Array;
  readonly part: Uint32Array;
}

/** The objects of a level. */
export interface ObjectSource {
  readonly rows: number;
  /** The ids of these rows, or of all. */
  ids(rows?: Uint32Array, options?: ReadOptions): Promise<BigInt64Array | BigUint64Array>;
  /** The row of each id, or −1. */
  rowsOf(ids: readonly bigint[], options?: ReadOptions): Promise<Int32Array>;
  /** Where these objects lie. */
  place(rows: Uint32Array, options?: ReadOptions): Promise<Placement>;
  /** Which objects own these parts: for part i the objects offsets[i] up to offsets[i + 1] of `rows`. */
  owners(parts: Parts, options?: ReadOptions): Promise<{ readonly offsets: Uint32Array; readonly rows: Uint32Array }>;
  /** The parts with vertices that no object owns. */
  orphans(options?: ReadOptions): Promise<Parts>;
  /**
   * The joints of all paths whose hull (of the two chunks) passes the test, piece by piece; those of rows with a 1 in `skip` need
   * not come.
   */
  joints(
    meets: (min: Float64Array, max: Float64Array) => boolean,
    options?: ReadOptions,
    skip?: Uint8Array,
  ): AsyncIterable<Joints>;
  /** These attributes of these objects. */
  columns(names: readonly string[], rows: Uint32Array, options?: ReadOptions): Promise<Columns>;
  /** The members of a group, as rows; undefined where there is no such group. */
  group(group: number, options?: ReadOptions): Promise<Uint32Array | undefined>;
  /** Attributes of all groups, one row for each. */
  groupColumns(
    names: readonly string[],
    options?: ReadOptions,
  ): Promise<{ readonly count: number; readonly columns: Columns }>;
}

/** One level of a dataset. */
export interface LevelSource {
  readonly level: number;
  readonly dims: number;
  readonly geometry: Geometry;
  /** Vertices per link as stored; 0 where there are none, and of paths, whose objects say what follows what. */
  readonly linkWidth: number;
  /** Whether consecutive vertices of a part are joined although no link says so: paths; and skeletons, unless a stored link (child, parent) says otherwise of the child. */
  readonly sequential: boolean;
  /** Nobody knows where a chunk lies before it is read: its box is all of space, and what touches is not looked for beforehand. */
  readonly scattered?: true | undefined;
  /** So many chunks are best asked for at once: they are read together. 64 where nothing is said. */
  readonly together?: number | undefined;
  /** Its attributes. */
  schema(options?: ReadOptions): Promise<Schema>;
  /** Its chunks. */
  chunks(options?: ReadOptions): Promise<ChunkTable>;
  /** The tiles of these chunks, each once, in no particular order, a bounded number under way at once. */
  tiles(chunks: readonly number[], want: Want, options?: ReadOptions): AsyncIterable<Tile>;
  /** Its links with these attributes, piece by piece. */
  links(filter: LinkFilter, columns: readonly string[], options?: ReadOptions): AsyncIterable<LinkSet>;
  readonly objects: ObjectSource | undefined;
  /** What reading these chunks would cost, and the links stored with them and these attributes of those, without reading them. */
  cost(
    chunks: readonly number[],
    want: Want & { readonly links?: readonly string[] | undefined },
    options?: ReadOptions,
  ): Promise<ReadPlan>;
  /** Vertices of each of these chunks, read from indexes (not from data). */
  counts(chunks: readonly number[], options?: ReadOptions): Promise<Uint32Array>;
}
