/**
 * Two datasets of geometry. Objects are matched by their ids, or by their order where ids are not compared; of each the vertices,
 * what joins them and the attributes are held against each other, level by level, in batches.
 */
import type { AttributeInfo } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Batch, Domain, Geometry, Parametric, Query, Schema, VectorDataset } from "../model/vectors.js";
import { measureOf, ratioOf } from "../space/units.js";
import { addLinks, type LinkBetween, unmatched } from "./between.js";
import { type Cloud, compareClouds } from "./cloud.js";
import { type Comparing, compareRows, compareThings, type Thing, thingsIn } from "./objects.js";
import { areSingle, asPoints, hasObjects, schemaAsPoints } from "./points.js";
import type { Findings } from "./report.js";
import { inUnits, rescalings } from "./units.js";
import { rowText, typeText } from "./values.js";

export interface VectorDiffOptions extends ReadOptions {
  /** How far coordinates may be apart, along each axis, in units of the first. */
  readonly tolerance: number;
  readonly level: number | undefined;
  readonly ignore: ReadonlySet<"ids" | "attributes" | "groups" | "levels">;
  /** Bytes that may be held. */
  readonly maxMemory: number;
}

const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];

/** Polylines and streamlines are the same thing under two names. */
const alike = (a: Geometry | undefined, b: Geometry | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && PATHS.includes(a) && PATHS.includes(b));

export async function diffVectors(
  a: VectorDataset,
  b: VectorDataset,
  findings: Findings,
  options: VectorDiffOptions,
): Promise<void> {
  if (!a.geometries.every((own, i) => alike(own, b.geometries[i])) || a.geometries.length !== b.geometries.length)
    return void findings.tell("geometry", a.url, () => `${a.geometries} in the first, ${b.geometries} in the second`);
  const scale = scaleOf(a, b, findings);
  if (scale === undefined) return;
  const [own, its] = [a, b].map(({ levels }) => levels.map(({ level }) => level)) as [number[], number[]];
  if (options.level === undefined && !options.ignore.has("levels") && `${own}` !== `${its}`)
    findings.tell("levels", a.url, () => `levels ${own} in the first, ${its} in the second`);
  const shared = own.filter((level) => its.includes(level));
  const wanted =
    options.level === undefined ? (options.ignore.has("levels") ? shared.slice(0, 1) : shared) : [options.level];
  for (const level of wanted)
    for (const [i, geometry] of a.geometries.entries()) {
      if (geometry === "parametric") continue;
      await diffLevel(
        { dataset: a, level, geometry, scale: a.axes.map(() => 1) },
        { dataset: b, level, geometry: b.geometries[i]!, scale },
        findings,
        options,
      );
    }
  findings.compared.levels = wanted.length;
  const [one, two] = [await a.parametric?.(options), await b.parametric?.(options)];
  if (parametricText(one, options) !== parametricText(two, options))
    findings.tell("objects", a.url, () => "the parametric objects are not the same");
}

/** All that is said of parametric objects, in words that are the same for the same. */
function parametricText(parametric: Parametric | undefined, { ignore }: VectorDiffOptions): string {
  if (parametric === undefined || parametric.objects.length === 0) return "";
  const columns = ignore.has("attributes") ? [] : [...parametric.columns].sort(([a], [b]) => (a < b ? -1 : 1));
  const values = columns.map(([name, column]) => [name, parametric.objects.map((_, row) => rowText(column)(row))]);
  const groups = ignore.has("groups") ? [] : parametric.groups.map((members) => `${members}`);
  const objects = parametric.objects.map((own) => ({ ...own, coefficients: `${own.coefficients}` })); // with NaN
  return JSON.stringify([objects, values, groups]);
}

/** What coordinates of the second are multiplied by to be in units of the first; undefined where the axes are others. */
function scaleOf(a: VectorDataset, b: VectorDataset, findings: Findings): number[] | undefined {
  const told = ({ axes }: VectorDataset): string =>
    axes.map(({ name, unit }) => (unit ? `${name} in ${unit}` : name)).join(", ");
  const differs = (): undefined =>
    void findings.tell("space", a.url, () => `the axes are ${told(a)} in the first, ${told(b)} in the second`);
  if (a.axes.length !== b.axes.length) return differs();
  const scale: number[] = [];
  for (const [i, { unit, name }] of a.axes.entries()) {
    const [own, its] = [measureOf(unit), measureOf(b.axes[i]!.unit)];
    if (own !== undefined && its !== undefined && own.unit !== its.unit) return differs();
    if (name !== b.axes[i]!.name) findings.notes.add(`the axis ${name} is called ${b.axes[i]!.name} in the second`);
    scale.push(own === undefined || its === undefined ? 1 : Number((its.scale / own.scale).toPrecision(15)));
  }
  return scale;
}

interface Side extends Cloud {
  readonly geometry: Geometry;
}

async function diffLevel(a: Side, b: Side, findings: Findings, options: VectorDiffOptions): Promise<void> {
  const { signal, limits, ignore } = options;
  const reading = { signal, limits };
  const [one, two] = await Promise.all([sourceOf(a, reading), sourceOf(b, reading)]);
  const isPoints = a.geometry === "points";
  const [firstSingle, secondSingle] = [
    isPoints && (await areSingle(a, one, two, reading)),
    isPoints && (await areSingle(b, two, one, reading)),
  ];
  const schemas = await Promise.all([
    (firstSingle ? schemaAsPoints(one) : one).schema(options),
    (secondSingle ? schemaAsPoints(two) : two).schema(options),
  ]);
  const names = sharedNames(...schemas, `level ${a.level}`, findings, options);
  const how: Comparing = { findings, tolerance: options.tolerance, names, units: rescalings(...schemas) };
  if (firstSingle || secondSingle || (isPoints && !hasObjects(one) && !hasObjects(two))) {
    const isId = (firstSingle || secondSingle) && !ignore.has("ids");
    const others = names.vertex.filter((name) => name !== "id" || !(firstSingle || secondSingle));
    const vertex = isId ? [...others, "id"] : others;
    return compareClouds(
      firstSingle ? asPoints(a) : a,
      inUnits(secondSingle ? asPoints(b) : b, how.units),
      { ...how, names: { ...names, vertex } },
      { ...reading, maxMemory: options.maxMemory },
    );
  }
  const ids = await matched(one, two, a.level, findings, options);
  const second = inUnits(b, how.units);
  await diffObjects(a, second, ids, how, options);
  if (!ignore.has("groups")) await diffGroups(a, second, ids, how, options);
}

const sourceOf = ({ dataset, level, geometry }: Side, options: ReadOptions): Promise<LevelSource> =>
  dataset.source(level, options, geometry);

/** The attributes that both have; those that one lacks are told. */
function sharedNames(
  one: Schema,
  two: Schema,
  where: string,
  findings: Findings,
  options: VectorDiffOptions,
): Comparing["names"] {
  const shared = (domain: Domain): string[] => {
    if (options.ignore.has("attributes")) return [];
    const its = new Map(two[domain].map((info) => [info.name, info]));
    for (const { name } of two[domain])
      if (!one[domain].some((info) => info.name === name))
        findings.tell("attributes", where, () => `only the second has the ${domain} attribute ${name}`);
    return one[domain].flatMap((info) => {
      const other = its.get(info.name);
      if (other === undefined)
        findings.tell("attributes", where, () => `only the first has the ${domain} attribute ${info.name}`);
      else if (other.channels !== info.channels)
        findings.tell(
          "attributes",
          where,
          () => `${info.name} has ${info.channels} values in the first, ${other.channels} in the second`,
        );
      else {
        if (measuresDiffer(info, other))
          findings.tell(
            "attributes",
            where,
            () =>
              `${domain} attribute ${info.name} has the unit ${info.unit} in the first, ${other.unit} in the second`,
          );
        const [own, its] = differing(info, other);
        if (own !== its)
          findings.notes.add(`${domain} attribute ${info.name} is ${own} in the first, ${its} in the second`);
        return [info.name];
      }
      return [];
    });
  };
  const fragment = [...one.fragment, ...two.fragment].filter(({ name }) => name !== "object_id");
  for (const { name } of options.ignore.has("attributes") ? [] : fragment)
    findings.notes.add(`the fragment attribute ${name} is not compared: fragments follow from chunks`);
  return {
    vertex: shared("vertex"),
    object: shared("object"),
    link: shared("link"),
    group: options.ignore.has("groups") ? [] : shared("group"),
  };
}

/** Whether they count what cannot be the same, such as ms and nm; what nobody knows is only told. */
function measuresDiffer(a: AttributeInfo, b: AttributeInfo): boolean {
  const [own, its] = [measureOf(a.unit), measureOf(b.unit)];
  return own !== undefined && its !== undefined && own.unit !== its.unit;
}

/** The type of each; and its unit, where those are others. */
function differing(a: AttributeInfo, b: AttributeInfo): readonly [string, string] {
  const ratio = ratioOf(a.unit, b.unit);
  const isSame = a.unit === b.unit || (ratio !== undefined && ratio.times === ratio.per) || measuresDiffer(a, b);
  const told = (info: AttributeInfo): string =>
    isSame ? typeText(info) : `${typeText(info)} ${info.unit ? `in ${info.unit}` : "without a unit"}`;
  return [told(a), told(b)];
}

/** Pairs of ids. */
type Pairs = readonly (readonly [bigint, bigint])[];

async function matched(
  a: LevelSource,
  b: LevelSource,
  level: number,
  findings: Findings,
  { ignore, ...options }: VectorDiffOptions,
): Promise<Pairs> {
  const [own, its] = await Promise.all(
    [a, b].map(async ({ objects }) => [...((await objects?.ids(undefined, options)) ?? [])]),
  );
  const where = `level ${level}`;
  if (ignore.has("ids")) {
    const [n, m] = [own!.length, its!.length];
    if (n !== m) findings.tell("objects", where, () => `${n} objects in the first, ${m} in the second`);
    return own!.slice(0, m).map((id, i) => [id, its![i]!]);
  }
  const known = new Set(its);
  const lost = own!.filter((id) => !known.has(id));
  for (const id of lost) findings.tell("objects", `${where}, object ${id}`, () => "only the first has it");
  const first = new Set(own);
  for (const id of its!)
    if (!first.has(id)) findings.tell("objects", `${where}, object ${id}`, () => "only the second has it");
  return own!.filter((id) => known.has(id)).map((id) => [id, id]);
}

const TOGETHER = 4096; // objects that are asked for together

async function diffObjects(a: Side, b: Side, pairs: Pairs, how: Comparing, options: VectorDiffOptions): Promise<void> {
  const { findings } = how;
  const partner = new Map(pairs);
  const [own, its]: [LinkBetween[], LinkBetween[]] = [[], []]; // links between objects
  let done = 0;
  for await (const batch of batchesOf(a, {}, options)) {
    addLinks(own, batch, a, how);
    if (batch.repeats === true) continue;
    await diffBatch(a, batch, b, partner, how, options);
    done += batch.ids.length;
    options.onProgress?.({ done, total: Math.max(done, pairs.length), unit: "objects" });
  }
  // What has no vertices in the first is in none of its batches.
  const left = [...partner.keys()];
  for (let from = 0; from < left.length; from += TOGETHER)
    for await (const batch of batchesOf(a, { object: left.slice(from, from + TOGETHER) }, options))
      await diffBatch(a, batch, b, partner, how, options);
  if ((await sourceOf(b, options)).linkWidth > 0 && !options.ignore.has("ids")) {
    for await (const batch of batchesOf(b, {}, options)) addLinks(its, batch, b, how);
    const lost = unmatched(own, its, how);
    for (const which of ["first", "second"] as const)
      for (const link of lost[which])
        findings.tell("links", `level ${a.level}, between objects`, () => `only the ${which} joins ${link.text}`);
  }
  const [one, two] = [await rest(a, options), await rest(b, options)];
  if (one === undefined && two === undefined) return;
  const where = `level ${a.level}, what belongs to no object`;
  if (one === undefined || two === undefined)
    findings.tell("objects", where, () => `only the ${one === undefined ? "second" : "first"} has such`);
  else compareThings(one, two, where, how);
}

const batchesOf = ({ dataset, level, geometry }: Side, query: Query, { signal, limits }: VectorDiffOptions) =>
  dataset.select({ ...query, level, geometry }).batches({ signal, limits });

/** The objects of a batch, each with its partner, which is then no longer waited for. */
async function diffBatch(
  a: Side,
  batch: Batch,
  b: Side,
  partner: Map<bigint, bigint>,
  how: Comparing,
  options: VectorDiffOptions,
): Promise<void> {
  const wanted = [...batch.ids].flatMap((id) => partner.get(id) ?? []);
  if (wanted.length === 0) return;
  const others = new Map<bigint, Thing>();
  for await (const own of batchesOf(b, { object: wanted }, options)) {
    if (own.repeats === true) continue;
    for (const [row, thing] of thingsIn(own, b.scale)) if (row >= 0) others.set(own.ids[row]!, thing);
  }
  for (const [row, thing] of thingsIn(batch, a.scale)) {
    const id = batch.ids[row];
    const other = id === undefined ? undefined : others.get(partner.get(id)!);
    if (id === undefined || other === undefined) continue;
    partner.delete(id);
    how.findings.compared.objects++;
    compareThings(thing, other, `level ${a.level}, object ${id}`, how);
  }
}

/** What belongs to no object, as one thing; undefined where there is nothing. */
async function rest(side: Side, { signal, limits }: VectorDiffOptions): Promise<Thing | undefined> {
  const source = await sourceOf(side, { signal, limits });
  if (source.objects !== undefined && (await source.objects.orphans({ signal, limits })).part.length === 0)
    return undefined;
  const { dataset, level, geometry, scale } = side;
  const batch: Batch = await dataset.select({ level, geometry }).read({ signal, limits });
  return thingsIn(batch, scale).get(-1);
}

/** Groups by their names where both have such, each its own, else by their numbers; their members, and what is said of them. */
async function diffGroups(a: Side, b: Side, pairs: Pairs, how: Comparing, options: VectorDiffOptions): Promise<void> {
  const { findings } = how;
  const [one, two] = [await groupsOf(a, options), await groupsOf(b, options)];
  const byName = one.names !== undefined && two.names !== undefined;
  const keyOf = (side: typeof one, group: number): string => (byName ? side.names![group]! : `${group}`);
  const its = new Map(two.groups.map(({ group }) => [keyOf(two, group), group]));
  const partner = new Map(pairs);
  const rows: [number, number][] = [];
  for (const { group } of one.groups) {
    const key = keyOf(one, group);
    const where = `level ${a.level}, group ${key}`;
    const other = its.get(key);
    its.delete(key);
    if (other === undefined) {
      findings.tell("groups", where, () => "only the first has it");
      continue;
    }
    rows.push([group, other]);
    const own = new Set(
      [...(await a.dataset.groupMembers(group, a.level, options))].map((id) => partner.get(id) ?? id),
    );
    const second = new Set(await b.dataset.groupMembers(other, b.level, options));
    const [more, less] = [[...own].filter((id) => !second.has(id)), [...second].filter((id) => !own.has(id))];
    if (more.length > 0)
      findings.tell("groups", where, () => `only the first has ${more.slice(0, 5).join(", ")} in it`);
    if (less.length > 0)
      findings.tell("groups", where, () => `only the second has ${less.slice(0, 5).join(", ")} in it`);
  }
  for (const key of its.keys())
    findings.tell("groups", `level ${a.level}, group ${key}`, () => "only the second has it");
  compareRows(one.columns, two.columns, "group", rows, (i) => `level ${a.level}, group ${rows[i]![0]}`, how);
}

async function groupsOf({ dataset, level }: Side, options: VectorDiffOptions) {
  const groups = await dataset.groups(level, options);
  const columns = groups.length === 0 ? new Map<string, never>() : await dataset.groupColumns(level, options);
  const values = columns.get("name")?.values as readonly unknown[] | undefined;
  const isName = values?.every((name) => typeof name === "string") && new Set(values).size === values.length;
  const names = isName ? (values as readonly string[]) : undefined;
  return { groups, columns, names };
}
