/** Whole numbers of several inputs, of one width in one and of another in the next: ids of 63 bits here, of 64 there. */
import { type FixedDataType, memorySize } from "../bytes/dtype.js";
import { isBig } from "../codec/numeric.js";
import { valuesOf } from "../format/interchange/table-types.js";
import type { AttributeInfo, Column } from "../model/attributes.js";

/** Ids and counts, and no codes that stand for something. */
export const isWhole = ({ dtype, categories }: AttributeInfo): boolean =>
  (dtype.kind === "int" || dtype.kind === "uint") && categories === undefined;

/** Of two types of whole numbers the one that may hold both: unsigned where one is, because nobody takes that without need. */
export function widerWhole(a: AttributeInfo, b: AttributeInfo): AttributeInfo {
  const rank = ({ dtype }: AttributeInfo): number => memorySize(dtype) + (dtype.kind === "uint" ? 0.5 : 0);
  return rank(b) > rank(a) ? b : a;
}

/** Whole numbers of one type as another, where that holds all of them; else undefined. */
export function asWhole({ info: own, values }: Column, info: AttributeInfo): Column | undefined {
  if (!isWhole(own) || !isWhole(info) || own.channels !== info.channels) return undefined;
  const out = valuesOf(info.dtype as FixedDataType, values.length);
  const from = values as ArrayLike<number | bigint>;
  const none = info.absent as number | bigint | undefined;
  for (let i = 0; i < out.length; i++) {
    const isNone = own.absent !== undefined && from[i] === own.absent;
    const value = isNone ? none : from[i]!;
    if (value === undefined || (!isNone && none !== undefined && BigInt(value) === BigInt(none))) return undefined;
    (out as unknown as (number | bigint)[])[i] = isBig(out) ? BigInt(value) : Number(value);
    if (BigInt(out[i]!) !== BigInt(value)) return undefined;
  }
  return { info, values: out };
}
