/**
 * `octavo get` of parametric objects, which lie outside of all levels:
 *
 *   json     { geometry, items }, an item { id, type, name, coefficients: { a: 0, … }, attributes, groups }
 *   ndjson   an item on each line
 *   csv      id, type, name, a column for each coefficient that any of them has, then the attributes
 */
import { encodeUtf8 } from "../bytes/text.js";
import { jsonOf } from "../convert/json/text.js";
import { rowOf } from "../convert/json/values.js";
import { NotFound } from "../errors.js";
import type { Parametric } from "../model/vectors.js";
import { channelTitles } from "./columns.js";
import { openSink } from "./sink.js";
import { cell } from "./text.js";
import type { Session } from "./verb.js";

/** What may be asked of them. */
interface Asked {
  readonly object: readonly bigint[] | undefined;
  readonly group: readonly (number | string)[] | undefined;
  readonly limit: number | undefined;
}

/** Their numbers, which are their ids. */
export function chosenOf({ objects, groups }: Parametric, { object, group, limit }: Asked): readonly number[] {
  const strange = object?.find((id) => id < 0n || id >= BigInt(objects.length));
  if (strange !== undefined) throw new NotFound(`there is no parametric object ${strange}`);
  const nowhere = group?.find((number) => groups[number as number] === undefined); // they have no names
  if (nowhere !== undefined) throw new NotFound(`there is no group ${nowhere} of parametric objects`);
  const named = object && new Set(object.map(Number));
  const members = group && new Set(group.flatMap((number) => groups[number as number]!.map(Number)));
  return objects
    .map((_, id) => id)
    .filter((id) => named === undefined || named.has(id))
    .filter((id) => members === undefined || members.has(id))
    .slice(0, limit);
}

export async function writeParametric(
  parametric: Parametric,
  asked: Asked,
  target: { readonly file: string; readonly extension: "json" | "ndjson" | "csv"; readonly overwrite: boolean },
  session: Session,
): Promise<void> {
  const ids = chosenOf(parametric, asked);
  const text = textOf(parametric, ids, target.extension);
  const sink = await openSink(target.file, target.overwrite, session);
  try {
    await sink.write(encodeUtf8(text, "the output"));
    await sink.commit();
  } finally {
    await sink.abort();
  }
}

function textOf(parametric: Parametric, ids: readonly number[], extension: "json" | "ndjson" | "csv"): string {
  if (extension === "csv") return csvOf(parametric, ids);
  const items = ids.map((id) => jsonOf(itemOf(parametric, id)));
  if (extension === "ndjson") return items.map((item) => `${item}\n`).join("");
  return `{"geometry":"parametric","items":[${items.map((item) => `\n${item}`).join(",")}${items.length > 0 ? "\n" : ""}]}\n`;
}

function itemOf({ objects, columns, groups }: Parametric, id: number): object {
  const { type, name, coefficients, coefficientNames } = objects[id]!;
  const memberOf = groups.flatMap((members, group) => (members.includes(BigInt(id)) ? [group] : []));
  return {
    id,
    type,
    ...(name === undefined ? {} : { name }),
    coefficients: Object.fromEntries(coefficientNames.map((title, i) => [title, coefficients[i]])),
    ...(columns.size === 0 ? {} : { attributes: rowOf(columns, id) }),
    ...(memberOf.length === 0 ? {} : { groups: memberOf }),
  };
}

function csvOf({ objects, columns }: Parametric, ids: readonly number[]): string {
  const titles = [...new Set(objects.flatMap(({ coefficientNames }) => coefficientNames))];
  const attributes = [...columns.values()].flatMap(({ info }) => channelTitles(`object.${info.name}`, info));
  const rows = ids.map((id) => {
    const { type, name = "", coefficients, coefficientNames } = objects[id]!;
    const numbers = titles.map((title) => coefficients[coefficientNames.indexOf(title)] ?? null);
    return [id, type, name === "" ? null : name, ...numbers, ...Object.values(rowOf(columns, id)).flat()];
  });
  return [["id", "type", "name", ...titles, ...attributes], ...rows]
    .map((row) => `${row.map((value) => (value === null ? "" : cell(value))).join(",")}\n`)
    .join("");
}
