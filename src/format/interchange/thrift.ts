/**
 * Thrift's compact protocol, as far as Parquet uses it: checked before the library reads it, which believes every count and every length.
 *
 * | type | what                                                                    |
 * |------|-------------------------------------------------------------------------|
 * | 1, 2 | true, false (a byte each in lists)                                      |
 * | 3    | a byte                                                                  |
 * | 4–6  | zigzag varint                                                           |
 * | 7    | 8 bytes                                                                 |
 * | 8    | varint length, bytes                                                    |
 * | 9    | byte: count (15: varint follows) and type, then the elements            |
 * | 12   | fields: byte of delta (0: zigzag varint follows) and type; 0 ends       |
 */
import type { Reader } from "../../bytes/reader.js";
import { Corrupt } from "../../errors.js";

const DEPTH = 32;

/** A struct, as the numbers and structs that its fields are; texts, lists and numbers beyond 2^53 are not kept. */
export interface ThriftStruct {
  readonly [field: number]: number | boolean | ThriftStruct | undefined;
}

/** Reads a struct; Corrupt where it does not end within the bytes that there are. */
export function readThrift(reader: Reader, depth = 0): ThriftStruct {
  if (depth > DEPTH) throw new Corrupt(`${reader.what} is nested deeper than ${DEPTH}`);
  const out: { [field: number]: number | boolean | ThriftStruct | undefined } = {};
  for (let field = 0; ; ) {
    const byte = reader.u8();
    const type = byte & 15;
    if (type === 0) return out;
    field = byte >> 4 === 0 ? Number(zigzag(reader)) : field + (byte >> 4);
    if (Math.abs(field) >= 2 ** 15) throw new Corrupt(`${reader.what} has a field of number ${field}`);
    const value = element(reader, type, depth);
    if (field >= 0 && field < 64) out[field] = value;
  }
}

function element(reader: Reader, type: number, depth: number): number | boolean | ThriftStruct | undefined {
  switch (type) {
    case 1:
    case 2:
      return type === 1;
    case 3:
      return reader.i8();
    case 4:
    case 5:
    case 6: {
      const value = zigzag(reader);
      // The library would read another number, of its last 32 bits.
      if (type < 6 && BigInt.asIntN(32, value) !== value)
        throw new Corrupt(`${reader.what} has a number of more than 32 bits before byte ${reader.offset}`);
      return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
    }
    case 7:
      return reader.f64();
    case 8:
      return void reader.skip(Number(varint(reader)));
    case 9: {
      const byte = reader.u8();
      const own = byte & 15;
      const count = reader.count(byte >> 4 === 15 ? varint(reader) : byte >> 4, own === 7 ? 8 : 1);
      for (let i = 0; i < count; i++) element(reader, own <= 2 ? 3 : own, depth);
      return undefined;
    }
    case 12:
      return readThrift(reader, depth + 1);
    default:
      throw new Corrupt(`${reader.what} has something of type ${type}, which Parquet does not use`);
  }
}

function varint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.u8();
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw new Corrupt(`${reader.what} has a number of more than 64 bits at byte ${reader.offset}`);
}

export const zigzag = (reader: Reader): bigint => {
  const value = varint(reader);
  return (value >> 1n) ^ -(value & 1n);
};
