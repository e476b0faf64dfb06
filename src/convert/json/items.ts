/**
 * Batches as the items that `get` writes as JSON, or as NDJSON one per line. An item is one of these:
 *
 *   a point             { position, attributes }, where a point cloud has no objects
 *   an object           { id, attributes, positions, parts, vertexAttributes, links, linkAttributes, fragments }
 *   what nobody owns    the same without an id: part by part, or batch by batch where links hold the parts together
 *   a link between      { link: { ids, positions, attributes } }, whose ends are in different objects
 *
 * `links` are lists of numbers into `positions`; `parts` (where there are several) and the offsets of `fragments` say where
 * each one begins, and last where all end. What is empty is left out.
 */

import { shortest } from "../../bytes/shortest.js";
import type { Batch, Columns } from "../../model/vectors.js";
import { jsonOf } from "./text.js";
import { rowOf, rowReader } from "./values.js";

/** The items of a batch, each in pieces of text. */
export function* itemsOf(batch: Batch): Generator<Iterable<string>> {
  const { parts, objects, ids, links, objectColumns } = batch;
  const partsOf = Array.from(ids, (): number[] => []);
  const loose: number[] = [];
  const owner = new Int32Array(parts.at(-1) ?? 0).fill(-1); // of each vertex
  for (let part = 0; part < objects.length; part++) {
    const object = objects[part]!;
    (partsOf[object] ?? loose).push(part);
    owner.fill(object, parts[part]!, parts[part + 1]!);
  }
  const linksOf = partsOf.map((): number[] => []);
  const looseLinks: number[] = [];
  const between: number[] = [];
  for (let link = 0; links !== undefined && link < links.ends.length / links.width; link++) {
    const ends = links.ends.subarray(link * links.width, (link + 1) * links.width);
    const object = owner[ends[0]!]!;
    const inside = batch.repeats !== true && ends.every((vertex) => owner[vertex] === object);
    (inside ? (linksOf[object] ?? looseLinks) : between).push(link);
  }

  if (batch.repeats !== true) {
    for (let object = 0; object < ids.length; object++) {
      const head = { id: ids[object]!, ...attributes(objectColumns, object) };
      yield itemText(batch, head, partsOf[object]!, linksOf[object]!);
    }
    if (batch.geometry === "points") for (const part of loose) yield* pointsOf(batch, part);
    else if (looseLinks.length > 0) yield itemText(batch, {}, loose, looseLinks);
    else for (const part of loose) yield itemText(batch, {}, [part], []);
  }
  for (const link of between) yield [linkText(batch, owner, link)];
}

const attributes = (columns: Columns, row: number) => (columns.size === 0 ? {} : { attributes: rowOf(columns, row) });

/** How to read the position of a vertex, in the fewest digits that give it again. */
function positionReader({ positions, dims }: Batch): (vertex: number) => number[] {
  const single = positions instanceof Float32Array;
  return (vertex) =>
    Array.from(positions.subarray(vertex * dims, (vertex + 1) * dims), (at) => (single ? shortest(at) : at));
}

function* pointsOf(batch: Batch, part: number): Generator<Iterable<string>> {
  const position = positionReader(batch);
  for (let vertex = batch.parts[part]!; vertex < batch.parts[part + 1]!; vertex++)
    yield [jsonOf({ position: position(vertex), ...attributes(batch.vertexColumns, vertex) })];
}

function linkText(batch: Batch, owner: Int32Array, link: number): string {
  const { width, ends, columns } = batch.links!;
  const vertices = Array.from(ends.subarray(link * width, (link + 1) * width));
  const ids = vertices.map((vertex) => batch.ids[owner[vertex]!] ?? null);
  return jsonOf({ link: { ids, positions: vertices.map(positionReader(batch)), ...attributes(columns, link) } });
}

function* itemText(batch: Batch, head: object, parts: readonly number[], links: readonly number[]): Generator<string> {
  const vertices: number[] = [];
  const offsets = [0];
  for (const part of parts) {
    for (let vertex = batch.parts[part]!; vertex < batch.parts[part + 1]!; vertex++) vertices.push(vertex);
    offsets.push(vertices.length);
  }
  const start = jsonOf(head).slice(0, -1);
  yield `${start}${start.length > 1 ? "," : ""}"positions":`;
  yield* list(vertices, positionReader(batch));
  if (parts.length > 1) yield `,"parts":${jsonOf(offsets)}`;
  yield* columnLists("vertexAttributes", batch.vertexColumns, vertices);
  if (links.length > 0) {
    const { width, ends, columns } = batch.links!;
    const local = new Map(vertices.map((vertex, i) => [vertex, i]));
    yield ',"links":';
    yield* list(links, (link) => Array.from(ends.subarray(link * width, (link + 1) * width), (end) => local.get(end)!));
    yield* columnLists("linkAttributes", columns, links);
  }
  yield* fragmentsText(batch, parts);
  yield "}";
}

/** The fragments that lie in these parts; those without vertices lie nowhere. */
function* fragmentsText({ parts, fragments }: Batch, wanted: readonly number[]): Generator<string> {
  if (fragments === undefined) return;
  const rows: number[] = [];
  const offsets = [0];
  for (const part of wanted) {
    for (let f = firstAt(fragments.offsets, parts[part]!); fragments.offsets[f]! < parts[part + 1]!; f++) {
      const size = fragments.offsets[f + 1]! - fragments.offsets[f]!;
      if (size === 0) continue;
      rows.push(f);
      offsets.push(offsets.at(-1)! + size);
    }
  }
  if (rows.length === 0) return;
  yield `,"fragments":{"offsets":${jsonOf(offsets)}`;
  yield* columnLists("attributes", fragments.columns, rows);
  yield "}";
}

/** The first of these ascending numbers that is not below a value. */
function firstAt(numbers: Uint32Array, value: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function* columnLists(title: string, columns: Columns, rows: readonly number[]): Generator<string> {
  if (columns.size === 0) return;
  let before = `,${jsonOf(title)}:{`;
  for (const [name, column] of columns) {
    yield `${before}${jsonOf(name)}:`;
    yield* list(rows, rowReader(column));
    before = ",";
  }
  yield "}";
}

function* list(rows: readonly number[], read: (row: number) => unknown): Generator<string> {
  let before = "[";
  for (const row of rows) {
    yield before + jsonOf(read(row));
    before = ",";
  }
  yield rows.length === 0 ? "[]" : "]";
}
