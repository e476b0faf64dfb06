/**
 * `octavo info` of geometry: from documents, indexes and one chunk of attributes; all data are read only where the caller wants
 * all of it measured.
 */

import { dtypeText } from "../bytes/dtype.js";
import type { CodecSpec } from "../codec/types.js";
import { NotFound, OctavoError } from "../errors.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Axis, Batch, Columns, Domain, Geometry, LevelOutline, VectorDataset } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import { type Range, widen } from "./columns.js";
import { COUNTED, type Common } from "./info.js";
import type { Place } from "./source.js";
import type { Session } from "./verb.js";

export const DOMAINS = ["vertex", "link", "fragment", "object", "group"] as const satisfies readonly Domain[];

export interface VectorInfo extends Common {
  readonly kind: "vectors";
  readonly geometries: readonly Geometry[];
  /** Vertices per stored link of each geometry that has links: 2 for edges, 3 for triangles. */
  readonly links: { readonly [G in Geometry]?: number };
  readonly axes: readonly Axis[];
  readonly bounds: VectorDataset["bounds"];
  readonly crs: VectorDataset["crs"] | null;
  readonly levels: readonly LevelInfo[];
  /** Of all levels. */
  readonly schema: { readonly [D in Domain]: readonly Attribute[] } | null;
  /** Of the first level that has any. */
  readonly groups: { readonly count: number; readonly members: number } | null;
  /** How many parametric objects there are of each type. */
  readonly parametric: { readonly [type: string]: number } | null;
  readonly headers: readonly string[];
}

export interface Attribute extends Omit<AttributeInfo, "dtype"> {
  readonly dtype: string;
  /** The levels that have it. */
  readonly levels: readonly number[];
  readonly range: Range | undefined;
}

export interface LevelInfo extends LevelOutline {
  /** Where there are too many objects to look at each: the rows of the index, of which some may be empty. */
  readonly objectsExact?: boolean | undefined;
  readonly chunks?: number | undefined;
  readonly groups?: number | undefined;
  /** Where all of it was read: edges of graphs and skeletons, faces of meshes. */
  readonly links?: number | undefined;
  readonly stored?: Stored | undefined;
  /** What the cells of vertices go through, and how many of them are in a shard along each axis. */
  readonly codecs?: readonly CodecSpec[] | undefined;
  readonly shard?: readonly number[] | undefined;
  readonly error?: string | undefined;
}

interface Stored {
  keys: number;
  /** NaN, in JSON null: the store does not say. */
  bytes: number;
  stopped: boolean;
}

type Attributes = Map<string, Omit<Attribute, "range" | "levels"> & { readonly levels: number[] }>;

export async function describeVectors(
  dataset: VectorDataset,
  place: Pick<Place, "store" | "at" | "file">,
  full: boolean,
  session: Session,
): Promise<VectorInfo> {
  const { signal } = session;
  const { url, format, version, attributes, geometries, axes, crs } = dataset;
  const bounds = await boundsOf(dataset, place, full, signal);
  const stored = await countStored(place, signal);
  const levels: LevelInfo[] = [];
  const found: Attributes = new Map();
  const ranges = new Map<string, Range>();
  const links: { [G in Geometry]?: number } = {};
  let groups: VectorInfo["groups"] = null;
  for (const { level, ...said } of dataset.levels) {
    try {
      const known = await dataset.describe(level, { signal });
      const counts = await countLevel(dataset, level, full || "content" in dataset, signal);
      await collect(dataset, level, found, signal);
      const own = await dataset.groups(level, { signal });
      if (own.length > 0) groups ??= { count: own.length, members: own.reduce((sum, { size }) => sum + size, 0) };
      for (const geometry of geometries) {
        const { linkWidth } = await dataset.source(level, { signal }, geometry);
        if (linkWidth > 0) links[geometry] ??= linkWidth;
      }
      const measured = full ? await measure(dataset, level, ranges, session) : {};
      const encoded = format === "zarr-vectors" ? await encodedAs(place, known.path, signal) : {};
      levels.push({ ...known, ...counts, groups: own.length, ...measured, stored: stored.get(known.path), ...encoded });
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      levels.push({ level, ...said, error: error.message });
    }
  }
  const schemaOf = (domain: Domain): Attribute[] =>
    [...found].flatMap(([key, info]) => (key.startsWith(`${domain}.`) ? [{ ...info, range: ranges.get(key) }] : []));
  const readable = levels.some(({ error }) => error === undefined);
  return {
    url,
    format,
    version,
    kind: "vectors",
    geometries,
    links,
    axes,
    bounds,
    crs: crs ?? null,
    levels,
    schema: readable
      ? {
          vertex: schemaOf("vertex"),
          link: schemaOf("link"),
          fragment: schemaOf("fragment"),
          object: schemaOf("object"),
          group: schemaOf("group"),
        }
      : null,
    groups,
    parametric: await countParametric(dataset, signal),
    headers: [...(await dataset.headers({ signal })).keys()],
    attributes,
    notes: [...dataset.notes], // the last: reading the rest may have added some
  };
}

const CHEAP = 64 << 20; // bytes of a file that is gone through for its bounds

/** As they are said; of a file that does not say them, found by reading it, where it is small or all of it is wanted. */
async function boundsOf(
  dataset: VectorDataset,
  { store, file }: Pick<Place, "store" | "file">,
  full: boolean,
  signal: AbortSignal,
): Promise<VectorDataset["bounds"]> {
  const { bounds, axes } = dataset;
  if (file === undefined || !("content" in dataset) || bounds.min.every(Number.isFinite)) return bounds;
  const { size } = (await store.stat(file, { signal })) ?? { size: Number.POSITIVE_INFINITY };
  if (size > CHEAP && !full) return bounds;
  const [min, max] = [axes.map(() => Number.POSITIVE_INFINITY), axes.map(() => Number.NEGATIVE_INFINITY)];
  for await (const { positions, dims } of dataset.select().batches({ signal, attributes: [] }))
    for (let i = 0; i < positions.length; i++) {
      const at = positions[i]!;
      if (at < min[i % dims]!) min[i % dims] = at;
      if (at > max[i % dims]!) max[i % dims] = at;
    }
  return min[0]! > max[0]! ? bounds : { min, max };
}

/** Keys and bytes by the first folder below, where the store can list; of all together at most so many are counted. */
async function countStored({ store, at, file }: Pick<Place, "store" | "at" | "file">, signal: AbortSignal) {
  const found = new Map<string | undefined, Stored>();
  if (!store.can.list || file !== undefined) return found;
  let listed = 0;
  for await (const { key, size = Number.NaN } of store.list(at, { signal })) {
    if (listed++ === COUNTED) {
      for (const known of found.values()) known.stopped = true;
      break;
    }
    const [path] = key.slice(at.length).split("/", 1);
    const known = found.get(path) ?? { keys: 0, bytes: 0, stopped: false };
    known.keys++;
    known.bytes += size;
    found.set(path, known);
  }
  return found;
}

/** From the array of vertices; versions that kept blobs have none. */
async function encodedAs({ store, at }: Pick<Place, "store" | "at">, path: string | undefined, signal: AbortSignal) {
  if (path === undefined) return {};
  const { openZarr } = await import("../format/zarr/index.js");
  const array = await openZarr(store, Prefix.join(at, `${path}/vertices`), { signal }).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  if (array?.kind !== "array" || array.codecs === undefined) return {};
  const sharding = array.codecs.find(({ name }) => name === "sharding_indexed")?.configuration;
  if (sharding === undefined) return { codecs: array.codecs };
  const inner = sharding.chunk_shape as readonly number[];
  const shard = array.chunkShape.map((size, axis) => size / inner[axis]!);
  return { codecs: sharding.codecs as unknown as readonly CodecSpec[], shard };
}

/** Shared fragments are in several objects: vertices are counted by chunk, where the caller wants to know. */
async function countLevel(dataset: VectorDataset, level: number, full: boolean, signal: AbortSignal) {
  const source = await dataset.source(level, { signal });
  const { count: chunks } = await source.chunks({ signal });
  const all = Array.from({ length: full ? chunks : 0 }, (_, chunk) => chunk);
  const vertices = full && { vertices: (await source.counts(all, { signal })).reduce((sum, own) => sum + own, 0) };
  if (source.objects === undefined) return { chunks, ...vertices };
  const { rows } = source.objects;
  if (rows > COUNTED && !full) return { chunks, objects: rows, objectsExact: false };
  const objects = (await dataset.objectIds(level, { signal })).length;
  return { chunks, ...vertices, objects, objectsExact: true };
}

/** The attributes of a level join those of the others. Not every store says how many values a row has: its first chunk shows it. */
async function collect(dataset: VectorDataset, level: number, found: Attributes, signal: AbortSignal): Promise<void> {
  const schema = await dataset.schema(level, { signal });
  const source = await dataset.source(level, { signal });
  const shown = new Map<string, AttributeInfo>();
  const [vertex, fragment] = [schema.vertex, schema.fragment].map((infos) => infos.map(({ name }) => name));
  if (vertex!.length + fragment!.length > 0 && (await source.chunks({ signal })).count > 0)
    for await (const tile of source.tiles([0], { positions: true, vertex: vertex!, fragment: fragment! }, { signal })) {
      for (const [name, { info }] of tile.vertexColumns) shown.set(`vertex.${name}`, info);
      for (const [name, { info }] of tile.fragmentColumns) shown.set(`fragment.${name}`, info);
    }
  for (const domain of DOMAINS)
    for (const info of schema[domain]) {
      const key = `${domain}.${info.name}`;
      const known = found.get(key);
      if (known !== undefined) known.levels.push(level);
      else found.set(key, { ...(shown.get(key) ?? info), dtype: dtypeText(info.dtype), levels: [level] });
    }
}

async function countParametric(dataset: VectorDataset, signal: AbortSignal): Promise<VectorInfo["parametric"]> {
  const parametric = await dataset.parametric?.({ signal });
  if (parametric === undefined) return null;
  const counts: { [type: string]: number } = {};
  for (const { type } of parametric.objects) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}

/** The ranges of all attributes, and how many links there are: every batch of the level is read. */
async function measure(
  dataset: VectorDataset,
  level: number,
  ranges: Map<string, Range>,
  { signal, report }: Session,
): Promise<{ readonly links?: number }> {
  const { vertices = 0 } = await dataset.describe(level, { signal });
  let [done, links, linked] = [0, 0, false];
  for (const geometry of dataset.geometries.length === 0 ? [undefined] : dataset.geometries)
    for await (const batch of dataset.select({ level, geometry }).batches({ signal })) {
      widenBatch(ranges, batch);
      if (batch.links !== undefined) {
        links += batch.links.ends.length / batch.links.width;
        linked = true;
      }
      done += batch.positions.length / batch.dims;
      report.update({ done, total: Math.max(done, vertices), unit: "vertices" });
    }
  widenAll(ranges, "group", await dataset.groupColumns(level, { signal }));
  return linked ? { links } : {};
}

function widenBatch(ranges: Map<string, Range>, { vertexColumns, links, fragments, objectColumns }: Batch): void {
  widenAll(ranges, "vertex", vertexColumns);
  widenAll(ranges, "object", objectColumns);
  if (links !== undefined) widenAll(ranges, "link", links.columns);
  if (fragments !== undefined) widenAll(ranges, "fragment", fragments.columns);
}

function widenAll(ranges: Map<string, Range>, domain: Domain, columns: Columns): void {
  for (const [name, column] of columns) {
    const range = widen(ranges.get(`${domain}.${name}`), column);
    if (range !== undefined) ranges.set(`${domain}.${name}`, range);
  }
}
