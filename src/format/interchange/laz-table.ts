/**
 * The table of chunks of a LAZ file: how long each is, and how many points it has where that differs.
 *
 * | bytes | what                                                                             |
 * |-------|----------------------------------------------------------------------------------|
 * | 4     | version 0                                                                        |
 * | 4     | chunks                                                                           |
 * | …     | arithmetic code: for each chunk its points (where chunks differ), then its bytes, each as the difference to the one before |
 *
 * The code is the one of LASzip: adaptive models of symbols, and numbers as the count of their bits, their upper 8 bits and the rest.
 */
import { Reader } from "../../bytes/reader.js";
import { Corrupt } from "../../errors.js";

const LEAST = 0x0100_0000;

/** How often each symbol came so far. */
class Model {
  readonly counts: Uint32Array;
  readonly sums: Float64Array;
  #total = 0;
  #cycle: number;
  #left = 0;

  constructor(symbols: number) {
    this.counts = new Uint32Array(symbols).fill(1);
    this.sums = new Float64Array(symbols);
    this.#cycle = symbols;
    this.#update();
    this.#cycle = (symbols + 6) >> 1;
    this.#left = this.#cycle;
  }

  add(symbol: number): void {
    this.counts[symbol]!++;
    if (--this.#left === 0) this.#update();
  }

  #update(): void {
    const { counts, sums } = this;
    this.#total += this.#cycle;
    if (this.#total > 1 << 15) {
      this.#total = 0;
      for (let i = 0; i < counts.length; i++) {
        counts[i] = (counts[i]! + 1) >> 1;
        this.#total += counts[i]!;
      }
    }
    const scale = Math.floor(0x8000_0000 / this.#total);
    for (let i = 0, sum = 0; i < counts.length; i++) {
      sums[i] = Math.floor((scale * sum) / 65536);
      sum += counts[i]!;
    }
    this.#cycle = Math.min((5 * this.#cycle) >> 2, (counts.length + 6) << 3);
    this.#left = this.#cycle;
  }
}

/** The same for a single bit. */
class BitModel {
  zeros = 1;
  count = 2;
  share = 4096;
  cycle = 4;
  left = 4;

  update(): void {
    this.count += this.cycle;
    if (this.count > 1 << 13) {
      this.count = (this.count + 1) >> 1;
      this.zeros = (this.zeros + 1) >> 1;
      if (this.zeros === this.count) this.count++;
    }
    this.share = Math.floor((this.zeros * Math.floor(0x8000_0000 / this.count)) / 2 ** 18);
    this.cycle = Math.min((5 * this.cycle) >> 2, 64);
    this.left = this.cycle;
  }
}

class Decoder {
  readonly #reader: Reader;
  #value: number;
  #length = 0xffff_ffff;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#value = 0;
    for (let i = 0; i < 4; i++) this.#value = this.#value * 256 + reader.u8();
  }

  bit(model: BitModel): number {
    const middle = model.share * Math.floor(this.#length / 8192);
    const one = this.#value >= middle;
    if (one) {
      this.#value -= middle;
      this.#length -= middle;
    } else {
      this.#length = middle;
      model.zeros++;
    }
    this.#fill();
    if (--model.left === 0) model.update();
    return one ? 1 : 0;
  }

  symbol(model: Model): number {
    let end = this.#length;
    const unit = Math.floor(this.#length / 32768);
    let [low, high, start] = [0, model.counts.length, 0];
    for (let middle = high >> 1; middle !== low; middle = (low + high) >> 1) {
      const place = unit * model.sums[middle]!;
      if (place > this.#value) [high, end] = [middle, place];
      else [low, start] = [middle, place];
    }
    this.#value -= start;
    this.#length = end - start;
    this.#fill();
    model.add(low);
    return low;
  }

  bits(count: number): number {
    if (count > 19) {
      const low = this.bits(16);
      return this.bits(count - 16) * 65536 + low;
    }
    const unit = Math.floor(this.#length / 2 ** count);
    const found = Math.floor(this.#value / unit);
    this.#value -= unit * found;
    this.#length = unit;
    this.#fill();
    return found;
  }

  #fill(): void {
    if (!(this.#length > 0)) throw new Corrupt("the table of chunks is damaged");
    while (this.#length < LEAST) {
      this.#value = (this.#value * 256 + this.#reader.u8()) % 2 ** 32;
      this.#length *= 256;
    }
  }
}

const UPPER = 8; // bits that have models

/** Differences of 32-bit numbers, in two contexts that share models of bits. */
function differences(decoder: Decoder): (context: number) => number {
  const sizes = [new Model(33), new Model(33)];
  const zero = new BitModel();
  const upper = Array.from({ length: 32 }, (_, bits) => new Model(1 << Math.min(bits, UPPER)));
  return (context) => {
    const size = decoder.symbol(sizes[context]!);
    if (size === 0) return decoder.bit(zero);
    if (size === 32) return -(2 ** 31);
    let value = decoder.symbol(upper[size]!);
    if (size > UPPER) value = value * 2 ** (size - UPPER) + decoder.bits(size - UPPER);
    return value >= 2 ** (size - 1) ? value + 1 : value - (2 ** size - 1);
  };
}

export interface Chunks {
  /** Bytes of each. */
  readonly lengths: readonly number[];
  /** Points of each, where the table says so. */
  readonly counts: readonly number[] | undefined;
}

/** `variable`: chunks do not all have as many points. Bytes past the end of the code are zeros. */
export function parseChunkTable(bytes: Uint8Array, variable: boolean, most: number, where: string): Chunks {
  const head = new Reader(bytes, `the table of chunks of ${where}`);
  const version = head.u32();
  const chunks = head.u32();
  if (version !== 0 || chunks > most)
    throw new Corrupt(
      `${where} has a table of version ${version} with ${chunks} chunks, where at most ${most} can be`,
      { where },
    );
  if (chunks === 0) return { lengths: [], counts: variable ? [] : undefined };
  const padded = new Uint8Array(bytes.length + 4096);
  padded.set(bytes.subarray(8));
  const decode = differences(new Decoder(new Reader(padded, `the table of chunks of ${where}`)));
  const lengths: number[] = [];
  const counts: number[] = [];
  const wrapped = (value: number): number => value >>> 0;
  for (let i = 0; i < chunks; i++) {
    if (variable) counts.push(wrapped((counts[i - 1] ?? 0) + decode(0)));
    lengths.push(wrapped((lengths[i - 1] ?? 0) + decode(1)));
  }
  return { lengths, counts: variable ? counts : undefined };
}
