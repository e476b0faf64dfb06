/** Segment properties in a store: the table, and its columns for some of the ids. */
import type { DataType } from "../../../bytes/dtype.js";
import { NotFound } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { FormatOptions } from "../../../model/format.js";
import type { Columns } from "../../../model/vectors.js";
import { ColumnsBuilder } from "../../../query/columns.js";
import { Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { type Ids, type RowGroups, rowFinder } from "../../rows/row-source.js";
import { numberDtype, readInfo, typeOf } from "../info.js";
import { SegmentProperties, type SegmentProperty } from "./properties.js";

/** The table at a place; NotFound where there is none. */
export async function openSegmentProperties(
  store: Store,
  at: Prefix = Prefix.root,
  options: FormatOptions = {},
): Promise<SegmentProperties> {
  const place = await readInfo(store, at, options);
  if (place === undefined || typeOf(place) !== "neuroglancer_segment_properties")
    throw new NotFound(
      `${store.url}/${at}info should be the info of segment properties, but it is not there, or another`,
    );
  return SegmentProperties.parse(place.info, place.where);
}

const TEXT: DataType = { kind: "string" };

/** What each property is, as an attribute; tags are groups. */
export const propertyInfos = ({ properties }: SegmentProperties): AttributeInfo[] =>
  properties.filter(({ type }) => type !== "tags").map(infoOf);

/** Tags as groups of these ids: who has each, by its name. */
export function groupsFor({ ids: known, properties }: SegmentProperties, ids: Ids): RowGroups | undefined {
  const own = properties.find((property) => property.type === "tags");
  if (own?.type !== "tags") return undefined;
  const rowOf = rowFinder(ids);
  const members = own.tags.map((): number[] => []);
  for (const [i, tags] of own.values.entries()) {
    const row = rowOf(known[i]!);
    if (row >= 0) for (const tag of tags) members[tag]!.push(row);
  }
  const texts = (name: string, values: readonly string[]): [string, Column] => [
    name,
    { info: { name, dtype: TEXT, channels: 1 }, values },
  ];
  const { tagDescriptions } = own;
  return {
    members: members.map((rows) => Uint32Array.from(rows).sort()),
    columns: new Map([
      texts("name", own.tags),
      ...(tagDescriptions === undefined ? [] : [texts("description", tagDescriptions)]),
    ]),
  };
}

const infoOf = (own: SegmentProperty): AttributeInfo => ({
  name: own.id,
  dtype: own.type === "number" ? numberDtype(own.dataType) : TEXT,
  channels: 1,
  ...(own.description !== undefined && { description: own.description }),
});

/** All values of a property; tags as one text, with a space between them. */
export const columnOf = (own: SegmentProperty): Column => ({
  info: infoOf(own),
  values: own.type === "tags" ? own.values.map((row) => row.map((tag) => own.tags[tag]!).join(" ")) : own.values,
});

/** The values of some ids; an id that the table does not have has none. */
export function columnsFor(table: SegmentProperties, names: readonly string[], ids: Ids): Columns {
  const rows = Int32Array.from(ids, rowFinder(table.ids));
  const order = Uint32Array.from(ids, (_, i) => i).filter((i) => rows[i]! >= 0);
  const wanted = table.properties.filter(({ id }) => names.includes(id));
  const builder = new ColumnsBuilder(ids.length);
  const runs = { order, first: 0, last: order.length, from: Uint32Array.from(rows), offsets: undefined };
  builder.scatter(new Map(wanted.map((own) => [own.id, columnOf(own)])), runs, order.length);
  return builder.done();
}
