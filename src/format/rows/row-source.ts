/**
 * Data without chunks in space, as the query engine wants it: pieces that are read one by one, of each object one part of one piece.
 *
 * A piece is a chunk of the engine: one skeleton or mesh, a cell of annotations, or a stretch of a file. The objects lie one after the other, those
 * of a piece together, so that an object's row says where it is. Where nobody knows which space a piece takes before it is
 * read, its box is all of space, and the source is `scattered`: a query for a region then looks at everything, once.
 */
import { radixOrder } from "../../bytes/radix.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions, ReadPlan } from "../../model/dataset.js";
import type { ChunkTable, LevelSource, LinkSet, ObjectSource, Placement, Tile } from "../../model/source.js";
import type { Columns, Geometry, Positions, Schema } from "../../model/vectors.js";
import { ColumnsBuilder } from "../../query/columns.js";

/** A piece, decoded. */
export interface Piece {
  readonly positions: Positions;
  /** A part for each object of the piece, in the order of rows; of pieces without objects any parts. */
  readonly parts: Uint32Array;
  /** `linkWidth` vertex numbers for each link. */
  readonly links?: Uint32Array | undefined;
  /** A row for each link. */
  readonly linkColumns?: Columns | undefined;
  readonly vertexColumns: Columns;
  /** A row for each object of the piece. */
  readonly objectColumns: Columns;
}

/** The ids of objects, by row. */
export type Ids = BigInt64Array | BigUint64Array;

/** Groups of objects: who is in each, and a row of attributes for each. */
export interface RowGroups {
  readonly members: readonly Uint32Array[];
  readonly columns: Columns;
}

/** What of it exists, and how to get it. */
export interface RowTable {
  readonly level: number;
  readonly dims: number;
  readonly geometry: Geometry;
  readonly linkWidth: number;
  readonly schema: Schema;
  /** The coordinates of pieces: `rank` numbers each, ascending. */
  readonly rank: number;
  readonly coords: Int32Array;
  /** min, then max of each piece, 2 × dims numbers; undefined: nobody knows. */
  readonly boxes: Float64Array | undefined;
  /** The objects: piece p has the rows starts[p] up to starts[p + 1]. undefined: points that stand for themselves. */
  readonly objects: { readonly ids: Ids; readonly starts: Uint32Array } | undefined;
  /** The rows of objects without vertices, ascending, where they are known before pieces are read. */
  readonly empty?: Uint32Array | undefined;
  /** These pieces, each once, as they come. */
  load(pieces: readonly number[], options: ReadOptions): AsyncIterable<readonly [piece: number, decoded: Piece]>;
  /** Attributes of objects that no piece holds. */
  columns?(names: readonly string[], ids: Ids, options?: ReadOptions): Promise<Columns>;
  /** Groups of objects, as rows, and their attributes. */
  readonly groups?: RowGroups | undefined;
  /** Vertices of a piece, where they are known without reading it. */
  vertices?(piece: number): number;
  cost(pieces: readonly number[], options?: ReadOptions): Promise<ReadPlan>;
}

const NONE: Columns = new Map();
const KEPT_BYTES = 128 << 20;
const GROUP = 256; // pieces that are asked for together

export function rowSource(table: RowTable): LevelSource {
  const { level, dims, geometry, linkWidth, schema, boxes, objects } = table;
  const chunks = chunkTable(table);
  const kept = new Map<number, Piece>();
  let bytes = 0;

  function keep(piece: number, decoded: Piece, most: number): void {
    kept.set(piece, decoded);
    bytes += sizeOf(decoded);
    for (const [old, other] of kept) {
      if (bytes <= most || old === piece) break;
      kept.delete(old);
      bytes -= sizeOf(other);
    }
  }
  let rows: number | undefined; // of all pieces
  /** Whether points one piece after the other would take more than half of what is kept: whoever reads them all again would find none. */
  function passes(piece: number, decoded: Piece, most: number): boolean {
    const { vertices } = table;
    if (vertices === undefined || objects !== undefined) return false;
    rows ??= Array.from({ length: chunks.count }, (_, own) => vertices(own)).reduce((sum, count) => sum + count, 0);
    return (sizeOf(decoded) * rows) / Math.max(1, vertices(piece)) > most / 2;
  }

  async function* pieces(wanted: readonly number[], options: ReadOptions = {}) {
    for (let from = 0; from < wanted.length; from += GROUP) {
      const missing: number[] = [];
      for (const piece of wanted.slice(from, from + GROUP)) {
        const known = kept.get(piece);
        if (known !== undefined) yield [piece, known] as const;
        else missing.push(piece);
      }
      for await (const [piece, decoded] of table.load(missing, options)) {
        options.signal?.throwIfAborted();
        const most = Math.min(KEPT_BYTES, withLimits(options.limits).keptBytes / 2); // what is made of it takes as much
        if (!passes(piece, decoded, most)) keep(piece, decoded, most);
        yield [piece, decoded] as const;
      }
    }
  }

  return {
    level,
    dims,
    geometry,
    linkWidth,
    sequential: geometry === "lines" || geometry === "polylines" || geometry === "streamlines",
    scattered: boxes === undefined ? true : undefined,
    schema: async () => schema,
    chunks: async () => chunks,
    async *tiles(wanted, { vertex }, options): AsyncGenerator<Tile> {
      for await (const [chunk, { positions, parts, vertexColumns }] of pieces(wanted, options)) {
        const columns = new Map([...vertexColumns].filter(([name]) => vertex.includes(name)));
        const vertices = positions.length / dims;
        yield {
          chunk,
          vertices,
          positions,
          parts,
          vertexColumns: columns,
          fragmentColumns: new Map(),
          own: !kept.has(chunk),
        };
      }
    },
    async *links(filter, names, options): AsyncGenerator<LinkSet> {
      if (linkWidth === 0) return;
      const wanted = "chunks" in filter ? filter.chunks : chunks.meeting(filter.meets);
      for await (const [piece, { links = new Uint32Array(), linkColumns = NONE }] of pieces(wanted, options)) {
        const at = new Int32Array(links.length).fill(piece);
        const columns = new Map([...linkColumns].filter(([name]) => names.includes(name)));
        yield { width: linkWidth, count: links.length / linkWidth, chunks: at, vertices: links, columns };
      }
    },
    objects: objects && objectsOf(objects, table, pieces),
    cost: (wanted, _want, options) => table.cost(wanted, options),
    async counts(wanted, options) {
      if (table.vertices !== undefined) return Uint32Array.from(wanted, (piece) => table.vertices!(piece));
      const found = new Map<number, number>();
      for await (const [piece, { positions }] of pieces(wanted, options)) found.set(piece, positions.length / dims);
      return Uint32Array.from(wanted, (piece) => found.get(piece)!);
    },
  };
}

function sizeOf({ positions, parts, links, linkColumns = NONE, vertexColumns, objectColumns }: Piece): number {
  let bytes = 256 + positions.byteLength + parts.byteLength + (links?.byteLength ?? 0);
  for (const columns of [vertexColumns, objectColumns, linkColumns])
    for (const { values } of columns.values()) bytes += "byteLength" in values ? values.byteLength : values.length * 16;
  return bytes;
}

function chunkTable({ rank, dims, coords, boxes }: RowTable) {
  const count = coords.length / rank;
  const table: ChunkTable = {
    count,
    rank,
    coords,
    find(place, at = 0) {
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >>> 1;
        let order = 0;
        for (let k = 0; order === 0 && k < rank; k++) order = coords[middle * rank + k]! - place[at + k]!;
        if (order === 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
      }
      return -1;
    },
    box(chunk, min, max) {
      for (let axis = 0; axis < dims; axis++) {
        min[axis] = boxes?.[2 * dims * chunk + axis] ?? Number.NEGATIVE_INFINITY;
        max[axis] = boxes?.[2 * dims * chunk + dims + axis] ?? Number.POSITIVE_INFINITY;
      }
    },
  };
  const meeting = (meets: (min: Float64Array, max: Float64Array) => boolean): number[] => {
    const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
    return Array.from({ length: count }, (_, chunk) => chunk).filter((chunk) => {
      table.box(chunk, min, max);
      return meets(min, max);
    });
  };
  return { ...table, meeting };
}

type Pieces = (wanted: readonly number[], options?: ReadOptions) => AsyncIterable<readonly [number, Piece]>;

function objectsOf(
  { ids, starts }: NonNullable<RowTable["objects"]>,
  { columns, groups, empty }: RowTable,
  pieces: Pieces,
): ObjectSource {
  const isEmpty = new Set(empty);
  const pieceOf = (row: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= row) low = middle;
      else high = middle;
    }
    return low;
  };
  /** One part for each of the rows. */
  const parts = (rows: Uint32Array): Pick<Placement, "chunk" | "first"> => {
    const chunk = Int32Array.from(rows, pieceOf);
    return { chunk, first: rows.map((row, i) => row - starts[chunk[i]!]!) };
  };
  const place = (rows: Uint32Array): Placement => {
    const filled = isEmpty.size === 0 ? rows : rows.filter((row) => !isEmpty.has(row));
    const offsets = new Uint32Array(rows.length + 1);
    for (const [i, row] of rows.entries()) offsets[i + 1] = offsets[i]! + (isEmpty.has(row) ? 0 : 1);
    return { offsets, ...parts(filled), count: new Uint32Array(filled.length).fill(1) };
  };
  let finder: ((id: bigint) => number) | undefined;
  return {
    rows: ids.length,
    ids: async (rows) => (rows === undefined ? ids : pick(ids, rows)),
    async rowsOf(wanted) {
      finder ??= rowFinder(ids);
      return Int32Array.from(wanted, finder);
    },
    place: async (rows) => place(rows),
    owners: async ({ chunk, part }) => ({
      offsets: Uint32Array.from({ length: part.length + 1 }, (_, i) => i),
      rows: part.map((own, i) => starts[chunk[i]!]! + own),
    }),
    orphans: async () => ({ chunk: new Int32Array(), part: new Uint32Array() }),
    async *joints() {},
    async columns(names, rows, options) {
      if (names.length === 0) return new Map();
      if (columns === undefined) return gather(names, rows, parts(rows), pieces, options);
      return columns(names, pick(ids, rows), options);
    },
    group: async (group) => groups?.members[group],
    groupColumns: async (names) => ({
      count: groups?.members.length ?? 0,
      columns: new Map([...(groups?.columns ?? NONE)].filter(([name]) => names.includes(name))),
    }),
  };
}

function pick(ids: Ids, rows: Uint32Array): Ids {
  const picked = ids instanceof BigInt64Array ? new BigInt64Array(rows.length) : new BigUint64Array(rows.length);
  for (let i = 0; i < rows.length; i++) picked[i] = ids[rows[i]!]!;
  return picked;
}

/** Attributes of objects from the pieces that they lie in. */
async function gather(
  names: readonly string[],
  rows: Uint32Array,
  { chunk, first }: Pick<Placement, "chunk" | "first">,
  pieces: Pieces,
  options: ReadOptions | undefined,
): Promise<Columns> {
  const places = new Map<number, number[]>();
  for (const [place, piece] of chunk.entries()) {
    const known = places.get(piece);
    if (known === undefined) places.set(piece, [place]);
    else known.push(place);
  }
  const builder = new ColumnsBuilder(rows.length);
  for await (const [piece, { objectColumns }] of pieces([...places.keys()], options)) {
    const order = Uint32Array.from(places.get(piece)!);
    const wanted = new Map([...objectColumns].filter(([name]) => names.includes(name)));
    builder.scatter(wanted, { order, first: 0, last: order.length, from: first, offsets: undefined }, order.length);
  }
  return builder.done();
}

/** From an id to its row, or −1. */
export function rowFinder(ids: Ids): (id: bigint) => number {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
  const [low, high] = [new Uint32Array(ids.length), new Uint32Array(ids.length)];
  const sign = ids instanceof BigInt64Array ? 0x8000_0000 : 0; // of which the negative ones come first
  for (let i = 0; i < ids.length; i++) {
    low[i] = words[2 * i]!;
    high[i] = words[2 * i + 1]! ^ sign;
  }
  const order = radixOrder([low, high], ids.length);
  return (id) => {
    let [from, to] = [0, order.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = ids[order[middle]!]!;
      if (found === id) return order[middle]!;
      if (found < id) from = middle + 1;
      else to = middle;
    }
    return -1;
  };
}
