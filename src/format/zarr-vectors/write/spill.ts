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
 * | … for each column | rows × width, padded with zeros to a multiple of 8 for aligned views |
 *
 * Where the runs grow beyond the memory that they may take, they go to a scratch place, one key each.
 */
import { loadVectorKernel, type VectorKernel } from "../../../kernel/vectors.js";
import type { Scratch } from "../../../store/scratch.js";

/** Rows for buckets: segment s is the rows starts[s] up to starts[s + 1] (or the end), for bucket buckets[s]. Without starts each is one row. */
export interface Segments {
  readonly count: number;
  readonly buckets: Uint32Array;
  readonly starts: Uint32Array | undefined;
  readonly rows: number;
}

export interface Bucket {
  readonly rows: number;
  readonly columns: readonly Uint8Array[];
}

export interface Spool {
  /** A column for each width, `segments.rows` rows each. They may be used again once the promise settles. */
  add(columns: readonly Uint8Array[], segments: Segments): Promise<void>;
  /** The rows of these buckets, in ascending order of numbers. Nothing is added afterwards. */
  read(buckets: ArrayLike<number>): Promise<Bucket[]>;
}

interface Source {
  readonly columns: readonly Uint8Array[];
  readonly segments: Segments;
}

interface Run {
  /** Ascending; bucket i has the rows firsts[i] up to firsts[i + 1] and its bytes at offsets[i]. */
  readonly buckets: Uint32Array;
  readonly firsts: Uint32Array;
  readonly offsets: Float64Array;
  bytes: Uint8Array | undefined;
  key: number;
}

const RUN = 32 << 20;
const AROUND = 32 << 20; // what else a writer needs, and half of the memory where that is less

/** Bytes that rows may take, with what waits of others. */
export const roomFor = ({ memory }: Scratch): number => Math.max(memory / 2, memory - AROUND);

export function spool(widths: readonly number[], scratch: Scratch): Spool {
  const rowBytes = widths.reduce((sum, width) => sum + width, 0);
  const most = Math.min(RUN, Math.floor(scratch.memory / 4)); // not less: each run has a place for every bucket
  const runs: Run[] = [];
  let waiting: Source[] = [];
  let waitingBytes = 0;

  // One after the other, and whoever reads waits for them: rows may come from several sides, and be read by several.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (sources: readonly Source[]): Promise<void> => {
    turn = turn.then(() => flush(sources));
    return turn;
  };
  async function flush(sources: readonly Source[]): Promise<void> {
    const run = gather(sources, widths, await loadVectorKernel());
    runs.push(run);
    scratch.held += run.bytes!.length;
    if (scratch.held > roomFor(scratch)) await spill();
  }
  async function spill(): Promise<void> {
    for (const run of runs) {
      if (run.bytes === undefined) continue;
      run.key = await scratch.put(run.bytes);
      scratch.held -= run.bytes.length;
      run.bytes = undefined;
    }
  }
  function flushWaiting(): Promise<void> {
    const sources = waiting;
    waiting = [];
    scratch.held -= waitingBytes;
    waitingBytes = 0;
    return sources.length > 0 ? inTurn(sources) : turn;
  }

  return {
    async add(columns, segments) {
      const bytes = segments.rows * rowBytes;
      if (segments.rows === 0) return;
      if (bytes >= most / 2) {
        await flushWaiting();
        return inTurn([{ columns, segments }]);
      }
      const { count, buckets, starts, rows } = segments;
      waiting.push({
        columns: columns.map((column) => column.slice(0, column.length)),
        segments: { count, rows, buckets: buckets.slice(0, count), starts: starts?.slice(0, count) },
      });
      waitingBytes += bytes;
      scratch.held += bytes;
      if (waitingBytes >= most) await flushWaiting();
    },
    async read(buckets) {
      await flushWaiting();
      const wanted = runs.map((run) => ({ run, places: places(run.buckets, buckets) })).filter(hasAny);
      const rows = new Float64Array(buckets.length);
      const parts = new Uint32Array(buckets.length); // runs that have rows of each
      for (const { run, places } of wanted)
        for (const [place, own] of places) {
          rows[place]! += run.firsts[own + 1]! - run.firsts[own]!;
          parts[place]!++;
        }
      // What lies in one run is looked at where it lies; else there is room for all of it, and no piece outlives its copying.
      const found = Array.from(rows, (count, i): Uint8Array[] =>
        widths.map((width) => new Uint8Array(parts[i] === 1 ? 0 : count * width)),
      );
      const filled = new Float64Array(buckets.length);
      for (const { run, places } of wanted)
        for (let from = 0, to = 0; from < places.length; from = to) {
          // What lies together is read together.
          for (to = from + 1; to < places.length && places[to]![1] === places[to - 1]![1] + 1; ) to++;
          const start = run.offsets[places[from]![1]]!;
          const end = run.offsets[places[to - 1]![1] + 1]!;
          const bytes = run.bytes?.subarray(start, end) ?? (await scratch.get(run.key, start, end - start));
          for (let i = from; i < to; i++) {
            const [place, own] = places[i]!;
            const count = run.firsts[own + 1]! - run.firsts[own]!;
            let at = run.offsets[own]! - start;
            for (let c = 0; c < widths.length; c++) {
              const piece = bytes.subarray(at, at + count * widths[c]!);
              if (parts[place] === 1) found[place]![c] = piece;
              else found[place]![c]!.set(piece, filled[place]! * widths[c]!);
              at += padded(count * widths[c]!);
            }
            filled[place]! += count;
          }
        }
      return found.map((columns, i) => ({ rows: rows[i]!, columns }));
    },
  };
}

const hasAny = ({ places }: { readonly places: readonly unknown[] }): boolean => places.length > 0;
const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Pairs of the place in `wanted` and in `have`, of what is in both; both ascend. */
function places(have: Uint32Array, wanted: ArrayLike<number>): [number, number][] {
  const out: [number, number][] = [];
  let low = 0;
  for (let i = 0; i < wanted.length; i++) {
    let high = have.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (have[middle]! < wanted[i]!) low = middle + 1;
      else high = middle;
    }
    if (have[low] === wanted[i]) out.push([i, low]);
  }
  return out;
}

/** Sources one after the other as one run. */
function gather(sources: readonly Source[], widths: readonly number[], kernel: VectorKernel): Run {
  const counts = countsOf(sources);
  let touched = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) if (counts[bucket]! > 0) touched++;
  const buckets = new Uint32Array(touched);
  const firsts = new Uint32Array(touched + 1);
  const offsets = new Float64Array(touched + 1);
  for (let bucket = 0, i = 0; bucket < counts.length; bucket++) {
    const count = counts[bucket]!;
    if (count === 0) continue;
    buckets[i] = bucket;
    firsts[i + 1] = firsts[i]! + count;
    offsets[i + 1] = offsets[i]! + widths.reduce((sum, width) => sum + padded(count * width), 0);
    i++;
  }
  const size = offsets[touched]!;
  const fast =
    sources.every(({ segments }) => segments.starts === undefined) && spreader(kernel, sources, size, counts);
  const bytes = fast ? fast.bytes : new Uint8Array(size);
  const places = new Float64Array(counts.length); // where each bucket has the column under way
  for (let i = 0; i < touched; i++) places[buckets[i]!] = offsets[i]!;
  for (let c = 0; c < widths.length; c++) {
    const width = widths[c]!;
    if (fast) fast.spread(c, width, places);
    else scatter(sources, c, width, bytes, places);
    for (let i = 0; i < touched; i++) places[buckets[i]!]! += padded(counts[buckets[i]!]! * width);
  }
  return { buckets, firsts, offsets, bytes: fast ? bytes.slice() : bytes, key: -1 };
}

/** The rows of each bucket. */
function countsOf(sources: readonly Source[]): Uint32Array {
  let last = 0;
  for (const { segments } of sources)
    for (let s = 0; s < segments.count; s++) if (segments.buckets[s]! > last) last = segments.buckets[s]!;
  const counts = new Uint32Array(last + 1);
  for (const { segments } of sources) addRows(segments, counts);
  return counts;
}

/** Adds the rows of each bucket to those that it has. */
export function addRows({ count, buckets, starts, rows }: Segments, counts: Uint32Array): void {
  if (starts === undefined) for (let s = 0; s < count; s++) counts[buckets[s]!]!++;
  else for (let s = 0; s < count; s++) counts[buckets[s]!]! += (s + 1 < count ? starts[s + 1]! : rows) - starts[s]!;
}

/** Rows one by one in the kernel, whose memory has the run then: `bytes`. undefined where it cannot. */
function spreader(kernel: VectorKernel, sources: readonly Source[], size: number, counts: Uint32Array) {
  let [rows, column] = [0, 0]; // of the largest
  for (const { columns, segments } of sources) {
    rows = Math.max(rows, segments.rows);
    for (const { length } of columns) column = Math.max(column, length);
  }
  const { memory, start, spreadRows } = kernel.reserve(size + padded(column) + 4 * rows + 4 * counts.length + 16);
  if (spreadRows === undefined) return undefined;
  const first = padded(start);
  const [source, which] = [first + size, first + size + padded(column)];
  const next = new Uint32Array(memory.buffer, which + 4 * rows, counts.length);
  return {
    bytes: memory.subarray(first, first + size),
    spread(c: number, width: number, places: Float64Array): void {
      for (let bucket = 0; bucket < next.length; bucket++) next[bucket] = first + places[bucket]!;
      for (const { columns, segments } of sources) {
        memory.set(columns[c]!, source);
        new Uint32Array(memory.buffer, which, segments.rows).set(segments.buckets.subarray(0, segments.rows));
        spreadRows(width, source, segments.rows, which, next.byteOffset);
      }
    },
  };
}

const LONG = 96; // elements from which a call that copies them is worth its price

/** Copies each segment of a column behind those before it in its bucket; words where everything is made of words. */
function scatter(sources: readonly Source[], c: number, width: number, to: Uint8Array, places: Float64Array): void {
  const words = width % 4 === 0 && sources.every(({ columns }) => columns[c]!.byteOffset % 4 === 0);
  const target = words ? new Uint32Array(to.buffer) : to;
  const step = words ? width / 4 : width;
  // As whole numbers of 32 bits wherever they are: half of the time would go into conversions.
  const next = target.length < 2 ** 31 ? new Int32Array(places.length) : new Float64Array(places.length);
  for (let bucket = 0; bucket < next.length; bucket++) next[bucket] = places[bucket]! / (words ? 4 : 1);
  for (const { columns, segments } of sources) {
    const from = columns[c]!;
    const source = words ? new Uint32Array(from.buffer, from.byteOffset, from.length >> 2) : from;
    const { count, buckets, starts, rows } = segments;
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
}
