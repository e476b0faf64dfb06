/** Rows of numbers as accessors of glTF describe them. */
import type { Json } from "../../bytes/json.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";

export type Values = Exclude<NumericArray, BigInt64Array | BigUint64Array>;
export type ValuesOf = {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (from: ArrayBuffer | number): Values;
};

/** By componentType. */
export const COMPONENTS = new Map<Json | undefined, ValuesOf>([
  [5120, Int8Array],
  [5121, Uint8Array],
  [5122, Int16Array],
  [5123, Uint16Array],
  [5125, Uint32Array],
  [5126, Float32Array],
]);
export const WIDTHS = new Map([
  ["SCALAR", 1],
  ["VEC2", 2],
  ["VEC3", 3],
  ["VEC4", 4],
  ["MAT4", 16],
]);

export interface Rows {
  readonly channels: number;
  readonly count: number;
  /** What values are. */
  readonly Type: ValuesOf;
  /** Some of them, in memory of their own. */
  read(from: number, to: number): Promise<Values>;
}

export interface Accessor extends Rows {
  /** Whole numbers that stand for 0 to 1, or −1 to 1. */
  readonly normalized: boolean;
}

const BLOCK = 1 << 14; // places that are looked at together

/** Rows of which some have other values: their places ascend. */
export async function withSparse(plain: Rows, places: Rows, values: Rows, what: string): Promise<Rows> {
  const { channels, count } = plain;
  let before = -1;
  for (let from = 0; from < places.count; from += BLOCK)
    for (const place of await places.read(from, Math.min(from + BLOCK, places.count))) {
      if (place <= before || place >= count)
        throw new Corrupt(`${what} is sparse, and has the place ${place} after ${before}, of ${count} rows`);
      before = place;
    }
  /** The first of the places that is not below a row. */
  async function firstFrom(row: number): Promise<number> {
    let [low, high] = [0, places.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((await places.read(middle, middle + 1))[0]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  return {
    ...plain,
    async read(from, to) {
      const out = await plain.read(from, to);
      const first = await firstFrom(from);
      const end = Math.min(places.count, first + to - from);
      const [own, over] = [await places.read(first, end), await values.read(first, end)];
      for (let i = 0; i < own.length && own[i]! < to; i++)
        for (let k = 0; k < channels; k++) out[(own[i]! - from) * channels + k] = over[i * channels + k]!;
      return out;
    },
  };
}

/** Values as the numbers that they stand for. */
export function numbersOf(values: Values, normalized: boolean): Float32Array {
  if (values instanceof Float32Array) return values;
  if (!normalized) return Float32Array.from(values);
  const signed = values instanceof Int8Array || values instanceof Int16Array;
  const most = 2 ** (8 * values.BYTES_PER_ELEMENT - (signed ? 1 : 0)) - 1;
  return Float32Array.from(values, (value) => Math.max(-most, value) / most);
}

/** Normalized whole numbers as the numbers that they stand for. */
export const asNumbers = (rows: Accessor): Accessor =>
  rows.normalized && rows.Type !== Float32Array
    ? {
        ...rows,
        Type: Float32Array,
        normalized: false,
        read: async (from, to) => numbersOf(await rows.read(from, to), true),
      }
    : rows;
