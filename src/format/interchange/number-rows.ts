/** Rows of numbers that are put aside, and asked for by their places. */
import { bytesOf } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Scratch } from "../../store/scratch.js";
import { type ScratchRows, scratchRows } from "../../store/scratch-rows.js";

/** Rows of numbers of one type. */
export class NumberRows<T extends NumericArray> {
  readonly channels: number;
  /** Bytes of a row. */
  readonly width: number;
  readonly #rows: ScratchRows;
  readonly #Type: new (
    buffer: ArrayBufferLike | number,
  ) => T;

  constructor(Type: new (buffer: ArrayBufferLike | number) => T, channels: number, scratch: Scratch) {
    this.channels = channels;
    this.#Type = Type;
    this.width = channels * new Type(0).BYTES_PER_ELEMENT;
    this.#rows = scratchRows(scratch, this.width);
  }

  get count(): number {
    return this.#rows.count;
  }

  async add(values: T): Promise<void> {
    await this.#rows.add(bytesOf(values));
  }

  /** No more come. */
  end(): Promise<void> {
    return this.#rows.end();
  }

  /** Rows up to that number, all with this value. */
  async fill(this: NumberRows<Float32Array | Float64Array | Uint32Array>, count: number, value: number): Promise<void> {
    while (this.count < count) {
      const some = new this.#Type(this.channels * Math.min(1 << 16, count - this.count));
      await this.add(some.fill(value));
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
