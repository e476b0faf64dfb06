/** Ranges against sizes: exactly the bytes asked for, or an error. */
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import type { ByteRange, GetOptions } from "./types.js";

export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** InvalidInput unless every number is a whole number from 0 to 2^53 - 1, and so is the end. */
export function checkRange(range: ByteRange, where: string): void {
  const sound =
    "suffix" in range
      ? Number.isSafeInteger(range.suffix) && range.suffix >= 0
      : Number.isSafeInteger(range.offset) &&
        Number.isSafeInteger(range.length) &&
        range.offset >= 0 &&
        range.length >= 0 &&
        Number.isSafeInteger(range.offset + range.length);
  if (!sound) {
    throw new InvalidInput(
      `the range ${rangeText(range)} of ${where} is not made of whole numbers from 0 to 2^53 - 1`,
      { where },
    );
  }
}

/** What `get` is to give of a value of `size` bytes: the range, or all of it if it is not too much. */
export function spanFor(options: GetOptions | undefined, size: number, where: string): Span {
  if (options?.range === undefined && size > (options?.most ?? Infinity)) throw tooLarge(where, size, options!.most!);
  return spanOf(options?.range, size, where);
}

export const tooLarge = (where: string, size: number, most: number): LimitExceeded =>
  new LimitExceeded(`${where} has ${size} bytes or more, at most ${most} are taken in one piece`, { where });

/** The bytes of a value of `size` bytes that a range means; without a range, all of them. */
export function spanOf(range: ByteRange | undefined, size: number, where: string): Span {
  if (range === undefined) return { offset: 0, length: size };
  checkRange(range, where);
  if ("suffix" in range) {
    const length = Math.min(range.suffix, size);
    return { offset: size - length, length };
  }
  if (range.offset + range.length > size) throw pastTheEnd(range, size, where);
  return range;
}

export function pastTheEnd(range: ByteRange, size: number | undefined, where: string): Corrupt {
  const found = size === undefined ? "its end" : `its ${size} bytes`;
  return new Corrupt(`the range ${rangeText(range)} of ${where} reaches past ${found}`, { where, reason: "past-end" });
}

export function rangeText(range: ByteRange): string {
  return "suffix" in range ? `"last ${range.suffix}"` : `${range.offset}+${range.length}`;
}
