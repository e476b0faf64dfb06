/**
 * The one border between 64-bit integers and JavaScript numbers. A number holds whole numbers exactly up to 2^53 − 1;
 * what lies beyond stays a bigint, or is refused here. Nothing else in Octavo calls `Number(bigint)` on file contents.
 */
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import type { Endian } from "./dtype.js";

/** Unsigned: offsets, lengths, ids. Values handed in are checked, values handed out are exact. */
export const U64 = {
  MAX: 2n ** 64n - 1n,
  get: (bytes: Uint8Array, at: number, endian: Endian = "little"): bigint => {
    const [low, high] = words(bytes, at, endian);
    return (BigInt(high) << 32n) | BigInt(low);
  },
  set: (bytes: Uint8Array, at: number, value: bigint, endian: Endian = "little"): void => {
    if (value < 0n || value > U64.MAX) throw new InvalidInput(`${value} does not fit 64 bits without a sign`);
    setWords(bytes, at, value, endian);
  },
  /** Decimal digits, nothing else. */
  parse: (text: string, what: string): bigint => {
    const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
    if (value < 0n || value > U64.MAX)
      throw new Corrupt(`${what} should be a whole number below 2^64, found ${JSON.stringify(text.slice(0, 40))}`);
    return value;
  },
};

/** Two's complement: ids of Zarr Vectors, datetimes. */
export const I64 = {
  MIN: -(2n ** 63n),
  MAX: 2n ** 63n - 1n,
  get: (bytes: Uint8Array, at: number, endian: Endian = "little"): bigint =>
    BigInt.asIntN(64, U64.get(bytes, at, endian)),
  set: (bytes: Uint8Array, at: number, value: bigint, endian: Endian = "little"): void => {
    if (value < I64.MIN || value > I64.MAX) throw new InvalidInput(`${value} does not fit 64 bits with a sign`);
    setWords(bytes, at, BigInt.asUintN(64, value), endian);
  },
};

/** The same value as a number, or LimitExceeded: 2^53 + 1 must not become 2^53. */
export function toNumber(value: bigint, what: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new LimitExceeded(`${what} is ${value}, beyond ±(2^53 − 1) that can be counted exactly`);
  return number;
}

/** The same value as a bigint; fractions and numbers that may have been rounded already are refused. */
export function fromNumber(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value)) throw new InvalidInput(`${what} should be a whole number, found ${value}`);
  return BigInt(value);
}

function word(bytes: Uint8Array, at: number, endian: Endian): number {
  const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!];
  return (endian === "little" ? a | (b << 8) | (c << 16) | (d << 24) : d | (c << 8) | (b << 16) | (a << 24)) >>> 0;
}

function words(bytes: Uint8Array, at: number, endian: Endian): [low: number, high: number] {
  if (!(at >= 0 && at + 8 <= bytes.length))
    throw new Corrupt(`a 64-bit value at ${at} ends beyond the ${bytes.length} bytes that there are`);
  const first = word(bytes, at, endian);
  const second = word(bytes, at + 4, endian);
  return endian === "little" ? [first, second] : [second, first];
}

function setWords(bytes: Uint8Array, at: number, value: bigint, endian: Endian): void {
  if (!(at >= 0 && at + 8 <= bytes.length))
    throw new InvalidInput(`a 64-bit value at ${at} ends beyond the ${bytes.length} bytes that there are`);
  const low = Number(value & 0xffffffffn);
  const high = Number(value >> 32n);
  for (let i = 0; i < 4; i++) {
    bytes[endian === "little" ? at + i : at + 7 - i] = low >>> (8 * i);
    bytes[endian === "little" ? at + 4 + i : at + 3 - i] = high >>> (8 * i);
  }
}
