/**
 * A pyramid for a store: its finest level is read once, batch by batch, and every batch goes to all coarser levels, each made from
 * it and not from the level before, so that errors do not add up. All levels appear at once, or none.
 */
import { InvalidInput } from "../errors.js";
import { editZarrVectors } from "../format/zarr-vectors/edit/edit.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import type { ZarrVectors } from "../format/zarr-vectors/read/dataset.js";
import type { VectorLevelWriter } from "../format/zarr-vectors/write/write.js";
import type { Batch } from "../model/vectors.js";
import { ColumnsBuilder, roomLike } from "../query/columns.js";
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { chooseObjects } from "./choose.js";
import { coarseBatch, onlyObjects, thinned } from "./coarsen.js";
import { averaged } from "./mean.js";
import { type LevelPlan, type PyramidOptions, planLevels } from "./plan.js";
import { thinPoints } from "./points.js";

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
  const { signal, limits, maxMemory = 512 << 20, onProgress } = options;
  const reading = { signal, limits };
  const dataset = await openZarrVectors(store, at, reading);
  const [geometry, ...others] = dataset.geometries;
  if (geometry === undefined || geometry === "parametric" || others.length > 0)
    throw new InvalidInput(
      `${dataset.url} should hold one kind of geometry, found ${dataset.geometries.join(", ") || "none"}`,
    );
  const plans = await planLevels(dataset, options);
  const chosen = await chooseObjects(dataset, plans, options.by ?? "even", reading);
  const { binShape, chunkShape, vertices: total = 0 } = await dataset.describe(0, reading);
  const isCloud = geometry === "points" && (await dataset.source(0, reading)).objects === undefined;
  const made = plans.map(() => ({ vertices: 0, objects: 0, error: 0 }));
  const transaction = await editZarrVectors(store, at, reading);
  transaction.setLevels(
    {
      levels: plans.map(({ bin, chunkScale, share }, i) => ({
        scale: bin.map((size, axis) => size / binShape[axis]!),
        chunkScale,
        parent: i,
        sparsity: share / (plans[i - 1]?.share ?? 1),
        method: METHODS[geometry],
      })),
      async fill(writers) {
        for (const own of made) [own.vertices, own.objects, own.error] = [0, 0, 0];
        const clouds = isCloud
          ? plans.map((plan, i) =>
              cloudLevel(plan, chunkShape, options, (coarse, writer) => put(coarse, made[i]!, writer)),
            )
          : undefined;
        let done = 0;
        for await (const batch of piecesOf(dataset, options)) {
          for (const [i, plan] of plans.entries()) {
            if (clouds !== undefined) await clouds[i]!.add(batch, writers[i]!);
            else await put(await coarser(batch, plan, chosen[i]), made[i]!, writers[i]!);
          }
          if (batch.repeats !== true) done += batch.positions.length / batch.dims;
          onProgress?.({ done, total: Math.max(done, total), unit: "vertices" });
        }
        for (const [i, writer] of writers.entries()) {
          await clouds?.[i]?.finish(writer);
          await carryGroups(dataset, chosen[i], writer, options);
        }
      },
    },
    maxMemory / 2,
  );
  await transaction.commit();
  return { levels: made.map((own, i) => ({ level: i + 1, ...own, allowed: plans[i]!.error })) };
}

/** Points without objects come in whole chunks; everything else in whole objects. */
async function* piecesOf(
  dataset: ZarrVectors,
  { signal, limits, maxMemory = 512 << 20 }: PyramidOptions,
): AsyncGenerator<Batch> {
  const batchVertices = Math.max(1 << 12, Math.min(1 << 18, Math.floor(maxMemory / 2048)));
  yield* dataset.select({ level: 0 }).batches({ signal, limits, batchVertices });
}

interface Made {
  readonly batch: Batch;
  readonly error: number;
}

async function put(
  { batch, error }: Made,
  made: { vertices: number; objects: number; error: number },
  writer: VectorLevelWriter,
): Promise<void> {
  made.error = Math.max(made.error, error);
  if (batch.repeats !== true) {
    made.vertices += batch.positions.length / batch.dims;
    made.objects += batch.ids.length;
  }
  if (batch.positions.length > 0 || batch.ids.length > 0) await writer.add(batch);
}

async function coarser(batch: Batch, { error }: LevelPlan, chosen: ReadonlySet<bigint> | undefined): Promise<Made> {
  const kept = chosen === undefined ? batch : onlyObjects(batch, (id) => chosen.has(id));
  const thin = await thinned(kept, error);
  return { batch: coarseBatch(kept, thin), error: thin.error };
}

/**
 * A level of points without objects. Where bins are not larger than the chunks that they come from, chunk by chunk; else what
 * stays of each chunk is held, which is little, and thinned once more in the end.
 */
function cloudLevel(
  { bin }: LevelPlan,
  chunkShape: readonly number[],
  { attributes }: PyramidOptions,
  done: (made: Made, writer: VectorLevelWriter) => Promise<void>,
) {
  const within = bin.every((size, axis) => size <= chunkShape[axis]!);
  const held: { readonly made: Made; readonly weights: Float64Array }[] = [];
  const origin = bin.map(() => 0);

  function thin(
    batch: Batch,
    before: number,
    weights: Float64Array,
  ): { readonly made: Made; readonly weights: Float64Array } {
    const found = thinPoints(batch.positions, batch.dims, origin, bin);
    const coarse = coarseBatch(batch, found);
    const parts = Uint32Array.of(0, found.rows.length);
    const vertexColumns = attributes === "mean" ? averaged(batch.vertexColumns, found, weights) : coarse.vertexColumns;
    const sums = new Float64Array(found.rows.length);
    for (let point = 0; point < found.bins.length; point++) sums[found.bins[point]!]! += weights[point]!;
    const own = { ...coarse, parts, objects: Int32Array.of(-1), vertexColumns };
    return { made: { batch: own, error: before + found.error }, weights: sums };
  }
  return {
    async add(batch: Batch, writer: VectorLevelWriter): Promise<void> {
      const own = thin(batch, 0, new Float64Array(batch.positions.length / batch.dims).fill(1));
      if (within) await done(own.made, writer);
      else held.push(own);
    },
    async finish(writer: VectorLevelWriter): Promise<void> {
      if (held.length === 0) return;
      const count = held.reduce((sum, { weights }) => sum + weights.length, 0);
      const first = held[0]!.made.batch;
      const columns = new ColumnsBuilder(count);
      const positions = roomLike(first.positions, count * first.dims);
      const weights = new Float64Array(count);
      let at = 0;
      for (const { made, weights: own } of held) {
        positions.set(made.batch.positions, at * first.dims);
        columns.put(made.batch.vertexColumns, 0, own.length, at);
        weights.set(own, at);
        at += own.length;
      }
      const before = held.reduce((most, { made }) => Math.max(most, made.error), 0);
      const all = { ...first, positions, vertexColumns: columns.done() };
      await done(thin(all, before, weights).made, writer);
    },
  };
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
