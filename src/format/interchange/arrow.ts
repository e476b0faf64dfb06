/**
 * Arrow tables: IPC files (Feather 2) and streams, through flechette; record batches are pieces. The library reads bytes in memory: it is given a batch
 * at a time, behind the schema and the dictionaries that come before it, so that a file may be larger than memory and a batch not. Buffers are unpacked
 * by our own codecs, and to no more than limits allow. What the library throws at bytes that it does not understand is Corrupt.
 */
import type { Batch as ArrowBatch, Column as ArrowColumn, DataType as ArrowType } from "@uwdata/flechette";
import { concat } from "../../bytes/concat.js";
import type { DataType } from "../../bytes/dtype.js";
import { loadZstdDecoder } from "../../codec/zstd.js";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { decodedCap, withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import { checkArrow } from "./arrow-check.js";
import { type ArrowParts, arrowParts } from "./arrow-parts.js";
import { writeArrow } from "./arrow-write.js";
import { COPIES, exactly, type InputFile } from "./file.js";
import { decodeLz4Frame } from "./lz4-frame.js";
import { filling, measuring, type ParquetColumn, raggedOf, withAbsent } from "./parquet-columns.js";
import { type Table, tableContent } from "./table.js";
import { leftOut } from "./table-roles.js";
import type { FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = {
  async open(input, options) {
    try {
      return tableContent(await arrowTable(input, options), options.table);
    } catch (cause) {
      throw damaged(input.where, cause);
    }
  },
  write: writeArrow,
};

function damaged(where: string, cause: unknown): unknown {
  if (cause instanceof OctavoError || (cause as Error)?.name === "AbortError") return cause;
  const beyond = "a part of it would lie beyond its end";
  const why = cause instanceof RangeError ? beyond : ((cause as Error)?.message ?? String(cause));
  return new Corrupt(`${where} is damaged: ${why}`, { where, cause });
}

/** Reads a batch by itself, or none of them. */
type BatchReader = (record: number | undefined, options: ReadOptions) => Promise<ArrowColumn<unknown>[]>;

async function batchReader(input: InputFile, parts: ArrowParts, options: OpenFileOptions) {
  const { where } = input;
  const limits = withLimits(options.limits);
  const [{ CompressionType, setCompressionCodec, tableFromIPC }, zstd] = await Promise.all([
    import("@uwdata/flechette"),
    loadZstdDecoder(),
  ]);
  const sized = (packed: Uint8Array, size: number | undefined): number => {
    const most = decodedCap(packed.length, limits);
    if (size !== undefined && Number.isInteger(size) && size >= 0 && size <= most) return size;
    throw new LimitExceeded(
      `${where} has a buffer of ${size} bytes in ${packed.length}, at most ${most} are unpacked`,
      { where },
    );
  };
  const encode = (): never => {
    throw new Error("nothing is packed here");
  };
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    encode,
    decode: (packed, size) => decodeLz4Frame(packed, sized(packed, size)),
  });
  setCompressionCodec(CompressionType.ZSTD, {
    encode,
    decode: (packed, size) => zstd.decompress(packed, sized(packed, size), limits),
  });
  const tableOf = async (record: number | undefined, now: ReadOptions) => {
    const own = record === undefined ? undefined : parts.records[record]!;
    const before = parts.dictionaries.filter(({ offset }) => own === undefined || offset < own.offset);
    const list = [parts.schema, ...before, ...(own === undefined ? [] : [own])];
    const size = list.reduce((sum, { length }) => sum + length, 0);
    checkBatch(where, record, size, options);
    const bytes: Uint8Array[] = [];
    for (const { offset, length } of list) bytes.push(await exactly(input, offset, length, "a record batch", now));
    const stream = concat([...bytes, new Uint8Array(8)]); // 0: it ends there
    checkArrow(stream, where);
    return tableFromIPC(stream, { useBigInt: true });
  };
  const { schema } = await tableOf(undefined, options);
  const read: BatchReader = async (record, now) => {
    const table = await tableOf(record, now);
    return schema.fields.map((_, i) => table.getChildAt(i) as ArrowColumn<unknown>);
  };
  return { schema, read };
}

/** Unsupported where a batch, and what is made of it, takes more than may be held. */
function checkBatch(where: string, record: number | undefined, size: number, options: OpenFileOptions): void {
  const { resultBytes } = withLimits(options.limits);
  const { maxMemory = Number.POSITIVE_INFINITY } = options;
  if (size <= Math.min(resultBytes, maxMemory / COPIES)) return;
  const what =
    record === undefined ? "dictionaries" : `a record batch (${record}, counted from 0, with its dictionaries)`;
  throw new Unsupported(
    `${where} has ${what} of ${size} bytes, which takes about ${COPIES * size} bytes of memory, and ${Math.min(maxMemory, COPIES * resultBytes)} may be used`,
    { where, hint: "Allow more (--max-memory), or write the file with smaller batches." },
  );
}

async function arrowTable(input: InputFile, options: OpenFileOptions): Promise<Table> {
  const { where } = input;
  const limits = withLimits(options.limits);
  const parts = await arrowParts(input, options);
  const { schema, read } = await batchReader(input, parts, options);
  const { columns, counts, losses } = await lookedAt(schema.fields, parts.records.length, read, options);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!(total <= limits.chunkBytes / 8) || counts.some((count) => !(Number.isInteger(count) && count >= 0)))
    throw new LimitExceeded(`${where} has ${total} rows, at most ${limits.chunkBytes / 8} are read`, { where });
  const starts = new Float64Array(counts.length + 1);
  for (const [piece, count] of counts.entries()) starts[piece + 1] = starts[piece]! + count;
  return {
    where,
    version: "Arrow",
    columns: [...columns.values()].map(({ own }) => own.info),
    rows: total,
    losses,
    async index({ lists }, now) {
      const ragged = [...lists].flatMap((name) => (columns.get(name)!.own.isList ? [columns.get(name)!] : []));
      const measured = ragged.map(() => measuring());
      for (let piece = 0; ragged.length > 0 && piece < counts.length; piece++) {
        const found = await read(piece, now);
        for (const [k, { own, at }] of ragged.entries()) measured[k]!.put(valuesOf(found[at]!.data[0]!, own));
      }
      for (const [k, { own, at }] of ragged.entries())
        columns.set(own.info.name, { own: raggedOf(own, Math.max(1, measured[k]!.longest())), at });
      return {
        types: new Map([...columns].map(([name, { own }]) => [name, own.info])),
        rows: Uint32Array.from(counts),
        bytes: Float64Array.from(parts.records, ({ length }) => length),
        async read(piece, names, asked) {
          try {
            const found = await read(piece, asked);
            return new Map(
              names.map((name) => {
                const { own, at } = columns.get(name)!;
                const fill = filling(own, counts[piece]!, where);
                fill.put(valuesOf(found[at]!.data[0]!, own), 0, starts[piece]!);
                return [name, fill.done(starts[piece]!)];
              }),
            );
          } catch (cause) {
            throw damaged(where, cause);
          }
        },
      };
    },
  };
}

/** All batches once: how many rows each has, and what its columns are in all of them. */
async function lookedAt(
  fields: readonly { readonly name: string; readonly type: ArrowType }[],
  records: number,
  read: BatchReader,
  options: ReadOptions,
) {
  const facts = fields.map(() => ({ nullable: false, ragged: false, lengths: new Set<number>() }));
  const counts: number[] = [];
  for (let record = 0; record < records; record++) {
    const found = await read(record, options);
    counts.push(found[0]?.length ?? 0);
    for (const [i, { type }] of fields.entries()) {
      const [own, fact] = [found[i]!.data[0] as ListBatch, facts[i]!];
      fact.nullable ||= own.nullCount > 0;
      if (isList(type)) fact.ragged ||= !evenIn(own, type as Field, fact.lengths);
    }
  }
  const losses: string[] = [];
  const columns = new Map<string, { readonly own: ParquetColumn; readonly at: number }>();
  for (const [at, { name, type }] of fields.entries()) {
    const own = columnOf(name, type, facts[at]!);
    if (own === undefined)
      losses.push(
        `${leftOut(name)}it has ${isNested(type) ? "lists in lists" : "values that are no numbers or texts"}`,
      );
    else columns.set(name, { own, at });
  }
  return { columns, counts, losses };
}

/** By the numbers of Arrow's schema. */
const TYPES = {
  int: 2,
  float: 3,
  utf8: 5,
  bool: 6,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  fixedList: 16,
  duration: 18,
  largeUtf8: 20,
  largeList: 21,
  utf8View: 24,
  dictionary: -1,
};
const UNITS = ["s", "ms", "us", "ns"];

type Field = ArrowType & {
  readonly bitWidth?: number;
  readonly signed?: boolean;
  readonly precision?: number;
  readonly unit?: number;
  readonly stride?: number;
  readonly dictionary?: ArrowType;
  readonly children?: readonly { readonly type: ArrowType }[];
};

function typeOf({
  typeId,
  bitWidth = 64,
  signed,
  precision,
  unit,
  dictionary,
}: Field): Pick<AttributeInfo, "dtype" | "unit"> | undefined {
  const number = (kind: "int" | "uint" | "float", size: number): { dtype: DataType } => ({
    dtype: { kind, size, endian: "little" } as DataType,
  });
  switch (typeId) {
    case TYPES.int:
      return number(signed === false ? "uint" : "int", bitWidth / 8);
    case TYPES.float:
      return number("float", precision === 2 ? 8 : 4); // halves as float32
    case TYPES.bool:
      return { dtype: { kind: "bool", size: 1 } };
    case TYPES.utf8:
    case TYPES.largeUtf8:
    case TYPES.utf8View:
      return { dtype: { kind: "string" } };
    case TYPES.timestamp:
    case TYPES.duration:
      return { ...number("int", 8), unit: UNITS[unit ?? 1]! };
    case TYPES.dictionary:
      return dictionary && typeOf(dictionary as Field);
    default:
      return undefined;
  }
}

const isList = ({ typeId }: ArrowType): boolean =>
  typeId === TYPES.fixedList || typeId === TYPES.list || typeId === TYPES.largeList;

const isNested = (type: ArrowType): boolean => {
  const [inner] = (type as Field).children ?? [];
  return isList(type) && inner !== undefined && isList(inner.type);
};

/** What is known of a column when all batches have come. */
interface Facts {
  readonly nullable: boolean;
  readonly ragged: boolean;
  /** Of its lists. */
  readonly lengths: ReadonlySet<number>;
}

function columnOf(name: string, type: ArrowType, { nullable, ragged, lengths }: Facts): ParquetColumn | undefined {
  const own = type as Field;
  const listed = isList(type);
  const found = typeOf(listed ? innerOf(own) : own);
  if (found === undefined) return undefined;
  const [only = 1] = lengths;
  const even = !ragged && lengths.size <= 1 && only >= 1 && only <= 1024;
  const channels = listed ? (even ? only : 0) : 1;
  const absent = !listed && nullable;
  const made = { info: { name, channels, ...(absent ? withAbsent(found) : found) }, isList: listed, nullable: absent };
  return channels === 0 ? raggedOf(made, 0) : made;
}

const innerOf = (type: Field): Field => (type.children?.[0]?.type ?? type) as Field;

/** The lengths of lists; false where some have none. In floats there is a value for none. */
function evenIn(batch: ListBatch, type: Field, lengths: Set<number>): boolean {
  const { length, nullCount, offsets = [], children } = batch;
  const isFloat = typeOf(innerOf(type))?.dtype.kind === "float";
  if (nullCount > 0 || (!isFloat && (children?.[0]?.nullCount ?? 0) > 0)) return false;
  if (type.stride !== undefined) lengths.add(type.stride);
  else if (offsets.length <= length) return false;
  else
    for (let row = 0; row < length && lengths.size < 2; row++)
      lengths.add(Number(offsets[row + 1]) - Number(offsets[row]));
  return true;
}

type ListBatch = ArrowBatch<unknown> & {
  readonly offsets?: ArrayLike<number | bigint>;
  readonly values?: ArrayLike<unknown>;
  readonly children?: readonly ListBatch[];
};

/** Numbers as they lie in the file; everything else one by one. */
function valuesOf(batch: ArrowBatch<unknown>, { info, isList, nullable }: ParquetColumn): ArrayLike<unknown> {
  const { length, values, type } = batch as ArrowBatch<unknown> & {
    readonly values?: ArrayLike<unknown>;
    readonly type: Field;
  };
  const { typeId } = type;
  const raw =
    !isList &&
    (typeId === TYPES.int ||
      typeId === TYPES.timestamp ||
      typeId === TYPES.duration ||
      (typeId === TYPES.float && type.precision !== 0));
  if (raw && values !== undefined && values.length >= length) {
    if (!nullable) return (values as Float64Array).subarray(0, length);
    return Array.from({ length }, (_, i) => (batch.at(i) === null ? null : values[i]));
  }
  if (!holds(batch))
    throw new Corrupt(`the column ${info.name} has fewer values than rows, or lists of negative length`);
  return Array.from({ length }, (_, i) => batch.at(i));
}

/** Whether the buffers of a batch are as long as it says, before anything is made of it. */
function holds(batch: ArrowBatch<unknown>): boolean {
  const { length, values, offsets, children } = batch as ListBatch;
  const type = batch.type as Field;
  const [inner] = children ?? [];
  if (length === 0) return true;
  if (type.typeId === TYPES.bool) return 8 * (values?.length ?? 0) >= length;
  if (type.typeId === TYPES.fixedList)
    return inner !== undefined && inner.length >= length * (type.stride ?? 1) && holds(inner);
  if (isList(type)) {
    if (inner === undefined || offsets === undefined || offsets.length <= length) return false;
    let ascending = Number(offsets[0]) >= 0 && Number(offsets[length]) <= inner.length;
    for (let row = 0; ascending && row < length; row++) ascending = Number(offsets[row]) <= Number(offsets[row + 1]);
    return ascending && holds(inner);
  }
  return (offsets ?? values ?? []).length >= length;
}
