/** A query as it was asked, checked against the level that it is about. */
import { InvalidInput, NotFound, Unsupported } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource } from "../model/source.js";
import type { Columns, Query, Schema, SelectOptions } from "../model/vectors.js";
import type { Wanted } from "./assemble.js";
import { groupNumbers } from "./group-names.js";
import { absentRows, checkDomains } from "./masks.js";
import { Region } from "./region.js";
import { RowList } from "./rows.js";
import { Where } from "./where.js";
import type { Checked } from "./where-check.js";
import type { ColumnRows } from "./where-eval.js";
import { groupsAsObjects } from "./where-groups.js";

export interface Resolved {
  readonly source: LevelSource;
  readonly region: Region | undefined;
  /** What is asked of vertices and links, where objects alone do not decide. */
  readonly where: Checked | undefined;
  /** The objects that are asked for, ascending; undefined: all. */
  readonly rows: Uint32Array | undefined;
  /** Whether parts without an object are asked for as well. */
  readonly orphans: boolean;
  /** Whether `object` names them: then they are in the answer also where they have no vertices. */
  readonly named: boolean;
  readonly clip: boolean | "vertices";
  readonly nearest: { readonly point: readonly number[]; readonly k: number } | undefined;
  readonly limit: number;
  /** What to read, for the answer and for the condition. */
  readonly wanted: Wanted;
  /** What the answer brings along. */
  readonly given: Wanted;
  readonly schema: Schema;
}

/** Whether nothing counts but vertices inside: then what lies between two of them is never looked at. */
export const onlyVertices = ({ clip, where }: Resolved): boolean =>
  clip === "vertices" && where?.domains.has("link") !== true;

export async function resolve(plain: LevelSource, query: Query, options: SelectOptions): Promise<Resolved> {
  options.signal?.throwIfAborted();
  const { dims } = plain;
  const region = regionOf(query, dims);
  const clip = query.clip ?? false;
  if (clip === true && region?.kind === "sphere" && plain.linkWidth > 2)
    throw new Unsupported("a mesh cannot be cut by a sphere; take whole objects, only vertices, or cut by a box");
  const none = options.attributes?.length === 0 && query.where === undefined;
  const schema = none ? NO_ATTRIBUTES : await plain.schema(options);
  const asked = query.where === undefined ? undefined : Where.check(Where.parse(query.where), schema);
  if (asked !== undefined) checkDomains(asked);
  const { source, where: checked } = await groupsAsObjects(plain, asked, options);
  const given = givenColumns(schema, options.attributes);
  const needed = wantedFor(checked);
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  if (!(limit >= 0)) throw new InvalidInput(`a limit should be a number from 0, found ${query.limit}`);
  const onlyObjects = checked !== undefined && [...checked.domains].every((domain) => domain === "object");
  return {
    source,
    region,
    where: onlyObjects ? undefined : checked,
    ...(await objectRows(source, query, checked, options)),
    named: query.object !== undefined,
    clip,
    nearest: nearestOf(query, dims),
    limit,
    given,
    schema,
    wanted: {
      vertex: union(given.vertex, needed.vertex),
      fragment: union(given.fragment, needed.fragment),
      object: union(given.object, needed.object),
      link: union(given.link, needed.link),
    },
  };
}

/** Which attributes there are is not looked up where nobody asks for any. */
const NO_ATTRIBUTES: Schema = { vertex: [], link: [], fragment: [], object: [], group: [] };

const union = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];

function regionOf({ box, sphere }: Query, dims: number): Region | undefined {
  if (box !== undefined && sphere !== undefined) throw new InvalidInput("a query has a box or a sphere, not both");
  if (box !== undefined) {
    if (box.length !== 2 * dims)
      throw new InvalidInput(`a box in ${dims} dimensions has ${2 * dims} numbers, both corners; found ${box.length}`);
    return Region.of({ box: { min: box.slice(0, dims), max: box.slice(dims) } }, dims);
  }
  if (sphere === undefined) return undefined;
  if (sphere.length !== dims + 1)
    throw new InvalidInput(
      `a sphere in ${dims} dimensions has ${dims + 1} numbers, its centre and radius; found ${sphere.length}`,
    );
  return Region.of({ sphere: { center: sphere.slice(0, dims), radius: sphere[dims]! } }, dims);
}

function nearestOf({ nearest }: Query, dims: number): Resolved["nearest"] {
  if (nearest === undefined) return undefined;
  const [point, k] = [nearest.slice(0, dims), nearest[dims]];
  if (nearest.length !== dims + 1 || !point.every(Number.isFinite) || !Number.isSafeInteger(k) || k! < 1)
    throw new InvalidInput(
      `nearest in ${dims} dimensions has ${dims + 1} numbers, a place and how many; found [${nearest}]`,
    );
  return { point, k: k! };
}

function givenColumns(schema: Schema, names: readonly string[] | undefined): Wanted {
  const all = (["vertex", "fragment", "object", "link"] as const).map(
    (domain) => [domain, schema[domain].map(({ name }) => name)] as const,
  );
  // Owners of fragments are an index, not data: other software leaves them short, and then they cannot be read.
  if (names === undefined)
    return Object.fromEntries(
      all.map(([domain, list]) => [domain, domain === "fragment" ? list.filter((name) => name !== "object_id") : list]),
    ) as unknown as Wanted;
  const chosen: { [D in keyof Wanted]: string[] } = { vertex: [], fragment: [], object: [], link: [] };
  for (const name of names) {
    const found = all.flatMap(([domain, list]) =>
      list.filter((own) => own === name || `${domain}.${own}` === name).map((own) => [domain, own] as const),
    );
    if (found.length === 0) {
      const known = all.flatMap(([domain, list]) => list.map((own) => `${domain}.${own}`));
      throw new InvalidInput(`there is no attribute ${name}; there are ${known.join(", ") || "none"}`);
    }
    for (const [domain, own] of found) chosen[domain].push(own);
  }
  return chosen;
}

function wantedFor(checked: Checked | undefined): Wanted {
  const of = (domain: string): string[] =>
    [...(checked?.attributes.values() ?? [])].filter((own) => own.domain === domain).map(({ info }) => info.name);
  return { vertex: of("vertex"), fragment: of("fragment"), object: of("object"), link: of("link") };
}

/** The objects that `object`, `group` and the object part of `where` leave. */
async function objectRows(
  source: LevelSource,
  { object, group }: Query,
  where: Checked | undefined,
  options: ReadOptions,
): Promise<{ readonly rows: Uint32Array | undefined; readonly orphans: boolean }> {
  const { objects } = source;
  const project = where && Where.project(where, "object");
  if (object === undefined && group === undefined && project === undefined) return { rows: undefined, orphans: true };
  if (objects === undefined) {
    if (object === undefined && group === undefined) return { rows: undefined, orphans: satisfied(project!) };
    throw new InvalidInput(`level ${source.level} has no objects to choose from`);
  }
  let rows: Uint32Array | undefined;
  if (object !== undefined) {
    const ids = [...object].map(BigInt);
    const found = await objects.rowsOf(ids, options);
    const lost = ids.filter((_, i) => found[i]! < 0);
    if (lost.length > 0)
      throw new NotFound(
        `level ${source.level} has no object ${lost.slice(0, 10).join(", ")}${lost.length > 10 ? ` and ${lost.length - 10} more` : ""}`,
      );
    rows = RowList.distinct(Uint32Array.from(found));
  }
  if (group !== undefined) {
    const members = new RowList();
    for (const number of await groupNumbers(source, objects, group, options)) {
      const found = await objects.group(number, options);
      if (found === undefined) throw new NotFound(`level ${source.level} has no group ${number}`);
      members.addAll(found);
    }
    rows = rows === undefined ? members.sorted() : RowList.both(rows, members.sorted());
  }
  const orphans = rows === undefined && (project === undefined || satisfied(project));
  if (project === undefined) return { rows, orphans };
  rows ??= Uint32Array.from({ length: objects.rows }, (_, row) => row);
  const columns = rows.length === 0 ? new Map() : await objects.columns(wantedFor(project).object, rows, options);
  const mask = new Uint8Array(rows.length);
  evaluate(project, columns, mask);
  return { rows: rows.filter((_, i) => mask[i] === 1), orphans };
}

/** Whether what has no object satisfies a condition on objects. */
function satisfied(where: Checked): boolean {
  const mask = new Uint8Array(1);
  evaluate(where, new Map(), mask);
  return mask[0] === 1;
}

function evaluate(where: Checked, columns: Columns, mask: Uint8Array): void {
  const rows = new Map<string, ColumnRows>();
  for (const [key, { info }] of where.attributes) {
    const column = columns.get(info.name);
    rows.set(key, column === undefined ? absentRows(info, mask.length) : { column });
  }
  Where.evaluate(where, rows, mask.length, mask);
}
