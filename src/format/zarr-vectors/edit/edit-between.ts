/**
 * Links from level to level, anew: "+1" with the finer level, "-1" with the coarser one, as the reference stores them where
 * `cross_level_storage` is "explicit".
 */
import type { JsonObject } from "../../../bytes/json.js";
import { Prefix } from "../../../store/key.js";
import { type ScratchPlace, scratchIn } from "../../../store/scratch.js";
import type { Store } from "../../../store/types.js";
import { geometryOf } from "../read/geometry.js";
import { levelSource } from "../read/level.js";
import type { LevelLinks } from "../read/link-levels.js";
import { arraysIn } from "../write/write-arrays.js";
import { betweenWriter, type LinkedLevel } from "../write/write-between.js";
import { shardFor } from "../write/write-layout.js";
import { editLevel } from "./edit-level.js";
import { removeBetween } from "./edit-levels.js";
import { planFor } from "./edit-put.js";
import { present, type Tree } from "./edit-tree.js";

export async function linkLevels(
  tree: Tree,
  view: Store,
  at: Prefix,
  /** From the vertices of a level to those of the next. */
  links: (level: number) => AsyncIterable<LevelLinks>,
  aside: ScratchPlace,
  maxMemory: number,
): Promise<void> {
  const { opened, options } = tree;
  const { signal } = options;
  const scratch = scratchIn(aside, maxMemory, signal);
  const plan = await planFor(await editLevel(tree, 0));
  const { bounds } = opened.root;
  const linked = async (level: number): Promise<LinkedLevel> => {
    const [meta, nodes] = [await opened.level(level, options), await opened.nodes(level, options)];
    const geometry = geometryOf(opened.root.geometryTypes[0])!;
    const table = await (await levelSource({ root: opened.root, meta, nodes, geometry }, options)).chunks(options);
    const origin = meta.chunkShape.map((size, axis) => Math.floor(bounds.min[axis]! / size));
    const shape = meta.chunkShape.map((size, axis) =>
      Math.max(1, Math.floor(bounds.max[axis]! / size) - origin[axis]! + 1),
    );
    const cellBytes = (16 * (meta.vertexCount ?? 0)) / Math.max(1, table.count);
    const shard = shardFor("auto", shape, table.count * 4, cellBytes);
    const grid = { dims: table.rank, coords: table.coords, origin, shape, shard };
    return { meta, table, grid, arrays: arraysIn(view, Prefix.join(at, meta.path), plan, signal), scratch };
  };
  try {
    for (const level of opened.levels) await removeBetween(tree, `${level}/links`, 0);
    for (const level of opened.levels) {
      if (!opened.levels.includes(level + 1)) continue;
      const [finer, coarser] = [await linked(level), await linked(level + 1)];
      const up = betweenWriter(finer, coarser.meta, 1);
      const down = betweenWriter(coarser, finer.meta, -1);
      for await (const some of links(level)) {
        await up.add(some);
        await down.add(turned(some));
      }
      await up.finish();
      await down.finish();
      for (const own of [level, level + 1]) {
        await tree.makeGroup(`${own}/links`);
        await present(tree, `${own}`, "links");
      }
    }
  } finally {
    await scratch.clear();
  }
  const root = (await tree.group(""))!;
  const own = root.attributes.zarr_vectors as JsonObject;
  const before = (own.format_capabilities as readonly string[] | undefined) ?? [];
  const zarr_vectors = {
    ...own,
    cross_level_depth: 1,
    cross_level_storage: "explicit",
    format_capabilities: [...new Set([...before, "multiscale_links"])].sort(),
  };
  root.attributes = { ...root.attributes, zarr_vectors };
}

/** The same, from their other ends. */
function turned({ path, width, rank, chunks, vertices }: LevelLinks): LevelLinks {
  const [ends, numbers] = [new Int32Array(chunks.length), new Uint32Array(vertices.length)];
  for (let link = 0; link < vertices.length; link += 2) {
    [numbers[link], numbers[link + 1]] = [vertices[link + 1]!, vertices[link]!];
    ends.set(chunks.subarray((link + 1) * rank, (link + 2) * rank), link * rank);
    ends.set(chunks.subarray(link * rank, (link + 1) * rank), (link + 1) * rank);
  }
  return { path, width, rank, chunks: ends, vertices: numbers };
}
