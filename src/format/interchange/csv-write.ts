/** Tables as text: a header, then a line for each row; tabs in .tsv, and .xyz has blanks and no header, as those who read it expect. */
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { listsOf, tableRows } from "./table-write.js";
import { textSink } from "./text-write.js";
import type { FileFormat } from "./types.js";

/** What stands between cells, and whether the first line has names. */
export interface TextStyle {
  readonly separator: "," | "\t" | " ";
  readonly header: boolean;
}

export const csvWriter = ({ separator, header }: TextStyle): NonNullable<FileFormat["write"]> =>
  async function writeCsv(sink, data, options) {
    const table = await tableRows(data, options);
    const { losses } = table;
    const axes = data.axes.map(({ name }) => name);
    // Without a header a column is known by its place: coordinates come first.
    const order = header ? table.columns.map((_, i) => i) : placesFirst(table.columns, axes);
    const isList = (i: number): boolean => table.lists.has(table.columns[i]!.name);
    const titles = order.flatMap((i) => (isList(i) ? [table.columns[i]!.name] : channelTitles(table.columns[i]!)));
    if (!header && titles.length > axes.length)
      losses.push(`the names of columns: ${titles.slice(axes.length).join(", ")}`);
    for (const { name, channels } of table.columns)
      if (channels > 1 && !table.lists.has(name))
        losses.push(`that the ${channels} numbers of ${name} are one value: they are columns of their own`);
    const quoted = new RegExp(`["\\r\\n${separator}]|^\\s|\\s$${separator === " " ? "|^$" : ""}`);
    const out = textSink(sink);
    if (header) await out.write(`${titles.map((title) => cell(title, quoted)).join(separator)}\n`);
    for await (const { count, columns } of table.rows()) {
      const cells = order.flatMap((i) =>
        isList(i) ? [listCells(columns[i]!, quoted)] : cellsOf(columns[i]!, quoted, separator === " " ? "nan" : ""),
      );
      for (let row = 0; row < count; row++) {
        let line = cells[0]!(row);
        for (let i = 1; i < cells.length; i++) line += separator + cells[i]!(row);
        const wait = out.write(`${line}\n`);
        if (wait !== undefined) await wait;
      }
      options.signal?.throwIfAborted();
    }
    await out.end();
    return { ...table.counts(), losses };
  };

function placesFirst(columns: readonly AttributeInfo[], axes: readonly string[]): number[] {
  const all = columns.map((_, i) => i);
  const isPlace = (i: number): boolean => axes.includes(columns[i]!.name);
  return [...all.filter(isPlace), ...all.filter((i) => !isPlace(i))];
}

/** "fa", or "colour.red" for each channel. */
const channelTitles = ({ name, channels, channelNames }: AttributeInfo): string[] =>
  channels === 1
    ? [name]
    : Array.from({ length: channels }, (_, channel) => `${name}.${channelNames?.[channel] ?? channel}`);

const cell = (text: string, quoted: RegExp): string => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** How to write a row of each channel; what is absent is `none`. */
function cellsOf({ info, values }: Column, quoted: RegExp, none: string): ((row: number) => string)[] {
  const { dtype, channels, absent } = info;
  const one = ((): ((at: number) => string) => {
    switch (dtype.kind) {
      case "bool":
        return (at) => (values[at] ? "true" : "false");
      case "string":
        return (at) => cell(values[at] as string, quoted);
      case "float": // all digits: who reads a table takes its numbers for doubles
        return (at) => number(values[at] as number, none);
      default:
        return (at) => (values[at] === absent ? none : String(values[at]));
    }
  })();
  return Array.from({ length: channels }, (_, channel) => (row) => one(row * channels + channel));
}

/** "[1, 2, 3]", and "[]" for none. */
function listCells(column: Column, quoted: RegExp): (row: number) => string {
  const lists = listsOf<unknown>(column, column.values);
  return (row) => cell(`[${lists[row]!.join(", ")}]`, quoted);
}

function number(value: number, none: string): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  // Beyond 2^53 the shortest digits are another whole number.
  const isWhole = Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21;
  const text = String(isWhole ? BigInt(value) : value);
  if (text === "NaN") return none;
  return value === Number.POSITIVE_INFINITY ? "inf" : value === Number.NEGATIVE_INFINITY ? "-inf" : text;
}
