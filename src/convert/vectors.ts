/**
 * Geometry to Zarr Vectors. A store of the same format is copied chunk by chunk, whatever its version: all levels, fragments and
 * links stay what they are. Everything else, and whatever shall have other chunks or other positions, goes through the writer as
 * a stream of batches, in bounded memory.
 */
import { InvalidInput } from "../errors.js";
import { clear, JOURNAL, refuseOverlap } from "../format/zarr/room.js";
import { type CopyDescription, copyStore } from "../format/zarr-vectors/copy/copy-store.js";
import type { ZarrVectors } from "../format/zarr-vectors/read/dataset.js";
import type { VectorDescription } from "../format/zarr-vectors/write/description.js";
import { createZarrVectors, type VectorWriter } from "../format/zarr-vectors/write/write.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Columns, Schema, VectorDataset } from "../model/vectors.js";
import { Key, type Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";

/** What the target is to be; everything else is as in the source. */
export interface ConvertVectorsOptions
  extends ReadOptions,
    Pick<VectorDescription, "formatVersion" | "chunkShape" | "dtype" | "codecs" | "sharding"> {
  /** "dense" gives the objects the ids 0, 1, 2 …: format 0.7.0 has no others. */
  readonly ids?: "dense" | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told otherwise. */
  readonly maxMemory?: number | undefined;
  readonly overwrite?: boolean | undefined;
}

/** Into an empty place, or one whose dataset may go. */
export async function convertVectors(
  source: VectorDataset,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions = {},
): Promise<ConvertReport> {
  refuseOverlap(source, store, at);
  await clear(store, at, options);
  const { signal } = options;
  const journal = Key.join(at, JOURNAL);
  if (store.can.conditional) await store.set(journal, new Uint8Array(), { signal });
  const report = keepsChunks(source, options)
    ? await copied(source as ZarrVectors, store, at, options)
    : await streamed(source, store, at, options);
  if (store.can.conditional) await store.delete(journal, { signal });
  return report;
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
): Promise<ConvertReport> {
  const { formatVersion, codecs, sharding, ids } = options;
  const description: CopyDescription = { formatVersion, codecs, sharding, ids };
  const { chunks, vertices, objects, losses } = await copyStore(source, store, at, description, options);
  return { chunksCopied: 0, chunksRecoded: chunks, vertices, objects, losses };
}

const MEMORY = 256 << 20;
const VERTEX = 512; // bytes that a vertex of a batch may take, with everything that is made of it on the way

/** The finest level, batch by batch. */
async function streamed(
  source: VectorDataset,
  store: Store,
  at: Prefix,
  options: ConvertVectorsOptions,
): Promise<ConvertReport> {
  const { signal, limits, maxMemory = MEMORY, onProgress, formatVersion, codecs, sharding, dtype } = options;
  const reading = { signal, limits };
  const [geometry, ...further] = source.geometries;
  if (geometry === undefined) throw new InvalidInput(`${source.url} has no geometry that could be written`);
  const level = await source.source(0, reading, geometry);
  const schema = await level.schema(reading);
  const losses: string[] = [];
  const lose = (sentence: string): void => void losses.push(`${source.url}: ${sentence}`);
  for (const { level: number } of source.levels.slice(1)) lose(`level ${number}, which was made for the old chunks`);
  for (const other of further) lose(`the ${other} beside the ${geometry}`);
  for (const { name } of schema.fragment)
    if (name !== "object_id") lose(`the fragment attribute ${name}: there are other fragments`);
  const { binShape } = source.levels[0]!;
  const headers = await source.headers(reading);
  const writer = await createZarrVectors(
    store,
    at,
    {
      geometry,
      axes: source.axes,
      crs: source.crs ?? undefined,
      dtype,
      chunkShape: options.chunkShape ?? source.levels[0]!.chunkShape,
      binShape: fits(options.chunkShape, binShape) ? binShape : undefined,
      objects: level.objects !== undefined || geometry !== "points",
      ids: options.ids ?? (formatVersion === "0.7.0" ? "preserve" : "sparse"),
      links: level.linkWidth > 0 ? { width: level.linkWidth } : undefined,
      userMetadata: Object.keys(source.attributes).length > 0 ? source.attributes : undefined,
      headers: headers.size > 0 ? Object.fromEntries(headers) : undefined,
      formatVersion,
      codecs,
      sharding,
    },
    { signal, limits, maxMemory },
  );
  try {
    const batchVertices = Math.max(1, Math.min(2 ** 18, Math.floor(maxMemory / 4 / VERTEX)));
    const total = source.levels[0]!.vertices;
    let [vertices, objects] = [0, 0];
    for await (const batch of source.select({ level: 0, geometry }).batches({ ...reading, batchVertices })) {
      await writer.add(batch);
      if (batch.repeats === true) continue;
      vertices += batch.positions.length / batch.dims;
      objects += batch.ids.length;
      onProgress?.({ done: vertices, total: total ?? vertices, unit: "vertices" });
    }
    if (level.objects !== undefined && objects < level.objects.rows && options.ids !== "dense")
      lose(`${level.objects.rows - objects} objects that have no vertices`);
    await writeGroups(source, writer, schema, reading, lose);
    const { levels } = await writer.commit();
    return { chunksCopied: 0, chunksRecoded: levels.length, vertices, objects, losses };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Groups, with those of their members that there are. */
async function writeGroups(
  source: VectorDataset,
  writer: VectorWriter,
  schema: Schema,
  options: ReadOptions,
  lose: (sentence: string) => void,
): Promise<void> {
  const groups = await source.groups(0, options);
  if (groups.length === 0) return;
  const known = new Set(await source.objectIds(0, options));
  const members: bigint[][] = [];
  let lost = 0;
  for (const { group } of groups) {
    const all = [...(await source.groupMembers(group, 0, options))];
    const kept = all.filter((id) => known.has(id));
    lost += all.length - kept.length;
    members.push(kept);
  }
  if (lost > 0) lose(`${lost} members of groups that have no vertices`);
  const columns: Columns = schema.group.length > 0 ? await source.groupColumns(0, options) : new Map();
  writer.groups(members, columns);
}

/** Whether a chunk would be a whole number of bins. */
function fits(chunkShape: ConvertVectorsOptions["chunkShape"], binShape: readonly number[]): boolean {
  if (chunkShape === undefined) return true;
  if (chunkShape === "auto") return false;
  return binShape.every((bin, axis) => {
    const ratio = (typeof chunkShape === "number" ? chunkShape : chunkShape[axis]!) / bin;
    return ratio >= 1 && Number.isInteger(ratio);
  });
}
