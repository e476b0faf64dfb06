/** The values of attributes as JSON and people understand them: names for codes, nothing for what is absent. */
import { halfToNumber } from "../../bytes/half.js";
import { shortest } from "../../bytes/shortest.js";
import type { Column } from "../../model/attributes.js";
import type { Columns } from "../../model/vectors.js";

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
