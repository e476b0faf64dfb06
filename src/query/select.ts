/** A query over a dataset: which level, which objects, put together window by window, cut, and handed out. */
import { InvalidInput, LimitExceeded } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Axis, Counts, Geometry, LevelOutline, Query, Selection, SelectOptions } from "../model/vectors.js";
import { answer, nothing } from "./answer.js";
import { linkWidthOf } from "./assemble.js";
import { lowerBound, upperBound } from "./bound.js";
import { type Resolved, resolve } from "./resolve.js";

/** What can be asked. */
export interface Queryable {
  readonly levels: readonly LevelOutline[];
  readonly axes: readonly Axis[];
  source(level: number, options?: ReadOptions, geometry?: Geometry): Promise<LevelSource>;
}

/** A selection that does not know of what. */
export type Asked = Omit<Selection, "dataset">;

const ALL = Number.POSITIVE_INFINITY;

export function select(dataset: Queryable, query: Query = {}): Asked {
  const chosen = [query.level, query.maxVertices, query.resolution].filter((value) => value !== undefined);
  if (chosen.length > 1)
    throw new InvalidInput("a query has a level, maxVertices or a resolution, not several of them");
  const at = async (level: number, options: SelectOptions): Promise<Resolved> =>
    resolve(await dataset.source(level, options, query.geometry), query, options);
  const resolved = async (options: SelectOptions): Promise<Resolved> => at(await selection.level(options), options);
  const selection: Asked = {
    query,
    level: (options = {}) =>
      levelOf(dataset, query, (level, most) => answersWithin(most, { ...options, attributes: [] }, at, level)),
    async count({ exact = false, ...options } = {}) {
      const question = await resolved({ ...options, attributes: [] });
      if (exact) return (await countExactly(question, options, ALL))!;
      const { vertices, objects } = await upperBound(question, options);
      return { vertices, objects, exact: isBounded(question) };
    },
    async plan(options = {}) {
      const question = await resolved(options);
      const { vertex, fragment, link } = question.wanted;
      const { chunks } = await upperBound(question, options);
      const links = linkWidthOf(question.source) > 0 ? link : undefined;
      return question.source.cost(chunks, { positions: true, vertex, fragment, links }, options);
    },
    async *batches(options = {}) {
      yield* answer(await resolved(options), options);
    },
    async read(options = {}) {
      const question = await resolved(options);
      for await (const batch of answer(question, { ...options, batchVertices: ALL })) return batch;
      return nothing(question);
    },
  };
  return selection;
}

async function levelOf(
  { levels, axes }: Queryable,
  { level, maxVertices, resolution }: Query,
  fits: (level: number, most: number) => Promise<boolean>,
): Promise<number> {
  const sorted = [...levels].sort((a, b) => a.level - b.level);
  if (level !== undefined || (maxVertices === undefined && resolution === undefined)) {
    const wanted = level ?? sorted[0]?.level ?? 0;
    if (!sorted.some((own) => own.level === wanted))
      throw new InvalidInput(`there is no level ${wanted}, only ${sorted.map((own) => own.level).join(", ")}`);
    return wanted;
  }
  if (resolution !== undefined) {
    if (!(resolution > 0)) throw new InvalidInput(`a resolution should be a number above 0, found ${resolution}`);
    const fine = sorted.filter(({ binShape }) =>
      binShape.every((size, axis) => axes[axis]?.type !== "space" || size <= resolution),
    );
    return (fine.at(-1) ?? sorted[0]!).level;
  }
  if (!(maxVertices! >= 1)) throw new InvalidInput(`maxVertices should be a number from 1, found ${maxVertices}`);
  for (const { level: fine } of sorted) if (await fits(fine, maxVertices!)) return fine;
  throw new LimitExceeded(`every level answers with more than ${maxVertices} vertices`, {
    hint: "ask for a smaller region, or build coarser levels",
  });
}

/** Whether a level answers with at most so many vertices; data are read only where the indexes do not say it. */
async function answersWithin(
  most: number,
  options: SelectOptions,
  at: (level: number, options: SelectOptions) => Promise<Resolved>,
  level: number,
): Promise<boolean> {
  const question = await at(level, options);
  if ((await lowerBound(question, options)) > most) return false;
  const { vertices } = await upperBound(question, options);
  if (vertices <= most && question.clip !== true) return true;
  if (isBounded(question)) return vertices <= most;
  return (await countExactly(question, options, most)) !== undefined;
}

/** Whether the indexes say exactly how much the answer is. */
const isBounded = ({ region, where, nearest, limit }: Resolved): boolean =>
  region === undefined && where === undefined && nearest === undefined && limit === ALL;

/** undefined: more vertices than `most`. */
async function countExactly(question: Resolved, options: SelectOptions, most: number): Promise<Counts | undefined> {
  let [vertices, objects] = [0, 0];
  for await (const batch of answer(question, options)) {
    if (batch.repeats === true) continue;
    vertices += batch.positions.length / batch.dims;
    objects += batch.ids.length;
    if (vertices > most) return undefined;
  }
  return { vertices, objects, exact: true };
}
