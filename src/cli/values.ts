/** Elements and their types in words: for `info`, and for the text that `get` writes. */
import { type DataType, isFixed } from "../bytes/dtype.js";
import { shortest } from "../bytes/shortest.js";
import type { Element, VlenValue } from "../codec/types.js";
import type { NdArray } from "../model/array.js";
import { type Value, valueAt } from "../model/elements.js";

/** One element that stands alone, such as a fill value. */
export function elementValue(dtype: DataType, element: Element): unknown {
  const data = isFixed(dtype) ? (element as Uint8Array) : [element as VlenValue];
  return readable(valueAt({ shape: [], dtype, data }, 0), dtype);
}

/** Every element in C order, as JSON and people understand it. */
export function* readableValues(array: NdArray, count: number): Generator<unknown> {
  for (let i = 0; i < count; i++) yield readable(valueAt(array, i), array.dtype);
}

/** Dates as ISO 8601, float32 as its shortest digits, raw bytes as hex; everything else as it is. */
function readable(value: Value, dtype: DataType): unknown {
  switch (dtype.kind) {
    case "float":
      return dtype.size === 4 ? shortest(value as number) : value; // the exact value of a float16 is short enough
    case "complex":
      return dtype.size === 16 ? value : (value as readonly number[]).map((part) => shortest(part));
    case "datetime":
      return isoDate(value as bigint, dtype.unit, dtype.scale);
    case "timedelta":
      return value === NOT_A_TIME ? "NaT" : value;
    case "raw":
    case "vlen-bytes":
      return hex(value as Uint8Array);
    case "struct": {
      const fields = value as { readonly [name: string]: Value };
      return Object.fromEntries(
        dtype.fields
          .filter(({ name }) => name !== "")
          .map(({ name, shape, dtype: type }) => {
            const field = fields[name]!;
            return [
              name,
              shape ? (field as readonly Value[]).map((each) => readable(each, type)) : readable(field, type),
            ];
          }),
      );
    }
    case "vlen-array":
      return Array.from(value as ArrayLike<number | bigint>, (each) => readable(each, dtype.item));
    default:
      return value;
  }
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const NOT_A_TIME = -(2n ** 63n);
const PER_SECOND: { readonly [unit: string]: bigint } = {
  s: 1n,
  ms: 1000n,
  us: 10n ** 6n,
  ns: 10n ** 9n,
  ps: 10n ** 12n,
  fs: 10n ** 15n,
  as: 10n ** 18n,
};
const SECONDS: { readonly [unit: string]: bigint } = { m: 60n, h: 3600n, D: 86400n, W: 604800n };
const YEAR_0 = -62167219200n; // its first second
const CYCLE = 146097n * 86400n; // seconds in 400 years, after which the calendar repeats

/** numpy's text for a datetime64, with the years of ISO 8601's expanded form; the bare count where there is no unit. */
function isoDate(count: bigint, unit: string, scale: number): string | bigint {
  if (count === NOT_A_TIME) return "NaT";
  const ticks = count * BigInt(scale);
  if (unit === "Y" || unit === "M") {
    const months = unit === "Y" ? ticks * 12n : ticks;
    const years = floorDiv(months, 12n);
    const text = yearText(1970n + years);
    return unit === "Y" ? text : `${text}-${String(months - years * 12n + 1n).padStart(2, "0")}`;
  }
  const per = PER_SECOND[unit] ?? 1n;
  const length = SECONDS[unit] ?? (unit in PER_SECOND ? 1n : undefined);
  if (length === undefined) return count;
  const seconds = floorDiv(ticks * length, per);
  const cycle = floorDiv(seconds - YEAR_0, CYCLE);
  const date = new Date(Number(seconds - cycle * CYCLE) * 1000); // the same day of a year from 0 to 399
  const text = yearText(BigInt(date.getUTCFullYear()) + 400n * cycle) + date.toISOString().slice(4, 19);
  if (unit === "D" || unit === "W") return text.slice(0, -9);
  const fraction = per === 1n ? "" : `.${String(ticks - seconds * per).padStart(String(per).length - 1, "0")}`;
  return text + fraction;
}

/** Four digits, or a sign and at least six: +010000 cannot be taken for a count. */
function yearText(year: bigint): string {
  if (year >= 0n && year <= 9999n) return String(year).padStart(4, "0");
  return (year < 0n ? "-" : "+") + String(year < 0n ? -year : year).padStart(6, "0");
}

const floorDiv = (a: bigint, b: bigint): bigint => a / b - (a % b < 0n ? 1n : 0n);
