/**
 * The values of an attribute in one chunk: rows × channels of its dtype, little-endian, nothing before or after. A row for each
 * vertex of the buffer, each fragment or each link. A dictionary has codes here and its strings in the array's document.
 */
import { type FixedDataType, isFixed, swapUnit } from "../../../bytes/dtype.js";
import { compareCodePoints } from "../../../bytes/json-write.js";
import { swapBytes } from "../../../bytes/swap.js";
import { encodeUcs4 } from "../../../bytes/text.js";
import { bytesOf, isBig } from "../../../codec/numeric.js";
import type { NumericArray } from "../../../codec/types.js";
import { Corrupt, InvalidInput, Unsupported } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import { typed, valueAt } from "../../../model/elements.js";

export const AttributeCell = {
  parse(bytes: Uint8Array, info: AttributeInfo, rows: number, where: string): Column {
    const dtype = fixed(info);
    const count = rows * info.channels;
    if (bytes.length !== count * dtype.size)
      throw new Corrupt(
        `${where} should have ${rows} × ${info.channels} values of ${dtype.size} bytes, found ${bytes.length} bytes`,
        { where },
      );
    const unit = "endian" in dtype && dtype.endian === "big" ? swapUnit(dtype) : 1;
    const array = { shape: [count], dtype, data: unit === 1 ? bytes : swapBytes(bytes, unit) };
    if (isText(dtype)) return { info, values: Array.from({ length: count }, (_, i) => valueAt(array, i) as string) };
    const values = typed(array);
    if (dtype.kind === "bool") check(values, 2, undefined, where);
    else if (info.categories !== undefined) check(values, info.categories.length, info.absent, where);
    return { info, values };
  },

  /** Rows and values were put together by the caller; what the dtype cannot hold is refused. */
  encode({ info, values }: Column): Uint8Array {
    const dtype = fixed(info);
    if (isStrings(values)) {
      if (!isText(dtype)) throw new InvalidInput(`the attribute ${info.name} has texts, but is of type ${dtype.kind}`);
      const out = new Uint8Array(values.length * dtype.size);
      for (let i = 0; i < values.length; i++) out.set(packText(values[i]!, dtype, info.name), i * dtype.size);
      return out;
    }
    const bytes = bytesOf(values);
    if (isText(dtype) || bytes.length % (dtype.size * info.channels) !== 0)
      throw new InvalidInput(
        `the attribute ${info.name} should be rows of ${info.channels} × ${dtype.kind}, found ${bytes.length} bytes`,
      );
    return "endian" in dtype && dtype.endian === "big" ? swapBytes(bytes, swapUnit(dtype)) : bytes;
  },

  /**
   * Texts as a dictionary, by the rule of the reference: categories in the order of code points, codes of the smallest unsigned
   * type, or the smallest signed one with −1 where a text is missing.
   */
  dictionary(name: string, texts: readonly (string | undefined)[]): Column {
    const categories = [...new Set(texts.filter((text) => text !== undefined))].sort(compareCodePoints);
    const codes = new Map(categories.map((text, code) => [text, code]));
    const missing = texts.includes(undefined);
    const bits = [8, 16].find((bits) => categories.length <= 2 ** (missing ? bits - 1 : bits) - 1) ?? 32;
    const size = (bits / 8) as 1 | 2 | 4;
    const Codes = missing
      ? { 1: Int8Array, 2: Int16Array, 4: Int32Array }[size]
      : { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[size];
    const dtype = { kind: missing ? "int" : "uint", size, endian: "little" } as const;
    return {
      info: { name, dtype, channels: 1, categories, ...(missing ? { absent: -1 } : {}) },
      values: new Codes(texts.map((text) => (text === undefined ? -1 : codes.get(text)!))),
    };
  },
};

type TextType = Extract<FixedDataType, { kind: "bytes" | "utf32" }>;

const isText = (dtype: FixedDataType): dtype is TextType => dtype.kind === "bytes" || dtype.kind === "utf32";
const isStrings = (values: Column["values"]): values is readonly string[] => Array.isArray(values);

function fixed({ name, dtype }: AttributeInfo): FixedDataType {
  if (!isFixed(dtype))
    throw new Unsupported(`the attribute ${name} is of type ${dtype.kind}, but a cell has values of one size`);
  return dtype;
}

/** Codes and bools: below `end`, or the one that stands for nothing. */
function check(values: NumericArray, end: number, absent: AttributeInfo["absent"], where: string): void {
  const big = isBig(values);
  const nothing = absent === undefined ? undefined : Number(absent);
  for (let i = 0; i < values.length; i++) {
    const value = big ? Number(values[i]) : (values[i] as number);
    if ((value >= 0 && value < end && Number.isInteger(value)) || value === nothing) continue;
    throw new Corrupt(`${where} has ${value} as value ${i}, but there are ${end} to choose from`, { where });
  }
}

/** Padded with zeros; numpy would cut off what does not fit, and zeros at the end. */
function packText(text: string, dtype: TextType, name: string): Uint8Array {
  const characters = dtype.kind === "utf32" ? [...text].length * 4 : text.length;
  const wrong = characters > dtype.size || text.endsWith("\0") || (dtype.kind === "bytes" && /[^\0-\xff]/.test(text));
  if (wrong)
    throw new InvalidInput(
      `the attribute ${name} takes ${dtype.size} bytes of ${dtype.kind}, found ${JSON.stringify(text)}`,
    );
  if (dtype.kind === "bytes") return Uint8Array.from(text, (character) => character.charCodeAt(0));
  const bytes = encodeUcs4(text, dtype.size);
  return dtype.endian === "big" ? swapBytes(bytes, 4) : bytes;
}
