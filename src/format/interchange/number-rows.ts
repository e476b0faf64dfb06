/** Rows of numbers that are put aside, and asked for by their places. */
import { bytesOf } from "../../codec/numeric.js";
import type { Scratch } from "../../store/scratch.js";
import { type ScratchRows, scratchRows } from "../../store/scratch-rows.js";

/** Rows of numbers of one type. */
export class NumberRows<T extends Float32Array | Float64Array | Uint32Array> {
  readonly channels: number;
  readonly #rows: ScratchRows;
  readonly #Type: new (
    buffer: ArrayBufferLike | number,
  ) => T;

  constructor(Type: new (buffer: ArrayBufferLike | number) => T, channels: number, scratch: Scratch) {
    this.channels = channels;
    this.#Type = Type;
    this.#rows = scratchRows(scratch, channels * new Type(0).BYTES_PER_ELEMENT);
  }

  get count(): number {
    return this.#rows.count;
  }

  async add(values: T): Promise<void> {
    await this.#rows.add(bytesOf(values));
  }

  /** Rows up to that number, all with this value. */
  async fill(count: number, value: number): Promise<void> {
    while (this.count < count) {
      const some = new this.#Type(this.channels * Math.min(1 << 16, count - this.count));
      await this.add(some.fill(value) as T);
    }
  }

  /** These rows; all must be there. */
  async pick(rows: Uint32Array): Promise<T> {
    return new this.#Type((await this.#rows.pick(rows)).buffer);
  }

  /** Rows one after the other. */
  slice(from: number, to: number): Promise<T> {
    return this.pick(Uint32Array.from({ length: to - from }, (_, i) => from + i));
  }
}
