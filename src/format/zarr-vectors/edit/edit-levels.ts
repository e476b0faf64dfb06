/**
 * Coarser levels, anew: those that are there go, and the writer of new stores (write-level.ts) writes others beside the finest one,
 * whose ids they keep. What is written goes through the transaction like every other edit.
 */
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { stringifyJson } from "../../../bytes/json-write.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { InvalidInput } from "../../../errors.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import { type ScratchPlace, scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { spelled } from "../nodes/document-text.js";
import { checkLevel, type LevelDescription, planOfLevel, saidOf } from "../write/description-level.js";
import type { NewLevels } from "../write/write.js";
import { arraysIn } from "../write/write-arrays.js";
import { type Extent, rowsOf } from "../write/write-batch.js";
import { type LevelWriter, levelWriter } from "../write/write-level.js";
import { objectsFor } from "../write/write-objects.js";
import { editLevel } from "./edit-level.js";
import { planFor } from "./edit-put.js";
import { openTree, type Tree } from "./edit-tree.js";

/** The same in a store that nobody sees yet: at once, without a log, and with a root as the writer of new stores spells it. */
export async function writeLevels(
  store: Store,
  at: Prefix,
  levels: NewLevels,
  maxMemory: number,
  options: ReadOptions,
): Promise<void> {
  const tree = await openTree(store, at, options);
  await replaceLevels(tree, store, at, levels, { store, at: Prefix.join(at, LOGS) }, maxMemory);
  const { attributes, rest } = (await tree.group(""))!;
  const text = stringifyJson(spelled({ attributes, ...rest }), { indent: 2, ascii: true, tokens: true });
  await store.set(Key.join(at, "zarr.json"), encodeUtf8(text, "a zarr.json"), { signal: options.signal });
}

export async function replaceLevels(
  tree: Tree,
  view: Store,
  at: Prefix,
  { levels, fill }: NewLevels,
  /** Where they are put aside on the way, and how much may be held. */
  aside: ScratchPlace,
  maxMemory: number,
): Promise<void> {
  const { signal } = tree.options;
  const { opened } = tree;
  const base = await editLevel(tree, 0);
  const { chunkShape, binShape } = base.meta;
  const own = await planFor(base);
  const plan = { ...own, binShape, ids: "sparse" as const, bounds: undefined };
  for (const level of levels) checkLevel(plan, level);
  for (const level of opened.levels) if (level !== 0) await tree.remove(`${level}`);
  for (const family of ["links", "link_attributes"])
    await removeBetween(tree, `0/${family}`, family === "links" ? 0 : 1);

  // The objects of level 0, as the writer of a new store would know them.
  const objects = objectsFor(plan);
  if (base.objects !== undefined) objects.take(base.objects.ids, new Map());
  const table = base.objects === undefined ? undefined : objects.finish();
  const finest = { objects, table };
  const scratch = scratchIn(aside, maxMemory, signal);
  const { bounds, coordinateOffset } = opened.root;
  const extent: Extent = {
    min: new Float64Array(plan.dims).fill(Infinity),
    max: new Float64Array(plan.dims).fill(-Infinity),
  };
  const writers: (LevelWriter | undefined)[] = levels.map(() => undefined);
  const groups: Parameters<LevelWriter["finish"]>[1][] = levels.map(() => undefined);
  const writerOf = (i: number, first: ReturnType<typeof rowsOf> | undefined): LevelWriter => {
    const levelPlan = planOfLevel({ ...plan, objects: table !== undefined }, chunkShape, levels[i]!);
    const arrays = arraysIn(view, Prefix.join(at, `${i + 1}`), levelPlan, signal);
    const shape = levelPlan.chunkShape as readonly number[];
    return levelWriter(
      { plan: levelPlan, dtype: base.dtype, chunkShape: shape, arrays, old: undefined, scratch },
      first,
    );
  };
  try {
    await fill(
      levels.map((_, i) => ({
        async add(batch) {
          signal?.throwIfAborted();
          const shifted = coordinateOffset?.some((by) => by !== 0)
            ? Float64Array.from(batch.positions, (value, k) => value - coordinateOffset[k % plan.dims]!)
            : batch.positions;
          const rows = rowsOf(plan, base.dtype, { ...batch, positions: shifted }, extent, { vertices: 0, objects: 0 });
          writers[i] ??= writerOf(i, rows);
          await writers[i].prepare(rows, extent)();
        },
        groups(members, columns = new Map()) {
          groups[i] = { members, columns };
        },
      })),
    );
    const inside = plan.axes.every(
      (_, axis) => extent.min[axis]! >= bounds.min[axis]! && extent.max[axis]! <= bounds.max[axis]!,
    );
    if (!inside && extent.min[0]! <= extent.max[0]!)
      throw new InvalidInput(`coarser levels of ${opened.url} reach beyond its bounds`, { where: opened.url });
    const capabilities = new Set<string>();
    for (const [i, description] of levels.entries()) {
      writers[i] ??= writerOf(i, undefined);
      const about = { ...saidOf(i + 1, description, plan.dims, chunkShape), finest };
      const { shared, preserves } = await writers[i].finish(bounds, groups[i], about);
      if (shared) capabilities.add("shared_fragments");
      if (preserves) capabilities.add("preserved_object_ids");
    }
    await describeLevels(tree, levels, binShape, capabilities);
  } finally {
    await scratch.clear();
  }
}

/** Links to and from levels that go, and their attributes, which have the level as one name more. */
export async function removeBetween(tree: Tree, path: string, deeper: number): Promise<void> {
  for (const name of await tree.names(path)) {
    if (deeper > 0) await removeBetween(tree, `${path}/${name}`, deeper - 1);
    else if (name !== "0") await tree.remove(`${path}/${name}`);
  }
}

/** The root names its levels twice, with the bins of each. */
async function describeLevels(
  tree: Tree,
  levels: readonly LevelDescription[],
  base: readonly number[],
  capabilities: ReadonlySet<string>,
): Promise<void> {
  const document = (await tree.group(""))!;
  const own = document.attributes.zarr_vectors as JsonObject;
  const { cross_level_depth: _, cross_level_storage: _s, ...kept } = own;
  const before = (own.format_capabilities as readonly string[] | undefined) ?? [];
  const gone = ["preserved_object_ids", "multiscale_links"];
  const tokens = new Set([...before.filter((token) => !gone.includes(token)), ...capabilities]);
  const zarr_vectors = { ...kept, format_capabilities: [...tokens].sort() };
  const scaleOf = ({ scale }: LevelDescription): readonly number[] =>
    typeof scale === "number" ? base.map(() => scale) : scale;
  const datasets = levels.map((level, i) => ({
    path: `${i + 1}`,
    coordinateTransformations: [
      { type: "scale", scale: scaleOf(level) },
      { type: "translation", translation: base.map((size, axis) => (size * scaleOf(level)[axis]!) / 2) },
    ],
  }));
  const finest = ({ path }: JsonObject): boolean => path === "0";
  const scales = document.attributes.multiscales as readonly JsonObject[] | undefined;
  const multiscales = scales?.map((scale, i) =>
    i > 0 ? scale : { ...scale, datasets: [...(scale.datasets as readonly JsonObject[]).filter(finest), ...datasets] },
  );
  const { ome } = document.attributes;
  const nodes = ["0", ...datasets.map(({ path }) => path)].map((name) => ({ type: "zv:level", name }));
  document.attributes = {
    ...document.attributes,
    zarr_vectors,
    ...(multiscales && { multiscales }),
    ...(isJsonObject(ome) ? { ome: { ...ome, nodes } } : {}),
  } as JsonObject;
}
