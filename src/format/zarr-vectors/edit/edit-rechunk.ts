/**
 * Chunks of another size, on every level: a level whose chunks are n times those of the root keeps that n. Nothing but places
 * changes: objects, ids, groups, attributes, and links within and between levels stay what they are. Levels are cut one after
 * another, each held in memory meanwhile; of all of them, where each vertex has gone.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { Corrupt, InvalidInput, Unsupported } from "../../../errors.js";
import { Directory } from "../nodes/nodes-directory.js";
import { isWhole, levelOf } from "../nodes/parse-root.js";
import type { Block } from "../payload/manifest-write.js";
import { geometryOf } from "../read/geometry.js";
import type { LevelMeta, RootMeta } from "../types.js";
import { byPlace, type CellGrid, parseChunk } from "./edit-cells.js";
import { emptyChunk, total } from "./edit-chunks.js";
import { cutFragments, type OldFragment, type Placed, placeFragments } from "./edit-cut.js";
import { type Family, familiesOf, linkAttributes, segmentsOf } from "./edit-families.js";
import { editLevel, type LevelEdit } from "./edit-level.js";
import { addLinks, countLinks } from "./edit-links.js";
import { noRows, type Sequence, sequenceOf } from "./edit-recut.js";
import { type End, takeUp } from "./edit-relink.js";
import type { Tree } from "./edit-tree.js";

/** A level whose vertices have their new places. */
interface Recut {
  readonly level: LevelEdit;
  readonly sequence: Sequence;
  readonly placed: Placed;
  readonly grid: CellGrid;
  finish(): Promise<void>;
}

export async function rechunk(tree: Tree, size: readonly number[] | number): Promise<void> {
  const { opened, options } = tree;
  const { root, url } = opened;
  const shape = typeof size === "number" ? root.axes.map(() => size) : size;
  if (shape.length !== root.axes.length || !shape.every((n) => n > 0 && Number.isFinite(n)))
    throw new InvalidInput(`chunks of ${url} should have ${root.axes.length} sizes above 0, found [${shape}]`);
  const metas = await Promise.all(opened.levels.map((level) => opened.level(level, options)));
  const next = metas.map((meta) =>
    nextOf(meta, root.chunkShape, shape, metas.length > 1 || root.baseBinShape !== undefined),
  );
  const recuts = new Map<number, Recut>();
  for (const [i, meta] of metas.entries()) recuts.set(meta.level, await recutLevel(tree, meta, next[i]!));

  // Links are read as the levels were, and put into the chunks that they have now.
  const families = await familiesOf(tree, opened.levels);
  const now = new Map(metas.map((meta, i) => [meta.level, { ...meta, ...next[i]! }]));
  for (const family of families) {
    const { sequence, grid, level } = recuts.get(family.own.level)!;
    const places = { cut: (end: End) => recuts.get(end.level)!.placed.at(end), kept: () => undefined };
    const links = await takeUp(tree, family, places, family.delta === "0" ? sequence.says : () => false);
    await clearFamily(tree, family, grid);
    const moved = { ...family, own: now.get(family.own.level)!, to: now.get(family.to.level)! };
    await addLinks(tree, moved, links, level.chunks.vertices);
  }
  for (const { finish } of recuts.values()) await finish();
  for (const family of families) await dropEmpty(tree, family);
  await describeRoot(tree, shape, now);
}

/** The chunks and bins that a level gets. Bins stay, where they fill the chunks. */
function nextOf(
  { chunkShape, binShape }: LevelMeta,
  before: readonly number[],
  shape: readonly number[],
  withBins: boolean,
): Pick<LevelMeta, "chunkShape" | "binShape"> {
  const chunks = shape.map((size, axis) => size * Math.round(chunkShape[axis]! / before[axis]!));
  const fits = binShape.every((bin, axis) => bin > chunks[axis]! || isWhole(chunks[axis]! / bin));
  return { chunkShape: chunks, binShape: withBins && fits ? binShape : chunks };
}

async function recutLevel(
  tree: Tree,
  meta: LevelMeta,
  { chunkShape, binShape }: Pick<LevelMeta, "chunkShape" | "binShape">,
): Promise<Recut> {
  const level = await editLevel(tree, meta.level);
  const { chunks, objects, dtype, ownersAt } = level;
  const sequence = await sequenceOf(level);
  const names = [...(await chunks.vertices.chunks())].sort(byPlace);
  const fragments: OldFragment[] = [];
  const numbers = new Map<string, number>(); // of the first fragment of each chunk
  for (const name of names) {
    const chunk = await chunks.read(name);
    numbers.set(name, fragments.length);
    let entry = 0;
    for (const [fragment, vertices] of chunk.sizes.entries()) {
      fragments.push({ chunk, fragment, entry });
      entry += vertices;
    }
  }
  const binned = objects === undefined && geometryOf(tree.opened.root.geometryTypes[0]) === "points";
  if (binned && chunks.fragmentAttributes.some((_, i) => i !== ownersAt))
    throw new Unsupported(`${tree.opened.url}/${meta.path} has attributes of bins, which would become others`);
  const plan = {
    fragments,
    objects: objects === undefined ? [] : await namedBy(level, numbers, fragments),
    dtype,
    chunkShape,
    bins: binned ? binShape : undefined,
    follows: sequence.follows,
  };
  const cut = cutFragments(plan);
  const { length } = chunks.vertexAttributes;
  const into = cut.names.map((name) => emptyChunk(name, length, chunks.fragmentAttributes.length));
  const placed = placeFragments(plan, cut, into, noRows(level));
  const grid = gridFor(chunks.vertices.grid, chunkShape, tree.opened.root.bounds, cut.names.map(parseChunk));
  const arrays = [
    chunks.vertices,
    ...[...chunks.vertexAttributes, ...chunks.fragmentAttributes].map(({ cells }) => cells),
  ];
  for (const cells of [...arrays, (await tree.cells(meta.path, "vertex_fragments"))!]) await cells.clear(grid);
  for (const chunk of into) chunks.put({ ...chunk, before: total(chunk.sizes) });
  objects?.setAll(
    cut.objects.map((own) =>
      own.map((m): Block => ({ chunk: parseChunk(cut.names[cut.made[m]!.chunk]!), fragments: placed.numbers[m]! })),
    ),
  );
  return {
    level,
    sequence,
    placed,
    grid,
    async finish() {
      await sequence.putSteps(placed.steps);
      await level.finish();
      const document = (await tree.group(meta.path))!;
      const { chunk_shape: own, ...rest } = document.attributes.zarr_vectors_level as JsonObject;
      const said = { ...rest, ...(own === undefined ? {} : { chunk_shape: chunkShape }), fragments_tile: true };
      document.attributes = { ...document.attributes, zarr_vectors_level: said };
    },
  };
}

/** The fragments of each object, by number. */
async function namedBy(
  { tree, meta, objects, rank }: LevelEdit,
  numbers: ReadonlyMap<string, number>,
  fragments: readonly OldFragment[],
): Promise<number[][]> {
  const { rows, offsets, chunks, first, count } = await objects!.all();
  return Array.from({ length: rows }, (_, row) => {
    const own: number[] = [];
    for (let b = offsets[row]!; b < offsets[row + 1]!; b++) {
      const name = Directory.key(chunks, b * rank, rank);
      const from = numbers.get(name);
      for (let f = first[b]!; f < first[b]! + count[b]!; f++) {
        if (from === undefined || fragments[from + f]?.chunk.name !== name) {
          const where = `${tree.opened.url}/${meta.path}/object_index`;
          throw new Corrupt(`${where} names fragment ${f} of chunk ${name}, which is not there`, { where });
        }
        own.push(from + f);
      }
    }
    return own;
  });
}

/** The grid that holds these bounds and these chunks; axes before those of space stay as they are. */
function gridFor(
  { origin, shape }: CellGrid,
  chunkShape: readonly number[],
  { min, max }: RootMeta["bounds"],
  chunks: readonly (readonly number[])[],
): CellGrid {
  const lead = shape.length - chunkShape.length;
  const first = [...origin.slice(0, lead), ...chunkShape.map((size, axis) => Math.floor(min[axis]! / size))];
  const last = [
    ...shape.slice(0, lead).map((length, axis) => origin[axis]! + length - 1),
    ...chunkShape.map((size, axis) => Math.floor(max[axis]! / size)),
  ];
  for (const chunk of chunks)
    for (const [axis, place] of chunk.entries()) {
      first[axis] = Math.min(first[axis]!, place);
      last[axis] = Math.max(last[axis]!, place);
    }
  return { origin: first, shape: last.map((end, axis) => end - first[axis]! + 1) };
}

/** Every array of links and of their attributes, and their groups. */
async function clearFamily(tree: Tree, family: Family, grid: CellGrid): Promise<void> {
  const { level, delta, group } = family;
  const names = await linkAttributes(tree, level, delta);
  for (const { segment, cells } of await segmentsOf(tree, family)) {
    await cells.clear(grid);
    for (const name of names)
      await (await tree.cells(level, `link_attributes/${name}/${delta}/${segment}`))?.clear(grid);
  }
  if (delta === "0") await (await tree.cells(level, "link_fragments"))?.clear(grid);
  const { num_links: links = 0, num_physical_records: records = 0 } = group.attributes;
  await countLinks(tree, family, names, -Number(links), -Number(records));
}

/** Arrays for offsets that no link has any more; where no links are left at all, they say which attributes there are. */
async function dropEmpty(tree: Tree, family: Family): Promise<void> {
  const { level, delta, group } = family;
  if (group.attributes.num_links === 0) return;
  const names = await linkAttributes(tree, level, delta);
  for (const { segment, cells } of await segmentsOf(tree, family)) {
    if ((await cells.chunks()).size > 0) continue;
    await tree.remove(`${level}/links/${delta}/${segment}`);
    for (const name of names) await tree.remove(`${level}/link_attributes/${name}/${delta}/${segment}`);
  }
}

/** The chunks of the root, and the bins of all levels. */
async function describeRoot(
  tree: Tree,
  chunkShape: readonly number[],
  levels: ReadonlyMap<number, LevelMeta>,
): Promise<void> {
  const document = (await tree.group(""))!;
  const { base_bin_shape: _, ...own } = document.attributes.zarr_vectors as JsonObject;
  const base = levels.get(0)?.binShape ?? chunkShape;
  const bins = base.every((size, axis) => size === chunkShape[axis]) ? {} : { base_bin_shape: base };
  const zarr_vectors = { ...own, chunk_shape: chunkShape, ...bins };
  const scales = document.attributes.multiscales as readonly JsonObject[] | undefined;
  const multiscales = scales?.map((scale) => ({
    ...scale,
    datasets: (scale.datasets as readonly JsonObject[]).map((dataset) => {
      const level = levelOf(String(dataset.path)) ?? -1;
      const binShape = levels.get(level)?.binShape;
      // Where coordinates are counted from an offset, the finest level has that there instead of half a bin.
      if (binShape === undefined || (level === 0 && tree.opened.root.coordinateOffset !== undefined)) return dataset;
      return {
        ...dataset,
        coordinateTransformations: [
          { type: "scale", scale: binShape.map((size, axis) => (level === 0 ? 1 : size / base[axis]!)) },
          { type: "translation", translation: binShape.map((size) => size / 2) },
        ],
      };
    }),
  }));
  document.attributes = { ...document.attributes, zarr_vectors, ...(multiscales && { multiscales }) } as JsonObject;
}
