/**
 * Arrow tables: IPC files (Feather 2) and streams, through flechette; record batches are pieces. The library reads bytes in memory, so the file is
 * read whole, within limits.resultBytes; buffers are unpacked by our own codecs, and to no more than limits allow. What the library
 * throws at bytes that it does not understand is Corrupt.
 */
import type { Batch as ArrowBatch, Column as ArrowColumn, DataType as ArrowType } from "@uwdata/flechette";
import type { DataType } from "../../bytes/dtype.js";
import { loadZstdDecoder } from "../../codec/zstd.js";
import { Corrupt, LimitExceeded, OctavoError } from "../../errors.js";
import { decodedCap, withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import { checkArrow } from "./arrow-check.js";
import { writeArrow } from "./arrow-write.js";
import { whole } from "./file.js";
import { decodeLz4Frame } from "./lz4-frame.js";
import { filling, measuring, type ParquetColumn, raggedOf, withAbsent } from "./parquet-columns.js";
import { type Table, tableContent } from "./table.js";
import { leftOut } from "./table-roles.js";
import type { FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = {
  async open(input, options) {
    const bytes = await whole(input, withLimits(options.limits).resultBytes, options);
    try {
      return tableContent(await arrowTable(bytes, input.where, options), options.table);
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

async function arrowTable(bytes: Uint8Array, where: string, options: OpenFileOptions): Promise<Table> {
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
  checkArrow(bytes, where);
  const table = tableFromIPC(bytes, { useBigInt: true });
  const losses: string[] = [];
  const columns = new Map<string, { readonly own: ParquetColumn; readonly data: readonly ArrowBatch<unknown>[] }>();
  for (const [i, { name, type }] of table.schema.fields.entries()) {
    const column = table.getChildAt(i) as ArrowColumn<unknown>;
    const own = columnOf(name, type, column);
    if (own === undefined)
      losses.push(
        `${leftOut(name)}it has ${isNested(type) ? "lists in lists" : "values that are no numbers or texts"}`,
      );
    else columns.set(name, { own, data: column.data as readonly ArrowBatch<unknown>[] });
  }
  const [first] = columns.values();
  const counts = (first?.data ?? []).map(({ length }) => length);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!(total <= limits.chunkBytes / 8) || counts.some((count) => !(Number.isInteger(count) && count >= 0)))
    throw new LimitExceeded(`${where} has ${total} rows, at most ${limits.chunkBytes / 8} are read`, { where });
  return {
    where,
    version: "Arrow",
    columns: [...columns.values()].map(({ own }) => own.info),
    rows: total,
    losses,
    async index({ lists }) {
      for (const name of lists) {
        const { own, data } = columns.get(name)!;
        if (own.isList) columns.set(name, { own: raggedOf(own, Math.max(1, longestOf(data, own))), data });
      }
      const starts = counts.map((_, piece) => counts.slice(0, piece).reduce((sum, count) => sum + count, 0));
      return {
        types: new Map([...columns].map(([name, { own }]) => [name, own.info])),
        rows: Uint32Array.from(counts),
        bytes: Float64Array.from(counts, (count) => (total === 0 ? 0 : (bytes.length * count) / total)),
        async read(piece, names) {
          try {
            return new Map(
              names.map((name) => {
                const { own, data } = columns.get(name)!;
                const fill = filling(own, counts[piece]!, where);
                fill.put(valuesOf(data[piece]!, own), 0, starts[piece]!);
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

function columnOf(name: string, type: ArrowType, column: ArrowColumn<unknown>): ParquetColumn | undefined {
  const own = type as Field;
  const listed = isList(type);
  const found = typeOf(listed ? ((own.children?.[0]?.type ?? type) as Field) : own);
  if (found === undefined) return undefined;
  const channels = listed ? widthOf(column, own, found.dtype.kind === "float") : 1;
  const nullable = !listed && column.data.some(({ nullCount }) => nullCount > 0);
  const made = { info: { name, channels, ...(nullable ? withAbsent(found) : found) }, isList: listed, nullable };
  return channels === 0 ? raggedOf(made, 0) : made;
}

/** How many values each list has; 0 where they are not as many in each. In floats there is a value for none. */
function widthOf({ data }: ArrowColumn<unknown>, { stride }: Field, isFloat: boolean): number {
  const lengths = new Set<number>();
  for (const batch of data as readonly ListBatch[]) {
    const { length, nullCount, offsets = [], children } = batch;
    if (nullCount > 0 || (!isFloat && (children?.[0]?.nullCount ?? 0) > 0)) return 0;
    if (stride !== undefined) lengths.add(stride);
    else if (offsets.length <= length) return 0;
    else for (let row = 0; row < length; row++) lengths.add(Number(offsets[row + 1]) - Number(offsets[row]));
  }
  const [only = 1] = lengths;
  return lengths.size <= 1 && only >= 1 && only <= 1024 ? only : 0;
}

type ListBatch = ArrowBatch<unknown> & {
  readonly offsets?: ArrayLike<number | bigint>;
  readonly values?: ArrayLike<unknown>;
  readonly children?: readonly ListBatch[];
};

function longestOf(data: readonly ArrowBatch<unknown>[], own: ParquetColumn): number {
  const measured = measuring();
  for (const batch of data) measured.put(valuesOf(batch, own));
  return measured.longest();
}

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
