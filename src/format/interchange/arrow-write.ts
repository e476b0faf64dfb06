/** Arrow tables, written with flechette as an IPC file (Feather 2), which is made in memory as a whole: Parquet is for what does not fit. */
import type { DataType as ArrowType } from "@uwdata/flechette";
import { LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Sink } from "../../store/types.js";
import { inGroups, listsOf, tableRows } from "./table-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

type Flechette = typeof import("@uwdata/flechette");

export async function writeArrow(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const library = await import("@uwdata/flechette");
  const table = await tableRows(data, options);
  const most = withLimits(options.limits).resultBytes;
  const rowBytes = table.columns.reduce(
    (sum, { dtype, channels }) => sum + channels * ("size" in dtype ? dtype.size : 16),
    0,
  );
  let columns: readonly Column[] = table.columns.map((info) => ({ info, values: [] }));
  for await (const all of inGroups(table, Math.floor(most / Math.max(1, rowBytes)))) {
    if (columns[0]!.values.length > 0)
      throw new LimitExceeded(
        `${data.url} has more than the ${most} bytes of limits.resultBytes, which an Arrow file is made in`,
        {
          hint: "Write Parquet.",
        },
      );
    columns = all.columns;
  }
  const made = library.tableFromColumns(
    Object.fromEntries(
      columns.map((column) => [column.info.name, columnOf(library, column, table.lists.has(column.info.name))]),
    ),
  );
  await sink.write(library.tableToIPC(made, { format: "file" })!);
  return { ...table.counts(), losses: table.losses };
}

function typeOf(library: Flechette, { dtype, channels }: AttributeInfo, isList: boolean): ArrowType {
  const single = ((): ArrowType => {
    switch (dtype.kind) {
      case "bool":
        return library.bool();
      case "string":
        return library.utf8();
      case "float":
        return dtype.size === 4 ? library.float32() : library.float64();
      default: {
        const { size } = dtype as { readonly size: 1 | 2 | 4 | 8 };
        return library.int((8 * size) as 8 | 16 | 32 | 64, dtype.kind === "int");
      }
    }
  })();
  if (isList) return library.list(single);
  return channels === 1 ? single : library.fixedSizeList(single, channels);
}

function columnOf(library: Flechette, column: Column, isList: boolean) {
  const { info, values } = column;
  const { dtype, channels, absent } = info;
  const isWhole = dtype.kind === "int" || dtype.kind === "uint";
  const one = (at: number): unknown => {
    const value = values[at]!;
    if (isWhole && value === absent) return null;
    return dtype.kind === "bool" ? value !== 0 : value;
  };
  const type = typeOf(library, info, isList);
  if (isList) return library.columnFromArray(listsOf<unknown>(column, values), type);
  const plain = channels === 1 && dtype.kind !== "bool" && !(isWhole && absent !== undefined);
  if (plain) return library.columnFromArray(values as unknown as unknown[], type);
  const rows = Array.from({ length: values.length / channels }, (_, row) =>
    channels === 1 ? one(row) : Array.from({ length: channels }, (_, channel) => one(row * channels + channel)),
  );
  return library.columnFromArray(rows, type);
}
