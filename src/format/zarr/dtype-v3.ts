/**
 * Element types as v3 spells them.
 *
 * | data_type                                                       | is                                     |
 * |-----------------------------------------------------------------|----------------------------------------|
 * | `bool int8 … uint64 float16 float32 float64 complex64 complex128` | as named                             |
 * | `r24`, raw_bytes {length_bytes}                                 | opaque bytes                           |
 * | null_terminated_bytes, fixed_length_utf32 {length_bytes}        | numpy's S and U                        |
 * | numpy.datetime64, numpy.timedelta64 {unit, scale_factor}        | int64 counts                           |
 * | struct {fields: [{name, data_type}]}                            | packed; the registered form            |
 * | structured {fields: [[name, data_type]]}                        | the same; what zarr-python 3.1 writes  |
 * | `string`; `variable_length_bytes`, `bytes`                      | elements of variable size              |
 *
 * The byte order is not part of the type but of the `bytes` codec, for all fields of a struct alike.
 */
import type { DataType, Endian, FixedDataType } from "../../bytes/dtype.js";
import { isFixed } from "../../bytes/dtype.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { Unsupported } from "../../errors.js";
import { asInteger, asList, asObject, asString, show, wrong } from "./document.js";
import { itemSize, structOf, timeUnit } from "./dtype-numpy.js";

export function parseV3Dtype(value: Json | undefined, endian: Endian, where: string): DataType {
  if (typeof value === "string") return parseNamed(value, {}, endian, where);
  const { name, configuration } = asObject(value, "a data type, as text or as {name, configuration}", where);
  const parameters = configuration === undefined ? {} : asObject(configuration, "an object as configuration", where);
  return parseNamed(asString(name, "a data type's name", where), parameters, endian, where);
}

function parseNamed(name: string, parameters: JsonObject, endian: Endian, where: string): DataType {
  const length = () => itemSize(asInteger(parameters.length_bytes, 0, 2 ** 31 - 1, "length_bytes", where), name, where);
  switch (name) {
    case "bool":
      return { kind: "bool", size: 1 };
    case "int8":
    case "uint8":
      return { kind: name === "int8" ? "int" : "uint", size: 1, endian: "little" };
    case "int16":
    case "int32":
    case "int64":
      return { kind: "int", size: (Number(name.slice(3)) / 8) as 2 | 4 | 8, endian };
    case "uint16":
    case "uint32":
    case "uint64":
      return { kind: "uint", size: (Number(name.slice(4)) / 8) as 2 | 4 | 8, endian };
    case "float16":
    case "float32":
    case "float64":
      return { kind: "float", size: (Number(name.slice(5)) / 8) as 2 | 4 | 8, endian };
    case "complex64":
    case "complex128":
      return { kind: "complex", size: name === "complex64" ? 8 : 16, endian };
    case "numpy.datetime64":
    case "numpy.timedelta64": {
      const unit = asString(parameters.unit, "a time unit", where);
      const scale = asInteger(parameters.scale_factor, 1, 2 ** 31 - 1, "a scale_factor", where);
      const kind = name === "numpy.datetime64" ? "datetime" : "timedelta";
      return { kind, size: 8, endian, ...timeUnit(unit, scale, where) };
    }
    case "null_terminated_bytes":
      return { kind: "bytes", size: length() };
    case "raw_bytes":
      return { kind: "raw", size: length() };
    case "fixed_length_utf32": {
      const size = length();
      if (size % 4 !== 0) throw wrong(where, "a multiple of 4 as length_bytes of fixed_length_utf32", size);
      return { kind: "utf32", size, endian };
    }
    case "struct":
    case "structured":
      return parseStruct(parameters.fields, endian, where);
    case "string":
      return { kind: "string" };
    case "bytes":
    case "variable_length_bytes":
      return { kind: "vlen-bytes" };
  }
  const bits = /^r([1-9]\d*)$/.exec(name)?.[1];
  if (bits !== undefined && Number(bits) % 8 === 0)
    return { kind: "raw", size: itemSize(Number(bits) / 8, name, where) };
  throw new Unsupported(`${where} has the data type ${show(name)}, which Octavo does not know`, { where });
}

function parseStruct(value: Json | undefined, endian: Endian, where: string): FixedDataType {
  const fields = asList(value, "a list of fields", where).map((entry) => {
    const [name, type, ...rest] = isJsonObject(entry)
      ? [entry.name, entry.data_type]
      : asList(entry, 'fields of {"name", "data_type"} or ["name", data_type]', where);
    if (rest.length > 0) throw wrong(where, "fields of two parts", entry);
    const dtype = parseV3Dtype(type, endian, where);
    if (!isFixed(dtype)) throw wrong(where, "fields of fixed size", type);
    return { name: asString(name, "a field's name", where), dtype };
  });
  return structOf(fields, where);
}

/** A struct is written as zarr-python writes it, packed and little-endian; what does not fit that form is refused. */
export function formatV3Dtype(dtype: DataType, where: string): Json {
  switch (dtype.kind) {
    case "bool":
    case "string":
      return dtype.kind;
    case "int":
    case "uint":
    case "float":
    case "complex":
      return `${dtype.kind}${dtype.size * 8}`;
    case "datetime":
    case "timedelta": {
      const configuration = { unit: dtype.unit, scale_factor: dtype.scale };
      return { name: `numpy.${dtype.kind}64`, configuration };
    }
    case "bytes":
      return { name: "null_terminated_bytes", configuration: { length_bytes: dtype.size } };
    case "raw":
      return { name: "raw_bytes", configuration: { length_bytes: dtype.size } };
    case "utf32":
      return { name: "fixed_length_utf32", configuration: { length_bytes: dtype.size } };
    case "vlen-bytes":
      return "variable_length_bytes";
    case "struct": {
      const fields = dtype.fields.map(({ name, dtype: type, shape }) => {
        if (shape !== undefined)
          throw new Unsupported(`${where} cannot have the subarray field ${show(name)}: Zarr v3 has none`, { where });
        if ("endian" in type && type.endian === "big")
          throw new Unsupported(`${where} cannot have the big-endian field ${show(name)}: swap its bytes first`, {
            where,
          });
        return [name, formatV3Dtype(type, where)];
      });
      return { name: "structured", configuration: { fields } };
    }
    case "vlen-array":
      throw new Unsupported(`${where} cannot have elements that are arrays: Zarr v3 has no such type`, { where });
  }
}
