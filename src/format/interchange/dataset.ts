/** A file as a dataset. Where its pieces are is found out when something is asked of them; nothing is known of where they lie in space. */
import type { ReadOptions } from "../../model/dataset.js";
import type { VectorDataset } from "../../model/vectors.js";
import { select } from "../../query/select.js";
import { rowDataset } from "../rows/row-dataset.js";
import { type Ids, rowSource } from "../rows/row-source.js";
import { once } from "../zarr-vectors/nodes/once.js";
import { withoutBad, withPlaces } from "./finite.js";
import type { FileContent, OpenFileOptions, PieceIndex } from "./types.js";

/** A file, opened. */
export interface FileDataset extends VectorDataset {
  readonly content: FileContent;
  /** The pieces as they are: with coordinates that are no numbers, unless these are left out. */
  readonly index: (options?: ReadOptions) => Promise<PieceIndex>;
}

export function fileDataset(
  id: string,
  url: string,
  content: FileContent,
  { limits, onBad }: Pick<OpenFileOptions, "limits" | "onBad">,
): FileDataset {
  const { axes, geometry, linkWidth, header, finite } = content;
  const skips = onBad !== undefined && finite !== true;
  const dims = axes.length;
  const everywhere = axes.map(() => Number.POSITIVE_INFINITY);
  const index = once(async (options) => {
    const now = { ...options, limits: options.limits ?? limits };
    const found = await content.index(now);
    return skips ? withoutBad(found, dims, url, onBad, now) : found;
  });
  const sourceOf = async (level: number, options: ReadOptions) => {
    const found = await index(options);
    const { schema, objects, empty, vertices: all, bytes, boxes, groups, until } = found;
    const { load } = finite === true ? found : withPlaces(found, dims, url);
    const vertices = all.subarray(0, until?.[level]);
    return rowSource({
      level,
      dims,
      geometry,
      linkWidth,
      schema,
      rank: 1,
      coords: Int32Array.from(vertices, (_, piece) => piece),
      boxes,
      objects,
      empty,
      groups,
      vertices: (piece) => vertices[piece]!,
      async *load(pieces, now) {
        for (const piece of pieces) yield [piece, await load(piece, { ...now, limits: now.limits ?? limits })] as const;
      },
      cost: async (pieces) => ({
        requests: pieces.length,
        bytes: pieces.reduce((sum, piece) => sum + bytes[piece]!, 0),
        exact: true,
      }),
    });
  };
  const { vertices, objects } = skips ? {} : content; // how many stay, only the index knows
  const levels = (content.levels ?? [{ vertices, chunkShape: everywhere, binShape: everywhere }]).map((own, level) => ({
    level,
    objects,
    ...own,
    ...(level > 0 && { parent: level - 1, sample: true as const }),
  }));
  const sources = levels.map(({ level }) => once((options) => sourceOf(level, options)));
  const source = (level: number, options?: ReadOptions) => sources[level]!(options);
  const own = { axes, levels, source };
  const dataset = rowDataset({
    axes,
    levels,
    source: (level, _query, options) => source(level, options),
    format: id,
    version: content.version,
    url,
    geometry,
    crs: content.crs,
    bounds: content.bounds ?? { min: everywhere.map((size) => -size), max: everywhere },
    attributes: content.attributes ?? {},
    notes: [...(content.notes ?? []), ...(content.losses ?? [])],
    losses: content.losses,
    headers: async () => new Map(header === undefined ? [] : [[id, header]]),
    async ids(_level, options) {
      const { objects, empty = new Uint32Array() } = await index(options);
      if (objects === undefined || empty.length === 0) return objects?.ids ?? new BigInt64Array();
      const without = new Set(empty);
      return objects.ids.filter((_: bigint, row: number) => !without.has(row)) as Ids;
    },
    plan: (query, _level, options) => select(own, query).plan(options),
  });
  return { ...dataset, content, index };
}
