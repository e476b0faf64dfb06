/**
 * Attributes as the numbers that precomputed has: float32 and integers up to 32 bits, of which it draws some. What does not fit is
 * counted, and becomes the nearest number that does; texts become codes.
 */
import type { DataType } from "../../bytes/dtype.js";
import { halfToNumber } from "../../bytes/half.js";
import { isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { NUMBER_TYPES, type NumberType, numberDtype } from "../../format/precomputed/info.js";
import { type AttributeInfo, type Column, lostUnit } from "../../model/attributes.js";
import { typed } from "../../model/elements.js";
import { inRatio, inverse, type Ratio } from "../../space/units.js";

/** The type of the format that is nearest; undefined for what are no numbers. Integers of 64 bits have only 32. */
export function typeFor({ kind, size }: DataType & { readonly size?: number }): NumberType | undefined {
  if (kind === "float") return "float32";
  if (kind === "bool") return "uint8";
  return NUMBER_TYPES.find((type) => type === `${kind}${Math.min(32, 8 * (size ?? 0))}`);
}

/** Some channels of an attribute, under a name that the target can have. */
export interface Field {
  readonly id: string;
  readonly info: AttributeInfo;
  readonly first: number;
  readonly channels: number;
  readonly type: NumberType;
  /** Codes of texts. */
  readonly codes?: ReadonlyMap<string, number> | undefined;
  /** From the attribute's unit to that of the target; absent: numbers as they are. */
  readonly ratio?: Ratio | undefined;
}

/** What is known of a target's fields. */
export interface FieldRules {
  /** The name that is nearest to this one. */
  clean(name: string): string;
  /** How many channels a field may have; those of an attribute with more are fields of their own. */
  widthOf(info: AttributeInfo): number;
  readonly type?: NumberType | undefined;
  /** Whether it is known what the numbers of such an attribute count in the target. */
  isCounted?(info: AttributeInfo): boolean;
}

/** The fields for some attributes; others are reported, and so are new names. `codes` has those of texts. */
export function fieldsOf(
  infos: readonly AttributeInfo[],
  what: string,
  { clean, widthOf, type: only, isCounted }: FieldRules,
  lose: (sentence: string) => void,
  {
    codes = new Map(),
    taken = new Set(),
  }: { codes?: ReadonlyMap<string, ReadonlyMap<string, number>>; taken?: Set<string> } = {},
): Field[] {
  const fields: Field[] = [];
  for (const info of infos) {
    const { name, dtype, channels, categories } = info;
    const own = codes.get(name);
    const type = own !== undefined ? codeType(own.size) : typeFor(dtype);
    if (type === undefined) {
      lose(`the ${what} attribute ${name}, which is ${dtype.kind}`);
      continue;
    }
    if (categories !== undefined && own === undefined)
      lose(
        `that ${name} are names: ${categories
          .slice(0, 8)
          .map((text, code) => `${code} is ${text}`)
          .join(", ")}${categories.length > 8 ? " …" : ""}`,
      );
    for (const loss of isCounted?.(info) === true ? [] : lostUnit(info)) lose(loss);
    const width = widthOf(info);
    const single = width >= channels;
    for (let first = 0; first < channels; first += single ? channels : 1) {
      const wanted = single ? name : `${name}_${info.channelNames?.[first] ?? first}`;
      const id = unused(clean(wanted), taken);
      taken.add(id);
      if (single && id !== name) lose(`the name ${name}: it is ${id} now`);
      fields.push({ id, info, first, channels: single ? channels : 1, type: only ?? type, codes: own });
    }
    if (!single)
      lose(
        `that the ${channels} numbers of ${name} are one value: they are ${name}_${info.channelNames?.[0] ?? 0} … now`,
      );
  }
  return fields;
}

const codeType = (count: number): NumberType => (count <= 2 ** 8 ? "uint8" : count <= 2 ** 16 ? "uint16" : "uint32");

function unused(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? unused(`${name}_`, taken) : name;
}

const RANGES: { readonly [type in NumberType]?: readonly [number, number] } = Object.fromEntries(
  NUMBER_TYPES.filter((type) => type !== "float32").map((type) => {
    const bits = Number(/\d+/.exec(type)![0]);
    return [type, type.startsWith("u") ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]];
  }),
);

/** Room for so many numbers. */
export const roomFor = (type: NumberType, count: number): NumericArray => {
  const dtype = numberDtype(type);
  return typed({ shape: [count], dtype, data: new Uint8Array(count * dtype.size) });
};

/** The values of a field for these rows of its column, or all; a row of −1 has none. `changed` is how many do not fit. */
export function numbersOf(
  { info, values }: Column,
  { first, channels, type, codes, ratio }: Field,
  rows?: ArrayLike<number>,
): { readonly values: NumericArray; readonly changed: number } {
  const width = info.channels;
  const count = rows?.length ?? values.length / width;
  const out = roomFor(type, count * channels) as Float64Array; // any of them: all are numbers
  const range = RANGES[type];
  const isHalf = info.dtype.kind === "float" && info.dtype.size === 2;
  const big = !Array.isArray(values) && isBig(values as NumericArray);
  const names = codes && info.categories;
  const back = ratio && inverse(ratio);
  let changed = 0;
  for (let i = 0, at = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i]!;
    for (let c = 0; c < channels; c++, at++) {
      if (row < 0) {
        out[at] = Number.NaN; // 0 of an integer
        continue;
      }
      const value = values[row * width + first + c]!;
      const own =
        codes !== undefined
          ? (codes.get(names === undefined ? String(value) : (names[Number(value)] ?? "")) ?? 0)
          : isHalf
            ? halfToNumber(value as number)
            : Number(value);
      const number = ratio === undefined ? own : inRatio(own, ratio);
      out[at] =
        range === undefined || (number >= range[0] && number <= range[1])
          ? number
          : number < range[0]
            ? range[0]
            : range[1];
      const kept = back === undefined ? out[at]! : inRatio(out[at]!, back);
      const same = big && codes === undefined ? sameWhole(kept, value as bigint) : kept === own || Number.isNaN(own);
      if (!same) changed++;
    }
  }
  return { values: out as NumericArray, changed };
}

const sameWhole = (kept: number, value: bigint): boolean => Number.isInteger(kept) && BigInt(kept) === value;
