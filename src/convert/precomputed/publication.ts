/** Geometry on its way into precomputed: what every kind of target needs to know of it, and does with it. */
import { InvalidInput } from "../../errors.js";
import { writeSegmentProperties } from "../../format/precomputed/properties/write.js";
import { chooseSharding } from "../../format/precomputed/sharded/choose.js";
import type { Sharding } from "../../format/precomputed/sharded/types.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { LevelSource } from "../../model/source.js";
import type { Geometry, Schema, VectorDataset } from "../../model/vectors.js";
import { Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import type { Strictness } from "../losses.js";
import { tableOf } from "./table.js";

/** What geometry can become. */
export const PUBLISHED = ["skeletons", "annotations", "meshes", "legacy-meshes"] as const;

/** What the target is to be, and how to get there. */
export interface PublishOptions extends ReadOptions, Strictness {
  /**
   * By the geometry unless told: points and lines become annotations, meshes meshes, everything else skeletons. "legacy-meshes" are
   * those of the older form, which keeps float32 as they are, in one level and in files.
   */
  readonly kind?: (typeof PUBLISHED)[number] | undefined;
  /** Into shards; by the number of objects unless told. */
  readonly sharded?: boolean | undefined;
  /** What a unit of each axis of space is in nanometres; as the axes say unless told. */
  readonly resolution?: readonly number[] | undefined;
  /** "dense" gives the objects the ids 1, 2, 3 …: Neuroglancer shows nothing that has the id 0. */
  readonly ids?: "dense" | undefined;
  /** Keep integer attributes of skeletons what they are, although Neuroglancer draws none of them then. */
  readonly keepTypes?: boolean | undefined;
  /** Bytes that may be held at once, roughly; 256 MiB unless told. */
  readonly maxMemory?: number | undefined;
  readonly overwrite?: boolean | undefined;
}

/** A dataset that is being published. */
export interface Publication {
  readonly source: VectorDataset;
  readonly geometry: Geometry;
  readonly level: LevelSource;
  readonly schema: Schema;
  readonly options: PublishOptions;
  readonly reading: Pick<ReadOptions, "signal" | "limits">;
  readonly maxMemory: number;
  readonly batchVertices: number;
  /** Sentences about what is not kept, and about what a person should know. */
  readonly losses: string[];
  readonly notes: string[];
  lose(sentence: string): void;
  note(sentence: string): void;
  /** So many vertices are done. */
  progress(vertices: number): void;
}

const MEMORY = 256 << 20;
const VERTEX = 512; // bytes that a vertex of a batch may take, with everything that is made of it on the way
/** Objects from which on a file for each is a burden. */
export const FILES = 1000;

export async function publicationOf(source: VectorDataset, options: PublishOptions): Promise<Publication> {
  const { signal, limits, maxMemory = MEMORY, onProgress } = options;
  const reading = { signal, limits };
  const { url, levels } = source;
  const [geometry, ...further] = source.geometries;
  if (geometry === undefined) throw new InvalidInput(`${url} has no geometry that could be written`);
  const level = await source.source(0, reading, geometry);
  const schema = await level.schema(reading);
  const [losses, notes]: [string[], string[]] = [[], []];
  const lose = (sentence: string): void => void losses.push(`${url}: ${sentence}`);
  for (const loss of source.losses ?? []) lose(loss);
  for (const other of further) lose(`the ${other} beside the ${geometry}`);
  if (source.crs !== undefined && source.crs !== null) lose("its coordinate reference system");
  const headers = [...(await source.headers(reading)).keys()];
  if (headers.length > 0) lose(`the headers of ${headers.join(", ")}`);
  const parametric = await source.parametric?.(reading);
  if (parametric !== undefined) lose(`its ${parametric.objects.length} parametric objects`);
  for (const { name } of schema.link) lose(`the attribute ${name} of links`);
  for (const { name } of schema.fragment) if (name !== "object_id") lose(`the attribute ${name} of fragments`);
  const total = levels[0]?.vertices ?? 0;
  return {
    source,
    geometry,
    level,
    schema,
    options,
    reading,
    maxMemory,
    batchVertices: Math.max(1, Math.min(2 ** 18, Math.floor(maxMemory / 4 / VERTEX))),
    losses,
    notes,
    lose,
    note: (sentence) => void notes.push(`${url}: ${sentence}`),
    progress: (done) => onProgress?.({ done, total: Math.max(total, done), unit: "vertices" }),
  };
}

/** How to write what comes of it. A zip file takes nothing back, so that what is put aside on the way to one stays in memory. */
export const writingInto = (store: Store, { reading, maxMemory, options }: Publication) => ({
  ...reading,
  maxMemory: Math.floor(options.maxMemory === undefined ? (7 / 8) * MEMORY : maxMemory / 4), // most need not be put aside
  scratch: store.can.conditional ? undefined : { store: memoryStore() },
});

/** What users keep beside the data, but for what becomes something else. */
export function loseAttributes({ source, lose }: Publication, known: readonly string[] = []): void {
  const lost = Object.keys(source.attributes).filter((name) => !known.includes(name));
  if (lost.length > 0) lose(`the attributes ${lost.join(", ")}`);
}

/** The ids that objects have in the target: 64 bits without a sign. */
export interface PublishedIds {
  /** How many objects there are. */
  readonly count: number;
  /** The id in the target of an object's id. */
  of(id: bigint): bigint;
  /** One after the other, ids that no object has. */
  next(): bigint;
  /** 1, 2, 3 …, for what has no ids at all. */
  number(): bigint;
}

export async function publishedIds(publication: Publication): Promise<PublishedIds> {
  const { level, options, reading, lose, note } = publication;
  const ids = (await level.objects?.ids(undefined, reading)) ?? new BigUint64Array();
  const own = ids as BigInt64Array;
  let [last, numbered, negative] = [0n, 0n, 0];
  const number = (): bigint => ++numbered;
  for (let i = 0; i < own.length; i++) {
    const id = own[i]!;
    if (id < 0n) negative++;
    else if (id > last) last = id;
  }
  if (options.ids === "dense") {
    const dense = new Map(Array.from(own, (id, i) => [id, BigInt(i + 1)]));
    if (own.some((id, i) => id !== BigInt(i + 1)))
      lose(`the ids of objects, which are 1 to ${own.length} now: ${own[0]} is 1`);
    let more = BigInt(own.length);
    return { count: own.length, of: (id) => dense.get(id)!, next: () => ++more, number };
  }
  if (negative > 0) lose(`the sign of ${negative} ids: −1 is ${2n ** 64n - 1n} now`);
  if (own.includes(0n)) note("Neuroglancer shows nothing of the object 0; ids dense, --ids dense, numbers them from 1");
  return { count: own.length, of: (id) => BigInt.asUintN(64, id), next: () => ++last, number };
}

/** How values lie: in shards where that is asked for, or there are many. */
export function shardingFor(
  { options, source, level }: Publication,
  { count }: PublishedIds,
  bytesPerVertex: number,
  compressed = false,
): Sharding | null {
  const values = Math.max(count, level.objects?.rows ?? 0);
  if (!(options.sharded ?? values > FILES)) return null;
  const bytes = bytesPerVertex * (source.levels[0]?.vertices ?? 100 * values);
  return chooseSharding({ count: values, bytes, compressed }).sharding;
}

const TABLE = "segment_properties";

/** Writes what is known of the objects beside them; the name of its folder, undefined where nothing is. */
export async function publishTable(
  publication: Publication,
  ids: PublishedIds,
  store: Store,
  at: Prefix,
): Promise<string | undefined> {
  const { source, level, schema, reading, lose, note } = publication;
  if (level.objects === undefined) return undefined;
  const table = await tableOf(source, level.objects, ids.of, schema.object, lose, reading);
  if (table === undefined) return undefined;
  const { warnings } = await writeSegmentProperties(store, Prefix.join(at, TABLE), table, reading);
  for (const warning of warnings) note(warning);
  return TABLE;
}
