/** Columns that are put together from pieces, and picked apart again. */
import type { NumericArray } from "../codec/types.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Columns } from "../model/vectors.js";

type Values = Column["values"];

/** Values of the same type as these, `count` of them. */
export function roomLike<T extends Values>(values: T, count: number): T {
  if (Array.isArray(values)) return new Array<string>(count).fill("") as unknown as T;
  return new (values.constructor as new (length: number) => NumericArray)(count) as T;
}

/** Columns of a fixed number of rows that are filled piece by piece; a column comes into being with its first piece. */
export class ColumnsBuilder {
  readonly #rows: number;
  readonly #columns = new Map<string, { info: AttributeInfo; values: Values }>();

  constructor(rows: number) {
    this.#rows = rows;
  }

  /** Rows from … from + count of these columns come to row `at`. */
  put(columns: Columns, from: number, count: number, at: number): void {
    for (const [name, { info, values }] of columns) {
      let column = this.#columns.get(name);
      if (column === undefined) {
        column = { info, values: roomLike(values, this.#rows * info.channels) };
        this.#columns.set(name, column);
      }
      const { channels } = info;
      if (Array.isArray(values)) {
        const to = column.values as string[];
        for (let i = 0; i < count * channels; i++) to[at * channels + i] = values[from * channels + i]!;
      } else {
        (column.values as Uint8Array).set(
          (values as Uint8Array).subarray(from * channels, (from + count) * channels),
          at * channels,
        );
      }
    }
  }

  done(): Columns {
    return this.#columns;
  }
}

/** The rows of columns, in the order given. */
export function pickRows(columns: Columns, rows: ArrayLike<number>): Columns {
  const out = new Map<string, Column>();
  for (const [name, { info, values }] of columns) {
    const { channels } = info;
    const picked = roomLike(values, rows.length * channels) as Uint8Array;
    const from = values as Uint8Array;
    for (let i = 0; i < rows.length; i++)
      for (let c = 0; c < channels; c++) picked[i * channels + c] = from[rows[i]! * channels + c]!;
    out.set(name, { info, values: picked });
  }
  return out;
}

/** Every row of a value that stands for "none" in that type. */
export function absentValue({ dtype, absent, categories }: AttributeInfo): number | bigint | string {
  if (absent !== undefined) return absent;
  if (categories !== undefined) return categories.length;
  switch (dtype.kind) {
    case "float":
      return dtype.size === 2 ? 0x7e00 : Number.NaN;
    case "int":
    case "uint":
      return dtype.size === 8 ? 0n : 0;
    case "datetime":
    case "timedelta":
      return -(2n ** 63n);
    case "bool":
      return 0;
    default:
      return "";
  }
}
