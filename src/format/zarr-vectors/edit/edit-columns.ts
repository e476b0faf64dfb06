/** Values of attributes on their way into a store that has them: of the same type, or texts for a dictionary that is there. */
import type { Json, JsonObject } from "../../../bytes/json.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Columns } from "../../../model/vectors.js";
import { absentValue } from "../../../query/columns.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { attributeInfo, sentinelOf } from "../read/schema.js";
import { described, dtypeName } from "../write/write-columns.js";
import type { CellsEdit } from "./edit-cells.js";
import { sizeOf } from "./edit-chunks.js";
import type { RowsEdit } from "./edit-rows.js";

/** What takes the values of an attribute, whatever it is attached to. */
export interface Taker {
  readonly info: AttributeInfo;
  /** Of a cell attribute, whose document has the dictionary. */
  readonly cells?: Pick<CellsEdit, "attributes" | "describe"> | undefined;
}

/** Values come without a description: they are taken for the attribute's own. */
export const infoOf = (info: AttributeInfo, values: Column["values"]): AttributeInfo =>
  Array.isArray(values) ? { ...info, categories: undefined } : info;

/** The bytes of some rows; without a column, the value that stands for none. */
export function takeColumn({ info, cells }: Taker, column: Column | undefined, rows: number, what: string): Uint8Array {
  if (column === undefined) return absentRows(info, rows, what);
  const { values } = column;
  if (values.length !== rows * info.channels)
    throw new InvalidInput(
      `the ${what} attribute ${info.name} should have ${rows} rows of ${info.channels}, found ${values.length} values`,
    );
  const texts = Array.isArray(values)
    ? (values as readonly string[])
    : column.info.categories && info.categories !== column.info.categories
      ? textsOf(column)
      : undefined;
  if (info.categories !== undefined && texts !== undefined) return codesOf(info, cells, texts, what);
  if (texts !== undefined) return AttributeCell.encode({ info, values: texts as string[] });
  if (dtypeName(column.info.dtype) !== dtypeName(info.dtype))
    throw new InvalidInput(
      `the ${what} attribute ${info.name} should be ${dtypeName(info.dtype)}, found ${dtypeName(column.info.dtype)}`,
    );
  return AttributeCell.encode({ info, values });
}

/** What a table says of its attribute; texts that are longer than those that are there make room for themselves. */
export function tableInfo(
  name: string,
  table: RowsEdit,
  values: Column["values"] | undefined,
  what: string,
): AttributeInfo {
  const { attributes, dtype, shape } = table.meta;
  const longest = Array.isArray(values) ? Math.max(0, ...values.map((text) => 4 * [...String(text)].length)) : 0;
  if (dtype.kind === "utf32" && longest > dtype.size) {
    table.widen(longest);
    if (attributes.dtype !== undefined) table.describe({ ...attributes, dtype: dtypeName(table.meta.dtype) });
  }
  return attributeInfo(name, { ...table.meta.attributes, shape: [...shape] }, `${what}_attributes/${name}`);
}

/** Columns that the store does not have are refused. */
export function refuseOthers(columns: Columns, known: readonly string[], what: string): void {
  for (const name of columns.keys())
    if (!known.includes(name))
      throw new InvalidInput(`the store has no ${what} attribute ${name}; it has ${known.join(", ") || "none"}`, {
        hint: "Add it first: addAttribute.",
      });
}

function absentRows(info: AttributeInfo, rows: number, what: string): Uint8Array {
  const none = info.categories === undefined ? sentinelOf(info.dtype) : info.absent;
  if (none === undefined && rows > 0)
    throw new InvalidInput(
      `the ${what} attribute ${info.name} needs values: ${info.categories === undefined ? dtypeName(info.dtype) : "its dictionary"} has nothing that stands for none`,
    );
  const value = absentValue({ ...info, ...(typeof none === "string" ? { absent: undefined } : {}) });
  const one = AttributeCell.encode({ info: { ...info, channels: 1 }, values: oneOf(info, value) });
  const out = new Uint8Array(rows * info.channels * sizeOf(info));
  for (let at = 0; at < out.length; at += one.length) out.set(one, at);
  return out;
}

function oneOf({ dtype }: AttributeInfo, value: number | bigint | string): Column["values"] {
  if (typeof value === "string") return [value];
  const size = "size" in dtype ? dtype.size : 8;
  if (dtype.kind === "float")
    return size === 2
      ? Uint16Array.of(Number(value))
      : size === 4
        ? Float32Array.of(Number(value))
        : Float64Array.of(Number(value));
  if (size === 8) return dtype.kind === "uint" ? BigUint64Array.of(BigInt(value)) : BigInt64Array.of(BigInt(value));
  const Type =
    dtype.kind === "int"
      ? { 1: Int8Array, 2: Int16Array, 4: Int32Array }
      : { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
  return Type[size as 1 | 2 | 4].of(Number(value));
}

const textsOf = ({ info, values }: Column): (string | undefined)[] =>
  Array.from(values as ArrayLike<number>, (code) => info.categories![Number(code)]);

/** Texts that the dictionary does not have yet come to its end: the codes that are there stay true. */
function codesOf(
  info: AttributeInfo,
  cells: Taker["cells"],
  texts: readonly (string | undefined)[],
  what: string,
): Uint8Array {
  const known = (cells?.attributes.categories as readonly string[] | undefined) ?? info.categories!;
  const codes = new Map(known.map((text, code) => [text, code]));
  const found = texts.map((text) => {
    if (text === undefined) {
      if (info.absent === undefined)
        throw new InvalidInput(`the ${what} attribute ${info.name} needs a text in every row`);
      return Number(info.absent);
    }
    const code = codes.get(text) ?? codes.size;
    codes.set(text, code);
    return code;
  });
  const size = sizeOf(info);
  const most = 2 ** (8 * size - (info.dtype.kind === "int" ? 1 : 0)) - 1;
  if (codes.size > most)
    throw new InvalidInput(
      `the dictionary of the ${what} attribute ${info.name} has room for ${most} texts, found ${codes.size}`,
    );
  if (codes.size > known.length) cells!.describe({ ...cells!.attributes, categories: [...codes.keys()] });
  const Type =
    info.dtype.kind === "int"
      ? { 1: Int8Array, 2: Int16Array, 4: Int32Array }
      : { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
  return AttributeCell.encode({ info, values: new Type[size as 1 | 2 | 4](found) });
}

/** What the document of a per-chunk array says of an attribute. */
export const cellWords = (info: AttributeInfo): JsonObject => ({
  dtype: dtypeName(info.dtype),
  ...described(info),
  ...(info.categories === undefined
    ? {}
    : {
        encoding: "dictionary",
        categories: info.categories,
        ordered: false,
        ...(info.absent === undefined ? {} : { _FillValue: info.absent as Json }),
      }),
});
