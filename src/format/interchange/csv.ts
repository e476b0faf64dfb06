/**
 * Tables as text: .csv, .tsv, .xyz and .txt, with a header or without. What separates columns is found in the first lines; what a column holds
 * is found by looking at all of it. Lines before the first that begin with # or // are comments; the last of them may name the columns.
 */
import { Corrupt, LimitExceeded } from "../../errors.js";
import { defaultLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import { cellText, type Dialect, NEWLINE, type Rows, sniff, splitRows } from "./csv-cells.js";
import {
  integersAt,
  listAt,
  listRows,
  lookAt,
  numbersAt,
  raggedRows,
  typeOfCoordinates,
  typeOfKinds,
} from "./csv-types.js";
import { csvWriter, type TextStyle } from "./csv-write.js";
import { exactly, type InputFile } from "./file.js";
import { type Table, type TableIndex, tableContent, type Wanted } from "./table.js";
import type { NamedColumn } from "./table-roles.js";
import { countLines, parseNumber } from "./text.js";
import type { FileFormat, OpenFileOptions } from "./types.js";

const formatWith = (style: TextStyle): FileFormat => ({
  open: async (input, options) => tableContent(await csvTable(input, options), options.table),
  write: csvWriter(style),
});

export const file = formatWith({ separator: ",", header: true });
export const tsv = formatWith({ separator: "\t", header: true });
/** Those who read .xyz expect blanks, and no header. */
export const xyz = formatWith({ separator: " ", header: false });

const SAMPLE = 1 << 16;

async function csvTable(file: InputFile, options: OpenFileOptions): Promise<Table> {
  const { where, name } = file;
  const sample = await file.read(0, SAMPLE, options);
  if (sample.every((byte) => byte <= 0x20)) throw new Corrupt(`${where} is empty, and no table`, { where });
  const { dialect, names, offset, line } = headOf(sample, sample.length < SAMPLE, /\.tsv$/i.test(name));
  const twice = names.find((own, i) => names.indexOf(own) < i);
  if (twice !== undefined) throw new Corrupt(`${where} has two columns ${JSON.stringify(twice)}`, { where });
  const rest = sample.subarray(offset);
  const first = splitRows(rest, dialect, sample.length < SAMPLE, () => {});
  const lists = names.map((_, column) =>
    first.count === 0
      ? 1
      : Math.max(1, (listAt(rest, first.cells[2 * column]!, first.cells[2 * column + 1]!)?.length ?? 2) / 2),
  );
  return {
    where,
    version: name.slice(name.lastIndexOf(".") + 1).toUpperCase(),
    columns: names.map((own, column): NamedColumn => ({ name: own, channels: lists[column]! })),
    index: (wanted, now) => indexOf({ file, dialect, names, offset, line, lists, onBad: options.onBad }, wanted, now),
  };
}

/** What the first lines tell. */
function headOf(sample: Uint8Array, whole: boolean, tab: boolean) {
  let at = sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf ? 3 : 0;
  let comment: string | undefined;
  const text = (from: number, to: number): string => new TextDecoder().decode(sample.subarray(from, to)).trim();
  const endOf = (from: number): number => sample.indexOf(NEWLINE, from) + 1 || sample.length;
  while (at < sample.length && (sample[at] === 0x23 || (sample[at] === 0x2f && sample[at + 1] === 0x2f))) {
    comment = text(at, endOf(at)).replace(/^[#/]+\s*/, "");
    at = endOf(at);
  }
  const body = sample.subarray(at);
  const dialect = sniff(body, whole, tab);
  const named = comment?.split(/[\s,;]+/);
  const line = 1 + countLines(sample, at);
  const cells = splitRows(body.subarray(0, endOf(at) - at), dialect, true, () => {});
  const first = Array.from({ length: cells.count * dialect.width }, (_, i) =>
    cellText(cells, i, () => new Corrupt("")).trim(),
  );
  if (first.some(isName) && !first.some(isNumber)) {
    const names = first.map((own, i) => own || `column${i + 1}`);
    return { dialect, names, offset: endOf(at), line: line + 1 };
  }
  const names =
    named?.length === dialect.width && named.every(isName)
      ? named
      : Array.from({ length: dialect.width }, (_, i) => ["x", "y", "z"][i] ?? `column${i + 1}`);
  return { dialect, names, offset: at, line };
}

const isNumber = (text: string): boolean => {
  const bytes = new TextEncoder().encode(text);
  return !Number.isNaN(parseNumber(bytes, 0, bytes.length));
};
const isName = (text: string): boolean => text !== "" && !isNumber(text);

interface Body {
  readonly file: InputFile;
  readonly dialect: Dialect;
  readonly names: readonly string[];
  /** Where the first row begins. */
  readonly offset: number;
  readonly line: number;
  readonly lists: readonly number[];
  readonly onBad: OpenFileOptions["onBad"];
}

async function indexOf(body: Body, wanted: Wanted, options: ReadOptions): Promise<TableIndex> {
  const { file, dialect, names, offset, onBad } = body;
  const { id } = wanted;
  const { where } = file;
  const columns = wanted.names.map((name) => names.indexOf(name));
  const ragged = new Set([...wanted.lists].map((name) => names.indexOf(name)));
  const coordinates = new Set([...wanted.coordinates].map((name) => names.indexOf(name)));
  const lists = body.lists.map((channels, column) => (ragged.has(column) ? 0 : channels));
  const kinds = new Uint16Array(names.length);
  const pieces: { readonly offset: number; readonly length: number; readonly line: number; readonly rows: number }[] =
    [];
  const ids: BigUint64Array[] = []; // found on the way: reading all of it again would cost as much as this
  let [rest, at, line] = [new Uint8Array(), offset, body.line];

  function take(bytes: Uint8Array, last: boolean): number {
    const rows = splitRows(bytes, dialect, last, (place, message) => {
      const problem = new Corrupt(`${where}, line ${line + countLines(bytes, place)}: ${message}`, { where });
      if (onBad === undefined) throw problem;
      onBad(problem);
    });
    lookAt(rows, dialect.width, columns, kinds, lists, ragged, coordinates);
    if (id !== undefined) {
      const own = new BigUint64Array(rows.count);
      integersAt(rows, dialect.width, names.indexOf(id), own, 0n);
      ids.push(own);
    }
    if (rows.count > 0) pieces.push({ offset: at, length: rows.end, line, rows: rows.count });
    line += countLines(bytes, rows.end);
    at += rows.end;
    return rows.end;
  }
  const most = options.limits?.chunkBytes ?? defaultLimits.chunkBytes;
  for await (const next of file.stream(offset, options)) {
    const bytes = new Uint8Array(rest.length + next.length);
    bytes.set(rest);
    bytes.set(next, rest.length);
    rest = bytes.slice(take(bytes, false));
    if (rest.length > most)
      throw new LimitExceeded(`${where}: line ${line} has more than the ${most} bytes of limits.chunkBytes`, { where });
    options.onProgress?.({ done: at, total: file.size ?? at, unit: "bytes" });
  }
  if (rest.length > 0) take(rest, true);
  const types = new Map(
    columns.map((column) => {
      const typeOf = coordinates.has(column) ? typeOfCoordinates : typeOfKinds;
      const info = typeOf(names[column]!, kinds[column]!, lists[column]!);
      return [names[column]!, ragged.has(column) ? { ...info, channels: Math.max(1, lists[column]!) } : info];
    }),
  );
  const bytesOf = (piece: number, now: ReadOptions): Promise<Uint8Array> =>
    exactly(file, pieces[piece]!.offset, pieces[piece]!.length, "rows that were there before", now);
  /** The cells of a piece, as long as nobody waits: another table may be read meanwhile. */
  function rowsOf(piece: number, bytes: Uint8Array): Rows {
    const rows = splitRows(bytes, dialect, true, () => {});
    if (rows.count !== pieces[piece]!.rows) throw new Corrupt(`${where} has changed while it was read`, { where });
    return rows;
  }
  const lineAt = (piece: number, { bytes }: Rows, at: number): string =>
    `line ${pieces[piece]!.line + countLines(bytes, at)}`;
  return {
    types,
    ids: id === undefined ? undefined : joinedIds(ids),
    rows: Uint32Array.from(pieces, ({ rows }) => rows),
    bytes: Float64Array.from(pieces, ({ length }) => length),
    async place(piece, row, name) {
      const rows = rowsOf(piece, await bytesOf(piece, options));
      const cell = 2 * (row * dialect.width + names.indexOf(name));
      const [from, to] = [rows.cells[cell]!, rows.cells[cell + 1]!];
      const text = new TextDecoder().decode(rows.bytes.subarray(from, to < 0 ? ~to : to));
      return { place: lineAt(piece, rows, from), found: `${JSON.stringify(text.slice(0, 40))} as ${name}` };
    },
    async read(piece, some, now) {
      const rows = rowsOf(piece, await bytesOf(piece, now));
      const wrong = (at: number): Corrupt =>
        new Corrupt(`${where}, ${lineAt(piece, rows, at)}: text that is not UTF-8`, { where });
      return new Map(
        some.map((name) => {
          const [column, info] = [names.indexOf(name), types.get(name)!];
          if (info.channels === 1 && !ragged.has(column))
            return [name, columnOf(rows, dialect.width, column, info, wrong)];
          const inner = (ragged.has(column) ? raggedRows : listRows)(rows, dialect.width, column, info.channels);
          if (inner === undefined) throw new Corrupt(`${where} has changed while it was read`, { where });
          const { values } = columnOf(inner, 1, 0, info, wrong);
          if (ragged.has(column))
            for (let i = 0; i < inner.count; i++)
              if (values[i] === info.absent && inner.cells[2 * i]! < inner.cells[2 * i + 1]!)
                throw new Corrupt(
                  `${where}, ${lineAt(piece, rows, inner.cells[2 * i]!)}: the id ${info.absent} in ${name}, which stands for none`,
                  { where },
                );
          return [name, { info, values }];
        }),
      );
    },
  };
}

function columnOf(
  rows: Rows,
  width: number,
  column: number,
  info: AttributeInfo,
  wrong: (at: number) => Corrupt,
): Column {
  const { dtype, absent } = info;
  const { count } = rows;
  switch (dtype.kind) {
    case "float":
      return { info, values: numbersAt(rows, width, column) };
    case "int":
    case "uint": {
      const values = dtype.kind === "int" ? new BigInt64Array(count) : new BigUint64Array(count);
      integersAt(rows, width, column, values, BigInt(absent ?? 0));
      return { info, values };
    }
    case "bool": {
      const values = new Uint8Array(count);
      for (let row = 0; row < count; row++) {
        let from = rows.cells[2 * (row * width + column)]!;
        while (rows.bytes[from] === 0x20) from++;
        values[row] = (rows.bytes[from]! | 32) === 0x74 ? 1 : 0; // "t"
      }
      return { info, values };
    }
    default: {
      const values = new Array<string>(count);
      for (let row = 0; row < count; row++) values[row] = cellText(rows, row * width + column, wrong);
      return { info, values };
    }
  }
}

function joinedIds(blocks: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(blocks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
