/**
 * What a verb prints. Results go to stdout: lines and tables for people, or one JSON document. Everything else (remarks,
 * errors, progress) goes to stderr, so that a pipe gets the result and nothing but the result.
 */
import type { WriteStream } from "node:tty";
import { toJson } from "../convert/json/text.js";

export type Paint = (text: string) => string;

export interface Output {
  /** The result is one JSON document: print no lines. */
  readonly json: boolean;
  readonly verbose: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly green: Paint;
  /** A line of the result. */
  line(text?: string): void;
  /** The result, as JSON. */
  document(value: unknown): void;
  /** A part of the result as it is; resolves when there is room for the next. */
  bytes(part: Uint8Array | string): Promise<void>;
  /** To stderr, unless -q. */
  remark(text: string): void;
  /** To stderr, with -v only. */
  detail(text: string): void;
}

export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
}

export function createOutput(options: OutputOptions, out: NodeJS.WriteStream, err: NodeJS.WriteStream): Output {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      options.color && (out as WriteStream).isTTY ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    json: options.json,
    verbose: options.verbose,
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    yellow: paint(33, 39),
    green: paint(32, 39),
    line: (text = "") => void out.write(`${visible(text)}\n`),
    document: (value) => void out.write(`${toJson(value, 2)}\n`),
    bytes: (part) =>
      new Promise((resolve, reject) => void out.write(part, (error) => (error == null ? resolve() : reject(error)))),
    remark: (text) => void (options.quiet || err.write(`${visible(text)}\n`)),
    detail: (text) => void (options.verbose && err.write(`${visible(text)}\n`)),
  };
}

/** Names and attributes come from strangers: control characters are shown, not sent to the terminal; colours pass. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  return text.replace(/\x1b\[\d+m|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Columns as wide as their widest cell; those named in `right` are numbers and line up at their end. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, i) => {
        const space = " ".repeat(widths[i]! - width(cell));
        return right.includes(i) ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd(),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour takes no room
const width = (cell: string): number => [...cell.replace(/\x1b\[\d+m/g, "")].length;

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** "1.5 MB": powers of 1000, as disks and networks count. */
export function bytesText(count: number): string {
  const power = count < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(count) / 3));
  const scaled = count / 1000 ** power;
  return `${power === 0 ? scaled : scaled.toPrecision(scaled < 100 ? 3 : 4).replace(/\.?0+$/, "")} ${UNITS[power]}`;
}

/** "1 object", "1,200 objects"; "vertex" and the like say how they are when there are several. */
export const counted = (count: number | bigint, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 || count === 1n ? one : many}`;

export const countText = (count: number | bigint): string => count.toLocaleString("en-US");
