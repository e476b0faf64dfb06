/**
 * Which level answers a filter: the finest whose answer is not too much. Where indexes say how much an answer is, nothing is read;
 * where a condition on vertices must be tried, data are read, unless there are too many to try them all.
 */
import { NotFound } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Schema, VectorDataset } from "../../model/vectors.js";
import { Where } from "../../query/where.js";
import type { Filter } from "./filter.js";
import type { PlannedLevel } from "./plan.js";

/** What is asked, and of what. */
export interface Asked {
  readonly dataset: VectorDataset;
  readonly schema: Schema;
  /** From the coarsest to the finest. */
  readonly levels: readonly PlannedLevel[];
  /** Vertices that an answer may have. */
  readonly most: number;
}

const TRIED = 1 << 22; // vertices that a condition is tried on

/** `share` of all vertices is where the query looks, about. What a coarser level no longer has is asked of the finest. */
export async function answerLevel(asked: Asked, query: Filter, share: number, options: ReadOptions): Promise<number> {
  const { levels, schema } = asked;
  const finest = levels.at(-1)!.level;
  if (levels.length === 1) return finest;
  const domains = query.where === undefined ? [] : Where.check(Where.parse(query.where), schema).domains;
  const tries = [...domains].some((domain) => domain !== "object" && domain !== "group");
  try {
    for (const own of [...levels].reverse())
      if (!(tries && own.vertices * share > TRIED) && (await fits(asked, own, query, options))) return own.level;
  } catch (error) {
    if (error instanceof NotFound) return finest;
    throw error;
  }
  return levels[0]!.level;
}

async function fits(
  { dataset, most }: Asked,
  { level, vertices: all }: PlannedLevel,
  query: Filter,
  options: ReadOptions,
): Promise<boolean> {
  if (all > 0 && all <= most && query.object === undefined && query.group === undefined) return true;
  const selection = dataset.select({ ...query, level });
  if (all > 0) {
    const { vertices, exact } = await selection.count(options);
    if (exact || (vertices <= most && query.clip !== true)) return vertices <= most;
  }
  let vertices = 0;
  for await (const { positions, dims } of selection.batches({ ...options, attributes: [] })) {
    vertices += positions.length / dims;
    if (vertices > most) return false;
  }
  return true;
}
