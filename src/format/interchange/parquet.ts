/**
 * Parquet tables, through hyparquet: the description at the end of the file, then groups of rows, each a piece.
 *
 * | bytes    | what                                             |
 * |----------|--------------------------------------------------|
 * | 4        | "PAR1"                                           |
 * | …        | columns of groups of rows, in pages              |
 * | n        | description, in Thrift's compact protocol        |
 * | 4, 4     | n, "PAR1"                                        |
 *
 * The library believes what files say. So descriptions and headers of pages are read here first: counts must fit the bytes that are
 * there, pages must lie in the file and unpack to no more than limits allow, runs in them must fit their values. What the library throws all the same is Corrupt.
 */
import type { FileMetaData, RowGroup } from "hyparquet";
import { Reader } from "../../bytes/reader.js";
import { decodeUtf8 } from "../../bytes/text.js";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile } from "./file.js";
import { columnsOf, filling, measuring, type ParquetColumn, raggedOf, type Taker } from "./parquet-columns.js";
import { checking, checkPages, loadUnpackers } from "./parquet-pages.js";
import { leafAt } from "./parquet-runs.js";
import { writeParquet } from "./parquet-write.js";
import { type Table, tableContent } from "./table.js";
import { readThrift } from "./thrift.js";
import type { FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = {
  open: async (input, options) =>
    tableContent(await guarded(input.where, () => parquetTable(input, options)), options.table),
  write: writeParquet,
};

const MAGIC = 0x31524150;

async function parquetTable(input: InputFile, options: OpenFileOptions): Promise<Table> {
  const { where } = input;
  const { parquetMetadata, parquetSchema } = await import("hyparquet");
  const metadata = await descriptionOf(input, options, parquetMetadata);
  const { columns: found, losses } = columnsOf(parquetSchema(metadata), metadata);
  const { row_groups: groups, num_rows } = metadata;
  const most = withLimits(options.limits).chunkBytes / 8;
  const counts = groups.map(({ num_rows: own }) => Number(own));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (counts.some((count) => !(count >= 0)) || total !== Number(num_rows))
    throw new Corrupt(`${where} says that it has ${num_rows} rows, but its groups have ${total}`, { where });
  if (counts.some((count) => count > most) || total >= 2 ** 32)
    throw new LimitExceeded(`${where} has groups of up to ${Math.max(...counts)} rows, at most ${most} are read`, {
      where,
    });
  const bytes = Float64Array.from(groups, bytesOf);
  const starts = [0];
  for (const count of counts) starts.push(starts.at(-1)! + count);
  /** Values of one group of rows. */
  const read = (group: number, takers: ReadonlyMap<string, Taker>, now: ReadOptions): Promise<void> =>
    guarded(where, () =>
      readGroup(input, metadata, group, starts[group]!, counts[group]!, takers, { limits: options.limits, ...now }),
    );
  const columns = await lookedAt(found, groups, read, options);
  const known = new Map(columns.map((column) => [column.info.name, column]));
  return {
    where,
    version: "Parquet",
    columns: columns.map(({ info }) => info),
    rows: total,
    losses,
    async index({ lists }, now) {
      const ragged = new Map([...lists].filter((name) => known.get(name)?.isList).map((name) => [name, measuring()]));
      if (ragged.size > 0) for (let group = 0; group < groups.length; group++) await read(group, ragged, now);
      for (const [name, measured] of ragged)
        known.set(name, raggedOf(known.get(name)!, Math.max(1, measured.longest())));
      return {
        types: new Map([...known].map(([name, { info }]) => [name, info])),
        rows: Uint32Array.from(counts),
        bytes,
        async read(piece, names, now) {
          const fills = new Map(names.map((name) => [name, filling(known.get(name)!, counts[piece]!, where)]));
          await read(piece, fills, now);
          return new Map([...fills].map(([name, fill]) => [name, fill.done(starts[piece]!)]));
        },
      };
    },
  };
}

const LOOKED_AT = 1 << 20;

/**
 * Counts cannot tell two lists of 2 from one of 1 and one of 3; in many rows it is no chance that they come out even. So of lists that seem to have
 * one length the first group is read, where it is small.
 */
async function lookedAt(
  columns: readonly ParquetColumn[],
  groups: readonly RowGroup[],
  read: (group: number, takers: ReadonlyMap<string, Taker>, options: ReadOptions) => Promise<void>,
  options: ReadOptions,
): Promise<readonly ParquetColumn[]> {
  const group = groups.findIndex(({ num_rows }) => num_rows > 0n);
  const small = (name: string): boolean =>
    groups[group]!.columns.every(
      ({ meta_data: meta }) => meta?.path_in_schema[0] !== name || Number(meta.total_compressed_size) <= LOOKED_AT,
    );
  const seen = columns.filter(
    ({ info: { name, channels }, isList }) => isList && channels > 0 && group >= 0 && small(name),
  );
  if (seen.length === 0) return columns;
  const looks = new Map(seen.map(({ info }) => [info.name, measuring()]));
  await read(group, looks, options);
  return columns.map((own) => (looks.get(own.info.name)?.isRagged(own.info) ? raggedOf(own, 0) : own));
}

const bytesOf = ({ columns }: RowGroup): number =>
  columns.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_compressed_size ?? 0), 0);

async function descriptionOf(
  input: InputFile,
  options: ReadOptions,
  parse: (bytes: ArrayBuffer, options: { geoparquet: boolean }) => FileMetaData,
): Promise<FileMetaData> {
  const { where, size } = input;
  if (size === undefined)
    throw new Unsupported(`${where} is packed as a whole: Parquet is read from its end`, {
      where,
      hint: "Unpack it first.",
    });
  if (size < 12) throw new Corrupt(`${where} has ${size} bytes, too few for a Parquet file`, { where });
  const tail = new Reader(await exactly(input, size - 8, 8, "the end of the file", options), where);
  const length = tail.u32();
  const found = tail.u32();
  if (found !== MAGIC) throw new Corrupt(`${where} should end in PAR1, found 0x${found.toString(16)}`, { where });
  const { metadataBytes } = withLimits(options.limits);
  if (length > size - 12)
    throw new Corrupt(`${where} has ${size} bytes, and its description would have ${length}`, { where });
  if (length > metadataBytes)
    throw new LimitExceeded(`${where} has a description of ${length} bytes, at most ${metadataBytes} are read`, {
      where,
    });
  const bytes = (await exactly(input, size - 8 - length, length + 8, "its description", options)).slice();
  readThrift(new Reader(bytes.subarray(0, length), `the description of ${where}`));
  return parse(bytes.buffer, { geoparquet: false });
}

/** What the library throws at bytes that it does not understand is Corrupt, whatever it is. */
async function guarded<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw damaged(where, cause);
  }
}

function damaged(where: string, cause: unknown): unknown {
  if (cause instanceof OctavoError || (cause as Error)?.name === "AbortError") return cause;
  const message = (cause as Error)?.message ?? String(cause);
  if (/unsupported|not supported/.test(message)) return new Unsupported(`${where}: ${message}`, { where, cause });
  return new Corrupt(`${where} is damaged: ${message}`, { where, cause });
}

async function readGroup(
  input: InputFile,
  metadata: FileMetaData,
  group: number,
  rowStart: number,
  rows: number,
  fills: ReadonlyMap<string, Taker>,
  options: ReadOptions,
): Promise<void> {
  const { where, size } = input;
  const limits = withLimits(options.limits);
  const [{ parquetRead, parquetSchema }, unpackers] = await Promise.all([import("hyparquet"), loadUnpackers(limits)]);
  const own = metadata.row_groups[group]!;
  if (rows === 0) return;
  const chunks = own.columns.filter(({ meta_data }) => fills.has(meta_data?.path_in_schema[0] ?? ""));
  const tree = parquetSchema(metadata);
  const parts = await Promise.all(
    chunks.map(async ({ meta_data: meta, file_path }) => {
      const start = Number(meta!.dictionary_page_offset || meta!.data_page_offset);
      const length = Number(meta!.total_compressed_size);
      if (file_path) throw new Unsupported(`${where} has columns in another file, ${file_path}`, { where });
      if (!(start >= 0 && length >= 0 && start + length <= size!))
        throw new Corrupt(`${where} has bytes of a column at ${start}, ${length} of them, beyond its end`, { where });
      const bytes = await exactly(input, start, length, "a column", options);
      const column = `${where}, column ${meta!.path_in_schema.join(".")}`;
      const leaf = leafAt(tree, meta!.path_in_schema, meta!.type, column);
      const pages = checkPages(bytes, meta!, leaf, rows, limits, column);
      // The library sees the pages that were looked at, and nothing behind them.
      return { start, end: start + length, pages, buffer: bytes.slice(0, pages.end).buffer };
    }),
  );
  // Of bytes that are in two columns, the library would read those of one as the other.
  parts.sort((a, b) => a.start - b.start);
  if (parts.some(({ end }, i) => end > (parts[i + 1]?.start ?? end)))
    throw new Corrupt(`${where} has columns that overlap`, { where });
  let failure: unknown;
  await parquetRead({
    file: {
      byteLength: size!,
      slice(start, end = size!) {
        const part = parts.find((one) => one.start === start && one.end === end);
        if (part === undefined) throw new Corrupt(`${where} has a column that is not where it says`, { where });
        return part.buffer;
      },
    },
    metadata: { ...metadata, row_groups: [{ ...own, columns: chunks }], num_rows: BigInt(rows) },
    columns: [...fills.keys()],
    compressors: checking(unpackers, new Map(parts.map(({ buffer, pages }) => [buffer, pages]))),
    parsers: plainValues(where),
    geoparquet: false,
    onChunk({ columnName, columnData, rowStart: first }) {
      try {
        fills.get(columnName)?.put(columnData, first, rowStart);
      } catch (error) {
        failure ??= error;
      }
    },
  });
  if (failure !== undefined) throw failure;
}

/** Dates and times as the numbers that they are, texts only where they are texts. */
const plainValues = (where: string) => ({
  timestampFromMilliseconds: (value: bigint) => value,
  timestampFromMicroseconds: (value: bigint) => value,
  timestampFromNanoseconds: (value: bigint) => value,
  dateFromDays: (value: number) => value,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decodeUtf8(bytes, `a text in ${where}`),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decodeUtf8(bytes, `a text in ${where}`),
});
