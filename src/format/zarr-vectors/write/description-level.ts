/**
 * A coarser level of a new store, in terms of level 0: its bins are some bins of level 0, its chunks some chunks. So it can be
 * described before the size of chunks is known.
 */
import { InvalidInput } from "../../../errors.js";
import type { Plan, VectorDescription } from "./description.js";
import { type Document, floats } from "./write-documents.js";

/** A coarser level. Where fragments are shared, graphs, skeletons and meshes have no links. */
export interface LevelDescription
  extends Pick<VectorDescription, "attributes" | "dtype" | "objects" | "sharedFragments"> {
  /**
   * How many bins of level 0 one of its bins is, along each axis or along all. Less than 1 where level 0 has no bins but its chunks:
   * then bins are what this level resolves.
   */
  readonly scale: readonly number[] | number;
  /** How many chunks of level 0 one of its chunks is: whole numbers; 1 unless told. */
  readonly chunkScale?: readonly number[] | number | undefined;
  /** The level from which it was made; the one before unless told. */
  readonly parent?: number | undefined;
  /** Which share of the objects of that level it still has; 1 unless told. */
  readonly sparsity?: number | undefined;
  /** How it was made; "manual" unless told. */
  readonly method?: string | undefined;
  /** Its objects are numbered 0, 1, 2 … anew, and the attribute `level0_object_id` says who they are. */
  readonly renumber?: boolean | undefined;
}

const perAxis = (of: readonly number[] | number, dims: number): readonly number[] =>
  typeof of === "number" ? new Array<number>(dims).fill(of) : of;

export function checkLevel({ dims }: Plan, { scale, chunkScale = 1, sparsity = 1 }: LevelDescription): void {
  const [bins, chunks] = [perAxis(scale, dims), perAxis(chunkScale, dims)];
  if (bins.length !== dims || !bins.every((n) => n > 0 && Number.isFinite(n)))
    throw new InvalidInput(`the scale of a level should be ${dims} numbers above 0, found [${bins}]`);
  if (chunks.length !== dims || !chunks.every((n) => Number.isInteger(n) && n >= 1))
    throw new InvalidInput(`the chunk scale of a level should be ${dims} whole numbers from 1 on, found [${chunks}]`);
  if (!(sparsity > 0 && sparsity <= 1))
    throw new InvalidInput(`the sparsity of a level should be above 0 and at most 1, found ${sparsity}`);
}

/** The plan of a level; `shape` is that of the chunks of level 0. */
export function planOfLevel(plan: Plan, shape: readonly number[], level: LevelDescription): Plan {
  const { dims, binShape = shape } = plan;
  const [bins, chunks] = [perAxis(level.scale, dims), perAxis(level.chunkScale ?? 1, dims)];
  const chunkShape = shape.map((size, axis) => size * chunks[axis]!);
  const own = binShape.map((size, axis) => size * bins[axis]!);
  const whole = own.every((bin, axis) => Number.isInteger(chunkShape[axis]! / bin));
  return {
    ...plan,
    chunkShape,
    binShape: whole ? own : undefined, // else points are not ordered by bins that reach over chunks
    attributes: level.attributes,
    objects: level.objects ?? plan.objects,
    dtype: level.dtype ?? plan.dtype,
    sharedFragments: level.sharedFragments,
    linkWidth: plan.kind.width > 0 && (level.sharedFragments ?? false) !== false ? 0 : plan.linkWidth,
  };
}

/** What the level's own document says of it. */
export function saidOf(
  level: number,
  { chunkScale = 1, parent = level - 1, sparsity = 1, method = "manual", renumber = false }: LevelDescription,
  dims: number,
  shape: readonly number[],
): { readonly level: number; readonly renumber: boolean; readonly said: Document } {
  const chunks = perAxis(chunkScale, dims);
  return {
    level,
    renumber,
    said: {
      object_sparsity: floats([sparsity])[0]!,
      coarsening_method: method,
      parent_level: parent,
      ...(chunks.every((n) => n === 1) ? {} : { chunk_shape: floats(shape.map((size, axis) => size * chunks[axis]!)) }),
    },
  };
}
