/**
 * `--include`, `--exclude`, `--invalid`: a feed with fewer paths, by where their vertices are. An object stays whole, or goes whole: it
 * stays where each mask that includes is touched by one of its paths, and no mask that excludes is.
 */
import { Corrupt, Unsupported } from "../errors.js";
import { pickPaths } from "../format/interchange/filter.js";
import { leaves, type PathTest } from "../format/interchange/inside.js";
import { rasOf } from "../format/interchange/streamlines-write.js";
import type { ImageSpace } from "../format/interchange/types.js";
import type { Ids } from "../format/rows/row-source.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Batch, Positions, SelectOptions } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import { type Feed, PATHS } from "./feed.js";

export interface PathFilter {
  readonly include?: readonly PathTest[] | undefined;
  readonly exclude?: readonly PathTest[] | undefined;
}

/** The feed with the paths that pass. */
export function masked(feed: Feed, filter: PathFilter): Feed {
  refuseNoPaths(feed);
  const { include = [], exclude = [] } = filter;
  const tests = [...include, ...exclude];
  if (tests.length > MOST) throw new Unsupported(`${tests.length} masks at once; at most ${MOST} are looked at`);
  const placed = rasOf(feed);
  let kept: Set<bigint> | undefined; // the objects that stay, once everything was gone through
  async function* batches(options?: SelectOptions): AsyncGenerator<Batch> {
    const seen = new Set<bigint>();
    for await (const batch of feed.batches(options)) {
      const own = passing(batch, placed(batch.positions), tests, include.length);
      for (const id of own.ids) seen.add(id);
      if (own.parts.length > 1) yield own;
    }
    kept = seen;
  }
  return {
    ...feed,
    schema: { ...feed.schema, fragment: [] },
    batches,
    async groups() {
      const { members, columns } = await feed.groups();
      if (members.length > 0 && kept === undefined) for await (const _ of batches({ attributes: [] }));
      const left = members.map((ids) => ids.filter((id: bigint) => kept!.has(id)) as Ids);
      const rows = left.flatMap((ids, group) => (ids.length > 0 ? [group] : []));
      return { members: rows.map((group) => left[group]!), columns: pickRows(columns, rows) };
    },
  };
}

function refuseNoPaths({ url: where, geometry, axes }: Feed): void {
  if (!PATHS.includes(geometry) || axes.length !== 3)
    throw new Unsupported(`${where} has ${geometry} along ${axes.length} axes; images are for paths in space`, {
      where,
    });
}

const MOST = 31; // one bit for each

/** What of a batch stays, objects whole: what passes the first `including` tests, and none of the others. */
export function passing(batch: Batch, positions: Positions, tests: readonly PathTest[], including: number): Batch {
  const { parts, objects, ids } = batch;
  const paths = parts.length - 1;
  // Of each object, and after them of each path without one: which tests it passes, one bit for each.
  const passed = new Uint32Array(ids.length + paths);
  const owner = (path: number): number => (objects[path]! < 0 ? ids.length + path : objects[path]!);
  for (let path = 0; path < paths; path++)
    for (let t = 0; t < tests.length; t++)
      if (tests[t]!(positions, parts[path]!, parts[path + 1]!)) passed[owner(path)]! |= 1 << t;
  const wanted = 2 ** including - 1;
  const stays = (own: number): boolean => passed[own] === wanted;
  const own = Uint32Array.from({ length: paths }, (_, path) => path).filter((path) => stays(owner(path)));
  if (own.length === paths) return { ...batch, fragments: undefined };
  const rows = Uint32Array.from(ids, (_, row) => row).filter(stays);
  const place = new Int32Array(ids.length).fill(-1);
  for (const [i, row] of rows.entries()) place[row] = i;
  return {
    ...batch,
    ...pickPaths(batch, own, batch.dims),
    objects: Int32Array.from(own, (path) => (objects[path]! < 0 ? -1 : place[objects[path]!]!)),
    ids: ids.filter((_: bigint, row: number) => stays(row)) as Ids,
    objectColumns: pickRows(batch.objectColumns, rows),
    fragments: undefined,
  };
}

/** The feed without the paths that leave the image, and how many there are; they are counted before anything is written. */
export async function withinImage(
  feed: Feed,
  space: ImageSpace,
  invalid: "keep" | "drop" | "fail",
  options: ReadOptions = {},
): Promise<{ readonly feed: Feed; readonly outside: number }> {
  refuseNoPaths(feed);
  const [test, placed] = [leaves(space), rasOf(feed)];
  let outside = 0;
  for await (const { positions, parts } of feed.batches({ ...options, attributes: [] })) {
    const places = placed(positions);
    for (let path = 0; path + 1 < parts.length; path++) if (test(places, parts[path]!, parts[path + 1]!)) outside++;
  }
  if (outside > 0 && invalid === "fail")
    throw new Corrupt(`${feed.url} has ${outside} streamlines that leave the image`, {
      where: feed.url,
      hint: "Name the image that they are about, or keep or drop them: --invalid keep|drop.",
    });
  if (outside === 0 || invalid === "keep") return { feed, outside };
  const losses = [...feed.losses, `${feed.url}: ${outside} streamlines that leave the image`];
  return { feed: { ...masked(feed, { exclude: [test] }), losses }, outside };
}
