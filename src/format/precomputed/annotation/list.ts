/**
 * Annotations as columns, and as bytes.
 *
 * | a record            | holds                                                                                       |
 * |---------------------|---------------------------------------------------------------------------------------------|
 * | geometry            | POINT: r float32, r the rank; LINE, AXIS_ALIGNED_BOUNDING_BOX: 2 r, both ends; ELLIPSOID: 2 r, centre and radii; POLYLINE: uint32 n, then n r |
 * | properties          | as layout.ts says                                                                           |
 *
 * | a list (a cell of the spatial index, the annotations of an object) | one annotation (by its id)                  |
 * |--------------------------------------------------------------------|---------------------------------------------|
 * | uint64 n; n records; n ids of 8 bytes                               | its record; for each relationship uint32 n and n object ids of 8 bytes |
 */
import { Reader } from "../../../bytes/reader.js";
import { U64 } from "../../../bytes/u64.js";
import type { NumericArray } from "../../../codec/types.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import { typed } from "../../../model/elements.js";
import type { AnnotationInfo } from "./info.js";
import { type Layout, pointsPer } from "./layout.js";

/** For annotation i the object ids from offsets[i] up to offsets[i + 1]. */
export interface Related {
  readonly offsets: Uint32Array;
  readonly ids: BigUint64Array;
}

/** Some annotations, as columns. */
export interface Annotations {
  readonly ids: BigUint64Array;
  /** The points of annotation i are offsets[i] up to offsets[i + 1]; of an ellipsoid its centre and its radii. */
  readonly offsets: Uint32Array;
  /** A number for each dimension of each point. */
  readonly points: Float32Array;
  /** By id; 3 numbers per annotation for rgb, 4 for rgba. */
  readonly properties: ReadonlyMap<string, NumericArray>;
  /** The objects that they belong to, by the id of the relationship; known only where they were read by their ids. */
  readonly related?: ReadonlyMap<string, Related> | undefined;
}

/** What the bytes of a collection are read and written by. */
export interface RecordForm {
  readonly info: Pick<AnnotationInfo, "type" | "dimensions" | "relationships">;
  readonly layout: Layout;
}

/** Parses the value of a cell, or of an object. */
export function parseList(bytes: Uint8Array, form: RecordForm, where: string): Annotations {
  const reader = new Reader(bytes, where);
  const least = leastBytes(form);
  const count = reader.count(reader.u64(), least + 8);
  const starts = recordStarts(reader, count, form);
  const ids = new BigUint64Array(count);
  for (let i = 0; i < count; i++) ids[i] = reader.u64();
  reader.end();
  return { ids, ...columnsOf(bytes, starts, form, where) };
}

/** Parses the value of one annotation. */
export function parseOne(bytes: Uint8Array, id: bigint, form: RecordForm, where: string): Annotations {
  const reader = new Reader(bytes, where);
  const starts = recordStarts(reader, 1, form);
  const related = new Map<string, Related>();
  for (const { id: name } of form.info.relationships) {
    const ids = new BigUint64Array(reader.count(reader.u32(), 8));
    for (let i = 0; i < ids.length; i++) ids[i] = reader.u64();
    related.set(name, { offsets: Uint32Array.of(0, ids.length), ids });
  }
  reader.end();
  return { ids: BigUint64Array.of(id), ...columnsOf(bytes, starts, form, where), related };
}

/** The fewest bytes that a record has. */
export function leastBytes({ info: { type, dimensions }, layout }: RecordForm): number {
  const points = pointsPer(type);
  return layout.size + (points === undefined ? 4 : 4 * points * dimensions.length);
}

/** Where the coordinates of each record begin, and how many points it has; the reader moves past them all. */
export function recordStarts(reader: Reader, count: number, { info: { type, dimensions }, layout }: RecordForm) {
  const [at, offsets] = [new Uint32Array(count), new Uint32Array(count + 1)];
  const fixed = pointsPer(type);
  for (let i = 0; i < count; i++) {
    const points = fixed ?? reader.count(reader.u32(), 4 * dimensions.length);
    at[i] = reader.offset;
    offsets[i + 1] = offsets[i]! + points;
    reader.skip(4 * points * dimensions.length + layout.size);
  }
  return { at, offsets };
}

function columnsOf(
  bytes: Uint8Array,
  { at, offsets }: { readonly at: Uint32Array; readonly offsets: Uint32Array },
  { info: { dimensions }, layout }: RecordForm,
  where: string,
): Omit<Annotations, "ids" | "related"> {
  const count = at.length;
  const rank = dimensions.length;
  const points = new Float32Array(offsets[count]! * rank);
  const into = new Uint8Array(points.buffer);
  for (let i = 0; i < count; i++) {
    const [from, length] = [at[i]!, 4 * rank * (offsets[i + 1]! - offsets[i]!)];
    into.set(bytes.subarray(from, from + length), 4 * rank * offsets[i]!);
  }
  const properties = new Map<string, NumericArray>();
  for (const { property, offset, dtype, channels } of layout.properties) {
    const size = dtype.size * channels;
    const values = new Uint8Array(count * size);
    for (let i = 0; i < count; i++) {
      const from = at[i]! + 4 * rank * (offsets[i + 1]! - offsets[i]!) + offset;
      for (let b = 0; b < size; b++) values[i * size + b] = bytes[from + b]!;
    }
    if (property.type === "bool" && values.some((value) => value > 1))
      throw new Corrupt(`${where} has values of ${property.id} that are neither 0 nor 1`, { where });
    properties.set(property.id, typed({ shape: [count, channels], dtype, data: values }));
  }
  return { offsets, points, properties };
}

/** The records one after the other, and where each begins. */
export interface Records {
  readonly bytes: Uint8Array;
  /** Record i is the bytes starts[i] up to starts[i + 1]. */
  readonly starts: Float64Array;
}

/** Makes the records of annotations; InvalidInput where a column does not fit. */
export function encodeRecords(annotations: Annotations, { info: { type, dimensions }, layout }: RecordForm): Records {
  const { ids, offsets, points, properties } = annotations;
  const rank = dimensions.length;
  const fixed = pointsPer(type);
  const count = ids.length;
  if (offsets.length !== count + 1 || offsets[0] !== 0 || offsets[count]! * rank !== points.length)
    throw new InvalidInput(
      `${count} annotations in ${rank} dimensions need ${count + 1} offsets, and coordinates for the last of them; found ${offsets.length} and ${points.length}`,
    );
  const head = fixed === undefined ? 4 : 0;
  const starts = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) {
    const own = offsets[i + 1]! - offsets[i]!;
    if (fixed === undefined ? own < 1 : own !== fixed)
      throw new InvalidInput(`the ${type} ${ids[i]} should have ${fixed ?? "at least 1"} points, found ${own}`);
    starts[i + 1] = starts[i]! + head + 4 * rank * own + layout.size;
  }
  const bytes = new Uint8Array(starts[count]!);
  const view = new DataView(bytes.buffer);
  const from = new Uint8Array(points.buffer, points.byteOffset, points.byteLength);
  for (let i = 0; i < count; i++) {
    if (head > 0) view.setUint32(starts[i]!, offsets[i + 1]! - offsets[i]!, true);
    bytes.set(from.subarray(4 * rank * offsets[i]!, 4 * rank * offsets[i + 1]!), starts[i]! + head);
  }
  for (const { property, offset, dtype, channels } of layout.properties) {
    const values = properties.get(property.id);
    const expected = typed({ shape: [0], dtype, data: new Uint8Array() });
    if (values?.constructor !== expected.constructor || values.length !== count * channels)
      throw new InvalidInput(
        `the property ${property.id} of annotations should be a ${expected.constructor.name} of ${count * channels} values, found ${
          values === undefined ? "nothing" : `a ${values.constructor.name} of ${values.length}`
        }`,
      );
    const size = dtype.size * channels;
    const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    for (let i = 0; i < count; i++) {
      const at = starts[i + 1]! - layout.size + offset;
      for (let b = 0; b < size; b++) bytes[at + b] = raw[i * size + b]!;
    }
  }
  return { bytes, starts };
}

/** The value of a cell, or of an object: those of the records that are named by `rows`. */
export function encodeList(
  { bytes, starts }: Records,
  ids: BigUint64Array,
  rows: Uint32Array,
): Uint8Array<ArrayBuffer> {
  let size = 8 + 8 * rows.length;
  for (const row of rows) size += starts[row + 1]! - starts[row]!;
  const out = new Uint8Array(size);
  U64.set(out, 0, BigInt(rows.length));
  let at = 8;
  for (const row of rows) {
    out.set(bytes.subarray(starts[row]!, starts[row + 1]!), at);
    at += starts[row + 1]! - starts[row]!;
  }
  for (const row of rows) {
    U64.set(out, at, ids[row]!);
    at += 8;
  }
  return out;
}

/** The same out of rows that are an id and its record each. */
export function joinList(rows: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(8 + rows.reduce((sum, { length }) => sum + length, 0));
  U64.set(out, 0, BigInt(rows.length));
  let at = 8;
  let id = out.length - 8 * rows.length;
  for (const row of rows) {
    out.set(row.subarray(8), at);
    out.set(row.subarray(0, 8), id);
    at += row.length - 8;
    id += 8;
  }
  return out;
}

/** The value of one annotation; `related` has its object ids for each relationship. */
export function encodeOne(
  { bytes, starts }: Records,
  row: number,
  related: readonly BigUint64Array[],
): Uint8Array<ArrayBuffer> {
  const record = bytes.subarray(starts[row]!, starts[row + 1]!);
  const out = new Uint8Array(sizeOfOne(record, related));
  putOne(out, 0, record, related);
  return out;
}

export const sizeOfOne = (record: Uint8Array, related: readonly BigUint64Array[]): number =>
  record.length + related.reduce((sum, { length }) => sum + 4 + 8 * length, 0);

/** The same into memory that is there. */
export function putOne(out: Uint8Array, start: number, record: Uint8Array, related: readonly BigUint64Array[]): void {
  const view = new DataView(out.buffer, out.byteOffset);
  out.set(record, start);
  let at = start + record.length;
  for (const ids of related) {
    view.setUint32(at, ids.length, true);
    at += 4;
    for (const id of ids) {
      view.setBigUint64(at, id, true);
      at += 8;
    }
  }
}
