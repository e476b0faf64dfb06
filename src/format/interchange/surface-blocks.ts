/** Surfaces from their blocks: one that may be held is put together, one that is too large for that passes. */
import type { Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { ColumnsBuilder, roomLike } from "../../query/columns.js";
import type { Scratch } from "../../store/scratch.js";
import type { InputFile } from "./file.js";
import { lastUpTo, type Surface, type SurfaceOutline, surfaceContent, surfaceOutline } from "./surface.js";
import { passingContent, passSurface, type SurfaceBlock, type SurfaceFile } from "./surface-passing.js";
import type { FileContent, OpenFileOptions } from "./types.js";

export const NO_LINKS = { links: new Uint32Array(), linkColumns: new Map() };
export const NO_VERTICES = { positions: new Float32Array(), vertexColumns: new Map() };

const TOGETHER = 1 << 16; // rows of a block, of what is not held

/** How a file is opened: with so many rows in a block at most, and with scratch where it is not held. */
export interface BlockOptions extends ReadOptions {
  readonly rows: number;
  readonly makeScratch?: (() => Scratch) | undefined;
}

/** `refusal`: what is said of one that is too large to be held. */
export async function blocksContent(
  known: SurfaceOutline,
  refusal: Unsupported | undefined,
  fileOf: (options: BlockOptions) => SurfaceFile | Promise<SurfaceFile>,
  input: InputFile,
  options: OpenFileOptions,
): Promise<FileContent> {
  if (refusal === undefined) {
    const file = await fileOf({ ...options, rows: Number.POSITIVE_INFINITY });
    return surfaceContent(await gathered(known, file), input, options);
  }
  return passingContent(known, refusal, async (makeScratch, now) =>
    passSurface(await fileOf({ ...now, rows: TOGETHER, makeScratch }), makeScratch, options.onBad),
  );
}

async function gathered(known: SurfaceOutline, file: SurfaceFile): Promise<Surface> {
  const blocks: SurfaceBlock[] = [];
  const [firstVertex, firstLink] = [[0], [0]];
  const { linkWidth } = surfaceOutline(known);
  for await (const block of file.blocks()) {
    blocks.push(block);
    firstVertex.push(firstVertex.at(-1)! + block.positions.length / 3);
    firstLink.push(firstLink.at(-1)! + block.links.length / (linkWidth || 1));
  }
  return {
    ...known,
    ...file.told(),
    positions: joined(
      NO_VERTICES.positions,
      blocks.map(({ positions }) => positions),
    ),
    vertexColumns: columnsIn(
      blocks.map(({ vertexColumns }) => vertexColumns),
      firstVertex,
    ),
    links:
      linkWidth === 0
        ? undefined
        : joined(
            NO_LINKS.links,
            blocks.map(({ links }) => links),
          ),
    linkColumns: columnsIn(
      blocks.map(({ linkColumns }) => linkColumns),
      firstLink,
    ),
    place(what, i) {
      const starts = what === "vertex" ? firstVertex : firstLink;
      const block = lastUpTo(starts, i);
      return blocks[block]!.place(what, i - starts[block]!);
    },
  };
}

/** One after the other; the only one that has any as it is. */
function joined<T extends Positions | Uint32Array>(none: T, pieces: readonly T[]): T {
  const some = pieces.filter(({ length }) => length > 0);
  if (some.length < 2) return some[0] ?? none;
  const all = roomLike(
    some[0]!,
    some.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const piece of some) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function columnsIn(pieces: readonly Columns[], starts: readonly number[]): Columns {
  const some = pieces.filter((_, i) => starts[i + 1]! > starts[i]!);
  if (some.length === 1) return some[0]!;
  const builder = new ColumnsBuilder(starts.at(-1)!);
  for (const [i, own] of pieces.entries()) builder.put(own, 0, starts[i + 1]! - starts[i]!, starts[i]!);
  return builder.done();
}
