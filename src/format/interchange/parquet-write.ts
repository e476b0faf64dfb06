/** Parquet tables, written with hyparquet-writer: a group of rows at a time, packed with snappy. */
import type { SchemaElement } from "hyparquet";
import { concat } from "../../bytes/concat.js";
import { isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Sink } from "../../store/types.js";
import { inGroups, listsOf, tableRows } from "./table-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

const ROWS = 1 << 18; // in a group

export async function writeParquet(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const table = await tableRows(data, options, ROWS);
  const writer = new ByteWriter();
  const columns = table.columns.map((info) => ({
    info,
    nullable: isNullable(info),
    isList: table.lists.has(info.name),
  }));
  const schema: SchemaElement[] = [
    { name: "schema", num_children: columns.length },
    ...columns.flatMap(({ info, nullable, isList }) => elementsOf(info, nullable && !isList)),
  ];
  // Without statistics: those of whole numbers without a sign would be ordered as if they had one, and readers skip by them.
  const parquet = new ParquetWriter({ writer, schema, statistics: false });
  const drain = async (): Promise<void> => {
    await sink.write(concat([writer.getBytes()]));
    writer.index = 0;
  };
  for await (const { columns: own } of inGroups(table, ROWS)) {
    options.signal?.throwIfAborted();
    const columnData = own.map((column, i) => ({
      name: column.info.name,
      data: valuesFor(column, columns[i]!.nullable, columns[i]!.isList) as unknown as number[],
    }));
    await parquet.write({ columnData, rowGroupSize: ROWS });
    await drain();
  }
  await parquet.finish();
  await drain();
  return { ...table.counts(), losses: table.losses };
}

/** Integers may have no value; in floats that is NaN, in text "". */
const isNullable = ({ name, dtype, absent }: AttributeInfo): boolean =>
  (absent !== undefined || name === "object") && (dtype.kind === "int" || dtype.kind === "uint");

function elementsOf({ name, dtype, channels }: AttributeInfo, nullable: boolean): SchemaElement[] {
  const repetition_type = nullable ? "OPTIONAL" : "REQUIRED";
  const leaf = ((): Omit<SchemaElement, "name"> => {
    switch (dtype.kind) {
      case "bool":
        return { type: "BOOLEAN" };
      case "string":
        return { type: "BYTE_ARRAY", converted_type: "UTF8" };
      case "float":
        return { type: dtype.size === 4 ? "FLOAT" : "DOUBLE" };
      default: {
        const { size } = dtype as { readonly size: 1 | 2 | 4 | 8 };
        const converted = `${dtype.kind === "uint" ? "UINT" : "INT"}_${8 * size}` as NonNullable<
          SchemaElement["converted_type"]
        >;
        return { type: size === 8 ? "INT64" : "INT32", converted_type: converted };
      }
    }
  })();
  if (channels === 1) return [{ name, repetition_type, ...leaf }];
  return [
    { name, repetition_type: "REQUIRED", num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type, ...leaf },
  ];
}

function valuesFor(column: Column, nullable: boolean, isList: boolean): ArrayLike<unknown> {
  const { info, values } = column;
  const { dtype, channels, absent } = info;
  const flat = ((): ArrayLike<unknown> => {
    if (dtype.kind === "string" || dtype.kind === "float") return values;
    if (dtype.kind === "bool") return Array.from(values as Uint8Array, (value) => value !== 0);
    const own = values as NumericArray;
    if (nullable) return Array.from({ length: own.length }, (_, i) => (own[i] === absent ? null : own[i]));
    if (isBig(own))
      return own instanceof BigInt64Array
        ? own
        : new BigInt64Array(own.buffer as ArrayBuffer, own.byteOffset, own.length);
    return own instanceof Uint32Array ? Array.from(own) : Int32Array.from(own as Int32Array);
  })();
  if (isList) return listsOf(column, flat);
  if (channels === 1) return flat;
  return Array.from({ length: flat.length / channels }, (_, row) =>
    Array.from({ length: channels }, (_, channel) => flat[row * channels + channel]),
  );
}
