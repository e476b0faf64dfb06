/** Values of attributes, compared as what they mean: 1 is 1 in every type, a code is its text, and what is absent is absent. */
import { dtypeText } from "../bytes/dtype.js";
import { halfToNumber } from "../bytes/half.js";
import type { AttributeInfo, Column } from "../model/attributes.js";

/** A type in words; in which order its bytes lie is no part of what it holds. */
export const typeText = ({ dtype, categories }: Pick<AttributeInfo, "dtype" | "categories">): string =>
  categories !== undefined ? "a dictionary" : dtypeText("endian" in dtype ? { ...dtype, endian: "little" } : dtype);

type Meaning = number | bigint | string | undefined;

/** What a column holds at an index. */
export function meaningOf({ info, values }: Column): (index: number) => Meaning {
  const { dtype, absent, categories } = info;
  const half = dtype.kind === "float" && dtype.size === 2;
  return (index) => {
    const raw = values[index] as number | bigint | string;
    const value = half && typeof raw === "number" ? halfToNumber(raw) : raw;
    if (Number.isNaN(value) || (absent !== undefined && same(value, absent))) return undefined;
    return categories === undefined ? value : (categories[Number(value)] ?? value);
  };
}

/** Numbers of different types are the same where they are the same number: an id of 64 bits is never rounded for it. */
export function same(a: Meaning, b: Meaning): boolean {
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && a === BigInt(b);
  if (typeof a === "number" && typeof b === "bigint") return Number.isInteger(a) && b === BigInt(a);
  return a === b;
}

export const shown = (value: Meaning): string =>
  value === undefined ? "nothing" : typeof value === "string" ? JSON.stringify(value) : `${value}`;

/** Whether numbers are not the same for no other reason than that float32 rounds. */
function close(a: Meaning, b: Meaning): boolean {
  const [x, y] = [Number(a), Number(b)];
  const apart = Math.abs(x - y);
  return Number.isFinite(apart) && apart <= 2 ** -23 * Math.max(Math.abs(x), Math.abs(y));
}

/** Compares rows of two columns of the same number of channels; `rounded` is told of numbers that are taken for the same. */
export function comparer(a: Column, b: Column, rounded?: () => void): (rowA: number, rowB: number) => boolean {
  const { channels } = a.info;
  const [ofA, ofB] = [meaningOf(a), meaningOf(b)];
  return (rowA, rowB) => {
    for (let channel = 0; channel < channels; channel++) {
      const [own, its] = [ofA(rowA * channels + channel), ofB(rowB * channels + channel)];
      if (same(own, its)) continue;
      if (rounded === undefined || !close(own, its)) return false;
      rounded();
    }
    return true;
  };
}

/** A row for people, and for telling rows apart. */
export function rowText(column: Column): (row: number) => string {
  const { channels } = column.info;
  const of = meaningOf(column);
  if (channels === 1) return (row) => shown(of(row));
  return (row) => `[${Array.from({ length: channels }, (_, i) => shown(of(row * channels + i))).join(", ")}]`;
}
