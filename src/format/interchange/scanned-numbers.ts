/** Numbers of one type from text, however many there are: some at a time, from a file that is held in part. */
import type { NumericType } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt } from "../../errors.js";
import type { FileScanner } from "./file-scanner.js";
import { fits } from "./surface.js";
import { room } from "./surface-write.js";
import type { Scanner } from "./text.js";

const BLOCK = 1 << 16; // numbers

/** `ends` makes the error where there are fewer than `count`. */
export async function* scannedNumbers(
  scanner: FileScanner,
  type: NumericType,
  count: number,
  what: string,
  ends: (found: number) => Error,
): AsyncGenerator<NumericArray> {
  for (let left = count; left > 0; ) {
    const out = room(type, Math.min(left, BLOCK));
    const found = wholeNumbers(scanner, scanner.wholeWords(), out, type, what);
    if (found > 0) yield out.subarray(0, found);
    else if (scanner.ended) throw ends(count - left);
    left -= found;
    if (found < out.length) await scanner.more();
  }
}

/** As many as begin before `end`. */
export function wholeNumbers(
  scanner: Scanner,
  end: number,
  out: NumericArray,
  type: NumericType,
  what: string,
): number {
  const big = type.size === 8 && type.kind !== "float";
  for (let i = 0; i < out.length; i++) {
    while (scanner.ends() && scanner.at < end) scanner.next();
    if (scanner.at >= end) return i;
    if (big) out[i] = bigNumber(scanner, type.kind === "int", what);
    else {
      const value = scanner.number(what);
      if (!fits(type, value))
        throw scanner.corrupt(`${value} where ${what} was expected, which is ${type.kind}${8 * type.size}`);
      out[i] = value;
    }
  }
  return out.length;
}

function bigNumber(scanner: Scanner, signed: boolean, what: string): bigint {
  const word = scanner.word();
  const value = /^-?\d{1,20}$/.test(word) ? BigInt(word) : undefined;
  if (value === undefined || (signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value)
    throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} where ${what} was expected`);
  return value;
}

/** Corrupt where so many numbers cannot be in so many bytes of text. */
export function mustHaveRoom(bytes: number, count: number, where: string, what: string): void {
  if (2 * count > bytes + 1)
    throw new Corrupt(`${where}: ${what} needs ${count} numbers, in ${bytes} bytes`, { where });
}

/** The error where there are fewer than expected. */
export const endsAfter = (found: number, count: number, where: string, what: string): Corrupt =>
  new Corrupt(`${where}: ${what} ends after ${found} of ${count} numbers`, { where });
