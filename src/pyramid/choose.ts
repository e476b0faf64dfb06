/**
 * Which objects stay on which level. A level has some of the objects of the one before, always the same for the same data:
 *
 * | by             | who stays                                                                                              |
 * |----------------|--------------------------------------------------------------------------------------------------------|
 * | even           | any, by a hash of the id                                                                               |
 * | length         | the longest                                                                                            |
 * | coverage       | first those that reach a bin of the level that none reached before, then any                           |
 * | group          | of every group the same share, at least one                                                            |
 * | a weight       | those with the largest value of an object attribute                                                    |
 */
import { murmur3 } from "../bytes/hash/murmur3.js";
import { InvalidInput } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { VectorDataset } from "../model/vectors.js";
import type { Choice, LevelPlan, PyramidOptions } from "./plan.js";
import { binOf } from "./points.js";

type Choosing = ReadOptions & Pick<PyramidOptions, "maxMemory">;

/** For every level the ids that stay; undefined: all. */
export async function chooseObjects(
  dataset: VectorDataset,
  levels: readonly LevelPlan[],
  by: Choice,
  options: Choosing,
): Promise<(ReadonlySet<bigint> | undefined)[]> {
  if (levels.every(({ share }) => share === 1)) return levels.map(() => undefined);
  const ids = [...(await dataset.objectIds(0, options))];
  const ranked = await rank(dataset, ids, by, levels, options);
  const chosen: Set<bigint>[] = [];
  for (const [i, { share }] of levels.entries()) {
    const count = Math.max(Math.min(1, ids.length), Math.round(share * ids.length));
    const finer = chosen[i - 1]; // what a level has, those before it have
    const left = finer === undefined ? ranked(i) : ranked(i).filter((id) => finer.has(id));
    chosen.push(new Set(left.slice(0, count)));
  }
  return chosen;
}

const word = new BigUint64Array(1);
const wordBytes = new Uint8Array(word.buffer);
const hashOf = (id: bigint): number => {
  word[0] = BigInt.asUintN(64, id);
  return murmur3(wordBytes)[0]!;
};

/** Ids by a hash: the same order everywhere. */
function shuffled(ids: readonly bigint[]): bigint[] {
  const keys = Uint32Array.from({ length: ids.length }, (_, row) => hashOf(ids[row]!));
  const rows = Uint32Array.from(keys, (_, row) => row);
  rows.sort((a, b) => keys[a]! - keys[b]! || (ids[a]! < ids[b]! ? -1 : 1));
  return Array.from(rows, (row) => ids[row]!);
}

/** The order in which objects stay, for each level: who is in front stays. */
async function rank(
  dataset: VectorDataset,
  ids: readonly bigint[],
  by: Choice,
  levels: readonly LevelPlan[],
  options: Choosing,
): Promise<(level: number) => readonly bigint[]> {
  const even = shuffled(ids);
  if (by === "even") return () => even;
  if (by === "group") {
    const order = await byGroup(dataset, even, options);
    return () => order;
  }
  if (by === "coverage") return covering(dataset, even, levels, options);
  const weights = by === "length" ? await lengths(dataset, options) : await valuesOf(dataset, by.weight, options);
  const place = new Map(even.map((id, i) => [id, i]));
  const heavy = [...even].sort(
    (a, b) => (weights.get(b) ?? -Infinity) - (weights.get(a) ?? -Infinity) || place.get(a)! - place.get(b)!,
  );
  return () => heavy;
}

async function lengths(dataset: VectorDataset, options: ReadOptions): Promise<Map<bigint, number>> {
  const found = new Map<bigint, number>();
  for await (const batch of dataset.select().batches({ ...options, attributes: [] })) {
    const { positions, dims, parts, objects, ids, links, repeats } = batch;
    if (repeats === true) continue;
    const own = new Float64Array(ids.length);
    const owner = new Int32Array(positions.length / dims);
    const far = (a: number, b: number): number => {
      let square = 0;
      for (let axis = 0; axis < dims; axis++)
        square += (positions[a * dims + axis]! - positions[b * dims + axis]!) ** 2;
      return Math.sqrt(square);
    };
    for (let part = 0; part < objects.length; part++) {
      const row = objects[part]!;
      owner.fill(row, parts[part]!, parts[part + 1]!);
      if (links === undefined && row >= 0)
        for (let v = parts[part]! + 1; v < parts[part + 1]!; v++) own[row]! += far(v - 1, v);
    }
    const { width = 1, ends = [] } = links ?? {};
    for (let at = 0; at < ends.length; at += width)
      for (let k = 1; k < width; k++)
        if (owner[ends[at]!]! >= 0) own[owner[ends[at]!]!]! += far(ends[at + k - 1]!, ends[at + k]!);
    for (const [row, length] of own.entries()) found.set(ids[row]!, length);
  }
  return found;
}

async function valuesOf(dataset: VectorDataset, name: string, options: ReadOptions): Promise<Map<bigint, number>> {
  const { object } = await dataset.schema(0, options);
  const info = object.find((own) => own.name === name);
  if (info === undefined || info.channels !== 1 || info.dtype.kind === "string" || info.categories !== undefined)
    throw new InvalidInput(
      `${dataset.url} has no object attribute ${name} of one number; there are: ${object.map((own) => own.name).join(", ") || "none"}`,
    );
  const source = await dataset.source(0, options);
  const rows = Uint32Array.from({ length: source.objects!.rows }, (_, row) => row);
  const [ids, columns] = [
    await source.objects!.ids(rows, options),
    await source.objects!.columns([name], rows, options),
  ];
  const { values } = columns.get(name)!;
  return new Map(Array.from(ids, (id, row) => [id, Number(values[row])]));
}

/** Round after round one of every group that has any left, so that any number of the first has the same share of all. */
async function byGroup(dataset: VectorDataset, even: readonly bigint[], options: ReadOptions): Promise<bigint[]> {
  const place = new Map(even.map((id, i) => [id, i]));
  const taken = new Set<bigint>();
  const lists: bigint[][] = [];
  for (const { group } of await dataset.groups(0, options)) {
    const own = [...(await dataset.groupMembers(group, 0, options))].filter((id) => place.has(id) && !taken.has(id));
    for (const id of own) taken.add(id);
    lists.push(own.sort((a, b) => place.get(a)! - place.get(b)!));
  }
  lists.push(even.filter((id) => !taken.has(id)));
  // The k-th of n members comes at (k + ½) / n: the first of every group early, the others in proportion.
  const order = lists.flatMap((list) =>
    list.map((id, k) => ({ id, at: k === 0 ? -1 / list.length : (k + 0.5) / list.length })),
  );
  return order.sort((a, b) => a.at - b.at || place.get(a.id)! - place.get(b.id)!).map(({ id }) => id);
}

/**
 * For each level: who reaches a bin that nobody before reached, then the others. Which bins objects reach is gathered in the order in
 * which they are stored, for as many at a time as memory holds: of most datasets for all.
 */
async function covering(
  dataset: VectorDataset,
  even: readonly bigint[],
  levels: readonly LevelPlan[],
  { maxMemory = 512 << 20, ...options }: Choosing,
): Promise<(level: number) => readonly bigint[]> {
  const { chunkShape, vertices = 0 } = await dataset.describe(0, options);
  const cells = levels.map(({ chunkScale }) => chunkShape.map((size) => (size * chunkScale) / 8));
  const reached = cells.map(() => new Set<number | string>());
  const first = cells.map((): bigint[] => []);
  const each = (64 * levels.length * vertices) / Math.max(1, even.length); // bytes for an object that is nowhere twice
  const together = Math.max(1024, Math.floor(maxMemory / 2 / Math.max(64, each)));
  for (let from = 0; from < even.length; from += together) {
    const some = even.slice(from, from + together);
    const query = some.length === even.length ? {} : { object: some };
    const bins = new Map<bigint, Set<number | string>[]>();
    for await (const batch of dataset.select(query).batches({ ...options, attributes: [] })) {
      const { positions, dims, parts, objects, ids, repeats } = batch;
      if (repeats === true) continue;
      const origin = new Float64Array(dims);
      for (let part = 0; part < objects.length; part++) {
        if (objects[part]! < 0) continue;
        const id = ids[objects[part]!]!;
        const own = bins.get(id) ?? cells.map(() => new Set<number | string>());
        bins.set(id, own);
        for (let level = 0; level < cells.length; level++)
          for (let v = parts[part]!; v < parts[part + 1]!; v++)
            own[level]!.add(binOf(positions, dims, v, origin, cells[level]!));
      }
    }
    for (const id of some)
      for (const [level, own] of (bins.get(id) ?? []).entries()) {
        const before = reached[level]!.size;
        for (const bin of own) reached[level]!.add(bin);
        if (reached[level]!.size > before) first[level]!.push(id);
      }
  }
  return (level) => {
    const front = new Set(first[level]);
    return [...front, ...even.filter((id) => !front.has(id))];
  };
}
