/**
 * Values that other files hold for the streamlines of a file: one for each streamline, or one for each vertex.
 *
 * | file | what                                                                                                                    |
 * |------|-------------------------------------------------------------------------------------------------------------------------|
 * | .txt | numbers with blanks, commas or lines between them; lines that begin with "#" are comments (MRtrix)                         |
 * | .npy | an array of n, or n × channels, numbers of any type                                                                       |
 * | .tsf | MRtrix track scalars: as a TCK (tck.ts) with "mrtrix track scalars" and one number for each vertex; NaN ends a streamline    |
 */
import { Corrupt, InvalidInput, Unsupported } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import { typed } from "../../model/elements.js";
import { type InputFile, whole } from "./file.js";
import { readNpy } from "./npy.js";
import { isNumeric } from "./streamlines-write.js";
import { floatsOf, readHeader } from "./tck.js";
import { parseNumber } from "./text.js";

export interface Values extends Column {
  readonly where: string;
  readonly rows: number;
  /** Of values for vertices: how many each streamline has, where the file says so. */
  readonly lengths?: Uint32Array | undefined;
}

export async function readValues(input: InputFile, name: string, options: ReadOptions = {}): Promise<Values> {
  const { where } = input;
  const most = withLimits(options.limits).chunkBytes;
  if (/\.tsf$/i.test(input.name)) return readTsf(input, name, most, options);
  const bytes = await whole(input, most, options);
  const isArray = /\.npy$/i.test(input.name);
  if (!isArray && bytes.includes(0))
    throw new Unsupported(`${where} is no text: values are in .txt, .tsf or .npy files`, { where });
  if (!isArray) return valuesOf(where, name, textNumbers(bytes, where));
  const array = readNpy(bytes, options.limits, where);
  const [rows = 0, channels = 1, ...more] = array.shape;
  const info: AttributeInfo = { name, dtype: array.dtype, channels };
  if (array.shape.length === 0 || more.length > 0 || !isNumeric(info))
    throw new Unsupported(`${where} has the shape [${array.shape}] of ${array.dtype.kind}, expected numbers in rows`, {
      where,
    });
  return { where, rows, info, values: typed(array) };
}

function valuesOf(where: string, name: string, values: Float32Array | Float64Array, lengths?: Uint32Array): Values {
  const size = values instanceof Float32Array ? 4 : 8;
  return {
    where,
    rows: values.length,
    info: { name, dtype: { kind: "float", size, endian: "little" }, channels: 1 },
    values,
    lengths,
  };
}

const [NEWLINE, COMMENT, COMMA, SPACE] = [10, 35, 44, 32];

function textNumbers(bytes: Uint8Array, where: string): Float64Array {
  const isBlank = (byte: number): boolean => byte <= SPACE || byte === COMMA;
  const values = new Float64Array(Math.ceil(bytes.length / 2));
  let [count, line, at] = [0, 1, 0];
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === NEWLINE) line++;
    if (byte === COMMENT) {
      const end = bytes.indexOf(NEWLINE, at);
      at = end < 0 ? bytes.length : end;
    } else if (isBlank(byte)) at++;
    else {
      let end = at;
      while (end < bytes.length && !isBlank(bytes[end]!)) end++;
      const value = parseNumber(bytes, at, end);
      const text = Number.isNaN(value) ? String.fromCharCode(...bytes.subarray(at, Math.min(end, at + 40))) : "";
      if (Number.isNaN(value) && !/^[+-]?nan$/i.test(text))
        throw new Corrupt(`${where}, line ${line}: ${JSON.stringify(text)} where a number was expected`, { where });
      values[count++] = value;
      at = end;
    }
  }
  return values.slice(0, count);
}

async function readTsf(input: InputFile, name: string, most: number, options: ReadOptions): Promise<Values> {
  const { where } = input;
  const { offset, type } = await readHeader(input, "mrtrix track scalars", options);
  const bytes = (await whole(input, most, options)).subarray(offset);
  const all = floatsOf(bytes.subarray(0, bytes.length - (bytes.length % type.size)), type);
  const values = all.slice();
  const lengths: number[] = [];
  let [count, start] = [0, 0];
  for (let i = 0; i < all.length; i++) {
    const value = all[i]!;
    if (Number.isNaN(value)) {
      lengths.push(count - start);
      start = count;
    } else if (value - value !== 0) return valuesOf(where, name, values.slice(0, start), Uint32Array.from(lengths));
    else values[count++] = value;
  }
  throw new Corrupt(`${where} ends after ${lengths.length} streamlines without its end mark`, { where });
}

/** Whether values are of streamlines or of vertices, by how many there are; InvalidInput where neither fits. */
export function domainOf(
  { where, rows, lengths }: Pick<Values, "where" | "rows" | "lengths">,
  objects: number,
  vertices: number,
): "object" | "vertex" {
  if (lengths === undefined && rows === objects) return "object";
  if (rows === vertices && (lengths === undefined || lengths.length === objects)) return "vertex";
  const found = lengths === undefined ? `${rows} values` : `${rows} values for ${lengths.length} streamlines`;
  throw new InvalidInput(`${where} has ${found}, and there are ${objects} streamlines with ${vertices} vertices`, {
    where,
  });
}
