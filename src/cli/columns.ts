/** Attributes in words, and the ranges of their values. */
import { reader } from "../convert/json/values.js";
import type { AttributeInfo, Column } from "../model/attributes.js";

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
