/**
 * Attributes of links under edit. Whoever sets them names links as a query has them; in the store they are rows of many cells, in
 * a `duplicate` family several for one link. Both are told by the vertices that a link joins.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Batch } from "../../../model/vectors.js";
import { datasetOf } from "../read/dataset.js";
import { attributeInfo } from "../read/schema.js";
import type { AddedValues } from "./edit-attributes.js";
import type { CellsEdit } from "./edit-cells.js";
import { sizeOf } from "./edit-chunks.js";
import { cellWords, infoOf, takeColumn } from "./edit-columns.js";
import type { At } from "./edit-cut.js";
import { type Family, linkArrays, linkDescription, linksWithin, linkTaker, segmentsOf } from "./edit-families.js";
import { editLevel, type LevelEdit, rowOf, unknown, verticesOf } from "./edit-level.js";
import { sequenceOf } from "./edit-recut.js";
import { linksOf } from "./edit-relink.js";
import type { Tree } from "./edit-tree.js";

/** Sets the values of links of these objects, of all links where none are named; `rows` as a query for them has the links. */
export async function setLinks(
  level: LevelEdit,
  name: string,
  ids: readonly bigint[] | undefined,
  rows: ArrayLike<number> | undefined,
  values: Column["values"],
): Promise<void> {
  const { tree, meta } = level;
  const words = await linkDescription(tree, meta.path, name);
  if (words === undefined) throw unknown(level, "link", name);
  const family = await linksWithin(tree, meta, 2, level.rank);
  const arrays = await linkArrays(tree, family, name);
  await putValues(level, family, arrays, attributeInfo(name, words, `link_attributes/${name}`), ids, rows, values);
}

/** A new attribute of links; they all must be in the store, which `tellLinks` has made sure of. */
export async function addLinks(level: LevelEdit, info: AttributeInfo, given: AddedValues | undefined): Promise<void> {
  const { tree, meta, chunks, rank } = level;
  const path = `${meta.path}/link_attributes/${info.name}`;
  const { kind } = await sequenceOf(level);
  if (kind === "path" || (await tree.group(`${meta.path}/links/0`)) === undefined)
    throw new InvalidInput(`${tree.opened.url} has no links that could have attributes`, { where: tree.opened.url });
  const family = await linksWithin(tree, meta, 2, rank);
  await tree.makeGroup(path);
  await tree.makeGroup(`${path}/0`, {
    zv_array: "link_attribute_family",
    name: info.name,
    level_delta: 0,
    num_links: Number(family.group.attributes.num_links ?? 0),
  });
  const arrays = new Map<string, CellsEdit>();
  for (const { segment, offsets } of await segmentsOf(tree, family)) {
    const words = { zv_array: "link_attribute", name: info.name, offsets, level_delta: 0, ...cellWords(info) };
    const place = `link_attributes/${info.name}/0/${segment}`;
    arrays.set(segment, tree.makeCells(meta.path, place, chunks.vertices.meta, words as JsonObject));
  }
  const whole = given !== undefined && given.ids === undefined;
  for await (const { segment, chunk, count } of linksOf(tree, family, true)) {
    const width = info.channels * sizeOf(info);
    const none = whole ? new Uint8Array(count * width) : takeColumn({ info }, undefined, count, "link");
    arrays.get(segment)!.set(chunk, none);
  }
  const ids = given?.ids && Array.from(given.ids, BigInt);
  if (given !== undefined) await putValues(level, family, arrays, info, ids, undefined, given.values);
}

async function putValues(
  level: LevelEdit,
  family: Family,
  arrays: ReadonlyMap<string, CellsEdit>,
  info: AttributeInfo,
  ids: readonly bigint[] | undefined,
  rows: ArrayLike<number> | undefined,
  values: Column["values"],
): Promise<void> {
  const { tree, meta } = level;
  const dataset = await datasetOf(tree.opened, tree.options);
  const query = { level: meta.level, ...(ids === undefined ? {} : { object: [...ids] }) };
  const links = linksByEnds(
    await dataset.select(query).read({ ...tree.options, attributes: [] }),
    await placesOf(level, ids),
  );
  const chosen = rows === undefined ? undefined : new Map(Array.from(rows, (row, i) => [row, i]));
  const count = chosen?.size ?? links.count;
  for (const row of chosen?.keys() ?? [])
    if (!(Number.isInteger(row) && row >= 0 && row < links.count))
      throw new InvalidInput(`there are ${links.count} links of these objects, and no row ${row}`);
  const bytes = takeColumn(linkTaker(info, arrays.values()), { info: infoOf(info, values), values }, count, "link");
  const width = info.channels * sizeOf(info);
  const set = new Set<number>();
  const seen = new Map<string, number>(); // of links that join the same, how many the chunk has had
  for await (const { segment, chunk, count, given } of linksOf(tree, family, true)) {
    const cells = arrays.get(segment);
    let column: Uint8Array | undefined;
    for (let link = 0; link < count; link++) {
      const key = given(link).map(placeKey).join(" ");
      const own = links.rows.get(key);
      if (own === undefined || cells === undefined) continue;
      const before = seen.get(`${chunk} ${key}`) ?? 0;
      seen.set(`${chunk} ${key}`, before + 1);
      const at = own[before] === undefined ? undefined : chosen === undefined ? own[before] : chosen.get(own[before]);
      if (at === undefined) continue;
      column ??= (await cells.get(chunk))!.slice();
      column.set(bytes.subarray(at * width, (at + 1) * width), link * width);
      set.add(at);
    }
    if (column !== undefined) cells!.set(chunk, column);
  }
  if (set.size < count)
    throw new InvalidInput(
      `of ${count} links, ${count - set.size} follow from the order of vertices and have no ${info.name}`,
    );
}

const placeKey = ({ chunk, entry }: { readonly chunk: string; readonly entry: number }): string => `${chunk}:${entry}`;

/** The places of the vertices of these objects, or of all, by id. */
async function placesOf(level: LevelEdit, ids: readonly bigint[] | undefined): Promise<Map<bigint, string[]>> {
  const found = new Map<bigint, string[]>();
  for (const id of ids ?? level.objects?.ids ?? [])
    found.set(id, (await verticesOf(level, rowOf(level, id))).map(placeKey));
  return found;
}

/** The links of a batch by what they join: "chunk:entry chunk:entry" → their rows. */
function linksByEnds(
  { parts, objects, ids, links }: Batch,
  places: ReadonlyMap<bigint, readonly string[]>,
): { count: number; rows: Map<string, number[]> } {
  const keys: (string | undefined)[] = [];
  const next = new Int32Array(ids.length);
  for (let p = 0; p < objects.length; p++)
    for (let v = parts[p]!; v < parts[p + 1]!; v++) {
      const object = objects[p]!;
      keys[v] = object < 0 ? undefined : places.get(BigInt(ids[object]!))![next[object]!++];
    }
  const rows = new Map<string, number[]>();
  const { ends = [], width = 1 } = links ?? {};
  for (let l = 0; l * width < ends.length; l++) {
    const own = Array.from({ length: width }, (_, k) => keys[ends[l * width + k]!]);
    if (own.includes(undefined))
      throw new InvalidInput("there are links of vertices that belong to no object: name the objects that are meant");
    const key = own.join(" ");
    rows.set(key, [...(rows.get(key) ?? []), l]);
  }
  return { count: ends.length / width, rows };
}

/** Links of a skeleton that follow from the order of its vertices are written down, so that they can have attributes. */
export async function tellLinks(tree: Tree): Promise<void> {
  const level = await editLevel(tree, tree.opened.levels[0]!);
  const { chunks } = level;
  const sequence = await sequenceOf(level);
  if (sequence.kind !== "tree") return;
  const steps: { before: At; after: At }[] = [];
  for (const name of await chunks.vertices.chunks()) {
    const { sizes } = await chunks.read(name);
    let entry = 0;
    for (const size of sizes) {
      for (let i = 1; i < size; i++)
        steps.push({ before: { chunk: name, entry: entry + i - 1 }, after: { chunk: name, entry: entry + i } });
      entry += size;
    }
  }
  await sequence.putSteps(steps.map(({ before, after }) => ({ before, after, was: after })));
  await level.finish();
}
