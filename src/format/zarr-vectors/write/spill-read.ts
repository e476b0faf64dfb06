/**
 * The rows of buckets, from the runs that they came in (spill.ts). Every loop over buckets is a function of its own: in one that waits for
 * what was put aside it would be compiled again and again, each time with all that it calls.
 */
import { room } from "../../../bytes/room.js";
import type { Scratch } from "../../../store/scratch.js";
import { padded, type RunTable, sizeOf } from "./spill-table.js";

export interface Bucket {
  readonly rows: number;
  readonly columns: readonly Uint8Array[];
}

/** Memory for what is read, which grows as it is needed: what was there before is gone. */
export interface Room {
  bytes: Uint8Array;
}

export interface Run {
  readonly table: RunTable;
  /** By column the row that all rows are; undefined: they differ. */
  readonly same: readonly (Uint8Array | undefined)[];
  /** undefined: they lie under the key. */
  bytes: Uint8Array | undefined;
  key: number;
}

/** What runs have of the buckets that are asked for: number i is bucket i of run 0, then those of run 1 … */
interface Found {
  /** Buckets that are asked for. */
  readonly length: number;
  readonly counts: Float64Array;
  readonly offsets: Float64Array;
  /** Rows of each bucket in all runs, and how many runs have some. */
  readonly rows: Float64Array;
  readonly parts: Uint32Array;
}

interface Target {
  readonly widths: readonly number[];
  /** By column the row that all rows are in all runs. */
  readonly same: Run["same"];
  /** By bucket and column, and the rows that are there. */
  readonly columns: Uint8Array[][];
  readonly filled: Float64Array;
  readonly repeat: Repeater;
}

export const NONE = new Uint8Array();

/** The rows of these buckets, in ascending order of numbers, in `again` where they are copied. */
export async function readRuns(
  runs: readonly Run[],
  { widths, repeat, scratch }: Pick<Target, "widths" | "repeat"> & { readonly scratch: Scratch },
  buckets: ArrayLike<number>,
  again: Room,
): Promise<Bucket[]> {
  const found = findRows(runs, buckets);
  const same = widths.map((_, c) => sameIn(runs, c));
  const columns = layOut(found, widths, same, repeat, again);
  const target = { widths, same, columns, filled: new Float64Array(found.length), repeat };
  for (const [r, run] of runs.entries()) {
    if (run.bytes !== undefined) {
      copyRows(run, found, r, 0, found.length, run.bytes, 0, target);
      continue;
    }
    for (let from = 0, to = 0; from < found.length; from = to) {
      const start = found.offsets[r * found.length + from]!;
      let end: number;
      [to, end] = stretch(run.table, found, r, from);
      const bytes = end === start ? NONE : await scratch.get(run.key, start, end - start);
      copyRows(run, found, r, from, to, bytes, start, target);
    }
  }
  return columns.map((own, i) => ({ rows: found.rows[i]!, columns: own }));
}

function findRows(runs: readonly Run[], buckets: ArrayLike<number>): Found {
  const { length } = buckets;
  const [counts, offsets] = [new Float64Array(runs.length * length), new Float64Array(runs.length * length)];
  const [rows, parts] = [new Float64Array(length), new Uint32Array(length)];
  for (let r = 0, at = 0; r < runs.length; r++) {
    const { table } = runs[r]!;
    for (let i = 0; i < length; i++, at++) {
      table.find(buckets[i]!);
      counts[at] = table.rows;
      offsets[at] = table.offset;
      if (table.rows === 0) continue;
      rows[i]! += table.rows;
      parts[i]!++;
    }
  }
  return { length, counts, offsets, rows, parts };
}

/** Room for all that lies in several runs: no piece outlives its copying. What lies in one is looked at where it lies. */
function layOut(
  { length, rows, parts }: Found,
  widths: readonly number[],
  same: Run["same"],
  repeat: Repeater,
  again: Room,
): Uint8Array[][] {
  const copied = without(widths, same);
  let size = 0;
  for (let i = 0; i < length; i++) if (parts[i]! > 1) size += sizeOf(rows[i]!, copied);
  if (again.bytes.length < size) again.bytes = room(Uint8Array, size);
  let free = 0;
  return Array.from(rows, (count, i) =>
    widths.map((width, c) => {
      if (same[c] !== undefined) return repeat(c, same[c], count);
      if (parts[i]! <= 1) return NONE;
      const own = again.bytes.subarray(free, free + count * width);
      free += padded(count * width);
      return own;
    }),
  );
}

/** The buckets from this one on whose rows lie together, to be read together: the first that does not, and where they end. */
function stretch({ widths }: RunTable, { length, counts, offsets }: Found, r: number, from: number): [number, number] {
  let end = offsets[r * length + from]!;
  let to = from;
  for (let at = r * length + from; to < length && (to === from || offsets[at] === end); to++, at++)
    end += sizeOf(counts[at]!, widths);
  return [to, end];
}

/** Copies the rows of buckets from, up to `to` behind those of runs before; `bytes` are those of the run from `start` on. */
function copyRows(
  { same: sameHere }: Run,
  { length, counts, offsets, parts }: Found,
  r: number,
  from: number,
  to: number,
  bytes: Uint8Array,
  start: number,
  { widths, same, columns, filled, repeat }: Target,
): void {
  for (let i = from; i < to; i++) {
    const count = counts[r * length + i]!;
    if (count === 0) continue;
    const own = columns[i]!;
    let at = offsets[r * length + i]! - start;
    for (let c = 0; c < widths.length; c++) {
      if (same[c] !== undefined) continue;
      const [row, size] = [sameHere[c], count * widths[c]!];
      const piece = row === undefined ? bytes.subarray(at, at + size) : repeat(c, row, count);
      if (parts[i] === 1) own[c] = piece;
      else own[c]!.set(piece, filled[i]! * widths[c]!);
      if (row === undefined) at += padded(size);
    }
    filled[i]! += count;
  }
}

/** The widths of columns whose rows differ; the others take nothing. */
export const without = (widths: readonly number[], same: Run["same"]): number[] =>
  widths.map((width, c) => (same[c] === undefined ? width : 0));

const startsWith = (bytes: Uint8Array, row: Uint8Array): boolean => row.every((byte, i) => bytes[i] === byte);

/** The row that all rows of a column are in all runs. */
export function sameIn(runs: readonly Run[], c: number): Uint8Array | undefined {
  const row = runs[0]?.same[c];
  return row && runs.every(({ same }) => same[c] !== undefined && startsWith(same[c], row)) ? row : undefined;
}

type Repeater = (column: number, row: Uint8Array, count: number) => Uint8Array;

/** A row of a column again and again, in memory that is only looked at. */
export function repeater(widths: readonly number[]): Repeater {
  const rooms = widths.map(() => new Uint8Array());
  return (column, row, count) => {
    const size = count * row.length;
    if (size > rooms[column]!.length || !startsWith(rooms[column]!, row)) {
      const room = new Uint8Array(Math.ceil((1.5 * size) / row.length) * row.length);
      for (let i = 0; i < row.length; i++) room[i] = row[i]!;
      for (let done = row.length; done < room.length; done *= 2) room.copyWithin(done, 0, done);
      rooms[column] = room;
    }
    return rooms[column]!.subarray(0, size);
  };
}
