/**
 * The elements of an array as JavaScript sees them: a typed array over the whole buffer, or one value at a time.
 *
 * | kind                        | `typed`                  | `valueAt`                                     |
 * |-----------------------------|--------------------------|-----------------------------------------------|
 * | bool                        | Uint8Array of 0 and 1    | boolean                                       |
 * | int, uint up to 4 bytes     | Int…/Uint…Array          | number                                        |
 * | int, uint of 8 bytes        | Big(U)Int64Array         | bigint                                        |
 * | float of 4 and 8 bytes      | Float32/Float64Array     | number                                        |
 * | float of 2 bytes            | Uint16Array of its bits  | number                                        |
 * | complex                     | pairs in Float32/64Array | [real, imaginary]                             |
 * | datetime, timedelta         | BigInt64Array of counts  | bigint; NaT is the smallest                   |
 * | bytes (S), utf32 (U)        | Uint8Array               | string without its padding                    |
 * | raw, struct                 | Uint8Array               | Uint8Array; an object by field                |
 * | string, vlen-…              | InvalidInput             | the value                                     |
 */
import { type DataType, type FixedDataType, isFixed } from "../bytes/dtype.js";
import { halfToNumber } from "../bytes/half.js";
import { decodeUcs4 } from "../bytes/text.js";
import type { NumericArray, VlenValue } from "../codec/types.js";
import { InvalidInput } from "../errors.js";
import { elementCount } from "../space/shape.js";
import type { NdArray } from "./array.js";

/** One element as JavaScript sees it; docs/guide.md lists which type gives what. */
export type Value =
  | boolean
  | number
  | bigint
  | string
  | NumericArray
  | readonly [number, number]
  | readonly Value[]
  | { readonly [field: string]: Value };

/** Every element at once. Shares memory with the array where the buffer is aligned. */
export function typed(array: NdArray): NumericArray {
  const { dtype, data } = array;
  if (!isFixed(dtype))
    throw new InvalidInput(`elements of type ${dtype.kind} have no typed array; they are values in data`);
  const bytes = data as Uint8Array;
  const View = viewOf(dtype);
  const unit = View.BYTES_PER_ELEMENT;
  const from = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  return new View(from.buffer as ArrayBuffer, from.byteOffset, from.byteLength / unit);
}

function viewOf(dtype: FixedDataType) {
  switch (dtype.kind) {
    case "int":
      return { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: BigInt64Array }[dtype.size];
    case "uint":
      return { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }[dtype.size];
    case "float":
      return { 2: Uint16Array, 4: Float32Array, 8: Float64Array }[dtype.size];
    case "complex":
      return dtype.size === 8 ? Float32Array : Float64Array;
    case "datetime":
    case "timedelta":
      return BigInt64Array;
    default:
      return Uint8Array;
  }
}

/** An array over the caller's typed array or strings; the type follows unless it is given (needed for bool, datetime …). */
export function ndarray(shape: readonly number[], values: NumericArray | string[], dtype?: DataType): NdArray {
  const data = Array.isArray(values) ? values : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const type = dtype ?? dtypeOf(values);
  const found = isFixed(type) && type.size > 0 ? data.length / type.size : data.length;
  if (found !== elementCount(shape)) {
    throw new InvalidInput(
      `the values are ${found} elements, but the shape ${JSON.stringify(shape)} needs ${elementCount(shape)}`,
    );
  }
  return { shape, dtype: type, data };
}

function dtypeOf(values: NumericArray | string[]): DataType {
  if (Array.isArray(values)) return { kind: "string" };
  const size = values.BYTES_PER_ELEMENT;
  const kind = /^(?:Big)?(Int|Uint|Float)/.exec(values.constructor.name)![1]!.toLowerCase();
  return { kind, size, endian: "little" } as DataType;
}

/** One element by its place in C order. */
export function valueAt(array: NdArray, index: number): Value {
  const { dtype, data } = array;
  if (!isFixed(dtype)) return (data as VlenValue[])[index]!;
  const bytes = data as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readValue(view, index * dtype.size, dtype, true);
}

function readValue(view: DataView, at: number, dtype: FixedDataType, little: boolean): Value {
  const bytes = (): Uint8Array => new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + at, dtype.size);
  switch (dtype.kind) {
    case "bool":
      return view.getUint8(at) !== 0;
    case "int":
      if (dtype.size === 8) return view.getBigInt64(at, little);
      return dtype.size === 4
        ? view.getInt32(at, little)
        : dtype.size === 2
          ? view.getInt16(at, little)
          : view.getInt8(at);
    case "uint":
      if (dtype.size === 8) return view.getBigUint64(at, little);
      return dtype.size === 4
        ? view.getUint32(at, little)
        : dtype.size === 2
          ? view.getUint16(at, little)
          : view.getUint8(at);
    case "float":
      if (dtype.size === 2) return halfToNumber(view.getUint16(at, little));
      return dtype.size === 4 ? view.getFloat32(at, little) : view.getFloat64(at, little);
    case "complex":
      return dtype.size === 8
        ? [view.getFloat32(at, little), view.getFloat32(at + 4, little)]
        : [view.getFloat64(at, little), view.getFloat64(at + 8, little)];
    case "datetime":
    case "timedelta":
      return view.getBigInt64(at, little);
    case "bytes":
      return latin1(bytes());
    case "utf32":
      return decodeUcs4(little ? bytes() : reversedUnits(bytes()), "a fixed-length string");
    case "raw":
      return bytes();
    case "struct":
      return Object.fromEntries(
        dtype.fields.map(({ name, offset, shape, dtype: field }) => {
          // Fields keep their own byte order; only fixed types occur inside a struct.
          const type = field as FixedDataType;
          const order = !("endian" in type) || type.endian === "little";
          if (shape === undefined) return [name, readValue(view, at + offset, type, order)];
          const values = Array.from({ length: elementCount(shape) }, (_, i) =>
            readValue(view, at + offset + i * type.size, type, order),
          );
          return [name, values];
        }),
      );
  }
}

/** numpy's S has no encoding: one character per byte loses nothing. */
function latin1(bytes: Uint8Array): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  let text = "";
  for (let i = 0; i < end; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

function reversedUnits(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[(i & ~3) + 3 - (i & 3)]!;
  return out;
}
