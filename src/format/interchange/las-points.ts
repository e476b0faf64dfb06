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

export function columnsOf(bytes: Uint8Array, count: number, pointBytes: number, fields: readonly LasField[]): Columns {
  const known = new Map<string, Uint8Array>();
  const once = (name: string, make: () => Uint8Array): Uint8Array => {
    const own = known.get(name) ?? make();
    known.set(name, own);
    return own;
  };
  /** Bits of a byte of which several fields have some. Mostly it is the same everywhere, and fields with the same bits are one array. */
  const bitsAt = (at: number, shift: number, mask: number): Uint8Array => {
    const flags = once(`at ${at}`, () => fieldOf(bytes, count, pointBytes, at, 1));
    const all = once(`only ${at}`, () => onlyByte(flags))[0];
    if (all !== undefined)
      return once(`${(all >> shift) & mask}`, () => new Uint8Array(count).fill((all >> shift) & mask));
    const values = new Uint8Array(count);
    for (let i = 0; i < count; i++) values[i] = (flags[i]! >> shift) & mask;
    return values;
  };
  return new Map(fields.map((field) => [field.info.name, columnOf(bytes, count, pointBytes, field, bitsAt)]));
}

/** The byte that all of them are; nothing where they differ. */
function onlyByte(bytes: Uint8Array): Uint8Array {
  for (let i = 1; i < bytes.length; i++) if (bytes[i] !== bytes[0]) return new Uint8Array();
  return bytes.subarray(0, 1);
}

function columnOf(
  bytes: Uint8Array,
  count: number,
  pointBytes: number,
  { info, at: start, bits, stored, scale, offset }: LasField,
  bitsAt: (at: number, shift: number, mask: number) => Uint8Array,
): Column {
  const { channels } = info;
  if (bits !== undefined) return { info, values: bitsAt(start, bits[0], (1 << bits[1]) - 1) };
  const data = fieldOf(bytes, count, pointBytes, start, stored.size * channels);
  const values = typed({ shape: [count * channels], dtype: stored, data });
  if (scale === undefined) return { info, values };
  const scaled = new Float64Array(count * channels);
  for (let i = 0; i < scaled.length; i++) scaled[i] = Number(values[i]) * scale[i % channels]! + offset![i % channels]!;
  return { info, values: scaled };
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
