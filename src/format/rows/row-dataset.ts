/** Data without chunks in space as a dataset: one geometry, and of each object one part. */
import { U64 } from "../../bytes/u64.js";
import { InvalidInput, NotFound } from "../../errors.js";
import type { ReadOptions, ReadPlan } from "../../model/dataset.js";
import type { LevelSource } from "../../model/source.js";
import type { Geometry, Query, VectorDataset } from "../../model/vectors.js";
import { select } from "../../query/select.js";
import { oncePerKey } from "../zarr-vectors/nodes/once.js";

/** What makes the difference. */
export interface RowDataset
  extends Pick<VectorDataset, "format" | "version" | "url" | "axes" | "bounds" | "attributes" | "notes" | "losses"> {
  readonly crs?: VectorDataset["crs"];
  readonly headers?: VectorDataset["headers"] | undefined;
  readonly levels: readonly Awaited<ReturnType<VectorDataset["describe"]>>[];
  readonly geometry: Geometry;
  /** What a query needs of a level: less than all of it, where the query says so itself. */
  source(level: number, query: Query, options?: ReadOptions): Promise<LevelSource>;
  ids(level: number, options?: ReadOptions): Promise<BigInt64Array | BigUint64Array>;
  /** What the query would read at most, without reading it. */
  plan(query: Query, level: number, options?: ReadOptions): Promise<ReadPlan>;
}

export function rowDataset(own: RowDataset): VectorDataset {
  const { format, version, url, geometry, axes, bounds, crs, levels, attributes, notes, losses } = own;
  const check = (level: number): void => {
    if (!levels.some((known) => known.level === level))
      throw new NotFound(`${url} has no level ${level}; it has ${levels.map((known) => known.level).join(", ")}`);
  };
  const sourcesFor = (query: Query) => {
    const sources = oncePerKey((level, signal) => own.source(Number(level), query, { signal }));
    return async (level: number, options: ReadOptions = {}, wanted: Geometry = geometry): Promise<LevelSource> => {
      check(level);
      if (wanted !== geometry) throw new InvalidInput(`${url} has no ${wanted}; it has ${geometry}`, { where: url });
      return sources(`${level}`, options.signal);
    };
  };
  const source = sourcesFor({});
  const dataset: VectorDataset = {
    kind: "vectors",
    format,
    version,
    url,
    geometries: [geometry],
    axes,
    bounds,
    crs,
    levels,
    attributes,
    notes,
    losses,
    async describe(level = 0) {
      check(level);
      return levels.find((known) => known.level === level)!;
    },
    schema: async (level = 0, options) => (await source(level, options)).schema(options),
    async objectIds(level = 0, options) {
      check(level);
      return own.ids(level, options);
    },
    async groups(level = 0, options) {
      const { objects } = await source(level, options);
      const { count = 0 } = (await objects?.groupColumns([], options)) ?? {};
      const sizes = Array.from({ length: count }, async (_, group) => (await objects!.group(group, options))!.length);
      return (await Promise.all(sizes)).map((size, group) => ({ group, size }));
    },
    async groupMembers(group, level = 0, options) {
      const { objects } = await source(level, options);
      const rows = await objects?.group(group, options);
      if (rows === undefined) throw new NotFound(`${url} has no group ${group}`, { where: url });
      return objects!.ids(rows, options);
    },
    async groupColumns(level = 0, options) {
      const from = await source(level, options);
      const names = (await from.schema(options)).group.map(({ name }) => name);
      return (await from.objects?.groupColumns(names, options))?.columns ?? new Map();
    },
    headers: own.headers ?? (async () => new Map()),
    source,
    select(query = {}) {
      const named = query.object === undefined ? query : { ...query, object: [...query.object] };
      const selection = select({ levels, axes, source: sourcesFor(named) }, named);
      return {
        ...selection,
        dataset,
        async plan(options = {}) {
          return own.plan(named, await selection.level(options), options);
        },
      };
    },
  };
  return dataset;
}

/** The ids that a query names, each once, ascending; what no id can be is nowhere. */
export const namedIds = (object: Iterable<number | bigint>): BigUint64Array =>
  BigUint64Array.from(new Set(Array.from(object, BigInt).filter((id) => id >= 0n && id <= U64.MAX))).sort();
