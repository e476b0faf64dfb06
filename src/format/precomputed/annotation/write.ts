/**
 * Writing annotations: the index of ids, one for each relationship, and the spatial index of spatial.ts; `info` comes last.
 *
 * Everything is written in the one form that all readers take: the type in upper case, properties in the order in which their
 * values are stored, no member that is null.
 *
 * What goes where in the spatial index depends on all annotations, so that they are held in memory, as their records.
 */
import { Conflict, InvalidInput } from "../../../errors.js";
import type { FormatOptions } from "../../../model/format.js";
import { Morton } from "../../../space/morton.js";
import { Key, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { folderOf, readInfo, typeOf, writeInfo } from "../info.js";
import { chooseSharding } from "../sharded/choose.js";
import type { Sharding } from "../sharded/types.js";
import { createValues, type ValueNames } from "../values.js";
import { extent } from "./cells.js";
import { type Gathered, gatherAll, gatherBatch } from "./gathered.js";
import { AnnotationInfo, type AnnotationProperty, type AnnotationType, ID } from "./info.js";
import { Layout } from "./layout.js";
import { type Annotations, encodeList, encodeOne } from "./list.js";
import { cellNames } from "./read.js";
import { cellAt, type LevelCells, spatialLevels } from "./spatial.js";

/** What the annotations are to be. */
export interface AnnotationDescription {
  readonly type: AnnotationType;
  /** In order: what a coordinate counts, such as 4e-9 of "m". */
  readonly dimensions: AnnotationInfo["dimensions"];
  readonly properties?: readonly AnnotationProperty[] | undefined;
  /** The ids of relationships. */
  readonly relationships?: readonly string[] | undefined;
  /** What all annotations lie in; around them unless told. */
  readonly bounds?: { readonly lower: readonly number[]; readonly upper: readonly number[] } | undefined;
}

/** How to write them. */
export interface AnnotationWriteOptions extends FormatOptions {
  /** At most so many annotations in a cell of the spatial index; 4096 unless told: about what a screen can show. */
  readonly limit?: number | undefined;
  /** Of the random order in which annotations are sampled; 0 unless told. The same seed gives the same bytes. */
  readonly seed?: number | undefined;
  /** Off: a file for each annotation, object and cell. On unless told; an index of one value has a file all the same. */
  readonly sharded?: boolean | undefined;
  /** Delete what is there first; else Conflict. */
  readonly overwrite?: boolean | undefined;
}

/** What was written, and what a person should know of it. */
export interface AnnotationsWritten {
  readonly annotations: number;
  /** Annotations in each level of the spatial index, coarse to fine. */
  readonly levels: readonly number[];
  readonly bytes: number;
  readonly files: number;
  readonly warnings: readonly string[];
}

/** Annotations on their way into a store. */
export interface AnnotationWriter {
  /** Takes annotations, in any order; an id may come once. */
  add(annotations: Annotations): Promise<void>;
  /** Writes them, and then the info. */
  commit(): Promise<AnnotationsWritten>;
}

const LIMIT = 4096;

/** Begins a collection; Conflict where something is. */
export async function createAnnotations(
  store: Store,
  at: Prefix,
  description: AnnotationDescription,
  options: AnnotationWriteOptions = {},
): Promise<AnnotationWriter> {
  const { type, dimensions, bounds } = description;
  const { limit = LIMIT, seed = 0, sharded = true, signal, overwrite = false } = options;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new InvalidInput(`a limit should be a number from 1, found ${limit}`);
  const properties = Layout.sorted(description.properties ?? []);
  const relationships = (description.relationships ?? []).map((id, i) => ({ id, key: `rel_${i}`, sharding: null }));
  const warnings = checkDescription(description, properties);
  const key = Key.join(at, "info");
  if (!overwrite && (await store.stat(key, { signal })) !== undefined)
    throw new Conflict(`${store.url}/${key} is there already`, { where: `${store.url}/${key}` });
  const form = { info: { type, dimensions, relationships }, layout: Layout.of(properties) };
  const batches: Gathered[] = [];

  /** Writes a map, and says how; `cells` where it is one of cells. */
  async function write(
    folder: string,
    entries: readonly (readonly [bigint, Uint8Array])[],
    cells?: { readonly names: ValueNames; readonly bits: number },
  ) {
    const bytes = entries.reduce((sum, [, value]) => sum + value.length, 0);
    const count = entries.length;
    const chosen =
      cells === undefined ? chooseSharding({ count, bytes }).sharding : cellSharding(count, bytes, cells.bits);
    const sharding = sharded && count > 1 ? chosen : null;
    const writing = { signal, limits: options.limits, names: cells?.names, overwrite };
    const values = await createValues(store, Prefix.join(at, folder), sharding, writing);
    try {
      for (const [id, value] of entries) await values.put(id, value);
      const written = await values.commit();
      total.bytes += written.bytes;
      total.files += written.files;
    } catch (error) {
      await values.abort();
      throw error;
    }
    return { key: folder, sharding };
  }
  const total = { bytes: 0, files: 0 };

  return {
    async add(annotations) {
      batches.push(gatherBatch(annotations, form));
    },
    async commit() {
      const all = gatherAll(batches.splice(0), relationships);
      const { ids, related } = all;
      const { lower, upper } = bounds ?? around(type, all, dimensions.length);
      const levels = spatialLevels({ type, dimensions, lower, upper }, all, { limit, seed });
      if (overwrite) await removeOld(store, at, options);
      const byId = await write("by_id", byIds(all));
      const linked = [];
      for (const [i, { id, key: folder }] of relationships.entries())
        linked.push({ id, ...(await write(folder, byObject(all, related[i]!))) });
      const spatial = [];
      for (const [i, { cells, ...level }] of levels.entries()) {
        const grid = { names: cellNames(level.gridShape), bits: codeBits(level.gridShape) };
        spatial.push({ ...(await write(`spatial${i}`, cellLists(all, cells, level.gridShape), grid)), ...level });
      }
      const info = { type, dimensions, lower, upper, properties, relationships: linked, byId, spatial };
      await writeInfo(store, at, AnnotationInfo.format(info), signal);
      const counts = levels.map(({ cells }) => new Set([...cells.values()].flat()).size);
      return { annotations: ids.length, levels: counts, ...total, files: total.files + 1, warnings };
    },
  };
}

/** Takes a collection away, its info first: what that names below its own folder. */
async function removeOld(store: Store, at: Prefix, { signal, limits }: FormatOptions): Promise<void> {
  const old = await readInfo(store, at, { signal, limits });
  await store.delete(Key.join(at, "info"), { signal });
  if (old === undefined || typeOf(old) !== "neuroglancer_annotations_v1") return;
  const { byId, relationships, spatial } = AnnotationInfo.parse(old.info, old.where);
  for (const { key } of [byId, ...relationships, ...spatial]) {
    const folder = folderOf(at, key, old.where);
    if (folder === at || !folder.startsWith(at)) continue;
    for await (const { key: stored } of store.list(folder, { signal })) await store.delete(stored, { signal });
  }
}

function checkDescription(
  { dimensions, relationships = [] }: AnnotationDescription,
  properties: readonly AnnotationProperty[],
) {
  if (dimensions.length === 0) throw new InvalidInput("annotations need at least one dimension");
  for (const { id } of properties)
    if (!ID.test(id))
      throw new InvalidInput(
        `the id of a property begins with a small letter, then letters, digits and _; found ${JSON.stringify(id)}`,
      );
  for (const list of [properties.map(({ id }) => id), relationships, dimensions.map(({ name }) => name)])
    if (new Set(list).size < list.length)
      throw new InvalidInput(
        `properties, relationships and dimensions need names of their own, found ${list.join(", ")}`,
      );
  const { size } = Layout.of(properties);
  return [
    ...(properties.some(({ type }) => type === "bool")
      ? ["Properties of type bool are read by Neuroglancer from 2026 on, and by no other software."]
      : []),
    ...(size > 200
      ? [`Records have ${size} bytes of properties: Neuroglancer may look for some in other places beyond 252 bytes.`]
      : []),
  ];
}

/** The smallest box, a little wider at the top since the upper bound is exclusive; whole numbers where there is room for them. */
function around(type: AnnotationType, { ids, points, offsets }: Gathered, rank: number) {
  const lower: number[] = new Array(rank).fill(Number.POSITIVE_INFINITY);
  const upper: number[] = new Array(rank).fill(Number.NEGATIVE_INFINITY);
  for (let i = 0; i < ids.length; i++) {
    const [min, max] = extent(type, points, offsets[i]!, offsets[i + 1]!, rank);
    for (let axis = 0; axis < rank; axis++) {
      lower[axis] = Math.min(lower[axis]!, min[axis]!);
      upper[axis] = Math.max(upper[axis]!, max[axis]!);
    }
  }
  for (let axis = 0; axis < rank; axis++) {
    const [low, high] = ids.length === 0 ? [0, 0] : [lower[axis]!, upper[axis]!];
    const whole = high - low >= 16 || high === low;
    lower[axis] = whole ? Math.floor(low) : low;
    upper[axis] = whole ? Math.floor(high) + 1 : high + (high - low) * 2 ** -20;
  }
  return { lower, upper };
}

type Entries = (readonly [bigint, Uint8Array])[];

const byIds = ({ ids, records, related }: Gathered): Entries =>
  Array.from(ids, (id, row) => [
    id,
    encodeOne(
      records,
      row,
      related.map((own) => own[row]!),
    ),
  ]);

/** The annotations of each object; one that names an object twice is there once. */
function byObject({ ids, records }: Gathered, related: readonly BigUint64Array[]): Entries {
  const objects = new Map<bigint, number[]>();
  for (const [row, own] of related.entries())
    for (const object of own) {
      const rows = objects.get(object);
      if (rows === undefined) objects.set(object, [row]);
      else if (rows.at(-1) !== row) rows.push(row);
    }
  return Array.from(objects, ([object, rows]) => [object, encodeList(records, ids, Uint32Array.from(rows))]);
}

const cellLists = ({ ids, records }: Gathered, cells: LevelCells["cells"], gridShape: readonly number[]): Entries =>
  Array.from(cells, ([number, rows]) => [
    Morton.encode(cellAt(number, gridShape), gridShape),
    encodeList(records, ids, Uint32Array.from(rows)),
  ]);

const codeBits = (gridShape: readonly number[]): number =>
  gridShape.reduce((sum, count) => sum + Math.ceil(Math.log2(count)), 0);

/**
 * Shards for so many cells, whose codes have so many bits. Cells are not hashed: the highest bits of the code choose the shard
 * and the minishard, so that both are boxes in space; there are about as many as hashed ids would get, however fine the grid.
 */
function cellSharding(cells: number, bytes: number, bits: number): Sharding {
  const { sharding } = chooseSharding({ count: cells, bytes });
  const minishardBits = Math.min(bits, sharding.minishardBits);
  const shardBits = Math.min(bits - minishardBits, sharding.shardBits);
  return { ...sharding, hash: "identity", preshiftBits: bits - minishardBits - shardBits, minishardBits, shardBits };
}
