/**
 * The links from one level to another: "+1" from a vertex to the one that stands for it on the next coarser level, "-1" back.
 *
 * End 0 lies on this level, in the chunk of the cell; the others on the other level. From 0.9 on the name of the array has
 * their offsets, counted from the chunk there that has the lower corner of the cell. Before, cells have the links
 * between chunks of the same coordinates, and `cross_chunk_links/<delta>` all others.
 */
import { Corrupt } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import { isWhole } from "../nodes/parse-root.js";
import { CrossChunkLinks } from "../payload/cross-chunk-links.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import type { LevelMeta } from "../types.js";

/** Cells read at once. */
const GROUP = 64;

/** Some links between two levels. */
export interface LevelLinks {
  /** Below the level. */
  readonly path: string;
  readonly width: number;
  readonly rank: number;
  /** Link l has the ends l × width and on: rank coordinates of a chunk for each, and the vertex there. */
  readonly chunks: Int32Array;
  readonly vertices: Uint32Array;
}

/** The name of a delta: "0", "+1", "-2". */
export const Delta = {
  parse: (name: string): number | undefined => (/^(?:0|[+-][1-9]\d{0,8})$/.test(name) ? Number(name) : undefined),
  format: (delta: number): string => (delta > 0 ? `+${delta}` : `${delta}`),
};

/** Array by array, some cells at a time. */
export async function* linksBetween(
  opened: OpenedStore,
  level: number,
  delta: number,
  options?: ReadOptions,
): AsyncGenerator<LevelLinks> {
  const [nodes, meta, other] = await Promise.all([
    opened.nodes(level, options),
    opened.level(level, options),
    opened.level(level + delta, options),
  ]);
  const rank = opened.root.axes.length + (meta.chunkAttribute === undefined ? 0 : 1);
  const flat = nodes.dialect.crossLinks === "flat";
  const family = `links/${Delta.format(delta)}`;
  const attributes = await nodes.attributes(family, options);
  const width = widthOf(attributes?.link_width, `${meta.path}/${family}`);
  const segments = flat ? [undefined] : await nodes.children(family, options);
  for (const segment of attributes === undefined ? [] : segments) {
    const path = segment === undefined ? family : `${family}/${segment}`;
    const where = `${meta.path}/${path}`;
    const cells = await nodes.cells(path, options);
    if (cells === undefined) continue;
    const offsets = segment === undefined ? undefined : LinkOffsets.parse(segment, width, rank, where);
    const { count, coords } = await cells.directory(options);
    for (let from = 0; from < count; from += GROUP) {
      const some = coords.subarray(from * rank, Math.min(count, from + GROUP) * rank);
      const form = { width, ragged: true, perm: cells.attributes.has_perm === true };
      for (const [i, payload] of (await cells.read(some, options)).entries()) {
        const { ends } = LinkCell.parse(payload ?? new Uint8Array(), form, where);
        const own = some.subarray(i * rank, (i + 1) * rank);
        const cell = flat
          ? new Int32Array([own, own].flatMap((place) => [...place]))
          : placesOf(own, offsets!, meta, other);
        yield { path, width, rank, chunks: repeat(cell, ends.length / width), vertices: ends };
      }
    }
  }
  const path = `cross_chunk_links/${Delta.format(delta)}`;
  const data = flat ? await nodes.blob(`${path}/data`, options) : undefined;
  if (data === undefined) return;
  const cross = widthOf((await nodes.attributes(path, options))?.link_width, `${meta.path}/${path}`);
  const { chunks, vertices } = CrossChunkLinks.parse(data, cross, rank, `${meta.path}/${path}`);
  yield { path, width: cross, rank, chunks, vertices };
}

function widthOf(value: unknown, where: string): number {
  const width = value ?? 2;
  if (typeof width === "number" && Number.isInteger(width) && width >= 1 && width <= 12) return width;
  throw new Corrupt(`${where} should have a link_width from 1 to 12, found ${String(width)}`, { where });
}

/** The chunk of each end of the links in a cell. */
function placesOf(
  own: Int32Array,
  offsets: readonly (readonly number[])[],
  from: LevelMeta,
  to: LevelMeta,
): Int32Array {
  const rank = own.length;
  const anchor = anchorOf(own, from, to);
  const out = new Int32Array(rank * (offsets.length + 1));
  out.set(own);
  for (const [k, offset] of offsets.entries())
    for (let axis = 0; axis < rank; axis++) out[(k + 1) * rank + axis] = anchor[axis]! + offset[axis]!;
  return out;
}

/**
 * The chunk of the other level from which offsets are counted. Where that has chunks n times as long, by a division by n:
 * 49 × (1/49) is less than 1 in float64.
 */
export function anchorOf(
  own: ArrayLike<number>,
  { chunkShape: from }: LevelMeta,
  { chunkShape: to }: LevelMeta,
): number[] {
  const lead = own.length - from.length; // the attribute that a level is chunked by has the same bins on all
  return Array.from(own, (place, axis) => {
    if (axis < lead) return place;
    const times = to[axis - lead]! / from[axis - lead]!;
    return Math.floor(isWhole(times) ? place / Math.round(times) : (place * from[axis - lead]!) / to[axis - lead]!);
  });
}

function repeat(row: Int32Array, count: number): Int32Array {
  const out = new Int32Array(row.length * count);
  for (let i = 0; i < count; i++) out.set(row, i * row.length);
  return out;
}
