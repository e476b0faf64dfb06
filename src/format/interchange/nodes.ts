/** What files of graphs have in common: nodes that are named, whatever their order, and keep their names as an attribute. */
import type { Column } from "../../model/attributes.js";
import { column } from "./surface.js";

/** The attribute that has the names: of whole numbers these, else texts. */
export const NAMES = { numbers: "node_id", texts: "node" } as const;

export function nameColumn(names: readonly string[]): Column {
  const small = names.every((name) => /^(0|-?[1-9]\d{0,8})$/.test(name));
  return small ? column(NAMES.numbers, Int32Array.from(names, Number)) : column(NAMES.texts, [...names]);
}

/** The names of vertices, from `first` on where they have none; only where each is there once. */
export function namesOf(columns: ReadonlyMap<string, Column>, count: number, first: number): (row: number) => string {
  const { info, values } = columns.get(NAMES.texts) ?? columns.get(NAMES.numbers) ?? {};
  if (values === undefined || new Set<unknown>(values as Iterable<unknown>).size !== count)
    return (row) => `${first + row}`;
  return (row) => info?.categories?.[Number(values[row])] ?? `${values[row]}`;
}
