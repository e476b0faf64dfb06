/** Types of columns by name, and values of one type as another: exact, or an error that names the row. */
import type { DataType, FixedDataType } from "../../bytes/dtype.js";
import { halfToNumber, numberToHalf } from "../../bytes/half.js";
import { isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, InvalidInput } from "../../errors.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import { typed } from "../../model/elements.js";

/** "uint8", "float32", "bool", "string". */
export function dtypeNamed(name: string): DataType {
  if (name === "bool") return { kind: "bool", size: 1 };
  if (name === "string") return { kind: "string" };
  const [, kind, bits = ""] = /^(u?int|float)(8|16|32|64)$/.exec(name) ?? [];
  if (kind === undefined || name === "float8")
    throw new InvalidInput(
      `${JSON.stringify(name)} is no type of columns: int8 … uint64, float16 … float64, bool, string`,
    );
  return { kind, size: Number(bits) / 8, endian: "little" } as DataType;
}

/** Room for values of a type. */
export const valuesOf = (dtype: FixedDataType, count: number): NumericArray =>
  typed({ shape: [count], dtype, data: new Uint8Array(count * dtype.size) });

export const sameDtype = (a: DataType, b: DataType): boolean =>
  a.kind === b.kind && (a as { size?: number }).size === (b as { size?: number }).size;

/** The values of a column in the type of `info`. */
export function castColumn(column: Column, info: AttributeInfo, firstRow: number, where: string): Column["values"] {
  const { values } = column;
  const { absent } = column.info;
  const [from, to] = [column.info.dtype, info.dtype];
  if (sameDtype(from, to)) return values;
  const isHalf = from.kind === "float" && from.size === 2;
  const read = (at: number): number | bigint | string =>
    isHalf ? halfToNumber(values[at] as number) : (values[at] as number | bigint | string);
  const isNone = (at: number): boolean => absent !== undefined && values[at] === absent;
  if (to.kind === "string")
    return Array.from({ length: values.length }, (_, at) => (isNone(at) ? "" : String(read(at))));
  const out = valuesOf(to as FixedDataType, values.length) as Float64Array;
  const big = isBig(out as NumericArray);
  const toHalf = to.kind === "float" && to.size === 2;
  for (let at = 0; at < values.length; at++) {
    const value = isNone(at) ? (to.kind === "float" ? Number.NaN : "") : read(at);
    const number = typeof value !== "string" || value.trim() === "" ? value : big ? wholeOf(value) : Number(value);
    if (typeof number === "string" || (to.kind !== "float" && Number.isNaN(number))) throw wrong(at);
    if (big) {
      if (typeof number === "number" && !Number.isSafeInteger(number)) throw wrong(at);
      (out as unknown as BigInt64Array)[at] = BigInt(number);
      if ((out as unknown as BigInt64Array)[at] !== BigInt(number)) throw wrong(at);
    } else {
      const plain = Number(number);
      out[at] = toHalf ? numberToHalf(plain) : plain;
      // Floats may be rounded, that is what a smaller one is asked for; whole numbers may not.
      if (to.kind !== "float" && (out[at] !== plain || (to.kind === "bool" && plain > 1))) throw wrong(at);
    }
  }
  return out as NumericArray;

  function wrong(at: number): Corrupt {
    const row = firstRow + Math.floor(at / info.channels);
    const type = `${to.kind}${"size" in to && to.kind !== "bool" ? 8 * to.size : ""}`;
    return new Corrupt(
      `${where}: row ${row} has ${isNone(at) ? "nothing" : JSON.stringify(String(read(at)))} as ${info.name}, which ${type} cannot hold`,
      { where },
    );
  }
}

/** All of its digits, where it is a whole number. */
const wholeOf = (text: string): number | bigint => (/^\s*-?\d+\s*$/.test(text) ? BigInt(text) : Number(text));
