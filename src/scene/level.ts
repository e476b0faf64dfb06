/** Which level a picture is made of. */
import { LimitExceeded } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Query, Selection, VectorDataset } from "../model/vectors.js";

/** The query at the finest level of at most so many vertices, else at the coarsest, unless it says which. */
export async function levelledFor(
  dataset: VectorDataset,
  query: Query,
  maxVertices: number,
  options: ReadOptions,
): Promise<Selection> {
  if ((query.level ?? query.maxVertices ?? query.resolution) !== undefined || dataset.levels.length < 2)
    return dataset.select(query);
  try {
    const level = await dataset.select({ ...query, maxVertices }).level(options);
    return dataset.select({ ...query, level });
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return dataset.select({ ...query, level: Math.max(...dataset.levels.map(({ level }) => level)) });
  }
}
