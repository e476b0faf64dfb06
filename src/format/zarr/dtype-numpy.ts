/**
 * Element types as numpy spells them, in v0, v1 and v2.
 *
 * | text                      | is                                             |
 * |---------------------------|------------------------------------------------|
 * | `\|b1`                    | bool                                           |
 * | `\|i1 <i2 >u8 <f2 >c16`   | integers, floats, complex; size in bytes       |
 * | `<M8[ns] <m8[25s] <M8`    | datetime, timedelta; without a unit "generic"  |
 * | `\|S7 <U5 \|V300`         | bytes, UCS-4 characters, opaque bytes          |
 * | `[["a", "<i4"], …]`       | struct, packed in this order                   |
 * | `["v", "<f4", [3]]`       | a field that is a subarray                     |
 * | `["", "\|V7"]`            | padding: any number of fields may be named ""  |
 *
 * `=` and no mark at all mean the byte order of a machine that nobody knows any more; where order matters that is refused.
 */
import type { DataType, Endian, Field, FixedDataType } from "../../bytes/dtype.js";
import { isFixed } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { asList, asShape, asString, show, wrong } from "./document.js";

const MAX_ITEM = 2 ** 24; // numpy allows 2^31 − 1; but every array holds one fill value, and no real element comes near
const UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic"];

export function parseNumpyDtype(value: Json | undefined, where: string): FixedDataType {
  return typeof value === "string" ? parseSimple(value, where) : parseStruct(value, where);
}

function parseSimple(text: string, where: string): FixedDataType {
  const [, mark, letter, digits, scale, unit] =
    /^([<>|=]?)([a-zA-Z])(\d*)(?:\[(\d*)([a-zA-Z\u03bc]+)\])?$/.exec(text) ?? [];
  if (letter === undefined) throw wrong(where, 'a data type such as "<i4"', text);
  if (letter === "O")
    throw new Unsupported(
      `${where} has elements of type ${text}, Python objects: the file holds only memory addresses`,
      {
        where,
      },
    );
  const size = Number(digits);
  const none = () =>
    new Unsupported(`${where} has elements of type ${show(text)}, which Octavo does not know`, { where });
  if (unit !== undefined && letter !== "M" && letter !== "m") throw none();
  const order = (unitBytes: number): Endian => {
    if (unitBytes > 1 && mark !== "<" && mark !== ">")
      throw new Unsupported(`${where} has elements of type ${show(text)} without their byte order, "<" or ">"`, {
        where,
      });
    return unitBytes > 1 && mark === ">" ? "big" : "little";
  };
  switch (letter) {
    case "b":
      if (size === 1) return { kind: "bool", size };
      break;
    case "i":
    case "u":
      if (size === 1 || size === 2 || size === 4 || size === 8)
        return { kind: letter === "i" ? "int" : "uint", size, endian: order(size) };
      break;
    case "f":
      if (size === 2 || size === 4 || size === 8) return { kind: "float", size, endian: order(size) };
      break;
    case "c":
      if (size === 8 || size === 16) return { kind: "complex", size, endian: order(size) };
      break;
    case "M":
    case "m":
      if (size === 8) {
        const kind = letter === "M" ? "datetime" : "timedelta";
        return { kind, size, endian: order(size), ...timeUnit(unit ?? "generic", Number(scale || 1), where) };
      }
      break;
    case "S":
      return { kind: "bytes", size: itemSize(size, text, where) };
    case "U":
      return { kind: "utf32", size: itemSize(4 * size, text, where), endian: order(4) };
    case "V":
      return { kind: "raw", size: itemSize(size, text, where) };
  }
  throw none();
}

/** The unit of a datetime, checked; shared with v3. */
export function timeUnit(unit: string, scale: number, where: string): { unit: string; scale: number } {
  if (!UNITS.includes(unit)) throw wrong(where, `a time unit of ${UNITS.join(" ")}`, unit);
  if (!(Number.isInteger(scale) && scale >= 1 && scale < 2 ** 31))
    throw wrong(where, "a positive number of time units", scale);
  return { unit: unit === "μs" ? "us" : unit, scale };
}

/** The size of a string, opaque or structured type, checked; shared with v3. */
export function itemSize(size: number, what: Json, where: string): number {
  if (size === 0) throw new Unsupported(`${where} has elements of type ${show(what)}, which take no bytes`, { where });
  if (!(size <= MAX_ITEM))
    throw new LimitExceeded(`${where} has elements of ${size} bytes, at most ${MAX_ITEM} are allowed`, { where });
  return size;
}

function parseStruct(value: Json | undefined, where: string): FixedDataType {
  const fields = asList(value, 'a data type, as text or as a list of ["name", type]', where).map((entry) => {
    const [name, type, shape, ...rest] = asList(entry, 'fields of ["name", type] or ["name", type, shape]', where);
    if (rest.length > 0) throw wrong(where, 'fields of ["name", type] or ["name", type, shape]', entry as Json);
    const lengths = typeof shape === "number" ? [shape] : shape;
    return {
      name: asString(name, "a field's name", where),
      dtype: parseNumpyDtype(type, where),
      ...(lengths === undefined ? {} : { shape: asShape(lengths, "a field's shape", where) }),
    };
  });
  return structOf(fields, where);
}

/** Packs fields one after the other; shared with v3. */
export function structOf(fields: readonly Omit<Field, "offset">[], where: string): FixedDataType {
  if (fields.length === 0) throw new Corrupt(`${where} has a structured data type without fields`, { where });
  const names = new Set<string>();
  let size = 0;
  const placed = fields.map((field) => {
    if (field.name !== "" && names.has(field.name))
      throw new Corrupt(`${where} has two fields named ${show(field.name)}`, { where });
    names.add(field.name);
    const offset = size;
    size = itemSize(offset + fieldSize(field), field.name, where);
    return { ...field, offset };
  });
  return { kind: "struct", size, fields: placed };
}

/** Bytes of a field in each element. */
export function fieldSize(field: Pick<Field, "dtype" | "shape">): number {
  const item = isFixed(field.dtype) ? field.dtype.size : 0;
  return (field.shape ?? []).reduce((product, length) => product * length, item);
}

export function formatNumpyDtype(dtype: DataType): Json {
  switch (dtype.kind) {
    case "struct":
      return dtype.fields.map(({ name, dtype, shape }) => [
        name,
        formatNumpyDtype(dtype),
        ...(shape ? [[...shape]] : []),
      ]);
    case "string":
    case "vlen-bytes":
    case "vlen-array":
      return "|O";
    case "bool":
      return "|b1";
    case "bytes":
      return `|S${dtype.size}`;
    case "raw":
      return `|V${dtype.size}`;
  }
  const mark = dtype.size === 1 ? "|" : dtype.endian === "big" ? ">" : "<";
  switch (dtype.kind) {
    case "utf32":
      return `${mark}U${dtype.size / 4}`;
    case "datetime":
    case "timedelta": {
      const letter = dtype.kind === "datetime" ? "M" : "m";
      const scale = dtype.scale === 1 ? "" : dtype.scale;
      return `${mark}${letter}8${dtype.unit === "generic" ? "" : `[${scale}${dtype.unit}]`}`;
    }
    default:
      return `${mark}${{ int: "i", uint: "u", float: "f", complex: "c" }[dtype.kind]}${dtype.size}`;
  }
}
