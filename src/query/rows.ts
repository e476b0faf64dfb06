/** Lists of objects and of parts, as they are found: in any order and more than once, in the end sorted and each once. */
import type { Parts } from "../model/source.js";
import { grown } from "./samples.js";

export class RowList {
  #rows = new Uint32Array(64);
  #count = 0;

  add(row: number): void {
    this.#rows = grown(this.#rows, this.#count + 1);
    this.#rows[this.#count++] = row;
  }

  addAll(rows: Uint32Array): void {
    this.#rows = grown(this.#rows, this.#count + rows.length);
    this.#rows.set(rows, this.#count);
    this.#count += rows.length;
  }

  sorted(): Uint32Array {
    return RowList.distinct(this.#rows.slice(0, this.#count));
  }

  /** The rows of a list that is sorted on the way, each once. */
  static distinct(rows: Uint32Array): Uint32Array {
    rows.sort();
    let kept = 0;
    for (let i = 0; i < rows.length; i++) if (i === 0 || rows[i] !== rows[i - 1]) rows[kept++] = rows[i]!;
    return rows.subarray(0, kept);
  }

  /** All rows below a number. */
  static upTo(count: number): Uint32Array {
    const rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) rows[row] = row;
    return rows;
  }

  /** Whether an ascending list has a row. */
  static has(rows: Uint32Array, row: number): boolean {
    let [low, high] = [0, rows.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (rows[middle] === row) return true;
      if (rows[middle]! < row) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  /** The rows that two ascending lists have in common. */
  static both(a: Uint32Array, b: Uint32Array): Uint32Array {
    const [few, many] = a.length < b.length ? [a, b] : [b, a];
    return few.filter((row) => RowList.has(many, row));
  }
}

export class PartList {
  #chunks = new Uint32Array(64);
  #parts = new Uint32Array(64);
  #count = 0;

  static readonly NONE: Parts = { chunk: new Int32Array(), part: new Uint32Array() };

  add(chunk: number, part: number): void {
    this.#chunks = grown(this.#chunks, this.#count + 1);
    this.#parts = grown(this.#parts, this.#count + 1);
    this.#chunks[this.#count] = chunk;
    this.#parts[this.#count++] = part;
  }

  /** In the order in which they were added. */
  done(): Parts {
    return { chunk: Int32Array.from(this.#chunks.subarray(0, this.#count)), part: this.#parts.slice(0, this.#count) };
  }

  /** By chunk, then by number, each once. */
  static sorted({ chunk, part }: Parts): Parts {
    // Both are below 2^32, and chunks below 2^21 would do: one number orders the two.
    const keys = Float64Array.from(chunk, (c, i) => c * 2 ** 32 + part[i]!).sort();
    let kept = 0;
    for (let i = 0; i < keys.length; i++) if (i === 0 || keys[i] !== keys[i - 1]) keys[kept++] = keys[i]!;
    const distinct = keys.subarray(0, kept);
    return {
      chunk: Int32Array.from(distinct, (key) => Math.floor(key / 2 ** 32)),
      part: Uint32Array.from(distinct, (key) => key % 2 ** 32),
    };
  }

  /** The place of a part in a sorted list that has it. */
  static find({ chunk, part }: Parts, wantedChunk: number, wantedPart: number): number {
    let [low, high] = [0, chunk.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      const before = chunk[middle]! - wantedChunk || part[middle]! - wantedPart;
      if (before < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
