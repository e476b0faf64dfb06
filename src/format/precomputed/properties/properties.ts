/**
 * Segment properties: a table with a row for each id, all of it inside the `info`.
 *
 * | member of `inline` | holds                                                                                       |
 * |--------------------|---------------------------------------------------------------------------------------------|
 * | `ids`              | ids in decimal, as texts                                                                    |
 * | `properties`       | `{id, type, description?, values, …}` each, `values` one for each id                        |
 *
 * | `type`                         | `values`                             | besides                                  |
 * |--------------------------------|--------------------------------------|------------------------------------------|
 * | label, description (one each)  | texts                                |                                          |
 * | string                         | texts                                |                                          |
 * | tags (one)                     | ascending places in `tags`, per id   | `tags`, `tag_descriptions?`              |
 * | number                         | numbers                              | `data_type`: float32, (u)int8, 16, 32    |
 */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { shortest } from "../../../bytes/shortest.js";
import { U64 } from "../../../bytes/u64.js";
import type { NumericArray } from "../../../codec/types.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { typed } from "../../../model/elements.js";
import { asList, asObject, asString, wrong } from "../../zarr/document.js";
import { asOptionalList, asWord, NUMBER_TYPES, type NumberType, numberDtype } from "../info.js";

const TYPES = ["label", "description", "string", "tags", "number"] as const;

/** One column of the table. */
export type SegmentProperty = { readonly id: string; readonly description?: string | undefined } & (
  | { readonly type: "label" | "description" | "string"; readonly values: readonly string[] }
  | {
      readonly type: "tags";
      readonly tags: readonly string[];
      readonly tagDescriptions?: readonly string[] | undefined;
      /** For each id the places of its tags in `tags`, ascending. */
      readonly values: readonly (readonly number[])[];
    }
  | { readonly type: "number"; readonly dataType: NumberType; readonly values: NumericArray }
);

/** A table with a row for each id. */
export interface SegmentProperties {
  readonly ids: BigUint64Array;
  readonly properties: readonly SegmentProperty[];
}

/** From the document, and to it. */
export const SegmentProperties = {
  /** Corrupt where the document is none; `where` names it. */
  parse(info: JsonObject, where: string): SegmentProperties {
    // Without `inline` there is nothing: no other form was ever defined.
    const inline = info.inline === undefined ? {} : asObject(info.inline, "an object as inline", where);
    const ids = BigUint64Array.from(asOptionalList(inline.ids, "a list as inline.ids", where), (id) =>
      U64.parse(asString(id, "texts in inline.ids", where), `each of inline.ids of ${where}`),
    );
    const listed = asOptionalList(inline.properties, "a list as inline.properties", where);
    const table = { ids, properties: listed.map((entry) => parseProperty(entry, ids.length, where)) };
    const problem = problemOf(table);
    if (problem !== undefined) throw new Corrupt(`${where} ${problem}`, { where });
    return table;
  },

  /** InvalidInput where the table cannot be one. */
  format(table: SegmentProperties): JsonObject {
    const problem = problemOf(table);
    if (problem !== undefined) throw new InvalidInput(`the table of segment properties ${problem}`);
    return {
      "@type": "neuroglancer_segment_properties",
      inline: { ids: Array.from(table.ids, String), properties: table.properties.map(formatProperty) },
    };
  },
};

/** What no table may have, as the end of a sentence; values are looked at where they are parsed. */
function problemOf({ ids, properties }: SegmentProperties): string | undefined {
  if (new Set(properties.map(({ id }) => id)).size < properties.length) return "has two properties of one name";
  for (const type of ["label", "description", "tags"])
    if (properties.filter((own) => own.type === type).length > 1) return `has more than one property of type ${type}`;
  for (const own of properties) {
    if (own.values.length !== ids.length) return `has ${own.values.length} values of ${own.id} for ${ids.length} ids`;
    if (own.type !== "tags") continue;
    const { tags, tagDescriptions, values } = own;
    if (tagDescriptions !== undefined && tagDescriptions.length !== tags.length)
      return `has ${tagDescriptions.length} descriptions of ${tags.length} tags`;
    for (const row of values)
      for (let i = 0; i < row.length; i++)
        if (!(Number.isInteger(row[i]) && row[i]! > (row[i - 1] ?? -1) && row[i]! < tags.length))
          return `has the tags [${row.slice(0, 8)}] of ${own.id}, which should be ascending places among ${tags.length}`;
  }
  return undefined;
}

function parseProperty(entry: Json, count: number, where: string): SegmentProperty {
  const own = asObject(entry, "objects in inline.properties", where);
  const id = asString(own.id, "an id in each of inline.properties", where);
  const texts = (value: Json | undefined, what: string): string[] =>
    asList(value, what, where).map((text) => asString(text, `texts in the values of ${id}`, where));
  const common = {
    id,
    ...(own.description !== undefined && { description: asString(own.description, `a text about ${id}`, where) }),
  };
  const type = asWord(own.type, TYPES, `a type of ${id}`, where);
  if (type === "number") {
    const dataType = asWord(own.data_type, NUMBER_TYPES, `a data_type of ${id}`, where);
    return { ...common, type, dataType, values: parseNumbers(own.values, dataType, id, where) };
  }
  if (type !== "tags") return { ...common, type, values: texts(own.values, `a list of ${count} values of ${id}`) };
  return {
    ...common,
    type,
    tags: texts(own.tags, "a list of tags"),
    ...(own.tag_descriptions !== undefined && {
      tagDescriptions: texts(own.tag_descriptions, "a list of tag_descriptions"),
    }),
    values: asList(own.values, `a list of ${count} values of ${id}`, where).map((row) =>
      asList(row, `lists of places as values of ${id}`, where).map((place) => {
        if (typeof place !== "number") throw wrong(where, `places of tags as values of ${id}`, place);
        return place;
      }),
    ),
  };
}

function parseNumbers(value: Json | undefined, type: NumberType, id: string, where: string): NumericArray {
  const list = asList(value, `a list of values of ${id}`, where);
  const dtype = numberDtype(type);
  const values = typed({ shape: [list.length], dtype, data: new Uint8Array(list.length * dtype.size) });
  for (let i = 0; i < list.length; i++) {
    const number = list[i];
    if (typeof number !== "number") throw wrong(where, `numbers as values of ${id}`, number);
    values[i] = number;
    // A float is rounded to its type; an integer that does not fit would come out as another.
    if (type !== "float32" && values[i] !== number) throw wrong(where, `values of ${id} that are ${type}`, number);
  }
  return values;
}

function formatProperty(own: SegmentProperty): JsonObject {
  const common = { id: own.id, type: own.type, ...(own.description !== undefined && { description: own.description }) };
  switch (own.type) {
    case "number": {
      const like = typed({ shape: [0], dtype: numberDtype(own.dataType), data: new Uint8Array() });
      if (own.values.constructor !== like.constructor)
        throw new InvalidInput(
          `the values of ${own.id} should be a ${like.constructor.name}, found a ${own.values.constructor.name}`,
        );
      return {
        ...common,
        data_type: own.dataType,
        values: Array.from(own.values as Float32Array, (value) =>
          own.dataType === "float32" ? shortest(value) : value,
        ),
      };
    }
    case "tags": {
      const { tags, tagDescriptions, values } = own;
      const described = tagDescriptions && { tag_descriptions: [...tagDescriptions] };
      return { ...common, tags: [...tags], ...described, values: values.map((row) => [...row]) };
    }
    default:
      return { ...common, values: [...own.values] };
  }
}
