/**
 * Geometry on its way to a target: what is known beforehand, then batches in order. A feed is one level of a dataset, or what a query
 * selects of it; files.ts writes it to files of other software, feed-store.ts to a store of Zarr Vectors.
 */
import { InvalidInput } from "../errors.js";
import type { FileData } from "../format/interchange/types.js";
import type { Ids } from "../format/rows/row-source.js";
import type { VectorDescription } from "../format/zarr-vectors/write/description.js";
import { withLimits } from "../limits.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Batch, Columns, Geometry, Query, Schema, SelectOptions, VectorDataset } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import type { Store } from "../store/types.js";
import { gapFiller, Seen, unseenObjects } from "./empty.js";
import { coarserLevels } from "./losses.js";

export interface Feed extends FileData {
  /** Vertices per link; 0 where there are none. */
  readonly linkWidth: number;
  /** Whether vertices belong to objects. */
  readonly hasObjects: boolean;
  /** Sentences about what is left behind, whatever the target. */
  readonly losses: readonly string[];
  /** Sentences about what a person should know of it. */
  readonly notes?: readonly string[] | undefined;
  /** How a store of it was laid out, where it comes from one. */
  readonly layout?: Pick<VectorDescription, "chunkShape" | "binShape"> | undefined;
  /** What it is made of, where that is more than one. */
  readonly origins?: readonly { readonly url: string; readonly store: Store }[] | undefined;
}

/** What a report says of it. */
export const notesOf = ({ notes }: Feed): { readonly notes?: string[] } =>
  notes === undefined ? {} : { notes: [...notes] };

export interface FeedOptions extends ReadOptions {
  /** The attributes to bring along; all of them where nothing is said. */
  readonly attributes?: readonly string[] | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told otherwise. */
  readonly maxMemory?: number | undefined;
  /** For stores, which hold one path for each object: what a cut leaves of a path in several pieces becomes several objects. */
  readonly apart?: boolean | undefined;
}

export const MEMORY = 256 << 20;
const VERTEX = 512; // bytes that a vertex of a batch may take, with everything that is made of it on the way

const OWN = 128 << 20; // bytes that the process takes for itself, with what was thrown away and is not given back at once

/** What one of those who hold something may hold. Where somebody says how much there is, that is meant of the process. */
const within = ({ maxMemory }: Pick<FeedOptions, "maxMemory">, usual: number, share: number): number =>
  maxMemory === undefined ? usual * MEMORY : Math.min(maxMemory / 2, share * Math.max(maxMemory - OWN, OWN));

/** How much a batch may be, and what a reader may keep. */
export function readingWithin(options: FeedOptions): SelectOptions {
  const { signal, limits, maxMemory = MEMORY } = options;
  return {
    signal,
    limits: { ...limits, keptBytes: Math.min(within(options, 1 / 2, 1 / 8), withLimits(limits).keptBytes) },
    batchVertices: Math.max(1, Math.min(2 ** 18, Math.floor(maxMemory / 4 / VERTEX))),
  };
}

/** What the writer of a store may hold; `usual`: its share where nobody says how much there is. */
export const writingWithin = (options: FeedOptions, usual: number): number => within(options, usual, 1 / 4);

export const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

/** Objects that are there, and have nothing. */
const withoutVertices = (ids: Ids, objectColumns: Columns, level: number, geometry: Geometry, dims: number): Batch => ({
  level,
  geometry,
  dims,
  positions: new Float32Array(),
  parts: new Uint32Array(ids.length + 1),
  objects: Int32Array.from(ids, (_, row) => row),
  ids,
  links: undefined,
  fragments: undefined,
  vertexColumns: new Map(),
  objectColumns,
  chunk: undefined,
});

export async function feedOf(dataset: VectorDataset, query: Query, options: FeedOptions = {}): Promise<Feed> {
  const reading = readingWithin(options);
  const { attributes, onProgress } = options;
  const { url, axes, crs, attributes: said, bounds } = dataset;
  const [geometry, ...further] = query.geometry === undefined ? dataset.geometries : [query.geometry];
  if (geometry === undefined) throw new InvalidInput(`${url} has no geometry that could be written`, { where: url });
  const selection = dataset.select({ ...query, geometry });
  const level = await selection.level(reading);
  const [source, { chunkShape, binShape }] = [
    await dataset.source(level, reading, geometry),
    await dataset.describe(level, reading),
  ];
  const all = await source.schema(reading);
  const asked = (domain: keyof Schema): readonly AttributeInfo[] =>
    all[domain].filter(
      ({ name }) => attributes === undefined || [name, `${domain}.${name}`].some((own) => attributes.includes(own)),
    );
  const losses = [
    ...(dataset.losses ?? []).map((loss) => `${url}: ${loss}`),
    ...further.map((other) => `${url}: the ${other} beside the ${geometry}`),
  ];
  const chosen = query.level ?? query.maxVertices ?? query.resolution;
  const coarser = coarserLevels(dataset);
  if (coarser > 0 && chosen === undefined)
    losses.push(`${url}: its ${coarser} coarser levels, which can be made again from it`);
  if ((await dataset.parametric?.(reading)) !== undefined) losses.push(`${url}: its parametric objects`);
  const isWhole = !["object", "group", "box", "sphere", "nearest", "where", "limit"].some(
    (name) => query[name as keyof Query] !== undefined,
  );
  // A coarser level may know objects that were thinned away from it: what is written of it has only those with vertices there.
  const finest = level === 0 ? undefined : (await dataset.source(0, reading, geometry)).objects;
  let isMember: ((id: bigint) => boolean) | undefined; // the objects of the answer, once it was gone through

  async function* batches(wanted: SelectOptions = {}): AsyncGenerator<Batch> {
    const total = onProgress === undefined ? 0 : (await selection.count(reading)).vertices;
    const seen = new Seen();
    const names = wanted.attributes === undefined ? asked("object").map(({ name }) => name) : [];
    const fills = isWhole && source.objects !== undefined && PATHS.includes(geometry!);
    const fill = fills ? await gapFiller(source.objects!, names, reading, finest) : undefined;
    let done = 0;
    for await (const found of selection.batches({ ...reading, attributes, ...wanted })) {
      const batch = fill === undefined ? found : await fill(found);
      yield batch;
      if (batch.repeats === true) continue;
      seen.add(batch.ids);
      done += batch.positions.length / batch.dims;
      onProgress?.({ done, total: Math.max(done, total), unit: "vertices" });
    }
    let empty = 0;
    if (isWhole && source.objects !== undefined)
      for await (const { ids, objectColumns } of unseenObjects(source.objects, seen, names, reading, finest)) {
        empty += ids.length;
        if (!PATHS.includes(geometry!)) continue;
        yield withoutVertices(ids, objectColumns, level, geometry!, axes.length);
        seen.add(ids);
      }
    isMember = seen.finder();
    const told = `${url}: ${empty} objects without vertices`;
    if (empty > 0 && !PATHS.includes(geometry!) && !losses.includes(told)) losses.push(told);
  }

  async function groups(): Promise<{ readonly members: readonly Ids[]; readonly columns: Columns }> {
    const known = await dataset.groups(level, reading);
    const of = await Promise.all(known.map(({ group }) => dataset.groupMembers(group, level, reading)));
    const columns: Columns = asked("group").length > 0 ? await dataset.groupColumns(level, reading) : new Map();
    if ((isWhole && finest === undefined) || known.length === 0) return { members: of, columns };
    if (isMember === undefined) for await (const _ of batches({ attributes: [] }));
    const left = of.map((ids) => ids.filter((id: bigint) => isMember!(id)) as Ids);
    const rows = left.flatMap((ids, group) => (ids.length > 0 ? [group] : []));
    return { members: rows.map((group) => left[group]!), columns: pickRows(columns, rows) };
  }

  const feed: Feed = {
    dataset,
    url,
    geometry,
    axes,
    crs,
    bounds,
    attributes: said,
    schema: {
      vertex: asked("vertex"),
      link: asked("link"),
      fragment: asked("fragment").filter(({ name }) => name !== "object_id"), // which every part says itself
      object: asked("object"),
      group: asked("group"),
    },
    headers: await dataset.headers(reading),
    linkWidth: source.linkWidth,
    hasObjects: source.objects !== undefined || geometry !== "points",
    losses,
    layout: binShape.every(Number.isFinite) ? { chunkShape, binShape } : undefined,
    batches,
    groups,
  };
  const isCut = query.clip !== undefined && query.clip !== false && PATHS.includes(geometry);
  if (options.apart !== true || !isCut || source.objects === undefined) return feed;
  return (await import("./apart.js")).apart(feed, source.objects, attributes, reading);
}
