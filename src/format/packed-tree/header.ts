/**
 * The header of a packed tree: 144 bytes, in the byte order of the machine that wrote it, which the first word tells.
 *
 * | bytes    | holds                                                                                              |
 * |----------|----------------------------------------------------------------------------------------------------|
 * | 0 … 3    | u32 144                                                                                            |
 * | 4 … 7    | u32 bytes of a field (4) << 24, major << 16, minor << 8, patch; the seed draws these four as bytes  |
 * | 8 … 15   | f64 seconds since 1970, when it was written                                                        |
 * | 16 … 83  | "xxh3_64_intdigest", 17 characters of UTF-32; as bytes with zeros behind them they are read as well |
 * | 84 … 91  | u64 XXH3 of the bytes behind the header                                                            |
 * | 92 … 139 | 6 f64: the lower corner of the box, then its sizes                                                 |
 * | 140 … 143 | u32 threshold: nodes of more particles are divided                                                |
 *
 * Only the box can be seen to be wrong: the checksum does not cover the header.
 */
import type { Endian } from "../../bytes/dtype.js";
import { Reader } from "../../bytes/reader.js";
import { Writer } from "../../bytes/writer.js";
import { Corrupt, Unsupported } from "../../errors.js";
import { TreeBox, triple } from "./box.js";

export const HEADER_BYTES = 144;
const METHOD = "xxh3_64_intdigest";
const FIELD_BYTES = 4;
const MAJOR = 1;

/** What a tree says of itself. */
export interface TreeHeader {
  readonly version: readonly [major: number, minor: number, patch: number];
  /** When it was written, in seconds since 1970. */
  readonly created: number;
  readonly box: TreeBox;
  /** Nodes of more particles are divided. */
  readonly threshold: number;
}

/** From bytes, and to them. */
export const TreeHeader = {
  /** The byte order of what begins with a header; undefined where there is none. */
  endianOf(bytes: Uint8Array): Endian | undefined {
    if (bytes.length < 4) return undefined;
    const [a, b, c, d] = [bytes[0]!, bytes[1]!, bytes[2]!, bytes[3]!];
    if (a === HEADER_BYTES && (b | c | d) === 0) return "little";
    return d === HEADER_BYTES && (a | b | c) === 0 ? "big" : undefined;
  },

  /** Of its 144 bytes, with the checksum that the words after it should have. */
  parse(bytes: Uint8Array, endian: Endian, where: string): { header: TreeHeader; checksum: bigint } {
    const reader = new Reader(bytes, `the header of ${where}`, endian);
    reader.skip(4);
    const version = versionOf(reader.bytes(4), endian, where);
    const created = reader.f64();
    checkMethod(reader.bytes(68), endian, where);
    const checksum = reader.u64();
    const numbers = Array.from({ length: 6 }, () => reader.f64());
    const box = { origin: triple(numbers), size: triple(numbers.slice(3)) };
    const fault = TreeBox.fault(box);
    if (fault !== undefined) throw new Corrupt(`the box in the header of ${where} ${fault}`, { where });
    return { header: { version, created, box, threshold: reader.u32() }, checksum };
  },

  /** Little-endian, as the reference reads them. */
  encode({ version: [major, minor, patch], created, box, threshold }: TreeHeader, checksum: bigint): Uint8Array {
    const writer = new Writer("little", HEADER_BYTES);
    writer.u32(HEADER_BYTES);
    for (const byte of [patch, minor, major, FIELD_BYTES]) writer.u8(byte);
    writer.f64(created);
    for (const character of METHOD) writer.u32(character.charCodeAt(0));
    writer.u64(checksum);
    for (const value of [...box.origin, ...box.size]) writer.f64(value);
    writer.u32(threshold);
    return writer.finish();
  },
};

/** As the word of the reference says or, where that is no version of ours, as the seed draws the bytes. */
function versionOf(bytes: Uint8Array, endian: Endian, where: string): TreeHeader["version"] {
  const drawn = [...bytes];
  const readings = endian === "little" ? [drawn.toReversed(), drawn] : [drawn];
  const known = readings.find(([size, major]) => size === FIELD_BYTES && major === MAJOR);
  if (known !== undefined) return [known[1]!, known[2]!, known[3]!];
  const sized = readings.find(([size]) => size === FIELD_BYTES);
  if (sized !== undefined)
    throw new Unsupported(`${where} has version ${sized.slice(1).join(".")}; packed trees of version 1 are read`, {
      where,
    });
  const size = (readings[0]![0]! << 24) >> 24;
  throw new Unsupported(
    `${where} has fields of ${Math.abs(size)} bytes${size < 0 ? " with a sign" : ""}; packed trees of unsigned 32-bit fields are read`,
    { where },
  );
}

function checkMethod(bytes: Uint8Array, endian: Endian, where: string): void {
  const reader = new Reader(bytes, where, endian);
  const wide = Array.from({ length: METHOD.length }, () => reader.u32());
  const narrow = [...bytes.subarray(0, METHOD.length)];
  const is = (codes: readonly number[]): boolean => codes.every((code, i) => code === METHOD.charCodeAt(i));
  if (is(wide) || (is(narrow) && bytes.subarray(METHOD.length).every((byte) => byte === 0))) return;
  const name = (wide.every((code) => code < 128) ? wide : narrow)
    .map((code) => (code > 31 && code < 127 ? String.fromCharCode(code) : "."))
    .join("");
  throw new Unsupported(`${where} has a checksum by ${JSON.stringify(name)}, and only ${METHOD} is known`, { where });
}
