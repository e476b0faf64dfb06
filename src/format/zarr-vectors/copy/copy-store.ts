/**
 * A whole store into a new one of another version: every level as it is (copy-level.ts), then the headers, what lies beside the
 * levels, and in the end the root's document: before that there is nothing that anybody would take for a store.
 */
import type { Json } from "../../../bytes/json.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import { scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { wrap } from "../../../store/wrap.js";
import type { OpenedStore } from "../nodes/open-nodes.js";
import type { ZarrVectors } from "../read/dataset.js";
import { geometryOf } from "../read/geometry.js";
import { levelSource } from "../read/level.js";
import { readParametric } from "../read/parametric.js";
import type { LevelMeta } from "../types.js";
import { type Plan, planOf, type VectorDescription } from "../write/description.js";
import { nameOf } from "../write/write.js";
import { arrays07 } from "../write/write-07-arrays.js";
import { arraysIn } from "../write/write-arrays.js";
import type { Dtype } from "../write/write-batch.js";
import { type Document, groupDocument, rootDocument } from "../write/write-documents.js";
import { shardFor } from "../write/write-layout.js";
import { writeParametric } from "../write/write-parametric.js";
import { copyLevel, type LevelCopy } from "./copy-level.js";
import { allSettled } from "./copy-objects.js";

/** What may be other than in the source. */
export type CopyDescription = Pick<
  VectorDescription,
  "formatVersion" | "codecs" | "checksums" | "sharding" | "name"
> & { readonly ids?: "dense" | undefined };

export interface CopyOptions extends ReadOptions {
  /** Bytes that may be held, roughly; 256 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** Only these levels, and the links between them; all unless told. */
  readonly levels?: readonly number[] | undefined;
}

/** What was copied, and what could not be. */
export interface CopyReport {
  chunks: number;
  vertices: number;
  objects: number;
  /** Sentences about what the new store does not keep, each beginning with where. */
  readonly losses: string[];
}

const MEMORY = 256 << 20;
/** Encoding again what was rounded would round it again. */
export const RAW = "the Draco encoding: positions are stored raw, as it has rounded them";
/** What is written anew; the last two are of shards that are no longer there. */
const ROOT_WORDS = [
  "zarr_vectors",
  "multiscales",
  "ome",
  "user_metadata",
  "octavo_log",
  "octavo_pack",
  "shard_layout",
  "shard_size",
];
const DTYPES: readonly string[] = ["float16", "float32", "float64"] satisfies Dtype[];

/** Into an empty place. */
export async function copyStore(
  { opened: source }: ZarrVectors,
  store: Store,
  at: Prefix,
  description: CopyDescription,
  options: CopyOptions = {},
): Promise<CopyReport> {
  const { signal, maxMemory = MEMORY, onProgress } = options;
  // Positions as they are stored: what is to be added to them is kept beside them.
  const opened: OpenedStore = {
    ...source,
    levels: options.levels ?? source.levels,
    root: { ...source.root, coordinateOffset: undefined },
  };
  const { root } = opened;
  const report: CopyReport = { chunks: 0, vertices: 0, objects: 0, losses: [] };
  const lose = (sentence: string): void => void report.losses.push(`${source.url}: ${sentence}`);
  const written = new Set<Key>();
  const tracked = wrap(store, {
    set(key, value, call) {
      written.add(key);
      return store.set(key, value, call);
    },
  });
  const scratch = scratchIn({ store, at: Prefix.join(at, LOGS) }, maxMemory, signal);
  const plan = planFor(opened, description);
  const old = plan.formatVersion === "0.7.0";
  const arraysAt = (path: string) => {
    const place = path === "" ? at : Prefix.join(at, path);
    const own = old ? arrays07(tracked, place, plan, signal) : undefined;
    return { arrays: own ?? arraysIn(tracked, place, plan, signal), old: own };
  };
  try {
    const metas = await Promise.all(opened.levels.map((level) => opened.level(level, options)));
    const levels = await Promise.all(metas.map((meta) => sourceOf(opened, meta, options)));
    const bounds = boundsFor(opened, levels, lose);
    const total = levels.reduce((sum, { table }) => sum + table.count, 0);
    const capabilities = new Set<string>();
    for (const { meta, source: level, table, dtype, draco } of levels) {
      if (draco) lose(`${meta.path}/vertices: ${RAW}`);
      if (!DTYPES.includes(dtype)) lose(`${meta.path}/vertices: positions of type ${dtype} became float64`);
      const lead = table.rank - root.axes.length;
      const origin = meta.chunkShape.map((size, axis) => Math.floor(bounds.min[axis]! / size));
      const shape = meta.chunkShape.map((size, axis) =>
        Math.max(1, Math.floor(bounds.max[axis]! / size) - origin[axis]! + 1),
      );
      const bins = lead === 0 ? [] : [meta.chunkAttribute!.values.length];
      const whole = [...bins, ...shape];
      const cellBytes = ((meta.vertexCount ?? 0) * root.axes.length * 4) / Math.max(1, table.count);
      const grid = {
        dims: table.rank,
        coords: table.coords,
        origin: [...bins.map(() => 0), ...origin],
        shape: whole,
        shard: old ? undefined : shardFor(plan.sharding, whole, table.count * 4, cellBytes),
      };
      const copy: LevelCopy = {
        opened,
        source: level,
        meta,
        plan,
        dtype: DTYPES.includes(dtype) ? (dtype as Dtype) : "float64",
        ...arraysAt(`${meta.level}`),
        table,
        grid,
        scratch,
        options: { signal, limits: options.limits },
        lose,
        onChunks(count) {
          report.chunks += count;
          onProgress?.({ done: report.chunks, total, unit: "chunks" });
        },
      };
      const { vertices, objects, shared, between, extent } = await copyLevel(copy);
      if (source.root.coordinateOffset === undefined) widen(bounds, extent, levels);
      report.vertices += vertices;
      report.objects += objects;
      if (shared) capabilities.add("shared_fragments");
      if (meta.preservesObjectIds) capabilities.add("preserved_object_ids");
      if (between) capabilities.add("multiscale_links");
      otherWords(meta.attributes, ["zarr_vectors_level", "zarr_vectors_presence"], meta.path, lose);
    }
    const { arrays } = arraysAt("");
    const headers = await opened.headers(options);
    for (const [format, header] of headers)
      await arrays.document(`headers/${format}`, groupDocument(header as Document));
    if (headers.size > 0) await arrays.document("headers", groupDocument());
    const beside = await opened.parametric(options);
    if (beside !== undefined) {
      const parametric = await readParametric(beside, options);
      const columns = allSettled(parametric.columns);
      await writeParametric(plan, arraysAt("parametric"), { ...parametric, columns });
    }
    otherWords(root.attributes, ROOT_WORDS, "the root", lose);
    await scratch.clear();
    const document = rootDocument(plan, {
      name: nameOf(store, at, description.name),
      chunkShape: root.chunkShape,
      bounds,
      capabilities: [...capabilities].sort(),
      attributes: {},
      levels: metas,
      more: wordsOf(source, plan),
    });
    const condition = store.can.conditional ? ({ absent: true } as const) : undefined;
    await store.set(Key.join(at, "zarr.json"), document, { signal, if: condition });
    return report;
  } catch (error) {
    await scratch.clear();
    await forEachConcurrent(written, 16, (key) => store.delete(key));
    throw error;
  }
}

/** The plan of a store that is like the source. Parametric objects alone are a store of points without any. */
function planFor({ root }: OpenedStore, description: CopyDescription): Plan {
  const geometry = geometryOf(root.geometryTypes[0]) ?? "points";
  const plan = planOf({
    ...description,
    geometry: geometry === "parametric" ? "points" : geometry,
    axes: root.axes,
    chunkShape: root.chunkShape,
    crs: root.crs ?? undefined,
    userMetadata: root.userMetadata,
  });
  return { ...plan, binShape: root.baseBinShape };
}

async function sourceOf(opened: OpenedStore, meta: LevelMeta, options: ReadOptions) {
  const { root } = opened;
  const nodes = await opened.nodes(meta.level, options);
  const geometry = geometryOf(root.geometryTypes[0]) ?? "points";
  const [source, vertices] = await Promise.all([
    levelSource({ root, meta, nodes, geometry }, options),
    nodes.attributes("vertices", options),
  ]);
  return {
    meta,
    source,
    table: await source.chunks(options),
    dtype: String(vertices?.dtype ?? "float32"),
    draco: vertices?.encoding === "draco",
  };
}

type Bounds = { readonly min: number[]; readonly max: number[] };

/** To the vertices, which may lie a little outside (Draco rounds them), as long as the grids stay what they are. */
function widen(
  { min, max }: Bounds,
  extent: { readonly min: Float64Array; readonly max: Float64Array },
  levels: readonly { readonly meta: LevelMeta }[],
): void {
  for (let axis = 0; axis < min.length; axis++) {
    const sizes = levels.map(({ meta }) => meta.chunkShape[axis]!);
    const sameChunk = (a: number, b: number) => sizes.every((size) => Math.floor(a / size) === Math.floor(b / size));
    if (extent.min[axis]! < min[axis]! && sameChunk(extent.min[axis]!, min[axis]!)) min[axis] = extent.min[axis]!;
    if (extent.max[axis]! > max[axis]! && sameChunk(extent.max[axis]!, max[axis]!)) max[axis] = extent.max[axis]!;
  }
}

/** The bounds, grown to every chunk that has vertices: from 0.9 on they say what the grid covers. */
function boundsFor(
  { root }: OpenedStore,
  levels: readonly { readonly meta: LevelMeta; readonly table: LevelCopy["table"] }[],
  lose: (sentence: string) => void,
): Bounds {
  const [min, max] = [[...root.bounds.min], [...root.bounds.max]];
  for (const { meta, table } of levels)
    for (const [axis, size] of meta.chunkShape.entries())
      for (let chunk = 0; chunk < table.count; chunk++) {
        const place = table.coords[(chunk + 1) * table.rank - meta.chunkShape.length + axis]!;
        if (place < Math.floor(min[axis]! / size)) min[axis] = place * size;
        if (place > Math.floor(max[axis]! / size)) max[axis] = lastIn(place, size);
      }
  if ([...min, ...max].some((value, i) => value !== [...root.bounds.min, ...root.bounds.max][i]))
    lose(
      `bounds: there are vertices outside of [${root.bounds.min}] to [${root.bounds.max}], so they grew to [${min}] to [${max}]`,
    );
  return { min, max };
}

/** The largest number that is in a chunk. */
function lastIn(place: number, size: number): number {
  const end = (place + 1) * size;
  let step = Math.abs(end) * 2 ** -53 || Number.MIN_VALUE;
  while (Math.floor((end - step) / size) > place || end - step === end) step *= 2;
  return end - step;
}

/** What the root says besides what every store says. */
function wordsOf({ root }: OpenedStore, plan: Plan): Document {
  const skeletons = plan.kind.type === "skeleton" && plan.formatVersion === "0.7.0";
  return {
    geometry_types: [...root.geometryTypes],
    links_convention: skeletons ? "explicit" : root.linksConvention,
    ...(root.attributeSpecs === undefined || plan.formatVersion !== "0.9.2"
      ? {}
      : { attribute_specs: root.attributeSpecs }),
    ...(root.crossLevelDepth === undefined ? {} : { cross_level_depth: root.crossLevelDepth }),
    ...(root.crossLevelDepth === undefined ? {} : { cross_level_storage: root.crossLevelStorage }),
    ...(root.reductionFactor === undefined ? {} : { reduction_factor: root.reductionFactor }),
    ...(root.coordinateOffset === undefined ? {} : { coordinate_offset: [...root.coordinateOffset] }),
  };
}

function otherWords(
  attributes: { readonly [key: string]: Json },
  known: readonly string[],
  where: string,
  lose: (sentence: string) => void,
): void {
  const other = Object.keys(attributes).filter((key) => !known.includes(key));
  if (other.length > 0) lose(`${where}: its attributes ${other.join(", ")}`);
}
