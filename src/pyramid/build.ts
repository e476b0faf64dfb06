/**
 * A pyramid for a store: its finest level is read once, batch by batch, and every batch goes to all coarser levels. Each is made from
 * it and not from the level before, so that errors do not add up; but for meshes, of which the coarser is made from the finer in a
 * fraction of the time: there the squares of errors add up, as the quadrics do that measure them, and are allowed for. All levels
 * appear at once, or none. Every batch and level is a task for a worker; what comes of them is the same however many there are.
 */
import { InvalidInput } from "../errors.js";
import { editZarrVectors } from "../format/zarr-vectors/edit/edit.js";
import { writeLevels } from "../format/zarr-vectors/edit/edit-levels.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import type { ZarrVectors } from "../format/zarr-vectors/read/dataset.js";
import type { NewLevels, VectorLevelWriter } from "../format/zarr-vectors/write/write.js";
import type { Batch } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { inlinePool } from "../worker/inline.js";
import { chooseObjects } from "./choose.js";
import { cloudLevel, type Made } from "./cloud.js";
import { coarseBatch, onlyObjects, thinned } from "./coarsen.js";
import { isCloud, type PyramidOptions, planLevels } from "./plan.js";
import { chunksOfSingle } from "./single.js";

export type { Choice, PyramidOptions } from "./plan.js";

/** What came of it, level by level. */
export interface PyramidReport {
  readonly levels: readonly PyramidLevel[];
}

/** A level that was made. */
export interface PyramidLevel {
  readonly level: number;
  readonly vertices: number;
  readonly objects: number;
  /** How far vertices may be from what stays, and how far they are at most. */
  readonly allowed: number;
  readonly error: number;
}

const METHODS: { readonly [geometry: string]: string } = {
  points: "point_cloud_grid_medoid",
  lines: "object_subset",
  polylines: "polyline_simplify",
  streamlines: "polyline_simplify",
  graph: "graph_contract",
  skeletons: "skeleton_simplify",
  mesh: "mesh_decimate",
};

/** Builds the coarser levels of a store, or builds them again. */
export async function buildPyramid(
  store: Store,
  at: Prefix = Prefix.root,
  options: PyramidOptions = {},
): Promise<PyramidReport> {
  const { signal, limits, maxMemory = MEMORY } = options;
  const { report, ...levels } = await coarserLevels(await openZarrVectors(store, at, { signal, limits }), options);
  const transaction = await editZarrVectors(store, at, { signal, limits });
  transaction.setLevels(levels, maxMemory / 2);
  await transaction.commit();
  if (options.crossLinks === true) await (await import("./cross.js")).linkLevels(store, at, options);
  return report();
}

/** The same in a store that nobody sees yet, without links between levels: there is no log of it. */
export async function writePyramid(store: Store, at: Prefix, options: PyramidOptions): Promise<PyramidReport> {
  const { signal, limits, maxMemory = MEMORY } = options;
  const { report, ...levels } = await coarserLevels(await openZarrVectors(store, at, { signal, limits }), options);
  await writeLevels(store, at, levels, maxMemory / 2, { signal, limits });
  return report();
}

const MEMORY = 512 << 20;

/** The coarser levels of a dataset, for who writes them; in the end what came of them. */
export async function coarserLevels(
  dataset: ZarrVectors,
  options: PyramidOptions,
): Promise<NewLevels & { report(): PyramidReport }> {
  const { signal, limits, pool = inlinePool, onProgress } = options;
  const reading = { signal, limits };
  const [geometry, ...others] = dataset.geometries;
  if (geometry === undefined || geometry === "parametric" || others.length > 0)
    throw new InvalidInput(
      `${dataset.url} should hold one kind of geometry, found ${dataset.geometries.join(", ") || "none"}`,
    );
  const asCloud = await isCloud(dataset, options);
  const plans = await planLevels(dataset, options, asCloud);
  const chosen = await chooseObjects(dataset, plans, options.by ?? "even", {
    ...reading,
    maxMemory: options.maxMemory,
  });
  const { binShape, chunkShape, vertices: total = 0 } = await dataset.describe(0, reading);
  const finest = await dataset.source(0, reading);
  const isSingle = asCloud && finest.objects !== undefined;
  const staying = isSingle && (await dataset.groups(0, reading)).length > 0 ? plans.map(() => new Set<bigint>()) : [];
  // Links name vertices, so only what has none can share them.
  const sharedFragments = finest.linkWidth === 0 && (await dataset.opened.level(0, reading)).sharedFragments;
  const made = plans.map(() => ({ vertices: 0, objects: 0, error: 0 }));
  const chained = geometry === "mesh";

  async function coarser(batch: Batch, level: number): Promise<Made> {
    const kept = chosen[level] === undefined ? batch : onlyObjects(batch, (id) => chosen[level]!.has(id));
    const stays = await thinned(kept, plans[level]!.step, pool, signal);
    return { batch: coarseBatch(kept, stays), error: stays.error };
  }
  /** What a batch is on every level. */
  async function onAll(batch: Batch): Promise<Made[]> {
    if (!chained) return Promise.all(plans.map((_, i) => coarser(batch, i)));
    const all: Made[] = [];
    for (let i = 0; i < plans.length; i++) all.push(await coarser(all[i - 1]?.batch ?? batch, i));
    return all;
  }
  async function put(level: number, { batch, error }: Made, writer: VectorLevelWriter): Promise<void> {
    const own = made[level]!;
    own.error = Math.max(own.error, error);
    if (batch.repeats !== true) {
      own.vertices += batch.positions.length / batch.dims;
      own.objects += batch.ids.length;
    }
    const among = staying[level];
    if (among !== undefined) for (const id of batch.ids) among.add(id);
    if (batch.positions.length > 0 || batch.ids.length > 0) await writer.add(batch);
  }
  return {
    levels: plans.map(({ bin, chunkScale, share }, i) => ({
      scale: bin.map((size, axis) => size / binShape[axis]!),
      chunkScale,
      parent: i,
      sparsity: share / (plans[i - 1]?.share ?? 1),
      method: METHODS[geometry],
      objects: finest.objects !== undefined,
      sharedFragments,
    })),
    async fill(writers) {
      for (const own of made) [own.vertices, own.objects, own.error] = [0, 0, 0];
      for (const ids of staying) ids.clear();
      const clouds = asCloud
        ? plans.map((plan, i) => cloudLevel(plan, chunkShape, options, (coarse, writer) => put(i, coarse, writer)))
        : undefined;
      // Workers are ahead by a batch each; batches are written in their order, whoever is done first.
      const ahead: Promise<Made[]>[] = [];
      const write = async (next: Promise<Made[]>): Promise<void> => {
        for (const [i, coarse] of (await next).entries()) await put(i, coarse, writers[i]!);
      };
      let done = 0;
      for await (const batch of isSingle ? chunksOfSingle(finest, options) : piecesOf(dataset, options)) {
        if (clouds !== undefined) for (const [i, cloud] of clouds.entries()) await cloud.add(batch, writers[i]!);
        else {
          const next = onAll(batch);
          next.catch(() => {}); // heard when its turn comes
          ahead.push(next);
          if (ahead.length > pool.size) await write(ahead.shift()!);
        }
        if (batch.repeats !== true) done += batch.positions.length / batch.dims;
        onProgress?.({ done, total: Math.max(done, total), unit: "vertices" });
      }
      for (const next of ahead) await write(next);
      for (const [i, writer] of writers.entries()) {
        await clouds?.[i]?.finish(writer);
        await carryGroups(dataset, staying[i] ?? chosen[i], writer, options);
      }
    },
    report: () => ({
      levels: made.map((own, i) => ({
        level: i + 1,
        ...own,
        error: chained ? Math.hypot(...made.slice(0, i + 1).map(({ error }) => error)) : own.error,
        allowed: plans[i]!.error,
      })),
    }),
  };
}

/** Points without objects come in whole chunks; everything else in whole objects. */
async function* piecesOf(
  dataset: ZarrVectors,
  { signal, limits, pool = inlinePool, maxMemory = MEMORY }: PyramidOptions,
): AsyncGenerator<Batch> {
  const most = Math.floor(maxMemory / 2048 / (1 + pool.size / 4)); // as many as workers are ahead
  const batchVertices = Math.max(256, Math.min(1 << 18, most));
  yield* dataset.select({ level: 0 }).batches({ signal, limits, batchVertices });
}

/** Groups stay what they are, with those of their members that stay. */
async function carryGroups(
  dataset: ZarrVectors,
  chosen: ReadonlySet<bigint> | undefined,
  writer: VectorLevelWriter,
  options: PyramidOptions,
): Promise<void> {
  const groups = await dataset.groups(0, options);
  if (groups.length === 0) return;
  const members = await Promise.all(
    groups.map(async ({ group }) => {
      const all = [...(await dataset.groupMembers(group, 0, options))];
      return chosen === undefined ? all : all.filter((id) => chosen.has(id));
    }),
  );
  writer.groups(members, await dataset.groupColumns(0, options));
}
