/**
 * The manifests of a level, page by page, as places in its chunk table. A page is what is stored together: one chunk of the vlen
 * array (about 16,000 objects), or the whole index in the layouts that have but one blob.
 */
import { Corrupt } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { ChunkTable, Placement } from "../../../model/source.js";
import { Blobs } from "../payload/blobs.js";
import { Manifests } from "../payload/manifest.js";
import type { LevelNodes } from "../types.js";
import type { GridTable } from "./chunk-table.js";
import { placerFor } from "./place-manifests.js";
import type { Shelf } from "./shelf.js";

export interface ObjectPages {
  readonly rows: number;
  readonly pageRows: number;
  /** The objects of page i; a block whose chunk is not there has chunk −1. */
  page(i: number, options?: ReadOptions): Promise<Placement>;
}

/** undefined: the level has no index. An index in which nothing was ever written has no rows. */
export async function objectPages(
  nodes: LevelNodes,
  table: GridTable,
  where: string,
  shelf: Shelf,
  options?: ReadOptions,
): Promise<ObjectPages | undefined> {
  const attributes = await nodes.attributes("object_index", options);
  if (attributes === undefined || nodes.dialect.manifests === "none") return undefined;
  const { sid_ndim: dims, num_objects: claimed } = attributes;
  if (dims === undefined) return { rows: 0, pageRows: 1, page: async () => place(Manifests.of([], table.rank), table) };
  if (dims !== table.rank && table.count > 0)
    throw new Corrupt(`${where} should have chunks of ${table.rank} coordinates, but says ${String(dims)}`, { where });
  const [layout, placer] = await Promise.all([layoutOf(nodes, table.rank, where, options), placerFor(table)]);
  if (claimed !== undefined && claimed !== layout.rows)
    throw new Corrupt(`${where} says that it has ${String(claimed)} objects, but ${layout.rows} are there`, { where });
  const placed = async (page: number, now?: ReadOptions): Promise<Placement> => {
    const { bytes, rows, parse } = await layout.read(page, now);
    return (bytes && placer(bytes, rows)) ?? place(parse(), table);
  };
  return remembered(layout, placed, shelf);
}

/** The pages of an index as they are stored. */
export interface Layout {
  readonly rows: number;
  readonly pageRows: number;
  read(page: number, options?: ReadOptions): Promise<Page>;
}

interface Page {
  readonly rows: number;
  /** As payload/blobs.ts describes it, where it is a vlen chunk that is stored. */
  readonly bytes?: Uint8Array | undefined;
  parse(): Manifests;
}

export async function layoutOf(nodes: LevelNodes, dims: number, where: string, options?: ReadOptions): Promise<Layout> {
  const limits = withLimits(options?.limits);
  switch (nodes.dialect.manifests) {
    case "vlen": {
      const array = await nodes.vlen("object_index/manifests", options);
      if (array === undefined) throw missing(where, "manifests");
      const pageRows = Math.max(1, array.chunk);
      return {
        rows: array.length,
        pageRows,
        async read(page, now) {
          const bytes = await array.piece(page, now);
          const rows = Math.min(pageRows, array.length - page * pageRows);
          // Writers leave out chunks of nothing but empty elements.
          const blobs = (): Blobs =>
            bytes === undefined
              ? Blobs.empty(rows)
              : Blobs.slice(
                  Blobs.parseChunk(bytes, pageRows, `${where}/manifests, elements from ${page * pageRows}`),
                  0,
                  rows,
                );
          return { rows, bytes, parse: () => Manifests.parse(blobs(), dims, limits, `${where}/manifests`) };
        },
      };
    }
    case "dense": {
      const [spans, blocks] = await Promise.all([
        nodes.dense("object_index/manifest_spans", options),
        nodes.dense("object_index/manifest_blocks", options),
      ]);
      if (spans === undefined || blocks === undefined) throw missing(where, "manifest_spans and manifest_blocks");
      const [a, b] = await Promise.all([
        spans.read(undefined, undefined, options),
        blocks.read(undefined, undefined, options),
      ]);
      return whole(Manifests.fromDense(a.data as Uint8Array, b.data as Uint8Array, dims, limits, where));
    }
    default: {
      const [data, offsets] = await Promise.all([
        nodes.blob("object_index/data", options),
        nodes.blob("object_index/offsets", options),
      ]);
      if (data === undefined || offsets === undefined) throw missing(where, "data and offsets");
      const parse = nodes.dialect.manifests === "tuples" ? Manifests.fromTuples : Manifests.fromLegacy;
      return whole(parse(data, offsets, dims, limits, where));
    }
  }
}

const whole = (manifests: Manifests): Layout => ({
  rows: manifests.rows,
  pageRows: Math.max(1, manifests.rows),
  read: async () => ({ rows: manifests.rows, parse: () => manifests }),
});

const missing = (where: string, what: string): Corrupt =>
  new Corrupt(`${where} should have ${what}, but that is not there`, { where });

/** Reads each page once for all who ask at the same time, and keeps it as long as there is room. */
function remembered(
  { rows, pageRows }: Layout,
  placed: (page: number, options?: ReadOptions) => Promise<Placement>,
  shelf: Shelf,
): ObjectPages {
  const kept = new Map<number, Promise<Placement>>();
  return {
    rows,
    pageRows,
    async page(i, options) {
      let page = kept.get(i);
      if (page === undefined) {
        // Without the caller's signal: others wait for the same page.
        page = placed(i, { limits: options?.limits });
        kept.set(i, page);
        page.catch(() => kept.delete(i));
      }
      const blocks = await page;
      kept.set(i, page); // it may have been forgotten meanwhile
      const bytes = 12 * blocks.chunk.length + blocks.offsets.byteLength;
      shelf.put(page, bytes, () => kept.delete(i), withLimits(options?.limits).keptBytes);
      return blocks;
    },
  };
}

/** Coordinates become places in the table; consecutive blocks are often in one chunk. */
export function place({ offsets, chunks, first, count, dims }: Manifests, table: ChunkTable): Placement {
  const chunk = new Int32Array(first.length);
  let last = -1;
  for (let b = 0; b < chunk.length; b++) {
    let same = last >= 0;
    for (let axis = 0; same && axis < dims; axis++) same = table.coords[last * dims + axis] === chunks[b * dims + axis];
    if (!same) last = table.find(chunks, b * dims);
    chunk[b] = last;
  }
  return { offsets, chunk, first, count };
}
