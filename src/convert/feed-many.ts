/**
 * Many inputs as one feed: the objects of all of them, with the ids 0, 1, 2 …, the name of their file as an attribute and a group for each
 * folder. Inputs are opened a few ahead of the one that is read, and forgotten after it. Points that belong to no objects say themselves
 * which file they are of: as one object, a file could not be asked for what lies in a box, and would be held as a whole.
 */
import { stringifyJson } from "../bytes/json.js";
import { InvalidInput, Unsupported } from "../errors.js";
import { kindNamed } from "../format/interchange/kinds.js";
import type { Ids } from "../format/rows/row-source.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Batch, Columns, Domain, Query, Schema, SelectOptions, VectorDataset } from "../model/vectors.js";
import { type Feed, type FeedOptions, feedOf } from "./feed.js";
import { headersLike } from "./headers.js";
import { type Input, isBad } from "./inputs.js";
import { joined, unify } from "./one-schema.js";

export interface ManyOptions extends FeedOptions {
  /** Inputs that cannot be read are left out, and told here; without it the first one is an error. */
  readonly onBad?: ((problem: Error) => void) | undefined;
  /** They are parts of one dataset: ids are kept, or new; where nothing is said, new only where no input has ids of its own. */
  readonly merge?: "keep" | "new" | "any" | undefined;
  /** Points without objects get the name of their file as an attribute; without it, that is told as lost. */
  readonly tellFiles?: boolean | undefined;
}

const AHEAD = 8; // inputs that are opened together
const TEXT = { dtype: { kind: "string" }, channels: 1 } as const;

export async function feedOfMany(inputs: readonly Input[], query: Query, options: ManyOptions = {}): Promise<Feed> {
  const { onProgress, ...reading } = options;
  const problems = new Set<string>();
  const onBad =
    options.onBad &&
    ((problem: Error): void => {
      if (!problems.has(problem.message)) options.onBad!(problem); // once, however often the inputs are gone through
      problems.add(problem.message);
    });
  const losses: string[] = [];
  const told = new Set<string>();
  const lose = (sentence: string): void => {
    if (told.has(sentence)) return;
    told.add(sentence);
    losses.push(sentence);
  };
  const skip = (error: unknown): undefined => {
    if (onBad === undefined || !isBad(error)) throw error;
    onBad(error);
  };
  const opening = async ({ open, name }: Input): Promise<VectorDataset> => {
    const dataset = await open({ signal: options.signal, limits: options.limits, maxMemory: options.maxMemory, onBad });
    if (dataset.kind === "vectors") return dataset;
    throw new Unsupported(`${name} is ${dataset.kind === "array" ? "an array" : "a group"}, and no geometry`, {
      where: name,
    });
  };
  const feedFrom = async (input: Input): Promise<Feed> => feedOf(await opening(input), query, reading);

  let [first, fallback]: (Feed | undefined)[] = [];
  let [opened, other]: (Input | undefined)[] = [];
  for (const input of inputs) {
    const before = problems.size;
    const feed = await feedFrom(input).catch(skip);
    if (problems.size === before) [first, opened] = [feed, input]; // one of which something was left out says little about the others
    if (first !== undefined) break;
    if (feed !== undefined && fallback === undefined) [fallback, other] = [feed, input];
  }
  if (first === undefined) [first, opened] = [fallback, other];
  if (first === undefined) throw new InvalidInput(`none of ${inputs.length} inputs can be read`);
  const { geometry, axes, linkWidth, hasObjects } = first;
  const like = first;
  const keepsHeaders = first.headers.size > 0 && (await hasOneObject(first, options));

  /** The attributes of all, and the header of the whole, where all have the same; inputs that have one object keep their own. */
  let all = first.schema;
  const together = headersLike(first.headers);
  const mayAgree = first.headers.size > 0 && !keepsHeaders;
  if (mayAgree || !inputs.every(({ name }) => kindNamed(name)?.fixed))
    for (const input of inputs.slice(inputs.indexOf(opened!) + 1))
      try {
        const feed = await feedFrom(input);
        mustFit(like, feed);
        all = joined(all, feed.schema, input.name);
        if (mayAgree) together.add(feed.headers);
      } catch (error) {
        skip(error);
      }
  const isShared = mayAgree && together.agree;
  if (isShared && together.loss !== undefined) lose(together.loss);
  const [nameInfo, headerInfo] = [fresh(all.object, "name", "file"), fresh(all.object, "header")];
  const fileInfo = hasObjects ? undefined : filesAs(fresh(all.vertex, "file"), inputs);
  if (fileInfo !== undefined && options.tellFiles !== true) lose("which of the files each point is of");
  const isTold = fileInfo !== undefined && options.tellFiles === true;
  const own = hasObjects ? [nameInfo, ...(keepsHeaders ? [headerInfo] : [])] : [];
  const schema: Schema = {
    ...all,
    vertex: [...all.vertex, ...(isTold ? [fileInfo] : [])],
    object: [...all.object, ...own],
    group: [{ name: "name", ...TEXT }],
  };
  let folders = new Map<string, bigint[]>();

  const bare = new Set<string>(); // inputs whose headers nobody keeps
  let toldBare: string | undefined;

  /** The batches of one input as batches of all. */
  async function* batchesOf(
    { name }: Input,
    feed: Feed,
    next: { id: bigint },
    wanted: SelectOptions,
  ): AsyncGenerator<Batch> {
    for (const loss of feed.losses) lose(loss);
    const numbers = new Map<bigint, bigint>(); // only where a later batch may name an object again
    const header = feed.headers.size > 0 ? stringifyJson(Object.fromEntries(feed.headers)) : "";
    const folder = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    let objects = 0;
    for await (const batch of feed.batches(wanted)) {
      const ids = BigInt64Array.from(batch.ids as Iterable<bigint>, (id) => numbers.get(id) ?? next.id++);
      if (linkWidth > 0) for (const [row, id] of ids.entries()) numbers.set(batch.ids[row]!, id);
      if (batch.repeats !== true && folder !== "") {
        const members = folders.get(folder) ?? [];
        folders.set(folder, members);
        for (const id of ids) members.push(id);
      }
      if (batch.repeats !== true && batch.ids.some((id: bigint, row: number) => id !== BigInt(objects + row)))
        lose("the ids of objects, which are 0, 1, 2 … now: octavo merge keeps them");
      objects += batch.ids.length;
      const rows = batch.positions.length / batch.dims;
      const texts = (info: AttributeInfo, text: string): [string, Column] => [
        info.name,
        { info, values: new Array<string>(ids.length).fill(text) },
      ];
      const unified = (domain: Domain, columns: Columns, rows: number): Columns =>
        wanted.attributes === undefined ? unify(all[domain], columns, rows, domain, name, lose) : columns;
      const objectColumns = new Map(unified("object", batch.objectColumns, ids.length));
      if (hasObjects && wanted.attributes === undefined) {
        objectColumns.set(...texts(nameInfo, name));
        if (keepsHeaders) objectColumns.set(...texts(headerInfo, objects === 1 ? header : ""));
      }
      yield {
        ...batch,
        ids,
        objectColumns,
        vertexColumns: new Map([
          ...unified("vertex", batch.vertexColumns, rows),
          ...(isTold && wanted.attributes === undefined ? [codesOf(fileInfo, name, rows)] : []),
        ]),
        links: batch.links && {
          ...batch.links,
          columns: unified("link", batch.links.columns, batch.links.ends.length / batch.links.width),
        },
      };
    }
    for (const loss of feed.losses) lose(loss); // some are known only now
    if (header !== "" && !isShared && (objects !== 1 || !keepsHeaders)) bare.add(feed.url);
    if (feed.schema.group.length > 0 || (await feed.groups()).members.length > 0) lose(`${feed.url}: its groups`);
  }

  async function* batches(wanted: SelectOptions = {}): AsyncGenerator<Batch> {
    folders = new Map();
    const next = { id: 0n };
    const ahead: Promise<Feed | undefined>[] = [];
    for (const [number, input] of inputs.entries()) {
      while (ahead.length < Math.min(AHEAD, inputs.length - number)) {
        const coming = feedFrom(inputs[number + ahead.length]!);
        coming.catch(() => undefined); // told when its turn comes
        ahead.push(coming);
      }
      try {
        const feed = (await ahead.shift())!;
        mustFit(like, feed);
        yield* batchesOf(input, feed, next, wanted);
      } catch (error) {
        skip(error);
      }
      onProgress?.({ done: number + 1, total: inputs.length, unit: "files" });
    }
    if (toldBare !== undefined) losses.splice(losses.indexOf(toldBare), 1);
    const [one] = bare;
    const why = together.agree ? "" : `, which are not the same in ${together.differences}`;
    toldBare = bare.size < 2 ? one && `${one}: the header of the file` : `the headers of ${bare.size} files${why}`;
    if (toldBare !== undefined) losses.push(toldBare);
  }

  return {
    url: `${inputs.length} files`,
    geometry,
    axes,
    crs: first.crs,
    bounds: { min: axes.map(() => Number.NaN), max: axes.map(() => Number.NaN) }, // known when all were read
    attributes: {},
    schema,
    headers: isShared ? first.headers : new Map(),
    linkWidth,
    hasObjects,
    losses,
    origins: inputs.map(({ origin }) => origin),
    batches,
    async groups() {
      const members = [...folders.values()].map((ids): Ids => BigInt64Array.from(ids));
      const info = schema.group[0]!;
      return {
        members,
        columns: new Map(members.length > 0 ? [[info.name, { info, values: [...folders.keys()] }]] : []),
      };
    },
  };
}

const hasOneObject = async ({ dataset, geometry, hasObjects }: Feed, options: ManyOptions): Promise<boolean> =>
  hasObjects && (await dataset?.source(0, options, geometry))?.objects?.rows === 1;

/** Names of files as codes: a byte or two for each point, which are the same all along a file. */
function filesAs(info: AttributeInfo, inputs: readonly Input[]): AttributeInfo {
  const categories = [...new Set(inputs.map(({ name }) => name))];
  const size = categories.length <= 2 ** 8 ? 1 : categories.length <= 2 ** 16 ? 2 : 4;
  return { ...info, dtype: { kind: "uint", size, endian: "little" }, categories };
}

function codesOf(info: AttributeInfo, file: string, rows: number): [string, Column] {
  const size = "size" in info.dtype ? info.dtype.size : 1;
  const values = size === 1 ? new Uint8Array(rows) : size === 2 ? new Uint16Array(rows) : new Uint32Array(rows);
  return [info.name, { info, values: values.fill(info.categories!.indexOf(file)) }];
}

/** The first of these names that no attribute has. */
function fresh(taken: readonly AttributeInfo[], ...names: readonly string[]): AttributeInfo {
  const free = [...names, ...names.map((name) => `${name}_`)].find((name) => taken.every((own) => own.name !== name));
  return { name: free!, ...TEXT };
}

type Outline = Omit<Feed, "batches" | "groups">;

/** Whether both can be in one dataset. */
export function mustFit(like: Outline, feed: Outline): void {
  const differs = (what: string, expected: string, found: string): Unsupported =>
    new Unsupported(`${feed.url} has ${found} as ${what}, but ${like.url} has ${expected}: they cannot become one`, {
      where: feed.url,
      hint: "Name the files that belong together with a pattern, such as 'folder/*.swc'.",
    });
  if (feed.geometry !== like.geometry) throw differs("geometry", like.geometry, feed.geometry);
  const axesOf = ({ axes }: Outline): string => axes.map(({ name, unit = "" }) => `${name} ${unit}`.trim()).join(", ");
  if (axesOf(feed) !== axesOf(like)) throw differs("axes", axesOf(like), axesOf(feed));
  if (feed.linkWidth !== like.linkWidth) throw differs("vertices of a link", `${like.linkWidth}`, `${feed.linkWidth}`);
}
