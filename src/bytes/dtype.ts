/**
 * Element types: what one element of an array is, in memory and on disk. Formats map their own names to these.
 *
 * In memory every fixed-size element is little-endian; `endian` says how it lies on disk. A struct keeps its fields'
 * bytes exactly as on disk (fields may differ in byte order), so its own `endian` has no meaning.
 */
export type Endian = "little" | "big";

/** What one element of an array is. */
export type DataType =
  | { readonly kind: "bool"; readonly size: 1 }
  | { readonly kind: "int"; readonly size: 1 | 2 | 4 | 8; readonly endian: Endian }
  | { readonly kind: "uint"; readonly size: 1 | 2 | 4 | 8; readonly endian: Endian }
  | { readonly kind: "float"; readonly size: 2 | 4 | 8; readonly endian: Endian }
  | { readonly kind: "complex"; readonly size: 8 | 16; readonly endian: Endian }
  /** numpy's datetime64 and timedelta64: int64 counts of `scale` units since the epoch; NaT is the smallest int64. */
  | {
      readonly kind: "datetime" | "timedelta";
      readonly size: 8;
      readonly endian: Endian;
      readonly unit: string;
      readonly scale: number;
    }
  /** Null-terminated bytes (S), padded with zeros. */
  | { readonly kind: "bytes"; readonly size: number }
  /** UCS-4 text (U), padded with zeros; size is 4 × characters. */
  | { readonly kind: "utf32"; readonly size: number; readonly endian: Endian }
  /** Opaque bytes (V). */
  | { readonly kind: "raw"; readonly size: number }
  | { readonly kind: "struct"; readonly size: number; readonly fields: readonly Field[] }
  | { readonly kind: "string" }
  | { readonly kind: "vlen-bytes" }
  | { readonly kind: "vlen-array"; readonly item: DataType };

/** A field of a struct. */
export interface Field {
  readonly name: string;
  readonly dtype: DataType;
  readonly offset: number;
  /** A subarray of this shape in each element. */
  readonly shape?: readonly number[];
}

/** The types whose elements all take the same number of bytes. */
export type FixedDataType = Extract<DataType, { size: number }>;

export const isFixed = (dtype: DataType): dtype is FixedDataType => "size" in dtype;

/**
 * What one element takes in memory, as limits count it. A value of variable size is taken for 64 bytes, its reference and its
 * head included: 2^31 bytes are then 2^25 values, the most that engines keep in one array without falling to a table.
 */
export const memorySize = (dtype: DataType): number => (isFixed(dtype) ? dtype.size : 64);

/** The number of bytes whose order is swapped together: 4 for float32, 4 for complex64, 4 for utf32, 1 where order has no meaning. */
export function swapUnit(dtype: FixedDataType): 1 | 2 | 4 | 8 {
  switch (dtype.kind) {
    case "complex":
      return dtype.size === 8 ? 4 : 8;
    case "utf32":
      return 4;
    case "int":
    case "uint":
    case "float":
    case "datetime":
    case "timedelta":
      return dtype.size;
    default:
      return 1;
  }
}

/** "int32", "float64, big-endian", "datetime64[ns]", "struct { x: float32, id: uint64 }" */
export function dtypeText(dtype: DataType): string {
  const big = "endian" in dtype && dtype.endian === "big" && dtype.size > 1 ? ", big-endian" : "";
  switch (dtype.kind) {
    case "bool":
    case "string":
      return dtype.kind;
    case "vlen-bytes":
      return "variable bytes";
    case "vlen-array":
      return `variable lists of ${dtypeText(dtype.item)}`;
    case "int":
    case "uint":
    case "float":
    case "complex":
      return `${dtype.kind}${dtype.size * 8}${big}`;
    case "datetime":
    case "timedelta": {
      const unit = dtype.unit === "generic" ? "" : `[${dtype.scale === 1 ? "" : dtype.scale}${dtype.unit}]`;
      return `${dtype.kind}64${unit}${big}`;
    }
    case "bytes":
      return `${dtype.size} bytes of text`;
    case "utf32":
      return `${dtype.size / 4} characters of text${big}`;
    case "raw":
      return `${dtype.size} raw bytes`;
    case "struct": {
      const fields = dtype.fields
        .filter(({ name }) => name !== "") // padding
        .map(({ name, shape, dtype: type }) => `${name}: ${dtypeText(type)}${shape ? ` × ${shape.join(" × ")}` : ""}`);
      return `struct { ${fields.join(", ")} }`;
    }
  }
}
