/**
 * Many inputs as one feed that keeps what each of them says: the ids of its objects (or new ones, one after the other), all attributes
 * that any of them has, all groups by their names. Everything is looked at before the first is read: what cannot become one is
 * refused before anything is written. 8 bytes are held for each object, and for each member of a group.
 */
import { type Json, stringifyJson } from "../bytes/json.js";
import { comparer, meaningOf } from "../diff/values.js";
import { Conflict, InvalidInput, Unsupported } from "../errors.js";
import { kinds } from "../format/interchange/kinds.js";
import type { Ids } from "../format/rows/row-source.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { Batch, Columns, Domain, Query, SelectOptions, VectorDataset } from "../model/vectors.js";
import { ColumnsBuilder } from "../query/columns.js";
import { type Feed, feedOf } from "./feed.js";
import { type ManyOptions, mustFit } from "./feed-many.js";
import { headersLike } from "./headers.js";
import { type Input, isBad } from "./inputs.js";
import { inTypes, joined, unify } from "./one-schema.js";

type Groups = Awaited<ReturnType<Feed["groups"]>>;

/** What is known of an input before it is read. */
interface Part {
  readonly input: Input;
  readonly feed: Omit<Feed, "batches" | "groups">;
  readonly groups: Groups;
  /** Of all its objects, ascending. */
  readonly ids: Ids;
  /** How many come before them. */
  readonly first: bigint;
  readonly isWide: boolean;
  /** Its ids only number the objects of a file that has none. */
  readonly isNumbered: boolean;
}

export async function feedOfMerged(inputs: readonly Input[], query: Query, options: ManyOptions = {}): Promise<Feed> {
  const { onProgress, onBad, merge, ...reading } = options;
  const opened = async ({ open, name }: Input): Promise<VectorDataset> => {
    const dataset = await open({ signal: options.signal, limits: options.limits, maxMemory: options.maxMemory, onBad });
    if (dataset.kind === "vectors") return dataset;
    throw new Unsupported(`${name} is ${dataset.kind === "array" ? "an array" : "a group"}, and no geometry`, {
      where: name,
    });
  };
  const parts: Part[] = [];
  let objects = 0n;
  for (const [number, input] of inputs.entries()) {
    try {
      const part = await lookAt(input, await opened(input), objects, query, reading);
      if (parts.length > 0) mustFit(parts[0]!.feed, part.feed);
      objects += BigInt(part.ids.length);
      parts.push(part);
    } catch (error) {
      if (onBad === undefined || !isBad(error)) throw error;
      onBad(error);
    }
    onProgress?.({ done: number + 1, total: 2 * inputs.length, unit: "files" });
  }
  const [first] = parts;
  if (first === undefined) throw new InvalidInput(`none of ${inputs.length} inputs can be read`);
  const isNew = merge === "new" || (merge !== "keep" && parts.every(({ isNumbered }) => isNumbered));
  if (!isNew) refuseClashes(parts);
  const idsIn = (part: Part, ids: Ids): Ids => (isNew ? renumbered(part, ids) : ids);
  const schema = parts.reduce((all, { feed, input }) => joined(all, feed.schema, input.name), first.feed.schema);
  const isWide = parts.some((part) => part.isWide);
  const { attributes, losses } = saidByAll(parts);
  const groups = groupsOf(parts, schema.group, idsIn, losses);

  function fitted(part: Part, batch: Batch, wanted: readonly string[] | undefined): Batch {
    const { positions, links, fragments } = batch;
    const unified = (domain: Domain, columns: Columns, rows: number): Columns => {
      const infos = schema[domain].filter(
        ({ name }) => wanted === undefined || wanted.includes(name) || wanted.includes(`${domain}.${name}`),
      );
      return unify(infos, columns, rows, domain, part.input.name);
    };
    const pieces = fragments?.offsets ?? batch.parts;
    return {
      ...batch,
      ids: idsIn(part, batch.ids),
      positions: isWide && positions instanceof Float32Array ? Float64Array.from(positions) : positions,
      objectColumns: unified("object", batch.objectColumns, batch.ids.length),
      vertexColumns: unified("vertex", batch.vertexColumns, positions.length / batch.dims),
      fragments:
        fragments === undefined && schema.fragment.length === 0
          ? undefined
          : { offsets: pieces, columns: unified("fragment", fragments?.columns ?? new Map(), pieces.length - 1) },
      links: links && { ...links, columns: unified("link", links.columns, links.ends.length / links.width) },
    };
  }

  async function* batches(wanted: SelectOptions = {}): AsyncGenerator<Batch> {
    for (const [number, part] of parts.entries()) {
      const feed = await feedOf(await opened(part.input), query, reading);
      for await (const batch of feed.batches(wanted)) yield fitted(part, batch, wanted.attributes);
      for (const loss of feed.losses) if (!losses.includes(loss)) losses.push(loss); // some are known only now
      onProgress?.({ done: parts.length + number + 1, total: 2 * parts.length, unit: "files" });
    }
  }

  return {
    ...first.feed,
    url: `${parts.length} datasets`,
    bounds: {
      min: first.feed.axes.map((_, axis) =>
        parts.reduce((low, { feed }) => Math.min(low, feed.bounds.min[axis]!), Infinity),
      ),
      max: first.feed.axes.map((_, axis) =>
        parts.reduce((high, { feed }) => Math.max(high, feed.bounds.max[axis]!), -Infinity),
      ),
    },
    attributes,
    schema,
    hasObjects: parts.some(({ feed }) => feed.hasObjects),
    losses,
    origins: parts.map(({ input }) => input.origin),
    layout: allSame(parts.map(({ feed }) => feed.layout)) ? first.feed.layout : undefined,
    batches,
    groups: async () => groups,
  };
}

async function lookAt(
  input: Input,
  dataset: VectorDataset,
  first: bigint,
  query: Query,
  options: ManyOptions,
): Promise<Part> {
  const { batches: _, groups: groupsIn, ...feed } = await feedOf(dataset, query, options); // without what holds the dataset
  const groups = await groupsIn();
  const { objects } = await dataset.source(query.level ?? 0, options, feed.geometry);
  const ids = ((await objects?.ids(undefined, options)) ?? new BigInt64Array()).slice().sort();
  let isWide = false;
  const { signal, limits } = options;
  for await (const { positions } of dataset.select({ ...query, limit: 1 }).batches({ signal, limits, attributes: [] }))
    isWide ||= positions instanceof Float64Array;
  const isNumbered = kinds.some(({ id }) => id === dataset.format) && ids.every((id, row) => id === BigInt(row));
  return { input, feed, groups, ids, first, isWide, isNumbered };
}

/** Where an id would be among ascending ones. */
export function placeIn(ids: Ids, id: bigint): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

const renumbered = ({ ids: own, first }: Part, ids: Ids): BigInt64Array =>
  BigInt64Array.from(ids as Iterable<bigint>, (id) => first + BigInt(placeIn(own, id)));

/** An id that two inputs have would make one object of two. */
function refuseClashes(parts: readonly Part[]): void {
  const all = new BigUint64Array(parts.reduce((sum, { ids }) => sum + ids.length, 0));
  let at = 0;
  for (const { ids } of parts) {
    all.set(new BigUint64Array(ids.buffer, ids.byteOffset, ids.length), at);
    at += ids.length;
  }
  all.sort();
  const twice = all.findIndex((id, i) => i > 0 && id === all[i - 1]);
  if (twice < 0) return;
  const count = all.reduce((sum, id, i) => (i > 0 && id === all[i - 1] ? sum + 1 : sum), 0);
  const having = parts.flatMap((part) => {
    const id = part.ids instanceof BigInt64Array ? BigInt.asIntN(64, all[twice]!) : all[twice]!;
    return part.ids[placeIn(part.ids, id)] === id ? [{ id, name: part.input.name }] : [];
  });
  const [one, two] = having;
  const more = count > 1 ? ` (and ${count - 1} more ids are there twice)` : "";
  throw new Conflict(`the object ${one!.id} is in ${one!.name} and in ${two?.name ?? one!.name}${more}`, {
    where: one!.name,
    hint: "Give all objects new ids: --ids new.",
  });
}

const allSame = (values: readonly unknown[]): boolean =>
  values.every((own) => JSON.stringify(own) === JSON.stringify(values[0]));

/** What is said of the whole: of the first that says it. */
function saidByAll(parts: readonly Part[]): { attributes: { [key: string]: Json }; losses: string[] } {
  const attributes: { [key: string]: Json } = {};
  const [first] = parts as [Part];
  const losses = new Set<string>();
  const headers = headersLike(first.feed.headers);
  for (const { feed } of parts) {
    for (const loss of feed.losses) losses.add(loss);
    for (const [name, value] of Object.entries(feed.attributes)) {
      if (!Object.hasOwn(attributes, name)) attributes[name] = value;
      else if (stringifyJson(attributes[name]!) !== stringifyJson(value))
        losses.add(`${feed.url}: what it says of itself as ${name}, which another says before it`);
    }
    if (feed !== first.feed) headers.add(feed.headers);
    if (stringifyJson(feed.crs ?? null) !== stringifyJson(first.feed.crs ?? null))
      losses.add(`${feed.url}: its coordinate system, which is not that of the first`);
  }
  if (headers.loss !== undefined) losses.add(headers.loss);
  return { attributes, losses: [...losses] };
}

/** The groups of all: those of the same name are one, and what the first says of it is kept. */
function groupsOf(
  parts: readonly Part[],
  infos: readonly AttributeInfo[],
  idsIn: (part: Part, ids: Ids) => Ids,
  losses: string[],
): Groups {
  const found = new Map<string, { readonly groups: Groups; readonly row: number; readonly members: Ids[] }>();
  for (const [number, part] of parts.entries()) {
    const { feed } = part;
    const groups = { ...part.groups, columns: inTypes(infos, part.groups.columns, "group", part.input.name) };
    const names = groups.columns.get("name");
    const meant = names === undefined ? () => undefined : meaningOf(names);
    for (const [row, members] of groups.members.entries()) {
      const name = meant(row);
      const key = typeof name === "string" ? `name ${name}` : `${number} ${row}`;
      const known = found.get(key);
      const own = idsIn(part, members);
      if (known === undefined) {
        found.set(key, { groups, row, members: [own] });
        continue;
      }
      known.members.push(own);
      for (const [attribute, column] of groups.columns) {
        const other = known.groups.columns.get(attribute);
        if (other !== undefined && !comparer(other, column)(known.row, row))
          losses.push(`${feed.url}: ${attribute} of the group ${name}, which another says before it`);
      }
    }
  }
  const columns = new ColumnsBuilder(found.size);
  for (const [at, { groups, row }] of [...found.values()].entries()) columns.put(groups.columns, row, 1, at);
  const members = [...found.values()].map(({ members: lists }) => BigInt64Array.from(lists.flatMap((ids) => [...ids])));
  return { members, columns: columns.done() };
}
