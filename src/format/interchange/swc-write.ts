/**
 * One tree as SWC. Links from child to parent are taken as they are; a tree whose links go either way is hung up at its first vertex.
 * Where vertices know their numbers in an SWC file, they get them again, and its comments and its way of writing numbers.
 */
import { isJsonObject, type JsonObject, parseJson } from "../../bytes/json.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { InvalidInput, Unsupported } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import { type Column, lostUnit } from "../../model/attributes.js";
import type { Batch } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import { inRatio, type Ratio, ratioOf } from "../../space/units.js";
import type { Sink } from "../../store/types.js";
import { cycleIn, NODE, RADIUS, TYPE } from "./swc.js";
import { textSink } from "./text-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

const PATHS = ["lines", "polylines", "streamlines"];
const AS_IT_IS: Ratio = { times: 1, per: 1 };
const KEPT = ["name", "header"]; // what the file is called, and is, or says itself

export async function writeSwc(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { url, geometry, axes, headers } = data;
  if (![...PATHS, "skeletons", "graph"].includes(geometry))
    throw new Unsupported(`${url} has ${geometry}, and SWC holds a tree of nodes`, { where: url });
  if (axes.length !== 3) throw new Unsupported(`${url} has ${axes.length} axes, and SWC has 3`, { where: url });
  const tree = await onlyObject(data, options);
  const losses = lossesOf(data, tree);
  if (tree === undefined) return { vertices: 0, objects: 0, losses };
  const count = tree.positions.length / 3;
  const parents = parentsOf(tree, PATHS.includes(geometry), url);
  const { order, numbers } = numbering(tree, parents);
  const style = headers.get("swc") ?? ownHeader(tree);
  const row = rowText(tree, axes, style);
  const comments = (Array.isArray(style.comments) ? style.comments : []) as readonly [number, string][];
  const end = `${textOf(style.after, "")}\n`;
  const text = textSink(sink, style.latin === true ? latin : undefined);
  let next = 0;
  const commentsUpTo = async (before: number): Promise<void> => {
    for (; next < comments.length && comments[next]![0] <= before; next++) await text.write(`${comments[next]![1]}\n`);
  };
  for (let place = 0; place < count; place++) {
    options.signal?.throwIfAborted();
    await commentsUpTo(place);
    const vertex = order[place]!;
    const parent = parents[vertex]!;
    await text.write(row(vertex, numbers[vertex]!, parent < 0 ? -1 : numbers[parent]!) + end);
  }
  await commentsUpTo(Number.POSITIVE_INFINITY);
  await text.end(style.open === true ? 1 : 0);
  return { vertices: count, objects: 1, losses };
}

const latin = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const textOf = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);

/** What is kept with an object that was a file of its own among many. */
function ownHeader({ objectColumns }: Batch): JsonObject {
  const text = objectColumns.get("header")?.values[0];
  if (typeof text !== "string" || !text.startsWith("{")) return {};
  const { swc = {} } = parseJson(encodeUtf8(text, "the header"), defaultLimits, "the header") as JsonObject;
  return isJsonObject(swc) ? swc : {};
}

/** The batch with everything; SWC has no word for a second object. */
async function onlyObject({ url, batches }: FileData, { signal }: WriteFileOptions): Promise<Batch | undefined> {
  let only: Batch | undefined;
  let objects = 0;
  for await (const batch of batches({ signal })) {
    const several = batch.ids.length > 1 || (only !== undefined && batch.positions.length > 0);
    if (several)
      throw new InvalidInput(`${url} has several objects, and SWC holds one tree`, {
        where: url,
        hint: "Choose one with --object; octavo split --by object --to swc writes a file for each.",
      });
    if (batch.positions.length > 0) only = batch;
    objects += batch.ids.length;
  }
  if (only === undefined && objects === 0)
    throw new InvalidInput(`nothing of ${url} is selected, and a file of SWC holds one tree`, { where: url });
  return only;
}

function lossesOf({ schema, crs, geometry }: FileData, tree: Batch | undefined): string[] {
  const own = [NODE, TYPE, RADIUS].map(({ name }) => name);
  const id = tree?.ids[0];
  return [
    ...(geometry === "skeletons" ? [] : [`that these are ${geometry}: SWC is read as skeletons`]),
    ...(tree === undefined ? ["the object, which has no nodes: SWC has no word for that"] : []),
    ...schema.vertex.flatMap((info) => {
      if (!own.includes(info.name)) return [`the vertex attribute ${info.name}`];
      return info.name === RADIUS.name && ratioOf(info.unit, RADIUS.unit) !== undefined ? [] : lostUnit(info);
    }),
    ...(["link", "fragment", "object"] as const).flatMap((domain) =>
      schema[domain].filter(({ name }) => !KEPT.includes(name)).map(({ name }) => `the ${domain} attribute ${name}`),
    ),
    ...(id === undefined || id === 0n ? [] : [`the id ${id} of the object`]),
    ...(crs == null ? [] : ["the coordinate system"]),
  ];
}

/** The parent of each vertex, or −1. */
function parentsOf({ positions, links, parts, ids }: Batch, path: boolean, url: string): Int32Array {
  const count = positions.length / 3;
  if (path && parts.length <= 2) return Int32Array.from({ length: count }, (_, vertex) => vertex - 1);
  const ends = links?.ends ?? new Uint32Array();
  const parents = new Int32Array(count).fill(-1);
  let directed = ends.length === 2 * (count - 1);
  for (let i = 0; i < ends.length; i += 2) {
    if (parents[ends[i]!] !== -1) directed = false;
    parents[ends[i]!] = ends[i + 1]!;
  }
  if (directed && cycleIn(parents) < 0) return parents;
  return hungUp(ends, count, (found) => {
    const where = ids.length > 0 ? `object ${ids[0]} of ${url}` : url;
    return new InvalidInput(`${where} is no tree but ${found}, and SWC holds a tree`, { where: url });
  });
}

/** The parents in a tree whose links go either way, from vertex 0 on. */
function hungUp(ends: Uint32Array, count: number, wrong: (found: string) => InvalidInput): Int32Array {
  const starts = new Uint32Array(count + 2);
  for (const end of ends) starts[end + 2]!++;
  for (let vertex = 2; vertex < starts.length; vertex++) starts[vertex]! += starts[vertex - 1]!;
  const neighbours = new Uint32Array(ends.length);
  for (let i = 0; i < ends.length; i++) neighbours[starts[ends[i]! + 1]!++] = ends[i ^ 1]!;
  const parents = new Int32Array(count).fill(-2);
  parents[0] = -1;
  const found = new Uint32Array(count); // first vertex 0, then the others as they are met
  let known = 1;
  for (let done = 0; done < known; done++) {
    const vertex = found[done]!;
    for (let i = starts[vertex]!; i < starts[vertex + 1]!; i++) {
      const other = neighbours[i]!;
      if (parents[other] !== -2) continue;
      parents[other] = vertex;
      found[known++] = other;
    }
  }
  if (known < count) throw wrong("several pieces");
  if (ends.length !== 2 * (count - 1)) throw wrong("a graph with cycles");
  return parents;
}

/** In which order vertices come, and their numbers: those that they had, else 1, 2 … with parents before their children. */
function numbering({ vertexColumns }: Batch, parents: Int32Array): { order: Uint32Array; numbers: Int32Array } {
  const count = parents.length;
  const known = vertexColumns.get(NODE.name)?.values;
  if (known instanceof Int32Array && new Set(known).size === count)
    return { order: Uint32Array.from(known, (_, i) => i).sort((a, b) => known[a]! - known[b]!), numbers: known };
  const numbers = new Int32Array(count);
  const order = new Uint32Array(count);
  let last = 0;
  const path: number[] = [];
  for (let vertex = 0; vertex < count; vertex++) {
    for (let at = vertex; at >= 0 && numbers[at] === 0; at = parents[at]!) {
      numbers[at] = -1;
      path.push(at);
    }
    for (let at = path.pop(); at !== undefined; at = path.pop()) {
      order[last] = at;
      numbers[at] = ++last;
    }
  }
  return { order, numbers };
}

/** How to write a node: its own way where nothing was changed, else the fewest digits. */
function rowText(tree: Batch, axes: FileData["axes"], style: JsonObject) {
  const [before, between] = [textOf(style.before, ""), textOf(style.between, " ")];
  const decimals = (Array.isArray(style.decimals) ? style.decimals : []) as readonly (number | null | undefined)[];
  const ratios = axes.map(({ unit }) => ratioOf(unit, RADIUS.unit) ?? AS_IT_IS);
  const coordinates = ratios.map((ratio, axis) => numberText(tree.positions, decimals[axis], ratio));
  const [type, radius] = [TYPE, RADIUS].map(({ name }) => widened(tree.vertexColumns.get(name)));
  // A radius without a unit counts what coordinates do; one whose unit is no length keeps its numbers.
  const unit = radius?.info.unit ?? axes[0]!.unit;
  const radiusText = radius && numberText(radius.values, decimals[3], ratioOf(unit, RADIUS.unit) ?? AS_IT_IS);
  return (vertex: number, number: number, parent: number): string =>
    before +
    [
      number,
      plainText(type, vertex),
      ...coordinates.map((text, axis) => text(3 * vertex + axis)),
      radiusText === undefined ? 0 : radiusText(vertex),
      parent,
    ].join(between);
}

const plainText = (column: Column | undefined, row: number): string => `${column?.values[row] ?? 0}`;

function numberText(values: Column["values"], decimals: number | null | undefined, ratio: Ratio) {
  const single = values instanceof Float32Array;
  return (at: number): string => {
    const value = inRatio(Number(values[at]), ratio);
    const sign = Object.is(value, -0) ? "-" : "";
    const fixed = typeof decimals === "number" && decimals >= 0 && decimals <= 20 ? value.toFixed(decimals) : "";
    const again = single ? Math.fround(Number(fixed)) === Math.fround(value) : Number(fixed) === value;
    return sign + (fixed !== "" && again ? fixed : `${value}`);
  };
}
