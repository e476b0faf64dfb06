/** The values of attributes as JSON and people understand them: names for codes, nothing for what is absent. */
import { halfToNumber } from "../bytes/half.js";
import { shortest } from "../bytes/shortest.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Columns } from "../model/vectors.js";

type Read = (at: number) => unknown;

/** How to read value `at` of a column (row × channels + channel); null is "absent". */
export function reader({ info, values }: Column): Read {
  const { dtype, categories, absent } = info;
  if (categories !== undefined) return (at) => categories[Number(values[at])] ?? null;
  const raw: Read =
    dtype.kind === "bool"
      ? (at) => values[at] !== 0
      : dtype.kind !== "float" || dtype.size === 8
        ? (at) => values[at]
        : dtype.size === 4
          ? (at) => shortest(values[at] as number)
          : (at) => halfToNumber(values[at] as number);
  return (at) => {
    const value = raw(at);
    return value === absent || Number.isNaN(value) ? null : value;
  };
}

/** How to read row `row` of a column: its value, or a list where there are several channels. */
export function rowReader(column: Column): Read {
  const { channels } = column.info;
  const read = reader(column);
  if (channels === 1) return read;
  return (row) => Array.from({ length: channels }, (_, channel) => read(row * channels + channel));
}

/** One row of every column, by name. */
export function rowOf(columns: Columns, row: number): { readonly [name: string]: unknown } {
  return Object.fromEntries([...columns].map(([name, column]) => [name, rowReader(column)(row)]));
}

/** "fa", or "colour.red" for each channel. */
export function channelTitles(name: string, { channels, channelNames }: AttributeInfo): string[] {
  if (channels === 1) return [name];
  return Array.from({ length: channels }, (_, channel) => `${name}.${channelNames?.[channel] ?? channel}`);
}

/** "float32 × 3 (r, g, b), mm: what it is"; texts by number are "text, 4 different". */
export function attributeText(info: Omit<AttributeInfo, "dtype"> & { readonly dtype: string }): string {
  const { dtype, channels, channelNames, unit, description, categories } = info;
  const type = categories === undefined ? dtype : `text, ${categories.length} different`;
  const names = channelNames === undefined ? "" : ` (${channelNames.join(", ")})`;
  const several = channels === 1 && channelNames === undefined ? "" : ` × ${channels}${names}`;
  return `${type}${several}${unit === undefined ? "" : `, ${unit}`}${description === undefined ? "" : `: ${description}`}`;
}

/** The least and the greatest value of a column so far; texts have none. */
export interface Range {
  min: number | bigint;
  max: number | bigint;
}

export function widen(range: Range | undefined, column: Column): Range | undefined {
  if (column.info.categories !== undefined || Array.isArray(column.values)) return range;
  const read = reader(column);
  let found = range;
  for (let at = 0; at < column.values.length; at++) {
    const value = read(at);
    if (typeof value !== "number" && typeof value !== "bigint") continue;
    if (found === undefined) found = { min: value, max: value };
    else if (value < found.min) found.min = value;
    else if (value > found.max) found.max = value;
  }
  return found;
}
