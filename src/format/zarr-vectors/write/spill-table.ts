/**
 * Which rows of a run each bucket has: how many, and where their bytes begin. There may be hundreds of runs and tens of thousands of
 * buckets in each, so that a count takes a byte or two instead of 16, and is looked for from the nearest mark.
 *
 * | counts          | of each bucket, 7 bits in a byte, the lowest first; the highest bit says that more follow |
 * | marks, offsets  | of every 16th bucket: where its count is, and where its rows begin                         |
 */
const STEP = 16;

export const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Bytes of so many rows. */
export function sizeOf(rows: number, widths: readonly number[]): number {
  let size = 0;
  for (let c = 0; c < widths.length; c++) size += padded(rows * widths[c]!);
  return size;
}

export class RunTable {
  readonly widths: readonly number[];
  /** Bytes of all rows. */
  readonly size: number;
  readonly #buckets: number;
  readonly #counts: Uint8Array;
  readonly #marks: Uint32Array;
  readonly #offsets: Float64Array;
  /** Of the bucket that was looked for last: its rows, and where they are or would be. */
  rows = 0;
  offset = 0;

  /** Of the rows of each bucket. */
  constructor(rows: Uint32Array, widths: readonly number[]) {
    this.widths = widths;
    this.#buckets = rows.length;
    this.#marks = new Uint32Array(Math.ceil(rows.length / STEP));
    this.#offsets = new Float64Array(this.#marks.length);
    let bytes = rows.length;
    for (let bucket = 0; bucket < rows.length; bucket++)
      for (let more = rows[bucket]! >>> 7; more > 0; more >>>= 7) bytes++;
    this.#counts = new Uint8Array(bytes);
    let offset = 0;
    for (let bucket = 0, at = 0; bucket < rows.length; bucket++) {
      if (bucket % STEP === 0) {
        this.#marks[bucket / STEP] = at;
        this.#offsets[bucket / STEP] = offset;
      }
      let left = rows[bucket]!;
      offset += sizeOf(left, widths);
      for (; left > 127; left >>>= 7) this.#counts[at++] = 128 | (left & 127);
      this.#counts[at++] = left;
    }
    this.size = offset;
  }

  find(bucket: number): this {
    this.rows = 0;
    if (bucket >= this.#buckets) return this;
    const mark = Math.floor(bucket / STEP);
    const counts = this.#counts;
    this.offset = this.#offsets[mark]!;
    for (let own = mark * STEP, at = this.#marks[mark]!; own <= bucket; own++) {
      this.offset += sizeOf(this.rows, this.widths);
      let byte = counts[at++]!;
      this.rows = byte & 127;
      for (let shift = 7; byte > 127; shift += 7) {
        byte = counts[at++]!;
        this.rows += (byte & 127) * 2 ** shift;
      }
    }
    return this;
  }
}
