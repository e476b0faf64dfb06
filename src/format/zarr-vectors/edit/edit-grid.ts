/**
 * Room for what lies outside. The bounds of the root say where the grids of all levels begin and end, and cells go by their
 * distance from the beginning. Growing at the far end changes documents only; growing at the near end renames every cell of
 * every level.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import { type CellGrid, shardOf } from "./edit-cells.js";
import type { LevelEdit } from "./edit-level.js";
import type { Tree } from "./edit-tree.js";

/** Bounds that hold this box too, and grids that do; a box outside the grid is refused unless it may grow. */
export async function expandGrid(
  { tree, meta, chunks }: LevelEdit,
  min: Float64Array,
  max: Float64Array,
  expand: boolean,
): Promise<void> {
  const { root, url } = tree.opened;
  const document = (await tree.group(""))!;
  const own = document.attributes.zarr_vectors as JsonObject;
  const [low, high] = own.bounds as unknown as [number[], number[]];
  if (low.every((at, axis) => at <= min[axis]!) && high.every((at, axis) => at >= max[axis]!)) return;
  const grown = {
    min: low.map((at, axis) => Math.min(at, min[axis]!)),
    max: high.map((at, axis) => Math.max(at, max[axis]!)),
  };
  const outside = root.axes.findIndex((_, axis) => {
    const { origin, shape } = chunks.vertices.grid;
    const size = meta.chunkShape[axis]!;
    const first = Math.floor(min[axis]! / size) - origin[axis]!;
    return first < 0 || Math.floor(max[axis]! / size) - origin[axis]! >= shape[axis]!;
  });
  if (outside >= 0 && !expand)
    throw new InvalidInput(
      `vertices from ${min[outside]} to ${max[outside]} along ${root.axes[outside]!.name} do not fit the grid of ${url}, whose bounds are ${low[outside]} to ${high[outside]}`,
      { where: url, hint: "Let the grid grow: expand (--expand)." },
    );
  document.attributes = { ...document.attributes, zarr_vectors: { ...own, bounds: [grown.min, grown.max] } };
  for (const level of tree.opened.levels) {
    const { path, chunkShape } = await tree.opened.level(level, tree.options);
    for (const array of await cellArrays(tree, path)) {
      const cells = (await tree.cells(path, array))!;
      const next = around(cells.grid, chunkShape, grown);
      if (`${next.shape}` !== `${cells.grid.shape}`) await cells.regrid(next, shardOf(cells.meta));
    }
  }
}

/** The grid with room for these bounds; axes before those of space stay as they are. */
function around(
  { origin, shape }: CellGrid,
  chunkShape: readonly number[],
  bounds: { min: readonly number[]; max: readonly number[] },
): CellGrid {
  const lead = shape.length - chunkShape.length;
  const first = origin.map((from, axis) =>
    axis < lead ? from : Math.min(from, Math.floor(bounds.min[axis - lead]! / chunkShape[axis - lead]!)),
  );
  const end = shape.map((length, axis) =>
    axis < lead
      ? origin[axis]! + length
      : Math.max(origin[axis]! + length, Math.floor(bounds.max[axis - lead]! / chunkShape[axis - lead]!) + 1),
  );
  return { origin: first, shape: end.map((last, axis) => last - first[axis]!) };
}

/** The paths of all per-chunk arrays of a level. */
export async function cellArrays(tree: Tree, level: string): Promise<string[]> {
  const below = async (path: string): Promise<string[]> =>
    (await tree.names(`${level}/${path}`)).map((name) => `${path}/${name}`);
  const deep = async (paths: readonly string[]): Promise<string[]> => (await Promise.all(paths.map(below))).flat();
  const own = await tree.names(level);
  return [
    ...["vertices", "vertex_fragments", "link_fragments"].filter((name) => own.includes(name)),
    ...(own.includes("vertex_attributes") ? await below("vertex_attributes") : []),
    ...(own.includes("fragment_attributes") ? await below("fragment_attributes") : []),
    ...(own.includes("links") ? await deep(await below("links")) : []),
    ...(own.includes("link_attributes") ? await deep(await deep(await below("link_attributes"))) : []),
  ];
}
