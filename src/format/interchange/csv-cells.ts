/**
 * Text in rows and columns: where its cells are. A cell in double quotes may hold anything, with its quotes doubled (RFC 4180); between blanks,
 * any number of them separates. Lines end in \n or \r\n; empty ones are nothing.
 */
import type { Corrupt } from "../../errors.js";

export interface Dialect {
  /** The byte between cells; blanks are SPACE, and mean any number of spaces and tabs. */
  readonly delimiter: number;
  /** Cells in every row. */
  readonly width: number;
}

/** The cells of some rows: from and to of each, `width` of them per row; to is ~to where quotes in it are doubled. */
export interface Rows {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly cells: Int32Array;
  /** Where the last whole row ends. */
  readonly end: number;
}

export const TAB = 9;
export const NEWLINE = 10;
export const RETURN = 13;
export const SPACE = 32;
export const QUOTE = 34;

/** New memory costs more than what is put there. */
let kept = new Int32Array(1 << 12);

/** `last`: no more comes after these bytes. `bad` is told of rows with other numbers of cells, which are left out then. The cells are good until the next call. */
export function splitRows(
  bytes: Uint8Array,
  { delimiter, width }: Dialect,
  last: boolean,
  bad: (at: number, message: string) => void,
): Rows {
  const size = bytes.length;
  const blanks = delimiter === SPACE;
  const other = blanks ? TAB : delimiter;
  let cells = kept;
  let n = 0;
  let at = 0;
  let end = 0;
  while (at < size) {
    const first = n;
    const start = at;
    let broken = false;
    let open = true;
    while (open) {
      if (blanks) {
        while (at < size && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
        if (n > first && (at === size || bytes[at] === NEWLINE || bytes[at] === RETURN)) {
          if (bytes[at] === RETURN) at++;
          break;
        }
      }
      if (n + 2 > cells.length) {
        cells = grown(cells);
        kept = cells;
      }
      let from = at;
      let to = at;
      if (at < size && bytes[at] === QUOTE) {
        from = ++at;
        let doubled = false;
        for (;;) {
          to = bytes.indexOf(QUOTE, at);
          if (to < 0 || bytes[to + 1] !== QUOTE) break;
          doubled = true;
          at = to + 2;
        }
        if (to < 0 && !last) return { bytes, count: first / 2 / width, cells, end };
        broken ||= to < 0;
        at = to < 0 ? size : to + 1;
        if (doubled) to = ~to;
        if (at < size && bytes[at] === RETURN) at++;
        const after = at;
        at = cellEnd(bytes, at, delimiter, other);
        broken ||= at > after;
      } else {
        at = cellEnd(bytes, at, delimiter, other);
        to = at;
        if (to > from && bytes[to - 1] === RETURN && (at === size || bytes[at] === NEWLINE)) to--;
      }
      cells[n++] = from;
      cells[n++] = to;
      open = at < size && bytes[at] !== NEWLINE;
      if (open) at++;
    }
    if (at >= size && !last) return { bytes, count: first / 2 / width, cells, end };
    at++; // the end of the line
    end = Math.min(at, size);
    const found = (n - first) / 2;
    if (found === 1 && cells[first] === cells[first + 1] && !broken && bytes[start] !== QUOTE) n = first;
    else if (broken || found !== width) {
      bad(start, broken ? "a quote that does not end its cell" : `${found} columns where ${width} were expected`);
      n = first;
    }
  }
  return { bytes, count: n / 2 / width, cells, end };
}

/** Where the next separator or the end of the line is. */
function cellEnd(bytes: Uint8Array, from: number, delimiter: number, other: number): number {
  const size = bytes.length;
  let at = from;
  while (at < size) {
    const byte = bytes[at]!;
    if (byte === delimiter || (byte <= NEWLINE && (byte === NEWLINE || byte === other))) break;
    at++;
  }
  return at;
}

function grown(cells: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * cells.length);
  more.set(cells);
  return more;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of cell i; the error for what is not UTF-8 is the caller's. */
export function cellText({ bytes, cells }: Rows, i: number, wrong: (at: number) => Corrupt): string {
  const from = cells[2 * i]!;
  const end = cells[2 * i + 1]!;
  const to = end < 0 ? ~end : end;
  let ascii = to - from < 48;
  for (let at = from; ascii && at < to; at++) ascii = bytes[at]! < 128;
  if (ascii && end >= 0) return String.fromCharCode.apply(null, bytes.subarray(from, to) as unknown as number[]);
  try {
    const text = decoder.decode(bytes.subarray(from, to));
    return end < 0 ? text.replaceAll('""', '"') : text;
  } catch {
    throw wrong(from);
  }
}

/** Between which bytes most columns lie, the same number in each line: tab, comma, semicolon, bar, then blanks. */
export function sniff(sample: Uint8Array, whole: boolean, tab: boolean): Dialect {
  let best = { delimiter: 44, width: 1 };
  for (const delimiter of tab ? [TAB] : [TAB, 44, 59, 124, SPACE]) {
    let [width, odd] = [0, 0];
    const count = (_at: number, message: string): void => {
      const found = Number.parseInt(message, 10);
      if (width === 0) width = found;
      else if (found !== width) odd++;
    };
    splitRows(sample, { delimiter, width: 0 }, whole, count);
    if (odd === 0 && width > best.width) best = { delimiter, width };
    if (best.width > 1 && delimiter !== SPACE) break;
  }
  if (best.width > 1) return best;
  // No byte gives the same number everywhere: the first line decides, and others are errors with their place.
  const [line = new Uint8Array()] = [sample.subarray(0, (sample.indexOf(NEWLINE) + 1 || sample.length + 1) - 1)];
  for (const delimiter of tab ? [TAB] : [TAB, 44, 59, 124, SPACE]) {
    let width = 0;
    splitRows(line, { delimiter, width: 0 }, true, (_at, message) => {
      width = Number.parseInt(message, 10);
    });
    if (width > best.width) return { delimiter, width };
  }
  return best;
}
