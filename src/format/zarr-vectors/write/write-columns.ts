/**
 * The attributes of vertices and links on their way into cells: the first batch, or the description, says what they are, and
 * every other batch must agree. Texts become numbers as they come, and a dictionary in the end, as the reference has them.
 */
import { type DataType, isFixed } from "../../../bytes/dtype.js";
import type { JsonObject } from "../../../bytes/json.js";
import { compareCodePoints } from "../../../bytes/json-write.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Columns } from "../../../model/vectors.js";
import { formatNumpyDtype } from "../../zarr/dtype-numpy.js";
import { AttributeCell } from "../payload/attribute-cell.js";

/** One attribute, from columns of batches to cells. */
export interface Intake {
  readonly info: AttributeInfo;
  /** Bytes of a row before `cell`. */
  readonly width: number;
  /** The rows of a batch. */
  take(column: Column): Uint8Array;
  /** What the array's document says of it; when everything has been taken. */
  attributes(): JsonObject;
  /** The rows of a cell as they are stored; when everything has been taken. */
  cell(rows: Uint8Array): Uint8Array;
}

/** numpy's name of a type: "float32", or its code where it has no name. */
export function dtypeName(dtype: DataType): string {
  switch (dtype.kind) {
    case "bool":
      return "bool";
    case "int":
    case "uint":
    case "float":
    case "complex":
      return `${dtype.kind}${8 * dtype.size}`;
    default:
      return `${formatNumpyDtype(dtype)}`;
  }
}

/** The intakes of the attributes that are declared, or that a first batch has. */
export function intakes(declared: readonly AttributeInfo[] | undefined, first: Columns): Intake[] {
  const infos = declared ?? [...first.values()].map(({ info }) => info);
  return infos.map((info) => (isText(info, first) ? textIntake(info) : numberIntake(info)));
}

const isText = ({ name, dtype }: AttributeInfo, first: Columns): boolean => {
  const values = first.get(name)?.values;
  return values === undefined ? !isFixed(dtype) || dtype.kind === "utf32" : Array.isArray(values);
};

/** The rows of every attribute, in the order of the intakes. What is missing or has no place is refused. */
export function takeColumns(taken: readonly Intake[], columns: Columns, rows: number, what: string): Uint8Array[] {
  for (const name of columns.keys())
    if (!taken.some(({ info }) => info.name === name))
      throw new InvalidInput(
        `a batch has the ${what} attribute ${name}, which the store has not: name it in attributes`,
      );
  return taken.map((intake) => {
    const column = columns.get(intake.info.name);
    if (column === undefined && rows === 0) return new Uint8Array(); // objects without vertices
    if (column === undefined)
      throw new InvalidInput(`a batch of ${rows} rows should have the ${what} attribute ${intake.info.name}`);
    const found = column.values.length / column.info.channels;
    if (found !== rows)
      throw new InvalidInput(`the ${what} attribute ${intake.info.name} should have ${rows} rows, found ${found}`);
    return intake.take(column);
  });
}

/** Refuses a column that is not what the attribute was declared to be. */
export function checkSame(info: AttributeInfo, { info: own }: Column): void {
  const shown = ({ dtype, channels, categories }: AttributeInfo): string =>
    `${dtypeName(dtype)} × ${channels}${categories === undefined ? "" : ` of ${JSON.stringify(categories).slice(0, 200)}`}`;
  if (own === info) return;
  const same = own.channels === info.channels && `${own.categories}` === `${info.categories}`;
  if (!same || dtypeName(own.dtype) !== dtypeName(info.dtype))
    throw new InvalidInput(`the attribute ${info.name} should be ${shown(info)}, found ${shown(own)}`);
}

/** What every document of an attribute says, its type apart. */
export const described = ({ channels, channelNames, unit, description }: AttributeInfo): JsonObject => ({
  row_shape: channels === 1 ? [] : [channels],
  ...(channelNames !== undefined
    ? { channel_names: channelNames }
    : channels === 1
      ? {}
      : { channel_names: Array.from({ length: channels }, (_, c) => `ch${c}`) }),
  ...(unit === undefined ? {} : { unit }),
  ...(description === undefined ? {} : { description }),
});

const dictionary = (categories: readonly string[], absent: AttributeInfo["absent"]): JsonObject => ({
  encoding: "dictionary",
  categories,
  ordered: false,
  ...(absent === undefined ? {} : { _FillValue: absent }),
});

function numberIntake(info: AttributeInfo): Intake {
  if (!isFixed(info.dtype)) throw new InvalidInput(`the attribute ${info.name} should have texts, found others`);
  return {
    info,
    width: info.channels * info.dtype.size,
    take(column) {
      checkSame(info, column);
      return AttributeCell.encode(column);
    },
    attributes: () => ({
      dtype: dtypeName(info.dtype),
      ...described(info),
      ...(info.categories === undefined ? {} : dictionary(info.categories, info.absent)),
    }),
    cell: (rows) => rows,
  };
}

function textIntake(info: AttributeInfo): Intake {
  const codes = new Map<string, number>();
  let final:
    | { readonly categories: readonly string[]; readonly size: 1 | 2 | 4; readonly codes: Uint32Array }
    | undefined;
  const finish = () => {
    const categories = [...codes.keys()].sort(compareCodePoints);
    const places = new Uint32Array(codes.size);
    for (const [place, text] of categories.entries()) places[codes.get(text)!] = place;
    // The reference's rule: the largest number of a type is not used for a code.
    const size = ([1, 2] as const).find((size) => categories.length <= 2 ** (8 * size) - 1) ?? 4;
    final = { categories, size, codes: places };
    return final;
  };
  return {
    info,
    width: 4 * info.channels,
    take({ values, info: own }) {
      if (!Array.isArray(values) || own.channels !== info.channels)
        throw new InvalidInput(`the attribute ${info.name} should have ${info.channels} texts per row, found others`);
      const out = new Uint32Array(values.length);
      for (let i = 0; i < values.length; i++) {
        let code = codes.get(values[i]!);
        if (code === undefined) {
          code = codes.size;
          codes.set(values[i]!, code);
        }
        out[i] = code;
      }
      return bytesOf(out);
    },
    attributes() {
      const { categories, size } = final ?? finish();
      return { dtype: `uint${8 * size}`, ...described(info), ...dictionary(categories, undefined) };
    },
    cell(rows) {
      const { size, codes: places } = final ?? finish();
      const from = new Uint32Array(rows.buffer, rows.byteOffset, rows.length / 4);
      const out = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[size](from.length);
      for (let i = 0; i < from.length; i++) out[i] = places[from[i]!]!;
      return bytesOf(out);
    },
  };
}
