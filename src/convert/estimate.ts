/**
 * How many bytes a conversion of geometry would write. A sample of it goes through the same writer, with the same codecs, into memory,
 * and what it takes there is carried over to the whole: each further vertex takes as much as those of the sample do, and what is there
 * once stays as it is. A file of what is no larger than the sample is known to the byte; a store has its name in it, and what is copied
 * to one keeps its fragments.
 */
import { memorySize } from "../bytes/dtype.js";
import { OctavoError } from "../errors.js";
import type { Batch, Query, VectorDataset } from "../model/vectors.js";
import { levelsOf } from "../pyramid/plan.js";
import { isPath } from "../query/assemble.js";
import { subset } from "../query/subset.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import type { Feed } from "./feed.js";
import type { ManyOptions } from "./feed-many.js";
import { convertToFile, fileKind } from "./files.js";
import { feedFrom, feedInto } from "./index.js";
import type { Input } from "./inputs.js";
import { finest, isZip, levelsWanted, withLinks } from "./levels.js";
import { type ConvertToOptions, holdsLevels, isMany, isParticleFile, particleOptions } from "./options.js";
import { convertToParticles } from "./particles.js";
import { FILES } from "./precomputed/publication.js";
import type { Tracts } from "./tracts.js";

/** What would be written. */
export interface Estimate {
  readonly bytes: number;
  /** Known to the byte. */
  readonly exact: boolean;
}

/** Why that cannot be told. */
export interface Untold {
  readonly untold: string;
}

/** How much there is of what is converted, at most. */
export interface Whole {
  readonly objects: number;
  readonly vertices: number;
}

type Source = VectorDataset | readonly Input[];
type Options = ConvertToOptions & Pick<ManyOptions, "merge" | "onBad">;

const VERTICES = 1 << 16; // that a sample may have
const BYTES = 32 << 20; // that they may take as they are in memory
const RUNS = 16; // of objects that follow each other; as many batches has a sample

/** What `convert` would write at the target; `feed` is what goes there, where somebody has it already. */
export async function estimateWritten(
  source: Source,
  target: string,
  whole: Whole,
  options: Options,
  { feed, tracts }: { readonly feed?: Feed | undefined; readonly tracts?: Tracts | undefined } = {},
): Promise<Estimate | Untold> {
  const { query, pyramid, onBad } = options;
  const quiet: Options = { ...options, strict: undefined, onProgress: undefined, onBad: onBad && (() => {}) };
  const part = feed === undefined ? await narrowed(source, whole, quiet) : undefined;
  const isFile = fileKind(target, options.to) !== undefined || isParticleFile(target, options.to);
  const asked = part?.query ?? query;
  const from =
    feed ??
    (await feedFrom(part?.source ?? source, pyramid === undefined ? asked : finest(asked), {
      ...quiet,
      tellFiles: !isFile,
      apart: !isFile,
    }));
  const { batches, isAll } = await sampleOf(from);
  const write = (own: readonly Batch[], withGroups: boolean): Promise<number> =>
    bytesOf({ ...from, batches: () => again(own), ...(!withGroups && { groups: none }) }, target, whole, quiet, tracts);
  if (isAll && part === undefined) return { bytes: await write(batches, true), exact: isFile };
  try {
    const half = batches.slice(0, Math.floor(batches.length / 2));
    const [all, some] = [verticesOf(batches), verticesOf(half)];
    const taken = await write(batches, isAll);
    const each = some > 0 ? (taken - (await write(half, false))) / (all - some) : taken / (all || 1);
    return { bytes: Math.round(taken + each * Math.max(0, whole.vertices - all)), exact: false };
  } catch (error) {
    if (error instanceof OctavoError) return { untold: error.message }; // a part may be refused where all of it is not
    throw error;
  }
}

const verticesOf = (batches: readonly Batch[]): number =>
  batches.reduce((sum, { positions, dims, repeats }) => sum + (repeats === true ? 0 : positions.length / dims), 0);

async function* again(batches: readonly Batch[]): AsyncGenerator<Batch> {
  yield* batches;
}

const none: Feed["groups"] = async () => ({ members: [], columns: new Map() });

/** An evenly spread part that is about half as large as a sample may be; undefined where all of it is asked, from its beginning on. */
async function narrowed(
  source: Source,
  { vertices }: Whole,
  { query = {}, ...options }: Options,
): Promise<{ readonly source: Source; readonly query: Query } | undefined> {
  const share = VERTICES / 2 / vertices;
  if (share >= 1 / 2) return undefined;
  if (isMany(source)) {
    const count = Math.ceil(source.length * share);
    return { source: Array.from({ length: count }, (_, i) => source[Math.floor((i * source.length) / count)]!), query };
  }
  if (Object.entries(query).some(([name, asked]) => name !== "level" && asked !== undefined)) return undefined;
  const level = query.level ?? 0;
  const { objects } = await source.source(level, options, source.geometries[0]);
  const run = Math.ceil(((objects?.rows ?? 0) * share) / RUNS);
  if (objects === undefined || 2 * RUNS * run > objects.rows) return undefined;
  const rows = Uint32Array.from({ length: RUNS * run }, (_, i) => {
    const begin = Math.floor((Math.floor(i / run) * objects.rows) / RUNS);
    return begin + (i % run);
  });
  return { source, query: { ...query, object: [...(await objects.ids(rows, options))] } };
}

/** Batches up to the size of a sample, and whether that is all. */
async function sampleOf(feed: Feed): Promise<{ readonly batches: readonly Batch[]; readonly isAll: boolean }> {
  const { vertex } = feed.schema;
  const row = vertex.reduce((sum, { dtype, channels }) => sum + memorySize(dtype) * channels, 8 * feed.axes.length);
  const most = Math.max(RUNS, Math.min(VERTICES, Math.floor(BYTES / row)));
  const batches: Batch[] = [];
  let left = most;
  for await (const batch of feed.batches({ batchVertices: Math.ceil(most / RUNS) })) {
    const count = verticesOf([batch]);
    if (count > left && batches.length > 0) return { batches, isAll: false };
    if (count > left) return { batches: [middleOf(batch, left)], isAll: false };
    batches.push(batch);
    left -= count;
  }
  return { batches, isAll: true };
}

/** Of an object that is too large: what lies in a slab across its longest axis, with the links in there; of a path its beginning. */
function middleOf(batch: Batch, most: number): Batch {
  const { positions, dims, ids, links } = batch;
  const count = positions.length / dims;
  const mask = new Uint8Array(count);
  if (isPath(batch)) mask.fill(1, 0, most);
  else {
    const { axis, low, high } = slabOf(positions, dims, most / count);
    for (let v = 0, left = most; v < count && left > 0; v++) {
      const at = positions[v * dims + axis]!;
      if (at >= low && at <= high) left -= mask[v] = 1;
    }
  }
  const fragments = {
    offsets: Uint32Array.of(0),
    columns: new Map(),
    chunk: new Int32Array(),
    part: new Uint32Array(),
  };
  const rows = Uint32Array.from(ids, (_, row) => row);
  const storedLinks = links === undefined ? 0 : links.ends.length / links.width;
  return { ...subset({ ...batch, fragments, rows, storedLinks, loose: false }, mask), fragments: undefined };
}

/** Where the middle share of all vertices lies along the longest axis, as some of them tell. */
function slabOf(positions: Batch["positions"], dims: number, share: number) {
  const step = dims * Math.max(1, Math.floor(positions.length / dims / 4096));
  const along = Array.from({ length: dims }, (_, axis) =>
    positions.filter((_, i) => i % step === axis).sort((a, b) => a - b),
  );
  const spans = along.map((sorted) => sorted.at(-1)! - sorted[0]!);
  const axis = spans.indexOf(Math.max(...spans));
  const at = (part: number): number => along[axis]![Math.round(part * (along[axis]!.length - 1))]!;
  return { axis, low: at((1 - share) / 2), high: at((1 + share) / 2) };
}

/** What this much takes, written as the whole would be. */
async function bytesOf(
  feed: Feed,
  target: string,
  whole: Whole,
  options: Options,
  tracts: Tracts | undefined,
): Promise<number> {
  const { to, ascii, pyramid, ...rest } = options;
  const [store, file] = [memoryStore(), Key.of("file")];
  const kind = fileKind(target, to);
  if (isParticleFile(target, to))
    await convertToParticles(feed, await store.write(file), particleOptions(feed, { to, ...rest }));
  else if (kind !== undefined) {
    const [gzip, reference] = [/\.gz$/i.test(target), tracts?.reference];
    await convertToFile(feed, kind, await store.write(file), { ...rest, ascii, reference, gzip });
  } else {
    const levels = levelsWanted(target, holdsLevels([], target, options), pyramid, {});
    const asCloud = feed.geometry === "points" && (!feed.hasObjects || whole.objects === whole.vertices);
    const wanted = levels && { ...levels, levels: levelsOf(whole.vertices, feed.geometry, asCloud, levels) };
    const sharded = to === "precomputed" ? shardedAs(feed, whole, options) : options.sharded;
    const report = await feedInto(feed, store, Prefix.root, { to, ...rest, sharded }, undefined, wanted);
    if (wanted?.crossLinks) await withLinks(report, { store, at: Prefix.root }, wanted);
  }
  let bytes = 0;
  for await (const { key, size = 0 } of store.list(Prefix.root)) bytes += size + (isZip(target) ? entryOf(key) : 0);
  return bytes;
}

/** Whether all of it would go into shards. */
function shardedAs({ geometry }: Feed, { objects, vertices }: Whole, { kind, sharded }: Options): boolean | undefined {
  if (kind === "legacy-meshes") return sharded;
  const isAnnotation = kind === "annotations" || geometry === "points" || geometry === "lines";
  return sharded ?? (isAnnotation ? vertices : objects) > FILES;
}

/** What a zip file says of an entry, before it and in its directory. */
const entryOf = (key: string): number => 30 + 46 + 2 * key.length;
