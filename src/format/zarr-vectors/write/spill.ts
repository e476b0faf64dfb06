/**
 * Rows by bucket, in bounded memory. Rows of fixed size come in any order, each for a bucket (a chunk, a link cell); in the end
 * each bucket is read once, its rows in the order in which they came.
 *
 * What comes is gathered into runs. In a run the rows lie bucket by bucket, and in a bucket column by column, so that a bucket is
 * one stretch of each run:
 *
 * | run               | bytes                                                               |
 * |-------------------|---------------------------------------------------------------------|
 * | for each bucket   | in ascending order of numbers                                       |
 * | … for each column | rows × width, padded to a multiple of 8 for aligned views            |
 *
 * A column whose rows are all the same has none of these bytes: one row is kept for the run. Where the runs grow beyond the memory
 * that they may take, they go to a scratch place, several small ones as one, one key each.
 */
import { loadVectorKernel, type VectorKernel } from "../../../kernel/vectors.js";
import type { Scratch } from "../../../store/scratch.js";
import { type Bucket, NONE, type Room, type Run, readRuns, repeater, sameIn, without } from "./spill-read.js";
import { padded, RunTable, sizeOf } from "./spill-table.js";
import { Growing } from "./write-numbering.js";

export type { Bucket, Room } from "./spill-read.js";

/** Rows for buckets: segment s is the rows starts[s] up to starts[s + 1] (or the end), for bucket buckets[s]. Without starts each is one row. */
export interface Segments {
  readonly count: number;
  readonly buckets: Uint32Array;
  readonly starts: Uint32Array | undefined;
  readonly rows: number;
}

export interface Spool {
  /** A column for each width, `segments.rows` rows each. They may be used again once the promise settles. */
  add(columns: readonly Uint8Array[], segments: Segments): Promise<void>;
  /** Which columns have the same row everywhere. Nothing is added afterwards. */
  constant(): Promise<readonly boolean[]>;
  /** The rows of these buckets, in ascending order of numbers; in memory that is used again, if there is some. Nothing is added afterwards. */
  read(buckets: ArrayLike<number>, room?: Room): Promise<Bucket[]>;
}

interface Source {
  readonly columns: readonly Uint8Array[];
  readonly segments: Segments;
}

const RUN = 32 << 20;
const AROUND = 32 << 20; // what else a writer needs, and half of the memory where that is less

/** Bytes that rows may take, with what waits of others. */
export const roomFor = ({ memory }: Scratch): number => Math.max(memory / 2, memory - AROUND);

/** `few`: there will be much fewer rows than those of vertices, which then have more of the memory. */
export function spool(widths: readonly number[], scratch: Scratch, few = false): Spool {
  const rowBytes = widths.reduce((sum, width) => sum + width, 0);
  const most = Math.min(RUN, scratch.memory / 4) / (few ? 4 : 1); // not less: all runs are looked at for a bucket
  const runs: Run[] = [];
  const repeat = repeater(widths);
  const waiting = waitingRows(widths, Math.ceil(most / rowBytes));
  let one = new Uint8Array(); // for a run that is put aside

  // One after the other, and whoever reads waits for them: rows may come from several sides, and be read by several.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    turn = turn.then(work);
    return turn;
  };
  async function flush(source: Source): Promise<void> {
    if (source.segments.rows === 0) return;
    const kernel = await loadVectorKernel();
    const counts = countsOf(source.segments);
    const same = source.columns.map((column, c) => sameRow(column, source.segments, widths[c]!));
    const table = new RunTable(counts, without(widths, same));
    const { size } = table;
    scratch.full ||= scratch.held + size > roomFor(scratch);
    const aside = scratch.full;
    if (aside) await spill();
    if (aside && one.length < size) one = new Uint8Array(Math.max(size, most));
    const bytes = aside ? one.subarray(0, size) : new Uint8Array(size);
    gather(source, table.widths, counts, bytes, kernel);
    const run = { table, same, bytes: aside ? undefined : bytes, key: -1 };
    if (aside) run.key = await scratch.put(bytes);
    else scratch.held += size;
    runs.push(run);
  }
  async function spill(): Promise<void> {
    for (const run of runs) {
      if (run.bytes === undefined) continue;
      run.key = await scratch.put(run.bytes);
      scratch.held -= run.bytes.length;
      run.bytes = undefined;
    }
  }
  /** Nothing comes any more. */
  const end = (): Promise<void> =>
    inTurn(async () => {
      await flushWaiting();
      waiting.free();
      one = new Uint8Array();
    });
  async function flushWaiting(): Promise<void> {
    scratch.held -= waiting.rows * rowBytes;
    await flush(waiting.source());
    waiting.empty();
  }

  return {
    add: (columns, segments) =>
      inTurn(async () => {
        const bytes = segments.rows * rowBytes;
        if (segments.rows === 0) return;
        const large = bytes >= most / (scratch.full ? 2 : 8); // what stays in memory need not be in few runs
        if (large || waiting.rows * rowBytes + bytes > most || !waiting.fits(segments)) await flushWaiting();
        if (large) return flush({ columns, segments });
        waiting.add(columns, segments);
        scratch.held += bytes;
      }),
    async constant() {
      await end();
      return widths.map((_, c) => sameIn(runs, c) !== undefined);
    },
    async read(buckets, again = { bytes: NONE }) {
      await end();
      return readRuns(runs, { widths, repeat, scratch }, buckets, again);
    },
  };
}

/** The row that all rows of a column are; undefined where they differ. */
function sameRow(column: Uint8Array, { starts, rows }: Segments, width: number): Uint8Array | undefined {
  const own = column.subarray((starts?.[0] ?? 0) * width, rows * width);
  const words = width % 4 === 0 ? width >> 2 : 4 % width === 0 ? 1 : 0;
  let at = width; // bytes up to here are known to be the row again and again
  if (words > 0 && own.byteOffset % 4 === 0 && own.length >= 4 * words) {
    if (differs(own.subarray(0, 4 * words), width, width)) return undefined;
    const all = new Int32Array(own.buffer, own.byteOffset, own.length >> 2);
    if (differs(all, words, words)) return undefined;
    at = 4 * all.length;
  }
  return differs(own, width, Math.max(at, width)) ? undefined : own.slice(0, width);
}

/** Whether an element, from this one on, is another than `back` before. A loop by itself: what comes after it would be compiled again and again. */
function differs(values: Uint8Array | Int32Array, back: number, from: number): boolean {
  for (let i = from; i < values.length; i++) if (values[i] !== values[i - back]) return true;
  return false;
}

/** Rows that wait to become a run, in memory that is used again. */
function waitingRows(widths: readonly number[], most: number) {
  let columns = widths.map(() => new Uint8Array());
  let [buckets, starts] = [new Growing(), new Growing()];
  let rows = 0;
  const whole = (): boolean => starts.length === 0; // each segment is a row
  return {
    get rows() {
      return rows;
    },
    fits: (segments: Segments): boolean => rows === 0 || whole() === (segments.starts === undefined),
    add(own: readonly Uint8Array[], segments: Segments): void {
      const skipped = segments.starts?.[0] ?? 0;
      for (let s = 0; s < segments.count; s++) {
        buckets.push(segments.buckets[s]!);
        if (segments.starts !== undefined) starts.push(rows + segments.starts[s]! - skipped);
      }
      for (let c = 0; c < widths.length; c++) {
        const width = widths[c]!;
        const [used, end] = [rows * width, (rows + segments.rows - skipped) * width];
        if (columns[c]!.length < end) {
          const larger = new Uint8Array(Math.max(end, Math.min(2 * end, most * width)));
          larger.set(columns[c]!.subarray(0, used));
          columns[c] = larger;
        }
        columns[c]!.set(own[c]!.subarray(skipped * width, segments.rows * width), used);
      }
      rows += segments.rows - skipped;
    },
    source: (): Source => ({
      columns: columns.map((column, c) => column.subarray(0, rows * widths[c]!)),
      segments: { count: buckets.length, buckets: buckets.values, starts: whole() ? undefined : starts.values, rows },
    }),
    empty(): void {
      rows = 0;
      buckets.length = 0;
      starts.length = 0;
    },
    free(): void {
      columns = widths.map(() => new Uint8Array());
      [buckets, starts] = [new Growing(), new Growing()];
    },
  };
}

/** Rows as one run. */
function gather(
  { columns, segments }: Source,
  widths: readonly number[],
  counts: Uint32Array,
  bytes: Uint8Array,
  kernel: VectorKernel,
): void {
  const places = new Float64Array(counts.length); // where each bucket has the column under way
  for (let bucket = 1; bucket < counts.length; bucket++)
    places[bucket] = places[bucket - 1]! + sizeOf(counts[bucket - 1]!, widths);
  const fast = segments.starts === undefined ? spreader(kernel, columns, segments, bytes.length, counts) : undefined;
  for (let c = 0; c < widths.length; c++) {
    const width = widths[c]!;
    if (width === 0) continue; // all rows are the same
    if (fast) fast.spread(columns[c]!, width, places);
    else scatter(columns[c]!, segments, width, bytes, places);
    for (let bucket = 0; bucket < counts.length; bucket++) places[bucket]! += padded(counts[bucket]! * width);
  }
  if (fast) bytes.set(fast.bytes);
}

/** The rows of each bucket. */
function countsOf(segments: Segments): Uint32Array {
  let last = 0;
  for (let s = 0; s < segments.count; s++) if (segments.buckets[s]! > last) last = segments.buckets[s]!;
  const counts = new Uint32Array(last + 1);
  addRows(segments, counts);
  return counts;
}

/** Adds the rows of each bucket to those that it has. */
export function addRows({ count, buckets, starts, rows }: Segments, counts: Uint32Array): void {
  if (starts === undefined) for (let s = 0; s < count; s++) counts[buckets[s]!]!++;
  else for (let s = 0; s < count; s++) counts[buckets[s]!]! += (s + 1 < count ? starts[s + 1]! : rows) - starts[s]!;
}

/** Rows one by one in the kernel, whose memory has the run then: `bytes`. undefined where it cannot. */
function spreader(
  kernel: VectorKernel,
  columns: readonly Uint8Array[],
  { rows, buckets }: Segments,
  size: number,
  counts: Uint32Array,
) {
  const column = columns.reduce((most, { length }) => Math.max(most, length), 0);
  const { memory, start, spreadRows } = kernel.reserve(size + padded(column) + 4 * rows + 4 * counts.length + 16);
  if (spreadRows === undefined) return undefined;
  const first = padded(start);
  const [source, which] = [first + size, first + size + padded(column)];
  new Uint32Array(memory.buffer, which, rows).set(buckets.subarray(0, rows));
  const next = new Uint32Array(memory.buffer, which + 4 * rows, counts.length);
  return {
    bytes: memory.subarray(first, first + size),
    spread(own: Uint8Array, width: number, places: Float64Array): void {
      for (let bucket = 0; bucket < next.length; bucket++) next[bucket] = first + places[bucket]!;
      memory.set(own, source);
      spreadRows(width, source, rows, which, next.byteOffset);
    },
  };
}

const LONG = 96; // elements from which a call that copies them is worth its price

/** Copies each segment of a column behind those before it in its bucket; words where everything is made of words. */
function scatter(
  from: Uint8Array,
  { count, buckets, starts, rows }: Segments,
  width: number,
  to: Uint8Array,
  places: Float64Array,
): void {
  const words = width % 4 === 0 && from.byteOffset % 4 === 0;
  const target = words ? new Uint32Array(to.buffer, to.byteOffset, to.length >> 2) : to;
  const source = words ? new Uint32Array(from.buffer, from.byteOffset, from.length >> 2) : from;
  const step = words ? width / 4 : width;
  // As whole numbers of 32 bits wherever they are: half of the time would go into conversions.
  const next = target.length < 2 ** 31 ? new Int32Array(places.length) : new Float64Array(places.length);
  for (let bucket = 0; bucket < next.length; bucket++) next[bucket] = places[bucket]! / (words ? 4 : 1);
  for (let s = 0, at = (starts?.[0] ?? 0) * step; s < count; s++) {
    const end = (starts === undefined ? s + 1 : s + 1 < count ? starts[s + 1]! : rows) * step;
    const bucket = buckets[s]!;
    let out = next[bucket]!;
    next[bucket] = out + end - at;
    if (end - at > LONG) target.set(source.subarray(at, end), out);
    else for (; at < end; at++, out++) target[out] = source[at]!;
    at = end;
  }
}
