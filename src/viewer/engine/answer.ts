/**
 * Which level answers a filter: the finest whose answer is not too much. Where indexes say how much an answer is, nothing is read;
 * where a condition on vertices must be tried, data are read, unless there are too many to try them all. Where nobody says how many
 * vertices levels have, the coarsest is read, and the others are guessed by it: a finer one would be read in vain.
 */
import { InvalidInput, NotFound } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Domain, Selection, VectorDataset } from "../../model/vectors.js";
import { Where } from "../../query/where.js";
import type { Filter } from "./filter.js";
import type { PlannedLevel } from "./plan.js";

/** What is asked, and of what. */
export interface Asked {
  readonly dataset: VectorDataset;
  /** From the coarsest to the finest. */
  readonly levels: readonly PlannedLevel[];
  /** Vertices that an answer may have. */
  readonly most: number;
}

const TRIED = 1 << 22; // vertices that a condition is tried on

/** `share` of all vertices is where the query looks, about. What a coarser level no longer has is asked of the finest. */
export async function answerLevel(asked: Asked, query: Filter, share: number, options: ReadOptions): Promise<number> {
  const finest = asked.levels.at(-1)!.level;
  if (asked.levels.length === 1) return finest;
  const { levels, domains } = await levelsWith(asked.dataset, asked.levels, query.where, options);
  const tries = [...domains].some((domain) => domain !== "object" && domain !== "group");
  try {
    if (levels.some(({ vertices }) => vertices === 0)) return await guessedLevel(asked, levels, query, options);
    for (const own of [...levels].reverse())
      if (!(tries && own.vertices * share > TRIED) && (await fits(asked, own, query, options))) return own.level;
  } catch (error) {
    if (error instanceof NotFound) return finest;
    throw error;
  }
  return levels[0]!.level;
}

/** The levels that have the attributes of a condition, and the domains of these; what is wrong with it at the last one, where there is none. */
export async function levelsWith<T extends { readonly level: number }>(
  dataset: VectorDataset,
  levels: readonly T[],
  where: string | undefined,
  options: ReadOptions,
): Promise<{ readonly levels: readonly T[]; readonly domains: ReadonlySet<Domain> }> {
  if (where === undefined) return { levels, domains: new Set() };
  const parsed = Where.parse(where);
  const found: T[] = [];
  const domains = new Set<Domain>();
  let mistake: unknown;
  for (const own of levels)
    try {
      for (const domain of Where.check(parsed, await dataset.schema(own.level, options)).domains) domains.add(domain);
      found.push(own);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      mistake = error;
    }
  if (found.length === 0) throw mistake;
  return { levels: found, domains };
}

async function fits(
  { dataset, most }: Asked,
  { level, vertices: all }: PlannedLevel,
  query: Filter,
  options: ReadOptions,
): Promise<boolean> {
  if (all <= most && query.object === undefined && query.group === undefined) return true;
  const selection = dataset.select({ ...query, level });
  const { vertices, exact } = await selection.count(options);
  if (exact || (vertices <= most && query.clip !== true)) return vertices <= most;
  return (await countedTo(selection, most, options)) <= most;
}

/** Times as many vertices as the next coarser level, where nobody says how many: of a surface, whose edges are half as long. */
const FINER = 4;

/** Where nobody says how many vertices levels have: as many as the coarsest, which is short, lets expect. */
async function guessedLevel(
  { dataset, most }: Asked,
  levels: readonly PlannedLevel[],
  query: Filter,
  options: ReadOptions,
): Promise<number> {
  const coarsest = levels[0]!.level;
  const count = await countedTo(dataset.select({ ...query, level: coarsest }), most, options);
  return levels.findLast((_, finer) => count * FINER ** finer <= most)?.level ?? coarsest;
}

/** How many vertices an answer has; where there are more than so many, some number that is more. */
async function countedTo(selection: Selection, most: number, options: ReadOptions): Promise<number> {
  let vertices = 0;
  for await (const { positions, dims } of selection.batches({ ...options, attributes: [] })) {
    vertices += positions.length / dims;
    if (vertices > most) break;
  }
  return vertices;
}
