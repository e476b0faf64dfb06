/**
 * The columns of a Parquet file: which of them are columns of values, and what these are. Groups of rows are read one at a time, and of those
 * only the columns that are wanted.
 *
 * A column that may have empty cells is wider where that needs a value of its own: small integers become int64; text without a value is "".
 * So are lists of different lengths (0 channels here): how long the longest is, nothing but all of them says.
 */
import type { FileMetaData, RowGroup, SchemaElement, SchemaTree } from "hyparquet";
import type { DataType, FixedDataType } from "../../bytes/dtype.js";
import { I64, U64 } from "../../bytes/u64.js";
import { Corrupt } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { leftOut } from "./table-roles.js";
import { valuesOf } from "./table-types.js";

export interface ParquetColumn {
  readonly info: AttributeInfo;
  readonly isList: boolean;
  readonly nullable: boolean;
  /** Lists may be shorter than `channels`, or not there. */
  readonly ragged?: boolean;
}

/** The columns that are columns of values, and sentences about the others. */
export function columnsOf(tree: SchemaTree, metadata: FileMetaData): { columns: ParquetColumn[]; losses: string[] } {
  const columns: ParquetColumn[] = [];
  const losses: string[] = [];
  for (const child of tree.children) {
    const { name } = child.element;
    if (typeof name !== "string") throw new Corrupt("a column has no name");
    const leaf = leafOf(child);
    const type = leaf && typeOf(leaf.element);
    if (leaf === undefined || type === undefined || leaf.depth > 1) {
      const why =
        leaf === undefined
          ? "values with parts"
          : type === undefined
            ? `values of type ${leaf.element.type}`
            : "lists in lists";
      losses.push(`${leftOut(name)}it has ${why}`);
      continue;
    }
    const channels = leaf.depth === 0 ? 1 : widthOf(metadata.row_groups, name);
    const nullable = mayBeNull(leaf, metadata.row_groups, name);
    const column = {
      info: { name, channels, ...(nullable ? withAbsent(type) : type) },
      isList: leaf.depth > 0,
      nullable,
    };
    columns.push(channels === 0 ? raggedOf(column, 0) : column);
  }
  return { columns, losses };
}

interface Leaf {
  readonly element: SchemaElement;
  /** Lists around it. */
  readonly depth: number;
  readonly optional: boolean;
}

function leafOf(tree: SchemaTree): Leaf | undefined {
  let [at, depth, optional] = [tree, 0, false];
  for (;;) {
    const { repetition_type: repetition } = at.element;
    if (repetition === "REPEATED") depth++;
    optional ||= repetition === "OPTIONAL";
    if (at.children.length === 0) return { element: at.element, depth, optional };
    if (at.children.length > 1) return undefined;
    at = at.children[0]!;
  }
}

type Typed = Pick<AttributeInfo, "dtype" | "unit" | "absent">;

const number = (kind: "int" | "uint" | "float", size: number): { dtype: DataType } => ({
  dtype: { kind, size, endian: "little" } as DataType,
});

function typeOf({
  type,
  converted_type: converted,
  logical_type: logical,
  type_length,
}: SchemaElement): Typed | undefined {
  const [, sign, bits] = /^(U?)INT_(8|16|32|64)$/.exec(converted ?? "") ?? [];
  const own = logical?.type === "INTEGER" ? logical : undefined;
  const kind = (own === undefined ? sign === "U" : !own.isSigned) ? "uint" : "int";
  switch (type) {
    case "BOOLEAN":
      return { dtype: { kind: "bool", size: 1 } };
    case "FLOAT":
      return number("float", 4);
    case "DOUBLE":
      return number("float", 8);
    case "INT32":
    case "INT64": {
      if (converted === "DECIMAL") return number("float", 8);
      const unit = converted?.startsWith("TIME")
        ? converted
        : logical?.type === "TIMESTAMP" || logical?.type === "TIME"
          ? logical.unit
          : undefined;
      const size = own === undefined ? Number(bits ?? (type === "INT32" ? 32 : 64)) / 8 : own.bitWidth / 8;
      if (unit === undefined) return [1, 2, 4, 8].includes(size) ? number(kind, size) : undefined;
      return {
        ...number("int", type === "INT32" ? 4 : 8),
        unit: /MILLIS$/.test(unit) ? "ms" : /MICROS$/.test(unit) ? "us" : "ns",
      };
    }
    case "INT96":
      return { ...number("int", 8), unit: "ns" };
    case "BYTE_ARRAY":
      if (converted === "DECIMAL") return number("float", 8);
      return converted === "UTF8" ||
        converted === "ENUM" ||
        converted === "JSON" ||
        ["STRING", "ENUM", "JSON"].includes(logical?.type ?? "")
        ? { dtype: { kind: "string" } }
        : undefined;
    case "FIXED_LEN_BYTE_ARRAY":
      if (converted === "DECIMAL") return number("float", 8);
      if (logical?.type === "UUID") return { dtype: { kind: "string" } };
      return logical?.type === "FLOAT16" && type_length === 2 ? number("float", 4) : undefined;
    default:
      return undefined;
  }
}

/** Values that stand for none, which no other value is. */
export function withAbsent(type: Typed): Typed {
  const { dtype } = type;
  if (dtype.kind === "bool") return { dtype: { kind: "uint", size: 1, endian: "little" }, absent: 255 };
  if (dtype.kind === "uint" && dtype.size === 8) return { ...type, absent: U64.MAX };
  return dtype.kind === "int" || dtype.kind === "uint" ? { ...type, ...number("int", 8), absent: I64.MIN } : type;
}

const chunksOf = (groups: readonly RowGroup[], name: string) =>
  groups.map(({ columns, num_rows }) => ({
    rows: Number(num_rows),
    meta: columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data,
  }));

/** The column with lists of different lengths, of which the longest has so many values. */
export const raggedOf = ({ info }: ParquetColumn, channels: number): ParquetColumn => ({
  info: { ...info, ...(info.dtype.kind === "bool" ? {} : withAbsent(info)), channels },
  isList: true,
  nullable: true,
  ragged: true,
});

/** How many values each list has, as far as counts tell; 0 where they are not as many in each. */
function widthOf(groups: readonly RowGroup[], name: string): number {
  const widths = new Set(
    chunksOf(groups, name)
      .filter(({ rows }) => rows > 0)
      .map(({ rows, meta }) => Number(meta?.num_values ?? 0) / rows),
  );
  const [width = 1] = widths;
  return widths.size <= 1 && Number.isInteger(width) && width >= 1 && width <= 1024 ? width : 0;
}

const mayBeNull = ({ optional, depth }: Leaf, groups: readonly RowGroup[], name: string): boolean =>
  optional && depth === 0 && chunksOf(groups, name).some(({ meta }) => meta?.statistics?.null_count !== 0n);

/** What values of rows are given to. */
export interface Taker {
  put(data: ArrayLike<unknown>, first: number, firstRow: number): void;
}

type List = ArrayLike<unknown> | null | undefined;

/** Looks at lists only. */
export function measuring() {
  const lengths = new Set<number>();
  let [longest, gaps] = [0, false];
  return {
    put(data: ArrayLike<unknown>): void {
      for (let i = 0; i < data.length; i++) {
        const list = data[i] as List;
        let length = 0;
        for (let c = 0; c < (list?.length ?? 0); c++) if (list![c] !== null && list![c] !== undefined) length++;
        gaps ||= length < (list?.length ?? 0);
        longest = Math.max(longest, length);
        lengths.add(list?.length ?? -1);
      }
    },
    /** How many values the list has that has most of them. */
    longest: () => longest,
    /** Whether they cannot be so many channels each; floats have a value for none. */
    isRagged: ({ dtype }: AttributeInfo): boolean => lengths.size > 1 || (gaps && dtype.kind !== "float"),
  };
}

/** A column that is being filled. */
export function filling({ info, isList, nullable, ragged = false }: ParquetColumn, rows: number, where: string) {
  const { name, channels, dtype, absent } = info;
  const values =
    dtype.kind === "string" ? new Array<string>(rows).fill("") : valuesOf(dtype as FixedDataType, rows * channels);
  const out = values as unknown[];
  let done = 0;
  const none = dtype.kind === "float" ? Number.NaN : dtype.kind === "string" ? "" : nullable ? absent : undefined;
  const bad = (row: number, found: string) =>
    new Corrupt(`${where}: row ${row} has ${found} in the column ${name}`, { where });
  const convert = ((): ((value: unknown) => unknown) => {
    if (dtype.kind === "string") return (value) => value;
    if ("size" in dtype && dtype.size === 8 && (dtype.kind === "int" || dtype.kind === "uint"))
      return (value) => BigInt(value as number | bigint);
    return (value) => Number(value);
  })();
  /** Those values of a list that are there, and then none. */
  function putList(list: List, row: number, fileRow: number): void {
    let at = row * channels;
    const end = at + channels;
    for (let c = 0; c < (list?.length ?? 0); c++) {
      const own = list![c];
      if (own === null || own === undefined) continue;
      if (at === end) throw bad(fileRow, `a list of more than ${channels} values, as it had before,`);
      out[at] = convert(own);
      if (out[at++] === absent) throw bad(fileRow, `the id ${absent}, which stands for none,`);
    }
    while (at < end) out[at++] = none;
  }
  return {
    /** Values of the rows from `first` on. */
    put(data: ArrayLike<unknown>, first: number, firstRow: number): void {
      if (first < 0 || first + data.length > rows) throw bad(firstRow + rows, "more values than rows");
      done += data.length;
      if (!isList && ArrayBuffer.isView(data) && data.constructor === values.constructor) {
        (values as Float64Array).set(data as unknown as Float64Array, first);
        return;
      }
      if (ragged) {
        for (let i = 0; i < data.length; i++) putList(data[i] as List, first + i, firstRow + first + i);
        return;
      }
      for (let i = 0; i < data.length; i++) {
        const value = data[i];
        const list = isList ? (value as List) : undefined;
        if (isList && list?.length !== channels)
          throw bad(firstRow + first + i, `a list of ${list?.length ?? "no"} values, where others have ${channels},`);
        for (let c = 0; c < channels; c++) {
          const own = list === undefined || list === null ? value : list[c];
          if (own === null || own === undefined) {
            if (none === undefined) throw bad(firstRow + first + i, "no value");
            out[(first + i) * channels + c] = none;
          } else out[(first + i) * channels + c] = convert(own);
        }
      }
    },
    done(firstRow: number): Column {
      if (done !== rows) throw bad(firstRow + done, "no value: the group of rows ends there");
      return { info, values: values as Column["values"] };
    },
  };
}
