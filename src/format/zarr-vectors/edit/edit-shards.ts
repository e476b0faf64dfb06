/** Shards: the same chunks, several of which share a key. One array is held in memory at a time. */
import { InvalidInput } from "../../../errors.js";
import { cellArrays } from "./edit-grid.js";
import type { Tree } from "./edit-tree.js";

/** Shards of this shape in cells for every per-chunk array, or none. */
export async function reshard(tree: Tree, shape: readonly number[] | undefined): Promise<void> {
  const dims = tree.opened.root.axes.length;
  if (shape !== undefined && (shape.length !== dims || !shape.every((n) => Number.isInteger(n) && n >= 1)))
    throw new InvalidInput(`a shard should have ${dims} whole numbers of cells, found [${shape}]`);
  for (const number of tree.opened.levels) {
    const { path } = await tree.opened.level(number, tree.options);
    for (const array of await cellArrays(tree, path)) {
      const cells = (await tree.cells(path, array))!;
      const lead = cells.meta.shape.length - dims;
      await cells.regrid(cells.grid, shape && [...new Array<number>(lead).fill(1), ...shape]);
      await cells.flush();
    }
  }
}
