/** Points of LAS files as columns, and columns as points: one loop over each field. */
import { bytesOf, isBig } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import type { Column } from "../../model/attributes.js";
import { typed } from "../../model/elements.js";
import type { Columns } from "../../model/vectors.js";
import { fieldOf } from "./fields.js";
import type { LasField } from "./las-fields.js";
import { valuesOf } from "./table-types.js";

/** Where points are: whole numbers × scale + offset, exact in a double as laspy has it. */
export interface Grid {
  readonly scale: readonly number[];
  readonly offset: readonly number[];
}

export function positionsOf(
  bytes: Uint8Array,
  count: number,
  pointBytes: number,
  { scale, offset }: Grid,
): Float64Array {
  const positions = new Float64Array(3 * count);
  const [sx, sy, sz] = scale as [number, number, number];
  const [ox, oy, oz] = offset as [number, number, number];
  const { buffer, byteOffset, byteLength } = bytes;
  if (pointBytes % 4 === 0 && byteOffset % 4 === 0) {
    const [words, step] = [new Int32Array(buffer, byteOffset, byteLength >> 2), pointBytes >> 2];
    for (let i = 0, at = 0, to = 0; i < count; i++, at += step, to += 3) {
      positions[to] = words[at]! * sx + ox;
      positions[to + 1] = words[at + 1]! * sy + oy;
      positions[to + 2] = words[at + 2]! * sz + oz;
    }
    return positions;
  }
  const view = new DataView(buffer, byteOffset, byteLength);
  for (let i = 0, at = 0, to = 0; i < count; i++, at += pointBytes) {
    positions[to++] = view.getInt32(at, true) * sx + ox;
    positions[to++] = view.getInt32(at + 4, true) * sy + oy;
    positions[to++] = view.getInt32(at + 8, true) * sz + oz;
  }
  return positions;
}

/** Columns by their bytes that are the same in every row: made once for all pieces of a file. */
export type Constants = Map<string, Uint8Array>;

export function columnsOf(
  bytes: Uint8Array,
  count: number,
  pointBytes: number,
  fields: readonly LasField[],
  constants: Constants = new Map(),
): Columns {
  const differ = differences(bytes, count, pointBytes);
  return new Map(
    fields.map((field) => [field.info.name, columnOf(bytes, count, pointBytes, field, differ, constants)]),
  );
}

/** By byte of a point, the bits that are not those of the first point everywhere. Most fields of most files never differ. */
function differences(points: Uint8Array, count: number, pointBytes: number): Uint8Array {
  const { buffer, byteOffset } = points;
  const odd = pointBytes | byteOffset;
  const Words = (odd & 3) === 0 ? Uint32Array : (odd & 1) === 0 ? Uint16Array : Uint8Array;
  const step = pointBytes / Words.BYTES_PER_ELEMENT;
  const words = new Words(buffer as ArrayBuffer, byteOffset, count * step);
  const found = new Words(step);
  for (let word = 12 / Words.BYTES_PER_ELEMENT; word < step; word++) found[word] = bitsThatDiffer(words, word, step);
  return new Uint8Array(found.buffer);
}

/** A loop by itself, as all here that go over points: what comes after one would be compiled again and again. */
function bitsThatDiffer(words: Uint8Array | Uint16Array | Uint32Array, from: number, step: number): number {
  const first = words[from]!;
  let bits = 0;
  for (let at = from; at < words.length; at += step) bits |= words[at]! ^ first;
  return bits;
}

function columnOf(
  bytes: Uint8Array,
  count: number,
  pointBytes: number,
  { info, at: start, bits, stored, scale, offset }: LasField,
  differ: Uint8Array,
  constants: Constants,
): Column {
  const { channels } = info;
  const width = bits === undefined ? stored.size * channels : 1;
  const [shift, mask] = bits === undefined ? [0, 255] : [bits[0], (1 << bits[1]) - 1];
  const row = count === 0 ? new Uint8Array(width) : bytes.slice(start, start + width);
  if (bits !== undefined) row[0] = (row[0]! >> shift) & mask;
  const varies = differ.subarray(start, start + width).some((own) => ((own >> shift) & mask) !== 0);
  const data = varies ? fieldOf(bytes, count, pointBytes, start, width) : repeated(row, count, constants);
  if (bits !== undefined) {
    if (varies) shiftAll(data, count, shift, mask);
    return { info, values: data };
  }
  const values = typed({ shape: [count * channels], dtype: stored, data });
  if (scale === undefined) return { info, values };
  const scaled = new Float64Array(count * channels);
  for (let i = 0; i < scaled.length; i++) scaled[i] = Number(values[i]) * scale[i % channels]! + offset![i % channels]!;
  return { info, values: scaled };
}

function shiftAll(data: Uint8Array, count: number, shift: number, mask: number): void {
  for (let i = 0; i < count; i++) data[i] = (data[i]! >> shift) & mask;
}

function repeated(row: Uint8Array, count: number, constants: Constants): Uint8Array {
  const name = row.join();
  const size = count * row.length;
  let known = constants.get(name);
  if (known === undefined || known.length < size) {
    known = new Uint8Array(size);
    for (let i = 0; i < row.length; i++)
      if (row[i] !== 0) for (let at = i; at < size; at += row.length) known[at] = row[i]!;
    constants.set(name, known);
  }
  return known.subarray(0, size);
}

/** Puts a column into points; how many of its values do not fit, and are the nearest that do. */
export function putColumn(
  points: Uint8Array,
  count: number,
  pointBytes: number,
  { info, at: start, bits, stored, scale, offset }: LasField,
  { info: own, values }: Column,
): number {
  const { channels } = info;
  let changed = 0;
  if (bits !== undefined) {
    const most = (1 << bits[1]) - 1;
    for (let i = 0, at = start; i < count; i++, at += pointBytes) {
      const value = Number(values[i]);
      const kept = Math.max(0, Math.min(most, Math.round(value)));
      if (kept !== value) changed++;
      points[at]! |= kept << bits[0];
    }
    return changed;
  }
  const out = valuesOf(stored, count * channels) as Float64Array;
  const big = isBig(out as NumericArray);
  const isFloat = stored.kind === "float";
  const same =
    scale === undefined && own.dtype.kind === stored.kind && (own.dtype as { size?: number }).size === stored.size;
  if (same) out.set(values as Float64Array);
  else
    for (let i = 0; i < out.length; i++) {
      const value = values[i]!;
      const raw =
        scale === undefined ? value : Math.round((Number(value) - offset![i % channels]!) / scale[i % channels]!);
      if (big) (out as unknown as BigInt64Array)[i] = BigInt(raw);
      else out[i] = Number(raw);
      if (!isFloat && Number(out[i]) !== Number(raw)) changed++;
    }
  const from = bytesOf(out as NumericArray);
  const width = stored.size * channels;
  for (let i = 0, at = start, k = 0; i < count; i++, at += pointBytes)
    for (let byte = 0; byte < width; byte++) points[at + byte] = from[k++]!;
  return changed;
}
