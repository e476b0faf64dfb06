/** Values of attributes, compared as what they mean: 1 is 1 in every type, a code is its text, and what is absent is absent. */
import { halfToNumber } from "../bytes/half.js";
import type { Column } from "../model/attributes.js";

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

/** Compares rows of two columns of the same number of channels. */
export function comparer(a: Column, b: Column): (rowA: number, rowB: number) => boolean {
  const { channels } = a.info;
  const [ofA, ofB] = [meaningOf(a), meaningOf(b)];
  return (rowA, rowB) => {
    for (let channel = 0; channel < channels; channel++)
      if (!same(ofA(rowA * channels + channel), ofB(rowB * channels + channel))) return false;
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
