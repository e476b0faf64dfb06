/**
 * The links within a level, chunk by chunk, with their ends as places in the chunk table.
 *
 * From 0.9 on they lie under their offsets: `links/0/+1.0.0` has those from a chunk to the next one along x, in the cell of
 * the first. So it is known which chunks a cell is about before it is read. Before, links within a chunk are cells, and all
 * others are in one blob.
 */
import { Arena } from "../../../codec/room.js";
import { Corrupt } from "../../../errors.js";
import type { Column } from "../../../model/attributes.js";
import type { ReadOptions, ReadPlan } from "../../../model/dataset.js";
import type { ChunkTable, LinkFilter, LinkSet } from "../../../model/source.js";
import type { Columns } from "../../../model/vectors.js";
import { pickRows } from "../../../query/columns.js";
import { once } from "../nodes/once.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { Permutation } from "../payload/permutation.js";
import type { CellOptions, Cells, LevelNodes } from "../types.js";
import { withDracoFaces } from "./link-source-draco.js";
import { flatLinks } from "./link-source-flat.js";
import { attributeInfo } from "./schema.js";
import { sumOf } from "./tiles.js";

/** Cells that are read and handed on together. */
const GROUP = 128;

export interface LinkSource {
  readonly width: number;
  read(filter: LinkFilter, columns: readonly string[], options?: ReadOptions): AsyncIterable<LinkSet>;
  /** What that would cost. */
  cost(filter: LinkFilter, columns: readonly string[], options?: ReadOptions): Promise<ReadPlan>;
}

export interface LinkContext {
  readonly nodes: LevelNodes;
  readonly table: ChunkTable;
  /** Axes of space. */
  readonly dims: number;
  /** The level, for people. */
  readonly where: string;
  readonly vertices: Cells;
  /** Links are faces. */
  readonly mesh: boolean;
}

/** undefined: the level has no links. */
export async function linksOf(context: LinkContext, options?: ReadOptions): Promise<LinkSource | undefined> {
  const links = await storedLinks(context, options);
  return context.vertices.attributes.encoding === "draco" ? withDracoFaces(context, links) : links;
}

async function storedLinks(context: LinkContext, options?: ReadOptions): Promise<LinkSource | undefined> {
  const { nodes } = context;
  if (nodes.dialect.crossLinks === "flat") return flatLinks(context, options);
  const family = await nodes.attributes("links/0", options);
  if (family === undefined) return undefined;
  const width = family.link_width;
  const where = `${context.where}/links/0`;
  if (typeof width !== "number" || !Number.isInteger(width) || width < 1 || width > 12)
    throw new Corrupt(`${where} should have a link_width from 1 to 12, found ${String(width)}`, { where });
  const arrays = once((now) => readFamily(context, width, family.store === "duplicate", now));
  return {
    width,
    read: (filter, columns, now) => readOffsets(context, width, arrays, filter, columns, now),
    cost: (filter, columns, now) => costOfOffsets(context, width, arrays, filter, columns, now),
  };
}

/** One array of the family, and for each of its cells the chunks of all ends. */
interface LinkArray {
  readonly segment: string;
  readonly cells: Cells;
  readonly intra: boolean;
  readonly perm: boolean;
  /** Each link is also in the cells of its other chunks. */
  readonly duplicate: boolean;
  readonly count: number;
  /** count × width. */
  readonly chunks: Int32Array;
  readonly coords: Int32Array;
}

async function readFamily(
  { nodes, table, where: level }: LinkContext,
  width: number,
  duplicate: boolean,
  options?: ReadOptions,
): Promise<LinkArray[]> {
  const segments = await nodes.children("links/0", options);
  const arrays = await Promise.all(
    segments.map(async (segment): Promise<LinkArray | undefined> => {
      const where = `${level}/links/0/${segment}`;
      const cells = await nodes.cells(`links/0/${segment}`, options);
      if (cells === undefined) return undefined;
      const offsets = LinkOffsets.parse(segment, width, table.rank, where);
      const { count, coords } = await cells.directory(options);
      const chunks = new Int32Array(count * width);
      const to = new Int32Array(table.rank);
      for (let cell = 0; cell < count; cell++) {
        for (let k = 0; k < width; k++) {
          for (let axis = 0; axis < table.rank; axis++)
            to[axis] = coords[cell * table.rank + axis]! + (k === 0 ? 0 : offsets[k - 1]![axis]!);
          const chunk = table.find(to);
          if (chunk < 0)
            throw new Corrupt(`${where} has links to chunk ${to.join(".")}, which has no vertices`, { where });
          chunks[cell * width + k] = chunk;
        }
      }
      return {
        segment,
        cells,
        intra: LinkOffsets.isIntra(offsets),
        perm: cells.attributes.has_perm === true,
        duplicate,
        count,
        chunks,
        coords,
      };
    }),
  );
  return arrays.filter((array) => array !== undefined);
}

async function* readOffsets(
  context: LinkContext,
  width: number,
  arrays: (options?: ReadOptions) => Promise<readonly LinkArray[]>,
  filter: LinkFilter,
  columns: readonly string[],
  options?: ReadOptions,
): AsyncGenerator<LinkSet> {
  const room = new Arena();
  for (const array of await arrays(options)) {
    const chosen = chosenCells(context, width, array, filter);
    for (let from = 0; from < chosen.length; from += GROUP)
      yield readCells(context, width, array, chosen.slice(from, from + GROUP), columns, { ...options, room });
  }
}

async function costOfOffsets(
  context: LinkContext,
  width: number,
  arrays: (options?: ReadOptions) => Promise<readonly LinkArray[]>,
  filter: LinkFilter,
  columns: readonly string[],
  options?: ReadOptions,
): Promise<ReadPlan> {
  const costs = (await arrays(options)).map(async (array) => {
    const places = placesOf(context, array, chosenCells(context, width, array, filter));
    const paths = columns.map((name) => `link_attributes/${name}/0/${array.segment}`);
    const cells = [array.cells, ...(await Promise.all(paths.map((path) => context.nodes.cells(path, options))))];
    return sumOf(await Promise.all(cells.map((own) => own?.cost(places, options))));
  });
  return sumOf(await Promise.all(costs));
}

function chosenCells(context: LinkContext, width: number, array: LinkArray, filter: LinkFilter): number[] {
  // A copy may lie with any of its chunks; otherwise links are looked for where they are stored, unless all ends are asked for.
  const everywhere = array.duplicate || !("chunks" in filter) || filter.incoming === true;
  const choose = chooser(context, everywhere ? width : 1, filter);
  const chosen: number[] = [];
  for (let cell = 0; cell < array.count; cell++)
    if (choose(array.chunks, cell * width) && !isCopy(array, width, cell)) chosen.push(cell);
  return chosen;
}

function placesOf({ table }: LinkContext, { coords }: LinkArray, cells: readonly number[]): Int32Array {
  const { rank } = table;
  const places = new Int32Array(cells.length * rank);
  for (const [i, cell] of cells.entries()) places.set(coords.subarray(cell * rank, (cell + 1) * rank), i * rank);
  return places;
}

/** Of the copies of a link only the one with the first of its chunks is taken. */
function isCopy({ duplicate, intra, chunks }: LinkArray, width: number, cell: number): boolean {
  if (!duplicate || intra) return false;
  for (let k = 1; k < width; k++) if (chunks[cell * width + k]! < chunks[cell * width]!) return true;
  return false;
}

/** Whether a cell is asked for, by the chunks of its ends (the first `width` of them). */
export function chooser(
  { table, dims }: LinkContext,
  width: number,
  filter: LinkFilter,
): (chunks: Int32Array, at: number) => boolean {
  if ("chunks" in filter) {
    const wanted = new Uint8Array(table.count);
    for (const chunk of filter.chunks) wanted[chunk] = 1;
    return (chunks, at) => {
      for (let k = 0; k < width; k++) if (wanted[chunks[at + k]!] === 1) return true;
      return false;
    };
  }
  const [min, max, low, high] = [0, 1, 2, 3].map(() => new Float64Array(dims)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return (chunks, at) => {
    table.box(chunks[at]!, min, max);
    for (let k = 1; k < width; k++) {
      table.box(chunks[at + k]!, low, high);
      for (let axis = 0; axis < dims; axis++) {
        min[axis] = Math.min(min[axis]!, low[axis]!);
        max[axis] = Math.max(max[axis]!, high[axis]!);
      }
    }
    return filter.meets(min, max);
  };
}

async function readCells(
  context: LinkContext,
  width: number,
  array: LinkArray,
  chosen: readonly number[],
  columns: readonly string[],
  options: CellOptions & { readonly room: Arena },
): Promise<LinkSet> {
  const { nodes, where: level } = context;
  const { segment, cells, intra, perm, chunks } = array;
  const places = placesOf(context, array, chosen);
  const where = `${level}/links/0/${segment}`;
  const payloads = await cells.read(places, options);
  const parsed = payloads.map((bytes) =>
    LinkCell.parse(bytes ?? new Uint8Array(), { width, ragged: !intra, perm }, where),
  );
  options.room.clear();
  const count = parsed.reduce((sum, cell) => sum + cell.count, 0);
  const out = { chunks: new Int32Array(count * width), vertices: new Uint32Array(count * width) };
  let at = 0;
  for (let i = 0; i < parsed.length; i++) {
    const { count: own, ends, perms } = parsed[i]!;
    const [from, to] = [at, at + own * width];
    const here = chunks.subarray(chosen[i]! * width, (chosen[i]! + 1) * width);
    out.vertices.set(ends, from);
    if (intra) out.chunks.fill(here[0]!, from, to);
    else repeat(here, out.chunks, from, to);
    at = to;
    if (perms === undefined) continue;
    Permutation.restore(out.vertices.subarray(from, to), width, perms, where);
    if (!intra) Permutation.restore(out.chunks.subarray(from, to), width, perms, where);
  }
  const read = new Map<string, Column>();
  await Promise.all(
    columns.map(async (name) => {
      const array = await nodes.cells(`link_attributes/${name}/0/${segment}`, options);
      if (array === undefined) return;
      const info = attributeInfo(name, array.attributes, array.path);
      const blobs = await array.read(places, { ...options, room: undefined });
      const pieces = blobs.map((blob, i) =>
        AttributeCell.parse(blob ?? new Uint8Array(), info, parsed[i]!.count, `${level}/${array.path}`),
      );
      read.set(name, stacked(pieces));
    }),
  );
  return { width, count, ...out, columns: read };
}

function repeat(values: Int32Array, out: Int32Array, from: number, to: number): void {
  for (let at = from, k = 0; at < to; at++) {
    out[at] = values[k]!;
    if (++k === values.length) k = 0;
  }
}

/** Columns of one attribute one below the other. */
export function stacked(pieces: readonly Column[]): Column {
  const { info } = pieces[0]!;
  if (pieces.length === 1) return pieces[0]!;
  const total = pieces.reduce((sum, { values }) => sum + values.length, 0);
  const first = pieces[0]!.values;
  if (Array.isArray(first)) return { info, values: pieces.flatMap(({ values }) => values as string[]) };
  const out = new (first.constructor as Uint8ArrayConstructor)(total);
  let at = 0;
  for (const { values } of pieces) {
    out.set(values as Uint8Array, at);
    at += values.length;
  }
  return { info, values: out };
}

/** Rows of a link set. */
export function pickLinks({ width, chunks, vertices, columns }: LinkSet, rows: readonly number[]): LinkSet {
  const out = { chunks: new Int32Array(rows.length * width), vertices: new Uint32Array(rows.length * width) };
  for (const [i, row] of rows.entries()) {
    out.chunks.set(chunks.subarray(row * width, (row + 1) * width), i * width);
    out.vertices.set(vertices.subarray(row * width, (row + 1) * width), i * width);
  }
  return { width, count: rows.length, ...out, columns: pickRows(columns as Columns, rows) };
}
