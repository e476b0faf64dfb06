/** What becomes which part: ids of objects for each, or boxes; and what is in none, or in several. */

import { meaningOf } from "../diff/values.js";
import { InvalidInput } from "../errors.js";
import type { Ids } from "../format/rows/row-source.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Batch, Selection, SelectOptions, VectorDataset } from "../model/vectors.js";
import { onlyObjects } from "../pyramid/coarsen.js";
import { comparedAs } from "../query/where-test.js";
import { placeIn } from "./feed-merged.js";
import { coarserLevels } from "./losses.js";
import type { SplitOptions } from "./split.js";
import { boxesOf } from "./split-boxes.js";

/** What goes to one place. */
export interface Part {
  /** Before it is made safe for file systems. */
  readonly name: string;
  readonly selection: Selection;
  /** Its objects; undefined where they are cut, or where there are none. */
  readonly ids?: Iterable<bigint> | undefined;
  /** What is left after cutting may be nothing. */
  readonly isCut?: boolean | undefined;
}

export interface SplitPlan {
  readonly parts: readonly Part[];
  readonly losses: readonly string[];
  readonly notes: readonly string[];
}

/** Objects by the name of their part. */
export interface Found {
  readonly parts: ReadonlyMap<string, Iterable<bigint>>;
  /** For what belongs to no object. */
  readonly rest: string;
  readonly losses?: readonly string[];
  readonly notes?: readonly string[];
}

export async function planSplit(dataset: VectorDataset, options: SplitOptions): Promise<SplitPlan> {
  const { by, signal, limits } = options;
  const reading = { signal, limits };
  const source = await dataset.source(0, reading);
  const losses = await leftBehind(dataset, options, reading);
  if (by === "box") {
    const found = await boxesOf(dataset, source, options);
    if ("parts" in found) return partsOf(dataset, source, found, losses, reading);
    losses.push(...(await linksBetween(dataset, source, undefined, reading)));
    return { parts: found, losses, notes: [] };
  }
  if (options.size !== undefined || options.clip !== undefined)
    throw new InvalidInput(`size and clip are for boxes, not for ${by}`);
  const objects = source.objects?.rows ?? 0;
  const own = await ownValues(source, by, reading);
  if (own !== undefined) {
    const { byValue } = await import("./split-values.js");
    const found = await byValue(dataset, own, objects, reading);
    return { ...found, losses: [...losses, ...found.losses] };
  }
  if (source.objects === undefined || objects === 0)
    throw new InvalidInput(
      `${dataset.url} has no objects, so it can only be split by ${(await waysOf(source, reading)).join(", ")}`,
      { where: dataset.url },
    );
  const ids = await source.objects.ids(undefined, reading);
  const found =
    by === "object"
      ? { parts: new Map(Array.from(ids, (id) => [`${id}`, [id]])), rest: "without object" }
      : by === "group"
        ? await byGroup(dataset, ids, reading)
        : await byAttribute(dataset, source, ids, by, reading);
  return partsOf(dataset, source, found, losses, reading);
}

async function partsOf(
  dataset: VectorDataset,
  source: LevelSource,
  { parts: found, rest, losses: own = [], notes = [] }: Found,
  losses: readonly string[],
  reading: ReadOptions,
): Promise<SplitPlan> {
  const parts: Part[] = Array.from(found, ([name, ids]) => ({
    name,
    ids,
    selection: dataset.select({ level: 0, object: ids }),
  }));
  const orphans = await source.objects?.orphans(reading);
  if (orphans !== undefined && orphans.part.length > 0) parts.push({ name: rest, selection: ownerless(dataset) });
  return { parts, notes, losses: [...losses, ...own, ...(await linksBetween(dataset, source, parts, reading))] };
}

/** What no part has, whatever it is split by. */
async function leftBehind(dataset: VectorDataset, { pyramid }: SplitOptions, reading: ReadOptions): Promise<string[]> {
  const { url } = dataset;
  const coarser = coarserLevels(dataset);
  const [geometry, ...further] = dataset.geometries;
  const losses = further.map((other) => `${url}: the ${other} beside the ${geometry}`);
  if (coarser > 0 && pyramid === undefined)
    losses.push(`${url}: its ${coarser} coarser levels, which can be made again from each part`);
  if ((await dataset.parametric?.(reading)) !== undefined) losses.push(`${url}: its parametric objects`);
  return losses;
}

async function byGroup(dataset: VectorDataset, ids: Ids, reading: ReadOptions): Promise<Found> {
  const { url } = dataset;
  const groups = await dataset.groups(0, reading);
  if (groups.length === 0) throw new InvalidInput(`${url} has no groups of objects`, { where: url });
  const column = (await dataset.groupColumns(0, reading)).get("name");
  const named = column === undefined ? () => undefined : meaningOf(column);
  const parts = new Map<string, Ids>();
  const losses: string[] = [];
  for (const [row, { group }] of groups.entries()) {
    const name = `${named(row) ?? `group ${group}`}`;
    const members = await dataset.groupMembers(group, 0, reading);
    if (members.length === 0) losses.push(`${url}: the group ${name}, which has no members`);
    else parts.set(parts.has(name) ? `${name} ${group}` : name, members);
  }
  const all = BigUint64Array.from([...parts.values()].flatMap((members) => [...members])).sort();
  const more = new Set(all.filter((id, i) => i > 0 && id === all[i - 1])).size;
  const notes = more === 0 ? [] : [`${url}: ${more} objects are in several groups, and in the part of each`];
  const alone = ids.filter((own: bigint) => {
    const id = BigInt.asUintN(64, own);
    return all[placeIn(all, id)] !== id;
  }) as Ids;
  const rest = parts.has("ungrouped") ? "ungrouped objects" : "ungrouped";
  if (alone.length > 0) parts.set(rest, alone);
  return { parts, rest: "without object", losses, notes };
}

/** The attribute of points themselves that they are split by; undefined where it is another way. */
async function ownValues(source: LevelSource, by: string, reading: ReadOptions): Promise<AttributeInfo | undefined> {
  const [, domain, name] = /^attribute:(?:(object|vertex)\.)?(.*)$/s.exec(by) ?? [];
  if (name === undefined || source.geometry !== "points") return undefined;
  const { vertex, object } = await source.schema(reading);
  if (domain === "object" || (domain === undefined && object.some((own) => own.name === name))) return undefined;
  return vertex.find((own) => own.name === name && isSplittable(own));
}

const isSplittable = (info: AttributeInfo): boolean => info.channels === 1 && comparedAs(info) !== undefined;

/** By what it can be split. */
async function waysOf(source: LevelSource, reading: ReadOptions): Promise<string[]> {
  const { vertex, object } = await source.schema(reading);
  const own = source.geometry === "points" ? vertex.filter(isSplittable) : [];
  const names = [...object.filter(({ channels }) => channels === 1), ...own].map(({ name }) => `attribute:${name}`);
  return [...((source.objects?.rows ?? 0) > 0 ? ["group", "object"] : []), "box", ...new Set(names)];
}

async function byAttribute(
  dataset: VectorDataset,
  source: LevelSource,
  ids: Ids,
  by: string,
  reading: ReadOptions,
): Promise<Found> {
  const { url } = dataset;
  const name = by.replace(/^attribute:/, "").replace(/^object\./, "");
  const info = (await source.schema(reading)).object.find((own) => own.name === name);
  if (by === name || info === undefined || info.channels !== 1)
    throw new InvalidInput(`${url} cannot be split by ${by}; it can by ${(await waysOf(source, reading)).join(", ")}`);
  const rows = Uint32Array.from(ids, (_, row) => row);
  const column = (await source.objects!.columns([name], rows, reading)).get(name);
  const of = column === undefined ? () => undefined : meaningOf(column);
  const without = `without ${name}`;
  const parts = new Map<string, bigint[]>();
  for (const [row, id] of ids.entries()) {
    const value = of(row);
    const part = value === undefined ? without : `${value}`;
    const own = parts.get(part);
    if (own === undefined) parts.set(part, [id]);
    else own.push(id);
  }
  return { parts, rest: "without object" };
}

/** What belongs to no object, as a dataset of its own. */
function ownerless(dataset: VectorDataset): Selection {
  const own: VectorDataset = {
    ...dataset,
    groups: async () => [],
    source: async (...asked) => ({ ...(await dataset.source(...asked)), objects: undefined }),
    select(query) {
      const all = dataset.select(query);
      async function* batches(options?: SelectOptions): AsyncGenerator<Batch> {
        for await (const batch of all.batches(options)) {
          const left = onlyObjects(batch, () => false);
          const says = batch.repeats === true ? left.links?.ends : left.positions;
          if ((says?.length ?? 0) > 0) yield left;
        }
      }
      return { ...all, dataset: own, batches };
    },
  };
  return own.select({ level: 0 });
}

/** Links whose ends are objects of different parts are in none of them; where objects are cut, nobody knows beforehand. */
async function linksBetween(
  dataset: VectorDataset,
  source: LevelSource,
  parts: readonly Part[] | undefined,
  reading: ReadOptions,
): Promise<string[]> {
  if (source.linkWidth === 0) return [];
  let homes: Map<bigint | undefined, number[]> | undefined;
  const isTogether = (owners: readonly (bigint | undefined)[]): boolean => {
    homes ??= homesOf(parts ?? []);
    const [first = [], ...others] = owners.map((id) => homes!.get(id) ?? []);
    return first.some((part) => others.every((own) => own.includes(part)));
  };
  let lost = 0;
  for await (const { positions, dims, parts: starts, objects, ids, links } of dataset
    .select({ level: 0 })
    .batches({ ...reading, attributes: [] })) {
    const { width, ends } = links ?? { width: 1, ends: new Uint32Array() };
    const owner = new Int32Array(positions.length / dims);
    for (let part = 0; part < objects.length; part++) owner.fill(objects[part]!, starts[part], starts[part + 1]);
    for (let at = 0; at < ends.length; at += width) {
      const rows = Array.from(ends.subarray(at, at + width), (end) => owner[end]!);
      if (rows.some((row) => row !== rows[0]) && !isTogether(rows.map((row) => ids[row]))) lost++;
    }
  }
  if (lost === 0) return [];
  return [`${dataset.url}: ${lost} links between objects${parts ? "" : ", where these are not all in one box"}`];
}

/** The parts that have each object; undefined is what belongs to none. */
function homesOf(parts: readonly Part[]): Map<bigint | undefined, number[]> {
  const homes = new Map<bigint | undefined, number[]>();
  for (const [part, { ids = [undefined] }] of parts.entries())
    for (const id of ids) {
      const own = homes.get(id);
      if (own === undefined) homes.set(id, [part]);
      else own.push(part);
    }
  return homes;
}
