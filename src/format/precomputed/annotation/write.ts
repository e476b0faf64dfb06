/**
 * Writing annotations: the index of ids, one for each relationship, and the spatial index of spatial.ts; `info` comes last.
 *
 * Everything is written in the one form that all readers take: the type in upper case, properties in the order in which their
 * values are stored, no member that is null.
 *
 * Annotations are gathered in bounded memory (gathered.ts): how values are spread over shards, and what goes where in the spatial
 * index, depends on all of them.
 */
import { Conflict, InvalidInput } from "../../../errors.js";
import type { FormatOptions } from "../../../model/format.js";
import { Morton } from "../../../space/morton.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import { scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { folderOf, readInfo, typeOf, writeInfo } from "../info.js";
import { chooseSharding } from "../sharded/choose.js";
import { createValues, type ValueNames, type WriteValuesOptions } from "../values.js";
import { around, cellSharding, checkDescription, codeBits } from "./choices.js";
import { gathering } from "./gathered.js";
import { type Group, type Grouped, grouping } from "./grouped.js";
import { AnnotationInfo, type AnnotationProperty, type AnnotationType, type SpatialLevel } from "./info.js";
import { Layout } from "./layout.js";
import { type Annotations, joinList } from "./list.js";
import { cellNames } from "./read.js";
import { cellAt, cellOfKey, spatialLevels } from "./spatial.js";

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
export interface AnnotationWriteOptions
  extends FormatOptions,
    Pick<WriteValuesOptions, "scratch" | "overwrite" | "maxMemory"> {
  /** At most so many annotations in a cell of the spatial index; 4096 unless told: about what a screen can show. */
  readonly limit?: number | undefined;
  /** Of the random order in which annotations are sampled; 0 unless told. The same seed gives the same bytes. */
  readonly seed?: number | undefined;
  /** Off: a file for each annotation, object and cell. On unless told; an index of one value has a file all the same. */
  readonly sharded?: boolean | undefined;
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
  /** Writes them, and then the info; where that fails, nothing of it stays. */
  commit(): Promise<AnnotationsWritten>;
  /** Removes everything that was written; safe to call twice and after commit. */
  abort(): Promise<void>;
}

const LIMIT = 4096;
const MEMORY = 64 << 20;

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
  // Together: what is gathered by id, by object and by order, or a level at a time; and what the values of an index take.
  const maxMemory = Math.floor((options.maxMemory ?? MEMORY) / (relationships.length + 4));
  const place = options.scratch ?? { store, at: Prefix.join(at, LOGS) };
  const made: Grouped[] = [];
  const group = (order: "any" | "ascending" = "any"): Grouped => {
    const grouped = grouping(order, scratchIn(place, maxMemory, signal));
    made.push(grouped);
    return grouped;
  };
  const all = gathering(form, seed, group);
  const folders: Prefix[] = [];
  const total = { bytes: 0, files: 0 };
  let state: "open" | "ended" = "open";
  const mustBeOpen = (): void => {
    if (state === "ended")
      throw new InvalidInput(`the writer of ${store.url}/${at} has already been committed or aborted`);
  };

  /** Writes a map, and says how; `cells` where it is one of cells. */
  async function write(
    name: string,
    values: Grouped,
    count: number,
    bytes: number,
    entry: (group: Group) => readonly [bigint, Uint8Array],
    cells?: { readonly names: ValueNames; readonly bits: number },
  ) {
    const chosen =
      cells === undefined ? chooseSharding({ count, bytes }).sharding : cellSharding(count, bytes, cells.bits);
    const sharding = sharded && count > 1 ? chosen : null;
    const folder = Prefix.join(at, name);
    const writing = { signal, limits: options.limits, names: cells?.names, overwrite, maxMemory, scratch: place };
    const writer = await createValues(store, folder, sharding, writing);
    folders.push(folder);
    try {
      for await (const group of values.groups()) await writer.put(...entry(group));
      const written = await writer.commit();
      total.bytes += written.bytes;
      total.files += written.files;
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await values.clear();
    return { key: name, sharding };
  }

  async function writeAll(): Promise<AnnotationsWritten> {
    if (!(await all.settled()))
      throw new InvalidInput(`the writer of ${store.url}/${at} has failed; all that is left is to abort it`);
    const ids = await sumOf(all.byId, (id) => {
      throw new InvalidInput(`the annotation ${id} comes twice, but an id may come once`);
    });
    const { lower, upper } = bounds ?? around(all.lower, all.upper);
    if (overwrite) await removeOld(store, at, options);
    const byId = await write("by_id", all.byId, ids.keys, ids.bytes, ({ low, high, rows }) => [
      idOf(low, high),
      rows[0]!,
    ]);
    const linked = [];
    for (const [i, { id, key: name }] of relationships.entries()) {
      const { keys, bytes } = await sumOf(all.byObject[i]!);
      const list = (group: Group) => [idOf(group.low, group.high), joinList(group.rows)] as const;
      linked.push({ id, ...(await write(name, all.byObject[i]!, keys, bytes + 8 * keys, list)) });
    }
    const [spatial, counts]: [SpatialLevel[], number[]] = [[], []];
    const space = { type, dimensions, lower, upper };
    const levels = spatialLevels(space, all.byOrder, limit, group);
    for await (const { cells, annotations, ...level } of levels) {
      const { gridShape } = level;
      const { keys, bytes } = await sumOf(cells);
      const list = (group: Group) =>
        [Morton.encode(cellAt(cellOfKey(group), gridShape), gridShape), joinList(group.rows)] as const;
      const grid = { names: cellNames(gridShape), bits: codeBits(gridShape) };
      const written = await write(`spatial${spatial.length}`, cells, keys, bytes + 8 * keys, list, grid);
      spatial.push({ ...written, ...level });
      counts.push(annotations);
    }
    const info = { type, dimensions, lower, upper, properties, relationships: linked, byId, spatial };
    await writeInfo(store, at, AnnotationInfo.format(info), signal);
    return { annotations: ids.keys, levels: counts, ...total, files: total.files + 1, warnings };
  }

  /** Takes away what was put aside and, where it is not to stay, what was written. */
  async function clear(failed: boolean): Promise<void> {
    await all.settled();
    for (const grouped of made) await grouped.clear();
    if (failed && store.can.list)
      for (const folder of folders)
        for await (const { key: written } of store.list(folder)) await store.delete(written);
  }

  return {
    async add(annotations) {
      mustBeOpen();
      await all.add(annotations);
    },
    async commit() {
      mustBeOpen();
      state = "ended";
      try {
        const written = await writeAll();
        await clear(false);
        return written;
      } catch (error) {
        await clear(true).catch(() => {}); // the first failure is the one to tell
        throw error;
      }
    },
    async abort() {
      if (state === "ended") return;
      state = "ended";
      await clear(true);
    },
  };
}

const idOf = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low);

/** How many keys there are, and the bytes of all rows; what to do about a key that has several. */
async function sumOf(values: Grouped, several?: (id: bigint) => void) {
  let [keys, bytes] = [0, 0];
  for await (const group of values.sizes()) {
    if (group.rows > 1) several?.(idOf(group.low, group.high));
    keys++;
    bytes += group.bytes;
  }
  return { keys, bytes };
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
