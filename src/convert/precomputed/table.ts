/**
 * Attributes of objects and their groups as segment properties.
 *
 * | attribute                                 | property                                                                   |
 * |-------------------------------------------|----------------------------------------------------------------------------|
 * | texts called label or name                | label, the first of them; shown beside the id                              |
 * | texts called description                  | description                                                                |
 * | other texts, names, integers beyond 32 bits, floats of which some are no numbers | string                             |
 * | numbers                                   | number; one for each channel                                               |
 * | groups                                    | tags                                                                       |
 */
import type { NumericArray } from "../../codec/types.js";
import type { SegmentProperties, SegmentProperty } from "../../format/precomputed/properties/properties.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { ObjectSource } from "../../model/source.js";
import type { VectorDataset } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import { type Field, fieldsOf, numbersOf, typeFor } from "./numbers.js";

/** The table of these objects; undefined where there is nothing to say about them. */
export async function tableOf(
  source: VectorDataset,
  objects: ObjectSource,
  /** The id in the table of each object's id. */
  idOf: (id: bigint) => bigint,
  infos: readonly AttributeInfo[],
  lose: (sentence: string) => void,
  options: ReadOptions,
): Promise<SegmentProperties | undefined> {
  const all = Uint32Array.from({ length: objects.rows }, (_, row) => row);
  const { offsets } = await objects.place(all, options);
  const rows = all.filter((_, i) => offsets[i] !== offsets[i + 1]); // others have no geometry
  const own = await objects.ids(rows, options);
  const names = infos.map(({ name }) => name);
  const columns = names.length === 0 ? new Map() : await objects.columns(names, rows, options);
  const properties: SegmentProperty[] = [];
  const taken = new Set<string>();
  const has = (type: string): boolean => properties.some((known) => known.type === type);
  for (const info of infos) {
    const column: Column | undefined = columns.get(info.name);
    if (column === undefined) continue;
    const about = info.description === undefined ? {} : { description: info.description };
    const texts = textsOf(column);
    if (texts === undefined) {
      for (const field of fieldsOf([info], "object", { clean: (name) => name, widthOf: () => 1 }, lose, { taken }))
        properties.push({ ...numberProperty(column, field, lose), ...about });
      continue;
    }
    if (info.channels !== 1) {
      lose(`the object attribute ${info.name}, of ${info.channels} texts each`);
      continue;
    }
    const type = /^(label|name)$/i.test(info.name)
      ? "label"
      : /^description$/i.test(info.name)
        ? "description"
        : "string";
    taken.add(info.name);
    properties.push({ id: info.name, type: has(type) ? "string" : type, values: texts, ...about });
  }
  const tags = await tagsOf(source, own, lose, options);
  if (tags !== undefined) properties.push({ id: taken.has("tags") ? "groups" : "tags", ...tags });
  return properties.length === 0 ? undefined : { ids: BigUint64Array.from(own, idOf), properties };
}

/** The values as texts, where they are that. */
function textsOf({ info, values }: Column): string[] | undefined {
  if (info.categories !== undefined)
    return Array.from(values as ArrayLike<number>, (code) => info.categories![Number(code)] ?? "");
  if (Array.isArray(values)) return [...(values as readonly string[])];
  return typeFor(info.dtype) === undefined ? Array.from(values as ArrayLike<unknown>, String) : undefined;
}

function numberProperty(column: Column, field: Field, lose: (sentence: string) => void): SegmentProperty {
  const { values, changed } = numbersOf(column, field);
  const { id, type: dataType, info } = field;
  const isFloat = dataType === "float32";
  const odd = isFloat && !(values as Float32Array).every(Number.isFinite);
  if (odd || (changed > 0 && !isFloat)) {
    lose(
      `that ${id} of objects are numbers: ${odd ? "JSON has none that are NaN or infinite" : "the format has none of 64 bits"}, so they are texts`,
    );
    return { id, type: "string", values: exact(widened(column), field) };
  }
  if (changed > 0) lose(`${changed} values of ${info.name} of objects, rounded to float32`);
  return { id, type: "number", dataType, values };
}

/** Absent numbers are the empty text. */
function exact({ info, values }: Column, { first }: Field): string[] {
  const own = values as NumericArray;
  return Array.from({ length: own.length / info.channels }, (_, row) => {
    const value = own[row * info.channels + first]!;
    return typeof value === "number" && Number.isNaN(value) ? "" : String(value);
  });
}

const MOST_TAGS = 2 ** 16; // Neuroglancer keeps the place of a tag in 16 bits

async function tagsOf(
  source: VectorDataset,
  ids: BigInt64Array | BigUint64Array,
  lose: (sentence: string) => void,
  options: ReadOptions,
): Promise<Omit<Extract<SegmentProperty, { type: "tags" }>, "id"> | undefined> {
  const groups = await source.groups(0, options);
  if (groups.length === 0) return undefined;
  if (groups.length > MOST_TAGS) {
    lose(`its ${groups.length} groups: there are at most ${MOST_TAGS} tags`);
    return undefined;
  }
  const columns = await source.groupColumns(0, options);
  const named = [...columns].find(([name, column]) => /^(name|label)$/i.test(name) && textsOf(column) !== undefined);
  const texts = named && textsOf(named[1]);
  const lost = [...columns.keys()].filter((name) => name !== named?.[0]);
  if (lost.length > 0) lose(`the attributes ${lost.join(", ")} of groups`);
  const seen = new Set<string>();
  const tags = groups.map(({ group }, i) => {
    // A tag is searched for as #tag, up to the next space.
    let tag = (texts?.[i] ?? "").trim().replace(/\s+/g, "_").replace(/^#+/, "") || `group_${group}`;
    while (seen.has(tag)) tag += "_";
    seen.add(tag);
    if (texts !== undefined && texts[i] !== tag) lose(`the name ${texts[i]} of a group: its tag is ${tag}`);
    return tag;
  });
  const rowOf = new Map(Array.from(ids as BigInt64Array, (id, row) => [id, row]));
  const values: number[][] = Array.from(ids as BigInt64Array, () => []);
  for (const [tag, { group }] of groups.entries())
    for (const id of await source.groupMembers(group, 0, options)) {
      const own = values[rowOf.get(id) ?? -1];
      if (own !== undefined && own.at(-1) !== tag) own.push(tag);
    }
  return { type: "tags", tags, values };
}
