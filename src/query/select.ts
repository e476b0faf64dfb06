/** A query over a dataset: which level, which objects, put together window by window, cut, and handed out. */
import { InvalidInput, LimitExceeded } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Axis, Batch, Counts, Geometry, Query, Selection, SelectOptions, VectorLevel } from "../model/vectors.js";
import { answer } from "./answer.js";
import { upperBound } from "./bound.js";
import { joinBatches } from "./join.js";
import { type Resolved, resolve } from "./resolve.js";

/** What can be asked. */
export interface Queryable {
  readonly levels: readonly VectorLevel[];
  readonly axes: readonly Axis[];
  source(level: number, options?: ReadOptions, geometry?: Geometry): Promise<LevelSource>;
}

const ALL = Number.POSITIVE_INFINITY;

export function select(dataset: Queryable, query: Query = {}): Selection {
  const chosen = [query.level, query.maxVertices, query.resolution].filter((value) => value !== undefined);
  if (chosen.length > 1)
    throw new InvalidInput("a query has a level, maxVertices or a resolution, not several of them");
  const resolved = async (options: SelectOptions, level?: number): Promise<Resolved> =>
    resolve(await dataset.source(level ?? (await selection.level(options)), options, query.geometry), query, options);
  const selection: Selection = {
    query,
    level: (options = {}) =>
      levelOf(dataset, query, options, (level, most) => countExactly(resolved, options, level, most)),
    async count({ exact = false, ...options } = {}) {
      if (exact) return (await countExactly(resolved, options, undefined, ALL))!;
      return countAtMost(await resolved(options), options);
    },
    async plan(options = {}) {
      const { source, wanted, ...rest } = await resolved(options);
      const { chunks } = await upperBound({ source, wanted, ...rest }, options);
      return source.cost(chunks, { positions: true, vertex: wanted.vertex, fragment: wanted.fragment }, options);
    },
    async *batches(options = {}) {
      for await (const batch of answer(await resolved(options), options)) yield batch;
    },
    async read(options = {}) {
      const question = await resolved(options);
      const batches: Batch[] = [];
      for await (const batch of answer(question, { ...options, batchVertices: ALL })) batches.push(batch);
      return joinBatches(batches, question.source);
    },
  };
  return selection;
}

async function levelOf(
  { levels, axes }: Queryable,
  { level, maxVertices, resolution }: Query,
  options: ReadOptions,
  count: (level: number, most: number) => Promise<Counts | undefined>,
): Promise<number> {
  const sorted = [...levels].sort((a, b) => a.level - b.level);
  if (level !== undefined || (maxVertices === undefined && resolution === undefined)) {
    const wanted = level ?? sorted[0]?.level ?? 0;
    if (!sorted.some((own) => own.level === wanted))
      throw new InvalidInput(`there is no level ${wanted}; there are ${sorted.map((own) => own.level).join(", ")}`);
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
  let best: number | undefined;
  for (const { level: coarse } of sorted.reverse()) {
    options.signal?.throwIfAborted();
    if ((await count(coarse, maxVertices!)) === undefined) break;
    best = coarse;
  }
  if (best === undefined)
    throw new LimitExceeded(
      `even level ${sorted[0]!.level}, the coarsest, answers with more than ${maxVertices} vertices`,
      { hint: "ask for a smaller region, or build coarser levels" },
    );
  return best;
}

/** undefined: more vertices than `most`. */
async function countExactly(
  resolved: (options: SelectOptions, level?: number) => Promise<Resolved>,
  options: SelectOptions,
  level: number | undefined,
  most: number,
): Promise<Counts | undefined> {
  let [vertices, objects] = [0, 0];
  const question = await resolved({ ...options, attributes: [] }, level);
  for await (const batch of answer(question, { ...options, attributes: [] })) {
    if (batch.repeats === true) continue;
    vertices += batch.positions.length / batch.dims;
    objects += batch.ids.length;
    if (vertices > most) return undefined;
  }
  return { vertices, objects, exact: true };
}

async function countAtMost(question: Resolved, options: ReadOptions): Promise<Counts> {
  const { vertices, objects } = await upperBound(question, options);
  const { region, where, nearest, limit } = question;
  return {
    vertices,
    objects,
    exact: region === undefined && where === undefined && nearest === undefined && limit === ALL,
  };
}
