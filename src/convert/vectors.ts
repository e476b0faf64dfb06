/**
 * Geometry to Zarr Vectors. A store of the same format is copied chunk by chunk, whatever its version: all levels, fragments and
 * links stay what they are. Everything else, and whatever shall have other chunks or other positions, goes through the writer as
 * a stream of batches, in bounded memory.
 */
import { InvalidInput } from "../errors.js";
import { deleteNode } from "../format/zarr/edit.js";
import { clear, refuseOverlap } from "../format/zarr/room.js";
import { type CopyDescription, copyStore, RAW } from "../format/zarr-vectors/copy/copy-store.js";
import type { ZarrVectors } from "../format/zarr-vectors/read/dataset.js";
import type { VectorDescription } from "../format/zarr-vectors/write/description.js";
import {
  createZarrVectors,
  type LevelDescription,
  type VectorLevelWriter,
} from "../format/zarr-vectors/write/write.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, ObjectSource } from "../model/source.js";
import type { Columns, Geometry, Query, Schema, VectorDataset } from "../model/vectors.js";
import type { PyramidOptions } from "../pyramid/index.js";
import { select } from "../query/select.js";
import { LOGS, Prefix } from "../store/key.js";
import { type ScratchPlace, scratchIn } from "../store/scratch.js";
import type { Store } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { byObject } from "./by-object.js";
import { Seen, unseenObjects } from "./empty.js";
import { MEMORY, readingWithin, writingWithin } from "./feed.js";
import { journaled } from "./journal.js";
import { committed, withLevels } from "./levels.js";
import { refuseLosses, type Strictness } from "./losses.js";
import { convertPassing, passingOf } from "./passing.js";
import { unseen } from "./staged.js";

/** What the target is to be; everything else is as in the source. */
export interface ConvertVectorsOptions
  extends ReadOptions,
    Strictness,
    Pick<VectorDescription, "formatVersion" | "chunkShape" | "dtype" | "codecs" | "sharding"> {
  /** "dense" gives the objects the ids 0, 1, 2 …: format 0.7.0 has no others. */
  readonly ids?: "dense" | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told otherwise. */
  readonly maxMemory?: number | undefined;
  readonly overwrite?: boolean | undefined;
}

/** Into an empty place, or one whose dataset may go; `pyramid`: with coarser levels that are built of the finest, and no others. */
export async function convertVectors(
  source: VectorDataset,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions = {},
  pyramid?: PyramidOptions,
): Promise<ConvertReport> {
  refuseOverlap(source, store, at);
  return inRoom(store, at, options, async () => {
    const passing = passingOf(source);
    if (passing !== undefined) return convertPassing(source, passing, store, at, options, pyramid);
    if (!keepsChunks(source, options)) return streamed(source, store, at, options, pyramid);
    const report = await copied(source as ZarrVectors, store, at, options, pyramid);
    refuseLosses(options, report.losses);
    return report;
  });
}

/** Does the work in an empty place, or one whose dataset may go; what a failure leaves behind is deleted. */
export async function inRoom<T>(
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions,
  work: () => Promise<T>,
): Promise<T> {
  await clear(store, at, options);
  return journaled(store, at, options.signal, work, () => deleteNode(store, at));
}

/** Whether the store can be copied as it is. */
export const keepsChunks = (
  { format }: VectorDataset,
  { chunkShape, dtype }: Pick<ConvertVectorsOptions, "chunkShape" | "dtype">,
): boolean => format === "zarr-vectors" && chunkShape === undefined && dtype === undefined;

async function copied(
  source: ZarrVectors,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions,
  pyramid: PyramidOptions | undefined,
): Promise<ConvertReport> {
  const { formatVersion, codecs, sharding, ids } = options;
  const description: CopyDescription = { formatVersion, codecs, sharding, ids };
  const copying = {
    ...options,
    limits: readingWithin({ ...options, maxMemory: (options.maxMemory ?? MEMORY) / 2 }).limits,
    levels: pyramid && [0],
  };
  const into = async (place: Store): Promise<ConvertReport> => {
    const { chunks, vertices, objects, losses } = await copyStore(source, place, at, description, copying);
    return { chunksCopied: 0, chunksRecoded: chunks, vertices, objects, losses };
  };
  if (pyramid === undefined) return into(store);
  return unseen(store, async (place) => withLevels(await into(place), { store: place, at }, pyramid));
}

/** Level by level, batch by batch. */
async function streamed(
  source: VectorDataset,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions,
  pyramid: PyramidOptions | undefined,
): Promise<ConvertReport> {
  const { signal, formatVersion, codecs, sharding, dtype } = options;
  const { batchVertices = 1, ...reading } = readingWithin(options);
  const { limits } = reading;
  const [geometry, ...further] = source.geometries;
  if (geometry === undefined) throw new InvalidInput(`${source.url} has no geometry that could be written`);
  const level = await source.source(0, reading, geometry);
  const losses: string[] = [];
  const lose = (sentence: string): void => void losses.push(`${source.url}: ${sentence}`);
  for (const loss of source.losses ?? []) lose(loss);
  for (const other of further) lose(`the ${other} beside the ${geometry}`);
  const own =
    source.format === "zarr-vectors" ? await ownWords(source as ZarrVectors, formatVersion, reading, lose) : {};
  const { binShape, chunkShape } = source.levels[0]!;
  // Where nobody knows where things lie before they are read, chunks are chosen when everything is there. Files are like that, and are
  // read piece by piece, of which none is kept for long: most of the memory is the writer's.
  const scattered = ![...binShape, ...(chunkShape ?? [])].every(Number.isFinite);
  const headers = await source.headers(reading);
  const writer = await createZarrVectors(
    store,
    at,
    {
      geometry,
      axes: source.axes,
      crs: source.crs ?? undefined,
      dtype,
      chunkShape: options.chunkShape ?? (scattered ? "auto" : chunkShape),
      binShape: !scattered && fits(options.chunkShape, binShape, chunkShape) ? binShape : undefined,
      objects: level.objects !== undefined || geometry !== "points",
      ids: options.ids ?? (formatVersion === "0.7.0" ? "preserve" : "sparse"),
      userMetadata: Object.keys(source.attributes).length > 0 ? source.attributes : undefined,
      headers: headers.size > 0 ? Object.fromEntries(headers) : undefined,
      formatVersion,
      codecs,
      sharding,
      ...own,
      links: level.linkWidth > 0 ? { ...own.links, width: level.linkWidth } : undefined,
    },
    { signal, limits, maxMemory: writingWithin(options, scattered ? 7 / 8 : 1 / 2) },
  );
  try {
    const [vertices, objects] = [{ done: 0 }, { done: 0 }];
    const aside = { store, at: Prefix.join(at, LOGS) };
    const copy = {
      source,
      geometry,
      options: { ...options, ...reading, batchVertices },
      vertices,
      objects,
      numbers: { next: 0, told: false },
      lose,
      aside,
    };
    await copyStreamed(copy, 0, writer, own.sharedFragments === true);
    for (const { level: number } of pyramid === undefined ? source.levels.slice(1) : []) {
      const description = await coarserOf(copy, number, level);
      if (description === undefined) continue;
      const shares = description.sharedFragments !== undefined;
      await copyStreamed(copy, number, writer.level(number, description), shares);
    }
    refuseLosses(options, losses);
    const { dataset, ...built } = await committed(writer, pyramid);
    const chunksRecoded = dataset.levels.length;
    return { chunksCopied: 0, chunksRecoded, vertices: vertices.done, objects: objects.done, losses, ...built };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** A dataset on its way. */
interface Streamed {
  readonly source: VectorDataset;
  readonly geometry: Geometry;
  readonly options: ConvertVectorsOptions & { readonly batchVertices?: number | undefined };
  /** Where a level is put aside that cannot be held. */
  readonly aside: ScratchPlace;
  readonly vertices: { done: number };
  readonly objects: { done: number };
  /** Of level 0: what the next object is called where ids are dense, and whether it was told that they are others. */
  readonly numbers: { next: number; told: boolean };
  /** Takes a sentence about what is not kept. */
  readonly lose: (sentence: string) => void;
}

/** What only a store of this format says. */
async function ownWords(
  { opened, ...source }: ZarrVectors,
  formatVersion: ConvertVectorsOptions["formatVersion"],
  options: ReadOptions,
  lose: (sentence: string) => void,
): Promise<Pick<VectorDescription, "links" | "parametric" | "sharedFragments">> {
  const [nodes, meta] = await Promise.all([opened.nodes(0, options), opened.level(0, options)]);
  const family = await nodes.attributes("links/0", options);
  const copies = family?.store === "duplicate";
  if (copies && formatVersion === "0.7.0") lose("the copies of links with every chunk that they touch: 0.7.0 has none");
  const vertices = await nodes.attributes("vertices", options);
  if (vertices?.encoding === "draco") lose(RAW);
  if (meta.chunkAttribute !== undefined) lose(`that chunks are those of one ${meta.chunkAttribute.name} each`);
  const between = opened.levels.map(async (level) => (await opened.nodes(level, options)).children("links", options));
  if ((await Promise.all(between)).flat().some((delta) => delta !== "0"))
    lose("the links from level to level, whose ends are numbered by chunk");
  return {
    links: {
      directed: family?.directed === true,
      store: copies && formatVersion !== "0.7.0" ? "duplicate" : "canonical",
    },
    parametric: await source.parametric(options),
    ...(meta.sharedFragments && (await source.source(0, options)).linkWidth === 0 ? { sharedFragments: true } : {}),
  };
}

/** What a coarser level is in terms of level 0; undefined where it cannot be kept. */
async function coarserOf(
  { source, geometry, options, lose }: Streamed,
  level: number,
  finest: LevelSource,
): Promise<LevelDescription | undefined> {
  const [base, own] = [source.levels[0]!, await source.describe(level, options)];
  const coarse = await source.source(level, options, geometry);
  // Where nobody knows how large chunks are, both are infinite, and their ratio is no number.
  const chunkScale = own.chunkShape.map((size, axis) => Math.max(1, Math.round(size / base.chunkShape![axis]!) || 1));
  const meta =
    source.format === "zarr-vectors" ? await (source as ZarrVectors).opened.level(level, options) : undefined;
  const { objects } = coarse;
  if (objects !== undefined && finest.objects !== undefined) {
    const ids = await objects.ids(undefined, options);
    const lost = (await finest.objects.rowsOf([...ids], options)).indexOf(-1);
    const why = lost >= 0 ? `which has the object ${ids[lost]}, and level 0 has not` : undefined;
    const orphans = why === undefined && PATHS.includes(geometry) && (await objects.orphans(options)).part.length > 0;
    if (why !== undefined || orphans) {
      lose(`level ${level}, ${why ?? "which has paths that belong to no object"}`);
      return undefined;
    }
  }
  const renumbered = (await coarse.schema(options)).object.some(({ name }) => name === RENUMBERED);
  return {
    scale: own.binShape.map((size, axis) => size / base.binShape[axis]!),
    chunkScale,
    parent: own.parent ?? level - 1,
    sparsity: own.sparsity ?? 1,
    method: own.method,
    renumber: renumbered && meta?.preservesObjectIds !== true,
    sharedFragments: meta?.sharedFragments === true ? "vertices" : undefined,
    dtype: options.dtype,
    objects: objects !== undefined || geometry !== "points",
  };
}

const RENUMBERED = "level0_object_id";
const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

/** One level: its batches, the objects that have no vertices, and its groups. */
async function copyStreamed(copy: Streamed, level: number, writer: VectorLevelWriter, shares: boolean): Promise<void> {
  const { source, geometry, options, aside, vertices, objects, lose } = copy;
  const { signal, limits, batchVertices, onProgress, maxMemory = MEMORY } = options;
  const reading = { signal, limits };
  const from = await source.source(level, reading, geometry);
  const schema = await from.schema(reading);
  const said = source.levels.reduce((sum, own) => sum + (own.vertices ?? 0), 0);
  const total =
    said > 0 || onProgress === undefined ? said : (await source.select({ level, geometry }).count(reading)).vertices;
  const keepsFragments = (from.objects !== undefined || geometry !== "points") && !shares;
  for (const { name } of keepsFragments ? [] : schema.fragment)
    if (name !== "object_id") lose(`the fragment attribute ${name} of level ${level}: there are other fragments`);
  for (const { name, categories } of [...schema.object, ...schema.group])
    if (categories !== undefined) lose(`that ${name} of level ${level} is a dictionary: every row has its text`);
  const scratch = scratchIn(aside, maxMemory / 4, signal);
  const seen = new Seen();
  try {
    const ordered = await byObject(from, scratch, reading);
    const { levels, axes } = source;
    const all =
      ordered === undefined
        ? source
        : { select: (query: Query) => select({ levels, axes, source: async () => ordered }, query) };
    for await (const batch of all.select({ level, geometry }).batches({ ...reading, batchVertices })) {
      const objectColumns = new Map([...batch.objectColumns].filter(([name]) => level === 0 || name !== RENUMBERED));
      await writer.add({ ...batch, objectColumns, fragments: keepsFragments ? batch.fragments : undefined });
      if (batch.repeats === true) continue;
      if (level === 0) renumbered(copy, batch.ids);
      seen.add(batch.ids);
      vertices.done += batch.positions.length / batch.dims;
      objects.done += batch.ids.length;
      onProgress?.({ done: vertices.done, total: Math.max(total, vertices.done), unit: "vertices" });
    }
  } finally {
    await scratch.clear();
  }
  if (from.objects !== undefined) await copyEmpty(copy, from.objects, schema, level, writer, reading, seen);
  await copyGroups(copy, level, writer, schema);
}

/** Objects that get new ids; that they do is told once. */
export function renumbered(
  { options, numbers, lose }: Pick<Streamed, "options" | "numbers" | "lose">,
  ids: Iterable<bigint>,
): void {
  if (options.ids !== "dense" || numbers.told) return;
  for (const id of ids) {
    const number = BigInt(numbers.next++);
    if (id === number) continue;
    lose(`the ids of objects, which are 0, 1, 2 … now: ${id} is ${number}`);
    numbers.told = true;
    return;
  }
}

/** Objects without vertices, which no batch has. */
async function copyEmpty(
  copy: Streamed,
  objects: ObjectSource,
  schema: Schema,
  level: number,
  writer: VectorLevelWriter,
  options: ReadOptions,
  seen: Seen,
): Promise<void> {
  const names = schema.object.map(({ name }) => name).filter((name) => level === 0 || name !== RENUMBERED);
  for await (const { ids, objectColumns } of unseenObjects(objects, seen, names, options)) {
    if (level === 0) renumbered(copy, ids);
    copy.objects.done += ids.length;
    await writer.add({
      positions: new Float32Array(),
      parts: Uint32Array.of(0),
      objects: new Int32Array(),
      ids,
      objectColumns,
    });
  }
}

/** Groups, with those of their members that there are. */
async function copyGroups(
  { source, geometry, options, lose }: Streamed,
  level: number,
  writer: VectorLevelWriter,
  schema: Schema,
): Promise<void> {
  const groups = await source.groups(level, options);
  if (groups.length === 0) return;
  const known = new Set(await (await source.source(level, options, geometry)).objects?.ids(undefined, options));
  const members: bigint[][] = [];
  let lost = 0;
  for (const { group } of groups) {
    const all = [...(await source.groupMembers(group, level, options))];
    const kept = all.filter((id) => known.has(id));
    lost += all.length - kept.length;
    members.push(kept);
  }
  if (lost > 0) lose(`${lost} members of groups of level ${level} that are no objects`);
  const columns: Columns = schema.group.length > 0 ? await source.groupColumns(level, options) : new Map();
  writer.groups(members, columns);
}

/** Bins of a chunk along an axis; where a level resolves more, as particles in a tree do, each would have a vertex or none. */
const BINS = 16;

/** Whether a chunk, of the source unless told, would be a whole number of bins, and not of too many. */
export function fits(
  chunkShape: ConvertVectorsOptions["chunkShape"],
  binShape: readonly number[],
  own: VectorDescription["chunkShape"],
): boolean {
  if (chunkShape === undefined)
    return binShape.every((bin, axis) => (Array.isArray(own) ? own[axis]! : 1) / bin <= BINS);
  if (chunkShape === "auto") return false;
  return binShape.every((bin, axis) => {
    const ratio = (typeof chunkShape === "number" ? chunkShape : chunkShape[axis]!) / bin;
    return ratio >= 1 && Number.isInteger(ratio);
  });
}
